"""Finds the submissions that make a computation fail, by repeating it without them, in few attempts.

Called by `app.jobs.boards` for one board and by `app.jobs.publish` for a whole publication; pure.
"""

from collections.abc import Callable, Sequence
from enum import Enum

MOST_ALONE = 5
MOST_CULPRITS = 8


class Outcome(Enum):
    """The outcome of a computation without some submissions; NOTHING means that it succeeded with nothing to show."""

    COMPUTED = "computed"
    NOTHING = "nothing"
    FAILED = "failed"


Attempt = Callable[[frozenset[int]], Outcome]


def find_culprits(newest_first: Sequence[int], attempt: Attempt) -> frozenset[int]:
    """Return submissions without which `attempt` succeeds; an empty set if there are none.

    The newest are tried one by one first, since the latest arrival is nearly always the cause. Otherwise a binary
    search finds the shortest run of newest ones to leave out; its oldest is a culprit, and the search restarts without
    it.
    """
    for number in newest_first[:MOST_ALONE]:
        if attempt(frozenset({number})) is Outcome.COMPUTED:
            return frozenset({number})
    culprits: frozenset[int] = frozenset()
    while len(culprits) < min(MOST_CULPRITS, len(newest_first)):
        culprits |= {_next_culprit(culprits, [n for n in newest_first if n not in culprits], attempt)}
        outcome = attempt(culprits)
        if outcome is not Outcome.FAILED:
            return culprits if outcome is Outcome.COMPUTED else frozenset()
    return frozenset()


def _next_culprit(culprits: frozenset[int], rest: Sequence[int], attempt: Attempt) -> int:
    """Return the oldest of the shortest run of newest submissions without which it does not fail."""
    low, high = 1, len(rest)
    while low < high:
        middle = (low + high) // 2
        if attempt(culprits | set(rest[:middle])) is Outcome.FAILED:
            low = middle + 1
        else:
            high = middle
    return rest[low - 1]
