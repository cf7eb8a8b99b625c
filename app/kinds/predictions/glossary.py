"""Glossary entries of what metrics of predictions share. Read by `app.kinds.predictions.kind`.

The metrics themselves are explained in the table of `app.kinds.predictions.metrics`, plots, intervals and tests in
`glossary_reports`.
"""

from app.values.glossary_entry import Entry

YDF = "YDF (Yggdrasil Decision Forests), its glossary of metrics"

METRIC_AT = Entry(
    "metric_at",
    "X@Y: a metric at a constraint",
    "The metric X at a threshold that meets the constraint Y, such as precision@recall=0.8. It is conservative: "
    "only thresholds that occur count, nothing is interpolated, and where no threshold meets the constraint there "
    "is no value. Positive is what scores above the threshold.",
    "along ascending thresholds: precision and fpr @recall, precision @volume: the last point with at least Y\n"
    "recall @precision: the first with at least Y; recall @fpr: the first with at most Y",
    YDF,
)

YDF_RULE = Entry(
    "ydf",
    "As YDF computes it",
    "The same metric by the rule of YDF, to compare with what that program prints; nothing is ranked by it unless the"
    " manifest names it. AP takes the precision before each gain in recall, and rankings break ties of the prediction"
    " by falling relevance, so that a constant prediction gets 1. MAP is over the relevant items among the first T"
    " alone, so that leaving others out of them pays. Precision@1 asks of equally relevant items only the first in the"
    " labels.",
    "AP: Σ (gain in recall) × (precision before the gain)",
    YDF,
)

TERMS = (
    METRIC_AT,
    Entry(
        "ece",
        "Expected calibration error",
        "How far predicted probabilities are from the observed shares, on average over ten bins of equal width; lower "
        "is better. 0 says that of the examples given 70 %, 70 % came true. It depends on the bins, and says "
        "nothing about how well the classes are separated.",
        "Σ over bins of weight × |mean prediction − observed share| / total weight",
        "Naeini, Cooper & Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning",
    ),
    Entry(
        "one_vs_rest",
        "One against the rest, macro, micro",
        "Of several classes each one is taken as positive and all others as negative. Macro is the plain average over "
        "the classes, so that a rare one counts as much as a common one; micro pools all decisions first, so that "
        "common ones count more.",
    ),
    Entry(
        "truncation",
        "Truncation",
        "How many items from the top of each ranking count. A curve over truncations shows whether an advantage is at "
        "the very top or further down.",
    ),
)
