"""Renders pages for the cache: in a process of its own, so that no reader of a kept page waits for a render.

An app that is made without a `RenderProcess` renders beside its readers.
"""

import asyncio
import logging
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager, suppress
from heapq import heapify, heappop, heappush
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message

from app.boards.example import benchmark, rows
from app.boards.methods.mean import Mean
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.mean_win_rate import MeanWinRate
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.config import Settings
from app.manifest.model import Leaderboard
from app.program.starting import NOT_COLLECTED, resume
from app.turns import Turn, Turns
from app.web.cached_answer import Ask, CachedAnswer, gather
from app.web.problems import problem
from plumbline.retries import RETRY_AFTER_S

logger = logging.getLogger(__name__)

NICENESS = 2

LONGEST_S = 60.0


TOO_SLOW, TOO_MANY = (
    problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, RETRY_AFTER_S)
    for detail in (
        "This page takes too long to render at the moment. Try again soon.",
        "Too many boards are being computed for readers. Try again in a few seconds.",
    )
)

Render = Callable[[Ask], Awaitable[CachedAnswer]]


async def _nothing_to_receive() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def collect(app: ASGIApp, ask: Ask) -> list[Message]:
    """Return what the app sends in answer."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    try:
        await app(ask.scope(), _nothing_to_receive, send)
    except Exception:
        # The framework raises what it has logged and answered already.
        if not messages:
            raise
    return messages


def render_here(app: ASGIApp) -> Render:
    """Return a renderer in this process."""

    async def render(ask: Ask) -> CachedAnswer:
        return await run_in_threadpool(gather, await collect(app, ask))

    return render


class RenderProcess:
    """One process that renders, warm and at a lower priority than the web process; started anew when it dies.

    Until it has begun, which takes seconds where it imports everything, pages are rendered beside their readers. A
    `forked` one shares what this process has imported; its successor does not, for then there are threads and a loop.
    `prepare` is what it does then, before somebody waits.
    """

    def __init__(
        self,
        make_app: Callable[[Settings, str], ASGIApp],
        settings: Settings,
        database_url: str,
        *,
        within_s: float = LONGEST_S,
        forked: bool = False,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        self._arguments = (make_app, settings, database_url)
        self._within_s, self._prepare = within_s, prepare
        self._pool = self._fork() if forked else self._make_pool()
        self._has_begun, self._is_warm, self._is_stopped = forked, False, False

    def _fork(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), initializer=_begin, initargs=self._arguments)
        pool.submit(os.getpid)
        return pool

    def _make_pool(self) -> ProcessPoolExecutor:
        # Forked from one process that only imports the app: a second import would take as long again.
        forked = multiprocessing.get_context("forkserver")
        forked.set_forkserver_preload([NOT_COLLECTED, self._arguments[0].__module__])
        return ProcessPoolExecutor(1, forked, initializer=_begin, initargs=self._arguments)

    def warm_up(self) -> threading.Thread:
        """Start the process before somebody waits for it, in a thread of its own, which ends when it is prepared."""
        warming = threading.Thread(target=self._warm_up, daemon=True)
        warming.start()
        return warming

    def _warm_up(self) -> None:
        with suppress(BrokenProcessPool):
            self._pool.submit(os.getpid).result()
            self._has_begun = self._is_warm = True
            if self._prepare is not None:
                # Whoever asks meanwhile waits for it, as they would have for its parts.
                self._pool.submit(self._prepare).result()
        if self._is_stopped:
            self._end()

    def or_here(self, here: Render) -> Render:
        """Return a renderer that uses the process when it is warm, and `here` before that or when it dies."""

        async def render(ask: Ask) -> CachedAnswer:
            if not self._is_warm:
                return await here(ask)
            try:
                return await self._render_apart(ask)
            except BrokenProcessPool:
                logger.warning("the render process ended; starting another one")
                self._start_again()
                return await here(ask)

        return render

    async def _render_apart(self, ask: Ask) -> CachedAnswer:
        """Return the answer of the process; one that takes longer than a page may is ended, and 503 the answer."""
        asked = asyncio.get_running_loop().run_in_executor(self._pool, _render, ask)
        try:
            return await asyncio.wait_for(asked, self._within_s)
        except TimeoutError:
            logger.warning("%s was not rendered within %g s", ask.path, self._within_s)
            self._start_again()
            return TOO_SLOW

    def _start_again(self) -> None:
        self._end()
        self._pool, self._has_begun, self._is_warm = self._make_pool(), False, False
        self.warm_up()

    def stop(self) -> None:
        """End the process without waiting for a render in hand, nor for a process that is still being started."""
        self._is_stopped = True
        if self._has_begun:
            self._end()

    def _end(self) -> None:
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


class _Rendering:
    """The app of a render process and the loop that it runs on."""

    app: ASGIApp
    runner: asyncio.Runner


def _begin(make_app: Callable[[Settings, str], ASGIApp], settings: Settings, database_url: str) -> None:
    """Prepare this process: it leaves Ctrl-C to the web process, and ends with it however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _Rendering.app = make_app(settings, database_url)
    resume()
    _Rendering.runner = asyncio.Runner()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def first_page() -> None:
    """Render the front page in a render process: its templates are then compiled, and its database connected."""
    _render(Ask("/", b"/", b"", wants_html=True))


def _render(ask: Ask) -> CachedAnswer:
    return gather(_Rendering.runner.run(collect(_Rendering.app, ask)))


# Queues in which pages are rendered, a few at a time, so that no kind delays another.

EXPLORED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+/(explore|matrix|items)(\.\w+)?")

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


class RenderQueue:
    """A queue that renders pages, as many at a time as it has places; at most `room` wait for it."""

    def __init__(self, renders: Sequence[Render], room: int | None = None) -> None:
        self.turns = Turns(len(renders), room=room)
        # The first ones are used as long as they suffice: each keeps the rows of boards that it has computed.
        self._free = list(enumerate(renders))
        heapify(self._free)

    @classmethod
    def through(
        cls, app: ASGIApp, processes: Sequence[RenderProcess], places: int, room: int | None = None
    ) -> "RenderQueue":
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


# What a process that computes boards for readers does before the first one asks. The compiler of loops is imported, and
# the machine code of them loaded, on first use (`app.stats.compiled`), which takes seconds of a core. The second of two
# processes is first used while somebody keeps the other one busy, so whoever came then waited for it.

FIRST_BOARDS: tuple[Leaderboard, ...] = (
    Mean(name="mean", method="mean", metric="error"),
    MeanRank(name="rank", method="mean_rank", metric="error"),
    MeanWinRate(name="wins", method="mean_win_rate", metric="error"),
    SkillScore(name="skill", method="skill_score", metric="error", baseline="Poor"),
)
"""Together they use the loops of the boards that are computed from scores."""


def prepare() -> None:
    """Compute a few boards of three entrants on three tasks."""
    for board in FIRST_BOARDS:
        compute_board(benchmark(board), board, rows())
