"""Terms that the metrics of predictions share, for the glossary.

What a metric means stands beside how it is computed: of classes in `app.kinds.predictions.classification`, of values
and rankings in `app.kinds.predictions.metrics`.
"""

from app.values.glossary import GlossaryEntry

YDF = "YDF (Yggdrasil Decision Forests), its glossary of metrics"

METRIC_AT = GlossaryEntry(
    "metric_at",
    "X@Y: a metric at a constraint",
    "The metric X at a threshold that meets the constraint Y, such as precision@recall=0.8. It is conservative: "
    "only thresholds that occur count, nothing is interpolated, and where no threshold meets the constraint there "
    "is no value. Positive is what scores above the threshold.",
    "along ascending thresholds: precision and fpr @recall, precision @volume: the last point with at least Y\n"
    "recall @precision: the first with at least Y; recall @fpr: the first with at most Y",
    YDF,
)

YDF_RULE = GlossaryEntry(
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
    GlossaryEntry(
        "ece",
        "Expected calibration error",
        "How far predicted probabilities are from the observed shares, on average over ten bins of equal width; lower "
        "is better. 0 says that of the examples given 70 %, 70 % came true. It depends on the bins, and says "
        "nothing about how well the classes are separated.",
        "Σ over bins of weight × |mean prediction − observed share| / total weight",
        "Naeini, Cooper & Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning",
    ),
    GlossaryEntry(
        "one_vs_rest",
        "One against the rest, macro, micro",
        "Of several classes each one is taken as positive and all others as negative. Macro is the plain average over "
        "the classes, so that a rare one counts as much as a common one; micro pools all decisions first, so that "
        "common ones count more.",
    ),
    GlossaryEntry(
        "truncation",
        "Truncation",
        "How many items from the top of each ranking count. A curve over truncations shows whether an advantage is at "
        "the very top or further down.",
    ),
)


# Glossary entries of predictions: plots, intervals, tests.

PLOTS = (
    GlossaryEntry(
        "confusion",
        "Confusion matrix",
        "How many examples of each true class, in the rows, were predicted as which class, in the columns. What is "
        "right is on the diagonal. With weights it holds weights instead of counts.",
    ),
    GlossaryEntry(
        "roc",
        "ROC curve",
        "Recall against the false positive rate, as the threshold falls; nearer to the upper left corner is better. "
        "The diagonal is what chance gives. One curve above another everywhere is better at every threshold; of curves "
        "that cross neither is.",
        "(false positives / negatives, true positives / positives)",
        "Fawcett 2006, An introduction to ROC analysis",
    ),
    GlossaryEntry(
        "pr",
        "Precision and recall curve",
        "Precision against recall, as the threshold falls; nearer to the upper right corner is better. What chance "
        "gives is a level line at the share of positives. Compare with the ROC curve where positives are rare: there a "
        "small false positive rate can still be most of what is called.",
        source="Davis & Goadrich 2006, The relationship between precision-recall and ROC curves",
    ),
    GlossaryEntry(
        "thresholds",
        "Threshold, accuracy and volume",
        "What is called positive when the score must exceed the threshold: the volume is the share of examples that "
        "is, the accuracy the share that is then called right. The two together show what a stricter threshold costs.",
        "volume = called positive / all; accuracy = (true positives + true negatives) / all",
    ),
    GlossaryEntry(
        "reliability",
        "Reliability diagram",
        "The observed share against the predicted probability, in bins of the prediction. On the diagonal "
        "probabilities mean what they say; below it they are too high, above it too low. Bins with few examples are "
        "left blank.",
        source="DeGroot & Fienberg 1983, The comparison and evaluation of forecasters",
    ),
    GlossaryEntry(
        "residuals",
        "Residuals",
        "The truth minus the prediction, counted in bins of equal width. A histogram beside zero shows a bias; a long "
        "tail shows a few large errors that decide the RMSE.",
        "truth − prediction",
    ),
    GlossaryEntry(
        "qq",
        "Normal probability plot (QQ)",
        "The residuals in order against what a normal distribution would give, both in standard deviations. On the "
        "diagonal they are normal; ends that leave it are heavier or lighter tails. The interval [X2] of the RMSE "
        "rests on normal residuals, so look here before reading it.",
        "observed: (residual − mean) / standard deviation; expected: Φ⁻¹(middle of its weight / total weight)",
        "Wilk & Gnanadesikan 1968, Probability plotting methods for the analysis of data",
    ),
    GlossaryEntry(
        "curve_band",
        "Band of a curve",
        "Where a curve would lie with other examples of the same kind: the percentiles of its height at each place, "
        "over resamples of the examples. It says nothing of the whole curve at once, which leaves it more often than a "
        "single point does. Between thresholds a ROC curve is a line; the precision is that of the highest threshold "
        "with at least the recall.",
        source="Fawcett 2006, An introduction to ROC analysis, section 8.1, vertical averaging",
    ),
    GlossaryEntry(
        "operating_points",
        "Operating points",
        "Where a classifier would be used: at the thresholds that the manifest declares (0.5 where it declares none), "
        "and where a metric at a constraint takes its value, or near that where labels are private. "
        "precision@recall=0.8 is at the highest threshold with a recall of at least 0.8. Where labels are private, all "
        "points are among the few thresholds that are shown: near a declared one is that which calls most nearly as "
        "many examples, near precision@recall=0.8 the highest whose shown recall is at least 0.8, and the precision "
        "there may differ from the board's value. A threshold that was chosen by these labels promises a little too "
        "much on others.",
        source="YDF 0.16, metrics at a constraint, conservative and without interpolation",
    ),
    GlossaryEntry(
        "conditional",
        "Conditional plot",
        "The mean truth in bins of the prediction, and the mean prediction in bins of the truth, at the centres of the "
        "bins. In bins of the prediction the diagonal means no bias. In bins of the truth even the best predictions "
        "are drawn to the middle, and that alone is no fault. The plot of recall has, by truth, the share of each bin "
        "that is predicted in that bin; by prediction, where it is a precision, the share that is truly there.",
    ),
)

