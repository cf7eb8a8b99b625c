"""Who is best on one task, and how the scores on it are distributed. Called by `app.web.rows` with its table; pure."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.boards.methods.weighted_rank.groups import BY_SIZE, RULES
from app.boards.methods.weighted_rank.identity import split_identity
from app.boards.methods.weighted_rank.spec import WeightedRank
from app.boards.wording import names_in_words
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.metric import Metric
from app.names import first_few, in_words
from app.values.table import Cell, Column, Table

SHOWN = 3


def metrics_of_means(manifest: Manifest, boards: Sequence[Leaderboard]) -> dict[str, Metric]:
    """Return the metrics whose mean over an entrant's rows on a task compares entrants, ranking metrics first.

    Excluded are metrics that rank by absolute value, such as a bias, and those that are not aggregated by a mean.
    Source: the boards' own declarations.

    >>> from app.boards.example import benchmark
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> list(metrics_of_means(benchmark(board), [board]))
    ['error', 'success', 'mae']
    """
    ranking = dict.fromkeys(name for board in boards for name in board.required_metrics())
    is_weighed = any(isinstance(board, WeightedRank) for board in boards)
    others = {*BY_SIZE, *RULES} if is_weighed else set()
    names = [name for name in dict.fromkeys([*ranking, *manifest.metrics]) if name in manifest.metrics]
    return {name: manifest.metrics[name] for name in names if split_identity(name)[0] not in others}


def standing_on_task(table: Table, metrics: Mapping[str, Metric]) -> Table | None:
    """Return the entrants of a task from best to worst by its first metric, with the mean of each one's values.

    Values are in the unit of the metric; ties share a place, counted from 1. An entrant with fewer values than at least
    half of the entrants has a value but no place, null (None), because the missing items may be the hard ones. The
    result is None without such a metric or with fewer than two placed entrants. Raises nothing.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("acc", "Accuracy"))
    >>> table = Table("task/t", "t", columns, (("A", 0.5), ("B", 0.75)))
    >>> standing = standing_on_task(table, {"acc": Metric(direction="maximize")})
    >>> [row[:3] for row in standing.rows]
    [(1, 'B', 0.75), (2, 'A', 0.5)]
    """
    name = next((name for name in metrics if name in table.column_names()), None)
    if name is None or "entrant" not in table.column_names():
        return None
    known = _values(table, name)
    counts = sorted(map(len, known.values()), reverse=True)
    means = {entrant: float(np.mean(own)) for entrant, own in known.items()}
    whole = [entrant for entrant, own in known.items() if len(own) >= counts[(len(counts) - 1) // 2]]
    if len(whole) < 2:
        return None
    sign = -1.0 if metrics[name].direction == "maximize" else 1.0
    ordered = sorted(whole, key=lambda entrant: (sign * means[entrant], entrant))
    values = [means[entrant] for entrant in ordered]
    placed = [(values.index(value) + 1, entrant, value) for entrant, value in zip(ordered, values, strict=True)]
    apart = [(None, entrant, means[entrant]) for entrant in sorted(set(means) - set(whole))]
    columns = (
        Column("place", "Place", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("value", metrics[name].title or name, unit=metrics[name].unit, direction=metrics[name].direction,
               digits=4),
    )  # fmt: skip
    plot = {"kind": "points", "x": "place", "y": "value"}
    notes = tuple(_sentences(placed, values, [entrant for _, entrant, _ in apart]))
    return Table("standing", "Who wins", columns, (*placed, *apart), notes, {"plot": plot, "metric": name})


def _values(table: Table, name: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    entrant, at = table.index("entrant"), table.index(name)
    for row in table.rows:
        value = row[at]
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(str(row[entrant]), []).append(float(value))
    return values


def _sentences(rows: Sequence[tuple[Cell, ...]], values: Sequence[float], apart: Sequence[str]) -> Iterator[str]:
    first = [in_words(str(row[1])) for row in rows if row[0] == 1]
    shown = first_few(first, SHOWN)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    yield f"First: {shown} with {values[0]:.4g}."
    yield f"The median of {len(values):,} entrants is {middle:.4g}; the middle half lies from {low:.4g} to {high:.4g}."
    if apart:
        yield f"Without a place, with fewer values here than most: {names_in_words(apart)}."
