"""The tests themselves: which of them need a database, and what they leave behind."""

import subprocess
from pathlib import Path

from tests.cases.databases import passing_folder
from tests.cases.running_server import fresh_data_dir, running_server
from tests.fixtures import CLUSTERS, COMMANDS, leads_to

ROOT = Path(__file__).parent.parent


def by_itself() -> None:
    """Start a server."""
    with fresh_data_dir() as data_dir, running_server(data_dir):
        pass


def by_a_detour() -> None:
    """Start it in another function, which is named within a third."""
    [each() for each in (lambda: by_itself(),)]


def by_a_command() -> None:
    """Start a process that needs no database."""
    subprocess.run(["true"], check=True)


def test_a_test_is_marked_by_what_it_starts() -> None:
    """Also where another function of the tests does it: the tiers of the Makefile go by these marks."""
    found = {each.__name__: (leads_to(each, CLUSTERS), leads_to(each, COMMANDS))
             for each in (by_itself, by_a_detour, by_a_command, lines_of)}  # fmt: skip

    assert found == {
        "by_itself": (True, True),
        "by_a_detour": (True, True),
        "by_a_command": (False, True),
        "lines_of": (False, False),
    }


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
