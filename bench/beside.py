"""The way of a row beside another version's: `python -m bench.beside PYTHON`, the Python of that version's environment.

Both servers run at once, and their turns alternate, so that whatever else the machine does befalls both. For changes
that could slow uploads down; run by hand.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from bench.machine import machine
from bench.readers import new_entrants
from bench.server import EXAMPLE, N_ROWS, OPEN_MANIFEST, UNLIMITED, big_upload, headers, settle, submit
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

N_SMALL, N_BIG = 40, 3
# The other version may not know newer settings, and refuses what it does not know.
SETTINGS = {"PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "1000000"}


@contextmanager
def _served(python: Path, settings: Mapping[str, str]) -> Iterator[RunningServer]:
    with fresh_data_dir() as data_dir, running_server(data_dir, python=python, **settings) as server:
        # A manifest of its own version: an older one does not know newer words.
        declared = (_example_of(python) / "manifest.yaml").read_bytes()
        manifest = declared.replace(b"prereg: required", b"prereg: optional")
        for content in (manifest, OPEN_MANIFEST.encode()):
            httpx2.post(f"{server.address}/benchmarks", content=content, headers=headers(server)).raise_for_status()
        for path in sorted((EXAMPLE / "results").glob("*.csv")):
            settle(server, submit(server, "fev-bench", path.name, path.read_bytes()))
        yield server


def _example_of(python: Path) -> Path:
    return EXAMPLE if python == Path(sys.executable) else python.parents[2] / "examples" / EXAMPLE.name


def time_small(server: RunningServer, upload: tuple[str, bytes]) -> float:
    """Return the seconds from the POST of 100 rows to its 202; the next begins when they are on the board."""
    began = time.perf_counter()
    answer = submit(server, "fev-bench", "extra.csv", upload[1])
    taken = time.perf_counter() - began
    answer.raise_for_status()
    settle(server, answer)
    return taken


def time_big(server: RunningServer, number: int) -> float:
    """Return the seconds from the POST of a million rows to its 202; the next begins when they are evaluated."""
    with big_upload(f"n{number}-") as file:
        began = time.perf_counter()
        answer = submit(server, "big", "big.csv", file)
        taken = time.perf_counter() - began
    answer.raise_for_status()
    wait_until_evaluated(server, answer)
    return taken


def wait_until_evaluated(server: RunningServer, answer: httpx2.Response) -> None:
    """Wait until a submission is evaluated; its board may lack what it needs."""
    address = f"{server.address}{answer.headers['location']}.json"
    while httpx2.get(address).json()["status"] == "received":
        time.sleep(0.05)


def in_turns(ours: Callable[[], float], theirs: Callable[[], float], n_times: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each, alternating in who begins."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(n_times):
        for which in (0, 1) if number % 2 else (1, 0):
            taken[which].append((ours, theirs)[which]())
    return taken


def report(python: Path) -> None:
    """Print the seconds of both versions."""
    print(machine())
    with _served(Path(sys.executable), UNLIMITED) as ours, _served(python, SETTINGS) as theirs:
        uploads = [iter(list(new_entrants(N_SMALL))) for _ in range(2)]
        small = in_turns(_next(time_small, ours, uploads[0]), _next(time_small, theirs, uploads[1]), N_SMALL)
        big = in_turns(_next(time_big, ours, iter(range(N_BIG))), _next(time_big, theirs, iter(range(N_BIG))), N_BIG)
    for what, (new, old), unit in (
        ("100 rows", small, "limit 30 ms more"),
        (f"{N_ROWS:,} rows", big, "limit 1.1 times"),
    ):
        print(f"{what}: POST to 202 {median(new):.3f} s (least {min(new):.3f}), the other version {median(old):.3f} s "
              f"(least {min(old):.3f}); {1000 * (median(new) - median(old)):+.0f} ms, "
              f"{median(new) / median(old):.2f} times ({unit})")  # fmt: skip


def _next(of: Callable[[RunningServer, Any], float], server: RunningServer, each: Iterator[Any]) -> Callable[[], float]:
    return lambda: of(server, next(each))


if __name__ == "__main__":
    report(Path(sys.argv[1]))
