"""Limits how many requests are processed at the same time, so that a flood of them does not delay cached pages.

Used by `app.main` between the page cache and the app. Threads share one interpreter with the event loop, which waits
for each of them in turn: what bounds its wait is how many of them compute.
"""

import asyncio
from collections import deque
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.concurrency import Places

MOST_BEGUN = 16
"""Fewer than the threads and connections that wait for the database; the event loop handles this many in 50 ms."""
MOST_READS, MOST_WORKS = 3, 2
"""Concurrent reads, and concurrent requests with bodies; a single client may have one fewer."""
UNMEASURED = ("/readyz", "/metrics")
READING = ("GET", "HEAD")


class BegunTogether:
    """An app with a limited number of concurrent requests; others wait, taking turns by client.

    A read holds a place until its answer begins. Of what is written, the part before the body and what is done with
    the whole body are bounded, each by itself: who sends a body, or takes an answer slowly, holds no place. Files are
    left out, for they have turns of their own (`app.reading`).
    """

    def __init__(
        self, app: ASGIApp, most: int = MOST_BEGUN, most_reads: int = MOST_READS, most_works: int = MOST_WORKS
    ) -> None:
        self._app = app
        self._begun = Places(most)
        self._reads = Places(most_reads, max(1, most_reads - 1))
        self._works = Places(most_works, max(1, most_works - 1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in its turn; other events, such as startup, do not wait."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        asks = scope.get("method") in READING
        is_read = asks and scope["path"] not in UNMEASURED
        held = _Place(self._reads if is_read else self._begun, _client_of(scope))
        works = None if asks or _has_files(scope) else _Place(self._works, _client_of(scope, by_token=True))
        arriving = _Arriving(receive)
        try:
            if await arriving.take(held, may_leave=is_read and not _has_body(scope)):
                await self._app(scope, _receiving(arriving, held, works), _sending(send, held, works))
        finally:
            _give_back(held, works)
            arriving.stop()


class _Place:
    """One request's place among others; taken and given back at most once."""

    def __init__(self, places: Places, key: str) -> None:
        self._places, self._key = places, key
        self._is_held = self._is_over = False

    def take_now(self) -> bool:
        """Take a place if there is one now, and say whether there was."""
        self._is_held = self._places.take_now(self._key)
        return self._is_held

    async def take(self) -> None:
        """Wait for a place."""
        if not self._is_held and not self._is_over:
            await self._places.take(self._key)
            self._is_held = True

    def give_back(self) -> None:
        """Give the place back, if it is held, for good."""
        if self._is_held:
            self._is_held, self._is_over = False, True
            self._places.give_back(self._key)


class _Arriving:
    """A client's messages, received also while its request waits: one that disconnects gives up its turn."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ahead: deque[asyncio.Future[Message]] = deque()

    async def take(self, held: _Place, *, may_leave: bool) -> bool:
        """Wait for a place, and say whether the client is still there."""
        if held.take_now():
            return True
        turn = asyncio.ensure_future(held.take())
        try:
            if may_leave and await self._leaves_before(turn):
                return False
            await turn
        finally:
            turn.cancel()
        return True

    async def _leaves_before(self, turn: "asyncio.Future[None]") -> bool:
        """Listen to a client that has nothing more to say than that it goes, until its turn has come."""
        for _ in range(2):
            coming = asyncio.ensure_future(self._receive())
            self._ahead.append(coming)
            waited: list[asyncio.Future[Any]] = [turn, coming]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return False
            if coming.result()["type"] == "http.disconnect":
                return True
        return False

    async def receive(self) -> Message:
        """Return the next message of the client."""
        return await (self._ahead.popleft() if self._ahead else self._receive())

    def stop(self) -> None:
        """Wait for nothing more."""
        for coming in self._ahead:
            coming.cancel()


def _receiving(arriving: _Arriving, held: _Place, works: _Place | None) -> Receive:
    async def receiving() -> Message:
        held.give_back()
        message = await arriving.receive()
        if works is not None and message["type"] == "http.request" and not message.get("more_body", False):
            await works.take()
        return message

    return receiving


def _sending(send: Send, held: _Place, works: _Place | None) -> Send:
    async def sending(message: Message) -> None:
        _give_back(held, works)
        await send(message)

    return sending


def _give_back(*places: _Place | None) -> None:
    for each in places:
        if each is not None:
            each.give_back()


def _client_of(scope: Scope, *, by_token: bool = False) -> str:
    """Return the client: its address, or the token that was checked before the body."""
    token = dict(scope.get("headers", ())).get(b"authorization") if by_token else None
    return token.decode("latin-1") if token else str((scope.get("client") or ("",))[0])


def _has_files(scope: Scope) -> bool:
    kind = dict(scope.get("headers", ())).get(b"content-type", b"")
    return bool(kind.lower().startswith(b"multipart/"))


def _has_body(scope: Scope) -> bool:
    names = dict(scope.get("headers", ()))
    return b"content-length" in names or b"transfer-encoding" in names
