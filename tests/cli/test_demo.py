"""`make run` on an empty database: the examples arrive through the HTTP API, once and whole; fev's numbers come out."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.cli.demo import find_examples
from app.cli.serve import EXAMPLES
from tests.cases import patient
from tests.cases.fev_rows import FEV
from tests.cases.offline import plumbline
from tests.cases.running_server import RunningServer, environment, fresh_data_dir, running_server
from tests.cases.waiting import eventually

BOARD = "/benchmarks/fev-bench/leaderboards/sql.csv"
N_ENTRANTS = 30
BOARDS = ("sql", "sql-mini", "sql/pairwise")
ROOT = Path(__file__).resolve().parents[2]
TOKEN = "pl_admin_of_the_tests_of_the_demo"
KEYS = {"leaderboard": ["entrant"], "pairwise": ["entrant_a", "entrant_b"]}
FEV_KEYS = {"leaderboard": ["model_name"], "pairwise": ["model_1", "model_2"]}


def n_rows(address: str) -> int:
    """Return how many entrants stand on the board, 0 as long as there is none."""
    answer = patient.get(address + BOARD)
    return len(answer.text.splitlines()) - 1 if answer.status_code == 200 else 0


def test_the_examples_are_found_with_their_results() -> None:
    """Each example folder holds a manifest and result files; each file is one submission."""
    actual = {example.folder.name: len(example.submissions) for example in find_examples(EXAMPLES)}

    assert actual["fev-bench"] == 26


@dataclass(frozen=True)
class Demo:
    """A server with the examples on it, and its boards of fev-bench as they were then."""

    address: str
    boards: dict[str, str]
    message: str = ""
    n_rows_at_once: int = 0
    tokens: str = ""

    def auth(self) -> dict[str, str]:
        """Return the header by which the admin signs in."""
        return {"Authorization": f"Bearer {TOKEN}"}

    def is_published(self, slug: str) -> bool:
        """Say whether the boards show everything that was sent."""
        about = patient.get(f"{self.address}/benchmarks/{slug}.json").json()
        return about["snapshot"] is not None and not about["stale"]

    def status(self, submission: int) -> str:
        """Return the state of a submission."""
        return str(patient.get(f"{self.address}/submissions/{submission}.json").json()["status"])

    def csv(self, slug: str, board: str) -> str:
        """Return a board as CSV."""
        return patient.get(f"{self.address}/benchmarks/{slug}/leaderboards/{board}.csv").raise_for_status().text


SETTINGS = {"PLUMBLINE_DEMO": "1", "PLUMBLINE_ADMIN_TOKEN": TOKEN}


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """One server on which the examples are: it was killed while it loaded them, and started twice again."""
    with fresh_data_dir() as folder:
        with running_server(folder, **SETTINGS) as server:
            begun = f"{server.address}/benchmarks/fev-bench"
            assert eventually(lambda: patient.get(begun).status_code == 200, within_s=60)
            server.stop(signal.SIGKILL)
        with running_server(folder, **SETTINGS) as server:
            reported = wait_until_loaded(server)
        with running_server(folder, **SETTINGS) as server:
            rows = n_rows(server.address)
            listed = plumbline("token", "list", PLUMBLINE_DATA_DIR=str(folder)).stdout
            boards = {board: Demo(server.address, {}).csv("fev-bench", board) for board in BOARDS}
            yield Demo(server.address, boards, reported, rows, listed)


def wait_until_loaded(server: RunningServer) -> str:
    """Wait until the board of fev-bench is whole, and return what the server says then."""
    loaded = Demo(server.address, {})
    assert eventually(lambda: n_rows(server.address) == N_ENTRANTS, within_s=120)
    assert eventually(lambda: loaded.is_published("fev-bench"), within_s=60)
    return (server.process.stdout or [""]).readline()  # type: ignore[union-attr]


def test_a_loading_that_was_broken_off_is_taken_up_again(demo: Demo) -> None:
    """Ctrl-C, or kill -9, during the first start does not leave half of an example for ever."""
    assert demo.message.startswith("The examples are published")


def test_the_examples_are_loaded_into_an_empty_server_once(demo: Demo) -> None:
    """A later start has them at once and loads nothing; the loader's token is revoked."""
    assert demo.n_rows_at_once == N_ENTRANTS
    assert demo.tokens.count("Example loader") == 1


def largest_difference(ours: str, file: str, kind: str) -> float:
    """Return the largest difference from fev's own numbers, relative where they are above one."""
    expected = pd.read_csv(FEV / "expected" / f"{file}.csv", index_col=FEV_KEYS[kind])
    numbers = pd.read_csv(io.StringIO(ours)).set_index(KEYS[kind])
    aligned = numbers.loc[expected.index, expected.columns].astype(float)
    assert aligned.notna().equals(expected.notna())
    scale = np.maximum(1.0, np.abs(expected.astype(float)))
    return float(np.nanmax((np.abs(aligned - expected.astype(float)) / scale).to_numpy()))


@pytest.mark.parametrize(
    ("board", "file", "kind"),
    [
        ("sql", "leaderboard_SQL_impute_leak_n1000", "leaderboard"),
        ("sql-mini", "leaderboard_SQL_mini_impute_leak_n1000", "leaderboard"),
        ("sql/pairwise", "pairwise_SQL_impute_leak_n1000", "pairwise"),
    ],
)
def test_the_board_that_is_served_holds_fevs_own_numbers(demo: Demo, board: str, file: str, kind: str) -> None:
    """Points and bounds, out of the CSV that anyone can fetch."""
    assert largest_difference(demo.boards[board], file, kind) < 1e-12


def test_the_served_board_accounts_for_failures_and_leaks(demo: Demo) -> None:
    """Fifteen failures, six leaking models, thirty entrants."""
    board = pd.read_csv(io.StringIO(demo.boards["sql"]))

    assert (len(board), board["num_failures"].sum(), (board["n_leaked"] > 0).sum()) == (N_ENTRANTS, 15, 6)


def shell_blocks(section: str) -> list[str]:
    """Return what a section of the README tells a reader to run."""
    text = (ROOT / "README.md").read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def answers(printed: str) -> list[dict]:  # type: ignore[type-arg]
    """Return the JSON documents that curl printed, one a line."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def test_what_the_readme_says_of_curl_works(demo: Demo, tmp_path: Path) -> None:
    """Its commands, copied as they stand, bring a new model onto the board."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "PLUMBLINE_SERVER": demo.address, "PLUMBLINE_TOKEN": TOKEN}
    commands = "\n".join(shell_blocks("Submit a model with curl"))

    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=environment(tmp_path / "none", **settings),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    registered, submitted = answers(ran.stdout)

    assert ran.returncode == 0, ran.stderr
    assert [bound["benchmark"] for bound in registered["benchmarks"]] == ["fev-bench"]
    assert submitted["admitted"]
    assert eventually(lambda: "my-model" in demo.csv("fev-bench", "sql"), within_s=60)
