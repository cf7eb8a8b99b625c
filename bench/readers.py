"""Readers beside writers: `python -m bench.readers`. Ten submissions and two hundred page reads a second on fev-bench.

`python -m bench.readers 20 40` has forty a second for twenty seconds, more than two cores carry: writes then come again
as they are told, and a page that is in memory still takes less than 100 ms.

In the same run a bare app serves a file of the same size. Clients do as they are told: a submission that is answered
503 comes again after `Retry-After`, and its time counts from when it was first due. One more reader takes the board's
CSV, which has every entrant, four times a second: when it first has a name is when the board has it. What was timed is
checked: every submission was taken and stands on the board at the end, and every read was answered with a page.
"""

import asyncio
import csv
import gzip
import io
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import numpy as np

from bench.client import Answer, Connections, get, post_file
from bench.pages import PAGE, bare_server
from bench.server import EXAMPLE, UNLIMITED, headers, settle, submit
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

HOME = "/benchmarks/fev-bench"
# What a visitor reads: the board most, then the benchmark, the front page and another board.
READ = (PAGE, PAGE, PAGE, HOME, PAGE, PAGE, "/", PAGE, HOME, PAGE.replace("/sql", "/mase"))
METRICS = ("SQL", "MASE", "WAPE", "WQL")
KEPT = "/glossary"
READS_PER_S, POSTS_PER_S, STATIC_PER_S, LOOKS_PER_S = 200, 10, 50, 4
TOO_MANY_PER_S = 40
"""More submissions a second than two cores carry."""
SECONDS, SETTLES_WITHIN_S, LONGEST_KEPT_S = 60.0, 120.0, 0.1
ENTRANT = re.compile(rb"\bExtra\d+\b")


@dataclass
class Measured:
    """What was asked and answered."""

    reads: list[Answer] = field(default_factory=list)
    files: list[Answer] = field(default_factory=list)
    kept: list[Answer] = field(default_factory=list)
    posts: list[Answer] = field(default_factory=list)
    accepted_at: dict[str, float] = field(default_factory=dict)
    shown_at: dict[str, float] = field(default_factory=dict)
    tags: set[bytes] = field(default_factory=set)
    n_asked_again: int = 0

    def read(self, answer: Answer) -> None:
        """Note a read of a page."""
        self.reads.append(Answer(answer.status, answer.head, b"", answer.seconds))

    def look_at(self, answer: Answer) -> None:
        """Note when each entrant of the board's CSV was first seen; each state of it is looked at once."""
        tag, now = answer.header(b"etag"), time.perf_counter()
        if answer.status != 200 or tag in self.tags:
            return
        self.tags.add(tag)
        for name in set(ENTRANT.findall(gzip.decompress(answer.body))):
            self.shown_at.setdefault(name.decode(), now)

    def freshness(self) -> list[float]:
        """Return the seconds from each 202 until a reader was served the entrant."""
        return [self.shown_at[name] - at for name, at in self.accepted_at.items() if name in self.shown_at]


