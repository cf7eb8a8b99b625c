"""Readers that never stop while everything fails, and what they saw. Used by `tests.cases.storm` and tests/faults."""

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

import httpx2

from tests.cases.waiting import eventually

LONG_GAP_S = 1.0


@dataclass
class Read:
    """What a reader saw: the longest time without a page, and the bytes of each snapshot."""

    longest_gap_s: float = 0.0
    first_page_s: float = 0.0
    n_pages: int = 0
    bytes_of: dict[tuple[str, int], set[bytes]] = field(default_factory=lambda: defaultdict(set))
    went_back: list[str] = field(default_factory=list)
    began_at: float = field(default_factory=time.monotonic)
    last_page_at: float = field(default_factory=time.monotonic)
    gaps: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def note_gap(self) -> None:
        """Note the time since the page before; that to the first one is apart: the server has only just started."""
        now = time.monotonic()
        gap_s, self.last_page_at = now - self.last_page_at, now
        if self.n_pages == 0:
            self.first_page_s = gap_s
            return
        self.longest_gap_s = max(self.longest_gap_s, gap_s)
        if gap_s > LONG_GAP_S:
            self.gaps.append(f"{gap_s:.2f} s at {now - self.began_at:.0f} s")

    def note_page(self, slug: str, address: str, board: tuple[int, bytes], newest: dict[str, int]) -> None:
        """Note a page, the time since anybody had the one before, and whether its number went back at this address."""
        number, content = board
        with self.lock:
            self.note_gap()
            self.n_pages += 1
            self.bytes_of[slug, number].add(content)
            if number < newest.get(slug, 0):
                self.went_back.append(f"{slug} at {address}: {newest[slug]}, then {number}")
            newest[slug] = number


@contextmanager
def reading(addresses: Sequence[str], slugs: Sequence[str]) -> Iterator[Read]:
    """Read the boards all the time from both web processes, and see how long neither has a page to show.

    A reader behind a load balancer waits as long as that takes to ask the other one; this is what no balancer can mend.
    """
    read, over = Read(), Event()
    threads = [Thread(target=_read_until, args=(over, address, slugs, read)) for address in addresses]
    for thread in threads:
        thread.start()
    try:
        assert eventually(lambda: read.n_pages > 0, 120)
        yield read
    finally:
        over.set()
        for thread in threads:
            thread.join()
        read.note_gap()


def _read_until(over: Event, address: str, slugs: Sequence[str], read: Read) -> None:
    newest: dict[str, int] = {}
    with httpx2.Client(timeout=2) as client:
        for slug in itertools.cycle(slugs):
            if over.wait(0.05):
                return
            board = _board(client, address, slug)
            if board is not None:
                read.note_page(slug, address, board, newest)


def _board(client: httpx2.Client, address: str, slug: str) -> tuple[int, bytes] | None:
    try:
        answer = client.get(f"{address}/benchmarks/{slug}/leaderboards/average.json")
    except httpx2.TransportError:
        return None
    if answer.status_code != 200:
        return None
    return answer.json()["snapshot"] or 0, answer.content
