"""Glossary entries of coverage, failures and leaks. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

GAPS = (
    Entry(
        "coverage",
        "Covered: n of N",
        "N is what the benchmark's grid asks: its tasks, and within them conditions, seeds and items or records. Who "
        "submits cannot make it smaller. Included are the cells with a value, absent are those without any row, and "
        "without a value those whose row has none; all of them were attempted. Depending on the manifest what is "
        "missing counts as the worst there is, or keeps the entrant off the ranks: it is then partial, and shown below "
        "the ranked ones. So is one of who can read private labels, whatever it covers, unless the manifest says "
        "otherwise. "
        "Cells that were added to the grid after an entrant was admitted were not asked of it, and N "
        "does not count them: it has no rank on the new board until it runs them, and keeps the one that it had on the "
        "old board. Where nobody has declared the grid a board is provisional: N is then what at least half of the "
        "submitters have, who lacks some of it or has more ranks behind who differs less, and nobody is marked as "
        "possibly first.",
    ),
    Entry(
        "rank_if",
        "Rank if worst, rank if best",
        "Where an entrant that lacks something would rank, among those who lack nothing, if all that is missing were "
        "the worst value there is, and if all of it were the best. What was left out can put it anywhere between the "
        "two. Where the metric's range has no worst end the first is the last rank; where it has no best end the "
        "second is 1.",
    ),
    Entry(
        "num_failures",
        "Failed, imputed",
        "A task without a usable result has failed: its row is absent or has no value. Failed counts both, over all "
        "tasks of the board. The board's rule says what becomes of failures in its score columns: who has one has no "
        "score (error), the task is left out for everybody (drop), or a value is put in its place (impute). Ranks are "
        "about those who have every task.",
    ),
    Entry(
        "n_imputed",
        "Imputed",
        "Failures that the board's rule replaced by the error of the baseline, a skill of 0. Failing on a hard task "
        "must not be better than doing badly on it.",
        None,
        "fev (forecast evaluation), missing strategy impute",
    ),
    Entry(
        "n_leaked",
        "Leaked",
        "Tasks whose data the entrant has seen in training, as its submitter declared. Its own errors there say "
        "little about new data, so the board's leakage model replaces it.",
    ),
    Entry(
        "training_corpus_overlap",
        "Training corpus overlap",
        "The share of an entrant's tasks whose data it was trained on, as its submitter declared. A "
        "task of which that was not said does not count either way; of none known, nothing is shown.",
        "tasks with leaked data / tasks with a result of which it is known",
    ),
)
