"""The glossary: each number, interval and rule in plain words, with formula and source.

Shown at /glossary; `Column.glossary` of a table names the entry that explains the column. What only one kind of
evidence has is explained there: a metric of predictions in its row in `app.kinds.predictions.classification` or
`.metrics`.
"""

from functools import cache

from app.kinds.registry import KINDS
from app.values.facts import FLAGS
from app.values.glossary import GlossaryEntry


def glossary_entries() -> tuple[GlossaryEntry, ...]:
    """Return every explained term: those of all benchmarks, and those that each kind of evidence brings."""
    of_kinds = (entry for kind in KINDS.values() for entry in kind.glossary())
    return (*SCORES, *PROVENANCE, *of_kinds, *UNCERTAINTY, *GAPS, *CLAIMS, *EVIDENCE)


@cache
def brief_of(anchor: str | None) -> str:
    """Return the first sentence of an entry; nothing where there is none."""
    return next((entry.brief for entry in glossary_entries() if entry.anchor == anchor), "")


# Glossary entries of the scores that boards rank by.

SCORES = (
    GlossaryEntry(
        "skill_score",
        "Skill score",
        "How much smaller an entrant's errors are than the baseline's, on the geometric average over tasks. "
        "0 is as good as the baseline, 1 would be no error at all, below 0 is worse than the baseline. "
        "Ratios are clipped before averaging, so that one task cannot decide the board. Between two entrants A "
        "and B, B takes the place of the baseline.",
        "1 − exp(mean over tasks of ln(clip(error / baseline error)))",
        "fev (forecast evaluation), its leaderboard and pairwise comparison",
    ),
    GlossaryEntry(
        "geometric_mean",
        "Geometric mean",
        "The average for ratios: halving an error on one task and doubling it on another cancel out. "
        "The arithmetic mean would call that worse.",
        "exp(mean of ln(x))",
        "Fleming & Wallace 1986, How not to lie with statistics: the correct way to summarize benchmark results",
    ),
    GlossaryEntry(
        "clipping",
        "Clipping",
        "A ratio of errors below the lower or above the upper limit of the board counts as that limit. "
        "The limits are in the manifest and in the JSON of every board.",
        "min(max(ratio, low), high)",
    ),
    GlossaryEntry(
        "win_rate",
        "Win rate",
        "The share of comparisons that an entrant wins: over all tasks and all other entrants, half for ties. "
        "It says how often an entrant is better, not by how much; with a single entrant there is none.",
        "mean over opponents B of mean over tasks of [error A < error B] + ½ [error A = error B]",
        "fev (forecast evaluation), its leaderboard and pairwise comparison",
    ),
    GlossaryEntry(
        "share_beaten",
        "Share beaten",
        "The share of the other entrants with a value on this task that are worse there, half for ties: 1 is "
        "the first "
        "place on the task, 0 the last.",
        "mean over opponents B of [A better than B] + ½ [A = B]",
    ),
    GlossaryEntry(
        "mean",
        "Mean over tasks",
        "The plain average of a metric over tasks; every task counts the same, however much data it has.",
        "sum over tasks of the metric / number of tasks",
    ),
    GlossaryEntry(
        "borda",
        "Borda points",
        "On each task an entrant gets a point for every other one that it is ranked before, half a point for a tie; "
        "the points are summed over tasks. A task without a result gives no points, so an entrant without every task "
        "has a rank too. It may be first only if nobody who has more tasks has more points.",
        "sum over tasks of (entrants − rank on the task)",
        "MTEB's leaderboard; Colombo et al. 2022, What are the best systems?",
    ),
    GlossaryEntry(
        "mean_rank",
        "Mean rank",
        "The average over tasks of the entrant's rank on each, ties sharing the average of their ranks. Only "
        "entrants "
        "with a result on every task are ranked. 1 is best.",
        "mean over tasks of the rank on the task",
        "Demšar 2006, Statistical comparisons of classifiers over multiple data sets",
    ),
    GlossaryEntry(
        "group_mean",
        "Mean over groups of tasks",
        "Tasks are averaged within their group, then the groups: each group counts the same, however many tasks it "
        "has. Intervals resample the tasks, or families of tasks, within each group. One of a single "
        "one is taken to vary as those within the others do; where most of the spread would be of such groups there "
        "are no calibrated intervals and no ranges of ranks.",
        "mean over groups of (mean over the group's tasks of the metric)",
        "MTEB's mean over task types: Muennighoff et al. 2023",
    ),
    GlossaryEntry(
        "task_groups",
        "Groups of tasks",
        "The average over the tasks of a group, of errors that are compared as ratios the geometric mean; the darker, "
        "the better its place among all who have every task of it. Its interval is over the group's tasks, with "
        "families of tasks as units, and is empty where these are worth fewer than two. "
        "A group has few tasks, so its interval is wide, and no place in it is tested against another.",
        "mean over the group's tasks of the metric; geometric where the board compares errors as ratios",
    ),
    GlossaryEntry(
        "advantage",
        "Advantage",
        "How much better A is than B by the score of the board: the difference of the two scores, in the metric's own "
        "unit where these are means, over tasks or over groups of tasks, and in points or ranks where they are those. "
        "Above 0, A is better, whichever way the metric points.",
    ),
    GlossaryEntry(
        "median_time",
        "Time",
        "The median over tasks of the reported seconds. Where rows say how many forecasts a run made it is per a "
        "number of them, which the head of the column says. Times are reported by submitters from their own machines, "
        "so small differences mean little.",
    ),
)


