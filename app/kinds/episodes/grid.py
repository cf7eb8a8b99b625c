"""What of an entrant's episodes counts under the benchmark's grid, and what its score would be with what is missing.

Called by `app.kinds.episodes.measure`; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.coverage import Coverage
from app.boards.estimate.spec import EstimateBoard
from app.boards.measured import Bounds, EntrantEvidence
from app.kinds.episodes.coverage import GridOfEntrant, counted_items, grid_of, of_task, with_absent
from app.manifest.manifest import Manifest
from app.stats.aggregate import Aggregate, interquartile_mean, mean
from app.values.scores import ScoreTable

AGGREGATES: Mapping[str, Aggregate] = {"iqm": interquartile_mean, "mean": mean}


@dataclass(frozen=True)
class HeldAgainstGrid:
    """The episodes of an entrant: `delivered` are its rows of the grid, `counted` also what counts as the worst."""

    manifest: Manifest
    spec: EstimateBoard
    entrant: str
    tasks: Sequence[str]
    grid: GridOfEntrant
    delivered: ScoreTable
    counted: ScoreTable

    @property
    def coverage(self) -> Coverage:
        """Return how much of the grid is there."""
        coverage = self.grid.coverage
        is_filled = self.grid.held is None and self.manifest.absent == "worst" and not coverage.n_not_asked
        return replace(coverage, is_filled=is_filled)

    def items(self) -> str:
        """Return what stands for the names of the items, empty where the grid itself names them."""
        return counted_items(self.manifest.asked, self.tasks, self.delivered, self.entrant)

    def bounds(self) -> Bounds | None:
        """Return the score that ranks if what is missing were the worst and the best; None where nothing is."""
        if self.grid.held is not None or not self.grid.coverage.n_lacking + self.grid.coverage.n_not_asked:
            return None
        whole = with_absent(self.grid, self.delivered)
        metric = self.manifest.metrics[self.spec.ranked]
        return self._score(whole, metric.worst), self._score(whole, metric.best)

    def _score(self, whole: ScoreTable, missing: float | None) -> float | None:
        if missing is None:
            return None
        values = whole.value(self.spec.ranked)
        filled = np.where(np.isnan(values), missing, values)
        aggregate = AGGREGATES[self.spec.statistic_of(self.spec.ranked, self.manifest.metrics[self.spec.ranked])]
        parts, weights = [], []
        for task in self.tasks:
            rows = of_task(whole, task)
            if rows.any():
                distinct, counts = np.unique(filled[rows], return_counts=True)
                parts.append(float(aggregate(distinct, counts[None, :].astype(np.float64))[0]))
                weights.append(1.0 if self.spec.composite is None else self.spec.composite.weights[task])
        return float(np.average(parts, weights=weights)) if parts else None


def hold_against_grid(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> HeldAgainstGrid:
    """Compare one entrant's episodes with the grid of a board."""
    scores = evidence.scores
    tasks = spec.tasks or manifest.task_ids()
    tasks = tasks if spec.composite is None else list(spec.composite.weights)
    grid = grid_of(manifest.asked, tasks, scores, spec.ranked, evidence.entrant)
    rows = grid.rows(scores)
    delivered = scores if rows.all() else scores.take(rows)
    is_worst = grid.held is None and manifest.absent == "worst"
    return HeldAgainstGrid(
        manifest=manifest,
        spec=spec,
        entrant=evidence.entrant,
        tasks=tuple(tasks or scores.task.words),
        grid=grid,
        delivered=delivered,
        counted=with_absent(grid, delivered) if is_worst else delivered,
    )
