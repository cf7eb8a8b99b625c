"""Clients that send until they are answered 202, readers that never stop, and faults meanwhile; on real processes.

What they saw is compared afterwards, from outside, with what the server shows. Used by tests/faults.
"""

import csv
import io
import itertools
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

import httpx2
import numpy as np

from tests.cases.storm_readers import Read

TASKS = [f"t{number:02}" for number in range(40)]
N_ENTRANTS = 12
"""Of a benchmark; each is sent again and again, and the newest counts."""
MANIFEST = """\
schema_version: 1
slug: {slug}
title: Storm
evidence: evaluation_summary
columns: {{entrant: model, task: task}}
metrics: {{MASE: {{direction: minimize, min: 0}}}}
tasks: [{tasks}]
admission: {{prereg: optional}}
leaderboards: [{{name: average, method: mean, metric: MASE}}]
"""
TRIED_FOR_S = 120.0


@dataclass(frozen=True)
class Sent:
    """A submission that a client tried to hand in: where, of which entrant, and with which rows."""

    key: str
    slug: str
    entrant: str
    values: tuple[float, ...]

    def rows(self) -> bytes:
        """Return its file."""
        lines = (f"{self.entrant},{task},{value!r}" for task, value in zip(TASKS, self.values, strict=True))
        return ("model,task,MASE\n" + "\n".join(lines) + "\n").encode()


@dataclass
class Seen:
    """What came of it: the answer's number of each submission, and whatever should never be answered."""

    numbers: dict[Sent, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    n_tries: int = 0
    read: Read | None = None
    done: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)


def declare(address: str, headers: dict[str, str], slugs: Sequence[str]) -> None:
    """Make the benchmarks."""
    for slug in slugs:
        manifest = MANIFEST.format(slug=slug, tasks=", ".join(f"{{id: {task}}}" for task in TASKS))
        httpx2.post(f"{address}/benchmarks", content=manifest, headers=headers, timeout=60).raise_for_status()


def plan(slugs: Sequence[str], n: int, seed: int) -> list[Sent]:
    """Return so many submissions, spread over benchmarks and entrants, each with numbers of its own."""
    draws = random.Random(seed)
    places = list(itertools.product(slugs, range(N_ENTRANTS)))
    return [
        Sent(f"storm-{seed}-{at}", slug, f"E{number:02}", tuple(draws.randrange(1, 10**6) / 1000 for _ in TASKS))
        for at, (slug, number) in zip(range(n), itertools.cycle(places))
    ]  # fmt: skip


def send_all(addresses: Sequence[str], headers: dict[str, str], sent: Sequence[Sent], n_clients: int) -> Seen:
    """Have clients send everything, each its own share in order, again until it is answered 202."""
    seen = Seen()
    # An entrant's submissions are one client's: which of them is the newest is then known.
    shares = defaultdict(list)
    for each in sent:
        shares[hash_of(each) % n_clients].append(each)
    with ThreadPoolExecutor(n_clients) as pool:
        for done in [pool.submit(_send_share, addresses, headers, share, seen) for share in shares.values()]:
            done.result()
    return seen


def hash_of(sent: Sent) -> int:
    """Return a number of the submission's entrant."""
    return sum(f"{sent.slug}{sent.entrant}".encode())


def _send_share(addresses: Sequence[str], headers: dict[str, str], share: Sequence[Sent], seen: Seen) -> None:
    turns = itertools.cycle(addresses)
    for each in share:
        give_up_at = time.monotonic() + TRIED_FOR_S
        while not _send(next(turns), headers, each, seen):
            assert time.monotonic() < give_up_at, f"{each.key} was not taken within {TRIED_FOR_S} s"
            time.sleep(0.2)


def _send(address: str, headers: dict[str, str], sent: Sent, seen: Seen) -> bool:
    try:
        answer = httpx2.post(
            f"{address}/benchmarks/{sent.slug}/submissions",
            files=[("files", ("rows.csv", sent.rows()))],
            headers={**headers, "Idempotency-Key": sent.key},
            timeout=60,
        )
    except httpx2.TransportError:
        answer = None
    with seen.lock:
        seen.n_tries += 1
        if answer is not None and answer.status_code == 202:
            seen.numbers[sent] = answer.json()["id"]
            return True
        if answer is not None and answer.status_code not in (429, 503, 507):
            seen.faults.append(f"{sent.key}: {answer.status_code} {answer.text[:300]}")
    return False


@contextmanager
def faults(actions: Mapping[str, Callable[[], None]], addresses: Sequence[str], every_s: float) -> Iterator[list[str]]:
    """Do one after the other, again and again, while the block runs; yields the names of what was done.

    Each waits until all servers are ready again after the one before: faults that come quicker than anything can
    recover only show that nothing is taken then.
    """
    over, done, began_at = Event(), list[str](), time.monotonic()

    def act() -> None:
        for name, action in itertools.cycle(actions.items()):
            if over.wait(every_s):
                return
            while not all(map(_is_ready, addresses)):
                if over.wait(0.2):
                    return
            action()
            done.append(name)
            print(f"{time.monotonic() - began_at:.0f} s: {name}")

    thread = Thread(target=act)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def _is_ready(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/readyz", timeout=2).status_code == 200
    except httpx2.TransportError:
        return False


def settled(address: str, numbers: Sequence[int], within_s: float) -> dict[int, dict[str, object]]:
    """Return the state of each submission once nothing waits any more."""
    give_up_at, result = time.monotonic() + within_s, dict[int, dict[str, object]]()
    with httpx2.Client(timeout=30) as client:
        for number in numbers:
            while (state := _state(client, f"{address}/submissions/{number}.json")) is None:
                assert time.monotonic() < give_up_at, f"submission {number} still waits"
                time.sleep(0.2)
            result[number] = state
    return result


def _state(client: httpx2.Client, address: str) -> dict[str, object] | None:
    try:
        answer = client.get(address)
    except httpx2.TransportError:
        return None
    state: dict[str, object] = answer.json() if answer.status_code == 200 else {"waiting_for": "an answer"}
    return state if state["waiting_for"] is None else None


def expected_means(seen: Seen, slug: str) -> dict[str, float]:
    """Return each entrant's mean, computed from what its newest submission held."""
    newest: dict[str, tuple[int, Sequence[float]]] = {}
    for sent, number in seen.numbers.items():
        if sent.slug == slug and number >= newest.get(sent.entrant, (0, ()))[0]:
            newest[sent.entrant] = (number, sent.values)
    return {entrant: float(np.mean(values)) for entrant, (_, values) in newest.items()}


def published_means(address: str, slug: str) -> dict[str, float]:
    """Return the means of a board's CSV as it is now, not of the page that is shown until the new one is made."""
    insisting = {"Cache-Control": "no-cache"}
    text = httpx2.get(f"{address}/benchmarks/{slug}/leaderboards/average.csv", headers=insisting, timeout=30).text
    return {row["entrant"]: float(row["mean_MASE"]) for row in csv.DictReader(io.StringIO(text))}
