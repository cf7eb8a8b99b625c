"""Pages as bytes ready to be sent."""

import base64
import gzip
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from starlette.types import Message, Scope, Send

from app.program.version import API_VERSION
from app.render.saved import saved_style

READING = ("GET", "HEAD")
"""Methods of requests that change nothing."""
Headers = list[tuple[bytes, bytes]]
COMPRESS_FROM = 1000
WITHOUT_DATABASE = (b"plumbline-cause", b"database")
DROPPED = (b"content-length", b"date", b"server")
DRAWN = b"'sha256-%s'" % base64.b64encode(hashlib.sha256(saved_style().encode()).digest())
"""The one style that may be inline in a document: that of a picture opened at its own address."""
SECURITY: Headers = [
    (b"content-security-policy", b"default-src 'none'; style-src 'self' %s; img-src 'self'; "
     b"script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" % DRAWN),
    (b"x-content-type-options", b"nosniff"),
    (b"plumbline-api-version", str(API_VERSION).encode()),
    (b"referrer-policy", b"same-origin"),
]  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """A request for a page: everything a cached page may depend on, so neither Host nor the client."""

    path: str
    raw_path: bytes
    query: bytes
    wants_html: bool

    @property
    def address(self) -> bytes:
        """Return the cache key of the page."""
        return self.raw_path + b"?" + self.query

    def scope(self) -> Scope:
        """Return the request for the app. Without server and Host, addresses that it makes are relative."""
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.raw_path,
            "root_path": "",
            "query_string": self.query,
            "headers": [(b"accept", b"text/html" if self.wants_html else b"*/*")],
            "server": None,
            "client": None,
            "state": {},
        }


@dataclass(frozen=True)
class CachedAnswer:
    """A whole answer of the app: its status, its headers, its body and, where that is worth it, the body compressed."""

    status: int
    headers: Headers
    body: bytes
    packed: bytes | None = None

    @property
    def is_kept(self) -> bool:
        """Say whether everybody may be given it."""
        must_not = any(name.lower() == b"cache-control" and b"no-store" in value for name, value in self.headers)
        return self.status == 200 and not must_not

    @property
    def is_without_database(self) -> bool:
        """Say whether it is so because the database could not answer."""
        return self.status == 503 and WITHOUT_DATABASE in self.headers

    async def send(self, send: Send) -> None:
        """Send it to the client."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


def gather(messages: Sequence[Message]) -> CachedAnswer:
    """Return the answer that was sent in these messages; compressed here, because here no reader waits."""
    start = messages[0]
    body = b"".join(message.get("body", b"") for message in messages[1:])
    answer = CachedAnswer(start["status"], list(start.get("headers", ())), body)
    if not answer.is_kept or len(body) < COMPRESS_FROM:
        return answer
    return CachedAnswer(answer.status, answer.headers, body, gzip.compress(body, 6, mtime=0))


@dataclass(frozen=True)
class Encoded:
    """A page in one encoding: its tag, its start for 200 and for 304, and its bytes."""

    etag: bytes
    start: Message
    unchanged: Message
    body: Message
    head: Message

    async def send(self, scope: Scope, send: Send, mark: Headers) -> None:
        """Answer a request; `mark` are further headers."""
        start, unchanged = self.start, self.unchanged
        if mark:
            start, unchanged = _with(start, mark), _with(unchanged, mark)
        for name, value in scope["headers"]:
            if name == b"if-none-match" and (self.etag in value or value.strip() == b"*"):
                await send(unchanged)
                await send(self.head)
                return
        await send(start)
        await send(self.body)


def _with(start: Message, mark: Headers) -> Message:
    return {**start, "headers": [*start["headers"], *mark]}


@dataclass
class CachedPage:
    """A page: its request, the state of its benchmark, when it was last read and last to be rendered.

    `is_unmade` says that the last time it could not be, for the database's sake, and `hurried_at` when it was without
    the pause before.
    """

    ask: Ask
    plain: Encoded
    packed: Encoded
    count: int
    read_at: float
    tried_at: float
    is_unmade: bool = False
    hurried_at: float = -math.inf

    @property
    def size(self) -> int:
        """Return the bytes it takes."""
        return sum(len(each.body["body"]) for each in {id(e): e for e in (self.plain, self.packed)}.values()) + 1000


def keep(ask: Ask, answer: CachedAnswer, count: int, tried_at: float, read_at: float) -> CachedPage:
    """Return an answer as the page that is kept."""
    plain = _encoded(answer.headers, answer.body, ())
    packed = plain if answer.packed is None else _encoded(answer.headers, answer.packed, GZIPPED)
    return CachedPage(ask, plain, packed, count, read_at, tried_at)


GZIPPED = ((b"content-encoding", b"gzip"),)


def _encoded(headers: Headers, body: bytes, encoding: Sequence[tuple[bytes, bytes]]) -> Encoded:
    kept = [(name, value) for name, value in headers if name.lower() not in DROPPED]
    kept += encoding
    etag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", b"no-cache"))
    kept += [(b"etag", etag), (b"vary", b"Accept-Encoding"), *SECURITY]
    length = (b"content-length", str(len(body)).encode())
    return Encoded(
        etag=etag,
        start={"type": "http.response.start", "status": 200, "headers": [*kept, length]},
        unchanged={"type": "http.response.start", "status": 304, "headers": kept},
        body={"type": "http.response.body", "body": body},
        head={"type": "http.response.body", "body": b""},
    )


@lru_cache(maxsize=256)
def accepts_gzip(value: bytes) -> bool:
    """Say whether an Accept-Encoding takes gzip: named, or covered by a star, and not with a quality of zero."""
    qualities = {}
    for each in value.lower().split(b","):
        name, _, quality = each.replace(b" ", b"").partition(b";q=")
        qualities[name] = quality
    asked = qualities.get(b"gzip", qualities.get(b"*", b"0"))
    return asked.strip(b"0.") != b"" or asked == b""
