"""Glossary entries of intervals, ranks, pairs and resampling. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

UNCERTAINTY = (
    Entry(
        "interval",
        "Percentile bootstrap over tasks",
        "Tasks are drawn with replacement many times, the score is computed anew each time, and the interval is "
        "what lies between the two percentiles. It answers how the score would vary with other tasks like these. "
        "With fewer than two tasks there is no interval, and the page says so.",
        "[quantile of the resampled scores at (1 − level) / 2, quantile at (1 + level) / 2]",
        "Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13",
    ),
    Entry(
        "calibrated",
        "Calibrated interval",
        "The interval that is drawn. It holds the true value in at least 93.5 of 100 simulated data sets wherever the "
        "tables of docs/statistics.md say so, also with few seeds and with rates near 0 or 1; it has a width wherever "
        "the truth can lie elsewhere, stays within the range of its number, and is the same whatever the unit of the "
        "weights. The compatible interval in the columns beside it is the one that the system publishes whose numbers "
        "a board gives, to the digit; it often holds less than it says. A column says how it was made: "
        "wilson_neff, Wilson's with the number of trials that the spread between the units amounts to; gamma and "
        "student_skew, for numbers with one end to their range or none; chi2_neff, for an RMSE; share_band, for an "
        "interquartile mean of tied scores, from the shares above each; widened_ranks, for a score of weighted ranks: "
        "resampled values, as far apart as Student's t asks, ranked again. With fewer than eight units it is wide: so "
        "few cannot show how much they differ. Where failures come from few seeds or tasks it is wide too: one that "
        "fails wholly may not have occurred yet.",
        "Wilson with n = p(1 − p) / SE² and the quantile of t; SE between seeds, examples, groups or tasks",
        "Wilson 1927; Korn & Graubard 1998; Hall 1992; Fay & Feuer 1997; Satterthwaite 1946; DeLong et al. 1988",
    ),
    Entry(
        "rank_interval",
        "Rank and rank interval",
        "The rank comes from the point scores, and equal scores share it. In brackets: the best and the worst rank "
        "that this entrant may have. Every opponent that is significantly better takes a rank from above, every one "
        "that is significantly worse one from below; the brackets hold the true rank with the stated level, ties and "
        "all. They are about this entrant by itself (marginal): of ten such intervals more than one may well be "
        "wrong somewhere. Who may be first, the groups and who is separable are asked of all pairs at once (joint), "
        "which needs larger differences. So an entrant at 2 to 4 may still be one that may be first: that somebody is "
        "better than it is sure by itself, and not sure enough among all pairs of the board.",
        "1 + number significantly better to n − number significantly worse",
        "Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks, Review of Economic Studies 91",
    ),
    Entry(
        "may_be_first",
        "May be first",
        "Yes for an entrant unless another is separable from it as the better one. All pairs are tested "
        "simultaneously: with the stated level all who are truly first are among them. So somebody else is first in "
        "at most one of twenty worlds, at a level of 95 %. Where a board has a rule for what is missing, everybody is "
        "ranked by it; but who has gaps and with the worst value in each of its own would be behind the best of those "
        "who delivered more counts as separable from that one, so that leaving out bad results makes nobody possibly "
        "first: no, and a rank interval that begins at 2, even beside the rank 1. Where nobody delivered more its gaps "
        "decide nothing, so somebody may always be first.",
        None,
        "Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks, Review of Economic Studies 91",
    ),
    Entry(
        "front",
        "Front",
        "An entrant is on the front where no other one is at least as good in both numbers and better in one of them. "
        "It may be on the front where its interval reaches above every rival that costs no more.",
        None,
        "Pareto 1906, Manuale di economia politica; the efficient set",
    ),
    Entry(
        "group",
        "Group",
        "A new group begins, and a heavy line is drawn in the board, where everybody above is separable from everybody "
        "below. Within a group the order is not settled by this data.",
    ),
    Entry(
        "p_best",
        "P(best)",
        "The share of the resamples in which the entrant has the best score; those who tie share it. It says how the "
        "best place would go round in other data like these, and is no test: of two equals one may have 0.9 by chance. "
        "Who may be first says that, and who may not be for its gaps has 0. Where such a one is the best in some "
        "resamples, the others have none: to share these out among them would say too much. On a provisional board, "
        "whose grid nobody has declared, it is withheld too: what is compared there depends on who submits.",
    ),
    Entry(
        "p_a_beats_b",
        "P(A beats B)",
        "The share of the resamples in which A has the better score of the board, half for ties. It speaks of other "
        "data like these; it is not a p-value.",
    ),
    Entry(
        "contrast",
        "Difference of the scores of the board, and its p",
        "What a board says of two entrants is one contrast: the difference between their scores, in resamples in which "
        "every task, seed, episode or example that both have weighs the same for both. Its interval and its p, of a "
        "two-sided test, are of this pair by itself; separable means that it holds with all pairs of the board tested "
        "at once.",
        "t = difference / standard error over the resamples; Student's t with the units less one as degrees of freedom",
    ),
    Entry(
        "letters",
        "Letters",
        "Entrants that share a letter are not separable; those that share none are, all pairs of the board tested "
        "simultaneously. A bar of the picture is a letter, broken where an entrant between does not have it.",
        None,
        "Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons",
    ),
    Entry(
        "separable",
        "Separable",
        "Yes when the difference between the two scores is no chance, with all pairs of the board tested "
        "simultaneously: at a level of 95 % any pair at all that does not differ looks separable on one board of "
        "twenty. The square, the groups of the board and the page A against B say the same.",
        None,
        "Romano & Wolf 2005, Exact and approximate stepdown methods for multiple hypothesis testing",
    ),
    Entry(
        "pair_win_rate",
        "Win rate of A",
        "The share of the tasks on which A is better than B, half for ties. It says how often, not by how much, and is "
        "not what the board separates by.",
        "mean over tasks of [error A < error B] + ½ [error A = error B]",
        "fev (forecast evaluation), its pairwise comparison",
    ),
    Entry(
        "pair_skill",
        "Skill of A relative to B",
        "The skill of A with B as its baseline, on errors that are clipped by this pair. It is not the difference of "
        "their skills against the board's baseline, by which the board ranks.",
        "1 − geometric mean over tasks of error A / error B",
        "fev (forecast evaluation), its pairwise comparison",
    ),
    Entry(
        "resampling",
        "Resamples, level, rng seed, stream",
        "How the intervals of the scores were drawn: how many resamples, the share they are to hold, and the seed and "
        "order of the random numbers, with which anyone can draw them again. The stream independent draws for each "
        "board by its name; the stream of a system draws exactly as that system does, and serves its bounds alone. "
        "Ranks and what is separable come from draws by the names of tasks, seeds, episodes and records in every case: "
        "who shares a unit shares its weight, and nobody's draws depend on who else is on the board. The seed is the "
        "server's; one without the letters rng is an entrant's.",
    ),
)
