"""The largest number that is let in, of every kind of evidence, and its one wording in a refusal.

Called by the readers of `app.kinds`, by the form fields of `app.web` and by `app.values.table`. Beyond the limit no
score, time, count, weight or claim means anything; within it sums of fourth powers are finite, so no row can leave a
board without numbers.
"""

LARGEST = 1e50
BEYOND = f"larger in size than {LARGEST:g}, the most that a number may be here"


def is_storable(number: float) -> bool:
    """Say whether a number may be let in: finite, and no larger than LARGEST in size."""
    return -LARGEST <= number <= LARGEST
