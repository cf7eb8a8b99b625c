"""The outermost layer: answers that need no framework, and decisions before the framework reads a body.

It stands around the page cache. `/healthz` is answered on the event loop, so that it says that the loop
turns however busy the threads and the database are.
"""

import asyncio
import re
import secrets
import time
from contextlib import suppress
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.program.version import release
from app.render.csv_and_json import to_json
from app.telemetry import ROUTE, bind, count_request
from app.web.cached_answer import READING, SECURITY
from app.web.forms import with_method
from app.web.limits import RateLimit, address_of, network_of
from app.web.page_cache import secured
from app.web.problems import NOTHING_HERE, problem

HEALTHY = to_json({"status": "ok", "version": release()})
HEALTH_START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(HEALTHY)).encode()),
        *SECURITY,
    ],
}
REQUEST_ID = b"x-request-id"
PLAUSIBLE_ID = re.compile(r"[A-Za-z0-9][\w.:-]{0,63}", re.ASCII)
# uvicorn reads this much of a body in advance; refusing a body of this size need not close the connection.
SMALL_BODY = 1 << 16
LINGER_S = 3.0


class OuterMiddleware:
    """Answer /healthz, and end the connection of a request that was answered before its body had come.

    Here a request gets the address that the rest believes, and who reads too much is refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        reads: RateLimit | None = None,
        forwarded_hops: int = 0,
    ) -> None:
        self.app = app
        self._reads = reads
        self._hops = forwarded_hops

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        address = address_of(scope, self._hops)
        if self._hops and address is not None:
            scope = {**scope, "client": (address, 0)}
        if scope["path"] != "/healthz":
            scope = {**scope, ROUTE: []}
            send = _counting(scope, send)
        if scope["method"] not in READING:
            request_id = _request_id(scope)
            with bind(request_id=request_id):
                await self._write(with_method(scope), receive, _naming(send, request_id), self._wait_s(address))
        elif scope["path"] == "/healthz":
            await send(HEALTH_START)
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else HEALTHY})
        elif (wait_s := self._wait_s(address)) > 0:
            await self._refuse(send, wait_s)
        else:
            await self.app(scope, receive, send)

    def _wait_s(self, address: str | None) -> int:
        """Count a request of an address, and return how long it has to wait for an answer."""
        return 0 if self._reads is None or not address else self._reads.take(network_of(address))

    async def _refuse(self, send: Send, wait_s: int) -> None:
        per_minute = 0 if self._reads is None else self._reads.per_minute
        detail = f"More than {per_minute} requests in a minute from your address."
        await problem(HTTPStatus.TOO_MANY_REQUESTS, detail, wait_s).send(secured(send))

    async def _write(self, scope: Scope, receive: Receive, send: Send, wait_s: int) -> None:
        is_read = _is_small(scope)

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def ending(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if is_last and not is_read:
                await send({**message, "more_body": True})
                await _read_on(receive)
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        if wait_s > 0:
            await self._refuse(ending, wait_s)
        elif "\0" in scope["path"]:
            # Nothing has such a name, and the audit could not store one.
            await problem(HTTPStatus.NOT_FOUND, NOTHING_HERE).send(secured(ending))
        else:
            await self.app(scope, reading, ending)


async def _read_on(receive: Receive) -> None:
    """Discard what a client is still sending: closing at once would reset the connection under the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body", False):
                pass


def _request_id(scope: Scope) -> str:
    """Return the id by which a write is found in every log: the proxy's own where it sent a plausible one."""
    given = dict(scope["headers"]).get(REQUEST_ID, b"").decode("latin-1")
    return given if PLAUSIBLE_ID.fullmatch(given) else secrets.token_hex(8)


def _counting(scope: Scope, send: Send) -> Send:
    """Count what is answered, and how long it took until it began."""
    began_at = time.monotonic()

    async def counting(message: Message) -> None:
        if message["type"] == "http.response.start":
            count_request(scope, message["status"], time.monotonic() - began_at)
        await send(message)

    return counting


def _naming(send: Send, request_id: str) -> Send:
    async def naming(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), (REQUEST_ID, request_id.encode())]}
        await send(message)

    return naming


def _is_small(scope: Scope) -> bool:
    """Say whether the request announces a body that is sent anyway and soon over, or none."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"0")
    if b"transfer-encoding" in headers or b"expect" in headers:
        return False
    return len(length) < 9 and length.isdigit() and int(length) <= SMALL_BODY
