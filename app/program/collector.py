"""The garbage collector while a program starts: an import leaves hundreds of thousands of objects and no garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# By name: whoever imported it here would stop the collector here.
NOT_COLLECTED = "app.program.no_collector"


@contextmanager
def paused() -> Iterator[None]:
    """Import or build without collections, which took a third of a web process's start.

    What is there at the end stays, so no later collection looks at it.
    """
    gc.disable()
    try:
        yield
    finally:
        resume()


def resume() -> None:
    """Collect again in a process that was forked from one which imported `app.program.no_collector`."""
    gc.freeze()
    gc.enable()
