"""The largest number accepted, for every kind of evidence, and its wording in a refusal.

Called by the readers of `app.kinds`, by the form fields of `app.web` and by `app.values.table`. Beyond the limit no
score, time, count, weight or claim means anything; within it sums of fourth powers are finite, so no row can leave a
board without numbers.
"""

LARGEST = 1e50
BEYOND = f"larger in size than {LARGEST:g}, the most that a number may be here"


def is_storable(number: float) -> bool:
    """Say whether a number is accepted: finite, and at most LARGEST in absolute value."""
    return -LARGEST <= number <= LARGEST
