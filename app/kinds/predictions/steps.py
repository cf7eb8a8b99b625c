"""Steps of 1, 2 or 5 times a power of ten, in which numbers that rest on private labels are published.

Called by `.grain` and `.operating`. They divide one, so that a share of one stays one.
"""

import math


def nice_step(least: float) -> float:
    """Return the smallest step of 1, 2, 5 times a power of ten that is at least so large.

    >>> [nice_step(least) for least in (0.013, 0.02, 3.3, 0.6)]
    [0.02, 0.02, 5.0, 1.0]
    """
    if not math.isfinite(least) or least <= 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    factor = next((f for f in (1.0, 2.0, 5.0) if f * power >= least * (1.0 - 1e-9)), 10.0)
    return float(f"{factor * power:.0e}")


def in_steps(value: float, step: float, ends: int = 0) -> float:
    """Return the nearest multiple of a step; the one below for `ends` −1, the one above for 1.

    >>> in_steps(0.847, 0.02), in_steps(0.847, 0.02, -1), in_steps(0.841, 0.02, 1)
    (0.84, 0.84, 0.86)
    """
    if step <= 0.0:
        return value
    steps = value / step
    nearest = round(steps)
    if ends and abs(steps - nearest) > 1e-9:
        nearest = math.floor(steps) if ends < 0 else math.ceil(steps)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return round(nearest * step, decimals) + 0.0


def share_step(n_units: int) -> float:
    """Return the step of a share of so many units: at least half the largest standard error that it can have.

    >>> share_step(100)
    0.05
    """
    return nice_step(0.25 / math.sqrt(max(1, n_units)))
