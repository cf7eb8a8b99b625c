"""Edits of requests that pass the cache, and of answers that are not cached; for `app.web.cache`."""

import gzip
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Scope, Send

from app.web.kept_pages import COMPRESS_FROM, SECURITY, accepts_gzip
from app.web.problems import too_large


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
        scope["method"] in ("GET", "HEAD")
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
            headers = too_large()[0] if refused else message.get("headers", [])
            message = {**message, "headers": [*headers, *SECURITY]}
        elif refused:
            message = {**message, "body": b"" if message.get("more_body") else too_large()[1]}
        await send(message)

    return send_secured


def _is_problem(start: Message) -> bool:
    return any(name.lower() == b"content-type" and b"problem" in value for name, value in start.get("headers", []))
