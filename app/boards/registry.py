"""The known ranking methods: a module for each, which defines METHOD.

METHOD is (manifest class, compute) for a method that looks at all rows together, or a MeasuredMethod for one whose
entrants are measured apart. Called by `app.kinds.parse` to read manifests and by `app.jobs` to compute.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from app.boards.measured import MeasuredMethod
from app.boards.tables import BoardTables
from app.manifest.manifest import Leaderboard, Manifest
from app.values.registry import Registry
from app.values.scores import ScoreTable

Compute = Callable[[Manifest, Any, ScoreTable], BoardTables]


class TableMethod(NamedTuple):
    """A ranking method that looks at all rows together, and the class of its boards in a manifest."""

    spec: type[Leaderboard]
    compute: Compute


Method = TableMethod | MeasuredMethod


@cache
def methods() -> Registry[Method]:
    """Return each method by its name. They are loaded when first asked for: most commands compute nothing."""
    from app.boards import borda, group_mean, mean, mean_rank, mean_win_rate
    from app.boards.estimate import method as estimate
    from app.boards.skill_score import method as skill_score
    from app.boards.weighted_rank import method as weighted_rank

    known: dict[str, Method] = {
        "borda": TableMethod(*borda.METHOD),
        "estimate": estimate.METHOD,
        "group_mean": TableMethod(*group_mean.METHOD),
        "mean": TableMethod(*mean.METHOD),
        "mean_rank": TableMethod(*mean_rank.METHOD),
        "mean_win_rate": TableMethod(*mean_win_rate.METHOD),
        "skill_score": TableMethod(*skill_score.METHOD),
        "weighted_rank": TableMethod(*weighted_rank.METHOD),
    }
    return Registry("ranking method", known)


def compute_board(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> BoardTables:
    """Compute one board of a method that looks at all rows; shapes, units and directions are the method's.

    Raises BoardUnavailable with the reason in plain words, and TypeError for a method that measures entrants apart.
    Source: the method's own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> [row[1] for row in compute_board(benchmark(board), board, rows()).leaderboard.rows]
    ['Good', 'Fair', 'Poor']
    """
    method = methods()[spec.method]
    if isinstance(method, MeasuredMethod):
        raise TypeError(f"{spec.method} measures each entrant apart")
    return method.compute(manifest, spec, scores)


def measured_method(spec: Leaderboard) -> MeasuredMethod | None:
    """Return the method of a board that measures each entrant apart, None for a board of any other method.

    >>> from app.boards.mean import Mean
    >>> measured_method(Mean(name="main", method="mean", metric="error")) is None
    True
    """
    method = methods()[spec.method]
    return method if isinstance(method, MeasuredMethod) else None
