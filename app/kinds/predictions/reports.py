"""The report of predictions as tables with their plots: curves, confusion, calibration, residuals, truncation.

Called by `app.kinds.predictions.measure` for the rows of one entrant, by `kinds.predictions.kind` for a board's
overlays and by `app.kinds.predictions.summary` for a submission's own report: one definition, so they cannot disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.boards.measured import Estimate
from app.kinds.predictions import intervals as prediction_intervals
from app.kinds.predictions.report_classes import class_areas, class_rows
from app.kinds.predictions.report_values import ranking_rows, value_rows
from app.kinds.predictions.scores import truncated_names
from app.kinds.predictions.task import TaskPredictions
from app.values.table import Cell, Column, Table

Rows = Sequence[tuple[Cell, ...]]


@dataclass(frozen=True)
class Kind:
    """One kind of report table: its title, columns after entrant and task, plots and notes."""

    title: str
    columns: tuple[Column, ...]
    plots: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    named: tuple[Column, ...] = field(default=(Column("entrant", "Entrant", "text"), Column("task", "Task", "text")))


CLASS = Column("class", "Class", "text", glossary="one_vs_rest")
UNIT = [0.0, 1.0]
BY_CLASS = {"by": "entrant", "facet": ["task", "class"]}
BY_SIDE = {"by": "entrant", "facet": ["task", "by"], "facet_words": {"by": "by"}}
HISTOGRAM = {"by": "entrant", "facet": ["task", "by", "entrant"], "facet_words": {"by": "by"}}
CURVE = {"square": True, "direct": True, "mark": {"column": "threshold", "nearest": 0.5}}
OPERATING = "The marked point of each curve is that of the threshold nearest to one half, which is written beside it."
THINNED = (
    "Where labels are private, every step of a curve is at least ten examples wide, so that none shows a single label."
)
BINNED = "Where labels are private, bins of fewer than ten examples are left blank."


def _share(name: str, title: str, glossary: str) -> Column:
    return Column(name, title, digits=4, glossary=glossary)


def _bootstrapped(area: str, title: str) -> tuple[Column, Column]:
    ends = (("lower", "low"), ("upper", "high"))
    low, high = (
        Column(f"{area}_b_{end}", f"{title}, {word} [B]", detail=True, digits=4, glossary="interval_tags")
        for end, word in ends
    )
    return low, high


THRESHOLD = Column("threshold", "Threshold", digits=4, glossary="thresholds")
KINDS: Mapping[str, Kind] = {
    "intervals": Kind("Metrics with their intervals", prediction_intervals.COLUMNS[2:]),
    "classes": Kind(
        "Each class against the rest",
        (
            CLASS,
            Column("weight", "Examples", digits=0, glossary="counts"),
            _share("precision", "Precision", "precision"),
            _share("recall", "Recall", "recall"),
            _share("f1", "F1", "f1"),
            Column("auc", "AUC", interval=("auc_lower", "auc_upper"), direction="maximize", digits=4, glossary="auc"),
            Column("auc_lower", "AUC, low [H]", detail=True, digits=4, glossary="interval_tags"),
            Column("auc_upper", "AUC, high [H]", detail=True, digits=4, glossary="interval_tags"),
            Column("pr_auc", "PR-AUC", interval=("pr_auc_lower", "pr_auc_upper"), direction="maximize", digits=4,
                   glossary="pr_auc"),
            Column("pr_auc_lower", "PR-AUC, low [L]", detail=True, digits=4, glossary="interval_tags"),
            Column("pr_auc_upper", "PR-AUC, high [L]", detail=True, digits=4, glossary="interval_tags"),
            _share("ap", "AP", "ap"),
            _share("ap_ydf", "AP, YDF's rule", "ydf"),
            _share("brier", "Brier", "brier"),
            _share("ece", "Calibration error", "ece"),
            *_bootstrapped("auc", "AUC"),
            *_bootstrapped("pr_auc", "PR-AUC"),
            *_bootstrapped("ap", "AP"),
            *_bootstrapped("ap_ydf", "AP, YDF's rule"),
        ),
        notes=("Where labels are private, precision, recall and F1 are left blank if fewer than ten examples are "
               "called the class, or all but fewer than ten.",),
    ),
    "roc": Kind(
        "ROC",
        (CLASS, THRESHOLD, _share("fpr", "False positive rate", "roc"), _share("recall", "Recall", "roc")),
        ({"kind": "lines", "x": "fpr", "y": "recall", "x_range": UNIT, "y_range": UNIT, "diagonal": True}
         | CURVE | BY_CLASS,),
        (THINNED, OPERATING),
    ),
    "pr": Kind(
        "Precision and recall",
        (CLASS, THRESHOLD, _share("recall", "Recall", "pr"), _share("precision", "Precision", "pr")),
        ({"kind": "lines", "x": "recall", "y": "precision", "x_range": UNIT, "y_range": UNIT} | CURVE | BY_CLASS,),
        (THINNED, OPERATING, "The level line is the share of positives, which calling everything positive has."),
    ),
    "thresholds": Kind(
        "Accuracy and volume by threshold",
        (CLASS, THRESHOLD, _share("accuracy", "Accuracy", "thresholds"), _share("volume", "Volume", "thresholds")),
        (
            {"kind": "lines", "x": "threshold", "y": "accuracy", "y_range": UNIT, "title": "Accuracy"} | BY_CLASS,
            {"kind": "lines", "x": "threshold", "y": "volume", "y_range": UNIT, "title": "Volume"} | BY_CLASS,
        ),
        (THINNED,),
    ),
    "confusion": Kind(
        "Confusion matrix",
        (
            Column("truth", "Truth", "text", glossary="confusion"),
            Column("predicted", "Predicted", "text", glossary="confusion"),
            Column("weight", "Examples", digits=0, glossary="confusion"),
        ),
        ({"kind": "heatmap", "x": "predicted", "y": "truth", "value": "weight", "facet": ["entrant", "task"]},),
        ("Rows are the truth, columns what was predicted.",
         "Where labels are private, classes that are called for fewer than ten examples stand together."),
    ),
    "reliability": Kind(
        "Reliability",
        (
            CLASS,
            _share("predicted", "Predicted probability", "reliability"),
            _share("observed", "Observed share", "reliability"),
            Column("n_examples", "Examples", "integer", glossary="reliability"),
        ),
        ({"kind": "lines", "x": "predicted", "y": "observed", "x_range": UNIT, "y_range": UNIT, "diagonal": True,
          "gaps": True, "count": "n_examples", "square": True} | BY_CLASS,),
        (BINNED, "The numbers at the points are the examples of the bin; no line crosses an empty or blank one."),
    ),
    "residuals": Kind(
        "Residuals: truth minus prediction",
        (Column("residual", "Residual", digits=4, glossary="residuals"),
         Column("n_examples", "Examples", "integer", glossary="residuals")),
        ({"kind": "bars", "x": "residual", "y": "n_examples", "by": "entrant", "facet": ["task", "entrant"]},),
        (BINNED, "The first and the last bin also hold what lies beyond, outliers among them."),
    ),
    "qq": Kind(
        "Normal probability plot of the residuals",
        (Column("theoretical", "Normal quantile", digits=3, glossary="qq"),
         Column("observed", "Residual, standardised", digits=3, glossary="qq")),
        ({"kind": "points", "x": "theoretical", "y": "observed", "diagonal": True, "by": "entrant",
          "facet": ["task"]},),
        ("Where labels are private, each point is the mean of at least ten neighbouring residuals and of their normal "
         "quantiles. The tails are shown as finely as that allows.",),
    ),
    "conditional": Kind(
        "Truth by prediction, prediction by truth",
        (
            Column("by", "By", "text", glossary="conditional"),
            Column("centre", "Bin centre", digits=4, glossary="conditional"),
            Column("mean", "Mean of the other", digits=4, glossary="conditional"),
            Column("rmse", "RMSE", digits=4, direction="minimize", glossary="rmse"),
            Column("n_examples", "Examples", "integer", glossary="conditional"),
            Column("residual", "Mean residual", digits=4, glossary="conditional"),
        ),
        (
            {"kind": "lines", "x": "centre", "y": "mean", "diagonal": True, "title": "Mean"} | BY_SIDE,
            {"kind": "lines", "x": "centre", "y": "rmse", "title": "RMSE"} | BY_SIDE,
            {"kind": "lines", "x": "centre", "y": "residual", "title": "Residual"} | BY_SIDE,
            {"kind": "bars", "x": "centre", "y": "n_examples", "title": "Histogram"} | HISTOGRAM,
        ),
        (BINNED,),
    ),
    "truncation": Kind(
        "NDCG by truncation",
        (
            Column("truncation", "Truncation", "integer", glossary="truncation"),
            Column("ndcg", "NDCG", direction="maximize", interval=("ndcg_lower", "ndcg_upper"), digits=4,
                   glossary="ndcg"),
            Column("ndcg_lower", "NDCG, low", detail=True, digits=4, glossary="ndcg"),
            Column("ndcg_upper", "NDCG, high", detail=True, digits=4, glossary="ndcg"),
        ),
        ({"kind": "lines", "x": "truncation", "y": "ndcg", "low": "ndcg_lower", "high": "ndcg_upper", "by": "entrant",
          "facet": ["task"], "y_range": UNIT},),
    ),
}  # fmt: skip


def report_rows(task: TaskPredictions, level: float, estimates: Mapping[str, Estimate]) -> Mapping[str, Rows]:
    """Return the rows of every kind of report that a task has, without the entrant.

    `estimates` are of the metrics of the board and of `report_metrics`.
    """
    if task.part.kind == "classification":
        made = class_rows(task, level, estimates)
    elif task.part.kind == "regression":
        made = value_rows(task)
    else:
        made = ranking_rows(estimates)
    return {kind: [(task.task, *row) for row in rows] for kind, rows in made.items()}


def report_metrics(task: TaskPredictions) -> tuple[str, ...]:
    """Return what a report estimates beyond the metrics of the board, from the same resamples."""
    if task.part.kind == "classification":
        return class_areas(task)
    return truncated_names(task) if task.part.kind == "ranking" else ()


def report_tables(rows_by_entrant: Mapping[str, Mapping[str, Rows]], *, board: str | None = None) -> tuple[Table, ...]:
    """Return the tables that have rows: `<kind>/<board>` of a board, `<kind>` of a submission."""
    tables = []
    for name, kind in KINDS.items():
        rows = tuple((entrant, *row) for entrant, kinds in rows_by_entrant.items() for row in kinds.get(name, ()))
        if rows:
            meta = {"plot": [dict(plot) | _written(name, rows_by_entrant) for plot in kind.plots]} if kind.plots else {}
            table = Table(name if board is None else f"{name}/{board}", kind.title, (*kind.named, *kind.columns), rows,
                          kind.notes, meta)  # fmt: skip
            tables.append(table)
    return tuple(tables)


AREA_OF = {"roc": ("auc", "AUC"), "pr": ("pr_auc", "PR-AUC")}


def _written(name: str, rows_by_entrant: Mapping[str, Mapping[str, Rows]]) -> dict[str, Any]:
    """Return what is written into the plot of a curve: the area at it, and the share of positives as a level."""
    if name not in AREA_OF:
        return {}
    column, title = AREA_OF[name]
    at = 1 + [each.name for each in KINDS["classes"].columns].index(column)
    words, levels = [], []
    for entrant, kinds in rows_by_entrant.items():
        for row in kinds.get("classes", ()):
            if row[at] is not None:
                words.append({"entrant": entrant, "task": row[0], "class": row[1], "text": f"{title} {row[at]:.3f}"})
        # Calling everything positive, which has no threshold, is right as often as there are positives.
        for task, of_class, threshold, _, precision in kinds.get("pr", ()) if name == "pr" else ():
            level = {"task": task, "class": of_class, "at": precision, "text": f"positives {precision:.3f}"}
            levels += [level] if threshold is None and level not in levels else []
    return {"words": words} | ({"levels": levels} if levels else {})
