"""Who is answered before their body has come can read the answer."""

import asyncio
from typing import Any

from app.web.front import OuterMiddleware


def answered_early(pieces: list[bytes], n_announced: int) -> tuple[list[Any], int]:
    """Answer a POST at once; return what was sent, and how many pieces of its body were never asked for."""
    left, sent = list(pieces), list[Any]()

    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"no"})

    async def receive() -> Any:
        piece = left.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append((message, len(left)))

    headers = [(b"content-length", str(n_announced).encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/preregs",
        "headers": headers,
        "query_string": b"",
        "client": None,
    }
    asyncio.run(OuterMiddleware(refuse)(scope, receive, send))
    return sent, len(left)


def test_a_large_body_is_read_on_after_the_answer() -> None:
    """The whole answer goes first; the connection ends once the rest has been read, or it would be reset under it."""
    sent, n_left = answered_early([b"a" * 65536] * 4, 4 * 65536)
    (start, _), (body, n_left_then), (end, _) = sent

    assert (b"connection", b"close") in start["headers"]
    assert (body["body"], body["more_body"], n_left_then) == (b"no", True, 4)
    assert (end.get("more_body", False), n_left) == (False, 0)


def test_the_connection_of_a_small_body_is_kept() -> None:
    """The server has read it in advance."""
    sent, _ = answered_early([b"a"], 1)

    assert [len(sent), (b"connection", b"close") in sent[0][0]["headers"]] == [2, False]
