"""The nearest other of each row: who has the most alike values on the same tasks, and by how much the two differ.

A copy of another entrant with a little noise is shown beside whom it is a copy of, and so is a model made from another:
both may be legitimate, so nobody is accused. Each metric that ranks is compared by itself, since one changed column
would hide a copy of all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from app.boards.methods.weighted_rank.records import source_metric
from app.manifest.model import Leaderboard
from app.stats.arrays import BoolArray, FloatArray, IntArray, require_shape
from app.values.fingerprints import place_hashes
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table, finite

LEAST_COMMON = 8
"""Fewer values agree by chance, as in the forensics of nearly equal rows."""
LEAST_SHARE = 0.5
"""Of an entrant's values, this share must be in common with the other one, and differ from each other: scores such as
0/1 agree by chance.
"""
NEARLY_ALL = 0.9
"""From this share of positive values on, values are compared by their ratios. Not all: one cell decides nothing."""
MOST_STEPS = 50_000_000
"""Compared pairs times units: beyond, units are a sample."""
MOST_CELLS = 5_000_000
"""Entrants times units, where entrants are not compared in pairs: beyond, units are a sample."""
ALL_PAIRS = 600
"""Up to this many entrants all pairs are compared; beyond, those that are beside each other in some order."""
N_ORDERS, BESIDE = 24, 5
"""A copy of half of another's values is beside it in none of so many orders once in a thousand times."""
OF_NORMAL = 1.482602218505602
"""The standard deviation of a normal distribution over its median absolute deviation."""

COLUMNS = (
    Column("nearest", "Nearest other", "text", optional=True, glossary="nearest"),
    Column("nearest_spread", "Spread to it", optional=True, glossary="nearest", digits=4),
)


class Nearest(NamedTuple):
    """The position of each entrant's nearest other, −1 for none, and the spread of their differences, each [n]."""

    at: IntArray
    spread: FloatArray


class ByUnit(NamedTuple):
    """Each metric that ranks, [n_units, n_entrants], NaN for none; a unit is a task, or a record of one.

    Units are in the order of hashes, so that the first are a random sample.
    """

    entrants: Sequence[str]
    values: Mapping[str, FloatArray]


def with_nearest(board: Table, by_unit: ByUnit | None) -> Table:
    """Return a board with the columns `nearest` and `nearest_spread`, empty without rows to compare, None.

    The spread is that of `nearest_others`, over the rows of one metric; of several that rank it is the least one. Where
    `meta.nearest.scale` is `log` a spread of 0.01 is one of a hundredth of a value; otherwise it has the metric's unit.
    Source: none of its own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean, compute
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> with_nearest(compute(benchmark(board), board, rows()).leaderboard, by_unit(board, rows())).rows[0][-2:]
    (None, None)
    """
    found, names = (None, ()) if by_unit is None else (_least(_few(by_unit)), by_unit.entrants)
    place = {name: at for at, name in enumerate(names)}

    def cells(entrant: Cell) -> tuple[Cell, Cell]:
        if found is None or entrant not in place or found.nearest.at[place[str(entrant)]] < 0:
            return None, None
        at = place[str(entrant)]
        return names[int(found.nearest.at[at])], finite(float(found.nearest.spread[at]))

    at = board.index("entrant")
    meta = {} if found is None else {"nearest": {"scale": found.scale, "metrics": list(found.metrics)}}
    rows = tuple((*row, *cells(row[at])) for row in board.rows)
    return replace(board, columns=(*board.columns, *COLUMNS), rows=rows, meta={**board.meta, **meta})


def _few(by_unit: ByUnit) -> Mapping[str, FloatArray]:
    most = _most_in_pairs(len(by_unit.entrants))
    return {metric: values[:most] for metric, values in by_unit.values.items()}


