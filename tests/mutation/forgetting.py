"""Forgets what a process remembers of earlier calls, so that a mutant computes and is not answered from before it.

mutmut runs the tests once, unchanged, and forks that process for every mutant: what a cache or a store of known results
holds by then would hide the mutant. Called by `tests/conftest.py` where mutmut runs the tests.
"""

import gc
import sys
from functools import _lru_cache_wrapper

ROOMS = ("app.", "tests.")
STORES = "KNOWN"
"""The name under which modules keep what they know of earlier boards."""


def forget_everything() -> None:
    """Clear every cache of a function of the app or of the tests, and every store of known results."""
    for each in gc.get_objects():
        if isinstance(each, _lru_cache_wrapper) and str(each.__module__).startswith(ROOMS):
            each.cache_clear()
    forget_results()


def forget_results() -> None:
    """Clear the stores of known results, and the caches of the test modules: what one test leaves to the next."""
    for name, module in list(sys.modules.items()):
        if name.startswith("app.stats.") and hasattr(module, STORES):
            store = getattr(module, STORES)
            vars(store).clear()
            store.__init__()
        elif name.startswith("tests.") and name != "tests.fixtures":
            for each in list(vars(module).values()):
                if isinstance(each, _lru_cache_wrapper):
                    each.cache_clear()
