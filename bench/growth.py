"""How one more submission costs as a benchmark grows: `python -m bench.growth [rows|episodes] [share]`.

What is timed is checked: every submission was taken and admitted, and stands on the published boards with its rows.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psutil

from app.config.settings import Settings
from app.db.embedded.running import running_server as embedded_server
from app.db.migrate import upgrade
from app.jobs.evaluate import evaluate
from app.jobs.publish import publish
from app.prereg.prereg import sha256_hex
from app.store import benchmarks
from bench.machine import machine
from tests.cases.chamber import MANIFEST, PREREG, bundle, episode, zipped
from tests.cases.running_server import fresh_data_dir
from tests.conftest import Site, open_site

SHARES = (0.01, 0.1, 0.3, 1.0)
N_ENTRANTS, N_TASKS, AT_ONCE = 2_000, 1_500, 100
SPREADS = 617
"""Has no divisor in common with the number of entrants, so that consecutive ones are far apart in quality."""
N_RUNS, N_SEEDS, N_PER_SEED = 1_000, 5, 400
YAML = {"Content-Type": "application/yaml"}
PLAN = PREREG.replace(b"episodes_per_seed: 4", b"episodes_per_seed: 200")
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
class Grown:
    """One point of a curve: seconds from the POST to the stored boards, and the process's memory at its peak in MiB."""

    size: str
    sent: str
    seconds: float
    peak_mib: float


@dataclass
class Growing:
    """A benchmark to which submissions are sent one after the other."""

    site: Site
    slug: str

    def send(self, name: str, content: bytes, **form: str) -> int:
        """Send a file, have it evaluated, and return the number of its submission. Raises unless it is admitted."""
        answer = self.site.http.post(
            f"/benchmarks/{self.slug}/submissions", files=[("files", (name, content))], data=form,
            headers=self.site.auth(),
        )  # fmt: skip
        if answer.status_code != 202:
            raise RuntimeError(f"{self.slug} did not take {name}: {answer.text[:300]}")
        number = int(answer.json()["id"])
        evaluate(self.site.sessions, [number])
        self._expect(number, "evaluated")
        return number

    def publish(self) -> None:
        """Publish the boards."""
        with self.site.sessions() as session:
            benchmark_id = benchmarks.find_benchmark(session, self.slug).id
        publish(self.site.sessions, benchmark_id)

    def one_more(self, size: str, sent: str, send: Callable[[], int], n_entrants: int) -> Grown:
        """Time a submission from its POST to the stored boards, on each of which all entrants must stand."""
        with _peak() as peak:
            began = time.perf_counter()
            number = send()
            self.publish()
            seconds = time.perf_counter() - began
        self._expect(number, "published")
        for name in self._boards():
            board = self.site.http.get(f"/benchmarks/{self.slug}/leaderboards/{name}.json").json()
            if len(board["rows"]) != n_entrants:
                raise RuntimeError(
                    f"board {name} has {len(board['rows'])} rows, expected {n_entrants}: {board['notes']}"
                )
        return Grown(size, sent, seconds, peak[0])

    def _boards(self) -> list[str]:
        manifest = self.site.http.get(f"/benchmarks/{self.slug}.json").json()["manifest"]
        return [board["name"] for board in manifest["leaderboards"]]

    def _expect(self, number: int, status: str) -> None:
        found = self.site.http.get(f"/submissions/{number}.json").json()
        if found["status"] != status:
            raise RuntimeError(f"submission {number} is {found['status']}, expected {status}: {found['reason']}")


@contextmanager
def _peak() -> Iterator[list[float]]:
    """Yield the largest resident memory of this process, in MiB, while the block runs."""
    peak, done = [0.0], threading.Event()

    def sample() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], psutil.Process().memory_info().rss / 2**20)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


@contextmanager
def _growing(slug: str, manifest: bytes) -> Iterator[Growing]:
    with fresh_data_dir() as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        with open_site(url, Settings(max_requests_per_minute=1_000_000)) as site:
            made = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML)
            if made.status_code != 201:
                raise RuntimeError(made.text)
            yield Growing(site, slug)


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


def grow_rows(shares: Sequence[float] = SHARES) -> Iterator[Grown]:
    """Yield what one more submission of one entrant, and one of a hundred, costs as rows grow to three million."""
    with _growing("rows", ROWS_MANIFEST) as growing:
        n = 0
        for share in shares:
            while n < round(share * N_ENTRANTS):
                part = min(AT_ONCE, round(share * N_ENTRANTS) - n)
                growing.send("rows.csv", summary_rows(n, part))
                n += part
            growing.publish()
            for count in (1, AT_ONCE):
                content, size = summary_rows(n, count), f"{n * N_TASKS:,} rows"
                n += count
                send = lambda content=content: growing.send("rows.csv", content)  # noqa: E731
                yield growing.one_more(size, f"{count * N_TASKS:,} rows", send, n)


def episode_run(number: int) -> bytes:
    """Return a bundle of 2,000 episodes of its own results."""
    rng = np.random.default_rng(number)
    won = rng.random((N_SEEDS, N_PER_SEED)) < 0.3 + 0.4 * rng.random()
    records = [
        episode(seed, at, "left" if at < N_PER_SEED // 2 else "right", success=bool(won[seed, at]),
                constraint_violation_peak=float(rng.random()))
        for seed in range(N_SEEDS) for at in range(N_PER_SEED)
    ]  # fmt: skip
    schedule = {"root_seed": 0, "seeds": list(range(N_SEEDS)), "episodes_per_seed": N_PER_SEED}
    return zipped(bundle(records, prereg=PLAN, seed_schedule=schedule, policy_id=f"arm-{number}"))


def grow_episodes(shares: Sequence[float] = SHARES) -> Iterator[Grown]:
    """Yield what one more submission costs on a benchmark of episodes, as it grows to a thousand."""
    with _growing("arm", MANIFEST.replace(b"prereg: required, ", b"prereg: optional, ")) as growing:
        site = growing.site
        site.http.post("/preregs?benchmark=arm", content=PLAN, headers=site.auth() | YAML).raise_for_status()
        n = 0

        def send() -> int:
            nonlocal n
            n += 1
            form = {"prereg_sha256": sha256_hex(PLAN), "entrant": f"arm-{n}"}
            return growing.send("run.zip", episode_run(n), **form)

        for share in shares:
            while n < round(share * N_RUNS):
                send()
            growing.publish()
            yield growing.one_more(f"{n:,} submissions", "2,000 episodes", send, n + 1)


CURVES = {"rows": grow_rows, "episodes": grow_episodes}


def report(curves: Sequence[str] = tuple(CURVES), largest: float = 1.0) -> None:
    """Print the curves as a table for docs/performance.md."""
    print(machine())
    print("\n| on the board | one more | POST to board, s | memory, MiB |\n|---|---|---|---|")
    for name in curves:
        for grown in CURVES[name]([share for share in SHARES if share <= largest]):
            print(f"| {grown.size} | {grown.sent} | {grown.seconds:.2f} | {grown.peak_mib:.0f} |", flush=True)


if __name__ == "__main__":
    report(sys.argv[1:2] or tuple(CURVES), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
