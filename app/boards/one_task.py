"""Who wins on one task, and how the scores on it lie. Called by `app.web.rows` with its table; pure."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.manifest.metric import Metric
from app.names import in_words
from app.values.table import Cell, Column, Table

SHOWN = 3


def standing_on_task(table: Table, metrics: Mapping[str, Metric]) -> Table | None:
    """Return the entrants of a task from best to worst by its first metric, with the mean of what each has there.

    Values are in the unit of the metric; equal ones share the place, counted from 1. Null (None) where the table has
    no such metric or fewer than two entrants with a value. Raises nothing.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("acc", "Accuracy"))
    >>> table = Table("task/t", "t", columns, (("A", 0.5), ("B", 0.75)))
    >>> standing = standing_on_task(table, {"acc": Metric(direction="maximize")})
    >>> [row[:3] for row in standing.rows]
    [(1, 'B', 0.75), (2, 'A', 0.5)]
    """
    name = next((name for name in metrics if name in table.column_names()), None)
    if name is None or "entrant" not in table.column_names():
        return None
    means = _means(table, name)
    if len(means) < 2:
        return None
    sign = -1.0 if metrics[name].direction == "maximize" else 1.0
    ordered = sorted(means, key=lambda entrant: (sign * means[entrant], entrant))
    values = [means[entrant] for entrant in ordered]
    rows = tuple((values.index(value) + 1, entrant, value) for entrant, value in zip(ordered, values, strict=True))
    columns = (
        Column("place", "Place", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("value", metrics[name].title or name, unit=metrics[name].unit, direction=metrics[name].direction,
               digits=4),
    )  # fmt: skip
    plot = {"kind": "points", "x": "place", "y": "value"}
    return Table("standing", "Who wins", columns, rows, tuple(_sentences(rows, values)), {"plot": plot, "metric": name})


def _means(table: Table, name: str) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    entrant, at = table.index("entrant"), table.index(name)
    for row in table.rows:
        value = row[at]
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(str(row[entrant]), []).append(float(value))
    return {entrant: float(np.mean(own)) for entrant, own in values.items()}


def _sentences(rows: Sequence[tuple[Cell, ...]], values: Sequence[float]) -> Iterator[str]:
    first = [in_words(str(row[1])) for row in rows if row[0] == 1]
    shown = ", ".join(first[:SHOWN]) + (f" and {len(first) - SHOWN} more" if len(first) > SHOWN else "")
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    yield f"First: {shown} with {values[0]:.4g}."
    yield f"The median of {len(values):,} entrants is {middle:.4g}; the middle half lies from {low:.4g} to {high:.4g}."
