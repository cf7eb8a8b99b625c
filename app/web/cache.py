"""The published-page cache: a small ASGI app in front of FastAPI that answers from bytes in memory.

Made by `app.main`. An entry is filled by one render and dropped when any benchmark changes: `watch` hears
of it by NOTIFY, and looks each second in case a notification was lost.
"""

import asyncio
import gzip
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

import psycopg
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.store.benchmarks import CHANGE_TOTAL, CHANGED_CHANNEL
from app.web.problems import too_large

logger = logging.getLogger(__name__)

Headers = list[tuple[bytes, bytes]]
Key = tuple[bytes, bytes, bool, bool]
POLL_S = 1.0
COMPRESS_FROM = 1000
PUBLISHED = frozenset({"/", "/benchmarks.csv", "/benchmarks.json", "/glossary", "/glossary.csv", "/glossary.json"})
DROPPED = (b"content-length", b"date", b"server")
SECURITY: Headers = [
    (b"content-security-policy", b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
     b"base-uri 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]  # fmt: skip


@dataclass(frozen=True)
class Page:
    """A page ready to be sent: its start for 200 and for 304, its tag and its bytes."""

    etag: bytes
    start: Message
    unchanged: Message
    body: Message
    head: Message

    @property
    def size(self) -> int:
        """Return the bytes it takes."""
        return len(self.body["body"]) + 1000


class Shelf:
    """Pages up to a number of bytes; what was put there first makes room for more."""

    def __init__(self, max_bytes: int) -> None:
        self.pages: OrderedDict[Key, Page] = OrderedDict()
        self._max_bytes = max_bytes
        self._n_bytes = 0

    def clear(self) -> None:
        """Drop every page."""
        self.pages.clear()
        self._n_bytes = 0

    def keep(self, key: Key, page: Page) -> None:
        """Keep a page, unless it is too large for that; two renders of one address are kept once."""
        if page.size > self._max_bytes // 4 or key in self.pages:
            return
        self.pages[key] = page
        self._n_bytes += page.size + len(key[0])
        while self._n_bytes > self._max_bytes:
            old, dropped = self.pages.popitem(last=False)
            self._n_bytes -= dropped.size + len(old[0])


class PublishedPages:
    """Serve published pages from memory and hand everything else on.

    Addresses with a query have a shelf of their own: there is no end of queries, and they must not push out the pages
    that everybody reads.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._plain = Shelf(max_bytes // 2)
        self._queried = Shelf(max_bytes // 2)
        self._generation = 0

    def clear(self) -> None:
        """Drop every page; a render that is under way is not kept either."""
        self._generation += 1
        self._plain.clear()
        self._queried.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # HEAD is answered like GET, without the body; no endpoint need know of it.
        method = scope["method"]
        if method == "HEAD":
            method, send = "GET", _without_body(send)
        key = _key(scope)
        if key is None:
            await self._app({**scope, "method": method}, receive, _secured(send))
            return
        shelf = self._queried if scope["query_string"] else self._plain
        page = shelf.pages.get(key)
        if page is None:
            page = await self._fill(shelf, key, scope, receive, send)
            if page is None:
                return
        await _send(page, scope, send)

    async def _fill(self, shelf: Shelf, key: Key, scope: Scope, receive: Receive, send: Send) -> Page | None:
        """Render a page and keep it; an answer that is not one to keep is passed on as it comes, and None returned."""
        generation = self._generation
        messages: list[Message] = []
        passed_on = _secured(send)

        async def collect(message: Message) -> None:
            if not messages or _is_kept(messages[0]):
                messages.append(message)
            if not _is_kept(messages[0]):
                await passed_on(message)

        await self._app({**scope, "method": "GET"}, receive, collect)
        start = messages[0]
        if not _is_kept(start):
            return None
        body = b"".join(message.get("body", b"") for message in messages[1:])
        page = await run_in_threadpool(_make_page, start["headers"], body, compress=key[2])
        if generation == self._generation:
            shelf.keep(key, page)
        return page


def _key(scope: Scope) -> Key | None:
    """Return what a request's page is kept under, or None when its answer is not to be kept."""
    path: str = scope["path"]
    is_published = path in PUBLISHED or path.startswith(("/benchmarks/", "/static/"))
    if scope["method"] not in ("GET", "HEAD") or not is_published:
        return None
    accepts_gzip = wants_html = False
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            accepts_gzip = _accepts_gzip(value)
        elif name == b"accept":
            wants_html = b"text/html" in value
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    return (scope["raw_path"] + b"?" + scope["query_string"], host, accepts_gzip, wants_html)


@lru_cache(maxsize=256)
def _accepts_gzip(value: bytes) -> bool:
    """Say whether an Accept-Encoding takes gzip: named, or covered by a star, and not with a quality of zero."""
    qualities = {}
    for each in value.lower().split(b","):
        name, _, quality = each.replace(b" ", b"").partition(b";q=")
        qualities[name] = quality
    asked = qualities.get(b"gzip", qualities.get(b"*", b"0"))
    return asked.strip(b"0.") != b"" or asked == b""


def _make_page(headers: Iterable[tuple[bytes, bytes]], body: bytes, *, compress: bool) -> Page:
    kept = [(name, value) for name, value in headers if name.lower() not in DROPPED]
    if compress and len(body) >= COMPRESS_FROM:
        body = gzip.compress(body, 6, mtime=0)
        kept.append((b"content-encoding", b"gzip"))
    etag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", b"no-cache"))
    kept += [(b"etag", etag), (b"vary", b"Accept-Encoding"), *SECURITY]
    length = (b"content-length", str(len(body)).encode())
    return Page(
        etag=etag,
        start={"type": "http.response.start", "status": 200, "headers": [*kept, length]},
        unchanged={"type": "http.response.start", "status": 304, "headers": kept},
        body={"type": "http.response.body", "body": body},
        head={"type": "http.response.body", "body": b""},
    )


def _is_kept(start: Message) -> bool:
    must_not = any(name.lower() == b"cache-control" and b"no-store" in value for name, value in start["headers"])
    return start["status"] == 200 and not must_not


async def _send(page: Page, scope: Scope, send: Send) -> None:
    for name, value in scope["headers"]:
        if name == b"if-none-match" and (page.etag in value or value.strip() == b"*"):
            await send(page.unchanged)
            await send(page.head)
            return
    await send(page.start)
    await send(page.body)


def _without_body(send: Send) -> Send:
    async def bodiless(message: Message) -> None:
        is_body = message["type"] == "http.response.body"
        await send({**message, "body": b""} if is_body else message)

    return bodiless


def _secured(send: Send) -> Send:
    refused = False

    async def secured(message: Message) -> None:
        nonlocal refused
        if message["type"] == "http.response.start":
            # The framework's own refusal of a large body is plain text; ours are problem documents.
            refused = message["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and not _is_problem(message)
            headers = too_large()[0] if refused else message.get("headers", [])
            message = {**message, "headers": [*headers, *SECURITY]}
        elif refused:
            message = {**message, "body": b"" if message.get("more_body") else too_large()[1]}
        await send(message)

    return secured


def _is_problem(start: Message) -> bool:
    return any(name.lower() == b"content-type" and b"problem" in value for name, value in start.get("headers", []))


async def watch(database_url: str, clear: Callable[[], None]) -> None:
    """Clear the cache on every change, for as long as the process serves."""
    seen: object = None
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                await connection.execute(f"LISTEN {CHANGED_CHANNEL}")
                while True:
                    now = await (await connection.execute(CHANGE_TOTAL)).fetchone()
                    if now != seen:
                        clear()
                        seen = now
                    async for _ in connection.notifies(timeout=POLL_S, stop_after=1):
                        clear()
        except Exception as error:
            # The database may be away for a while; until it is back, nothing kept can be trusted.
            clear()
            logger.warning("not hearing of changes: %s", error)
            await asyncio.sleep(POLL_S)
