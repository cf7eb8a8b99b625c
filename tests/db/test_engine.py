"""An engine that is done with leaves no connection open."""

import asyncio
import threading

from app.db.engine import dispose_unused, make_engine


def test_a_connection_that_a_thread_still_has_is_closed_too(database_url: str) -> None:
    """Whoever ends the process waits until the last thread gave its connection back."""
    engine = make_engine(database_url, pool_size=1)
    connection = engine.connect()
    driver = connection.connection.driver_connection
    assert driver is not None

    async def end() -> None:
        asyncio.get_running_loop().call_later(0.05, threading.Thread(target=connection.close).start)
        await dispose_unused(engine)

    asyncio.run(end())

    assert driver.closed
