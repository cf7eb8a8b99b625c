"""When to come again: after a failure, we and whoever we refuse, and while a submission is under way."""

import random
from collections.abc import Iterator
from itertools import count

RETRY_AFTER_S = 5
"""What an answer says to whoever is to come again, seconds (`Retry-After`)."""


def pause_s(n_failures: int, *, first_s: float, longest_s: float) -> float:
    """Return how long to wait after so many failures in a row: each time about twice as long as before, up to a limit.

    Up to a third shorter by chance, so that many who lost one server do not come back at the same moment.
    """
    longest = min(longest_s, first_s * 2.0 ** min(max(n_failures, 1) - 1, 60))
    return longest * random.uniform(2 / 3, 1)  # noqa: S311 - no secret


# Until a submission is judged.

UNDER_WAY = ("received", "evaluated")
"""The states from which a submission goes on by itself."""

FIRST_LOOK_S, LONGEST_LOOK_S = 0.2, 2.0


def pauses(timeout_s: float | None = None) -> Iterator[float]:
    """Yield how long to wait before looking again. Raises TimeoutError when the time is over."""
    waited_s = 0.0
    for n_looks in count(1):
        if timeout_s is not None and waited_s >= timeout_s:
            raise TimeoutError(f"the submission was not judged within {timeout_s:g} s")
        yield (wait_s := pause_s(n_looks, first_s=FIRST_LOOK_S, longest_s=LONGEST_LOOK_S))
        waited_s += wait_s
