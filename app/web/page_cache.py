"""The published-page cache: a small ASGI app in front of FastAPI that answers from bytes in memory.

However many wait for a page, it is rendered once; when its benchmark changes the old one is
served, marked stale, until the new one is there, but never longer than a setting says, and no longer once all web
processes have been asked to show the new one (`renew`). As long as the database cannot answer, it is served as it is.

Why: docs/adr/031-page-cache.md.
"""

import asyncio
import gzip
import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.cache import Cache
from app.db.engine import patience_with
from app.errors import Busy
from app.store.benchmark_rows import BOARD_NAMES, CHANGE_COUNTERS, CHANGED_CHANNEL
from app.store.web_processes import BEAT, BEGIN, UNSHOWN
from app.telemetry import PAGES
from app.turns import Turn
from app.web.cached_answer import (
    COMPRESS_FROM,
    READING,
    SECURITY,
    Ask,
    CachedAnswer,
    CachedPage,
    Headers,
    accepts_gzip,
    keep,
)
from app.web.cookies import SESSION
from app.web.limits import network_of
from app.web.problems import TOO_LARGE
from app.web.renderer import EXPLORERS, MOST_WAITING, TOO_MANY, RenderProcess, RenderQueue, is_explored
from app.web.requests import without_passed_over

PAUSE_S = 1.0

POPULAR_S = 600.0

HOT_S, MOST_HOT = 10.0, 20
"""Pages that were read in the last HOT_S seconds, at most MOST_HOT of them, are made anew before a publication is said
to be shown, so that their readers do not wait."""

RENEWED_WITHIN_S = 2.0
"""How long the hot pages have to be made anew; the readers of one that takes longer wait for it."""

FIRST, NEXT, LAST = range(3)

OWN = "server"
"""The owner of pages that are made before anybody asks."""


@dataclass
class Rendering:
    """A render in progress; all requests for the page in the meantime wait for the same one, as soon as any of them.

    `hurries` ends the pause before it.
    """

    ask: Ask
    turn: Turn
    task: asyncio.Task[CachedPage | CachedAnswer] | None = None
    began_at: float = math.inf
    hurries: asyncio.Event = field(default_factory=asyncio.Event)


Part = tuple[str, str]
"""A benchmark's slug and which of its counters; the lists of benchmarks have one of their own."""


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


