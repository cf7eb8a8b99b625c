"""One entrant's predictions under a board of method `estimate`: metrics with intervals, reports, what tests need. The
resampled examples of a task are drawn from a generator that is seeded by the board and the task, so every entrant
is compared with the same ones and differences between entrants are paired. Where submitters bring their own labels
the entrants have no examples in common, and each is drawn for itself.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.calibrated import Precision, pooled
from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.measured import Bounds, EntrantEvidence, Estimate, Held, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.boards.stability import family_of, means_elsewhere
from app.kinds.predictions.classification import constraint_of
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels
from app.kinds.predictions.metrics import beside, find_metric, scorer_of, unit_losses
from app.kinds.predictions.report import MAX_UNDEFINED, ExampleResamples, interval_rows, report_metrics, report_rows
from app.kinds.predictions.task import MeanOf, PredictionMetric, TaskPredictions, complete
from app.manifest.model import Manifest, part_of
from app.stats.arrays import Counts, FloatArray
from app.stats.calibrated import TOO_FEW_UNITS, Calibrated, calibrate, effective_number, over_parts
from app.stats.curves import replicate_spread
from app.stats.resample import percentile_interval
from app.stats.spreads import SHARE, Range, Spread, averaged_spread, mean_spread, side_by_side
from app.values.scores import PredictionBlock, digest_of
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
        elsewhere=_elsewhere(manifest, spec, measured),
    )


def _elsewhere(manifest: Manifest, spec: EstimateBoard, measured: Sequence["_Measured"]) -> dict[str, float]:
    """Return the score that ranks without each task that has a value, and with other weights of them."""
    points = {one.task.task: one.estimates[spec.ranked].estimate.point for one in measured}
    known = {task: point for task, point in points.items() if point is not None}
    weights = dict.fromkeys(known, 1.0) if spec.composite is None else spec.composite.weights
    return means_elsewhere(known, weights, family_of(manifest))


@dataclass(frozen=True)
class Spreading:
    """The spread of a metric of one task, and the range of the metric."""

    spread: Spread
    within: Range


@dataclass(frozen=True)
class MetricReplicates:
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
    estimates: Mapping[str, MetricReplicates]


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
            task, {metric: MetricReplicates(_without(points[metric], "too_few_examples"), None) for metric in metrics}
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


def _resamples(manifest: Manifest, spec: EstimateBoard, entrant: str, task: TaskPredictions) -> ExampleResamples | None:
    """Return how the examples of a task are drawn; None where there are too few to draw from."""
    if len(task.unit_weights) < MIN_UNITS:
        return None
    names = () if holds_labels(manifest) else (entrant,)
    return ExampleResamples(
        spec.uncertainty.rng_seed, (spec.name, "examples", task.task, *names), spec.uncertainty.n_resamples
    )


def _calibrated(metric: str, task: TaskPredictions, drawn: MetricReplicates, level: float) -> MetricReplicates:
    spreading = spreading_of(metric, task, drawn.estimate.point, drawn.drawn)
    interval = calibrated_metric(metric, task, drawn.estimate.point, spreading, level)
    return replace(drawn, estimate=replace(drawn.estimate, calibrated=interval), spreading=spreading)


def estimate(point: float, replicates: FloatArray, level: float) -> MetricReplicates:
    """Return a point with the percentile interval of its replicates; those that are undefined are left out."""
    if np.isnan(point):
        return MetricReplicates(Estimate(None, reason="undefined"), None)
    known = replicates[~np.isnan(replicates)]
    if len(known) < (1.0 - MAX_UNDEFINED) * len(replicates):
        return MetricReplicates(_without(point, "undefined_in_resamples"), None)
    low, high = percentile_interval(known[:, None], level)
    return MetricReplicates(Estimate(float(point), float(low[0]), float(high[0])), replicates)


def _without(point: float, reason: str) -> Estimate:
    return Estimate(None, reason="undefined") if np.isnan(point) else Estimate(float(point), reason=reason)


def _over_tasks(metric: str, spec: EstimateBoard, measured: Sequence[_Measured]) -> MetricReplicates:
    """Average the tasks that have a value; tasks are drawn independently of each other."""
    with_values = [(one.task.task, one.estimates[metric]) for one in measured]
    with_values = [(task, drawn) for task, drawn in with_values if drawn.estimate.point is not None]
    if len(with_values) == 1:
        return with_values[0][1]
    if not with_values:
        reason = measured[0].estimates[metric].estimate.reason if measured else "nothing_to_aggregate"
        return MetricReplicates(Estimate(None, reason=reason), None)
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
        return MetricReplicates(Estimate(point, reason=reasons[0], calibrated=calibrated), None)
    averaged = estimate(point, np.column_stack(columns) @ weights, spec.uncertainty.level)
    precisions = [drawn.precision for _, drawn in with_values if drawn.precision is not None]
    precision = None if averaged.drawn is None else pooled(weights, columns, precisions)
    return MetricReplicates(replace(averaged.estimate, calibrated=calibrated), averaged.drawn, precision)


def _facts(manifest: Manifest, spec: EstimateBoard, tasks: Sequence[TaskPredictions]) -> dict[str, Cell]:
    expected = expected_tasks(manifest, spec, [task.task for task in tasks])
    groups = sum(len(task.unit_weights) for task in tasks)
    is_ranking = part_of(manifest, PredictionsPart).predictions.kind == "ranking"
    return {
        "n_items": sum(len(task) for task in tasks),
        **({"n_groups": groups} if is_ranking else {}),
        **({"n_tasks": len(tasks)} if len(expected) > 1 else {}),
    }


# Predictions of one entrant compared with the grid: the benchmark's own labels define its items. An item without a
# prediction counts as wrong whatever the manifest declares about absent cells; where a prediction could have been
# even worse, its entrant is not ranked. A task without any prediction is absent.

WRONG_IS_WORST = frozenset({"accuracy", "logloss", "brier", "recall_macro", "recall_macro_sklearn", "recall_micro"})
"""The metrics of several classes in which one wrong class is as bad as another."""


def expected_tasks(manifest: Manifest, spec: EstimateBoard, delivered: Sequence[str]) -> Sequence[str]:
    """Return the tasks of a board: those that it or the manifest names, or else those delivered."""
    if spec.composite is not None:
        return list(spec.composite.weights)
    return spec.tasks or manifest.task_ids() or sorted(delivered)


@dataclass(frozen=True)
class HeldAgainstLabels:
    """The predictions of an entrant: `evidence` also has those that count as failures; `absent` tasks have none.

    `own` is None where the benchmark's labels say which items there are; where they do not, `items` is a digest of
    the entrant's own with their labels.
    """

    manifest: Manifest
    spec: EstimateBoard
    evidence: EntrantEvidence
    coverage: Coverage
    absent: tuple[str, ...] = ()
    own: tuple[Held, ...] | None = None
    items: str = ""

    def bounds(self, points: Mapping[str, float | None]) -> Bounds | None:
        """Return the ranking score if absent tasks were worst and best; None where none is absent."""
        if not self.absent:
            return None
        metric = self.manifest.metrics[self.spec.ranked]
        return self._score(points, metric.worst), self._score(points, metric.best)

    def _score(self, points: Mapping[str, float | None], missing: float | None) -> float | None:
        if missing is None:
            return None
        scores = {task: point for task, point in points.items() if point is not None and task not in self.absent}
        scores |= dict.fromkeys(self.absent, missing)
        weights = [1.0 if self.spec.composite is None else self.spec.composite.weights[task] for task in scores]
        return float(np.average(list(scores.values()), weights=weights))


def hold_against_labels(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> HeldAgainstLabels:
    """Compare one entrant's predictions with the labels of a board's tasks."""
    blocks_by_task = {block.task: block for block in evidence.predictions}
    if not holds_labels(manifest):
        own = tuple((task, "", _n_predicted(block)) for task, block in blocks_by_task.items())
        coverage = _sum([_cover(block) for block in blocks_by_task.values()])
        return HeldAgainstLabels(manifest, spec, evidence, coverage, own=own, items=_digest(blocks_by_task.values()))
    tasks = [task for task in expected_tasks(manifest, spec, list(evidence.labels)) if task in evidence.labels]
    absent = [task for task in tasks if task not in blocks_by_task]
    older = manifest.asked.facts.earlier.get(evidence.entrant, ())
    not_asked = [task for task in absent if older and task not in (older[-1].tasks or ())]
    is_worst = manifest.absent == "worst" and not not_asked
    coverage = _sum([
        *(_cover(blocks_by_task[task]) for task in tasks if task in blocks_by_task),
        *(Coverage(n, 0, n_absent=n) for task in absent if task not in not_asked for n in [len(evidence.labels[task])]),
        *(Coverage(0, 0, n_not_asked=len(evidence.labels[task])) for task in not_asked),
    ])  # fmt: skip
    is_filled = (is_worst or not absent) and (not coverage.n_failed or counts_as_worst(manifest, spec.ranked))
    filled = replace(coverage, is_filled=is_filled)
    if not is_worst:
        return HeldAgainstLabels(manifest, spec, evidence, filled, tuple(absent))
    blocks = [*evidence.predictions, *(_nothing(manifest, evidence, task) for task in absent)]
    return HeldAgainstLabels(manifest, spec, replace(evidence, predictions=blocks), filled, tuple(absent))


def counts_as_worst(manifest: Manifest, metric: str) -> bool:
    """Say whether a missing prediction is as bad for a metric as any prediction could be.

    It is not always: with several classes a failure is some wrong class, so leaving out wrong predictions of a rare
    class raises its precision; a failed value is the farther end of the labels' range, and predictions can lie beyond
    it.
    """
    task_type = part_of(manifest, PredictionsPart).predictions.task_type
    return task_type in ("binary", "ranking") or (task_type == "multiclass" and metric in WRONG_IS_WORST)


def _nothing(manifest: Manifest, evidence: EntrantEvidence, task: str) -> PredictionBlock:
    n_columns = part_of(manifest, PredictionsPart).predictions.n_columns
    return PredictionBlock(evidence.entrant, task, np.full((len(evidence.labels[task]), n_columns), np.nan))


def _digest(blocks: Iterable[PredictionBlock]) -> str:
    own = sorted((block.task, digest_of(block.labels)) for block in blocks if block.labels is not None)
    return hashlib.blake2b(repr(own).encode(), digest_size=8).hexdigest() if own else ""


def _n_predicted(block: PredictionBlock) -> int:
    return int((~np.isnan(block.values[:, 0])).sum())


def _cover(block: PredictionBlock) -> Coverage:
    n_predicted = _n_predicted(block)
    return Coverage(len(block.values), n_predicted, n_failed=len(block.values) - n_predicted, is_filled=True)


def _sum(parts: Sequence[Coverage]) -> Coverage:
    return sum(parts[1:], parts[0]) if parts else NOTHING_ASKED


# The calibrated interval of a metric of one task, by the closed form that it has, else from its replicates, and of
# its average over several. Units are examples, or groups of a ranking.


def spreading_of(name: str, task: TaskPredictions, point: float | None, drawn: FloatArray | None) -> Spreading | None:
    """Return the spread of a metric; None for a name of the reports alone, of what is undefined or has no replicates,
    and for a metric whose interval is not made of its spread.

    `drawn` are its replicates [n_resamples], NaN where undefined. What is shown beside a metric has a name like
    `ap:ydf`, the metric being `ap_ydf`.
    """
    metric = _metric(name)
    if metric is None or point is None or metric.calibrated is not None:
        return None
    within = metric.within.holding(point)
    if metric.spread is not None:
        spread = metric.spread(task)
        return None if spread is None else Spreading(spread, within)
    if isinstance(metric.score, MeanOf):
        values = np.asarray(metric.score.values(task), dtype=np.float64)
        return Spreading(mean_spread(values, task.unit_weights), within)
    if drawn is None or np.isnan(drawn).all():
        return None
    return Spreading(replicate_spread(point, drawn, _n_units(task), is_share=within == SHARE), within)


def calibrated_metric(
    name: str, task: TaskPredictions, point: float | None, spreading: Spreading | None, level: float
) -> Calibrated | None:
    """Return the interval of a metric; None for a name of the reports alone, and where the metric is undefined."""
    metric = _metric(name)
    if metric is None or point is None:
        return None
    if metric.calibrated is not None:
        return metric.calibrated(task, level)
    if spreading is not None:
        return calibrate(spreading.spread, spreading.within, level)
    return None if metric.spread is not None else Calibrated(None, None, None, _n_units(task), TOO_FEW_UNITS)


def calibrated_average(
    estimates: Sequence[Estimate], spreadings: Sequence[Spreading | None], weights: FloatArray, level: float
) -> Calibrated | None:
    """Return the interval of Σ weight × metric over tasks; None where a task's metric has none to be looked for.

    If all metrics have spreads, these are averaged: near an end of the range single-task intervals are asymmetric, and
    averaging their ends would keep that for an average of many.
    Source: `bench.interval_coverage`.
    """
    parts = [each.calibrated for each in estimates if each.calibrated is not None]
    known = [each for each in spreadings if each is not None]
    if len(parts) < len(estimates):
        return None
    if len(known) < len(spreadings) or any(part.low is None for part in parts):
        return over_parts(np.array([each.point for each in estimates]), parts, weights)
    within = Range(min(each.within.low for each in known), max(each.within.high for each in known))
    return calibrate(averaged_spread(side_by_side([each.spread for each in known]), weights), within, level)


def _metric(name: str) -> PredictionMetric | None:
    return find_metric(name) or find_metric(name.replace(":", "_"))


def _n_units(task: TaskPredictions) -> float:
    """Return the effective number of units of such a metric: of two classes, that of the smaller one."""
    weights = task.unit_weights
    if task.part.kind == "classification" and len(task.classes) == 2:
        return max(1.0, min(effective_number(weights[task.class_number == at]) for at in (0, 1)))
    return max(1.0, effective_number(weights))
