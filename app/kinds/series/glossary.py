"""Glossary entries of series benchmarks: strata, weighted ranks, failures. Read by `app.kinds.series.kind`."""

from app.values.glossary_entry import Entry

ENTRIES = (
    Entry(
        "balanced_global",
        "Balanced over strata",
        "Means within each stratum first, then the plain mean of the strata that have one. So a stratum with many "
        "records counts no more than one with few. Null values are left out and counted.",
        "mean over strata of mean over records",
        "lrdbench 2.0, interpretation semantics",
    ),
    Entry(
        "discrimination",
        "Telling classes apart",
        "ROC-AUC, balanced accuracy, true and false positive rate of estimators that say how sure they are that a "
        "series has long-range dependence. They are computed here from the scores and the true classes of all records "
        "together, over all strata, since a stratum mostly holds one class; a score of 0.5 or more is a call. What a "
        "run states of them is only compared. A record without a score is absent. The class follows from a Hurst "
        "exponent or a memory parameter in the record's stratum; where the truth there is of something else, it is "
        "the one that the first run states, and later ones must state the same.",
        "lrdbench's definitions; ties of a score share it",
        "lrdbench 2.0, classification metrics of lrd_class",
    ),
    Entry(
        "weighted_rank",
        "Weighted rank",
        "In each component the estimators are ranked, ties sharing the average rank and a missing value taking the "
        "rank after the last; the score is the weighted sum of the ranks. Lower is better. Declared failures "
        "are left out of the means, and who, with the last rank in each of its gaps, is behind the best of those who "
        "delivered more may not be first; what is left out without a declared failure ranks behind all values, or "
        "nowhere. A rank says who is ahead and not by how much: read it beside the values, which are published with "
        "it.",
        "Σ weight × rank; ties of the score are broken by one component, then ranks are shared (1, 1, 3)",
        "lrdbench 2.0, ranking rule 2",
    ),
    Entry(
        "rule_1",
        "Rule 1: left to the name",
        "The share of the weight whose component is a tie, which this older rule breaks in the order of the names. An "
        "estimator called A is then ahead of an equal one called B for no other reason.",
        source="lrdbench, ranking rule 1",
    ),
    Entry(
        "records",
        "Records of a board",
        "Absent are the values that most estimators have a row for and this one does not. Ranks are about the records "
        "that more than half of the estimators have: rows on other records are left out, and an estimator that lacks "
        "some of these is shown without a rank, because a mean over a chosen few is not the mean over all. A row that "
        "says that an estimate failed is a row.",
    ),
    Entry(
        "aggregate_bootstrap",
        "Uncertainty of the benchmark",
        "How far an aggregate may be from what other series of the same kind would give: records are drawn again "
        "within a stratum, or strata among strata (bootstrap_over_strata). It is drawn where the manifest asks for it. "
        "It is not the interval that an estimator gives for one series; how good those are, coverage and ci_width say.",
        "percentile bootstrap of the aggregate",
        "lrdbench 2.0, interpretation semantics",
    ),
    Entry(
        "estimand",
        "Estimand",
        "What an estimator estimates. Two estimators of different estimands answer different questions, and a board "
        "that ranks both says so.",
    ),
    Entry(
        "invalid_rate",
        "Invalid",
        "The share of an estimator's attempts that gave no valid estimate. Accuracy is measured on the valid ones "
        "alone, so a board is never read without it.",
    ),
)