# Glossary entries of intervals, ranks, pairs and resampling.

UNCERTAINTY = (
    GlossaryEntry(
        "interval",
        "Percentile bootstrap over tasks",
        "Tasks are drawn with replacement many times, the score is computed anew each time, and the interval is "
        "what lies between the two percentiles. It answers how the score would vary with other tasks like these. "
        "With fewer than two tasks there is no interval, and the page says so.",
        "[quantile of the resampled scores at (1 − level) / 2, quantile at (1 + level) / 2]",
        "Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13",
    ),
    GlossaryEntry(
        "assumption_free",
        "Assumption-free interval",
        "An interval of a mean that assumes nothing but the range of its score and that its units, seeds or tasks, are "
        "independent. It holds in at least 95 of 100 data sets, at every look at a growing one, also where something "
        "rare that few units do not show decides; there the calibrated interval may hold far less often. It is wider, "
        "and shown only of few units of a score with a declared range.",
        "the means against which no mixture of bets on the units would have multiplied its stake by 2 / (1 − level)",
        "Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by betting",
    ),
    GlossaryEntry(
        "calibrated",
        "Calibrated interval",
        "The interval that is drawn. It holds the true value in at least 93.5 of 100 simulated data sets wherever the "
        "tables of [the statistics](/help/statistics) say so.\n\n"
        "That is also so with few seeds and with rates near 0 or 1. It has a width wherever the truth can lie "
        "elsewhere, stays within the range of its number, and is the same whatever the unit of the weights. The "
        "compatible interval in the columns beside it is the one that the system publishes "
        "whose numbers "
        "a board gives, to the digit; it often holds less than it says. A column says how it was made: "
        "wilson_neff, Wilson's with the number of trials that the spread between the units amounts to; gamma and "
        "student_skew, for numbers with one end to their range or none; chi2_neff, for an RMSE; share_band, for an "
        "interquartile mean, from the shares above each score; widened_ranks, for a score of weighted ranks: "
        "resampled values, as far apart as Student's t asks, ranked again. Where there is none it says "
        "why: too_few_units; all_equal, where nothing varies; groups_of_one_unit, where most of the spread would be of "
        "groups that show none. With fewer than eight units it is wide: so few cannot show how much they vary. "
        "Where failures come from few seeds or tasks it is wide too: one that "
        "fails wholly may not have occurred yet.",
        "Wilson with n = p(1 − p) / SE² and the quantile of t; SE between seeds, examples, groups or tasks",
        "Wilson 1927; Korn & Graubard 1998; Hall 1992; Fay & Feuer 1997; Satterthwaite 1946; DeLong et al. 1988",
    ),
    GlossaryEntry(
        "rank_interval",
        "Rank and rank interval",
        "The rank comes from the point scores, and equal scores share it, unless the board names what breaks ties. "
        "The bar, or the brackets: the best and the worst rank that this entrant may have. Every opponent shown to be "
        "better takes a rank from above, every one that is shown to be worse one from below. All pairs of the board "
        "are compared at once: with the stated level all brackets hold their true ranks together, ties and all, "
        "but for what the board's notes name. The more entrants there are, whosever they are, the more cautious is "
        "each comparison; a reader's choice of entrants is compared by itself. What "
        "two results imply counts too: who is better than one who is better than a third is better than the third. "
        "Who may be first, the groups, the letters and separable are read from the same results: whoever's bracket "
        "begins at 1 may be first, and nobody else. The rule for missing results takes ranks from above alone: who may "
        "not be first by it is not shown to be worse than anybody, and a bracket that begins behind its own rank says "
        "no more than that. An entrant that is alone on its board has a rank "
        "and no bracket.",
        "1 + number significantly better to n − number significantly worse",
        "Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks, Review of Economic Studies 91",
    ),
    GlossaryEntry(
        "may_be_first",
        "May be first",
        "Yes, unless another entrant is shown to be better, or the rule for missing results excludes it. Its rank "
        "range then begins at 1. All pairs are tested at once: at a level of 95 %, in at most 5 % of such data sets "
        "somebody who is truly first is not among them, but for what the board's notes name.\n\n"
        "Where a board has a rule for what is missing, everybody is ranked by it. But nobody may be first by leaving "
        "out bad results: an entrant with gaps that would be behind the best of those who delivered more, with the "
        "worst value in each of its own gaps, may not be first. Its rank interval then begins at 2 or later, even "
        "beside the rank 1. Where nobody delivered more its gaps decide nothing, so somebody may always be first.",
        None,
        "Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks, Review of Economic Studies 91",
    ),
    GlossaryEntry(
        "front",
        "Front",
        "An entrant is on the front where no other one is at least as good in both numbers and better in one "
        "of them. "
        "It may be on the front where no rival that costs no more is shown to be better.",
        None,
        "Pareto 1906, Manuale di economia politica; the efficient set",
    ),
    GlossaryEntry(
        "group",
        "Group",
        "A new group begins, and a heavy line is drawn in the board, where everybody above is separable from "
        "everybody "
        "below. No such line can be drawn through a group: at each place some pair of one above and one below is not "
        "separable, though others may be. Where all are in one group the column says nothing, and is left out.",
    ),
    GlossaryEntry(
        "first_p",
        "p (first)",
        "How compatible the data are with this entrant being first, alone or not; 0.05 or less is ruled out at 95 %. "
        "It is a p-value, not a probability of being first: of five equal entrants each may have 1.\n\n"
        "An entrant that is first in truth has 0.05 or less in at most 5 % of such data sets, and 0.01 or less in 1 %, "
        "but for what the board's notes name. "
        "All pairs are tested at once, cautiously: the number is at least the p-value of the pair that decides it, "
        "also where there is one pair, and with 1,000 resamples at least 0.006. Who may not be first by the rule for "
        "gaps has none: the rule decides whatever a test says; nor has an entrant that is alone on its board, nor "
        "anybody on a provisional one.",
        "1 − level at which the largest lead of a better entrant equals the critical value of all pairs, stepped down",
        "Romano & Wolf 2005, Exact and approximate stepdown methods for multiple hypothesis testing, JASA 100",
    ),
    GlossaryEntry(
        "first_resamples_share",
        "First in resamples",
        "In exports alone: the share of the resamples in which the entrant has the best score; those who tie share it. "
        "It is no probability of being first: where entrants are about as good, those with more than 0.9 are truly "
        "first in half of the cases. Where one that may not be first for its gaps is the best in some resamples, the "
        "others have none; on a provisional board nobody has.",
    ),
    GlossaryEntry(
        "p_a_beats_b",
        "A ahead in resamples",
        "The share of the resamples in which A has the better score of the board, half for ties; what counts is "
        "whether the two are separable. It is no probability that A is better, and no p-value: it allows neither for "
        "few units nor for all the other pairs, and may be above 0.99 where a pair is not separable, or where two near "
        "copies differ on a single task.",
    ),
    GlossaryEntry(
        "contrast",
        "Difference of the scores of the board, and its p",
        "The difference of the two scores, and p: the probability of one at least as large, in either direction, if "
        "the two were equal. Of skill scores the difference is the skill of A relative to B, 1 − the geometric mean of "
        "the ratios of their errors, resampled on the same tasks, seeds, episodes, records or examples for both, "
        "as far as both have them. Its interval and its p, of a two-sided test, are of this pair by itself; separable "
        "means that it holds with all pairs of the board tested at once. Of weighted ranks, which move in steps, the "
        "interval is of resampled ranks, and the p from the spread: they agree on whether zero is in it, and no "
        "further. Of seeds that are all equal p is at least the chance of as many such, if the two were equal.",
        "t = difference / standard error over the resamples, of skill scores that of the mean log ratio; Student's t "
        "with the effective number of units less one as degrees of freedom, of means over groups of tasks with "
        "Satterthwaite's: the fewer of the two entrants', each the median over its pairs",
    ),
    GlossaryEntry(
        "letters",
        "Letters",
        "Of those who have letters, two with one in common cannot be told apart; any others can, all pairs of the "
        "board tested at once. "
        "A bar of the picture is a letter, broken where an entrant between does not have it.",
        None,
        "Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons",
    ),
    GlossaryEntry(
        "n_alike",
        "Not told from",
        "How many entrants it cannot be told apart from, all pairs of the board tested at once. The bar reaches from "
        "the first to the last rank of those.",
    ),
    GlossaryEntry(
        "separable",
        "Separable",
        "Yes when the difference between the two scores is shown, with all pairs of the board tested at once, or when "
        "the rule for gaps decides, as a column of its own then says. At 95 %: on at most one board in twenty, some "
        "pair is called separable by a test although it is equal, but for what the board's notes name. The square, the "
        "groups of the board and the page A against B say the same.",
        None,
        "Romano & Wolf 2005, Exact and approximate stepdown methods for multiple hypothesis testing",
    ),
    GlossaryEntry(
        "decided_by",
        "Decided by",
        "A test of the difference, the rule for gaps, or both: who lacks results and, with the worst value in each "
        "gap, would be behind the best of those who have more is separable from that one, whatever a test says. "
        "Difference, interval and p are those of the board's scores all the same; which of the two is before the other "
        "says the column beside. Where the rule alone decides the square says > or <. Rank intervals reach down over "
        "all that no test shows to be worse.",
    ),
    GlossaryEntry(
        "equivalent",
        "Better, worse, equivalent, undecided",
        "Better or worse where the two are separable, by however little; equivalent, where the manifest says which "
        "difference matters, if they are not separable and the interval of their difference, at the level of all "
        "pairs, lies within what does not matter; undecided where neither is shown. All of it holds simultaneously. "
        "Not separable is not equivalent: few data show neither.",
        "smallest difference ≥ |difference| + critical value × standard error",
        "Schuirmann 1987, two one-sided tests; with the critical value of all pairs",
    ),
    GlossaryEntry(
        "within",
        "By less than matters",
        "Whether two are shown to differ by less than the manifest says matters: the interval of their difference, at "
        "the level of all pairs, lies within it. Two of whom one is shown to be better may differ by less, too.",
        "smallest difference ≥ |difference| + critical value × standard error",
        "Schuirmann 1987, two one-sided tests; with the critical value of all pairs",
    ),
    GlossaryEntry(
        "pair_win_rate",
        "Win rate of A",
        "The share of the tasks on which A is better than B, half for ties. It says how often, not by how "
        "much, and is not what the board separates by. Its interval is fev's: each task is drawn by itself, also where "
        "the manifest declares that tasks belong to families.",
        "mean over tasks of [error A < error B] + ½ [error A = error B]",
        "fev (forecast evaluation), its pairwise comparison",
    ),
    GlossaryEntry(
        "pair_skill",
        "Skill of A relative to B",
        "The skill of A with B as its baseline, on errors that are clipped by this pair. It is not the difference of "
        "their skills against the board's baseline, by which the board ranks.",
        "1 − geometric mean over tasks of error A / error B",
        "fev (forecast evaluation), its pairwise comparison",
    ),
    GlossaryEntry(
        "resampling",
        "Resamples, level, rng seed, stream",
        "How the intervals of the scores were drawn: how many resamples, the share they are to hold, and the "
        "seed and "
        "order of the random numbers, with which anyone can draw them again. The stream independent draws for each "
        "board by its name; the stream of a system draws exactly as that system does, and serves its bounds alone. "
        "Ranks and what is separable come from draws by the names of tasks, seeds, episodes and records in "
        "every case: "
        "who shares a unit shares its weight, and nobody's draws depend on who else is on the board. The seed is the "
        "server's; one without the letters rng is an entrant's.",
    ),
)


