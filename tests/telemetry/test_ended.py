"""What ended processes counted is kept in one file of each kind, and counts on."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from app.cli.observing import FIGURES_PREFIX, LOCK, FiguresOfEnded, shared_figures
from app.telemetry import FOLDER, add_up_ended

COUNTING = """
import sys
import tempfile
from app.telemetry import POST_TO_BOARD_S, PUBLICATIONS
PUBLICATIONS.labels("fev").inc(int(sys.argv[1]))
POST_TO_BOARD_S.observe(float(sys.argv[1]))
print("counted", flush=True)
sys.stdin.read()
"""


@contextmanager
def counting(folder: Path, number: int) -> Iterator[None]:
    """A process of a server that has counted so much, and runs; it is ended by SIGKILL."""
    started = subprocess.Popen(
        [sys.executable, "-c", COUNTING, str(number)],
        env={**os.environ, FOLDER: str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"counted\n"
        yield
        started.kill()


def answered(folder: Path) -> list[str]:
    """Return what a scrape of these processes has, line by line."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    return sorted(generate_latest(registry).decode().splitlines())


def files(folder: Path) -> list[str]:
    """Return the names of the files."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.heavy
def test_restarts_leave_two_files_and_every_count(tmp_path: Path) -> None:
    """Twice over: what was added up once is added to; the files of a process that runs stay its own."""
    for number in (1, 2):
        with counting(tmp_path, number):
            pass
    before = answered(tmp_path)
    add_up_ended(tmp_path)
    once = answered(tmp_path)
    with counting(tmp_path, 4):
        add_up_ended(tmp_path)
        n_with_one_that_runs = len(files(tmp_path))
    add_up_ended(tmp_path)
    after = answered(tmp_path)

    assert once == before
    assert n_with_one_that_runs == 4
    assert files(tmp_path) == ["counter_ended.db", "histogram_ended.db"]
    assert 'plumbline_publications_total{benchmark="fev"} 7.0' in after
    assert "plumbline_post_to_board_seconds_sum 7.0" in after
    assert 'plumbline_post_to_board_seconds_bucket{le="2.0"} 2.0' in after


def test_a_process_that_counted_nothing_holds_nobody_up(tmp_path: Path) -> None:
    """It ended before its first figure: its file is empty."""
    (tmp_path / "counter_999999999.db").touch()
    add_up_ended(tmp_path)

    assert files(tmp_path) == ["counter_ended.db"]


@pytest.mark.heavy
def test_a_server_adds_up_in_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at every look, and a folder that is gone stops nobody."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with counting(tmp_path, 1):
        pass
    FiguresOfEnded(every_s=60).check()
    before = files(tmp_path)
    FiguresOfEnded(every_s=0).check()
    after = files(tmp_path)
    monkeypatch.setenv(FOLDER, str(tmp_path / "gone"))
    FiguresOfEnded(every_s=0).check()

    assert "counter_ended.db" not in before
    assert after == ["counter_ended.db", "histogram_ended.db"]


def test_figures_of_a_server_that_was_killed_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six megabytes for each time; those of a server that runs stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv(FOLDER, raising=False)
    left = tmp_path / f"{FIGURES_PREFIX}x"
    left.mkdir()
    (left / LOCK).touch()
    with shared_figures():
        first = os.environ.pop(FOLDER)
        with shared_figures():
            n_while_both_run = len(files(tmp_path))
        os.environ[FOLDER] = first

    assert n_while_both_run == 2
    assert not left.exists()
    assert files(tmp_path) == []
