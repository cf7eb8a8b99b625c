"""Every pair of a board of method `estimate`: difference, interval and chances, from the replicates of both.

Called by `app.boards.estimate.board`. Where both entrants were drawn with the same resamples (the same
examples, or the same seeds under a compatible stream) the difference is a paired one; otherwise the entrants are
independent of each other, and so are their replicates.
"""

from collections.abc import Sequence

import numpy as np

from app.boards.estimate.spec import EstimateBoard, drawn_meta
from app.boards.measured import Measurement
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval, probability_beats
from app.values.table import Cell, Column, Table

MAX_ENTRANTS = 200
"""Above it the square of all pairs is larger than anyone reads; the best-ranked ones are compared."""

COLUMNS = (
    Column("entrant_a", "A", "text"),
    Column("entrant_b", "B", "text"),
    Column("difference", "A minus B", direction="maximize", interval=("difference_lower", "difference_upper"),
           glossary="difference", digits=3),
    Column("difference_lower", "A minus B, low", detail=True, glossary="difference", digits=3),
    Column("difference_upper", "A minus B, high", detail=True, glossary="difference", digits=3),
    Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2),
    Column("separable", "Separable", "flag", glossary="separable"),
)  # fmt: skip


def pairwise(
    manifest: Manifest, spec: EstimateBoard, contenders: Sequence[Measurement], replicates: FloatArray | None
) -> Table | None:
    """Return the table of ordered pairs, best first; None with fewer than two contenders.

    `replicates` is [n_resamples, n_contenders], larger being better. Differences have the metric's own sign. A pair
    in which one has no replicates of its own has no interval.
    """
    if len(contenders) < 2:
        return None
    shown = contenders[:MAX_ENTRANTS]
    drawn = None if replicates is None else replicates[:, : len(shown)]
    sign = -1.0 if manifest.metrics[spec.ranked].direction == "minimize" else 1.0
    metric = manifest.metrics[spec.ranked]
    return Table(
        name=f"pairwise/{spec.name}",
        title=f"{spec.title or spec.name}, pair by pair",
        columns=COLUMNS,
        rows=tuple(_rows(shown, drawn, sign, spec)),
        notes=_notes(spec, len(contenders), metric.title or spec.ranked),
        meta={**drawn_meta(spec), "metric": spec.ranked},
    )


def _notes(spec: EstimateBoard, n_contenders: int, metric: str) -> tuple[str, ...]:
    notes = [f"Differences of {metric}."]
    if n_contenders > MAX_ENTRANTS:
        notes.append(f"The {MAX_ENTRANTS} best of {n_contenders} contenders are compared.")
    return tuple(notes)


def _rows(
    shown: Sequence[Measurement], drawn: FloatArray | None, sign: float, spec: EstimateBoard
) -> list[tuple[Cell, ...]]:
    names = [m.entrant for m in shown]
    points = np.array([m.estimates[spec.ranked].point for m in shown], dtype=np.float64)
    has_spread = [spec.ranked in m.replicates for m in shown]
    beats = None if drawn is None else probability_beats(drawn)
    rows: list[tuple[Cell, ...]] = []
    for a, name in enumerate(names):
        ends = None if drawn is None else percentile_interval(sign * (drawn[:, [a]] - drawn), spec.uncertainty.level)
        for b, other in enumerate(names):
            difference = float(points[a] - points[b])
            if ends is None or beats is None or a == b or not (has_spread[a] and has_spread[b]):
                rows.append((name, other, difference, None, None, None, None))
                continue
            low, high = float(ends[0][b]), float(ends[1][b])
            rows.append((name, other, difference, low, high, float(beats[a, b]), bool(low > 0.0 or high < 0.0)))
    return rows