# Glossary entries of coverage, failures and leaks.

GAPS = (
    GlossaryEntry(
        "coverage",
        "Covered: n of N",
        "Results delivered, of those asked for. What is asked for is the benchmark's grid: its tasks, and within them "
        "conditions, seeds and items or records. Who submits cannot make it smaller.\n\n"
        "- Included: results with a value.\n"
        "- Absent: results without any row.\n"
        "- Without a value: results whose row has none.\n"
        "- Failed: tasks whose row is absent or has no value, both together.\n"
        "- Imputed: failed tasks for which the board's rule put a value.\n\n"
        "The manifest says what becomes of an entrant that lacks some. It is ranked by a rule for what is missing, or "
        "it is partial: shown below the ranked ones, without a rank. Who can read private labels is shown there too, "
        "unless the manifest says otherwise.\n\n"
        "Results that were added to the grid after an entrant was admitted were not asked of it, and N does not count "
        "them. It has no rank on the new board until it runs them, and keeps the one that it had on the old board."
        "\n\n"
        "Where nobody has declared the grid a board is provisional. N is then what at least half of the submitters "
        "have, and half of those who came first. Who lacks some of it, or has more, ranks behind who differs less. No "
        "rank has an interval, and nobody is marked as possibly first.",
    ),
    GlossaryEntry("n_attempted", "Attempted", "Results that the benchmark asks for: N of “n of N”."),
    GlossaryEntry("n_included", "Included", "Results that were delivered with a value: n of “n of N”."),
    GlossaryEntry("n_absent", "Absent", "Results that were asked for and never delivered: there is no row."),
    GlossaryEntry("n_failed", "Without a value", "Rows that came without a value."),
    GlossaryEntry("n_not_asked", "Not asked", "Results that the benchmark asks for since this entrant was admitted."),
    GlossaryEntry(
        "unranked_because",
        "No rank because",
        "Why an entrant has no rank, such as partial: it lacks results that were asked for.",
    ),
    GlossaryEntry(
        "rank_if",
        "Rank if worst, rank if best",
        "An entrant's rank if every missing result were the worst possible, or the best: among all who are ranked, "
        "where a rule says what a missing result counts, else among those who lack nothing. On a board of points no "
        "result gets none, which is the worst. What was left out can put it anywhere between the two. Where the "
        "metric's range has no worst end the first is the last rank; where it has no best end the second is 1.",
    ),
    GlossaryEntry(
        "num_failures",
        "Failed, imputed",
        "A task without a usable result has failed: its row is absent or has no value. Failed counts both, over all "
        "tasks of the board. The board's rule says what becomes of failures in its score columns: who has one has no "
        "score (error), the task is left out for everybody (drop), or a value is put in its place (impute). "
        "Ranks are "
        "about those who have every task.",
    ),
    GlossaryEntry(
        "n_imputed",
        "Imputed",
        "Failures that the board's rule replaced by the error of the baseline, a skill of 0. Failing on a hard task "
        "must not be better than doing badly on it.",
        None,
        "fev (forecast evaluation), missing strategy impute",
    ),
    GlossaryEntry(
        "n_leaked",
        "Leaked",
        "Tasks whose data the entrant has seen in training, as its submitter declared. Its own errors there say "
        "little about new data, so the board's leakage model replaces it. Where all replaced errors together, gains "
        "and losses, give the entrant a better rank than its own would, it is flagged.",
    ),
    GlossaryEntry(
        "training_corpus_overlap",
        "Training corpus overlap",
        "The share of an entrant's tasks whose data it was trained on, as its submitter declared. A "
        "task of which that was not said does not count either way; of none known, nothing is shown.",
        "tasks with leaked data / tasks with a result of which it is known",
    ),
)


