"""One entrant's predictions under a board of method `estimate`: metrics with intervals, reports, what tests need.

Called by `app.jobs.measuring` through the kind's entry in `app.kinds.known`. The resampled examples of a task are drawn
from a generator that is seeded by the board and the task, so every entrant is compared with the same ones and
differences between entrants are paired. Where submitters bring their own labels the entrants have no examples in
common, and each is drawn for itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.measured import EntrantEvidence, Estimate, Measurement
from app.boards.methods.estimate.spec import EstimateBoard
from app.boards.spread import Precision, pooled
from app.kinds.predictions.bands import MAX_UNDEFINED, Resamples
from app.kinds.predictions.calibrated import Spreading, calibrated_average, calibrated_metric, spreading_of
from app.kinds.predictions.constrained import constraint_of
from app.kinds.predictions.coverage import expected_tasks, hold_against_labels
from app.kinds.predictions.intervals import interval_rows
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels
from app.kinds.predictions.metrics import beside
from app.kinds.predictions.reports import report_metrics, report_rows
from app.kinds.predictions.scores import scorer_of, unit_losses
from app.kinds.predictions.task import TaskPredictions, complete
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import Counts, FloatArray
from app.stats.interval import percentile_interval
from app.values.table import Cell

MIN_UNITS = 2


def measure_predictions(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Return every metric of one entrant, averaged over tasks, with its intervals and reports by task."""
    held = hold_against_labels(manifest, spec, evidence)
    tasks = list(_tasks(manifest, spec, held.evidence))
    measured = [_measure(manifest, spec, evidence.entrant, task) for task in tasks]
    shown = (*spec.metrics, *beside(part_of(manifest, PredictionsPart).predictions, spec.metrics))
    estimates = {metric: _over_tasks(metric, spec, measured) for metric in shown}
    rows: dict[str, list[tuple[Cell, ...]]] = {"intervals": []}
    for one in measured:
        estimates_of_task = {metric: drawn.estimate for metric, drawn in one.estimates.items()}
        own = {metric.replace(":", "_"): estimates_of_task[metric] for metric in shown}
        rows["intervals"] += interval_rows(one.task, spec.uncertainty.level, own)
        resamples = _resamples(manifest, spec, evidence.entrant, one.task)
        for kind, report in report_rows(one.task, spec.uncertainty.level, estimates_of_task, resamples).items():
            rows.setdefault(kind, []).extend(report)
    return Measurement(
        entrant=evidence.entrant,
        estimates={metric: drawn.estimate for metric, drawn in estimates.items()},
        replicates={m: drawn for m in spec.metrics if (drawn := estimates[m].drawn) is not None},
        precision={m: p for m in spec.metrics if (p := estimates[m].precision) is not None},
        rows=rows,
        facts=_facts(manifest, spec, tasks),
        losses={task.task: unit_losses(task) for task in tasks} if holds_labels(manifest) else {},
        coverage=held.coverage,
        held=held.own,
        items=held.items,
        bounds=held.bounds({one.task.task: one.estimates[spec.ranked].estimate.point for one in measured}),
    )


@dataclass(frozen=True)
class Drawn:
    """A metric's estimate, and its replicates [n_resamples], NaN where undefined, with their precision; None when there
    are none. `spreading` is that of one task's metric, where it has one.
    """

    estimate: Estimate
    drawn: FloatArray | None
    precision: Precision | None = None
    spreading: Spreading | None = None


@dataclass(frozen=True)
class _Measured:
    task: TaskPredictions
    estimates: Mapping[str, Drawn]


