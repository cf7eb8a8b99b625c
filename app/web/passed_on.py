"""What is changed on the way past the cache in a request, and in an answer that is not kept; for `app.web.cache`."""

from http import HTTPStatus

from starlette.types import Message, Scope, Send

from app.web.kept import SECURITY
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
