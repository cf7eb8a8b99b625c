"""Predictions of one entrant compared with the grid: the benchmark's own labels define its items.

Called by `app.kinds.predictions.measure`; pure. An item without a prediction counts as wrong whatever the manifest
declares about absent cells; where a prediction could have been even worse, its entrant is not ranked. A task without
any prediction is absent.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.measured import Bounds, EntrantEvidence, Held
from app.boards.methods.estimate.spec import EstimateBoard
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels
from app.manifest.manifest import Manifest, part_of
from app.values.predictions import PredictionBlock, digest_of

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
