"""Finds the submissions whose evidence alone makes a computation fail, by halving, in few attempts.

Called by `app.jobs.boards` for one board and by `app.jobs.publish` for a whole publication; pure.
"""

from collections.abc import Callable, Sequence
from enum import Enum

MOST_ATTEMPTS = 256
"""Each level of halving computes everybody once, so this many cost about as much as a few whole computations."""


class Outcome(Enum):
    """The outcome of a computation of some submissions; NOTHING means that it succeeded with nothing to show."""

    COMPUTED = "computed"
    NOTHING = "nothing"
    FAILED = "failed"


Attempt = Callable[[frozenset[int]], Outcome]
"""Computes some submissions alone, beside only what the manifest requires."""


def find_culprits(newest_first: Sequence[int], attempt: Attempt) -> frozenset[int]:
    """Return the submissions that fail alone, as far as they are found within the attempts; all together failed.

    Those that fail only beside others are nobody's fault. If everybody fails, or what the manifest requires fails
    without them, the fault is the computation's.
    """
    if not newest_first or attempt(frozenset()) is Outcome.FAILED:
        return frozenset()
    n_attempts, culprits, failed = 1, set[int](), [list(newest_first)]
    while failed and n_attempts < MOST_ATTEMPTS:
        group = failed.pop()
        if len(group) == 1:
            culprits.add(group[0])
            continue
        middle = len(group) // 2
        # The newest half is looked into first: there the cause nearly always is.
        for half in (group[middle:], group[:middle]):
            n_attempts += 1
            outcome = attempt(frozenset(half))
            # One whose gaps prevent a computation may hide another who breaks it.
            if outcome is Outcome.FAILED or (outcome is Outcome.NOTHING and len(half) > 1):
                failed.append(half)
    return frozenset() if len(culprits) == len(newest_first) else frozenset(culprits)
