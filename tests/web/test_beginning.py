"""So many requests are begun at once; who waits for a body, or has ended, holds no place."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from app.web.beginning import BegunTogether

REQUEST = {"type": "http"}


async def nothing_more() -> dict[str, Any]:
    """Wait for a body that never comes."""
    await asyncio.Event().wait()
    return {}


async def ignored(_message: Any) -> None:
    """Take an answer."""


async def begun_of(n_sent: int, handle: Callable[[Any, Any], Awaitable[object]], most: int) -> int:
    """Return how many of the requests that were sent have reached the app."""
    begun = 0

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        nonlocal begun
        begun += 1
        await handle(receive, send)

    bounded = BegunTogether(app, most)
    sent = [asyncio.create_task(bounded(REQUEST, nothing_more, ignored)) for _ in range(n_sent)]
    for _ in range(50):
        await asyncio.sleep(0)
    for each in sent:
        each.cancel()
    await asyncio.gather(*sent, return_exceptions=True)
    return begun


def test_no_more_than_so_many_are_begun() -> None:
    """The others wait for one of them."""
    assert asyncio.run(begun_of(9, lambda _receive, _send: asyncio.Event().wait(), most=4)) == 4


def test_who_waits_for_a_body_holds_no_place() -> None:
    """Two hundred bodies that never come stop nobody."""
    assert asyncio.run(begun_of(9, lambda receive, _send: receive(), most=4)) == 9


def test_who_takes_an_answer_slowly_holds_no_place() -> None:
    """Two hundred exports that nobody reads on stop nobody."""

    async def stream(_receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    assert asyncio.run(begun_of(9, stream, most=4)) == 9


def test_a_place_is_given_back_when_a_request_ends_or_fails() -> None:
    """Once, also where it had asked for its body."""

    async def fail(_receive: Any, _send: Any) -> None:
        raise ValueError

    assert asyncio.run(begun_of(9, lambda _receive, _send: asyncio.sleep(0), most=1)) == 9
    assert asyncio.run(begun_of(9, fail, most=1)) == 9
