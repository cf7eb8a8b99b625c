"""The commands of docs/tutorials.md, run as they stand against a real server: init, check, create, submit, board."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials.md").read_text("utf-8")
TOKEN = "a-token-of-the-tutorials-that-is-long-enough-0123456789"
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server without examples, whose admin token is known."""
    with fresh_data_dir() as folder, running_server(folder, PLUMBLINE_ADMIN_TOKEN=TOKEN) as running:
        yield running


def follow(block: str, server: RunningServer, folder: Path) -> str:
    """Run the commands of a block in a folder from which the repository's files are seen; return what they print."""
    for name in ("tests", "examples"):
        (folder / name).symlink_to(ROOT / name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    reported = {**os.environ, "PATH": path, "PLUMBLINE_SERVER": server.address, "PLUMBLINE_TOKEN": TOKEN}
    done = subprocess.run(["sh", "-ec", block], cwd=folder, env=reported, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_tutorial_has_at_most_five_commands() -> None:
    """Those of `plumbline`; what makes the input is not counted."""
    assert [len(re.findall(r"^plumbline ", block, re.M)) for block in BLOCKS] == [4, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("block", "board", "first"),
    [
        (BLOCKS[0], "latency/leaderboards/latency-ms", "1,duckdb,"),
        (BLOCKS[1], "math/leaderboards/exact-match", "1,RylanSchaeffer/mem_Qwen3"),
        pytest.param(BLOCKS[2], "mteb/leaderboards/borda", "1,jcorners/ingot-8b-r3,", marks=pytest.mark.slow),
        (BLOCKS[3], "spam/leaderboards/auc", "1,careful,"),
        (BLOCKS[4], "lrd/leaderboards/canonical-accuracy", "1,"),
    ],
    ids=["latency", "lm-eval", "mteb", "predictions", "series"],
)
def test_a_tutorial_leads_to_its_board(
    server: RunningServer, tmp_path: Path, block: str, board: str, first: str
) -> None:
    """Every command succeeds, and the board has who is first."""
    assert "published" in follow(block, server, tmp_path)
    with urlopen(f"{server.address}/benchmarks/{board}.csv?utm_after=1") as answer:  # noqa: S310
        assert answer.read().decode().splitlines()[1].startswith(first)
