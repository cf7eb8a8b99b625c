"""The report of predictions as tables with their plots: curves, confusion, calibration, residuals, truncation.

Called by `app.kinds.predictions.measure` for the rows of one entrant, by `app.kinds.predictions.kind` for a board's
overlays and by `app.kinds.predictions.summary` for a submission's own report: one definition, so they cannot disagree.
"""

from collections.abc import Iterator, Mapping, Sequence, Sized
from functools import partial
from itertools import islice
from typing import Any

from app.boards.measured import Estimate
from app.boards.tables import Beside
from app.kinds.predictions.bands import Resamples
from app.kinds.predictions.report_classification import class_areas, class_rows
from app.kinds.predictions.report_layouts import BY_CLASS, LAYOUTS, MAX_ALONE, SHARED
from app.kinds.predictions.report_values import ranking_rows, value_rows
from app.kinds.predictions.scores import truncated_names
from app.kinds.predictions.task import TaskPredictions
from app.values.columnar import ColumnarRows, rows_without
from app.values.table import Cell, Table
from app.values.table import Rows as TableRows

MAX_REPORTED = 200
INTERVALS = "intervals"
Rows = Sequence[tuple[Cell, ...]]


def report_rows(
    task: TaskPredictions, level: float, estimates: Mapping[str, Estimate], resamples: Resamples | None = None
) -> Mapping[str, Rows]:
    """Return the rows of each table of the report of a task, by its name, without the entrant.

    `estimates` are of the metrics of the board and of `report_metrics`; bands of curves are drawn from `resamples`.
    """
    if task.part.kind == "classification":
        reports = class_rows(task, level, estimates, resamples)
    elif task.part.kind == "regression":
        reports = value_rows(task)
    else:
        reports = ranking_rows(estimates)
    return {name: [(task.task, *row) for row in rows] for name, rows in reports.items()}


def report_metrics(task: TaskPredictions) -> tuple[str, ...]:
    """Return what a report estimates beyond the metrics of the board, from the same resamples."""
    if task.part.kind == "classification":
        return class_areas(task)
    return truncated_names(task) if task.part.kind == "ranking" else ()


def report_tables(rows_by_entrant: Mapping[str, Mapping[str, Rows]]) -> tuple[Table, ...]:
    """Return the tables of a submission that have rows, each named as its layout."""
    reports = [_report(name, name, rows_by_entrant, n_shown=None) for name in LAYOUTS]
    return tuple(table for table in reports if table is not None)


def reports_beside(rows_by_entrant: Mapping[str, Mapping[str, Rows]], board: str) -> tuple[Beside, ...]:
    """Return the tables of a board, each named `<layout>/<board>`.

    The entrants come from best to worst. All of them have their intervals, and the best their curves.
    """
    names = {name: f"{name}/{board}" for name in LAYOUTS}
    return tuple(
        Beside(full, partial(_report, name, full, rows_by_entrant, None if name == INTERVALS else MAX_REPORTED))
        for name, full in names.items()
    )


def _report(
    layout_name: str, name: str, rows_by_entrant: Mapping[str, Mapping[str, Rows]], n_shown: int | None
) -> Table | None:
    layout, shown = LAYOUTS[layout_name], dict(islice(rows_by_entrant.items(), n_shown))
    rows = _rows_of(list(shown), [tables.get(layout_name, ()) for tables in shown.values()])
    if not len(rows):
        return None
    written = _written(layout_name, shown)
    plots = [dict(plot) | written | _many_classes(plot, shown) for plot in layout.plots]
    notes = (*layout.notes, *_left_out(shown, rows_by_entrant))
    return Table(name, layout.title, (*layout.named, *layout.columns), rows, notes, {"plot": plots} if plots else {})


def _rows_of(entrants: Sequence[str], parts: Sequence[Rows]) -> TableRows:
    """Return the rows of all, each behind the name of its entrant; as columns where those of somebody are."""
    if any(isinstance(part, ColumnarRows) and len(part) for part in parts):
        return ColumnarRows.of_parts(entrants, parts)
    return tuple((entrant, *row) for entrant, part in zip(entrants, parts, strict=True) for row in part)


def _left_out(shown: Sized, entrants: Sized) -> tuple[str, ...]:
    """Say when not everybody is shown: what a thousand curves come to is larger than anyone reads."""
    if len(shown) == len(entrants):
        return ()
    return (f"The {len(shown)} best of {len(entrants)} are shown; every submission's own page has its report.",)


def _many_classes(plot: Mapping[str, Any], rows_by_entrant: Mapping[str, Mapping[str, Rows]]) -> dict[str, Any]:
    """Return how one entrant's curves of more classes than have plots of their own share some."""
    rows = [row for tables in rows_by_entrant.values() for row in tables.get("classes", ())]
    is_many = len(rows_by_entrant) == 1 and len({(row[0], row[1]) for row in rows}) > MAX_ALONE
    return dict(SHARED) if is_many and plot.get("facet") == BY_CLASS["facet"] else {}


AREA_OF = {"roc": ("auc", "AUC"), "pr": ("pr_auc", "PR-AUC")}
POSITION = {"roc": ("fpr", "recall"), "pr": ("recall", "precision")}


def _written(name: str, rows_by_entrant: Mapping[str, Mapping[str, Rows]]) -> dict[str, Any]:
    """Return what is written into the plot of a curve: the area at it, operating points, the share of positives."""
    if name not in AREA_OF:
        return {}
    column, title = AREA_OF[name]
    words = [
        {**place, "text": f"{title} {row[column]:.3f}"}
        for place, row in _records("classes", rows_by_entrant)
        if row[column] is not None
    ]
    x, y = POSITION[name]
    points = [
        {**place, "x": row[x], "y": row[y], "text": row["point"]}
        for place, row in _records("operating", rows_by_entrant)
        if row[x] is not None
    ]
    return {"words": words, "points": points} | ({"levels": _levels(rows_by_entrant)} if name == "pr" else {})


def _levels(rows_by_entrant: Mapping[str, Mapping[str, Rows]]) -> list[dict[str, Any]]:
    """Return the level lines: calling everything positive, which has no threshold, is right by their share."""
    levels: list[dict[str, Any]] = []
    for place, row in _records("pr", rows_by_entrant, without="threshold"):
        share = row["precision"]
        level = {"task": place["task"], "class": place["class"], "at": share, "text": f"positives {share:.3f}"}
        levels += [level] if level not in levels else []
    return levels


def _records(
    name: str, rows_by_entrant: Mapping[str, Mapping[str, Rows]], *, without: str | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the rows of a table of classes, or those without one cell: which curve each is of, its cells by column."""
    columns = ("task", *(column.name for column in LAYOUTS[name].columns))
    for entrant, tables in rows_by_entrant.items():
        rows = tables.get(name, ())
        for row in rows if without is None else rows_without(rows, columns.index(without)):
            cells = dict(zip(columns, row, strict=True))
            yield {"entrant": entrant, "task": cells["task"], "class": cells["class"]}, cells
