"""The tests themselves: which of them need a database, and what they leave behind."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.fixtures import passing_folder

pytestmark = pytest.mark.heavy


ROOT = Path(__file__).parent.parent


def collected(marks: str, *files: str) -> set[str]:
    """Return the files in which pytest finds tests with these marks."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marks]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    return {line.split("::")[0] for line in done.stdout.splitlines() if "::" in line}


def test_what_asks_for_a_database_is_marked() -> None:
    """Whether a test takes the server of the tests, by whatever detour, or its file starts servers of its own."""
    asking = {
        "tests/db/test_migrations.py",
        "tests/web/test_formats.py",
        "tests/cli/test_serve.py",
        "tests/web/test_browser.py",
    }
    pure = {"tests/stats/test_stats.py", "tests/cli/test_offline.py", "tests/admission/test_rules.py"}

    assert collected("database", *asking, *pure) == asking
    assert collected("not database", *asking, *pure) == pure


def test_the_folder_of_the_database_is_removed() -> None:
    """A run of the tests leaves no cluster behind."""
    with passing_folder() as folder:
        (folder / "cluster").mkdir(parents=True)

    assert not folder.exists()


def test_templates_and_styles_can_be_reviewed() -> None:
    """No line is longer than 120 columns; the formatters leave long texts and expressions as they are."""
    paths = [*ROOT.glob("templates/*"), *ROOT.glob("static/*.css")]
    long = [f"{path.name} line {at}" for path in paths for at, line in lines_of(path) if len(line) > 120]

    assert paths
    assert long == []


def lines_of(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a file with their numbers."""
    return list(enumerate(path.read_text("utf-8").splitlines(), start=1))


def test_compiled_loops_are_mutated_where_they_run_as_python() -> None:
    """A mutant cannot be compiled: whatever module compiles a loop is in the part of the mutation tests without it."""
    modules = (ROOT / "app" / "stats").glob("*.py")
    compiles = re.compile(r"import .*\bcompiled\b")
    compiling = {f"app/stats/{path.name}" for path in modules
                 if path.stem.endswith("_loops") or compiles.search(path.read_text("utf-8"))}  # fmt: skip
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]

    assert compiling == set(tools["mutmut_loops"]["only_mutate"]) == set(tools["mutmut"]["do_not_mutate"])


@pytest.mark.parametrize("table", ["mutmut", "mutmut_loops", "mutmut_door"])
def test_what_is_to_be_mutated_and_its_tests_are_there(table: str) -> None:
    """A module or a file of tests that was renamed would silently be mutated no more, or by nobody's tests."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][table]
    named = [*settings["only_mutate"], *settings.get("pytest_add_cli_args_test_selection", ())]

    assert [pattern for pattern in named if not any(ROOT.glob(pattern))] == []


def test_rights_receiving_and_private_labels_are_mutated_with_tests_at_the_door() -> None:
    """Their modules are in no part of the pure rooms, where no test asks a database."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    door = {path for pattern in tools["mutmut_door"]["only_mutate"] for path in ROOT.glob(pattern)}
    pure = {path for pattern in tools["mutmut"]["only_mutate"] for path in ROOT.glob(pattern)}

    assert door.isdisjoint(pure)
    assert {"receive.py", "visibility.py", "roles.py", "disclosed.py", "tokens.py"} <= {path.name for path in door}
