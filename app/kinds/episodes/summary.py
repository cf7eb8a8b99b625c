"""One submission's own episodes: each metric with its intervals.

Called by `app.jobs.own_tables` through the kind; pure. A power or debug run is summarised as it registered, which may
be with the pooled bootstrap; nothing of this decides a rank.
"""

import numpy as np

from app.boards.missing_scores import with_worst
from app.kinds.contract import Evaluation, Summary
from app.kinds.episodes.claimed import own_claims
from app.manifest.manifest import Manifest
from app.prereg.values import BootstrapMethod
from app.stats.aggregate import Interval, estimate, interquartile_mean, mean
from app.stats.arrays import BoolArray
from app.stats.cluster import draw_clusters, draw_iid, group_sample
from app.stats.resample import board_generator
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
AGGREGATES = {"iqm": interquartile_mean, "mean": mean}

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("metric", "Metric", "text"),
    Column("iqm", "IQM", interval=("iqm_lower", "iqm_upper"), glossary="iqm", digits=3),
    Column("iqm_lower", "IQM, low", detail=True, glossary="iqm", digits=3),
    Column("iqm_upper", "IQM, high", detail=True, glossary="iqm", digits=3),
    Column("mean", "Mean", interval=("mean_lower", "mean_upper"), glossary="mean", digits=3),
    Column("mean_lower", "Mean, low", detail=True, glossary="mean", digits=3),
    Column("mean_upper", "Mean, high", detail=True, glossary="mean", digits=3),
    Column("n_seeds", "Seeds", "integer", glossary="counts"),
    Column("n_episodes", "Episodes", "integer", glossary="counts"),
    Column("note", "Note", "text"),
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the table of a submission, with the worst value for empty scores, and the checks of its claims."""
    manifest, scores = evaluation.manifest, evaluation.rows
    table = summarise_episodes(manifest, with_worst(manifest, scores), evaluation.bootstrap_method)
    return Summary([table], own_claims(evaluation.claimed()))


def summarise_episodes(manifest: Manifest, scores: ScoreTable, method: BootstrapMethod) -> Table:
    """Return one row per entrant, task and metric."""
    rows = tuple(
        (entrant, task, metric, *_cells(scores, mine & (scores.task.codes == number), metric, method, entrant))
        for code, entrant in enumerate(scores.entrant.words)
        for mine in (scores.entrant.codes == code,)
        for number, task in enumerate(scores.task.words)
        for metric in manifest.metrics
    )
    how = "pooled, as registered for a run that is never ranked" if method == "iid" else "over seeds, then episodes"
    meta = {"interval": f"percentile bootstrap {how}", "level": LEVEL, "n_resamples": N_RESAMPLES}
    return Table("summary", "This submission's own numbers", COLUMNS, rows, (), meta)


def _cells(scores: ScoreTable, rows: BoolArray, metric: str, method: BootstrapMethod, entrant: str) -> tuple[Cell, ...]:
    values, seeds = scores.value(metric), scores.seed
    at = np.flatnonzero(rows & ~np.isnan(values))
    if not len(at) or seeds is None:
        return (*[None] * 6, 0, 0, "no value")
    sample = group_sample(values[at], seeds[at])
    rng = board_generator(0, "summary", entrant, metric)
    draw = draw_iid if method == "iid" else draw_clusters
    batches = draw(sample, N_RESAMPLES, rng)
    intervals = estimate(sample, AGGREGATES, batches, level=LEVEL, min_clusters=1 if method == "iid" else 2)
    return (*_ends(intervals["iqm"]), *_ends(intervals["mean"]), len(sample.sizes), len(at), _note(intervals["mean"]))


def _ends(interval: Interval) -> tuple[Cell, Cell, Cell]:
    return (interval.point, interval.low, interval.high)


def _note(interval: Interval) -> str | None:
    reason = interval.reason or ("all equal" if interval.is_degenerate else None)
    return None if reason is None else reason.replace("_", " ")
