"""When what has failed is tried again, by us and by whoever we refuse."""

import random

RETRY_AFTER_S = 5
"""What an answer says to whoever is to come again, seconds (`Retry-After`)."""


def pause_s(n_failures: int, *, first_s: float, longest_s: float) -> float:
    """Return how long to wait after so many failures in a row: each time about twice as long as before, up to a limit.

    Up to a third shorter by chance, so that many who lost one server do not come back at the same moment.
    """
    longest = min(longest_s, first_s * 2.0 ** min(max(n_failures, 1) - 1, 60))
    return longest * random.uniform(2 / 3, 1)  # noqa: S311 - no secret
