"""A submission's own numbers: the average of each metric over its tasks with its interval, and its claims.

Called by `app.jobs.evaluate`; pure.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.admission.check import Check
from app.boards.estimate.spec import EstimateBoard
from app.boards.measured import Measurement
from app.kinds.episodes.summary import SUMMARY_TOLERANCE, claim_differences
from app.kinds.series.summary import series_differences
from app.manifest.manifest import Manifest
from app.stats.interval import percentile_interval
from app.stats.resample import board_generator, draw_counts
from app.values.facts import BundleFacts, ClaimedValue
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 1000, 0.95
CLAIM_TOLERANCE = 1e-6
Means = Mapping[tuple[Any, Any], Cell]
"""A number for each (entrant, metric), None where there is none."""

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


def summarise(manifest: Manifest, scores: ScoreTable) -> Table:
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


def _mean(scored: np.ndarray[Any, np.dtype[np.float64]], entrant: str, metric: str) -> tuple[Cell, Cell, Cell]:
    if not len(scored):
        return (None, None, None)
    if len(scored) < 2:
        return (float(scored[0]), None, None)
    weights = draw_counts(len(scored), N_RESAMPLES, board_generator(0, "summary", entrant, metric))
    low, high = percentile_interval((weights @ scored / len(scored))[:, None], LEVEL)
    return (float(scored.mean()), float(low[0]), float(high[0]))


def summary_board(manifest: Manifest) -> EstimateBoard:
    """Return the board that a submission of predictions is summarised by: one that has every metric, or one made so."""
    for board in manifest.leaderboards:
        if isinstance(board, EstimateBoard) and board.tasks is None and set(board.metrics) == set(manifest.metrics):
            return board
    return EstimateBoard(name="summary", method="estimate", metrics=list(manifest.metrics))


def check_measured_claims(claims: Mapping[str, Any] | None, measurements: Sequence[Measurement]) -> list[Check]:
    """Hold claimed metrics of predictions, {entrant: {metric: value}}, against the measured ones."""
    ours = {(m.entrant, name): found.point for m in measurements for name, found in m.estimates.items()}
    return check_claims(claims, ours)


def check_claims(claims: Mapping[str, Any] | None, ours: Means) -> list[Check]:
    """Hold claimed means, {entrant: {metric: mean}}, against ours; a difference is shown with both numbers."""
    if claims is None:
        return []
    different = []
    for entrant, metrics in claims.items():
        for metric, claimed in metrics.items():
            computed = ours.get((entrant, metric))
            if computed is None:
                different.append(f"{entrant} {metric}: {claimed!r} claimed, nothing to compare it with")
            elif not math.isclose(float(computed), claimed, rel_tol=CLAIM_TOLERANCE, abs_tol=CLAIM_TOLERANCE):
                different.append(f"{entrant} {metric}: {claimed!r} claimed, {computed!r} computed")
    if different:
        return [Check("claims", "failed", f"Claimed means differ from the rows: {'; '.join(different[:10])}.")]
    return [Check("claims", "passed", "Every claimed mean equals the one computed from the rows.")]


def check_bundle_claims(scores: ScoreTable, bundles: Sequence[BundleFacts], *, exact: bool) -> list[Check]:
    """Hold the summaries that bundles bring with them against their own episodes; `exact` to the last digit."""
    if not any(bundle.summary for bundle in bundles):
        return []
    different = list(claim_differences(scores, bundles, exact=exact))
    if different:
        reason = f"Claimed summaries differ from the episodes: {'; '.join(different[:10])}."
        return [Check("claimed_summary", "failed", reason)]
    how = "to the last digit" if exact else f"within {SUMMARY_TOLERANCE:g}"
    return [Check("claimed_summary", "passed", f"Every claimed summary comes out of the episodes, {how}.")]


def check_series_claims(manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]) -> list[Check]:
    """Hold what runs of lrdbench computed themselves against their own rows; a difference is a warning."""
    if not claimed:
        return []
    different = list(series_differences(manifest, scores, claimed))
    if different:
        more = f" and {len(different) - 10} more" if len(different) > 10 else ""
        reason = (
            f"{len(different)} claimed values differ from the rows, which count: {'; '.join(different[:10])}{more}."
        )
        return [Check("claimed_values", "warned", reason)]
    return [Check("claimed_values", "passed", f"All {len(claimed)} claimed values that can be compared agree.")]
