"""The glossary: each number, interval and rule in plain words, with formula and source.

Shown at /glossary; `Column.glossary` of a table names the entry that explains the column.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One explained term."""

    anchor: str
    term: str
    text: str
    formula: str | None = None
    source: str | None = None


ENTRIES = (
    Entry(
        "skill_score",
        "Skill score",
        "How much smaller an entrant's errors are than the baseline's, on the geometric average over tasks. "
        "0 is as good as the baseline, 1 would be no error at all, below 0 is worse than the baseline. "
        "Ratios are clipped before averaging, so that one task cannot decide the board.",
        "1 − exp(mean over tasks of log(clip(error / baseline error)))",
        "fev, analysis methods",
    ),
    Entry(
        "win_rate",
        "Win rate",
        "The share of comparisons that an entrant wins: over all tasks and all other entrants, half for ties.",
        "mean over opponents B of mean over tasks of [A < B] + ½ [A = B]",
        "fev, analysis methods",
    ),
    Entry(
        "mean",
        "Mean over tasks",
        "The plain average of a metric over tasks; every task counts the same, however much data it has.",
    ),
    Entry(
        "rank_interval",
        "Rank and rank interval",
        "The rank comes from the point scores; equal scores share a rank. In brackets stand the ranks that hold "
        "the stated share of the resamples: ranks inside each other's intervals are not settled by this data.",
        None,
        "Goldstein & Spiegelhalter 1996",
    ),
    Entry("p_best", "P(best)", "The share of the resamples in which the entrant has the best score; ties share it."),
    Entry(
        "p_a_beats_b",
        "P(A beats B)",
        "The share of the board's resamples in which A scores above B, half for ties. It speaks of other tasks "
        "like these; it is not a p-value.",
    ),
    Entry(
        "separable",
        "Separable",
        "Yes when the interval of the difference between A and B excludes no difference. Many pairs are looked "
        "at: at a level of 95 % about one pair in twenty that do not differ will look separable.",
    ),
    Entry(
        "interval",
        "Percentile bootstrap over tasks",
        "Tasks are drawn with replacement many times, the score is computed anew each time, and the interval is "
        "what lies between the two percentiles. With fewer than two tasks there is no interval.",
        None,
        "Efron & Tibshirani 1993, chapter 13",
    ),
    Entry("num_failures", "Failed", "Tasks on which the entrant has no usable result. Never left out silently."),
    Entry("n_imputed", "Imputed", "Failures that the board's rule replaced, by the error of the baseline."),
    Entry(
        "n_leaked",
        "Leaked",
        "Tasks whose data the entrant has seen in training. The board's leakage model stands in for it there.",
    ),
    Entry("training_corpus_overlap", "Overlap", "The share of an entrant's tasks whose data it was trained on."),
    Entry("median_time", "Time", "The median over tasks of the reported seconds, per so many forecasts if stated."),
    Entry(
        "prereg",
        "Preregistration",
        "A file that says what will be measured, registered before the run and never changed. It is addressed by "
        "the SHA-256 of its bytes.",
    ),
    Entry(
        "witnessed",
        "Witnessed and attested",
        "Witnessed: this server received the preregistration at that time. Attested: a steward vouches, with "
        "evidence, that it existed before this server saw it.",
    ),
    Entry(
        "self_reported",
        "Self-reported",
        "Rows are what the submitter sent. Ranks and intervals are computed here from them; whether the rows are "
        "true, the server cannot know.",
    ),
    Entry(
        "status",
        "States of a submission",
        "Received: stored whole. Evaluated: its own aggregates are computed. Published: on the boards. Not "
        "admitted: stored and public with its reasons, on no board. Superseded: newer evidence of its entrants "
        "counts. Withdrawn: taken off by its owner or a steward, with the reason kept.",
    ),
    Entry(
        "snapshot",
        "Snapshot",
        "One immutable published state, numbered. The same inputs, manifest and code give the same numbers, byte "
        "for byte; add ?snapshot=N to any table's address to see an earlier one.",
    ),
)
