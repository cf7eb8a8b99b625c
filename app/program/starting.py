"""How a program starts so that its readers do not wait for it: without a garbage collector, and behind whoever waits.

An import leaves hundreds of thousands of objects and no garbage.
"""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

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


NICENESS = 10
"""A tenth of the time of a processor that somebody else wants, and all of one that nobody does."""


def quietly(work: Callable[[], object]) -> None:
    """Do some work in a thread of low priority, and return when it is done; a process could not take its own back.

    A web process that was just started has its first readers at the very time at which four processes beside it import
    and compile for seconds; on two processors all of them waited.
    """
    failures = list[BaseException]()

    def run() -> None:
        with suppress(OSError, AttributeError):  # where the system has no priority for a thread
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, name="quietly")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
