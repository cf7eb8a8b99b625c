"""The published-page cache: a small ASGI app in front of FastAPI that answers from bytes in memory.

Made by `app.main`. However many wait for a page, it is rendered once; when its benchmark changes the old one is
served, marked stale, until the new one is there, but never longer than a setting says. A page of which nothing is heard
because the database is away is served for longer.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from app.telemetry.metrics import PAGES
from app.web.asked import main_addresses, plain_ask, read_scope
from app.web.cache_edits import compressed, packs, secured, without_body, without_host
from app.web.freshness import BOARDS, LISTS, Freshness, Part, part_of
from app.web.kept_pages import Answer, Ask, Headers, Kept, Shelf, keep
from app.web.lanes import MOST_WAITING, Lane, is_explored
from app.web.renderer import TOO_MANY, RenderProcess

PAUSE_S = 1.0
POPULAR_S = 600.0
AWAY_S = 300.0
"""How long a page that is not known to be old is served while the database is away (RFC 5861, stale-if-error)."""
FIRST, NEXT, LAST = range(3)


@dataclass
class Flight:
    """A render in progress; all requests for the page in the meantime wait for the same one."""

    ask: Ask
    task: asyncio.Task[Kept | Answer] | None = None
    began_at: float = math.inf


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
        explorer: RenderProcess | None = None,
        sees_more: Callable[[Scope], Awaitable[bool]] | None = None,
    ) -> None:
        self._app = app
        self._plain = Shelf(max_bytes // 2)
        self._queried = Shelf(max_bytes // 2)
        self._freshness = freshness
        self._max_stale_s = max_stale_s
        self._pages = Lane.through(app, renderer)
        self._explored = Lane.through(app, explorer, MOST_WAITING)
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
        answer, age_s = await self._find(asked.ask, part, insists=asked.insists)
        if isinstance(answer, Answer) and answer.status == HTTPStatus.NOT_FOUND and asked.by_somebody:
            # It does not exist for the public, but may exist for this reader.
            await self._app({**without_host(scope), "method": method}, receive, secured(send))
        elif isinstance(answer, Answer):
            await answer.send(secured(send))
        else:
            encoded = answer.packed if asked.packs else answer.plain
            await encoded.send(scope, send, _mark(age_s))

    async def _find(self, ask: Ask, part: Part, *, insists: bool) -> tuple[Kept | Answer, float | None]:
        """Return a page, and for how long it has been stale (None: it is not). A client that insists gets no stale
        page.
        """
        page = self._shelf(ask).pages.get(ask.address)
        if page is not None:
            now = page.read_at = self._freshness.clock()
            since = self._freshness.stale_since(part, page.count)
            if since is None:
                PAGES["kept"] += 1
                return page, None
            if now - since < self._longest_stale_s(part, page) and not insists:
                self._fly(ask, part)
                PAGES["old"] += 1
                return page, now - since
        PAGES["rendered"] += 1
        return await self._wait(ask, part)

    def _longest_stale_s(self, part: Part, page: Kept) -> float:
        if self._max_stale_s == 0 or self._freshness.is_changed(part, page.count):
            return self._max_stale_s
        return max(AWAY_S, self._max_stale_s)

    async def _wait(self, ask: Ask, part: Part) -> tuple[Kept | Answer, float | None]:
        """Wait for a render that began after the request arrived, so that it includes the reader's own writes."""
        arrived_at = self._freshness.clock()
        while True:
            flight = self._fly(ask, part)
            if flight.task is None:
                raise RuntimeError("a flight has no task")
            # Others wait for it too: one that goes away must not take it along.
            answer = await asyncio.shield(flight.task)
            if flight.began_at < arrived_at:
                continue
            if isinstance(answer, Answer) and flight.ask != ask:
                return await self._in_turn(ask, NEXT), None
            since = None if isinstance(answer, Answer) else self._freshness.stale_since(part, answer.count)
            return answer, None if since is None else self._freshness.clock() - max(since, flight.began_at)

    def _fly(self, ask: Ask, part: Part) -> Flight:
        """Return the render of a page that is under way, or begin one."""
        flight = self._flights.get(ask.address)
        if flight is None:
            flight = self._flights[ask.address] = Flight(ask)
            flight.task = asyncio.create_task(self._land(flight, part))
            flight.task.add_done_callback(_look_at)
        return flight

    async def _land(self, flight: Flight, part: Part) -> Kept | Answer:
        """Render a page and keep it, but not more often than once in a while."""
        ask, clock = flight.ask, self._freshness.clock
        shelf = self._shelf(ask)
        try:
            page = shelf.pages.get(ask.address)
            if page is not None:
                await asyncio.sleep(page.tried_at + min(PAUSE_S, self._max_stale_s / 2) - clock())
                page.tried_at = clock()
            lane = self._lane(ask)
            if lane.is_full:
                return TOO_MANY
            async with lane.turns.take(_priority(ask, page)):
                flight.began_at, count = clock(), self._freshness.count(part)
                answer = await lane.render(ask)
            if not answer.is_kept:
                return answer
            read_at = flight.began_at if page is None else page.read_at
            kept = keep(ask, _for_caches(ask, part, answer), count, flight.began_at, read_at)
            shelf.put(ask.address, kept)
            return kept
        finally:
            del self._flights[ask.address]

    async def _in_turn(self, ask: Ask, priority: int) -> Answer:
        lane = self._lane(ask)
        if lane.is_full:
            return TOO_MANY
        async with lane.turns.take(priority):
            return await lane.render(ask)

    def _lane(self, ask: Ask) -> Lane:
        """Return the process that renders a page: a board computed for one reader must not delay other pages."""
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
                self._fly(ask, part)

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
