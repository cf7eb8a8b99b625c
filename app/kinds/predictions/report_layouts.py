"""How the tables of a report of predictions look: titles, columns, plots, notes. Read by `.reports` and `.grain`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.kinds.predictions import intervals as prediction_intervals
from app.values.table import Column


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
LAYOUTS: Mapping[str, Layout] = {
    "intervals": Layout("Metrics with their intervals", prediction_intervals.COLUMNS[2:]),
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
               "Where labels are private, points are chosen among the thresholds that the curves show, by numbers as "
               "they are shown."),
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
