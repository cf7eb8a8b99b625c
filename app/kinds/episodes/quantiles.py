"""Quantiles of a metric over one entrant's episodes, such as the median, p99 and maximum of a peak force.

Called by `app.kinds.episodes.measure`; pure. The quantile of CHAMBER's admissions is numpy's, linear between scores.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.boards.measured import calibrated_cells
from app.kinds.episodes.board_rows import BoardRows
from app.kinds.episodes.calibrated import SeedScores
from app.stats.calibrated import Calibrated
from app.stats.calibrated_trims import calibrated_quantile
from app.values.table import Cell


def quantile_rows(rows: BoardRows) -> Iterator[tuple[Cell, ...]]:
    """Yield the declared quantiles of each metric by task."""
    for task in rows.tasks():
        for metric, wanted in rows.spec.quantiles.items():
            scored = rows.seeded(metric, rows.of_task(task))
            if scored is not None:
                counts = (task, len(np.unique(scored.seeds)), len(scored.values))
                cells_of_quantiles = _cells(scored, wanted, rows.spec.uncertainty.level)
                yield from ((metric, *cells, *counts) for cells in cells_of_quantiles)


def _cells(scored: SeedScores, wanted: Sequence[float], level: float) -> Iterator[tuple[Cell, ...]]:
    """Yield quantile, value, interval, how it was made, and why there is none."""
    for q in wanted:
        calibrated = calibrated_quantile(scored.values, scored.seeds, q, level=level)
        ours = calibrated_cells(calibrated)
        value = float(np.quantile(scored.values, q))
        yield (_name(q), value, ours.low, ours.high, calibrated.how, _why_none(calibrated, q))


def _name(q: float) -> str:
    return {0.0: "min", 1.0: "max"}.get(q, f"p{100 * q:g}")


def _why_none(calibrated: Calibrated, q: float) -> str | None:
    if calibrated.reason is None:
        return None
    if q in (0.0, 1.0):
        return "what was seen does not bound an extreme"
    return "too few seeds to bound it on both sides"
