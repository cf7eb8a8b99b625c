"""The report of predictions as tables with their plots: curves with bands, confusion, calibration, residuals."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.boards.measured import Estimate, calibrated_cells
from app.boards.tables import Beside
from app.cache import COMPUTED, digest
from app.kinds.predictions.classification import (
    Constraint,
    OfClass,
    ap,
    ap_ydf,
    around_auc,
    auc,
    brier,
    constraint_of,
    effective_counts,
    f1,
    pr_auc,
    pr_auc_ydf,
    precision,
    recall,
)
from app.kinds.predictions.metrics import AREAS, MAX_TRUNCATION, area_of_class, find_metric, truncated_names
from app.kinds.predictions.task import Prepared, TaskPredictions, Weighted
from app.stats.arrays import Counts, FloatArray, IntArray
from app.stats.calibrated import logistic
from app.stats.curve_bands import DrawnCounts, FallingScores, Heights, curve_heights, fall, map_resamples
from app.stats.curves import ThresholdCurve, place_of, place_where, threshold_curve
from app.stats.predictions import (
    conditional_mean,
    confusion_matrix,
    in_bin,
    normal_quantiles,
    predicted_classes,
    reliability,
)
from app.stats.resample import board_generator, percentile_interval
from app.values.table import Cell, Column, ColumnarRows, Table, rows_without
from app.values.table import Rows as TableRows

MAX_REPORTED = 200

MOST_REMEMBERED = 64 << 20
"""A thousand resamples of 100,000 examples take 48 MiB; more than this is drawn again for each entrant."""

INTERVALS = "intervals"

Rows = Sequence[tuple[Cell, ...]]

Result = TypeVar("Result")


@dataclass(frozen=True)
class ExampleResamples:
    """The resamples of one task's examples under a board, which can be drawn again from the first one on."""

    rng_seed: int
    names: tuple[str, ...]
    n_resamples: int

    def map(
        self,
        of: Callable[[Counts], Result],
        n_examples: int,
        n_resamples: int | None = None,
        *,
        is_wide: bool = False,
    ) -> Iterator[Result]:
        """Yield `of` each batch of counts of the first resamples, or of all, as `map_resamples` does.

        All entrants of a board share the same counts, which are drawn once.
        """
        n_drawn = self.n_resamples if n_resamples is None else n_resamples
        rng = board_generator(self.rng_seed, *self.names)
        if DrawnCounts.n_bytes(n_examples, n_drawn) > MOST_REMEMBERED:
            yield from map_resamples(of, n_examples, n_drawn, rng, is_wide=is_wide)
            return
        key = digest("examples", str(self.rng_seed), str(n_examples), *self.names)
        known: DrawnCounts | None = COMPUTED.get(key)
        room = DrawnCounts(n_examples, n_drawn) if known is None or known.n_resamples < n_drawn else known
        yield from map_resamples(of, n_examples, n_drawn, rng, is_wide=is_wide, room=room)
        if room is not known and room.is_whole:
            COMPUTED.keep(key, room, room.halves.nbytes)


