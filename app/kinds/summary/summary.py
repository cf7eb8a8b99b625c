"""A submission's own numbers: the average of each metric over its tasks with its interval."""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from app.admission.claims import claims_of_means
from app.kinds.contract import Evaluation, Summary
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray, IntArray
from app.stats.resample import Resamples, board_generator, percentile_interval
from app.values.frame import Ends
from app.values.scores import Coded, ScoreTable
from app.values.table import Column, Table

N_RESAMPLES, LEVEL, MIN_UNITS = 1000, 0.95, 2
N_KEPT, KEPT_TASKS = 4, 4_000
"""Resamples of so many numbers of tasks are kept, if of so few tasks each: 16 MB, a byte a count."""

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("mean", "Mean over tasks", interval=("mean_lower", "mean_upper"), glossary="mean", digits=3),
    Column("mean_lower", "Mean, low", detail=True, digits=3),
    Column("mean_upper", "Mean, high", detail=True, digits=3),
    Column("n_tasks", "Tasks", "integer"),
    Column("n_scored", "Scored", "integer"),
    Column("n_missing", "Missing", "integer"),
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the table of a submission and what its claims come to."""
    return Summary([summarise_means(evaluation.manifest, evaluation.rows)], claims_of_means(evaluation.claimed()))


def summarise_means(manifest: Manifest, scores: ScoreTable) -> Table:
    """Return one row per entrant and metric: mean over scored tasks, percentile bootstrap over tasks."""
    declared, rows_of = manifest.task_ids(), _rows_by_entrant(scores.entrant)
    n_tasks = [len(at) if declared is None else len(declared) for at in rows_of]
    by_metric = {metric: _scored(scores.value(metric), rows_of) for metric in manifest.metrics}
    means = {metric: _means(scored, metric) for metric, scored in by_metric.items()}
    rows = tuple(
        (entrant, metric, *means[metric][at], n_tasks[at], len(scored[at]), n_tasks[at] - len(scored[at]))
        for at, entrant in enumerate(scores.entrant.words)
        for metric, scored in by_metric.items()
    )
    note = "Means of raw metrics describe this submission; the boards compare entrants task by task."
    meta = {"interval": "percentile bootstrap over tasks", "level": LEVEL, "n_resamples": N_RESAMPLES}
    return Table("summary", "Averages of this submission", COLUMNS, rows, (note,), meta)


def _rows_by_entrant(entrant: Coded) -> list[IntArray]:
    order = np.argsort(entrant.codes, kind="stable")
    ends = np.searchsorted(entrant.codes[order], np.arange(len(entrant.words) + 1))
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def _scored(values: FloatArray, rows_of: Sequence[IntArray]) -> list[FloatArray]:
    """Return each entrant's values that are no failure."""
    return [own[~np.isnan(own)] for own in (values[at] for at in rows_of)]


def _means(scored: Sequence[FloatArray], metric: str) -> list[Ends]:
    """Return each entrant's mean with its ends; those of as many tasks share their draws, which take the time."""
    ends: list[Ends] = [(float(own[0]) if len(own) else None, None, None) for own in scored]
    of_size: dict[int, list[int]] = {}
    for at, own in enumerate(scored):
        of_size.setdefault(len(own), []).append(at)
    for n_scored, among in of_size.items():
        if n_scored >= MIN_UNITS:
            low, high = _interval(np.stack([scored[at] for at in among], axis=1), metric)
            for place, at in enumerate(among):
                ends[at] = (float(scored[at].mean()), float(low[place]), float(high[place]))
    return ends


def _interval(values: FloatArray, metric: str) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each column of values [n_tasks, n_entrants]."""
    return percentile_interval(_resamples(len(values), metric).means(values), LEVEL)


@lru_cache(N_KEPT)
def _resamples(n_tasks: int, metric: str) -> Resamples:
    """Return the resamples of so many tasks: the same for every submission, so the next one need not draw them."""
    begin = partial(board_generator, 0, "summary", metric)
    return Resamples(n_tasks, N_RESAMPLES, begin, keep_cells=KEPT_TASKS * N_RESAMPLES)