def new_entrants(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield a name and an upload of 100 rows each: errors of the examples' first entrant, off by a random factor."""
    with sorted((EXAMPLE / "results").glob("*.csv"))[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    rng = np.random.default_rng(1)
    for number in range(count):
        factors = np.exp(rng.normal(0.0, 0.3) + rng.normal(0.0, 0.3, size=(len(rows), len(METRICS)))).tolist()
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        for row, by in zip(rows, factors, strict=True):
            errors = {name: float(row[name]) * factor for name, factor in zip(METRICS, by, strict=True) if row[name]}
            writer.writerow(row | errors | {"model_name": f"Extra{number}"})
        yield f"Extra{number}", out.getvalue().encode()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def at_rate(per_s: float, seconds: float, ask: Callable[[int, float], Awaitable[None]]) -> None:
    """Begin `ask(number, due)` at a fixed rate whatever the answers take, and wait for all of them."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(round(per_s * seconds)):
            due = began + number / per_s
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(ask(number, due))


async def drive(server: RunningServer, bare: str, seconds: float, posts_per_s: float) -> Measured:
    """Read and submit for a while, then read on until everything submitted was seen on the board."""
    pages, files, posts = (Connections(*_host_and_port(address)) for address in (server.address, bare, server.address))
    authorization = headers(server)["Authorization"]
    uploads = list(new_entrants(round(posts_per_s * seconds)))
    result = Measured()

    async def read(number: int, due: float) -> None:
        result.read(await pages.ask(get(READ[number % len(READ)]), due))

    async def look(_number: int, due: float) -> None:
        result.look_at(await pages.ask(get(f"{PAGE}.csv"), due))

    async def read_kept(_number: int, due: float) -> None:
        result.kept.append(await pages.ask(get(KEPT), due))

    async def read_file(_number: int, due: float) -> None:
        result.files.append(await files.ask(get("/"), due))

    async def post(number: int, due: float) -> None:
        name, content = uploads[number]
        request = post_file(f"{HOME}/submissions", authorization, "extra.csv", content)
        answer = await posts.ask(request, due)
        while answer.status == 503 and answer.header(b"retry-after"):
            result.n_asked_again += 1
            await asyncio.sleep(float(answer.header(b"retry-after")))
            answer = await posts.ask(request, due)
        result.posts.append(answer)
        if answer.status == 202:
            result.accepted_at[name] = time.perf_counter()

    async with asyncio.TaskGroup() as group:
        group.create_task(at_rate(READS_PER_S, seconds, read))
        group.create_task(at_rate(STATIC_PER_S, seconds, read_file))
        group.create_task(at_rate(STATIC_PER_S, seconds, read_kept))
        group.create_task(at_rate(LOOKS_PER_S, seconds, look))
        group.create_task(at_rate(posts_per_s, seconds, post))
    until = time.perf_counter() + SETTLES_WITHIN_S
    while set(result.accepted_at) - set(result.shown_at) and time.perf_counter() < until:
        await look(0, time.perf_counter())
        await asyncio.sleep(1 / LOOKS_PER_S)
    for each in (pages, files, posts):
        each.close()
    return result


def _host_and_port(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    return str(parts.hostname), int(parts.port or 80)


def measure_readers(seconds: float = SECONDS, posts_per_s: float = POSTS_PER_S) -> Measured:
    """Run a server with the examples' entrants, and readers beside writers on it."""
    manifest = (EXAMPLE / "manifest.yaml").read_bytes().replace(b"prereg: required", b"prereg: optional")
    with (
        fresh_data_dir() as data_dir,
        running_server(data_dir, **UNLIMITED) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        httpx2.post(f"{server.address}/benchmarks", content=manifest, headers=headers(server))
        paths = sorted((EXAMPLE / "results").glob("*.csv"))
        for answer in [submit(server, "fev-bench", path.name, path.read_bytes()) for path in paths]:
            settle(server, answer)
        page = httpx2.get(server.address + PAGE, headers={"Accept": "text/html", "Accept-Encoding": "identity"})
        httpx2.get(server.address + KEPT)
        file = Path(folder) / "page.html"
        file.write_bytes(gzip.compress(page.content, 6))
        with bare_server(file) as bare:
            return asyncio.run(drive(server, bare, seconds, posts_per_s))


def check(result: Measured, n_posts: int) -> None:
    """Raise when what was timed did not happen."""
    wrong = {answer.status for answer in (*result.reads, *result.files, *result.kept) if answer.status != 200}
    refused = {answer.status for answer in result.posts if answer.status != 202}
    lost = set(result.accepted_at) - set(result.shown_at)
    if wrong or refused or lost or len(result.accepted_at) != n_posts:
        raise RuntimeError(f"reads answered {wrong}, submissions {refused}; not on the board: {sorted(lost)[:5]}")


def report(seconds: float = SECONDS, posts_per_s: float = POSTS_PER_S) -> None:
    """Print the figures."""
    result = measure_readers(seconds, posts_per_s)
    print(f"{len(result.posts)} submissions and {len(result.reads)} page reads in {seconds:.0f} s:")
    for name, answers in (
        ("pages", result.reads),
        ("a page that is always in memory", result.kept),
        ("a file of that size", result.files),
        ("POST to 202", result.posts),
    ):
        taken = [answer.seconds * 1000 for answer in answers]
        print(f"  {name}: median {percentile(taken, 0.5):.1f} ms, p95 {percentile(taken, 0.95):.1f} ms, "
              f"p99 {percentile(taken, 0.99):.1f} ms, longest {max(taken):.0f} ms")  # fmt: skip
    fresh = result.freshness() or [float("inf")]
    shown = f"{len(fresh)} of {len(result.accepted_at)}"
    middle, late = percentile(fresh, 0.5), percentile(fresh, 0.95)
    print(f"  from 202 to the board ({shown}): median {middle:.1f} s, p95 {late:.1f} s")
    print(f"  {result.n_asked_again} times a submission was answered 503 and sent again when the answer said")
    stale = sum(b"cache-status" in answer.head.lower() for answer in result.reads)
    print(f"  {stale} reads marked stale; {len(result.tags)} states of the board were seen")
    if posts_per_s == POSTS_PER_S:
        print("  limits: pages p95 20 ms, on the board p95 5 s")
    check(result, round(posts_per_s * seconds))
    waited = percentile([answer.seconds for answer in result.kept], 0.95)
    print("  limit beside any number of submissions: a page in memory p95 100 ms")
    if waited > LONGEST_KEPT_S:
        raise RuntimeError(f"a page in memory took {waited * 1000:.0f} ms (p95)")


if __name__ == "__main__":
    report(*map(float, sys.argv[1:3]))
