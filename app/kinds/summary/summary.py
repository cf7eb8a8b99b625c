"""A submission's own numbers: the average of each metric over its tasks with its interval.

Called by `app.jobs.own_tables` through the kind; pure.
"""

import numpy as np

from app.admission.claims import claims_of_means
from app.kinds.contract import Evaluation, Summary
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval
from app.stats.resample import board_generator, draw_counts
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 1000, 0.95

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
    declared = manifest.task_ids()
    rows: list[tuple[Cell, ...]] = []
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        for metric in manifest.metrics:
            values = scores.value(metric)[mine]
            scored = values[~np.isnan(values)]
            n_tasks = len(values) if declared is None else len(declared)
            rows.append((entrant, metric, *_mean(scored, entrant, metric), n_tasks, len(scored), n_tasks - len(scored)))
    note = "Means of raw metrics describe this submission; the boards compare entrants task by task."
    meta = {"interval": "percentile bootstrap over tasks", "level": LEVEL, "n_resamples": N_RESAMPLES}
    return Table("summary", "Averages of this submission", COLUMNS, tuple(rows), (note,), meta)


def _mean(scored: FloatArray, entrant: str, metric: str) -> tuple[Cell, Cell, Cell]:
    if not len(scored):
        return (None, None, None)
    if len(scored) < 2:
        return (float(scored[0]), None, None)
    weights = draw_counts(len(scored), N_RESAMPLES, board_generator(0, "summary", entrant, metric))
    low, high = percentile_interval((weights @ scored / len(scored))[:, None], LEVEL)
    return (float(scored.mean()), float(low[0]), float(high[0]))
