"""What a process does before anybody waits for it, such as importing: those for whom somebody waits go before it."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress

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
