"""Whose values are far beyond those of all other owners: made up, or in another unit, more likely than that good.

It is asked of who is on a board, at each publication, so that neither the order of arrival nor who was withdrawn
decides. Owners count, by their best value of each unit, and of three or more the second: the entrants of one further
token hide nobody. It accuses nobody and takes no rank.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from app.boards.relatives import ByUnit
from app.manifest.model import Leaderboard, Manifest, Metric
from app.names import first_few, in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray, require_shape
from app.values.facts import FAR_BEYOND
from app.values.table import Table

FAR = 10.0
"""So many times better than the second best of other owners few honest ones are on many units."""
NEAREST = 0.01
"""As near to the end of a declared range, in shares of it, as counts."""
LEAST_OTHERS, LEAST_COMPARED = 2, 5
LEAST_FAR, LEAST_SHARE = 3, 0.25
"""A quarter: a geometric mean is decided by far fewer values than a mean."""
MOST_NAMED = 5


def with_far_beyond(board: Table, manifest: Manifest, spec: Leaderboard, by_unit: ByUnit) -> Table:
    """Return a board whose meta names who is far beyond all other owners, where anybody is, and a note on it.

    Of `meta.far_beyond` each has the first `metric` it is so in, and of how many compared units in how many.
    Source: none of its own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean, compute
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> manifest, few = benchmark(board), ByUnit(["Good", "Fair", "Poor"], {"error": np.array([[1e-6, 0.2, 0.3]] * 8)})
    >>> told = with_far_beyond(compute(manifest, board, rows()).leaderboard, manifest, board, few)
    >>> told.meta["far_beyond"]
    [{'entrant': 'Good', 'metric': 'error', 'n_far': 8, 'n_compared': 8}]
    """
    entrants, owners = by_unit.entrants, manifest.asked.facts.owners_of(by_unit.entrants)
    found: dict[str, dict[str, Any]] = {}
    # A coverage error is of a coverage, of which neither end is best.
    ranking = [name for name in spec.required_metrics() if name in by_unit.values and name in manifest.metrics]
    for name in dict.fromkeys(ranking):
        far = far_beyond(by_unit.values[name], owners, manifest.metrics[name], of_ratios=spec.compares_ratios())
        for at in np.flatnonzero(far.is_so()).tolist():
            counts = {"n_far": int(far.n_far[at]), "n_compared": int(far.n_compared[at])}
            found.setdefault(entrants[at], {"entrant": entrants[at], "metric": name, **counts})
    shown = {row["entrant"] for row in board.records()}
    named = [found[name] for name in sorted(found) if name in shown]
    if not named:
        return board
    each = first_few(named, MOST_NAMED, lambda one: _said(one, manifest))
    note = (
        f"{FAR:g} times better than other owners’ second best, or as many times nearer to the best that there is, or "
        f"at or below zero where theirs is above: {each}."
    )
    return replace(board, notes=(*board.notes, note), meta={**board.meta, FAR_BEYOND: named})


def _said(one: Mapping[str, Any], manifest: Manifest) -> str:
    title = manifest.metrics[one["metric"]].title or one["metric"]
    return f"{title} of {in_words(one['entrant'])} in {one['n_far']:,} of {one['n_compared']:,}"


class Far(NamedTuple):
    """Of how many compared units in how many an entrant is far beyond the others, each [n_entrants]."""

    n_far: IntArray
    n_compared: IntArray

    def is_so(self) -> BoolArray:
        """Say who is so on enough units, [n_entrants]."""
        needed = np.maximum(LEAST_FAR, LEAST_SHARE * self.n_compared)
        return np.asarray((self.n_compared >= LEAST_COMPARED) & (self.n_far >= needed))


def far_beyond(values: FloatArray, owners: Sequence[Hashable], metric: Metric, *, of_ratios: bool = False) -> Far:
    """Count the units on which each entrant is FAR times better than the second best other owner.

    `values` is [n_units, n_entrants] in the metric's unit, NaN for none, `owners` [n_entrants]. An owner counts by
    its best entrant on the unit; of fewer than three other owners the best one does. Compared is where two other
    entrants have a value, and where values are above zero, so that times is a measure, or maximized in a declared
    range. Of what is minimized zero is beyond any factor, where the second best is above it, and so is less where
    ratios decide (`of_ratios`) or the range begins at zero, elsewhere if it is as far below as FAR times the second
    best; but not of a metric that has a range below zero, or on which the second best is below it anywhere. Of what
    is maximized in a declared range, so many times nearer to its end is as far, a hundredth of the range being as
    near as counts.
    Raises InvalidArgument for values without two axes.
    Source: none; it divides.

    >>> values = np.array([[1e-46, 0.2, 0.3], [0.1, 0.2, 0.3], [-0.1, 0.2, 0.3]])
    >>> far = far_beyond(values, ["ann", "bob", "cy"], Metric(direction="minimize"), of_ratios=True)
    >>> far.n_far.tolist(), far.n_compared.tolist()
    ([2, 0, 0], [3, 2, 2])
    """
    require_shape("values", values, "n_units", "n_entrants")
    is_error = metric.direction == "minimize"
    has_end = not is_error and metric.min is not None and metric.max is not None
    own = np.where(np.isfinite(values) & (is_error | has_end | (values > 0.0)), values, np.nan)
    second = _second_of_others(own if is_error else -own, owners) * (1.0 if is_error else -1.0)
    n_others = np.isfinite(own).sum(axis=1, keepdims=True) - np.isfinite(own)
    is_compared = np.isfinite(own) & (np.isfinite(second) if has_end else second > 0.0) & (n_others >= LEAST_OTHERS)
    with np.errstate(all="ignore"):
        if is_error:
            is_signed = (second < 0.0).any(axis=0) | (metric.min is not None and metric.min < 0.0)
            is_compared &= (own > 0.0) | ~is_signed
            least = 0.0 if of_ratios or metric.min is not None else (1.0 - FAR) * second
            is_far = (own == 0.0) | ((own < 0.0) & (own <= least)) | ((own > 0.0) & (second / own >= FAR))
        else:
            is_far = (second > 0.0) & (own / second >= FAR)
            if metric.min is not None and metric.max is not None:
                nearest = np.maximum(metric.max - own, NEAREST * (metric.max - metric.min))
                is_far |= (metric.max - second) / nearest >= FAR
    return Far((is_compared & is_far).sum(axis=0), is_compared.sum(axis=0))


def _second_of_others(values: FloatArray, owners: Sequence[Hashable]) -> FloatArray:
    """Return the second least of the other owners' least values, of fewer than three the least, [n_units, n_entrants].

    `values` [n_units, n_entrants] are smaller-is-better; NaN where no other owner has one.
    """
    number: dict[Hashable, int] = {}
    owner = np.array([number.setdefault(each, len(number)) for each in owners], dtype=np.int64)
    order = np.argsort(owner, kind="stable")
    if not len(order):
        return values
    starts = np.searchsorted(owner[order], np.arange(len(number)))
    least = np.fmin.reduceat(values[:, order], starts, axis=1)
    least = np.pad(least, ((0, 0), (0, 4)), constant_values=np.nan)
    # NaN is last. Of four one may be one's own, so three of others are among them.
    places = np.argpartition(least, (0, 1, 2, 3), axis=1)[:, :4]
    first, second, third, fourth = np.take_along_axis(least, places, axis=1).T[:, :, None]
    is_first, is_second, is_third = (places[:, at, None] == owner for at in (0, 1, 2))
    best = np.where(is_first, second, first)
    next_best = np.where(is_first | is_second, third, second)
    is_one_of_three = ~np.isnan(np.where(is_first | is_second | is_third, fourth, third))
    return np.asarray(np.where(is_one_of_three, next_best, best))
