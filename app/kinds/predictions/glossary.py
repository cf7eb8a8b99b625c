"""Glossary entries of predictions held against labels: the metrics. Read by `app.kinds.predictions.kind`.

The plots, intervals and tests of predictions stand in `glossary_reports`.
"""

from app.values.glossary_entry import Entry

YDF = "YDF (Yggdrasil Decision Forests), its glossary of metrics"

CLASSES = (
    Entry(
        "accuracy",
        "Accuracy",
        "The share of examples whose class was predicted right; higher is better. Of two classes the second one is "
        "predicted from a probability of one half on; of several the most probable, the first of them on a tie. Where "
        "one class is rare, always naming the other one is accurate too: compare with the constant predictor.",
        "weight of the right ones / total weight",
        YDF,
    ),
    Entry(
        "auc",
        "AUC",
        "The probability that a random positive example is scored above a random negative one, half for ties; higher "
        "is better. 0.5 is what chance gives, 1 is perfect order. It looks at the order of the scores alone, so it "
        "does not say whether the probabilities are right. With one class only there is none.",
        "area under the ROC curve by the trapezoidal rule, without its convex hull",
        "Hanley & McNeil 1982, The meaning and use of the area under a ROC curve",
    ),
    Entry(
        "pr_auc",
        "PR-AUC",
        "The area under precision by recall; higher is better. What chance gives is not one half but the share of "
        "positives, so values compare within one set of labels only. Unlike the AUC it is not moved by easy negatives, "
        "which is why it is read where positives are rare.",
        "Σ (recallᵢ − recallᵢ₊₁) × (precisionᵢ + precisionᵢ₊₁) / 2, the lower trapezoidal rule",
        "Boyd, Eng & Page 2013, Area under the precision-recall curve, section 4",
    ),
    Entry(
        "ap",
        "AP, average precision",
        "Precision averaged over the gains in recall, in steps and without drawing lines between them; higher is "
        "better. The precision of a step is the one before the gain, which is YDF's rule; other programs take the one "
        "after it and give other numbers.",
        "Σ (gain in recall) × (precision before the gain)",
        YDF,
    ),
    Entry(
        "precision",
        "Precision",
        "Of the examples that were called positive, the share that is; higher is better. Where nothing is called there "
        "is none.",
        "true positives / (true positives + false positives)",
    ),
    Entry(
        "recall",
        "Recall",
        "Of the positive examples, the share that was called so; higher is better. Also called sensitivity, or true "
        "positive rate.",
        "true positives / (true positives + false negatives)",
    ),
    Entry(
        "f1",
        "F1",
        "The harmonic mean of precision and recall; higher is better. It is near the worse of the two, and does not "
        "know true negatives.",
        "2 TP / (2 TP + FP + FN)",
        "van Rijsbergen 1979, Information retrieval, chapter 7",
    ),
    Entry(
        "logloss",
        "Log-loss",
        "How surprised the predicted probabilities are by the truth, on average; lower is better. It is in nats, 0 is "
        "certainty that is always right, and one certain prediction that is wrong makes it very large. It rewards "
        "probabilities that are right, not only the order of them.",
        "mean of −ln(probability of the true class)",
        "Good 1952, Rational decisions",
    ),
    Entry(
        "brier",
        "Brier score",
        "The mean squared distance of the predicted probabilities from what came true; lower is better. Of two classes "
        "it is that of the second one; of several the squares are summed over the classes, so its largest value is 2.",
        "mean of (p − y)²",
        "Brier 1950, Verification of forecasts expressed in terms of probability",
    ),
    Entry(
        "ece",
        "Expected calibration error",
        "How far predicted probabilities are from the observed shares, on average over ten bins of equal width; lower "
        "is better. 0 says that of the examples given 70 %, 70 % came true. It depends on the bins, and says "
        "nothing of how well the classes are told apart.",
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
        "metric_at",
        "X@Y: a metric at a constraint",
        "The metric X at a threshold that meets the constraint Y, such as precision@recall=0.8. It is conservative: "
        "only thresholds that occur count, nothing is interpolated, and where no threshold meets the constraint there "
        "is no value. Positive is what scores above the threshold.",
        "along ascending thresholds: precision and fpr @recall, precision @volume: the last point with at least Y\n"
        "recall @precision: the first with at least Y; recall @fpr: the first with at most Y",
        YDF,
    ),
)

VALUES = (
    Entry(
        "rmse",
        "RMSE",
        "The root of the mean squared error, in the unit of what is predicted; lower is better. Large errors count "
        "more than in proportion.",
        "√(mean of (truth − prediction)²)",
    ),
    Entry(
        "mae",
        "MAE",
        "The mean size of the errors, in the unit of what is predicted; lower is better. Every unit of error counts "
        "alike, so it is moved less by a few large ones than the RMSE.",
        "mean of |truth − prediction|",
    ),
    Entry(
        "r2",
        "R²",
        "The share of the variation of the truth that the predictions explain; higher is better. 0 is as good as "
        "always predicting the mean, below 0 is worse. Where all labels are equal there is none.",
        "1 − Σ (truth − prediction)² / Σ (truth − mean)²",
    ),
)

RANKINGS = (
    Entry(
        "ndcg",
        "NDCG",
        "How much of the possible gain the top of a ranking has, relevant items counting more the higher they stand; "
        "higher is better. 1 is the best order of each group. Gains are averaged over ties of the prediction, and a "
        "group without anything relevant scores 0 and stays in the mean.",
        "DCG / ideal DCG, DCG = Σ over the first T of (2^relevance − 1) / log2(rank + 1); T is 5 unless declared",
        "Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; Burges et al. 2005",
    ),
    Entry(
        "mrr",
        "MRR",
        "The mean over groups of one over the rank of the first relevant item; higher is better. A group without one "
        "among the first T scores 0.",
        "mean of 1 / rank of the first relevant item",
    ),
    Entry(
        "map",
        "MAP",
        "The mean over groups of the precision at each relevant item among the first T; higher is better. Unlike the "
        "MRR it sees every relevant item there.",
        "mean over groups of (Σ over relevant items of precision at its rank / number of them among the first T)",
    ),
    Entry(
        "precision_at_1",
        "Precision@1",
        "The share of groups whose first item is the most relevant one; higher is better. Where several are equally "
        "relevant only the first of them in the labels counts, which is YDF's rule.",
        source=YDF,
    ),
    Entry(
        "truncation",
        "Truncation",
        "How many items from the top of each ranking count. A curve over truncations shows whether an advantage is at "
        "the very top or further down.",
    ),
)

METRICS = (*CLASSES, *VALUES, *RANKINGS)
