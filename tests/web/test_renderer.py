"""Pages are rendered in a process apart, which may be slow to start, die or hang, and no reader goes without."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.config import Settings
from app.web.cached_answer import Ask, CachedAnswer
from app.web.renderer import Render, RenderProcess, render_here

pytestmark = [pytest.mark.heavy, pytest.mark.unmutated]


TRIES, PAUSE_S = 600, 0.05
PID = Ask("/pid", b"/pid", b"", wants_html=False)
STUCK = Ask("/stuck", b"/stuck", b"", wants_html=False)


async def tell_pid(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with the number of the process; one address never answers."""
    if scope["path"] == "/stuck":
        time.sleep(3600)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})


def make_app(_settings: Settings, _database_url: str) -> ASGIApp:
    """Return the app of the render process."""
    return tell_pid


@asynccontextmanager
async def rendering(within_s: float, *, forked: bool) -> AsyncIterator[Render]:
    """Start a render process; on the way out it is ended."""
    renderer = RenderProcess(make_app, Settings(), "", within_s=within_s, forked=forked)
    renderer.warm_up()
    try:
        yield renderer.or_here(render_here(tell_pid))
    finally:
        renderer.stop()


def pid_of(answer: CachedAnswer) -> int:
    """Return the number of the process that rendered."""
    return int(answer.body)


async def other_pid(render: Render, *known: int) -> int:
    """Render until another process than the known ones does."""
    for _ in range(TRIES):
        pid = pid_of(await render(PID))
        if pid not in known:
            return pid
        await asyncio.sleep(PAUSE_S)
    raise AssertionError("no other process renders")


def run(work: Callable[[Render], Awaitable[None]], within_s: float = 60.0, *, forked: bool = False) -> None:
    """Run a test with a render process."""

    async def main() -> None:
        async with rendering(within_s, forked=forked) as render:
            await work(render)

    asyncio.run(main())


def test_the_first_readers_do_not_wait_for_the_render_process() -> None:
    """Until it is warm their pages are rendered beside them, then apart."""

    async def work(render: Render) -> None:
        first = pid_of(await render(PID))
        then = await other_pid(render, os.getpid())

        assert first == os.getpid() != then

    run(work)


@pytest.mark.parametrize("forked", [False, True])
def test_a_render_process_that_dies_is_replaced(forked: bool) -> None:
    """The reader who met its death gets a page all the same, also where the first was forked from the web process."""

    async def work(render: Render) -> None:
        killed = await other_pid(render, os.getpid())
        os.kill(killed, signal.SIGKILL)
        meanwhile = pid_of(await render(PID))
        next_one = await other_pid(render, os.getpid(), killed)

        assert meanwhile == os.getpid()
        assert next_one not in (os.getpid(), killed)

    run(work, forked=forked)


def test_a_page_that_takes_too_long_is_given_up() -> None:
    """Its reader is answered 503, and the others' pages are made by a new process."""

    async def work(render: Render) -> None:
        hung = await other_pid(render, os.getpid())
        answer = await render(STUCK)
        next_one = await other_pid(render, os.getpid(), hung)

        assert answer.status == 503
        assert b"takes too long" in answer.body
        assert next_one != hung

    run(work, within_s=2.0)
