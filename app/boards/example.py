"""Benchmarks small enough to check by hand, for the examples in this room's docstrings and wherever any will do.

Source: the numbers are made up.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, EvidenceWords, MeasuredKind, Measurement
from app.boards.methods.weighted_rank.records import RankedPart
from app.manifest.model import Leaderboard, Manifest, Metric, Task
from app.values.scores import Coded, ScoreTable

TASKS = ("a", "b", "c")
METRICS = {
    "error": Metric(direction="minimize", min=0.0, max=1.0),
    "success": Metric(direction="maximize", min=0.0, max=1.0),
    "mae": Metric(direction="minimize", min=0.0),
}
ERRORS = {"Good": (0.1, 0.2, 0.3), "Fair": (0.2, 0.3, 0.4), "Poor": (0.8, 0.8, 0.8)}
"""Three forecasters: one error on each of the three tasks."""


def benchmark(board: Leaderboard, *, is_open: bool = False) -> Manifest:
    """Return a benchmark of the three tasks, or of an open list of them, with one board.

    >>> from app.boards.methods.mean import Mean
    >>> benchmark(Mean(name="main", method="mean", metric="error")).task_ids()
    ('a', 'b', 'c')
    """
    tasks = {"open": True} if is_open else [Task(id=task) for task in TASKS]
    return Manifest.model_validate(
        {"schema_version": 1, "slug": "small", "title": "Small", "evidence": "evaluation_summary", "metrics": METRICS,
         "tasks": tasks, "leaderboards": [board], "part": RankedPart()}
    )  # fmt: skip


def rows(values: Mapping[str, Sequence[float]] = ERRORS, metric: str = "error") -> ScoreTable:
    """Return one row for each entrant and task, in their order; the rows are also items of the tasks' names.

    >>> table = rows({"Good": [0.1, 0.2]})
    >>> table.task.to_list(), table.value("error").tolist()
    (['a', 'b'], [0.1, 0.2])
    """
    at = [(entrant, task) for entrant, own in enumerate(values.values()) for task in range(len(own))]
    entrant, task = np.array(at, dtype=np.int64).reshape(-1, 2).T
    return ScoreTable(
        entrant=Coded(tuple(values), entrant),
        task=Coded(TASKS, task),
        columns=(metric,),
        values=np.array([value for own in values.values() for value in own])[:, None],
        leaked=np.zeros(len(at), dtype=np.bool_),
        file=np.zeros(len(at), dtype=np.int64),
        row=np.arange(len(at)),
        item=Coded(TASKS, task),
    )


def measured(entrant: str, point: float | None, metric: str = "success") -> Measurement:
    """Return an entrant measured on ten episodes, with one number and no replicates.

    >>> measured("Good", 0.9).estimates["success"].point
    0.9
    """
    return Measurement(entrant, {metric: Estimate(point)}, coverage=Coverage(10, 10))


EPISODES = MeasuredKind(
    measure=lambda _manifest, _spec, evidence: measured(evidence.entrant, 0.5),
    words=lambda _manifest, _spec: EvidenceWords(resampled="seeds", too_few="seeds", failed="Failed episodes"),
    further_tables=lambda _manifest, _spec, _measurements, _standing: (),
)
"""A minimal `MeasuredKind` of episodes, as far as examples need one."""
