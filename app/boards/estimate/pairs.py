"""Every pair of a board of method `estimate`: difference, interval and chances, from the replicates of both.

Called by `app.boards.estimate.board`. Where both entrants were drawn with the same resamples (the same
examples, or the same seeds under a compatible stream) the difference is a paired one; otherwise the entrants are
independent of each other, and so are their replicates.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.boards.estimate.spec import EstimateBoard, drawn_meta
from app.boards.measured import Measurement
from app.boards.tables import MAX_COMPARED, Pair, effect_field, pairwise_table
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval, probability_beats
from app.values.table import Column, Table

DIFFERENCE = effect_field(Column("difference", "A minus B", direction="maximize", glossary="difference", digits=3))


def pairwise(
    manifest: Manifest, spec: EstimateBoard, contenders: Sequence[Measurement], replicates: FloatArray | None
) -> Table | None:
    """Return the table of ordered pairs, best first; None with fewer than two contenders.

    `replicates` is [n_resamples, n_contenders], larger being better. Differences have the metric's own sign. A pair
    in which one has no replicates of its own has no interval.
    """
    if len(contenders) < 2:
        return None
    shown = contenders[:MAX_COMPARED]
    drawn = None if replicates is None else replicates[:, : len(shown)]
    metric = manifest.metrics[spec.ranked]
    pairs = _pairs(shown, drawn, -1.0 if metric.direction == "minimize" else 1.0, spec)
    notes = _notes(len(contenders), metric.title or spec.ranked)
    return pairwise_table(spec, DIFFERENCE, pairs, notes, {**drawn_meta(spec), "metric": spec.ranked})


def _notes(n_contenders: int, metric: str) -> Iterator[str]:
    yield f"Differences of {metric}."
    if n_contenders > MAX_COMPARED:
        yield f"The {MAX_COMPARED} best of {n_contenders} contenders are compared."


def _pairs(shown: Sequence[Measurement], drawn: FloatArray | None, sign: float, spec: EstimateBoard) -> Iterator[Pair]:
    names = [m.entrant for m in shown]
    points = np.array([m.estimates[spec.ranked].point for m in shown], dtype=np.float64)
    has_spread = [spec.ranked in m.replicates for m in shown]
    beats = None if drawn is None else probability_beats(drawn)
    for a, name in enumerate(names):
        ends = None if drawn is None else percentile_interval(sign * (drawn[:, [a]] - drawn), spec.uncertainty.level)
        for b, other in enumerate(names):
            difference = float(points[a] - points[b])
            if ends is None or beats is None or a == b or not (has_spread[a] and has_spread[b]):
                yield Pair(name, other, (difference, None, None))
                continue
            low, high = float(ends[0][b]), float(ends[1][b])
            yield Pair(name, other, (difference, low, high), float(beats[a, b]), bool(low > 0.0 or high < 0.0))
