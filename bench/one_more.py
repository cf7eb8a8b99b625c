"""One more embedding model beside MTEB's 324 on 41 tasks: from its POST to the board that a reader is served.

Part of `make bench`; `python -m bench.one_more` prints it alone. Each is sent to a server at rest: pages of the one
before are still being made for a while after it. The board is asked for as a reader asks, a kept page each time; asking
for the state of the submission a hundred times a second took a core from the worker. What is timed is checked: the
model stands on every board, and its submission waits for nothing.
"""

import time

import httpx2

from bench.server import ROOT, UNLIMITED, headers, settle, submit
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

EXAMPLE = ROOT / "examples" / "mteb-eng-v2"
BOARDS = ("borda", "mean-task-type", "win-rate", "mean-rank")
SLUG, COMPLETE, ROUNDS, WANTED_S, PATIENCE_S = ("mteb-eng-v2", "Qwen/Qwen3-Embedding-8B", 9, 0.3, 20)
REST_S = 2.0


def measure_one_more() -> None:
    """Print the median and the extremes, in seconds, of the 202 and of the boards."""
    rows = (EXAMPLE / "results" / "eng_v2.csv").read_text("utf-8").splitlines()
    own = [line.split(",", 1)[1] for line in rows if line.startswith(f"{COMPLETE},")]
    with fresh_data_dir() as folder, running_server(folder, **UNLIMITED) as server:
        created = (EXAMPLE / "manifest.yaml").read_bytes()
        httpx2.post(f"{server.address}/benchmarks", content=created, headers=headers(server)).raise_for_status()
        settle(server, submit(server, SLUG, "eng_v2.csv", "\n".join(rows).encode()))
        taken = [_one_more(server, number, rows[0], own) for number in range(ROUNDS)]
    whats = ("202", "row in the CSV of the board that a reader asks for", f"row in those of all {len(BOARDS)} boards")
    for what, seconds in zip(whats, map(sorted, zip(*taken, strict=True)), strict=True):
        median = seconds[len(seconds) // 2]
        print(f"one more model on 324 x 41, POST to its {what}: {median:.3f} s "
              f"({seconds[0]:.3f} to {seconds[-1]:.3f})")  # fmt: skip
    print(f"  wanted: on the board within {WANTED_S} s")


def _one_more(server: RunningServer, number: int, header: str, own: list[str]) -> tuple[float, float, float]:
    name = f"new/model-{number}"
    shifted = [_shifted(line, 0.001 * (number + 1)) for line in own]
    content = "\n".join([header, *(f"{name},{line}" for line in shifted)]).encode()
    time.sleep(REST_S)
    began = time.perf_counter()
    answer = submit(server, SLUG, "one.csv", content)
    answer.raise_for_status()
    taken = time.perf_counter() - began
    _wait_for(server, BOARDS[0], name)
    read = time.perf_counter() - began
    for board in BOARDS[1:]:
        _wait_for(server, board, name)
    all_read = time.perf_counter() - began
    settle(server, answer)
    return taken, read, all_read


def _wait_for(server: RunningServer, board: str, name: str) -> None:
    """Read a board until somebody stands on it: an old page is served while its new one is rendered."""
    address, until = f"{server.address}/benchmarks/{SLUG}/leaderboards/{board}.csv", time.perf_counter() + PATIENCE_S
    with httpx2.Client() as client:
        while f",{name}," not in client.get(address).text:
            if time.perf_counter() > until:
                raise RuntimeError(f"{name} is not on {board}")
            time.sleep(0.01)


def _shifted(line: str, by: float) -> str:
    before, score = line.rsplit(",", 1)
    return f"{before},{float(score) - by!r}"


if __name__ == "__main__":
    measure_one_more()
