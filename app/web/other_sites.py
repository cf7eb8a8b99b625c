"""What programs and pages elsewhere may read: CORS on what needs no credentials, and ranges of files.

Put by `app.main` before the published pages. A notebook, a figure in a paper or DuckDB in a browser fetch a board from
an address of their own site: browsers let them only where the answer says so. DuckDB and Arrow read a few ranges of a
Parquet file instead of all of it.

Whoever sends a token or the cookie of a session is answered without CORS: what only they may see is for this site
alone. Pages of HTML are read here; only data are for others. One range at a time (RFC 9110, section 14).
"""

import re
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.cached_answer import READING, Headers
from app.web.cookies import SESSION

ANYBODY: Headers = [(b"access-control-allow-origin", b"*")]
EXPOSED: Headers = [
    *ANYBODY,
    (b"access-control-expose-headers", b"ETag, Content-Range, Accept-Ranges, Content-Length, Plumbline-Api-Version"),
]
PREFLIGHT: Headers = [
    *ANYBODY,
    (b"access-control-allow-methods", ", ".join(READING).encode()),
    (b"access-control-allow-headers", b"Range, If-Range, If-None-Match, Cache-Control"),
    (b"access-control-max-age", b"86400"),
]
ONE_RANGE = re.compile(rb"bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))")


class OtherSites:
    """Answer the preflights of reads, mark what others may read, and cut the range that was asked for."""

    def __init__(self, app: ASGIApp, *, cors: bool) -> None:
        self._app = app
        self._cors = cors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self._cors and _is_preflight_of_read(scope, headers):
            await send({"type": "http.response.start", "status": 204, "headers": PREFLIGHT})
            await send({"type": "http.response.body", "body": b""})
            return
        if scope["method"] not in READING:
            await self._app(scope, receive, send)
            return
        wanted = ONE_RANGE.fullmatch(headers.get(b"range", b"").replace(b" ", b""))
        if wanted is not None:
            # Ranges are of the file itself, not of its compressed form.
            kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            scope = {**scope, "headers": kept}
        is_open = self._cors and b"authorization" not in headers and SESSION.encode() not in headers.get(b"cookie", b"")
        sender = _Answer(send, is_open, wanted, headers.get(b"if-range"), scope["method"] == "HEAD")
        await self._app(scope, receive, sender)


def _is_preflight_of_read(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    asked = headers.get(b"access-control-request-method", b"")
    return scope["method"] == "OPTIONS" and b"origin" in headers and asked.decode("latin-1") in READING


class _Answer:
    """Where an answer to a read goes: its start waits for the first part of the body, which shows if it is whole."""

    def __init__(
        self, send: Send, is_open: bool, wanted: "re.Match[bytes] | None", if_range: bytes | None, is_head: bool
    ) -> None:
        self._send = send
        self._is_open = is_open
        self._wanted = wanted
        self._if_range = if_range
        self._is_head = is_head
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send a message of the answer, or keep its start."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is None:
            await self._send(message)
            return
        headers = {name.lower(): value for name, value in start.get("headers", [])}
        if headers.get(b"content-type", b"").startswith(b"text/html"):
            further: Headers = []
        else:
            further = [*EXPOSED] if self._is_open else []
            is_file = start["status"] == 200 and not message.get("more_body") and b"content-encoding" not in headers
            if is_file and b"content-length" in headers:
                further.append((b"accept-ranges", b"bytes"))
                start, message = self._cut(start, message, headers)
        await self._send({**start, "headers": [*start.get("headers", []), *further]})
        await self._send(message)

    def _cut(self, start: Message, message: Message, headers: Mapping[bytes, bytes]) -> tuple[Message, Message]:
        """Return the part that was asked for; all of it where the file is another one than the sender has begun."""
        if self._wanted is None or self._is_head:
            return start, message
        if self._if_range is not None and self._if_range.strip() != headers.get(b"etag"):
            return start, message
        body: bytes = message["body"]
        first, end = _ends(self._wanted, len(body))
        others = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        if not first < end:
            said = [(b"content-range", b"bytes */%d" % len(body)), (b"content-length", b"0")]
            return {**start, "status": 416, "headers": [*others, *said]}, {**message, "body": b""}
        said = [
            (b"content-range", b"bytes %d-%d/%d" % (first, end - 1, len(body))),
            (b"content-length", b"%d" % (end - first)),
        ]
        return {**start, "status": 206, "headers": [*others, *said]}, {**message, "body": body[first:end]}


def _ends(wanted: "re.Match[bytes]", length: int) -> tuple[int, int]:
    """Return where a range begins and ends in so many bytes, the end excluded; the last `-n` bytes count from there."""
    first, last, of_end = wanted.groups()
    if of_end is not None:
        return (max(0, length - int(of_end)), length) if int(of_end) else (length, length)
    return int(first), length if last is None else min(int(last) + 1, length)