INTERVALS = (
    GlossaryEntry(
        "interval_tags",
        "Interval tags: B, C, W, H, L, X2",
        "The letter beside an interval says how it was made. B: percentile bootstrap over examples, over groups for "
        "rankings. It can be made for every metric, and is too narrow where examples are few, the more so the better "
        "a model is: at 95 % it covered a true AUC of 0.95 in 89 of 100 simulations with 50 examples, in 91 with 200 "
        "and in 95 with 1,000, and an F1 in as few as 51. C: calibrated, the one that boards draw; in simulations of "
        "accuracy, AUC, PR-AUC, AP, F1 and RMSE it covered 93 of 100 or more, but an RMSE of rare, far larger errors,"
        " which so few examples need not hold, as few as 34. W: Wilson's interval of an accuracy. H: Hanley and "
        "McNeil's of an AUC. L: logistic, of a PR-AUC. X2: χ², of an RMSE whose residuals are normal: where it "
        "differs much from C, they are not. Read C. A value at the end of its range can leave W, H, L or X2 "
        "undefined, and it is left blank then. Weighted examples count as many as the effective number (Σw)² / Σw², "
        "which their unit does not change; H_ydf and L_ydf take the weights for counts, as YDF does, to compare with "
        "it.",
        "W: centre (p + z²/2n) / (1 + z²/n), half-width z √(p(1−p)/n + z²/4n²) / (1 + z²/n)\n"
        "H: A ± z √((A(1−A) + (n₁−1)(Q₁−A²) + (n₂−1)(Q₂−A²)) / n₁n₂), Q₁ = A/(2−A), Q₂ = 2A²/(1+A)\n"
        "L: logistic(logit A ± z / √(n₁ A (1−A))), n₁ the positives\n"
        "X2: RMSE √(n / χ²) at both tails, n degrees of freedom",
        "Wilson 1927; Hanley & McNeil 1982; Boyd, Eng & Page 2013; Efron & Tibshirani 1993, chapter 13; "
        "Kish 1965 for the effective number",
    ),
    GlossaryEntry(
        "acc_ci_ydf",
        "acc_ci_ydf: Clopper–Pearson, 90 % two-sided",
        "The interval that YDF prints beside an accuracy as [W] is the exact one of Clopper and Pearson with 5 % in "
        "each tail, so it holds 90 % and not 95 %. It is given for comparison with that program, under its own name; "
        "for Wilson's interval at the board's level read W. It takes the number of examples, whatever they weigh.",
        "[Beta(0.05; k, n − k + 1), Beta(0.95; k + 1, n − k)] for k right of n",
        "Clopper & Pearson 1934, The use of confidence or fiducial limits",
    ),
    GlossaryEntry(
        "default_metrics",
        "Constant predictor (default metrics)",
        "What a prediction reaches that is the same for every example: the commonest class for accuracy, the classes' "
        "shares for log-loss, the mean for the RMSE, a random order for NDCG. A model that is no better has learned "
        "nothing that counts here.",
        "accuracy: largest share; log-loss: −Σ share × ln(share); RMSE: standard deviation of the labels",
    ),
)

