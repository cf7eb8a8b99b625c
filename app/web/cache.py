"""The published-page cache: a small ASGI app in front of FastAPI that answers from bytes in memory.

Made by `app.main`. However many wait for a page, it is rendered once; when its benchmark changes the old one is
served, marked stale, until the new one is there, but never longer than a setting says, and no longer once all web
processes have been asked to show the new one (`renew`). As long as the database cannot answer, it is served as it is.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import Busy
from app.reading.turns import Turn
from app.telemetry.metrics import PAGES
from app.web.asked import main_addresses, plain_ask, read_scope
from app.web.cache_edits import compressed, packs, secured, without_body, without_host
from app.web.freshness import ANYTHING, BOARDS, EVERY_BENCHMARK, LISTS, Freshness, Part, part_of
from app.web.kept_pages import Answer, Ask, Headers, Kept, Shelf, keep
from app.web.lanes import EXPLORERS, MOST_WAITING, Lane, is_explored
from app.web.limits import network_of
from app.web.renderer import TOO_MANY, RenderProcess

PAUSE_S = 1.0
POPULAR_S = 600.0
HOT_S, MOST_HOT = 10.0, 20
"""Pages read so lately are made anew before a publication is said to be shown, so that nobody waits for them,"""
RENEWED_WITHIN_S = 2.0
"""unless that takes longer; then their readers wait."""
FIRST, NEXT, LAST = range(3)
OWN = "server"
"""The owner of pages that are made before anybody asks."""


@dataclass
class Flight:
    """A render in progress; all requests for the page in the meantime wait for the same one, as soon as any of them.

    `hurries` ends the pause before it.
    """

    ask: Ask
    turn: Turn
    task: asyncio.Task[Kept | Answer] | None = None
    began_at: float = math.inf
    hurries: asyncio.Event = field(default_factory=asyncio.Event)


class PublishedPages:
    """Serve published pages from memory and hand everything else on.

    Addresses with a query have a shelf of their own: there is no end of queries, and they must not push out the pages
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
        self._plain = Shelf(max_bytes // 2)
        self._queried = Shelf(max_bytes // 2)
        self._freshness = freshness
        self._max_stale_s = max_stale_s
        self._pages = Lane.through(app, [] if renderer is None else [renderer], 1)
        self._explored = Lane.through(app, explorers, EXPLORERS, MOST_WAITING)
        self._flights: dict[bytes, Flight] = {}
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
        if isinstance(answer, Answer) and answer.status == HTTPStatus.NOT_FOUND and asked.by_somebody:
            # It does not exist for the public, but may exist for this reader.
            await self._app({**without_host(scope), "method": method}, receive, secured(send))
        elif isinstance(answer, Answer):
            await answer.send(secured(send))
        else:
            encoded = answer.packed if asked.packs else answer.plain
            await encoded.send(scope, send, _mark(age_s))

    async def _find(self, ask: Ask, part: Part, owner: str, *, insists: bool) -> tuple[Kept | Answer, float | None]:
        """Return a page, and for how long it has been stale (None: it is not). A client that insists gets no stale
        page.
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
            self._fly(ask, part, owner)
            PAGES["old"] += 1
            return page, now - since
        PAGES["rendered"] += 1
        answer = await self._wait(ask, part, owner, hurries=self._freshness.is_refused(part, page.count))
        if isinstance(answer[0], Kept) or not self._is_all_there_is(page, since) or self._kept(ask, part) is None:
            return answer
        return page, self._freshness.clock() - since

    def _kept(self, ask: Ask, part: Part) -> Kept | None:
        """Return the page that is kept, unless its benchmark is public no longer."""
        shelf = self._shelf(ask)
        if self._freshness.is_withdrawn(part):
            shelf.drop(ask.address)
        return shelf.pages.get(ask.address)

    def _may_be_shown(self, part: Part, page: Kept, stale_s: float) -> bool:
        return stale_s < self._max_stale_s and not self._freshness.is_refused(part, page.count)

    def _is_all_there_is(self, page: Kept, since: float) -> bool:
        """Say whether a page cannot be made anew, because the database does not answer (RFC 5861, stale-if-error).

        What changed before was public too, and was read; one whose benchmark is public no longer is not kept.
        """
        could_not = self._freshness.is_away or page.is_unmade
        return could_not and self._max_stale_s > 0 and since > -math.inf

    async def _wait(
        self, ask: Ask, part: Part, owner: str, *, hurries: bool = False
    ) -> tuple[Kept | Answer, float | None]:
        """Wait for a render that began after the request arrived, so that it includes the reader's own writes.

        Where it `hurries`, because something is published, it waits for no pause; but so only once in a while.
        """
        arrived_at = self._freshness.clock()
        hurries = hurries and self._may_hurry(ask)
        while True:
            flight = self._fly(ask, part, owner)
            if hurries:
                flight.hurries.set()
            if flight.task is None:
                raise RuntimeError("a flight has no task")
            # Others wait for it too: one that goes away must not take it along.
            answer = await asyncio.shield(flight.task)
            if flight.began_at < arrived_at:
                continue
            if isinstance(answer, Answer) and flight.ask != ask:
                return await self._in_turn(ask, Turn.of(owner, NEXT)), None
            since = None if isinstance(answer, Answer) else self._freshness.stale_since(part, answer.count)
            return answer, None if since is None else self._freshness.clock() - max(since, flight.began_at)

    def _may_hurry(self, ask: Ask) -> bool:
        page, now = self._shelf(ask).pages.get(ask.address), self._freshness.clock()
        if page is None or now - page.hurried_at < PAUSE_S:
            return False
        page.hurried_at = now
        return True

    def _fly(self, ask: Ask, part: Part, owner: str) -> Flight:
        """Return the render of a page that is under way, or begin one."""
        flight = self._flights.get(ask.address)
        if flight is None:
            turn = Turn.of(owner, _priority(ask, self._shelf(ask).pages.get(ask.address)))
            flight = self._flights[ask.address] = Flight(ask, turn)
            flight.task = asyncio.create_task(self._land(flight, part))
            flight.task.add_done_callback(_look_at)
        else:
            self._lane(ask).turns.join(flight.turn, owner)
        return flight

    async def _land(self, flight: Flight, part: Part) -> Kept | Answer:
        """Render a page and keep it, but not more often than once in a while."""
        ask, clock = flight.ask, self._freshness.clock
        shelf = self._shelf(ask)
        try:
            page = shelf.pages.get(ask.address)
            if page is not None:
                pause_s = page.tried_at + min(PAUSE_S, self._max_stale_s / 2) - clock()
                with suppress(TimeoutError):
                    await asyncio.wait_for(flight.hurries.wait(), max(pause_s, 0))
                page.tried_at = clock()
            async with self._lane(ask).taken(flight.turn) as render:
                flight.began_at, count = clock(), self._freshness.count(part)
                answer = await render(ask)
            if not answer.is_kept:
                if page is not None:
                    page.is_unmade = answer.is_without_database
                return answer
            read_at = flight.began_at if page is None else page.read_at
            kept = keep(ask, _for_caches(ask, part, answer), count, flight.began_at, read_at)
            kept.hurried_at = -math.inf if page is None else page.hurried_at
            shelf.put(ask.address, kept)
        except Busy:
            return TOO_MANY
        else:
            return kept
        finally:
            del self._flights[ask.address]

    async def _in_turn(self, ask: Ask, turn: Turn) -> Answer:
        try:
            async with self._lane(ask).taken(turn) as render:
                return await render(ask)
        except Busy:
            return TOO_MANY

    def _lane(self, ask: Ask) -> Lane:
        """Return where a page is rendered: a board computed for one reader must not delay other pages."""
        return self._explored if is_explored(ask.path, ask.query) else self._pages

    def publish(self, slug: str, boards: list[str]) -> None:
        """Make the pages that people read anew, and a new benchmark's first ones before anybody asks."""
        if self._max_stale_s == 0:
            return
        home = f"/benchmarks/{slug}"
        for ask in [*self._popular(home), *map(plain_ask, main_addresses(home, boards))]:
            part, page = part_of(ask.path), self._plain.pages.get(ask.address)
            is_wanted = page is None or self._freshness.clock() - page.read_at < POPULAR_S
            if part is not None and is_wanted:
                self._fly(ask, part, OWN)

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
            for shelf in (self._plain, self._queried)
            for page in shelf.pages.values()
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
        kept = [page for page in self._plain.pages.values() if page.ask.path.startswith(f"{home}/")]
        return [page.ask for page in sorted(kept, key=lambda page: page.read_at, reverse=True)]

    def flights(self) -> list[Flight]:
        """Return the renders that are under way."""
        return list(self._flights.values())

    async def stop(self) -> None:
        """Cancel the renders in progress."""
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task

    def _shelf(self, ask: Ask) -> Shelf:
        return self._queried if ask.query else self._plain


def _for_caches(ask: Ask, part: Part, answer: Answer) -> Answer:
    """Return an answer about a numbered snapshot marked as one that never changes; a page may come to look different.

    A badge says whether its snapshot is the current one, so it is not marked.
    """
    asked = {name for name, _ in parse_qsl(ask.query.decode("latin-1"))}
    if part[1] != BOARDS or "snapshot" not in asked or "/badge/" in ask.path:
        return answer
    is_page = any(name.lower() == b"content-type" and b"html" in value for name, value in answer.headers)
    kept_for = b"max-age=3600" if is_page else b"max-age=31536000, immutable"
    return replace(answer, headers=[*answer.headers, (b"cache-control", kept_for)])


def _owner_of(scope: Scope) -> str:
    """Return whose turn a page of this request is: an address's, since these pages are the same whoever signs in."""
    return network_of(str((scope.get("client") or ("",))[0]))


def _priority(ask: Ask, page: Kept | None) -> int:
    """Return the priority of a render: pages in use first, then new ones, then queries, whose number is unlimited."""
    if ask.query:
        return LAST
    return NEXT if page is None else FIRST


def _look_at(task: asyncio.Task[Kept | Answer]) -> None:
    """Take note of an error that nobody waits for: the page stays old, and the next reader asks again."""
    if not task.cancelled():
        task.exception()


def _mark(age_s: float | None) -> Headers:
    """Return how an old page is marked, in the terms of RFC 9211: a negative time to live."""
    if age_s is None:
        return []
    return [(b"cache-status", b"plumbline; hit; ttl=-%d; detail=stale" % math.ceil(age_s))]
