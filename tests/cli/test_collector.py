"""What a web process started with is out of the way of its garbage collector, which everybody waits for."""

import asyncio
import gc

import pytest
import uvicorn

from app.cli.web import WebServer
from app.web.front import OuterMiddleware

N_IMPORTED = 100_000


async def silent(_scope: object, _receive: object, _send: object) -> None:
    """Answer nothing."""


async def started_and_stopped() -> int:
    """Start a server, and return how many objects further collections leave out."""
    config = uvicorn.Config(OuterMiddleware(silent), port=0, lifespan="off", log_config=None)
    config.load()
    server = WebServer(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    n_spared = gc.get_freeze_count()
    await server.shutdown()
    return n_spared


@pytest.mark.heavy
def test_a_collection_leaves_out_what_was_imported() -> None:
    """Looking at all of it was seen to take a second of a busy machine."""
    try:
        assert asyncio.run(started_and_stopped()) > N_IMPORTED
    finally:
        gc.unfreeze()
