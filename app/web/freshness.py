"""Tracks changes, so that a cached page knows since when it is stale. Used by `app.web.cache`.

`watch` hears of every change by NOTIFY and reads the counters each second, so that a lost notification is noticed.
"""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import make_conninfo

from app.db.patience import patience_with
from app.store.benchmark_rows import BOARD_NAMES, CHANGE_COUNTERS, CHANGED_CHANNEL

logger = logging.getLogger(__name__)

POLL_S = 1.0
MOST_AHEAD = 50
TRUSTED_S = 3.0
REMEMBERED = 1000
EVERY_BENCHMARK = ("", "")
BOARDS, ANYTHING = "boards", "anything"
# What a benchmark's pages depend on: `boards` changes with a publication, `anything` with each submission, too.
SHOWN = dict.fromkeys(
    ("leaderboards", "claims", "profiles", "snapshots", "tables", "feed", "cite", "croissant"), BOARDS
)
SHOWN |= dict.fromkeys(("", "tasks", "entrants"), ANYTHING)
LISTS = frozenset({"/", "/benchmarks.csv", "/benchmarks.json", "/feed.atom", "/sitemap.xml"})
NEVER = ("", "never")
UNCHANGING = frozenset({"/glossary", "/glossary.csv", "/glossary.json"})
DOWNLOADS = frozenset({"tables.zip", "replay.zip"})

Part = tuple[str, str]
"""A benchmark's slug and which of its counters; the lists of benchmarks have one of their own."""


def part_of(path: str) -> Part | None:
    """Return what a page depends on; None for one that is not the same for everybody, or too large to cache."""
    if path in LISTS:
        return EVERY_BENCHMARK
    if path in UNCHANGING or path.startswith("/static/"):
        return NEVER
    _, _, rest = path.partition("/benchmarks/")
    slug, _, tail = rest.partition("/")
    kind = tail.partition("/")[0]
    shown = None if not slug or kind in DOWNLOADS else SHOWN.get(kind.partition(".")[0])
    if not path.startswith("/benchmarks/") or shown is None:
        return None
    return (slug if tail else _without_format(slug), shown)


def _without_format(slug: str) -> str:
    stem, _, ending = slug.rpartition(".")
    return stem if ending in ("csv", "json", "yaml") else slug


@dataclass
class _Changes:
    """How often a part has changed, and when it did the last times."""

    count: int = 0
    at: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))


class Freshness:
    """Counts the changes of each part. A page records the count at which it was rendered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._heard_at = -math.inf
        self._counters: dict[str, tuple[int, int]] = {}
        self._changes: dict[Part, _Changes] = {}
        self.listeners: list[Callable[[], None]] = []

    def count(self, part: Part) -> int:
        """Return how often a part has changed."""
        return self._changes[part].count if part in self._changes else 0

    def stale_since(self, part: Part, count: int) -> float | None:
        """Return when a page rendered at this count became stale, or None if it is current.

        Without word from the database it is old since the last time that there was one.
        """
        if part == NEVER:
            return None
        since = self._changed_at(part, count)
        if self.clock() - self._heard_at > TRUSTED_S:
            since = min(since, self._heard_at)
        return None if since == math.inf else since

    def is_changed(self, part: Part, count: int) -> bool:
        """Say whether a page rendered at this count is known to be stale; an unknown one may be."""
        return self._changed_at(part, count) < math.inf

    def _changed_at(self, part: Part, count: int) -> float:
        changes = self._changes.get(part)
        if changes is None or changes.count <= count:
            return math.inf
        missed = changes.count - count
        return changes.at[-missed] if missed <= len(changes.at) else -math.inf

    def hear(self) -> None:
        """Note that the counters were read just now."""
        self._heard_at = self.clock()

    def note(self, slug: str, anything: int, boards: int) -> bool:
        """Compare a benchmark's counters with those seen before, and say whether its boards have changed."""
        seen = self._counters.get(slug, (-1, -1))
        # A notification can be older than the counters that were read since.
        self._counters[slug] = (max(anything, seen[0]), max(boards, seen[1]))
        if anything > seen[0]:
            self._change((slug, ANYTHING))
            self._change(EVERY_BENCHMARK)
        if boards > seen[1]:
            self._change((slug, BOARDS))
        return boards > seen[1]

    def _change(self, part: Part) -> None:
        changes = self._changes.setdefault(part, _Changes())
        changes.count += 1
        changes.at.append(self.clock())
        for tell in self.listeners:
            tell()


Published = Callable[[str, list[str]], None]


async def watch(database_url: str, freshness: Freshness, published: Published) -> None:
    """Announce every change for as long as the process serves; `published` is called with a slug and its boards."""
    while True:
        try:
            conninfo = make_conninfo(database_url, **patience_with(database_url))
            connection = await psycopg.AsyncConnection.connect(conninfo, autocommit=True)
            async with connection:
                await connection.execute(f"LISTEN {CHANGED_CHANNEL}")
                while True:
                    await _look(connection, freshness, published)
        except Exception as error:
            # The database may be unavailable for a while; cached pages become stale until it is back.
            logger.warning("cannot receive notifications of changes: %s", error)
            await asyncio.sleep(POLL_S)


def worth_making_ahead(moved: list[str]) -> list[str]:
    """Return the benchmarks whose pages are made before anybody asks: none after a start among thousands.

    All of them seem new then, and a reader would wait behind the pages of all for as long as they take.

    >>> worth_making_ahead(["a", "b"]), worth_making_ahead(["a"] * (MOST_AHEAD + 1))
    (['a', 'b'], [])
    """
    return moved if len(moved) <= MOST_AHEAD else []


async def _look(connection: psycopg.AsyncConnection, freshness: Freshness, published: Published) -> None:
    """Read the counters, then listen until they are to be read again."""
    moved = []
    for slug, anything, boards in await (await connection.execute(CHANGE_COUNTERS)).fetchall():
        moved += [slug] if freshness.note(slug, anything, boards) else []
    freshness.hear()
    moved = worth_making_ahead(moved)
    until = freshness.clock() + POLL_S
    while True:
        for slug in moved:
            names = await (await connection.execute(BOARD_NAMES, (slug,))).fetchall()
            published(slug, [name for (name,) in names])
        left = until - freshness.clock()
        if left <= 0:
            return
        moved = []
        async for notification in connection.notifies(timeout=left, stop_after=1):
            slug, anything, boards = notification.payload.rsplit(" ", 2)
            moved += [slug] if freshness.note(slug, int(anything), int(boards)) else []
