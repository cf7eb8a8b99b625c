"""Tracks changes, so that a cached page knows since when it is stale. Used by `app.web.cache`.

`watch` hears of every change by NOTIFY and reads the counters each second, so that a lost notification is noticed; the
same look is the heartbeat of the process (`app.store.web_processes`).
"""

import asyncio
import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import make_conninfo

from app.db.patience import patience_with
from app.store.benchmark_rows import BOARD_NAMES, CHANGE_COUNTERS, CHANGED_CHANNEL
from app.store.web_processes import BEAT, BEGIN, UNSHOWN

logger = logging.getLogger(__name__)

POLL_S = 1.0
MOST_AHEAD = 50
TRUSTED_S = 3.0
"""So long after a look what is kept counts as current; less than a heartbeat is waited for (`LEASE_S`)."""
SETTLED_WITHIN_S = 1.0
LIMITS = "SELECT set_config('lock_timeout', '5s', false), set_config('statement_timeout', '15s', false)"
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
    """Counts the changes of each part. A page records the count at which it was rendered.

    `is_away` says that the database is known not to answer: then pages are served as they are, and marked.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.process = secrets.token_hex(8)
        self.is_away = False
        self._heard_at = -math.inf
        self._news = asyncio.Event()
        self._counters: dict[str, tuple[int, int]] = {}
        self._changes: dict[Part, _Changes] = {}
        self._required: dict[Part, int] = {}
        self._withdrawn: set[str] = set()

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
        if not self._is_trusted():
            since = min(since, self._heard_at)
        return None if since == math.inf else since

    def _is_trusted(self) -> bool:
        return self.clock() - self._heard_at <= TRUSTED_S

    def _changed_at(self, part: Part, count: int) -> float:
        changes = self._changes.get(part)
        if changes is None or changes.count <= count:
            return math.inf
        missed = changes.count - count
        return changes.at[-missed] if missed <= len(changes.at) else -math.inf

    def heard_s(self) -> float:
        """Return how long ago the counters were read, in seconds."""
        return self.clock() - self._heard_at

    def hear(self, at: float | None = None) -> None:
        """Note that the counters were read, just now or at a time."""
        self._heard_at = self.clock() if at is None else at
        self.is_away = False
        self._tell_those_who_wait()

    def miss(self) -> None:
        """Note that the database does not answer."""
        self.is_away = True
        self._tell_those_who_wait()

    def _tell_those_who_wait(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def settle(self) -> None:
        """Return once the counters were read lately, or the database is known not to answer.

        A process that was stopped, with its machine or by itself, may have been given up by the others: what it has
        kept may be older than what they say is published.
        """
        if self._is_trusted() or self.is_away:
            return
        try:
            await asyncio.wait_for(self._news.wait(), SETTLED_WITHIN_S)
        except TimeoutError:
            self.is_away = True

    def require(self, part: Part, count: int) -> None:
        """Let no page of a part that is older than this be shown again, as long as the database answers."""
        self._required[part] = max(count, self._required.get(part, 0))

    def require_all(self) -> None:
        """Let no page that is older than what is known now be shown again, as long as the database answers."""
        for part, changes in self._changes.items():
            self.require(part, changes.count)

    def is_refused(self, part: Part, count: int) -> bool:
        """Say whether a page rendered at this count must not be shown while the database answers."""
        return count < self._required.get(part, 0)

    def is_withdrawn(self, part: Part) -> bool:
        """Say whether a benchmark is public no longer: its pages are not to be shown, whatever answers."""
        return part[0] in self._withdrawn

    def note(self, slug: str, anything: int, boards: int) -> bool:
        """Compare a benchmark's counters with those seen before, and say whether its boards have changed."""
        self._withdrawn.discard(slug)
        seen = self._counters.get(slug, (-1, -1))
        # A notification can be older than the counters that were read since.
        self._counters[slug] = (max(anything, seen[0]), max(boards, seen[1]))
        if anything > seen[0]:
            self._change((slug, ANYTHING))
            self._change(EVERY_BENCHMARK)
        if boards > seen[1]:
            self._change((slug, BOARDS))
        return boards > seen[1]

    def note_others_gone(self, slugs: Collection[str]) -> None:
        """Take note that only these benchmarks are public now."""
        for slug in self._counters.keys() - set(slugs):
            del self._counters[slug]
            self._withdrawn.add(slug)
            for part in ((slug, ANYTHING), (slug, BOARDS), EVERY_BENCHMARK):
                self._change(part)
                self.require(part, self.count(part))

    def has_seen(self, slug: str, boards: int) -> bool:
        """Say whether this state of a benchmark's boards was heard of."""
        return self._counters.get(slug, (-1, -1))[1] >= boards

    def _change(self, part: Part) -> None:
        changes = self._changes.setdefault(part, _Changes())
        changes.count += 1
        changes.at.append(self.clock())