# Glossary entries of registrations, submissions and snapshots.

EVIDENCE = (
    GlossaryEntry(
        "prereg",
        "Preregistration",
        "A file that says what will be measured, registered before a run is admitted and never changed. It is "
        "addressed by the SHA-256 of its bytes, so a changed file is another registration.",
        None,
        "Nosek et al. 2018, The preregistration revolution",
    ),
    GlossaryEntry(
        "witnessed",
        "Witnessed and attested",
        "Witnessed: this server itself received the preregistration at that time. Attested: a steward vouches, with "
        "evidence, that it existed before this server saw it. The two are never shown alike.",
    ),
    GlossaryEntry(
        "checks",
        "Admission checks",
        "Each rule of a benchmark is applied to each submission, and the outcome is shown with its reason. "
        "Passed: the rule is met. Warned: the rule allows it, but a reader should know. Failed: the "
        "submission is not "
        "admitted.",
    ),
    GlossaryEntry(
        "self_reported",
        "Self-reported",
        "Rows are what the submitter sent. Ranks and intervals are computed here from them; whether the rows are "
        "true, the server cannot know.",
    ),
    GlossaryEntry(
        "status",
        "States of a submission",
        "A submission is always in one state, with the time and the reason of each it was in. Received: "
        "stored whole. "
        "Evaluated: its own averages are computed. Published: on the boards. Not admitted: stored and public "
        "with its "
        "reasons, on no board. Superseded: newer evidence of its entrants counts. Withdrawn: taken off by its owner "
        "or a steward, with the reason kept; what it had superseded does not come back.",
    ),
    GlossaryEntry(
        "ownership",
        "Ownership of a name",
        "The first admitted submitter of an entrant owns its name; only the owner can supersede its results. A "
        "steward can move a name to another owner.",
    ),
    GlossaryEntry(
        "snapshot",
        "Snapshot",
        "One immutable published state of a benchmark, numbered. The same inputs, manifest and code give the same "
        "numbers, byte for byte; add ?snapshot=N to any table's address to see an earlier one.",
    ),
)


