"""Limits how many requests are processed at the same time, so that a flood of them does not delay cached pages.

It stands between the page cache and the app. Threads share one interpreter with the event loop, which waits
for each of them in turn: what bounds its wait is how many of them compute.
"""

import asyncio
from collections import deque
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import Busy
from app.turns import Turn, Turns
from app.web.cached_answer import READING
from app.web.limits import network_of
from app.web.problems import problem
from plumbline.retries import RETRY_AFTER_S

MOST_BEGUN, ROOM = 4, 256
"""Writes whose sender and benchmark are looked up, and those that wait for it: of more, the last of whoever has most is
told to come again before anything is looked up, for a refusal costs as much as all that comes before it.
"""
MOST_UNMEASURED = 16
MOST_READS, MOST_WORKS = 3, 2
"""Concurrent reads, and concurrent requests with bodies; a single owner may have one fewer."""
TOO_MANY_WRITES = problem(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "Too many requests are being answered; send this one again a little later.",
    RETRY_AFTER_S,
)
UNMEASURED = ("/readyz", "/metrics")


class ConcurrencyLimit:
    """An app with a limited number of concurrent requests; others wait in turns (`app.turns`).

    A read holds a place until its answer begins. Of what is written, the part before the body and what is done with
    the whole body are bounded, each by itself: who sends a body, or takes an answer slowly, holds no place. Files are
    left out, for they have turns of their own (`app.reading`).
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BEGUN) -> None:
        self._app = app
        self._begun, self._reads, self._works = Turns(most, room=ROOM), Turns(MOST_READS), Turns(MOST_WORKS)
        self._unmeasured = Turns(MOST_UNMEASURED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in its turn; other events, such as startup, do not wait."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        asks = scope.get("method") in READING
        is_read = asks and scope["path"] not in UNMEASURED
        turns = self._reads if is_read else self._unmeasured if asks else self._begun
        # One for all that handle the request: where its caller is noted once its token has been checked.
        scope.setdefault("state", {})
        held = _Place(turns, scope)
        works = None if asks or _has_files(scope) else _Place(self._works, scope)
        arriving = _ReceiveAhead(receive)
        try:
            is_there = await arriving.take(held, may_leave=is_read and not _has_body(scope))
        except Busy:
            is_there = False
            await TOO_MANY_WRITES.send(send)
        try:
            if is_there:
                await self._app(scope, _receiving(arriving, held, works), _sending(send, held, works))
        finally:
            _give_back(held, works)
            arriving.stop()


class _Place:
    """One request's place among others; taken and given back at most once."""

    def __init__(self, turns: Turns, scope: Scope) -> None:
        self._turns, self._scope = turns, scope
        self._turn = Turn({})

    def enter(self) -> bool:
        """Take a place or begin to wait for one, as whoever is known to ask by now; say whether nothing is to wait for.

        What has been given back is not taken again. Raises Busy.
        """
        if self._turn.called is None and not self._turn.is_over:
            self._turn.owners[_owner_of(self._scope)] = None
            self._turns.enter(self._turn)
        if self._turn.called is not None and self._turn.called.done():
            self._turn.called.result()
        return not self._turn.is_waiting

    async def take(self) -> None:
        """Wait for a place."""
        if not self.enter():
            await self._turns.wait(self._turn)

    def give_back(self) -> None:
        """Give the place back, if it is held, for good."""
        self._turns.end(self._turn)


class _ReceiveAhead:
    """A client's messages, received also while its request waits: one that disconnects gives up its turn."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ahead: deque[asyncio.Future[Message]] = deque()

    async def take(self, held: _Place, *, may_leave: bool) -> bool:
        """Wait for a place, and say whether the client is still there."""
        if held.enter():
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


def _receiving(arriving: _ReceiveAhead, held: _Place, works: _Place | None) -> Receive:
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


def _owner_of(scope: Scope) -> str:
    """Return whose request it is: the token's that was checked before the body, else the address's."""
    caller = scope["state"].get("caller")
    address = str((scope.get("client") or ("",))[0])
    return network_of(address) if caller is None else str(caller.owner)


def _has_files(scope: Scope) -> bool:
    kind = dict(scope.get("headers", ())).get(b"content-type", b"")
    return bool(kind.lower().startswith(b"multipart/"))


def _has_body(scope: Scope) -> bool:
    names = dict(scope.get("headers", ()))
    return b"content-length" in names or b"transfer-encoding" in names
