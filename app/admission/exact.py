"""Values that are exactly the best possible: errors of zero, successes all along. Said beside the evidence, no refusal.

Called by `app.kinds.reader` in the process that reads; pure. A forecast that hits every value, or labels that were
copied, look like this, and so does an item that is too easy.
"""

from collections.abc import Iterator

import numpy as np

from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray
from app.values.forensics import EXACT_BEST, Finding
from app.values.scores import Coded, ScoreTable

MIN_ALL = 8
"""Fewer successes in a row are no wonder."""


def exactly_best(manifest: Manifest, scores: ScoreTable) -> Iterator[Finding]:
    """Yield who has values of a ranking metric that are exactly the best end of its declared range.

    Of errors, which are smaller the better and alone rank a board, any one is told, since a measured error of zero
    hardly occurs; beside others half of them, since a drift under noise that an estimator does not see is zero. Of
    scores in steps, such as yes and no, and of those that are larger the better, only if all are the best there is, and
    if they alone rank a board: that every run was valid is no wonder.
    """
    needed = [board.required_metrics() for board in manifest.leaderboards]
    for metric in dict.fromkeys(name for names in needed for name in names):
        declared = manifest.metrics.get(metric)
        if declared is None or declared.best is None or metric not in scores.columns:
            continue
        values = scores.value(metric)
        at_best, at_worst = values == declared.best, values == declared.worst
        counts = [_counted(scores.entrant, rows) for rows in (~np.isnan(values), at_best, at_best | at_worst)]
        for entrant, n_rows, n_exact, n_ends in zip(scores.entrant.words, *counts, strict=True):
            in_steps = declared.worst is not None and n_ends == n_rows
            is_error = declared.direction == "minimize" and not in_steps
            share = _least_share(is_alone=(metric,) in needed, is_error=is_error)
            if n_exact and n_exact >= share * n_rows and (is_error or n_rows >= MIN_ALL):
                what = f"{declared.title or metric} of {entrant} is {declared.best:g}"
                yield Finding(EXACT_BEST, entrant, f"{what} in {n_exact:,} of {n_rows:,} rows")


def _counted(entrant: Coded, rows: BoolArray) -> list[int]:
    """Return of each entrant how many of some rows are its own."""
    counts: list[int] = np.bincount(entrant.codes[rows], minlength=len(entrant.words)).tolist()
    return counts


def _least_share(*, is_alone: bool, is_error: bool) -> float:
    """Return from which share of an entrant's values on it is told; above 1 never."""
    if is_alone:
        return 0.0 if is_error else 1.0
    return 0.5 if is_error else 2.0