# Glossary entries of claims and registrations, of whatever kind the evidence is.

CLAIMS = (
    GlossaryEntry(
        "claim",
        "Registered claim",
        "A statement that was registered before the submission that cites it, or that the benchmark asks of "
        "everybody: in a metric, one side exceeds the other by at least a threshold. It is decided here, from the "
        "rows.\n\n"
        "- What is checked: a submission is taken under a registration that was here before it.\n"
        "- What is told: where admitted evidence of an entrant that decides a claim was here before the registration, "
        "also evidence that was withdrawn since, the note says so, with both times; a time for which a steward "
        "vouches counts as that of the registration.\n"
        "- What nobody here can tell: whether results were seen before they were sent, or published elsewhere.\n\n"
        "A "
        "submission whose seeds and items had other results here before is flagged.",
    ),
    GlossaryEntry(
        "verdict",
        "Verdict",
        "Supported: the whole calibrated interval of the difference is at the threshold or beyond. Not supported: "
        "the whole interval falls short of it. With fewer than 35 seeds of a bounded score, more for one claim of "
        "several, the interval counts one more seed that failed altogether; where seeds have a score without two "
        "declared bounds none can be counted, and the note says on what the verdict then rests. Inconclusive: the "
        "interval holds the threshold, or there is none, as where one side was never delivered; and wherever a part "
        "of what is asked is absent, or rows of one side have none of the other, because that may be what spoke "
        "against the claim. Not decided: the metric has no value row by row, so that the board's pairs alone compare "
        "it.",
        "supported if low ≥ threshold; not supported if high < threshold; else inconclusive, as is all that is partial",
        "Zou & Donner 2008 for two entrants whose seeds are their own",
    ),
    GlossaryEntry(
        "gap_rule",
        "CHAMBER's gap rule",
        "What CHAMBER's own rule says of the claim, by the percentile interval of its paired cluster bootstrap. With "
        "few seeds that interval is too narrow, so it is shown and decides nothing.",
        "supported if low ≥ threshold; not supported if high < threshold; else inconclusive",
        "CHAMBER (20 percentage points)",
    ),
    GlossaryEntry(
        "multiple",
        "Claims of one registration",
        "Several claims give chance several tries, so those of a registration are held to stricter levels together, "
        "the smallest p-value to the strictest. As many are held together as the registration has rows in the table "
        "of claims, one for each submission and entrant that a claim is decided for, and at least as many as it has "
        "claims; of the benchmark's own claims those of one submission. The p-value is the least one-sided level at "
        "which the claim alone would be supported, with the one more seed wherever there are too few; 1 where no level "
        "does. What the same owner registered with the same contrast is counted, "
        "also where nobody reported on it, and what it registered against the same other side under other names.",
        "the i-th smallest p-value of m verdicts is held to 0.025 / (m − i + 1)",
        "Holm 1979",
    ),
    GlossaryEntry(
        "claim_status",
        "Status of a claim's evidence",
        "Current: the evidence that decided it is on the boards. Superseded, withdrawn: it was, and the "
        "verdict stays "
        "listed. Submitting again does not remove a verdict.",
    ),
    GlossaryEntry(
        "detectable",
        "Minimum detectable difference",
        "By how much the truth must lie beyond the threshold for this many seeds and episodes to support the claim "
        "with 80 % power, by the interval that decides and at the level that it is surely held to: its share of that "
        "of all claims of its source. With fewer than 35 seeds of a bounded score one more seed that fails altogether "
        "counts, too: where even seeds without a fault would not do, it is empty, and the note says so.",
        "the least shift at which the claim is supported although the estimate is z(0.8) standard errors too small",
        "Bloom 1995, Minimum detectable effects",
    ),
    GlossaryEntry(
        "pairs",
        "Matched and unmatched pairs",
        "A pair has the same seed, episode and initial state on both sides. Episodes without a partner are counted "
        "and left out of the difference; a repeated one is refused.",
    ),
    GlossaryEntry(
        "registration_outcome",
        "The outcome of a registration",
        "Reported: a submission that cites it, by who registered it, was admitted. Reported by another: only "
        "somebody "
        "else's was. Not admitted, withdrawn: one was sent, and did not last. "
        "Awaited: nothing was sent yet. Overdue: the benchmark's time for reporting has passed; never "
        "reported: it has "
        "passed twice. All registrations are public, so nobody can register ten and report the best one unseen.",
    ),
    GlossaryEntry(
        "reserved",
        "Reserved names",
        "The entrants that a registration for a benchmark lists, as far as nobody owns them, are kept for its "
        "registrant for 90 days: nobody else can submit under them. At most 20 names that are not used yet are kept "
        "for one submitter, each once: neither a further registration nor the same one again prolongs it. The "
        "registrant, or a steward of the benchmark, can release a name; the first admitted submission turns "
        "it into an "
        "owned one.",
    ),
    GlossaryEntry(
        "attested", "Attested", "A steward vouches for an earlier time of registration, with evidence; not witnessed."
    ),
    GlossaryEntry(
        "run_purpose",
        "Run purpose",
        "Leaderboard runs are ranked. Power runs plan a sample size and debug runs try things out: both are "
        "stored and "
        "shown with their purpose, and never ranked.",
    ),
)


