"""Queues in which pages are rendered one at a time, so that no kind delays another. Used by `app.web.cache`."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.types import ASGIApp

from app.web.renderer import Render, RenderProcess, Turns, render_here

EXPLORED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+/(explore|matrix)(\.\w+)?")
PICTURED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+/(embed\.\w+|badge/.+)")
MOST_WAITING = 8
"""Most readers that wait for a board of their own; further ones are told to retry."""


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


@dataclass(frozen=True)
class Lane:
    """A queue that renders pages one at a time; at most `most_waiting` wait for it."""

    render: Render
    turns: Turns
    most_waiting: int | None = None

    @classmethod
    def through(cls, app: ASGIApp, process: RenderProcess | None, most_waiting: int | None = None) -> "Lane":
        """Return a lane that renders in a separate process, or in this one where there is none."""
        here = render_here(app)
        return cls(here if process is None else process.or_here(here), Turns(), most_waiting)

    @property
    def is_full(self) -> bool:
        """Say whether nobody else may wait."""
        return self.most_waiting is not None and self.turns.n_waiting >= self.most_waiting