class PublishedPages:
    """Serve published pages from memory and hand everything else on.

    Addresses with a query have a cache of their own: there is no end of queries, and they must not push out the pages
    that everybody reads. With `max_stale_s` of 0 nothing old is ever served, and nothing is made ahead.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        freshness: Freshness,
        *,
        max_stale_s: float = 0.0,
        renderer: RenderProcess | None = None,
        explorers: Sequence[RenderProcess] = (),
        sees_more: Callable[[Scope], Awaitable[bool]] | None = None,
    ) -> None:
        self._app = app
        self._plain: Cache[CachedPage] = Cache(max_bytes // 2)
        self._queried: Cache[CachedPage] = Cache(max_bytes // 2)
        self._freshness = freshness
        self._max_stale_s = max_stale_s
        self._pages = RenderQueue.through(app, [] if renderer is None else [renderer], 1)
        self._explored = RenderQueue.through(app, explorers, EXPLORERS, MOST_WAITING)
        self._renderings: dict[bytes, Rendering] = {}
        self._sees_more = sees_more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # HEAD is answered like GET, without the body; no endpoint need know of it.
        method = scope["method"]
        if method == "HEAD":
            method, send = "GET", without_body(send)
        part = part_of(scope["path"]) if method == "GET" else None
        if part is None:
            whole = compressed(send) if packs(scope) else send
            await self._app({**without_host(scope), "method": method}, receive, secured(whole))
            return
        asked = read_scope(scope)
        if asked.by_somebody and scope["path"] in LISTS and self._sees_more and await self._sees_more(scope):
            # Lists that include non-public entries are rendered for that reader alone.
            await self._app({**without_host(scope), "method": method}, receive, secured(send))
            return
        answer, age_s = await self._find(asked.ask, part, _owner_of(scope), insists=asked.insists)
        if isinstance(answer, CachedAnswer) and answer.status == HTTPStatus.NOT_FOUND and asked.by_somebody:
            # It does not exist for the public, but may exist for this reader.
            await self._app({**without_host(scope), "method": method}, receive, secured(send))
        elif isinstance(answer, CachedAnswer):
            await answer.send(secured(send))
        else:
            encoded = answer.packed if asked.packs else answer.plain
            await encoded.send(scope, send, _mark(age_s))

    async def _find(
        self, ask: Ask, part: Part, owner: str, *, insists: bool
    ) -> tuple[CachedPage | CachedAnswer, float | None]:
        """Return a page, and for how long it has been stale (None: it is not).

        A client that insists gets a stale one only where none can be made, because the database does not answer.
        """
        page = self._kept(ask, part)
        if page is None:
            PAGES["rendered"] += 1
            return await self._wait(ask, part, owner)
        await self._freshness.settle()
        now = page.read_at = self._freshness.clock()
        since = self._freshness.stale_since(part, page.count)
        if since is None:
            PAGES["kept"] += 1
            return page, None
        if self._is_all_there_is(page, since) or (not insists and self._may_be_shown(part, page, now - since)):
            self._begin_rendering(ask, part, owner)
            PAGES["old"] += 1
            return page, now - since
        PAGES["rendered"] += 1
        answer = await self._wait(ask, part, owner, hurries=self._freshness.is_refused(part, page.count))
        if isinstance(answer[0], CachedPage) or not self._is_all_there_is(page, since) or self._kept(ask, part) is None:
            return answer
        return page, self._freshness.clock() - since

    def _kept(self, ask: Ask, part: Part) -> CachedPage | None:
        """Return the page that is kept, unless its benchmark is public no longer."""
        cache = self._cache_of(ask)
        if self._freshness.is_withdrawn(part):
            cache.drop(ask.address)
        return cache.get(ask.address)

    def _may_be_shown(self, part: Part, page: CachedPage, stale_s: float) -> bool:
        return stale_s < self._max_stale_s and not self._freshness.is_refused(part, page.count)

    def _is_all_there_is(self, page: CachedPage, since: float) -> bool:
        """Say whether a page cannot be made anew, because the database does not answer (RFC 5861, stale-if-error).

        What changed before was public too, and was read; one whose benchmark is public no longer is not kept.
        """
        could_not = self._freshness.is_away or page.is_unmade
        return could_not and self._max_stale_s > 0 and since > -math.inf

    async def _wait(
        self, ask: Ask, part: Part, owner: str, *, hurries: bool = False
    ) -> tuple[CachedPage | CachedAnswer, float | None]:
        """Wait for a render that began after the request arrived, so that it includes the reader's own writes.

        Where it `hurries`, because something is published, it waits for no pause; but so only once in a while.
        """
        arrived_at = self._freshness.clock()
        hurries = hurries and self._may_hurry(ask)
        while True:
            rendering = self._begin_rendering(ask, part, owner)
            if hurries:
                rendering.hurries.set()
            if rendering.task is None:
                raise RuntimeError("a rendering has no task")
            # Others wait for it too: one that goes away must not take it along.
            answer = await asyncio.shield(rendering.task)
            if rendering.began_at < arrived_at:
                continue
            if isinstance(answer, CachedAnswer) and rendering.ask != ask:
                return await self._in_turn(ask, Turn.of(owner, NEXT)), None
            since = None if isinstance(answer, CachedAnswer) else self._freshness.stale_since(part, answer.count)
            return answer, None if since is None else self._freshness.clock() - max(since, rendering.began_at)

    def _may_hurry(self, ask: Ask) -> bool:
        page, now = self._cache_of(ask).get(ask.address), self._freshness.clock()
        if page is None or now - page.hurried_at < PAUSE_S:
            return False
        page.hurried_at = now
        return True

    def _begin_rendering(self, ask: Ask, part: Part, owner: str) -> Rendering:
        """Return the render of a page that is under way, or begin one."""
        rendering = self._renderings.get(ask.address)
        if rendering is None:
            turn = Turn.of(owner, _priority(ask, self._cache_of(ask).get(ask.address)))
            rendering = self._renderings[ask.address] = Rendering(ask, turn)
            rendering.task = asyncio.create_task(self._render_and_store(rendering, part))
            rendering.task.add_done_callback(_look_at)
        else:
            self._queue_of(ask).turns.join(rendering.turn, owner)
        return rendering

    async def _render_and_store(self, rendering: Rendering, part: Part) -> CachedPage | CachedAnswer:
        """Render a page and keep it, but not more often than once in a while."""
        ask, clock = rendering.ask, self._freshness.clock
        cache = self._cache_of(ask)
        try:
            page = cache.get(ask.address)
            if page is not None:
                pause_s = page.tried_at + min(PAUSE_S, self._max_stale_s / 2) - clock()
                with suppress(TimeoutError):
                    await asyncio.wait_for(rendering.hurries.wait(), max(pause_s, 0))
                page.tried_at = clock()
            async with self._queue_of(ask).taken(rendering.turn) as render:
                rendering.began_at, count = clock(), self._freshness.count(part)
                answer = await render(ask)
            if not answer.is_kept:
                if page is not None:
                    page.is_unmade = answer.is_without_database
                return answer
            read_at = rendering.began_at if page is None else page.read_at
            kept = keep(ask, answer, count, rendering.began_at, read_at)
            kept.hurried_at = -math.inf if page is None else page.hurried_at
            cache.keep(ask.address, kept, kept.size + len(ask.address))
        except Busy:
            return TOO_MANY
        else:
            return kept
        finally:
            del self._renderings[ask.address]

    async def _in_turn(self, ask: Ask, turn: Turn) -> CachedAnswer:
        try:
            async with self._queue_of(ask).taken(turn) as render:
                return await render(ask)
        except Busy:
            return TOO_MANY

    def _queue_of(self, ask: Ask) -> RenderQueue:
        """Return where a page is rendered: a board computed for one reader must not delay other pages."""
        return self._explored if is_explored(ask.path, ask.query) else self._pages

    def publish(self, slug: str, boards: list[str]) -> None:
        """Make the pages that people read anew, and a new benchmark's first ones before anybody asks."""
        if self._max_stale_s == 0:
            return
        home = f"/benchmarks/{slug}"
        for ask in [*self._popular(home), *map(plain_ask, main_addresses(home, boards))]:
            part, page = part_of(ask.path), self._plain.get(ask.address)
            is_wanted = page is None or self._freshness.clock() - page.read_at < POPULAR_S
            if part is not None and is_wanted:
                self._begin_rendering(ask, part, OWN)

    async def renew(self, slug: str) -> None:
        """Show no page of a benchmark any more that is older than what is known of it now.

        Those that are being read are made anew first.
        """
        freshness = self._freshness
        counts = {part: freshness.count(part) for part in ((slug, BOARDS), (slug, ANYTHING), EVERY_BENCHMARK)}
        if self._max_stale_s > 0 and not freshness.is_away:
            renewing = [asyncio.create_task(self._renew(ask, part)) for ask, part in self._hot(counts)]
            if renewing:
                _, late = await asyncio.wait(renewing, timeout=RENEWED_WITHIN_S)
                for task in late:
                    task.cancel()
        for part, count in counts.items():
            freshness.require(part, count)

    async def _renew(self, ask: Ask, part: Part) -> None:
        with suppress(Exception):
            await self._wait(ask, part, OWN, hurries=True)

    def _hot(self, counts: Mapping[Part, int]) -> list[tuple[Ask, Part]]:
        """Return the pages that are old and being read, but for boards computed for one reader: they take long."""
        since = self._freshness.clock() - HOT_S
        hot = [
            (page.read_at, page.ask, part)
            for cache in (self._plain, self._queried)
            for page in cache.held().values()
            if page.read_at > since
            and (part := part_of(page.ask.path)) in counts
            and part is not None
            and page.count < counts[part]
            and not is_explored(page.ask.path, page.ask.query)
        ]
        hot.sort(key=lambda each: each[0], reverse=True)
        return [(ask, part) for _, ask, part in hot[:MOST_HOT]]

    def _popular(self, home: str) -> list[Ask]:
        """Return the cached pages of a benchmark, most recently read first, since somebody may be waiting for them."""
        kept = [page for page in self._plain.held().values() if page.ask.path.startswith(f"{home}/")]
        return [page.ask for page in sorted(kept, key=lambda page: page.read_at, reverse=True)]

    async def stop(self) -> None:
        """Cancel the renders in progress."""
        tasks = [rendering.task for rendering in self._renderings.values() if rendering.task is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task

    def _cache_of(self, ask: Ask) -> Cache[CachedPage]:
        return self._queried if ask.query else self._plain


def _owner_of(scope: Scope) -> str:
    """Return whose turn a page of this request is: an address's, since these pages are the same whoever signs in."""
    return network_of(str((scope.get("client") or ("",))[0]))


def _priority(ask: Ask, page: CachedPage | None) -> int:
    """Return the priority of a render: pages in use first, then new ones, then queries, whose number is unlimited."""
    if ask.query:
        return LAST
    return NEXT if page is None else FIRST


def _look_at(task: asyncio.Task[CachedPage | CachedAnswer]) -> None:
    """Take note of an error that nobody waits for: the page stays old, and the next reader asks again."""
    if not task.cancelled():
        task.exception()


def _mark(age_s: float | None) -> Headers:
    """Return how an old page is marked, in the terms of RFC 9211: a negative time to live."""
    if age_s is None:
        return []
    return [(b"cache-status", b"plumbline; hit; ttl=-%d; detail=stale" % math.ceil(age_s))]


# The parts of a request that a published page may depend on.

COOKIE = f"{SESSION}=".encode()

FRESH = (b"no-cache", b"max-age=0")


@dataclass(frozen=True)
class AskedPage:
    """What a page may depend on, whether the client accepts gzip, whether a stale page will do, and credentials."""

    ask: Ask
    packs: bool
    insists: bool
    by_somebody: bool


def read_scope(scope: Scope) -> AskedPage:
    """Return the relevant parts of a request, from its headers and its address."""
    packs = wants_html = insists = by_somebody = False
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            packs = accepts_gzip(value)
        elif name == b"accept":
            wants_html = b"text/html" in value
        elif name == b"authorization" or (name == b"cookie" and COOKIE in value):
            by_somebody = True
        elif name == b"cache-control":
            insists = any(directive in value.lower() for directive in FRESH)
    query = without_passed_over(scope["query_string"])
    return AskedPage(Ask(scope["path"], scope["raw_path"], query, wants_html), packs, insists, by_somebody)


def main_addresses(home: str, boards: list[str]) -> Iterator[str]:
    """Yield the addresses of a benchmark that most readers open: its page and those of its boards."""
    yield home
    for board in boards:
        yield f"{home}/leaderboards/{board}"


def plain_ask(path: str) -> Ask:
    """Return the request that a browser makes for an address without a query."""
    return Ask(path, quote(path).encode(), b"", wants_html=True)


# Edits of requests that pass the cache, and of answers that are not cached.


def without_host(scope: Scope) -> Scope:
    """Return a request whose addresses come out relative: Host is the client's word, and no answer repeats it."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": headers, "server": None}


def without_body(send: Send) -> Send:
    """Return where an answer to HEAD goes: its start alone is sent."""

    async def bodiless(message: Message) -> None:
        is_body = message["type"] == "http.response.body"
        await send({**message, "body": b""} if is_body else message)

    return bodiless


WORDY = (b"text/", b"application/json", b"application/yaml", b"application/problem+json", b"application/x-ndjson")

PACKED_AT = 5


def packs(scope: Scope) -> bool:
    """Say whether an answer that is not kept may be compressed.

    What is read with a token is not: its length would tell of it to who can have something of their own put beside.
    """
    headers = dict(scope["headers"])
    return (
        scope["method"] in READING
        and b"authorization" not in headers
        and accepts_gzip(headers.get(b"accept-encoding", b""))
    )


def compressed(send: Send) -> Send:
    """Return where an answer goes that is compressed on its way, where it is whole, of text and worth it."""
    held: Message | None = None

    async def send_compressed(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            held = message
            return
        start, held = held, None
        if start is not None and not message.get("more_body") and _is_worth_it(start, message["body"]):
            body = await run_in_threadpool(gzip.compress, message["body"], PACKED_AT, mtime=0)
            start, message = _packed(start, len(body)), {**message, "body": body}
        if start is not None:
            await send(start)
        await send(message)

    return send_compressed


def _is_worth_it(start: Message, body: bytes) -> bool:
    headers = {name.lower(): value for name, value in start.get("headers", [])}
    is_plain = b"content-encoding" not in headers and headers.get(b"content-type", b"").startswith(WORDY)
    return len(body) >= COMPRESS_FROM and is_plain


def _packed(start: Message, n_bytes: int) -> Message:
    headers = [(name, value) for name, value in start.get("headers", []) if name.lower() != b"content-length"]
    packed = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"), (b"content-length", b"%d" % n_bytes)]
    return {**start, "headers": [*headers, *packed]}


def secured(send: Send) -> Send:
    """Return where an answer that is not kept goes: it has the headers that every page has."""
    refused = False

    async def send_secured(message: Message) -> None:
        nonlocal refused
        if message["type"] == "http.response.start":
            # The framework's own refusal of a large body is plain text; ours are problem documents.
            refused = message["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and not _is_problem(message)
            headers = TOO_LARGE.headers if refused else message.get("headers", [])
            message = {**message, "headers": [*headers, *SECURITY]}
        elif refused:
            message = {**message, "body": b"" if message.get("more_body") else TOO_LARGE.body}
        await send(message)

    return send_secured


def _is_problem(start: Message) -> bool:
    return any(name.lower() == b"content-type" and b"problem" in value for name, value in start.get("headers", []))


# Tracks changes, so that a cached page knows since when it is stale.
#
# `watch` hears of every change by NOTIFY and reads the counters each second, so that a lost notification is noticed;
# the same look is the heartbeat of the process (`app.store.web_processes`).

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


Published = Callable[[str, list[str]], None]

Shown = Callable[[str, int], Awaitable[None]]


async def watch(database_url: str, freshness: Freshness, published: Published, shown: Shown) -> None:
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
                watching = _CountersWatch(connection, freshness, published, shown)
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


class _CountersWatch:
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