def _most_in_pairs(n_entrants: int) -> int:
    return max(LEAST_COMMON, MOST_STEPS // max(1, n_entrants * min(n_entrants, ALL_PAIRS)))


class _Found(NamedTuple):
    nearest: Nearest
    scale: str
    metrics: tuple[str, ...]


def _least(by_metric: Mapping[str, FloatArray]) -> _Found | None:
    """Compare the entrants by each metric that ranks and keep each one's least spread; None without any.

    Ratios and differences have no common unit, so where some metrics have ratios the others do not count.
    """
    by_scale: dict[str, dict[str, Nearest]] = {}
    for metric, values in by_metric.items():
        known = values[np.isfinite(values)]
        is_positive = len(known) > 0 and (known > 0.0).mean() >= NEARLY_ALL
        compared = np.log(np.where(values > 0.0, values, np.nan)) if is_positive else values
        by_scale.setdefault("log" if is_positive else "difference", {})[metric] = nearest_others(compared)
    scale = "log" if "log" in by_scale else "difference"
    if not (each := by_scale.get(scale)):
        return None
    spreads = np.array([np.where(one.at >= 0, one.spread, np.inf) for one in each.values()])
    least, place = spreads.argmin(axis=0), np.arange(spreads.shape[1])
    at = np.array([one.at for one in each.values()])[least, place]
    return _Found(Nearest(at, spreads[least, place]), scale, tuple(each))


def by_unit(spec: Leaderboard, scores: ScoreTable) -> ByUnit:
    """Return each metric that ranks a board by unit and entrant; of many units a sample.

    Source: none; it arranges.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> sorted(by_unit(Mean(name="main", method="mean", metric="error"), rows()).values["error"][:, 0].tolist())
    [0.1, 0.2, 0.3]
    """
    tasks = spec.ranked_tasks()
    if tasks is not None:
        is_on = np.isin(np.array(scores.task.words, dtype=np.str_), list(tasks))
        scores = scores.take(np.flatnonzero(is_on[scores.task.codes]))
    n_entrants = len(scores.entrant.words)
    most = max(_most_in_pairs(n_entrants), MOST_CELLS // max(1, n_entrants))
    metrics = [name for name in dict.fromkeys(map(source_metric, spec.required_metrics())) if name in scores.columns]
    units, unit = np.unique(place_hashes(scores), return_inverse=True)
    kept, n_units = np.flatnonzero(unit < most), min(len(units), most)
    values = {}
    for metric in metrics:
        square = np.full((n_units, n_entrants), np.nan)
        square[unit[kept], scores.entrant.codes[kept]] = scores.value(metric)[kept]
        values[metric] = square
    return ByUnit(scores.entrant.words, values)


def nearest_others(values: FloatArray) -> Nearest:
    """Return for each entrant the other one from whom its values differ most evenly, and the spread, each [n_entrants].

    `values` is [n_units, n_entrants], NaN for none. The spread is the median absolute deviation of the differences on
    common units from their median, as that of a normal distribution would be a standard deviation: it is 0 for a copy
    that is shifted, and nearly half of the units may differ by anything. There is no nearest, −1 and infinity, with
    fewer than LEAST_COMMON common units, or where values mostly repeat.
    Among more than ALL_PAIRS entrants it is looked for among those that are near on a few units.
    Raises InvalidArgument for values without two axes.
    Source: Hampel 1974, The influence curve; `scipy.stats.median_abs_deviation`.

    >>> rng = np.random.default_rng(1)
    >>> own, other = rng.normal(size=(2, 20))
    >>> found = nearest_others(np.stack([own, other, own + 3.0 + 0.01 * rng.normal(size=20)], axis=1))
    >>> found.at.tolist(), bool(found.spread[0] < 0.02)
    ([2, 2, 0], True)
    """
    require_shape("values", values, "n_units", "n_entrants")
    rows = np.ascontiguousarray(values.T, dtype=np.float64)
    rows[~np.isfinite(rows)] = np.nan
    n_known = np.isfinite(rows).sum(axis=1)
    is_compared = _mostly_differ(rows, n_known) & (n_known >= LEAST_COMMON)
    least = np.maximum(LEAST_COMMON, np.ceil(LEAST_SHARE * n_known)).astype(np.int64)
    at, spread = np.full(len(rows), -1, dtype=np.int64), np.full(len(rows), np.inf)

    among = _candidates(rows)
    for own in np.flatnonzero(is_compared).tolist():
        others = np.flatnonzero(is_compared) if among is None else np.unique(among[own][is_compared[among[own]]])
        others = others[others != own]
        apart = rows[others] - rows[own]
        n_common = np.isfinite(apart).sum(axis=1)
        apart -= _medians(apart, n_common)[:, None]
        spreads = np.where(n_common >= least[own], _medians(np.abs(apart, out=apart), n_common), np.inf)
        if len(others) and spreads.min() < np.inf:
            at[own], spread[own] = others[spreads.argmin()], spreads.min()
    return Nearest(at, OF_NORMAL * spread)


def _mostly_differ(rows: FloatArray, n_known: IntArray) -> BoolArray:
    """Say whose known values are mostly different ones, [n_entrants]."""
    ordered = np.sort(rows, axis=1)
    # A NaN is last and equals nothing.
    n_distinct = (ordered[:, 1:] > ordered[:, :-1]).sum(axis=1) + (n_known > 0)
    return np.asarray(n_distinct >= LEAST_SHARE * n_known)


def _medians(rows: FloatArray, n_known: IntArray) -> FloatArray:
    """Sort rows in place, NaN last, and return the medians of what is known, [n_rows]; NaN without any."""
    rows.sort(axis=1)
    n, each = np.maximum(n_known, 1), np.arange(len(rows))
    return np.asarray(0.5 * (rows[each, (n - 1) // 2] + rows[each, n // 2]))


def _candidates(rows: FloatArray) -> IntArray | None:
    """Return whom to compare each entrant with, [n_entrants, n_candidates]; None for everybody.

    The difference of two of its values does not change where all values are shifted. Who is nearest has that of an
    entrant on at least a quarter of the pairs of units, so it is beside the entrant in the order of one of them.
    """
    n_entrants, n_units = rows.shape
    if n_entrants <= ALL_PAIRS:
        return None
    turns = [(at % n_units, (at + 1 + at // n_units) % n_units) for at in range(N_ORDERS)]
    reach = [step for step in range(-BESIDE, BESIDE + 1) if step]
    found = []
    for a, b in turns:
        order = np.argsort(rows[:, a] - rows[:, b], kind="stable")
        place = np.empty(n_entrants, dtype=np.int64)
        place[order] = np.arange(n_entrants)
        found += [order[np.clip(place + step, 0, n_entrants - 1)] for step in reach]
    return np.stack(found, axis=1)