# Glossary entries of what is shown beside a score: attempts and flags.

PROVENANCE = (
    GlossaryEntry(
        "attempts",
        "Attempts",
        "Which try this is: 3 means two earlier submissions for this entrant, refused ones included. The best of many "
        "tries is better than a typical one, by chance alone.\n\n"
        "- Where every task is a run of its own, the tries of the same tasks are counted.\n"
        "- Beside it stand the tries under its registration.\n"
        "- So do the registrations, entrants and submissions that its owner has in the benchmark.\n\n"
        "Dry runs are not counted. They answer with the checks and flags that a submission would get, and with the "
        "rank that it would have, so a rank can be tried for as often as one likes, as with the published rows at "
        "home. Where labels are private they use none, and tell nothing of a score.",
    ),
    GlossaryEntry(
        "nearest",
        "Nearest other, and the spread to it",
        "Whose values are most like this row's on the tasks (or records) that both have, and how much their "
        "differences vary: 0.013 means that, but for a common factor, half of the values agree to about a hundredth "
        "(0.67 × 1.3 %). "
        "Metrics whose values are positive are compared by ratios, others by differences in their own unit; where "
        "several metrics rank, the one in which the two are most alike. Sizes of one model, models made from another, "
        "and copies are near; it accuses nobody, and says on whose work a row may rest. Only others with at least half "
        "of this row's tasks (or records), and eight of them, are looked at. Empty where there is none, or where "
        "values repeat, such as 0 and 1.",
        "1.48 × median |d − median d|, d = differences of logarithms",
        "Hampel 1974, The influence curve and its role in robust estimation",
    ),
    GlossaryEntry(
        "flags",
        "Flags",
        "Oddities found in the results. Each has an innocent reason too; "
        "the submission's page, or a note on the board, says what was seen.\n\n"
        + "\n".join(f"- `{flag}`: {words[0].lower()}{words[1:]}" for flag, words in FLAGS.items())
        + "\n\n`far_beyond` is asked of the board at each publication, whoever came first: by a metric that ranks, on "
        "each task (or record), every other owner counts by its best entrant, and of these the second best is "
        "compared, or the best of fewer than three. It takes five compared values, and three of them, and a quarter, "
        "ten times better. Compared is where two other entrants have a value, and what is above zero or maximized in a "
        "declared range. Of what is "
        "minimized, zero or less is beyond any factor where the second best is above zero, but not where the metric's "
        "range goes below zero, or the second best does on any task. Of what is maximized in a declared range, ten "
        "times nearer to its end is as far; a hundredth of the range is as near as counts. It is not asked of one "
        "owner's entrants alone, and not on boards of measured episodes and predictions.",
    ),
)
