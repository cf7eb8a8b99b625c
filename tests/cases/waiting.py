"""Waiting until something is so, within a time."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], within_s: float = 20.0) -> bool:
    """Say whether the condition comes true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
