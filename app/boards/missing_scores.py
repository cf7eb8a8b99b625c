"""Episodes without a score of a metric that ranks: where they are, and what they count as.

Called by `app.kinds.episodes.score_rules`, which decides whether they are admissible, and by the modules there that
measure, summarise and compare episodes; pure. An empty score is never left out of a ranking, since otherwise leaving
out one's failures would win.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray
from app.values.scores import ScoreTable


def missing_rankings(manifest: Manifest, scores: ScoreTable) -> Mapping[str, BoolArray]:
    """Return, for each ranking metric of a board, which rows [n_rows] on that board's tasks lack it.

    NaN means lacking.
    Raises KeyError for a metric without a column in the rows.
    Source: none; it selects cells.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> missing_rankings(declared, rows({"A": [0.1, np.nan]}))["error"].tolist()
    [False, True]
    """
    lacking: dict[str, BoolArray] = {}
    for board in manifest.leaderboards:
        for metric in board.required_metrics():
            missing = _of_board(board, scores) & np.isnan(scores.value(metric))
            lacking[metric] = lacking.get(metric, np.zeros(len(scores), dtype=np.bool_)) | missing
    return lacking


def has_rankings(manifest: Manifest, scores: ScoreTable) -> BoolArray:
    """Return which rows [n_rows] have every score that a board ranks them by. Source: none; it selects cells.

    Raises KeyError for a metric without a column in the rows; NaN means lacking.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> has_rankings(declared, rows({"A": [0.1, np.nan]})).tolist()
    [True, False]
    """
    missing = np.zeros(len(scores), dtype=np.bool_)
    for rows in missing_rankings(manifest, scores).values():
        missing |= rows
    return ~missing


def with_worst(manifest: Manifest, scores: ScoreTable) -> ScoreTable:
    """Return the scores with missing ranking scores replaced by the metric's worst value, in its unit.

    Under `absent: worst` so are missing scores of a board's other metrics, so that leaving values out improves no
    column. A score stays NaN where the metric has no worst value, and for an entrant without any value of the metric,
    who has nothing to rank.
    Raises KeyError as `missing_rankings` does.
    Source: none; it selects cells.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> with_worst(declared, rows({"A": [0.1, np.nan], "B": [np.nan, np.nan]})).values[:, 0].tolist()
    [0.1, 1.0, nan, nan]
    """
    values = scores.values.copy()
    for metric, missing in {**missing_rankings(manifest, scores), **_missing_of_grid(manifest, scores)}.items():
        worst = manifest.metrics[metric].worst
        if worst is None:
            continue
        measured = np.unique(scores.entrant.codes[~np.isnan(scores.value(metric))])
        values[missing & np.isin(scores.entrant.codes, measured), scores.columns.index(metric)] = worst
    return replace(scores, values=values)


def _missing_of_grid(manifest: Manifest, scores: ScoreTable) -> Mapping[str, BoolArray]:
    if manifest.absent != "worst":
        return {}
    lacking: dict[str, BoolArray] = {}
    for board in manifest.leaderboards:
        of_board = _of_board(board, scores)
        for metric in board.metric_names():
            missing = of_board & np.isnan(scores.value(metric))
            lacking[metric] = lacking.get(metric, np.zeros(len(scores), dtype=np.bool_)) | missing
    return lacking


def _of_board(board: Leaderboard, scores: ScoreTable) -> BoolArray:
    tasks = board.ranked_tasks()
    if tasks is None:
        return np.ones(len(scores), dtype=np.bool_)
    rows: BoolArray = np.isin(scores.task.codes, [at for at, word in enumerate(scores.task.words) if word in tasks])
    return rows
