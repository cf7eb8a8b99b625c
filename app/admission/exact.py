"""Values that are exactly the best possible, and single ones that dominate an average: flagged, never refused.

Called by `app.kinds.reader` in the process that reads; pure. A forecast that hits every value, or labels that were
copied, look like the first, and so does an item that is too easy; a slip of a decimal point looks like the second.
"""

from collections.abc import Iterator

import numpy as np

from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray, FloatArray
from app.values.forensics import EXACT_BEST, ONE_VALUE, Finding
from app.values.scores import Coded, ScoreTable

MIN_ALL = 8
"""Fewer successes in a row are plausible by chance."""
LEAST, AS_GOOD_AS = 1e-100, 1e-12
"""Distances from the best end that count as zero: absolute, and relative to the entrant's median absolute value."""
MIN_ROWS, NEARLY_ALL = 5, 0.9
"""Of five exponential values one is nine tenths of the sum in 5 of 10,000 cases; with fewer it is common."""


def exactly_best(manifest: Manifest, scores: ScoreTable) -> Iterator[Finding]:
    """Yield entrants with values of a ranking metric that equal the best end of its declared range.

    An error (smaller is better) that alone ranks a board is flagged from a single value on, since a measured error of
    zero hardly occurs; if other metrics rank with it, from half of the values on, since a drift under noise that an
    estimator ignores is zero. Discrete scores, such as 0/1, and metrics where larger is better are flagged only if all
    values are the best possible and the metric alone ranks a board: that every run was valid is not suspicious.
    """
    needed = [board.required_metrics() for board in manifest.leaderboards]
    for metric in dict.fromkeys(name for names in needed for name in names):
        declared = manifest.metrics.get(metric)
        if declared is None or declared.best is None or metric not in scores.columns:
            continue
        values = scores.value(metric)
        at_best = abs(values - declared.best) <= _nothing(scores.entrant, values)
        at_worst = values == declared.worst
        counts = [_counted(scores.entrant, rows) for rows in (~np.isnan(values), at_best, at_best | at_worst)]
        for entrant, n_rows, n_exact, n_ends in zip(scores.entrant.words, *counts, strict=True):
            in_steps = declared.worst is not None and n_ends == n_rows
            is_error = declared.direction == "minimize" and not in_steps
            share = _least_share(is_alone=(metric,) in needed, is_error=is_error)
            if n_exact and n_exact >= share * n_rows and (is_error or n_rows >= MIN_ALL):
                what = f"{declared.title or metric} of {entrant} is {declared.best:g}"
                yield Finding(EXACT_BEST, entrant, f"{what} in {n_exact:,} of {n_rows:,} rows")


def decided_by_one(manifest: Manifest, scores: ScoreTable) -> Iterator[Finding]:
    """Yield entrants whose mean of a ranking metric without a best end is dominated by one value in their favour.

    No range rules out such a value, and the average is then whatever the owner wrote into one cell. Tasks of which one
    has scores in a far larger unit look the same: then that task alone ranks the board.
    """
    needed = [board.required_metrics() for board in manifest.leaderboards]
    for metric in dict.fromkeys(name for names in needed for name in names):
        declared = manifest.metrics.get(metric)
        if declared is None or declared.best is not None or metric not in scores.columns:
            continue
        values = scores.value(metric)
        sign = 1.0 if declared.direction == "maximize" else -1.0
        good = np.nan_to_num(sign * values)
        largest, total = (np.zeros(len(scores.entrant.words)) for _ in range(2))
        np.maximum.at(largest, scores.entrant.codes, good)
        np.add.at(total, scores.entrant.codes, np.abs(good))
        n_rows = _counted(scores.entrant, ~np.isnan(values))
        for entrant, most, sum_, n in zip(scores.entrant.words, largest.tolist(), total.tolist(), n_rows, strict=True):
            if n >= MIN_ROWS and most > NEARLY_ALL * sum_:
                what = f"one {declared.title or metric} of {entrant}, {sign * most:.6g}"
                yield Finding(ONE_VALUE, entrant, f"{what}, is more than nine tenths of the sum of its {n:,} in size")


def _nothing(entrant: Coded, values: FloatArray) -> FloatArray:
    """Return the distance from the best end within which a value counts as equal to it, [n_rows].

    An error of 1e-300 beside others of about 1 is effectively zero.
    """
    known = np.flatnonzero(np.isfinite(values))
    sizes, codes = abs(values[known]), entrant.codes[known]
    order = np.lexsort((sizes, codes))
    n_each = np.bincount(codes, minlength=len(entrant.words))
    middle = np.cumsum(n_each) - n_each + n_each // 2
    medians = np.where(n_each > 0, np.append(sizes[order], 0.0)[np.minimum(middle, len(known))], 0.0)
    return np.maximum(LEAST, AS_GOOD_AS * medians)[entrant.codes]


def _counted(entrant: Coded, rows: BoolArray) -> list[int]:
    """Return how many of the marked rows each entrant has."""
    counts: list[int] = np.bincount(entrant.codes[rows], minlength=len(entrant.words)).tolist()
    return counts


def _least_share(*, is_alone: bool, is_error: bool) -> float:
    """Return the share of an entrant's values from which it is flagged; above 1 means never."""
    if is_alone:
        return 0.0 if is_error else 1.0
    return 0.5 if is_error else 2.0
