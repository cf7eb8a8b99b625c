"""Which of an entrant's episodes count under the benchmark's grid, and the bounds of its score given what is missing.

Called by `app.kinds.episodes.measure`; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.coverage import Coverage
from app.boards.measured import Bounds, EntrantEvidence
from app.boards.methods.estimate.spec import EstimateBoard
from app.boards.missing_scores import with_worst
from app.kinds.episodes.coverage import GridOfEntrant, counted_items, grid_of, open_items, with_absent
from app.kinds.episodes.task_cells import of_task
from app.manifest.manifest import Manifest
from app.stats.aggregate import Aggregate, interquartile_mean, mean
from app.values.scores import ScoreTable

MOST_CELLS = 10_000_000
"""In a larger grid absent cells are not filled with the worst value: incomplete entrants have no rank there."""
AGGREGATES: Mapping[str, Aggregate] = {"iqm": interquartile_mean, "mean": mean}


@dataclass(frozen=True)
class HeldAgainstGrid:
    """The episodes of an entrant: `delivered` are its rows in the grid, `counted` includes filled ones."""

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
        is_filled = _is_filled(self.manifest, self.grid) and not self.grid.coverage.n_not_asked
        return replace(self.grid.coverage, is_filled=is_filled)

    def items(self) -> str:
        """Return a digest of the names of the items, empty where the grid itself names them."""
        if self.grid.held is not None:
            return open_items(self.delivered, self.tasks)
        return counted_items(self.manifest.asked, self.tasks, self.delivered, self.entrant)

    def bounds(self) -> Bounds | None:
        """Return the ranking score if missing values were the worst and the best; None where none is missing."""
        if self.grid.held is not None or not self.grid.coverage.n_lacking + self.grid.coverage.n_not_asked:
            return None
        metric = self.manifest.metrics[self.spec.ranked]
        return self._score(metric.worst), self._score(metric.best)

    def _score(self, missing: float | None) -> float | None:
        """Return the score with a value for everything missing, by counting: a grid may be larger than any table."""
        if missing is None:
            return None
        values = self.delivered.value(self.spec.ranked)
        aggregate = AGGREGATES[self.spec.statistic_of(self.spec.ranked, self.manifest.metrics[self.spec.ranked])]
        parts, weights = [], []
        for task in self.tasks:
            own = values[of_task(self.delivered, task)]
            n_missing = int(np.isnan(own).sum()) + sum(n for *_, n in self.grid.cells[task].absent())
            if len(own) or n_missing:
                known, counts = np.unique(own[~np.isnan(own)], return_counts=True)
                distinct, place = np.unique(np.append(known, missing), return_inverse=True)
                n_each = np.bincount(place, np.append(counts, n_missing)).astype(np.float64)
                parts.append(float(aggregate(distinct[n_each > 0], n_each[None, n_each > 0])[0]))
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
    return HeldAgainstGrid(
        manifest=manifest,
        spec=spec,
        entrant=evidence.entrant,
        tasks=tuple(tasks or scores.task.words),
        grid=grid,
        delivered=delivered,
        counted=with_absent(grid, delivered) if _is_filled(manifest, grid) else delivered,
    )


def counted_rows(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> ScoreTable:
    """Return the episodes of one entrant as a board counts them, with the worst value for missing ones if it does."""
    return with_worst(manifest, hold_against_grid(manifest, spec, evidence).counted)


def _is_filled(manifest: Manifest, grid: GridOfEntrant) -> bool:
    """Say whether absent cells count as the worst value."""
    return grid.held is None and manifest.absent == "worst" and grid.coverage.n_attempted <= MOST_CELLS
