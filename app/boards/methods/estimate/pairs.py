"""Every pair on a board of method `estimate`: difference, interval and probabilities, from the rank standing.

Called by `.board`. Draws are by name, so two entrants are compared as paired on the units they share and as independent
on the others.
"""

from collections.abc import Iterator, Sequence

from app.boards.measured import Measurement
from app.boards.methods.estimate.spec import EstimateBoard, drawn_meta
from app.boards.standing import BoardStanding
from app.boards.tables import MAX_COMPARED, contrast_field, contrast_table
from app.manifest.manifest import Manifest
from app.values.table import Column, Table

DIFFERENCE = contrast_field(Column("difference", "A minus B", direction="maximize", glossary="difference", digits=3))


def pairwise(
    manifest: Manifest, spec: EstimateBoard, contenders: Sequence[Measurement], standing: BoardStanding | None
) -> Table | None:
    """Return the table of ordered pairs, best first; None with fewer than two contenders.

    Differences have the metric's own unit and sign. A pair has no interval if either entrant has no replicates.
    Source: `app.boards.standing`, with the draws of `app.stats.named_draws`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> pairwise(benchmark(board), board, [measured("A", 0.5)], None) is None
    True
    """
    if standing is None or len(contenders) < 2:
        return None
    metric = manifest.metrics[spec.ranked]
    names = [measurement.entrant for measurement in contenders[:MAX_COMPARED]]
    cells = standing.contrasts(range(len(names))).cells(is_turned=metric.direction == "minimize")
    notes = _notes(len(contenders), metric.title or spec.ranked)
    meta = {**drawn_meta(spec), "metric": spec.ranked, "contrast": "difference"}
    return contrast_table(spec, names, DIFFERENCE, cells, notes, meta)


def _notes(n_contenders: int, metric: str) -> Iterator[str]:
    yield f"Differences of {metric}."
    if n_contenders > MAX_COMPARED:
        yield f"The {MAX_COMPARED} best of {n_contenders} contenders are compared."