def _tasks(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Iterator[TaskPredictions]:
    part = part_of(manifest, PredictionsPart).predictions
    blocks = {block.task: block for block in evidence.predictions}
    for task in expected_tasks(manifest, spec, list(blocks)):
        block = blocks.get(task)
        labels = None if block is None else block.labels or evidence.labels.get(task)
        if block is not None and labels is not None:
            yield complete(part, block, labels)


def _measure(manifest: Manifest, spec: EstimateBoard, entrant: str, task: TaskPredictions) -> _Measured:
    metrics = (*spec.metrics, *beside(task.part, spec.metrics), *report_metrics(task))
    score = scorer_of(task, metrics)
    weights = task.unit_weights
    points = {metric: float(values[0]) for metric, values in score(weights[None, :]).items()}
    resamples = _resamples(manifest, spec, entrant, task)
    if resamples is None:
        return _Measured(
            task, {metric: Drawn(_without(points[metric], "too_few_examples"), None) for metric in metrics}
        )

    def resampled(counts: Counts) -> Mapping[str, FloatArray]:
        return score(counts if task.weights is None else counts * weights)

    # Products with weights, and what is called at every threshold, take eight bytes a count and more.
    is_wide = task.weights is not None or any(constraint_of(metric) is not None for metric in metrics)
    parts = list(resamples.map(resampled, len(weights), is_wide=is_wide))
    drawn = {metric: np.concatenate([part[metric] for part in parts]) for metric in metrics}
    level = spec.uncertainty.level
    # Of n examples drawn with replacement a mean has the variance σ̂² / n; unbiased is σ̂² / (n − 1).
    precision = Precision(len(weights) - 1.0, len(weights) / (len(weights) - 1.0))
    drawn_by_metric = {metric: estimate(points[metric], drawn[metric], level) for metric in metrics}
    known = {m: replace(d, precision=None if d.drawn is None else precision) for m, d in drawn_by_metric.items()}
    return _Measured(task, {metric: _calibrated(metric, task, each, level) for metric, each in known.items()})


def _resamples(manifest: Manifest, spec: EstimateBoard, entrant: str, task: TaskPredictions) -> Resamples | None:
    """Return how the examples of a task are drawn; None where there are too few to draw from."""
    if len(task.unit_weights) < MIN_UNITS:
        return None
    names = () if holds_labels(manifest) else (entrant,)
    return Resamples(
        spec.uncertainty.rng_seed, (spec.name, "examples", task.task, *names), spec.uncertainty.n_resamples
    )


def _calibrated(metric: str, task: TaskPredictions, drawn: Drawn, level: float) -> Drawn:
    spreading = spreading_of(metric, task, drawn.estimate.point, drawn.drawn)
    interval = calibrated_metric(metric, task, drawn.estimate.point, spreading, level)
    return replace(drawn, estimate=replace(drawn.estimate, calibrated=interval), spreading=spreading)


def estimate(point: float, replicates: FloatArray, level: float) -> Drawn:
    """Return a point with the percentile interval of its replicates; those that are undefined are left out."""
    if np.isnan(point):
        return Drawn(Estimate(None, reason="undefined"), None)
    known = replicates[~np.isnan(replicates)]
    if len(known) < (1.0 - MAX_UNDEFINED) * len(replicates):
        return Drawn(_without(point, "undefined_in_resamples"), None)
    low, high = percentile_interval(known[:, None], level)
    return Drawn(Estimate(float(point), float(low[0]), float(high[0])), replicates)


def _without(point: float, reason: str) -> Estimate:
    return Estimate(None, reason="undefined") if np.isnan(point) else Estimate(float(point), reason=reason)


def _over_tasks(metric: str, spec: EstimateBoard, measured: Sequence[_Measured]) -> Drawn:
    """Average the tasks that have a value; tasks are drawn independently of each other."""
    with_values = [(one.task.task, one.estimates[metric]) for one in measured]
    with_values = [(task, drawn) for task, drawn in with_values if drawn.estimate.point is not None]
    if len(with_values) == 1:
        return with_values[0][1]
    if not with_values:
        reason = measured[0].estimates[metric].estimate.reason if measured else "nothing_to_aggregate"
        return Drawn(Estimate(None, reason=reason), None)
    weights = np.array([1.0 if spec.composite is None else spec.composite.weights[task] for task, _ in with_values])
    weights /= weights.sum()
    point = float(np.dot(np.array([drawn.estimate.point for _, drawn in with_values], dtype=np.float64), weights))
    calibrated = calibrated_average(
        [drawn.estimate for _, drawn in with_values],
        [drawn.spreading for _, drawn in with_values],
        weights,
        spec.uncertainty.level,
    )
    columns = [drawn.drawn for _, drawn in with_values if drawn.drawn is not None]
    if len(columns) < len(with_values):
        reasons = [drawn.estimate.reason for _, drawn in with_values if drawn.drawn is None]
        return Drawn(Estimate(point, reason=reasons[0], calibrated=calibrated), None)
    averaged = estimate(point, np.column_stack(columns) @ weights, spec.uncertainty.level)
    precisions = [drawn.precision for _, drawn in with_values if drawn.precision is not None]
    precision = None if averaged.drawn is None else pooled(weights, columns, precisions)
    return Drawn(replace(averaged.estimate, calibrated=calibrated), averaged.drawn, precision)


def _facts(manifest: Manifest, spec: EstimateBoard, tasks: Sequence[TaskPredictions]) -> dict[str, Cell]:
    expected = expected_tasks(manifest, spec, [task.task for task in tasks])
    groups = sum(len(task.unit_weights) for task in tasks)
    is_ranking = part_of(manifest, PredictionsPart).predictions.kind == "ranking"
    return {
        "n_items": sum(len(task) for task in tasks),
        **({"n_groups": groups} if is_ranking else {}),
        **({"n_tasks": len(tasks)} if len(expected) > 1 else {}),
    }
