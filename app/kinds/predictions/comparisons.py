"""Entrants against each other by every metric: paired differences, pair by pair, and how many examples would tell.

Called by `app.kinds.predictions.pair_tests`. The replicates of two entrants come from the same resampled examples, so
their differences are paired. The table is made column by column, as all squares of entrants are.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.boards.contrasts import Contrasts
from app.boards.measured import Measurement
from app.boards.methods.estimate.ranked import standing_by
from app.boards.methods.estimate.spec import EstimateBoard
from app.boards.standing import BoardStanding
from app.boards.tables import PAIR, VERDICT, contrast_field
from app.manifest.manifest import Manifest
from app.stats.comparison import examples_needed_of_all
from app.values.columnar import CellColumn, ColumnarRows
from app.values.table import Column, Rows

MAX_ENTRANTS = 50
"""The best are compared: the square of all pairs, times metrics, is larger than anyone reads."""
POWER = 0.8


def needed_column(kind: str) -> Column:
    """Return the column of how many examples, or groups of a ranking, would show a difference."""
    unit = "Groups" if kind == "ranking" else "Examples"
    return Column("examples_needed", f"{unit} needed", "integer", glossary="examples_needed")


def comparison_columns(kind: str) -> tuple[Column, ...]:
    """Return the columns of `comparison_rows`."""
    difference = Column("difference", "A minus B", glossary="difference", digits=4)
    return (
        *(field.column for field in PAIR),
        Column("metric", "Metric", "text", glossary="estimate"),
        Column("a", "Of A", glossary="estimate", digits=4),
        Column("b", "Of B", glossary="estimate", digits=4),
        *(field.column for field in (*contrast_field(difference), *VERDICT)),
        needed_column(kind),
    )


def comparison_rows(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> Rows:
    """Return the ordered pairs of each metric; who is separable takes account of all with a value, as on a board.

    `standing` is that of the contenders, who come first, by the metric that ranks; it is not computed twice.
    """
    parts = list(_by_metric(manifest, spec, measurements, standing))
    return ColumnarRows.joined(parts) if parts else ()


def _by_metric(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> Iterator[ColumnarRows]:
    for metric in spec.metrics:
        scored = [m for m in measurements if metric in m.estimates and m.estimates[metric].point is not None]
        shown = scored[:MAX_ENTRANTS]
        if len(shown) < 2:
            continue
        is_known = metric == spec.ranked and standing is not None and len(standing.points) == len(scored)
        of_all = standing if is_known and standing is not None else standing_by(manifest, spec, metric, scored)
        contrasts = of_all.contrasts(range(len(shown)))
        is_turned = manifest.metrics[metric].direction == "minimize"
        yield ColumnarRows(tuple(_columns(spec, metric, shown, contrasts, is_turned=is_turned)))


def _columns(
    spec: EstimateBoard, metric: str, shown: Sequence[Measurement], contrasts: Contrasts, *, is_turned: bool
) -> Iterator[CellColumn]:
    """Yield the columns of one metric, of every ordered pair of two."""
    first, second = np.nonzero(~np.eye(len(shown), dtype=np.bool_))
    names = tuple(m.entrant for m in shown)
    points = np.array([float(m.estimates[metric].point or 0.0) for m in shown])
    yield CellColumn(first, names)
    yield CellColumn(second, names)
    yield CellColumn(np.zeros(len(first), dtype=np.int64), (metric,))
    yield CellColumn.of_numbers(points[first])
    yield CellColumn.of_numbers(points[second])
    pairs = first * len(shown) + second
    yield from (CellColumn(cells.values[pairs], cells.words) for cells in contrasts.cells(is_turned=is_turned))
    n_items = np.array([float(m.facts.get("n_groups") or m.facts.get("n_items") or 0) for m in shown])
    deviations = contrasts.errors[first, second] * np.sqrt(n_items[first])
    needed = examples_needed_of_all(points[first] - points[second], deviations, spec.uncertainty.level, POWER)
    yield CellColumn.of_cells([None if np.isnan(n) else int(n) for n in needed.tolist()])