def report_rows(
    task: TaskPredictions, level: float, estimates: Mapping[str, Estimate], resamples: ExampleResamples | None = None
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
        {**place, "text": f"{title} {row[column]:.3g}"}
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
        level = {"task": place["task"], "class": place["class"], "at": share, "text": f"positives {share:.3g}"}
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


# How the tables of a report of predictions look: titles, columns, plots, notes.


@dataclass(frozen=True)
class Layout:
    """The layout of one table of a report: its title, columns after entrant and task, plots and notes."""

    title: str
    columns: tuple[Column, ...]
    plots: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    named: tuple[Column, ...] = field(default=(Column("entrant", "Entrant", "text"), Column("task", "Task", "text")))


CLASS = Column("class", "Class", "text", glossary="one_vs_rest")

UNIT = [0.0, 1.0]

BY_CLASS = {"by": "entrant", "facet": ["task", "class"]}

SHARED = {"by": "class", "facet": ["task"], "is_paged": True, "direct": False}

MAX_ALONE = 12
"""Most classes of one entrant that have plots of their own; the curves of more share plots, ten to each."""

BY_SIDE = {"by": "entrant", "facet": ["task", "by"], "facet_words": {"by": "by"}}

HISTOGRAM = {"by": "entrant", "facet": ["task", "by", "entrant"], "facet_words": {"by": "by"}}

CURVE = {"square": True, "direct": True, "bands_upto": 3}

OPERATING = "The dots are the operating points, whose thresholds are in the table of that name."

BANDED = (
    "The band holds the {of} at each {at} over resamples of the examples, at the level of the intervals. It is drawn "
    "around three curves at most, and made where there are at most ten classes."
)

THINNED = (
    "Where labels are private, every step of a curve is at least ten examples wide, so that none shows a single label."
)

BINNED = "Where labels are private, bins of fewer than ten examples are left blank."


def _share(name: str, title: str, glossary: str) -> Column:
    return Column(name, title, digits=4, glossary=glossary)


def _band(of: str, title: str) -> tuple[Column, Column]:
    low, high = (
        Column(f"{of}_{end}", f"{title}, {word} [B]", detail=True, digits=4, glossary="curve_band")
        for end, word in (("lower", "low"), ("upper", "high"))
    )
    return low, high


def _bootstrapped(area: str, title: str) -> tuple[Column, Column]:
    ends = (("lower", "low"), ("upper", "high"))
    low, high = (
        Column(f"{area}_b_{end}", f"{title}, {word} [B]", detail=True, digits=4, glossary="interval_tags")
        for end, word in ends
    )
    return low, high


THRESHOLD = Column("threshold", "Threshold", digits=4, glossary="thresholds")

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

LAYOUTS: Mapping[str, Layout] = {
    "intervals": Layout("Metrics with their intervals", COLUMNS[2:]),
    "classes": Layout(
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
            _share("pr_auc_ydf", "PR-AUC, YDF's rule", "ydf"),
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
    "roc": Layout(
        "ROC",
        (CLASS, THRESHOLD, _share("fpr", "False positive rate", "roc"), _share("recall", "Recall", "roc"),
         *_band("recall", "Recall")),
        ({"kind": "lines", "x": "fpr", "y": "recall", "low": "recall_lower", "high": "recall_upper",
          "x_range": UNIT, "y_range": UNIT, "diagonal": True}
         | CURVE | BY_CLASS,),
        (THINNED, BANDED.format(of="recall", at="false positive rate"), OPERATING),
    ),
    "pr": Layout(
        "Precision and recall",
        (CLASS, THRESHOLD, _share("recall", "Recall", "pr"), _share("precision", "Precision", "pr"),
         *_band("precision", "Precision")),
        ({"kind": "lines", "x": "recall", "y": "precision", "low": "precision_lower", "high": "precision_upper",
          "x_range": UNIT, "y_range": UNIT} | CURVE | BY_CLASS,),
        (THINNED, BANDED.format(of="precision", at="recall"), OPERATING,
         "The level line is the share of positives, which calling everything positive has."),
    ),
    "operating": Layout(
        "Operating points",
        (CLASS, Column("point", "Point", "text", glossary="operating_points"), THRESHOLD,
         _share("recall", "Recall", "recall"), _share("precision", "Precision", "precision"),
         _share("fpr", "False positive rate", "roc"), _share("accuracy", "Accuracy", "accuracy"),
         _share("volume", "Volume", "thresholds")),
        notes=("What is above the threshold is called; without one everything is. A point that no threshold reaches is "
               "blank.",
               "Where labels are private, points are among the thresholds that the curves show: for a declared one "
               "that which calls most nearly as many examples, else by numbers as they are shown, so that a metric "
               "may differ there from its value on the board."),
    ),
    "thresholds": Layout(
        "Accuracy and volume by threshold",
        (CLASS, THRESHOLD, _share("accuracy", "Accuracy", "thresholds"), _share("volume", "Volume", "thresholds")),
        (
            {"kind": "lines", "x": "threshold", "y": "accuracy", "y_range": UNIT, "title": "Accuracy"} | BY_CLASS,
            {"kind": "lines", "x": "threshold", "y": "volume", "y_range": UNIT, "title": "Volume"} | BY_CLASS,
        ),
        (THINNED,),
    ),
    "confusion": Layout(
        "Confusion matrix",
        (
            Column("truth", "Truth", "text", glossary="confusion"),
            Column("predicted", "Predicted", "text", glossary="confusion"),
            Column("weight", "Examples", digits=0, glossary="confusion"),
        ),
        ({"kind": "heatmap", "x": "predicted", "y": "truth", "value": "weight", "facet": ["entrant", "task"]},),
        ("Rows are the truth, columns what was predicted.",
         "Where labels are private, classes that are called for fewer than ten examples are pooled."),
    ),
    "reliability": Layout(
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
    "residuals": Layout(
        "Residuals: truth minus prediction",
        (Column("residual", "Residual", digits=4, glossary="residuals"),
         Column("n_examples", "Examples", "integer", glossary="residuals")),
        ({"kind": "bars", "x": "residual", "y": "n_examples", "by": "entrant", "facet": ["task", "entrant"]},),
        (BINNED, "The first and the last bin also hold what lies beyond, outliers among them."),
    ),
    "qq": Layout(
        "Normal probability plot of the residuals",
        (Column("theoretical", "Normal quantile", digits=3, glossary="qq"),
         Column("observed", "Residual, standardised", digits=3, glossary="qq")),
        ({"kind": "points", "x": "theoretical", "y": "observed", "diagonal": True, "by": "entrant",
          "facet": ["task"]},),
        ("Where labels are private, each point is the mean of at least ten neighbouring residuals and of their normal "
         "quantiles. The tails are shown as finely as that allows.",),
    ),
    "conditional": Layout(
        "Truth by prediction, prediction by truth",
        (
            Column("by", "By", "text", glossary="conditional"),
            Column("centre", "Bin centre", digits=4, glossary="conditional"),
            Column("mean", "Mean of the other", digits=4, glossary="conditional"),
            Column("rmse", "RMSE", digits=4, direction="minimize", glossary="rmse"),
            Column("n_examples", "Examples", "integer", glossary="conditional"),
            Column("residual", "Mean residual", digits=4, glossary="conditional"),
            _share("same_bin", "Share in the same bin", "conditional"),
        ),
        (
            {"kind": "lines", "x": "centre", "y": "mean", "diagonal": True, "title": "Mean"} | BY_SIDE,
            {"kind": "lines", "x": "centre", "y": "rmse", "title": "RMSE"} | BY_SIDE,
            {"kind": "lines", "x": "centre", "y": "residual", "title": "Residual"} | BY_SIDE,
            {"kind": "lines", "x": "centre", "y": "same_bin", "y_range": UNIT, "title": "Recall"} | BY_SIDE,
            {"kind": "bars", "x": "centre", "y": "n_examples", "title": "Histogram"} | HISTOGRAM,
        ),
        (BINNED,),
    ),
    "truncation": Layout(
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


# The report of class predictions: curves of each class against the rest, confusion, calibration. A curve with every
# threshold would show the label of every example to whoever knows the scores, so steps, bins and predicted classes
# each hold several examples where labels are private.

MIN_CELL = 10
"""Fewest examples in a step of a curve, in a bin, and called one class, so that none shows a single private label."""

MAX_POINTS = 200

N_BINS = 10

MAX_CURVES = 60

MAX_CONFUSED = 60

MAX_BANDS = 10
"""Most curves of a task that have bands: more of them would be illegible."""

MAX_NAMED = 3


def smallest_cell(task: TaskPredictions) -> int:
    """Return how many examples a step or a bin needs; one is enough where the submitter brought the labels."""
    return MIN_CELL if task.part.labels == "private" else 1


def class_rows(
    task: TaskPredictions, level: float, estimates: Mapping[str, Estimate], resamples: ExampleResamples | None = None
) -> dict[str, Rows]:
    """Return the rows of each table of the report of class predictions; `estimates` are those of `class_areas` too."""
    curves = [(name, at, _curve(task, at)) for name, at in _shown_classes(task)]
    weighted = Weighted(Prepared(task), task.item_weights[None, :])
    called = predicted_classes(task.probabilities)
    confusion = confusion_matrix(task.class_number, called, len(task.classes), task.item_weights)
    n_called = np.bincount(called, task.item_weights > 0, minlength=len(task.classes)).astype(np.int64)
    thinned = [(at, _shown_curve(task, name, at, curve)) for name, at, curve in curves if curve.has_both]
    banded = resamples if len(thinned) <= MAX_BANDS else None
    bands = [_bands(task, at, shown, level, banded) for at, shown in thinned]
    return {
        "classes": [
            (*_class_row(task, at, weighted, confusion, n_called, level), *_resampled(at, estimates))
            for _, at, _ in curves
        ],
        "roc": [
            row
            for (_, shown), band in zip(thinned, bands, strict=True)
            for row in _points(shown, "false_positive_rate", "recall", band.roc)
        ],
        "pr": [
            row
            for (_, shown), band in zip(thinned, bands, strict=True)
            for row in _points(shown, "recall", "precision", band.pr)
        ],
        "operating": [row for _, shown in thinned for row in operating_rows(task, shown, estimates)],
        "thresholds": [row for _, shown in thinned for row in _points(shown, "accuracy", "volume")],
        "confusion": list(_confusion_rows(task, confusion, n_called)),
        "reliability": [row for name, at in _shown_classes(task) for row in _reliability_rows(task, name, at)],
    }


def class_areas(task: TaskPredictions) -> tuple[str, ...]:
    """Return the areas of each shown class, which a report estimates from the resamples of the board."""
    return tuple(area_of_class(area, at) for _, at in _shown_classes(task) for area in AREAS)


def _resampled(at: int, estimates: Mapping[str, Estimate]) -> Iterator[Cell]:
    for area in AREAS:
        estimate = estimates.get(area_of_class(area, at), Estimate(None))
        yield from (estimate.low, estimate.high)


def _shown_classes(task: TaskPredictions) -> list[tuple[str, int]]:
    """Return the positive class of two; of several the commonest ones, in the manifest's order."""
    if len(task.classes) == 2:
        return [(task.classes[1], 1)]
    common = np.argsort(-np.bincount(task.class_number, minlength=len(task.classes)), kind="stable")[:MAX_CURVES]
    return [(task.classes[at], at) for at in sorted(common.tolist())]


def _curve(task: TaskPredictions, at: int) -> ThresholdCurve:
    return threshold_curve(task.probabilities[:, at], task.class_number == at, task.item_weights)


@dataclass(frozen=True)
class ShownCurve:
    """The curve of one class against the rest, and the places on it that are shown.

    `passed` [n_thresholds] counts the examples that each threshold does not call, whatever their labels and weights.
    """

    name: str
    curve: ThresholdCurve
    steps: NDArray[np.intp]
    passed: IntArray


def _shown_curve(task: TaskPredictions, name: str, at: int, curve: ThresholdCurve) -> ShownCurve:
    _, n_each = np.unique(task.probabilities[:, at], return_counts=True)
    passed = np.concatenate([[0], np.cumsum(n_each)])
    return ShownCurve(name, curve, _steps(task, passed), passed)


def _steps(task: TaskPredictions, passed: IntArray) -> NDArray[np.intp]:
    """Return the thresholds of a curve that are shown: the first, the last, and some with enough examples between."""
    least = max(smallest_cell(task), len(task) // MAX_POINTS)
    kept = [0]
    while (reached := passed[kept[-1]] + least) <= passed[-1] - least:
        kept.append(int(np.searchsorted(passed, reached)))
    # The last step holds what is left, which may be up to twice as much.
    kept = [at for at in kept if passed[-1] - passed[at] >= least] or [0]
    return np.array([*kept, len(passed) - 1])


@dataclass(frozen=True)
class Band:
    """The ends of a curve's height at each of some places, [n_places], NaN where there are none."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Bands:
    """The bands of one class against the rest, at the places of its shown thresholds."""

    roc: Band
    pr: Band


def _bands(
    task: TaskPredictions, at: int, shown: ShownCurve, level: float, resamples: ExampleResamples | None
) -> Bands:
    curve, steps = shown.curve, shown.steps
    return curve_bands(task, at, curve.false_positive_rate[steps], curve.recall[steps], level, resamples)


def _points(shown: ShownCurve, x: str, y: str, band: Band | None = None) -> Iterator[tuple[Cell, ...]]:
    across, up = getattr(shown.curve, x), getattr(shown.curve, y)
    for number, at in enumerate(shown.steps.tolist()):
        threshold = float(shown.curve.threshold[at])
        ends = () if band is None else (_known(band.low[number]), _known(band.high[number]))
        yield (shown.name, threshold if np.isfinite(threshold) else None, float(across[at]), float(up[at]), *ends)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _class_row(
    task: TaskPredictions, at: int, weighted: Weighted, confusion: FloatArray, n_called: IntArray, level: float
) -> tuple[Cell, ...]:
    n_positive = float(confusion[at].sum())
    is_known = not _is_few(int(n_called[at]), task) and not _is_few(int(n_called.sum() - n_called[at]), task)
    area, pr_area = (_value(of, weighted, at) for of in (auc, pr_auc))
    counts = effective_counts(task, at)
    around = None if area is None else around_auc(area, counts, level)
    pr_around = None if pr_area is None else logistic(pr_area, counts[0], level)
    is_class = task.class_number == at
    bins = reliability(task.probabilities[:, at], is_class, task.item_weights)
    return (
        task.classes[at],
        None if task.weights is not None and _is_few(is_class.sum(), task) else n_positive,
        *(_value(of, weighted, at) if is_known else None for of in (precision, recall, f1)),
        area,
        *(around or (None, None)),
        pr_area,
        *(pr_around or (None, None)),
        *(_value(of, weighted, at) for of in (pr_auc_ydf, ap, ap_ydf, brier)),
        bins.expected_calibration_error,
    )


def _value(of: OfClass, weighted: Weighted, at: int) -> float | None:
    """Return the same number as a board has; None where it is undefined."""
    return _known(float(of(weighted, at)[0]))


def _is_few(n_examples: int, task: TaskPredictions) -> bool:
    return 0 < n_examples < smallest_cell(task)


def _confusion_rows(task: TaskPredictions, confusion: FloatArray, n_called: IntArray) -> Iterator[tuple[Cell, ...]]:
    if len(task.classes) > MAX_CONFUSED:
        return
    pools = _pooled(task, n_called)
    for truth, cells in zip(task.classes, confusion, strict=True):
        yield from ((truth, _together(task, pool), float(cells[pool].sum())) for pool in pools)


def _pooled(task: TaskPredictions, n_called: IntArray) -> list[list[int]]:
    """Return the predicted classes, with rarely predicted ones pooled into one.

    The totals of the true classes are known, so blank cells could be computed again. The pool takes in the next
    rarer classes until it is large enough.
    """
    rarest = [at for at in np.argsort(n_called, kind="stable").tolist() if n_called[at] > 0]
    n_pooled = sum(_is_few(n_called[at], task) for at in rarest)
    while 0 < n_pooled < len(rarest) and _is_few(int(n_called[rarest[:n_pooled]].sum()), task):
        n_pooled += 1
    pool = rarest[:n_pooled]
    alone = [[at] for at in range(len(n_called)) if at not in pool]
    return [*alone, sorted(pool)] if pool else alone


def _together(task: TaskPredictions, pool: list[int]) -> str:
    return " + ".join(task.classes[at] for at in pool) if len(pool) <= MAX_NAMED else f"{len(pool)} classes together"


def _reliability_rows(task: TaskPredictions, name: str, at: int) -> Iterator[tuple[Cell, ...]]:
    bins = reliability(task.probabilities[:, at], task.class_number == at, task.item_weights, N_BINS)
    filled = {min(int(plain * N_BINS), N_BINS - 1): at for at, plain in enumerate(bins.plain.tolist())}
    for number in range(N_BINS):
        if number not in filled:
            yield (name, (number + 0.5) / N_BINS, None, 0)
            continue
        at, n_examples = filled[number], int(bins.n_examples[filled[number]])
        # A mean under private weights would show them where there are few.
        few = _is_few(n_examples, task)
        predicted, observed = (bins.plain[at], None) if few else (bins.predicted[at], float(bins.observed[at]))
        yield (name, float(predicted), observed, n_examples)


# The report of predicted values and of rankings: residuals, where they are, and NDCG by truncation.

MAX_BINS, MAX_QUANTILES = 30, 200


def value_rows(task: TaskPredictions) -> dict[str, Rows]:
    """Return the rows of each table of the report of predicted values."""
    return {
        "residuals": list(_histogram(task)),
        "qq": list(_quantiles(task)),
        "conditional": [*_conditional(task, "prediction"), *_conditional(task, "truth")],
    }


def _n_bins(task: TaskPredictions) -> int:
    return int(np.clip(len(task) // (2 * smallest_cell(task)), 1, MAX_BINS))


def _histogram(task: TaskPredictions) -> Iterator[tuple[Cell, ...]]:
    residuals, least = task.label - task.predicted, smallest_cell(task)
    bins = conditional_mean(residuals, residuals, task.item_weights, _n_bins(task), least)
    for centre, n_examples in zip(bins.centre.tolist(), bins.n_examples.tolist(), strict=True):
        yield (centre, n_examples if n_examples >= least else None)


def _quantiles(task: TaskPredictions) -> Iterator[tuple[Cell, ...]]:
    theoretical, observed = normal_quantiles(task.label - task.predicted, task.item_weights)
    starts = _tails_whole(len(task), smallest_cell(task))
    for expected, seen in zip(np.split(theoretical, starts), np.split(observed, starts), strict=True):
        yield (float(expected.mean()), float(seen.mean()))


def _tails_whole(n_examples: int, least: int) -> list[int]:
    """Return where to cut sorted residuals: both tails as finely as may be shown, the middle so that all points fit.

    The tails decide the interval [X2], so they are never thinned for the sake of a plot.
    """
    n_parts = max(1, n_examples // least)
    cuts = [at * n_examples // n_parts for at in range(1, n_parts)]
    tail = MAX_QUANTILES // 4
    if len(cuts) < MAX_QUANTILES:
        return cuts
    middle = np.linspace(tail, len(cuts) - tail - 1, MAX_QUANTILES - 2 * tail - 1).astype(int).tolist()
    return [*cuts[:tail], *(cuts[at] for at in middle), *cuts[-tail:]]


def _conditional(task: TaskPredictions, by: str) -> Iterator[tuple[Cell, ...]]:
    of, other = (task.predicted, task.label) if by == "prediction" else (task.label, task.predicted)
    n_bins, least, weights = _n_bins(task), smallest_cell(task), task.item_weights
    means = conditional_mean(of, other, weights, n_bins, least)
    squares = conditional_mean(of, (task.predicted - task.label) ** 2, weights, n_bins, least)
    residuals = conditional_mean(of, task.label - task.predicted, weights, n_bins, least)
    same = conditional_mean(
        of, in_bin(of, of, n_bins, least) == in_bin(of, other, n_bins, least), weights, n_bins, least
    )
    for at in range(n_bins):
        centre, n_examples = float(means.centre[at]), int(means.n_examples[at])
        if n_examples >= least:
            rmse = float(np.sqrt(squares.mean[at]))
            yield (by, centre, float(means.mean[at]), rmse, n_examples, float(residuals.mean[at]), float(same.mean[at]))
        else:
            yield (by, centre, *[None] * 5)


def ranking_rows(estimates: Mapping[str, Estimate]) -> dict[str, Rows]:
    """Return NDCG by truncation with its bootstrap interval over groups, from the estimates named `ndcg@…`."""
    return {
        "truncation": [
            (truncation, estimate.point, estimate.low, estimate.high)
            for truncation in range(1, MAX_TRUNCATION + 1)
            if (estimate := estimates.get(f"ndcg@{truncation}")) is not None
        ]
    }


# Operating points of a classifier: the thresholds that a manifest declares, and those of its metrics at a constraint.
# Where labels are private a point is at one of the thresholds that the curve shows: which threshold just meets a
# constraint would tell more, so that is chosen by the published shares. A declared threshold is looked for by how many
# examples are called, which no label and no weight has a part in.


def operating_rows(task: TaskPredictions, shown: ShownCurve, metrics: Iterable[str]) -> Iterator[tuple[Cell, ...]]:
    """Yield the class, the point's name, its threshold and the shares there, for each threshold and constraint."""
    near = "near " if task.part.labels == "private" else ""
    for threshold in task.part.thresholds:
        yield _row(shown, f"{near}score ≥ {threshold:g}", _place_of(task, shown, threshold))
    for metric in metrics:
        constraint = constraint_of(metric)
        if constraint is not None:
            yield _row(shown, f"{near}{metric.removesuffix('_macro')}", _place_where(task, shown, constraint))


def _place_of(task: TaskPredictions, shown: ShownCurve, threshold: float) -> int:
    """Return the place of a threshold; of private labels the shown one that calls most nearly as many examples.

    The nearest number may be another cut: between scores of 0.1 and 0.9 there is none, and from 0.5 on is above 0.1.
    """
    place = place_of(shown.curve.threshold, threshold)
    if task.part.labels != "private":
        return place
    return int(shown.steps[np.abs(shown.passed[shown.steps] - shown.passed[place]).argmin()])


def _place_where(task: TaskPredictions, shown: ShownCurve, wanted: Constraint) -> int | None:
    values = _shares(shown.curve)[wanted.given]
    if task.part.labels != "private":
        return place_where(wanted.given, values, wanted.at)
    step = share_step(len(task))
    published = np.array([in_steps(value, step) for value in values[shown.steps].tolist()])
    place = place_where(wanted.given, published, wanted.at)
    return None if place is None else int(shown.steps[place])


def _row(shown: ShownCurve, point: str, place: int | None) -> tuple[Cell, ...]:
    if place is None:
        return (shown.name, point, *[None] * 6)
    threshold = float(shown.curve.threshold[place])
    shares = _shares(shown.curve)
    values = (float(shares[name][place]) for name in ("recall", "precision", "fpr", "accuracy", "volume"))
    return (shown.name, point, threshold if np.isfinite(threshold) else None, *values)


def _shares(curve: ThresholdCurve) -> dict[str, FloatArray]:
    return {
        "recall": curve.recall,
        "precision": curve.precision,
        "fpr": curve.false_positive_rate,
        "accuracy": curve.accuracy,
        "volume": curve.volume,
    }


# Steps of 1, 2 or 5 times a power of ten, in which numbers that rest on private labels are published. They divide
# one, so that a share of one stays one.


def nice_step(least: float) -> float:
    """Return the smallest step of 1, 2, 5 times a power of ten that is at least so large.

    >>> [nice_step(least) for least in (0.013, 0.02, 3.3, 0.6)]
    [0.02, 0.02, 5.0, 1.0]
    """
    if not math.isfinite(least) or least <= 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    factor = next((f for f in (1.0, 2.0, 5.0) if f * power >= least * (1.0 - 1e-9)), 10.0)
    return float(f"{factor * power:.0e}")


def in_steps(value: float, step: float, ends: int = 0) -> float:
    """Return the nearest multiple of a step; the one below for `ends` −1, the one above for 1.

    >>> in_steps(0.847, 0.02), in_steps(0.847, 0.02, -1), in_steps(0.841, 0.02, 1)
    (0.84, 0.84, 0.86)
    """
    if step <= 0.0:
        return value
    steps = value / step
    nearest = round(steps)
    if ends and abs(steps - nearest) > 1e-9:
        nearest = math.floor(steps) if ends < 0 else math.ceil(steps)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return round(nearest * step, decimals) + 0.0


def share_step(n_units: int) -> float:
    """Return the step of a share of so many units: at least half the largest standard error that it can have.

    >>> share_step(100)
    0.05
    """
    return nice_step(0.25 / math.sqrt(max(1, n_units)))


# Bootstrap bands around the curves of a report, from the same resamples as the intervals of its metrics. A ROC curve
# has a band of its recall at each false positive rate that is shown, a precision-recall curve one of its precision at
# each recall.

MAX_UNDEFINED = 0.05
"""Largest share of resamples in which a curve may be undefined; beyond it there is no band, as there is no interval."""

LEAST_RESAMPLES, MOST_COUNTS = 200, 20_000_000
"""A band needs fewer resamples than an interval: so many, or as many as these counts allow."""


def curve_bands(
    task: TaskPredictions,
    at: int,
    rates: FloatArray,
    recalls: FloatArray,
    level: float,
    resamples: ExampleResamples | None,
) -> Bands:
    """Return the bands of a class at false positive rates and recalls, in any order; without resamples none."""
    places = (np.unique(rates), np.unique(recalls))
    drawn = None if resamples is None else _drawn(task, at, places, resamples)
    recall, precision = (None, None) if drawn is None else (drawn.recall, drawn.precision)
    return Bands(_band_of_curve(recall, places[0], rates, level), _band_of_curve(precision, places[1], recalls, level))


def _drawn(
    task: TaskPredictions, at: int, places: tuple[FloatArray, FloatArray], resamples: ExampleResamples
) -> Heights:
    scores = fall(task.probabilities[:, at], task.class_number == at, task.by_fall(at))
    n_resamples = min(resamples.n_resamples, max(LEAST_RESAMPLES, MOST_COUNTS // len(task)))
    of = partial(_heights, scores, None if task.weights is None else task.item_weights, places)
    parts = list(resamples.map(of, len(task), n_resamples, is_wide=task.weights is not None))
    return Heights(np.concatenate([part.recall for part in parts]), np.concatenate([part.precision for part in parts]))


def _heights(
    scores: FallingScores, weights: FloatArray | None, places: tuple[FloatArray, FloatArray], counts: Counts
) -> Heights:
    return curve_heights(scores, counts if weights is None else counts * weights, *places)


def _band_of_curve(drawn: FloatArray | None, places: FloatArray, shown: FloatArray, level: float) -> Band:
    nothing = np.full(len(places), np.nan)
    low, high = (nothing, nothing) if drawn is None else _ends(drawn, level)
    at = np.searchsorted(places, shown)
    return Band(low[at], high[at])


def _ends(drawn: FloatArray, level: float) -> Sequence[FloatArray]:
    """Return the ends at each place; where a curve is undefined in a few resamples, those are left out."""
    known = ~np.isnan(drawn).all(axis=1)
    if known.mean() < 1.0 - MAX_UNDEFINED:
        nothing = np.full(drawn.shape[1], np.nan)
        return nothing, nothing
    return percentile_interval(drawn[known], level)


# Every interval of one entrant's metrics on one task, each with the tag that the glossary gives its method.


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
