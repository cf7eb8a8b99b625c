"""What the pages of a benchmark of series say."""

from collections.abc import Iterator, Mapping

from app.kinds.contract import EXAMPLE_VALUE, ColumnUse, PageFacts, Pages, UploadExample
from app.kinds.series.manifest_part import Mode, SeriesPart
from app.kinds.series.rows import COLUMNS, METRICS, SCOPES
from app.manifest.model import Manifest, part_of
from app.values.glossary import GlossaryEntry
from app.values.table import Column


def _facts(manifest: Manifest) -> PageFacts:
    return PageFacts(guide=guide_of(part_of(manifest, SeriesPart).mode))


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of a run's metrics, with a row of the first estimator."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per series and metric",
        file=METRICS,
        or_else="Or a whole run of lrdbench, its folder as a zip.",
    )


PAGES = Pages(
    example=example,
    facts=_facts,
    links=(
        ("Failures", "tables/failures"),
        ("Records", "tables/records"),
        ("Strata", "tables/per_stratum_metrics"),
        ("Contract tables", "tables.zip"),
    ),
    # Of one estimator in one stratum there are several records.
    item_column=Column("record_id", "Record", "text"),
    has_contract_tables=True,
)

MEANINGS = (
    f"{', '.join(SCOPES)}; only the first is evidence",
    "the series",
    "the estimator, which is the entrant",
    "the metric",
    "its value, or empty",
    "the stratum, a JSON object",
    "further facts, a JSON object",
)


# An example upload of series metrics: a row per series and metric.


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    enrolled = part_of(manifest, SeriesPart).estimators
    estimator = enrolled[0] if enrolled else "RS"
    cells = (SCOPES[0], "series-1", estimator, next(iter(manifest.metrics)), str(EXAMPLE_VALUE), "{}", "{}")
    for name, meaning, cell in zip(COLUMNS, MEANINGS, cells, strict=True):
        yield ColumnUse(name, meaning, cell)


# Glossary entries of series benchmarks: strata, weighted ranks, failures.

ENTRIES = (
    GlossaryEntry(
        "balanced_global",
        "Balanced over strata",
        "Means within each stratum first, then the plain mean of the strata that have one. So a stratum with many "
        "records counts no more than one with few. A ratio of paired errors is that of the two means over strata. Null "
        "values are left out and counted.",
        "mean over strata of mean over records",
        "lrdbench 2.0, interpretation semantics",
    ),
    GlossaryEntry(
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
    GlossaryEntry(
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
    GlossaryEntry(
        "rule_1",
        "Rule 1: left to the name",
        "The share of the weight whose component is a tie, which this older rule breaks in the order of the names. An "
        "estimator called A is then ahead of an equal one called B for no other reason.",
        source="lrdbench, ranking rule 1",
    ),
    GlossaryEntry(
        "records",
        "Records of a board",
        "Absent are the values that most estimators have a row for and this one does not. Ranks are about the records "
        "that half of the submitters have, and half of those who came first: rows on other records are left out, and "
        "an estimator that lacks some of these is shown without a rank, because a mean over a chosen few is not the "
        "mean over all. A row that says that an estimate failed is a row.",
    ),
    GlossaryEntry(
        "aggregate_bootstrap",
        "Uncertainty of the benchmark",
        "How far an aggregate may be from what other series of the same kind would give: records are drawn again "
        "within a stratum, or strata among strata (bootstrap_over_strata). It is drawn where the manifest asks for it. "
        "It is not the interval that an estimator gives for one series; how good those are, coverage and ci_width say.",
        "percentile bootstrap of the aggregate",
        "lrdbench 2.0, interpretation semantics",
    ),
    GlossaryEntry(
        "estimand",
        "Estimand",
        "What an estimator estimates. Two estimators of different estimands answer different questions, and a board "
        "that ranks both says so.",
    ),
    GlossaryEntry(
        "invalid_rate",
        "Invalid",
        "The share of an estimator's attempts that gave no valid estimate. Accuracy is measured on the valid ones "
        "alone, so a board is never read without it.",
    ),
)


# What may and may not be claimed from a benchmark of series, by its mode. Shown on each of its pages. Source:
# lrdbench's interpretation semantics, in our words.

GUIDES: Mapping[Mode, str] = {
    "ground_truth": (
        "Ground truth: accuracy and coverage may be claimed, relative to the synthetic truth that the benchmark "
        "declares, and so relative to its model. Nothing here says how an estimator does on series of another kind. "
        "Read accuracy beside validity and failures: a good mean over a few valid records is not a good estimator."
    ),
    "stress_test": (
        "Stress test: degradation and robustness may be claimed, relative to the clean and the contaminated series of "
        "this design. Another operator, or another severity, may order the estimators otherwise. Read changes beside "
        "validity and failures. The series are synthetic."
    ),
    "observational": (
        "Observational: stability and sensitivity may be claimed, and nothing else. There is no truth here, so no "
        "accuracy, no coverage and no rate of false positives. Read stability beside validity and failures."
    ),
}

OF_EVERY_BOARD = (
    " Leaderboards are configured summaries, not universal rankings: report with one its manifest, its weights and "
    "the raw values of its components. Intervals that estimators give for one series are not those of the benchmark."
)


def guide_of(mode: Mode | None) -> str | None:
    """Return the reading guide of a mode; a benchmark that is not of series has neither."""
    return None if mode is None else GUIDES[mode] + OF_EVERY_BOARD
