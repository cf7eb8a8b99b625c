"""`make run` on an empty database: the examples arrive through the HTTP API, once, and whole."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.cli.examples import find_examples
from app.cli.serve import EXAMPLES
from tests.running_server import environment, fresh_data_dir, running_server
from tests.test_cli_supervisor import eventually

BOARD = "/benchmarks/fev-bench/leaderboards/sql.csv"
N_ENTRANTS = 30


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Yield the folder of a new installation."""
    with fresh_data_dir() as folder:
        yield folder


def n_rows(address: str) -> int:
    """Return how many entrants stand on the board, 0 as long as there is none."""
    answer = httpx.get(address + BOARD)
    return len(answer.text.splitlines()) - 1 if answer.status_code == 200 else 0


def tokens(data_dir: Path) -> str:
    """Return what `plumbline token list` prints."""
    listed = subprocess.run(
        [sys.executable, "-m", "app.cli", "token", "list"],
        env=environment(data_dir),
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout


def test_the_examples_are_found_with_their_results() -> None:
    """Each example folder holds a manifest and result files; each file is one submission."""
    found = {example.folder.name: len(example.submissions) for example in find_examples(EXAMPLES)}

    assert found["fev-bench"] == 26


def test_the_examples_are_loaded_into_an_empty_server_once(data_dir: Path) -> None:
    """All entrants come onto the board, the loader's token is revoked, and a second start loads nothing."""
    with running_server(data_dir, PLUMBLINE_DEMO="1") as server:
        loaded = eventually(lambda: n_rows(server.address) == N_ENTRANTS, within_s=120)
        says_so = (server.process.stdout or [""]).readline()
    with running_server(data_dir, PLUMBLINE_DEMO="1") as server:
        still_there = n_rows(server.address)
        listed = tokens(data_dir)

    assert loaded
    assert says_so.startswith("The examples are published")
    assert still_there == N_ENTRANTS
    assert listed.count("Example loader") == 1


def test_a_loading_that_was_broken_off_is_taken_up_again(data_dir: Path) -> None:
    """Ctrl-C, or kill -9, during the first start does not leave half of an example for ever."""
    with running_server(data_dir, PLUMBLINE_DEMO="1") as server:
        begun = eventually(lambda: httpx.get(f"{server.address}/benchmarks/fev-bench").status_code == 200, within_s=60)
        server.stop(signal.SIGKILL)
    with running_server(data_dir, PLUMBLINE_DEMO="1") as server:
        loaded = eventually(lambda: n_rows(server.address) == N_ENTRANTS, within_s=120)

    assert begun
    assert loaded
