"""Every interval of one entrant's metrics on one task, each with the tag that the glossary gives its method.

Called by `app.kinds.predictions.measure`; pure.
"""

from collections.abc import Iterator, Mapping

from app.boards.measured import Estimate, calibrated_cells
from app.kinds.predictions.metrics import find_metric
from app.kinds.predictions.task import TaskPredictions
from app.values.table import Cell, Column

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("metric", "Metric", "text", glossary="estimate"),
    Column("value", "Value", interval=("value_lower", "value_upper"), glossary="estimate", digits=4),
    Column("value_lower", "Value, low", detail=True, digits=4),
    Column("value_upper", "Value, high", detail=True, digits=4),
    Column("interval", "Tag", "text", glossary="interval_tags"),
    Column("how", "Interval", "text", glossary="interval_tags"),
    Column("level", "Level", digits=2),
    Column("default", "Constant predictor", optional=True, glossary="default_metrics", digits=4),
    Column("n_units", "Units", "integer", glossary="counts"),
    Column("note", "Note", "text", optional=True),
)


def interval_rows(task: TaskPredictions, level: float, estimates: Mapping[str, Estimate]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each metric and interval, the bootstrap first; `n_units` are examples, or groups of a ranking."""
    n_units = len(task.unit_weights)
    unit = "groups" if task.part.kind == "ranking" else "examples"
    for metric, each in estimates.items():
        known = find_metric(metric)
        default = None if known is None else known.default(task)
        note = None if each.reason is None else each.reason.replace("_", " ")
        how = f"percentile bootstrap over {unit}"
        yield (task.task, metric, each.point, each.low, each.high, "B", how, level, default, n_units, note)
        if each.point is None or known is None:
            continue
        if each.calibrated is not None:
            ours = calibrated_cells(each.calibrated)
            note = None if each.calibrated.reason is None else each.calibrated.reason.replace("_", " ")
            how = "calibrated" if each.calibrated.how is None else f"calibrated, {each.calibrated.how}"
            yield (task.task, metric, each.point, ours.low, ours.high, "C", how, level, default, n_units, note)
        for tag, how, of, ends in known.closed(task, each.point, level):
            low, high = ends or (None, None)
            note = None if ends is not None else "undefined at this value"
            yield (task.task, metric, each.point, low, high, tag, how, of, default, n_units, note)
