"""Forgets what a process remembers of earlier calls, so that a mutant computes and is not answered from before it.

mutmut runs the tests once, unchanged, and forks that process for every mutant: what a cache holds by then would hide
the mutant. Called by `tests/conftest.py` where mutmut runs the tests.
"""

import gc
import sys
from functools import _lru_cache_wrapper

from app.cache import COMPUTED, Cache
from app.reading import fork_server

ROOMS = ("app.", "tests.")


def forget_everything() -> None:
    """Clear every cache of a function of the app or of the tests, frozen or not, and those with a limit in bytes."""
    gc.unfreeze()
    for each in gc.get_objects():
        # Not isinstance, which asks what a dead proxy stands for.
        if type(each) is _lru_cache_wrapper and str(each.__module__).startswith(ROOMS):
            each.cache_clear()
        elif type(each) is Cache:
            each.clear()
    forget_results()


def forget_results() -> None:
    """Clear the process's cache, and the caches of the test modules: what one test leaves to the next.

    But for the process that reads, which would live on beside its successors.
    """
    COMPUTED.clear()
    # A copy in one step: other threads import while a list is being made of what it holds.
    for name, module in sys.modules.copy().items():
        if name.startswith("tests.") and name != "tests.fixtures":
            for each in list(vars(module).values()):
                if isinstance(each, _lru_cache_wrapper) and each is not fork_server:
                    each.cache_clear()
