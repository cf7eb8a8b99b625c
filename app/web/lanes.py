"""Queues in which pages are rendered, a few at a time, so that no kind delays another. Used by `app.web.cache`."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from heapq import heapify, heappop, heappush
from urllib.parse import parse_qsl

from starlette.types import ASGIApp

from app.reading.turns import Turn, Turns
from app.web.renderer import Render, RenderProcess, render_here

EXPLORED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+/(explore|matrix)(\.\w+)?")
PICTURED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+/embed\.\w+")
EXPLORERS = 2
"""Boards that are computed for readers at the same time: whoever has one computed holds one of them at most."""
MOST_WAITING = 8
"""Most boards that readers wait for; of further ones whoever waits for most is told to retry."""


def is_explored(path: str, query: bytes) -> bool:
    """Say whether a board is computed for one reader at an address: explored, or pictured with a choice.

    >>> board = "/benchmarks/a/leaderboards/b"
    >>> is_explored(f"{board}/embed.svg", b"snapshot=3"), is_explored(f"{board}/embed.svg", b"task=t1&snapshot=3")
    (False, True)
    """
    if not query:
        return False
    asks_more = any(name != "snapshot" for name, _ in parse_qsl(query.decode("latin-1")))
    return EXPLORED.fullmatch(path) is not None or (asks_more and PICTURED.fullmatch(path) is not None)


class Lane:
    """A queue that renders pages, as many at a time as it has places; at most `room` wait for it."""

    def __init__(self, renders: Sequence[Render], room: int | None = None) -> None:
        self.turns = Turns(len(renders), room=room)
        # The first ones are used as long as they suffice: each keeps the rows of boards that it has computed.
        self._free = list(enumerate(renders))
        heapify(self._free)

    @classmethod
    def through(cls, app: ASGIApp, processes: Sequence[RenderProcess], places: int, room: int | None = None) -> "Lane":
        """Return a lane that renders in separate processes, or in this one where there are none."""
        here = render_here(app)
        return cls([each.or_here(here) for each in processes] or [here] * places, room)

    @asynccontextmanager
    async def taken(self, turn: Turn) -> AsyncIterator[Render]:
        """Wait for a turn, and yield what renders the page. Raises Busy."""
        async with self.turns.taken(turn):
            number, render = heappop(self._free)
            try:
                yield render
            finally:
                heappush(self._free, (number, render))
