"""The client's wheel in an empty environment: no server's dependencies, one submission, one board."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import patient
from tests.cases.running_server import fresh_data_dir, running_server

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parents[2]
TOKEN = "plumbline-admin-of-the-client-wheel"
MANIFEST = """
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {score: {direction: maximize, min: 0, max: 1}}
tasks: [{id: t1}, {id: t2}]
admission: {prereg: optional}
leaderboards: [{name: average, method: mean, metric: score}]
"""
PINNED = re.compile(r"^([a-z0-9._-]+==[^ ;\\]+)", re.MULTILINE | re.IGNORECASE)
SERVERS = {"fastapi", "sqlalchemy", "pyarrow", "scipy", "numba", "psycopg", "uvicorn"}
WALK = """
import sys, plumbline
sent = plumbline.submit("tiny", sys.argv[1])
print(plumbline.wait(sent["id"], timeout_s=120)["status"])
frame = plumbline.board("tiny", "average")
print(list(frame["entrant"]), frame.attrs["benchmark"])
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Yield a folder outside the repository with an environment that has the client's wheel and what it names."""
    with tempfile.TemporaryDirectory(prefix="plumbline-client-") as folder:
        elsewhere = Path(folder)
        source = elsewhere / "source"
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "tests", "bench", "docs", "__pycache__"))
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
            f"--wheel-dir={elsewhere}", str(source / "client"))  # fmt: skip
        shutil.rmtree(source)
        run(sys.executable, "-m", "venv", str(elsewhere / "venv"))
        pins = elsewhere / "pins.txt"
        locks = [(ROOT / name).read_text("utf-8") for name in ("requirements.lock", "requirements-dev.lock")]
        pins.write_text("\n".join(sorted({pin for lock in locks for pin in PINNED.findall(lock)})))
        (wheel,) = elsewhere.glob("plumbline_client-*.whl")
        run(elsewhere / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-compile",
            f"--constraint={pins}", f"{wheel}[pandas]")  # fmt: skip
        yield elsewhere


def run(*command: str | Path, **settings: str) -> str:
    """Run a command outside the repository and return what it printed."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PLUMBLINE"))}
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, env=plain | settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_holds_the_client_alone(place: Path) -> None:
    """No package `app`: whoever has one of their own keeps it."""
    (wheel,) = place.glob("plumbline_client-*.whl")
    with zipfile.ZipFile(wheel) as files:
        tops = {name.partition("/")[0] for name in files.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"plumbline"}


def test_it_brings_no_server(place: Path) -> None:
    """None of the server's dependencies is there, and the command line answers."""
    installed = run(place / "venv/bin/python", "-m", "pip", "list", "--format=freeze").lower()
    names = {line.partition("==")[0] for line in installed.splitlines()}

    assert not names & SERVERS
    assert run(place / "venv/bin/plumbline", "--version").startswith("plumbline 0.")
    assert "submit" in run(place / "venv/bin/plumbline", "--help")


def test_it_submits_waits_and_reads_a_board(place: Path) -> None:
    """From Python and from the command line, against a server of the repository."""
    results = place / "results.csv"
    results.write_text("model,task,score\na,t1,0.5\na,t2,0.25\n")
    with fresh_data_dir() as folder, running_server(folder, PLUMBLINE_ADMIN_TOKEN=TOKEN) as server:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
        patient.post(f"{server.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        known = {"PLUMBLINE_SERVER": server.address, "PLUMBLINE_TOKEN": TOKEN}
        walked = run(place / "venv/bin/python", "-c", WALK, str(results), **known)
        board = run(place / "venv/bin/plumbline", "export", "tiny", "--board", "average", **known)
        mine = run(place / "venv/bin/plumbline", "submissions", **known)

    assert walked.splitlines() == ["published", "['a'] tiny"]
    assert board.startswith("rank,")
    assert "published" in mine
