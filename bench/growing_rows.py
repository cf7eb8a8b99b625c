"""One more submission of a summary benchmark as it grows to three million rows: `python -m bench.growth rows`.

A whole server of its own, with its web process and its worker: every row is sent over HTTP, none is written otherwise.
What is timed is checked: each submission was taken, evaluated and published, and stands on every board.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

import httpx2
import numpy as np

from bench.server import UNLIMITED, Watched, headers, submit
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

N_ENTRANTS, N_TASKS, AT_ONCE = 2_000, 1_500, 100
SPREADS = 617
"""Has no divisor in common with the number of entrants, so that consecutive ones are far apart in quality."""
OFTEN = 5
"""How often one entrant more is timed at each size: the median is printed, as single times differ by a third."""
PATIENCE_S, ASKED_EVERY_S = 400.0, 0.05
SLUG, BOARDS = "rows", ("skill", "mean")
ROWS_MANIFEST = b"""\
schema_version: 1
slug: rows
title: Rows
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
admission: {prereg: optional}
leaderboards:
  - {name: skill, method: skill_score, metric: MASE, baseline: m00000, missing: impute}
  - {name: mean, method: mean, metric: MASE, missing: drop}
"""


@dataclass(frozen=True)
class Took:
    """One more submission: seconds from its POST to the 202, to its evaluation and to the boards; peaks in MiB.

    Of several sent one after the other, the seconds are medians and the peaks the largest.
    """

    n_before: int
    n_more: int
    taken_s: float
    evaluated_s: float
    published_s: float
    worker_mib: float
    web_mib: float


@dataclass
class _Rows:
    """A running server with one benchmark, to which entrants are sent by their numbers."""

    server: RunningServer
    n_sent: int = 0
    locations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.auth, self.client = headers(self.server), httpx2.Client(base_url=self.server.address, timeout=PATIENCE_S)
        self.client.post("/benchmarks", content=ROWS_MANIFEST, headers=self.auth).raise_for_status()

    def send(self, content: bytes, count: int) -> str:
        """Send rows of so many more entrants and return the address of the submission."""
        answer = submit(self.server, SLUG, "rows.csv", content)
        if answer.status_code != 202:
            raise RuntimeError(f"{answer.status_code}: {answer.text[:300]}")
        self.n_sent += count
        self.locations.append(f"{answer.headers['location']}.json")
        return self.locations[-1]

    def wait_until(self, location: str, is_there: Callable[[str | None], bool]) -> None:
        """Wait until what a submission waits for is something else, asked on one connection."""
        until = time.monotonic() + PATIENCE_S
        while not is_there(self.client.get(location).json()["waiting_for"]):
            if time.monotonic() > until:
                raise RuntimeError(f"{location}: {self.client.get(location).text[:300]}")
            time.sleep(ASKED_EVERY_S)

    def grow_to(self, wanted: int) -> None:
        """Send what is lacking, and wait until all of it is published."""
        while self.n_sent < wanted:
            count = min(AT_ONCE, wanted - self.n_sent)
            self.send(summary_rows(self.n_sent, count), count)
        self.check()

    def check(self) -> None:
        """Wait until everything is published, and raise unless all entrants stand on every board."""
        for location in self.locations:
            self.wait_until(location, lambda waits: waits is None)
            status = self.client.get(location).json()["status"]
            if status != "published":
                raise RuntimeError(f"{location} is {status}")
        self.locations.clear()
        for board in BOARDS:
            self._expect(board)

    def _expect(self, board: str) -> None:
        """Read a board until all stand on it: an old page is served while its new one is rendered."""
        until = time.monotonic() + PATIENCE_S
        while (n_on_board := self._standing(board)) != self.n_sent:
            if time.monotonic() > until:
                raise RuntimeError(f"{n_on_board} and not {self.n_sent} entrants stand on {board}")
            time.sleep(ASKED_EVERY_S)

    def _standing(self, board: str) -> int:
        return len(self.client.get(f"/benchmarks/{SLUG}/leaderboards/{board}.json").json()["rows"])

    def several_more(self) -> Took:
        """Time one more entrant a few times."""
        n_before, every = self.n_sent, [self.one_more(1) for _ in range(OFTEN)]
        taken, evaluated, published = (
            median(times) for times in zip(*((t.taken_s, t.evaluated_s, t.published_s) for t in every), strict=True)
        )
        worker, web = max(t.worker_mib for t in every), max(t.web_mib for t in every)
        return Took(n_before, 1, taken, evaluated, published, worker, web)

    def one_more(self, count: int) -> Took:
        """Time one more submission of so many entrants, nothing else being at work."""
        content, n_before = summary_rows(self.n_sent, count), self.n_sent
        with Watched(self.server.child("worker")) as worker, Watched(self.server.child("web")) as web:
            began = time.perf_counter()
            location = self.send(content, count)
            taken = time.perf_counter() - began
            self.wait_until(location, lambda waits: waits != "evaluation")
            evaluated = time.perf_counter() - began
            self.wait_until(location, lambda waits: waits is None)
            published = time.perf_counter() - began
        self.check()
        return Took(n_before, count, taken, evaluated, published, worker.mib, web.mib)


def summary_rows(first: int, count: int) -> bytes:
    """Return a summary of some entrants on every task; each submission has its entrants all over the board."""
    rng, numbers = np.random.default_rng(first), np.arange(first, first + count)
    names = [f"m{number:05}" for number in numbers.tolist()]
    levels = 0.001 * (numbers * SPREADS % N_ENTRANTS)
    errors = np.exp(rng.normal(levels[:, None], 0.4, (count, N_TASKS))).tolist()
    lines = [
        f"{name},t{at:05},{error!r}\n" for name, row in zip(names, errors, strict=True) for at, error in enumerate(row)
    ]
    return ("model,task,MASE\n" + "".join(lines)).encode()


def grow_rows(shares: Sequence[float]) -> Iterator[Took]:
    """Yield what one more submission of one entrant, and of a hundred, costs as rows grow."""
    with fresh_data_dir() as folder, running_server(folder, **UNLIMITED) as server:
        rows = _Rows(server)
        for share in shares:
            rows.grow_to(round(share * N_ENTRANTS))
            yield rows.several_more()
            yield rows.one_more(AT_ONCE)


def report(shares: Sequence[float]) -> None:
    """Print the curve as a table for docs/performance.md."""
    print("| on the board | one more | POST to 202, s | to its evaluation, s | to the boards, s "
          "| worker's peak, MiB | web's peak, MiB |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for took in grow_rows(shares):
        size, more = took.n_before * N_TASKS, took.n_more * N_TASKS
        print(f"| {size:,} rows | {more:,} rows | {took.taken_s:.2f} | {took.evaluated_s:.2f} "
              f"| {took.published_s:.2f} | {took.worker_mib:.0f} | {took.web_mib:.0f} |", flush=True)  # fmt: skip
