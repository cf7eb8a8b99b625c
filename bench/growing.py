"""A benchmark that grows by one submission after another, and what one more costs.

What is timed is checked: every submission was taken and admitted, and stands on the published boards with its rows.
"""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import psutil

from app.config import Settings
from app.db.embedded import running_server as embedded_server
from app.db.migrate import upgrade
from app.jobs.evaluate import evaluate
from app.jobs.publish import publish
from app.store import benchmark_rows
from bench.copied import copy_submissions
from tests.cases.running_server import fresh_data_dir
from tests.fixtures import Site, open_site

PATIENCE_S = 20.0
OFTEN = 5
"""How often one more submission is timed: the median is printed, as single times differ by a third."""
PAUSE_S = 1.0
YAML = {"Content-Type": "application/yaml"}


@dataclass(frozen=True)
class Grown:
    """One point of a curve: median seconds from the POST to the stored boards, and the process's peak memory in MiB."""

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

    def put_labels(self, rows: str) -> None:
        """Put the true classes of items."""
        content = ("item,label\n" + rows).encode()
        put = self.site.http.put(
            f"/benchmarks/{self.slug}/labels",
            files={"file": ("labels.csv", content)},
            headers=self.site.auth("steward"),
        )
        if put.status_code != 201:
            raise RuntimeError(put.text[:300])

    def copy_up_to(self, wanted: int, n: int) -> int:
        """Publish, add copies up to a number of submissions, of which there are some, and publish; return how many."""
        self.publish()
        if wanted > n:
            copy_submissions(self.site, self._id(), wanted - n)
            self.publish()
        return max(0, wanted - n)

    def publish(self) -> None:
        """Publish the boards."""
        publish(self.site.sessions, self._id())

    def _id(self) -> int:
        with self.site.sessions() as session:
            return benchmark_rows.find_benchmark(session, self.slug).id

    def several_more(self, size: str, sent: str, next_one: Callable[[], Callable[[], int]], n_before: int) -> Grown:
        """Time submissions of one entrant each, one after the other, from the POST to the stored boards."""
        every = [self._one_more(next_one(), n_before + n) for n in range(OFTEN)]
        return Grown(size, sent, median(seconds for seconds, _ in every), max(peak for _, peak in every))

    def _one_more(self, send: Callable[[], int], n_before: int) -> tuple[float, float]:
        """Return the seconds of one submission and the peak meanwhile; all entrants must stand on each board.

        Pages of the boards before are rendered first: a server of its own has a process for that.
        """
        for name in self._boards():
            self._expect_rows(name, n_before)
        time.sleep(PAUSE_S)
        with peak_memory() as peak:
            began = time.perf_counter()
            number = send()
            self.publish()
            seconds = time.perf_counter() - began
        self._expect(number, "published")
        for name in self._boards():
            self._expect_rows(name, n_before + 1)
        return seconds, peak[0]

    def _expect_rows(self, name: str, n_entrants: int) -> None:
        """Read a board until all stand on it: an old page is served while its new one is rendered."""
        until = time.monotonic() + PATIENCE_S
        while True:
            board = self.site.http.get(f"/benchmarks/{self.slug}/leaderboards/{name}.json").json()
            if len(board["rows"]) == n_entrants:
                return
            if time.monotonic() > until:
                raise RuntimeError(f"board {name} has {len(board['rows'])} rows, not {n_entrants}: {board['notes']}")
            time.sleep(0.05)

    def _boards(self) -> list[str]:
        manifest = self.site.http.get(f"/benchmarks/{self.slug}.json").json()["manifest"]
        return [board["name"] for board in manifest["leaderboards"]]

    def _expect(self, number: int, status: str) -> None:
        result = self.site.http.get(f"/submissions/{number}.json").json()
        if result["status"] != status:
            raise RuntimeError(f"submission {number} is {result['status']}, expected {status}: {result['reason']}")


@contextmanager
def peak_memory() -> Iterator[list[float]]:
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
def growing_benchmark(slug: str, manifest: bytes) -> Iterator[Growing]:
    """Yield a new benchmark on a database of its own."""
    with fresh_data_dir() as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        with open_site(url, Settings(max_requests_per_minute=1_000_000)) as site:
            created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML)
            if created.status_code != 201:
                raise RuntimeError(created.text)
            # As a worker does before its first job.
            gc.collect()
            gc.freeze()
            yield Growing(site, slug)
