"""The outermost layer: what is answered without the framework, and what must be decided before it reads a body.

Made by `app.main` around the page cache. `/healthz` is answered on the event loop, so that it says that the loop
turns however busy the threads and the database are.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.render.exports import to_json
from app.version import release
from app.web.kept import SECURITY

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
READING = ("GET", "HEAD")
# uvicorn reads so much of a body unasked; a refused one of this size does not cost the connection.
SMALL_BODY = 1 << 16


class Front:
    """Answer /healthz, and end the connection of a request that was answered before its body had come."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] not in READING:
            await self._write(scope, receive, send)
        elif scope["path"] == "/healthz":
            await send(HEALTH_START)
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else HEALTHY})
        else:
            await self.app(scope, receive, send)

    async def _write(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = _is_small(scope)

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def ending(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
            await send(message)

        await self.app(scope, reading, ending)


def _is_small(scope: Scope) -> bool:
    """Say whether the request announces a body that is sent anyway and soon over, or none."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"0")
    if b"transfer-encoding" in headers or b"expect" in headers:
        return False
    return len(length) < 9 and length.isdigit() and int(length) <= SMALL_BODY
