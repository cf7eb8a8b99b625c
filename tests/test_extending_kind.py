"""A kind of evidence and a reader of a harness from another package, found by their entry points.

The package is `tests/data/plumbline_example`. It is installed beside what is there, and a server that knows nothing of
it takes its rows from POST to page and CSV.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoints
from pathlib import Path
from unittest.mock import patch

import pytest

from app.errors import PluginError
from app.kinds.contract import Kind
from app.kinds.parse import parse_manifest
from app.kinds.reader import reader_of
from app.kinds.registry import KINDS
from app.program import plugins
from tests.cases import patient
from tests.cases.evidence_tables import LIMITS
from tests.cases.processes import admin, wait_until_settled
from tests.cases.running_server import RunningServer, environment, fresh_data_dir, running_server

PACKAGE = Path(__file__).parent / "data" / "plumbline_example"
TALLIED = """\
schema_version: 1
slug: tallied
title: Tallied
evidence: tallies
passed_column: passed
metrics: {pass_rate: {direction: maximize, min: 0, max: 1}}
tasks: [{id: easy}, {id: hard}]
leaderboards: [{name: average, method: mean, metric: pass_rate, missing: drop}]
"""
TALLY_ROWS = b"entrant,task,passed,tried\nAda,easy,9,10\nAda,hard,1,4\nBob,easy,10,10\nBob,hard,1,5\n"
ERRORS = """\
schema_version: 1
slug: errors
title: Errors
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {error: {direction: minimize, min: 0}}
tasks: [{id: easy}, {id: hard}]
leaderboards: [{name: average, method: mean, metric: error, missing: drop}]
"""
TALLYBENCH = b'{"tallybench": 1, "model": "Cal", "errors": {"easy": 0.25, "hard": 0.5}}'


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the package is installed as pip does it."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", folder, PACKAGE], check=True)
    return folder


@pytest.fixture(scope="module")
def server(installed: Path) -> Iterator[RunningServer]:
    """A whole server where the package is installed."""
    with fresh_data_dir() as data_dir, running_server(data_dir, PYTHONPATH=str(installed)) as running:
        for manifest in (TALLIED, ERRORS):
            headers = {**admin(running), "Content-Type": "application/yaml"}
            patient.post(f"{running.address}/benchmarks", content=manifest, headers=headers).raise_for_status()
        yield running


def published(server: RunningServer, slug: str, name: str, content: bytes) -> tuple[int, str]:
    """Submit a file, and return the number of the submission and the board's CSV once it is published."""
    address = f"{server.address}/benchmarks/{slug}"
    sent = patient.post(f"{address}/submissions", files=[("files", (name, content))], headers=admin(server))
    assert sent.status_code == 202, sent.text
    number = sent.json()["id"]
    wait_until_settled(server, number)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        answer = patient.get(f"{address}/leaderboards/average.csv")
        if answer.status_code == 200 and len(answer.text.splitlines()) > 1:
            return number, answer.text
        time.sleep(0.1)
    raise AssertionError(f"no board of {slug}")


def test_a_kind_of_evidence_is_an_entry_point(server: RunningServer) -> None:
    """Its files are read in a process of their own, its rows ranked, and its words shown, by what the kind says."""
    number, board = published(server, "tallied", "t.csv", TALLY_ROWS)
    pages = ["/benchmarks/tallied/leaderboards/average", "/benchmarks/tallied", "/glossary", f"/submissions/{number}"]
    shown = [patient.get(f"{server.address}{each}", headers={"Accept": "text/html"}).text for each in pages]

    header, *rows = (line.split(",") for line in board.splitlines() if line and not line.startswith("#"))
    columns = [header.index(name) for name in ("rank", "entrant", "mean_pass_rate")]
    assert [[row[at] for at in columns] for row in rows] == [["1", "Bob", "0.6"], ["2", "Ada", "0.575"]]
    for page, words in zip(shown, ("Bob", "entrant,task,passed,tried", "share of tries", "Own tallies"), strict=True):
        assert words in page


def test_raw_rows_of_an_added_kind_have_an_address(server: RunningServer) -> None:
    """By the name that the kind gives them; another name is told which there are."""
    published(server, "tallied", "t.csv", TALLY_ROWS)
    address = f"{server.address}/benchmarks/tallied/raw"
    rates, other = patient.get(f"{address}/rates.csv"), patient.get(f"{address}/metrics.csv")

    assert sorted(rates.text.splitlines()) == ["Ada,easy,0.9", "Ada,hard,0.25", "Bob,easy,1.0", "Bob,hard,0.2",
                                               "entrant,task,pass_rate"]  # fmt: skip
    assert other.status_code == 404
    assert "tallied is a benchmark of tallies; it has only raw/rates.csv, not raw/metrics.csv." in other.text


def test_what_is_wrong_with_files_of_an_added_kind_is_said(server: RunningServer) -> None:
    """The problems that it finds come back from the process that read them."""
    rows = TALLY_ROWS.replace(b"tried", b"attempts")
    address = f"{server.address}/benchmarks/tallied/submissions"
    sent = patient.post(address, files=[("files", ("t.csv", rows))], headers=admin(server))

    assert sent.status_code == 422
    assert "the column tried is missing" in sent.text


def test_a_reader_of_a_harness_is_an_entry_point(server: RunningServer) -> None:
    """What the harness wrote is submitted as it is to a benchmark of our own kind."""
    number, board = published(server, "errors", "run.json", TALLYBENCH)

    assert ",Cal," in board
    assert "0.375" in board
    assert "Tallybench" in patient.get(f"{server.address}/submissions/{number}", headers={"Accept": "text/html"}).text


def test_a_kind_that_cannot_be_loaded_is_refused_at_the_start(tmp_path: Path) -> None:
    """One sentence names it; nothing is served without it."""
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[plumbline.kinds]\ngone = broken_kind:GONE\n")
    command = [sys.executable, "-m", "app.cli", "serve"]
    with fresh_data_dir() as data_dir:
        environ = environment(data_dir, PYTHONPATH=str(tmp_path))
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)

    said = " ".join(ended.stderr.split())
    assert ended.returncode == 2
    assert "The entry point gone of plumbline.kinds in the package broken" in said
    assert "Traceback" not in said


def test_a_program_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder alone has no entry points."""
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints(()))

    with pytest.raises(PluginError, match=r"plumbline-server is not installed .* run `pip install"):
        plugins.load_plugins(plugins.KINDS, Kind)


def test_our_own_are_declared() -> None:
    """In the metadata of the installed package, where a stranger's are."""
    assert {each.name for each in plugins.entry_points(group=plugins.KINDS)} >= set(KINDS)
    assert plugins.foreign_packages(plugins.KINDS) == []


def test_a_kind_that_reads_with_what_has_no_name_is_refused() -> None:
    """No other process could load it; the message names it."""
    nameless = replace(
        KINDS["evaluation_summary"], name="nameless", methods=frozenset({"mean"}), read=lambda request: None
    )
    with patch.dict(KINDS, nameless=nameless):
        declared = parse_manifest(ERRORS.replace("evaluation_summary", "nameless").encode())
        with pytest.raises(TypeError, match="the kind nameless reads with"):
            reader_of(declared, [], None, LIMITS)
