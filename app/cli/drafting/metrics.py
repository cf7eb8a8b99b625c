"""Guesses a metric from a column of numbers: its name in a manifest, which way is better, its range and unit.

Called by `app.cli.drafting.draft`; pure. A direction comes from the words of the name alone: the numbers
cannot say it.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from app.cli.drafting import words
from app.cli.drafting.sheet import SheetColumn

SHARE, PERCENT, SIGNED = (0.0, 1.0), (0.0, 100.0), (-1.0, 1.0)


@dataclass(frozen=True)
class MetricGuess:
    """A metric as it would be declared; `direction` is None where the name does not say it, `why` is of the range."""

    name: str
    column: str
    direction: str | None
    low: float | None
    high: float | None
    unit: str | None
    observed: tuple[float, float]
    why: str


def guess_metric(column: SheetColumn, taken: Collection[str], direction: str | None = None) -> MetricGuess:
    """Return what can be guessed of a metric from the name of its column and from its numbers."""
    spoken = words.tokens(column.name)
    ends = (column.finite.min(), column.finite.max()) if len(column.finite) else (0.0, 1.0)
    observed = (0.0, 1.0) if column.is_flag else (float(ends[0]), float(ends[1]))
    low, high, why = _range(column, spoken, observed)
    return MetricGuess(
        name=metric_name(column.name, taken),
        column=column.name,
        direction=direction or _direction(spoken),
        low=low,
        high=high,
        unit=next((words.UNITS[word] for word in reversed(spoken) if word in words.UNITS), None),
        observed=observed,
        why=why,
    )


def metric_name(column: str, taken: Collection[str] = ()) -> str:
    """Return a name that a metric may have, close to its column's.

    >>> metric_name("exact_match,strict-match"), metric_name("exact_match,none"), metric_name("95th latency (ms)")
    ('exact_match.strict-match', 'exact_match', 'm95th_latency_ms')
    """
    name = re.sub(r",(none|main)$", "", column).replace(",", ".")
    name = re.sub(r"[^A-Za-z0-9_.@=-]+", "_", name).strip("_.") or "metric"
    name = (name if name[0].isascii() and name[0].isalpha() else f"m{name}")[:60]
    at, free = 2, name
    while free in taken:
        free, at = f"{name}_{at}", at + 1
    return free


def _direction(spoken: list[str]) -> str | None:
    """Return the direction that the words of a name say; the last one decides: an accuracy loss is a loss."""
    for word in reversed(spoken):
        if word in words.MINIMIZE:
            return "minimize"
        if word in words.MAXIMIZE:
            return "maximize"
    return None


def _range(
    column: SheetColumn, spoken: list[str], observed: tuple[float, float]
) -> tuple[float | None, float | None, str]:
    low, high = observed
    named = set(spoken)
    if column.is_flag or (column.is_whole and {low, high} <= {0.0, 1.0}):
        return *SHARE, "every value is 0 or 1"
    if low >= -1.0 and high <= 1.0 and low < 0.0:
        return *SIGNED, "values lie within -1 and 1, and some are negative"
    if low >= 0.0 and high <= 1.0 and (named & words.SHARE or not named & words.MINIMIZE):
        return *SHARE, "values lie within 0 and 1"
    if low >= 0.0 and 1.0 < high <= 100.0 and named & {"percent", "pct", "%", *words.SHARE}:
        return *PERCENT, "values lie within 0 and 100: a percentage?"
    if low >= 0.0:
        return 0.0, None, "no value is negative"
    return None, None, "any number"