Published = Callable[[str, list[str]], None]
Shown = Callable[[str, int], Awaitable[None]]


async def _shows_nothing(slug: str, boards: int) -> None:
    """Keep no page, so that none has to be made anew."""
    del slug, boards


async def watch(database_url: str, freshness: Freshness, published: Published, shown: Shown = _shows_nothing) -> None:
    """Announce every change for as long as the process serves; `published` is called with a slug and its boards.

    `shown`, with a slug and the version of its boards, makes sure that nothing older is shown, and says so.
    """
    n_failed = 0
    while True:
        try:
            conninfo = make_conninfo(database_url, **patience_with(database_url))
            connection = await psycopg.AsyncConnection.connect(conninfo, autocommit=True)
            async with connection:
                await connection.execute(LIMITS)
                await connection.execute(f"LISTEN {CHANGED_CHANNEL}")
                watching = _Watch(connection, freshness, published, shown)
                try:
                    while True:
                        await watching.look()
                        n_failed = 0
                finally:
                    watching.stop()
        except Exception as error:
            # A connection that was lost is made anew at once; where that fails too, the database is away for a while.
            n_failed += 1
            logger.warning("cannot receive notifications of changes: %s", error)
            if n_failed > 1:
                freshness.miss()
                await asyncio.sleep(POLL_S)


def worth_making_ahead(moved: list[str]) -> list[str]:
    """Return the benchmarks whose pages are made before anybody asks: none after a start among thousands.

    All of them seem new then, and a reader would wait behind the pages of all for as long as they take.

    >>> worth_making_ahead(["a", "b"]), worth_making_ahead(["a"] * (MOST_AHEAD + 1))
    (['a', 'b'], [])
    """
    return moved if len(moved) <= MOST_AHEAD else []


class _Watch:
    """The looks at the counters on one connection, and what is under way because of them."""

    def __init__(
        self, connection: psycopg.AsyncConnection, freshness: Freshness, published: Published, shown: Shown
    ) -> None:
        self._connection, self._freshness = connection, freshness
        self._published, self._shown = published, shown
        self._showing: dict[tuple[str, int], asyncio.Task[None]] = {}

    def stop(self) -> None:
        """End what is under way; the next look begins it again."""
        for task in self._showing.values():
            task.cancel()

    async def look(self) -> None:
        """Beat, read the counters, then listen until they are to be read again."""
        freshness, began = self._freshness, self._freshness.clock()
        process = {"process": freshness.process}
        is_new = (await self._connection.execute(BEAT, process)).rowcount == 0
        if is_new:
            async with self._connection.transaction():
                for statement in BEGIN:
                    await self._connection.execute(statement, process)
        counters = await (await self._connection.execute(CHANGE_COUNTERS)).fetchall()
        moved = {slug: boards for slug, anything, boards in counters if freshness.note(slug, anything, boards)}
        freshness.note_others_gone([slug for slug, *_ in counters])
        if is_new:
            # Nobody has waited for this process, so anything that it has not seen before may be said to be published.
            freshness.require_all()
        freshness.hear(began)
        waited_for = await (await self._connection.execute(UNSHOWN, process)).fetchall()
        self._begin_to_show({slug: boards for slug, boards in waited_for if freshness.has_seen(slug, boards)})
        await self._make_ahead(worth_making_ahead(list(moved)))
        await self._listen(freshness.clock() + POLL_S)

    async def _listen(self, until: float) -> None:
        while (left := until - self._freshness.clock()) > 0:
            moved = {}
            async for notification in self._connection.notifies(timeout=left, stop_after=1):
                slug, anything, boards = notification.payload.rsplit(" ", 2)
                if self._freshness.note(slug, int(anything), int(boards)):
                    moved[slug] = int(boards)
            # Nothing can be asked on the connection while it listens.
            self._begin_to_show(moved)
            await self._make_ahead(list(moved))

    async def _make_ahead(self, slugs: list[str]) -> None:
        for slug in slugs:
            names = await (await self._connection.execute(BOARD_NAMES, (slug,))).fetchall()
            self._published(slug, [name for (name,) in names])

    def _begin_to_show(self, boards_of: dict[str, int]) -> None:
        for slug, boards in boards_of.items():
            if (slug, boards) not in self._showing:
                self._showing[slug, boards] = asyncio.create_task(self._show(slug, boards))

    async def _show(self, slug: str, boards: int) -> None:
        try:
            await self._shown(slug, boards)
        except Exception as error:
            # The next look begins it again.
            logger.warning("what is published of %s is not said to be shown: %s", slug, error)
        finally:
            del self._showing[slug, boards]
