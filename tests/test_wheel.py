"""The wheel, installed where nothing else is, is the whole program: one row walks through it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import patient
from tests.cases.running_server import running_server

ROOT = Path(__file__).parent.parent

MANIFEST = """\
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: [{id: t1}]
admission: {prereg: required}
leaderboards: [{name: average, method: mean, metric: MASE, missing: drop}]
"""
TOKEN = "plumbline-admin-of-the-wheel-test"

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Path]:
    """Yield a folder outside the repository, where also an unprivileged user may look."""
    with tempfile.TemporaryDirectory(prefix="plumbline-wheel-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def python(elsewhere: Path) -> Path:
    """Return the Python of an environment with the locked dependencies and the wheel, and nothing of the repository."""
    build(elsewhere / "source", elsewhere)
    run(sys.executable, "-m", "venv", str(elsewhere / "venv"))
    python = elsewhere / "venv/bin/python"
    pip(
        python,
        "install",
        "--no-compile",
        "--no-deps",
        "--require-hashes",
        f"--requirement={ROOT / 'requirements.lock'}",
    )
    pip(python, "install", "--no-deps", *map(str, elsewhere.glob("*.whl")))
    return python


def build(source: Path, target: Path) -> Path:
    """Build the wheel from a copy without git and return it."""
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "tests", "bench", "__pycache__"))
    pip(sys.executable, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={target}", str(source))
    shutil.rmtree(source)
    (wheel,) = target.glob("*.whl")
    return wheel


def test_two_builds_are_the_same_bytes(python: Path, elsewhere: Path) -> None:
    """In another folder, a moment later: whoever builds the commit can compare what was published."""
    again = build(elsewhere / "a longer name of the source", elsewhere / "again")
    (first,) = elsewhere.glob("*.whl")

    assert again.name == first.name
    assert again.read_bytes() == first.read_bytes()


def run(*command: str | Path, **settings: str) -> str:
    """Run a command outside the repository and return what it printed."""
    environ = clean_environment() | settings
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(python: str | Path, *arguments: str) -> None:
    """Run the pip of an environment."""
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def clean_environment() -> dict[str, str]:
    """Return an environment in which no Python looks into the repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_the_wheel_types_its_package_and_knows_its_version(python: Path) -> None:
    """Who builds on it is checked against its types; it has the version of pyproject.toml."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    find = "from importlib.resources import files; print((files('app') / 'py.typed').is_file())"

    assert run(python, "-c", find) == "True\n"
    assert run(python.parent / "plumbline", "--version") == f"plumbline {version}\n"


def test_one_row_walks_through_the_installed_wheel(python: Path, elsewhere: Path) -> None:
    """Migrated, declared, registered, submitted, evaluated, published, shown with its stylesheet."""
    plumbline = python.parent / "plumbline"
    manifest, prereg, rows = (elsewhere / name for name in ("manifest.yaml", "prereg.yaml", "results.csv"))
    manifest.write_text(MANIFEST)
    prereg.write_text("benchmark: tiny\nmetrics: [MASE]\ntasks: all\n")
    rows.write_text("model,task,MASE\nGood,t1,0.5\n")
    with running_server(elsewhere / "data", python=python, PLUMBLINE_ADMIN_TOKEN=TOKEN) as server:
        own = {"PLUMBLINE_SERVER": server.address, "PLUMBLINE_TOKEN": TOKEN}
        run(plumbline, "benchmark", "create", manifest, **own)
        run(plumbline, "prereg", "register", prereg, "--benchmark", "tiny", **own)
        run(plumbline, "submit", "tiny", rows, "--prereg", prereg, **own)
        board = patient.get(f"{server.address}/benchmarks/tiny/leaderboards/average.csv").text
        page = patient.get(f"{server.address}/benchmarks/tiny/leaderboards/average").text
        stylesheet = patient.get(server.address + re.findall(r'href="(/static/[^"]+)"', page)[0])

    assert board.splitlines()[1].startswith("1,Good,0.5,")
    assert stylesheet.headers["content-type"].startswith("text/css")


def test_the_examples_are_in_the_wheel(python: Path) -> None:
    """PLUMBLINE_DEMO=1 loads the same benchmarks as in the repository."""
    listing = "from app.program.bundled import bundled; print(*sorted(p.name for p in bundled('examples').iterdir()))"

    assert run(python, "-c", listing).split() == sorted(path.name for path in (ROOT / "examples").iterdir())
