"""What stands beside tests of two entrants: several tests at once, and how many examples one would need; pure."""

import math
from collections.abc import Sequence
from statistics import NormalDist

MOST_NEEDED = 10**12


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for being several, in their order. Source: Holm 1979."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def examples_needed(
    mean: float, deviation: float, level: float, power: float = 0.8, *, two_sided: bool = True
) -> int | None:
    """Return how many pairs would show a difference of this mean and deviation with this power; None for no difference.

    n = ((z_{1−α/2} + z_power) × deviation / mean)², for a one-sided test z_{1−α}. A difference that would need more
    than MOST_NEEDED is none that anyone could show. Source: Chow, Shao & Wang 2008, section 3.1.
    """
    normal = NormalDist()
    factor = normal.inv_cdf((1 + level) / 2 if two_sided else level) + normal.inv_cdf(power)
    if factor * deviation >= math.sqrt(MOST_NEEDED) * abs(mean):
        return None
    return math.ceil((factor * deviation / mean) ** 2)