TESTS = (
    GlossaryEntry(
        "mcnemar",
        "McNemar's test",
        "Whether A is right on more examples than B, judged by the examples on which exactly one of them is. It is "
        "about the accuracy, at the threshold of each side where there are two classes, and about no other metric. The "
        "p-value is exact and one-sided: how probable so many or more for A would be if each such example were a fair "
        "coin. YDF leaves the observed count itself out of that sum, which makes its values too small.",
        "P(X ≥ right: A only), X ~ Binomial(A only + B only, ½)",
        "McNemar 1947, Note on the sampling error of the difference between correlated proportions",
    ),
    GlossaryEntry(
        "paired_t",
        "Paired t-test",
        "Whether the mean difference between A and B is above zero, example by example for predicted values (squared "
        "errors) and group by group for rankings (NDCG). One-sided, with the sample's standard deviation. The mean "
        "difference is written so that above zero A is better.",
        "t = mean / (s / √n), n − 1 degrees of freedom",
        "Student 1908, The probable error of a mean",
    ),
    GlossaryEntry(
        "holm",
        "Holm's correction",
        "The two-sided p-value of a pair after allowing for every pair and task of the same table. Among a hundred "
        "tests of equal entrants about five are below 0.05 by chance; that any of the corrected values is has a "
        "probability of at most 5 %. Read it whenever you did not choose the one pair and its direction beforehand.",
        "p₂ = min(1, 2p) of the smaller one-sided p; the k-th smallest of m pairs: the larger of the one before and "
        "min(1, (m − k + 1) p₂)",
        "Holm 1979, A simple sequentially rejective multiple test procedure",
    ),
    GlossaryEntry(
        "examples_needed",
        "Examples needed",
        "How many examples in all would show a difference of the observed size with 80 % power, if it is the true one "
        "and this pair alone is tested. In the table of every metric that test is two-sided, of the scores as they are "
        "shown; in the table of tests it is the one-sided test there. What a board would find of a typical pair is "
        "with all pairs tested simultaneously. Observed differences are uncertain themselves, so this is a guide for "
        "the next study and no promise.",
        "((z(1 − α/2) + z(0.8)) × standard deviation of the differences / mean difference)²; "
        "for a one-sided test z(1 − α)",
        "Chow, Shao & Wang 2008, Sample size calculations in clinical research, section 3.1",
    ),
)

REPORTS = (*PLOTS, *INTERVALS, *TESTS)


# Glossary entries of labels that are a secret.

SECRET = (
    GlossaryEntry(
        "public_part",
        "Public part, private part",
        "Where labels are a secret a share of the items is public: their scores are shown at once. The others are "
        "private, and their scores are shown when the benchmark closes; those decide. Which item is in which part "
        "follows from a keyed hash of its name, within classes, tenths of the values, or whole groups, so that both "
        "parts are alike. What fits the public part by trying often does not fit the private one.",
        "an item is public where HMAC(key, task, item) is among the smallest share of its stratum",
        "Blum & Hardt 2015, The Ladder",
    ),
    GlossaryEntry(
        "ladder",
        "Ladder",
        "A score against private labels is shown only if it is better than the best that its owner was shown, by more "
        "than the larger standard error of the two; otherwise the board shows what it showed before. It holds over all "
        "entrants, registrations and tokens of an owner. Predictions that were shown before are shown again, "
        "and those of who can read the labels are always shown.",
        "new − best > max(error of new, error of best)",
        "Blum & Hardt 2015, The Ladder: a reliable leaderboard for machine learning competitions",
    ),
    GlossaryEntry(
        "label_rounding",
        "Digits of private labels",
        "Numbers computed from private labels are published in steps of 1, 2 or 5 times a power of ten, at least "
        "half a standard error each, and in no more significant digits than the manifest allows. Ends of intervals, "
        "also of differences, are rounded outwards, p-values and examples needed up. Anything finer is noise, but many "
        "noisy digits together would reveal the labels.",
        "step ≥ ½ standard error",
    ),
    GlossaryEntry(
        "label_commitment",
        "Commitment to the labels",
        "The steward is committed to the labels from their upload on: their digest with a random salt is "
        "published at once, and is part of the digest of each snapshot. When the benchmark closes the salt is shown, "
        "and anybody can compute the digest again.",
        "SHA-256 of the lines: form, salt, public share, SHA-256 of the labels",
    ),
    GlossaryEntry(
        "label_disclosure",
        "What was disclosed of the labels",
        "Each scored entrant is an answer about the labels, whatever its run is for and whatever becomes of it. The "
        "bits are an upper bound: one for each answer that was held back, log₂ 10 for each digit that was shown; "
        "nobody can learn more of classes than the public labels have.",
        "bits ≤ held back + numbers × digits × log₂ 10, and ≤ public items × log₂ classes",
    ),
)
