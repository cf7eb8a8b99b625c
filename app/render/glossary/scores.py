"""Glossary entries of the scores that boards rank by. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

SCORES = (
    Entry(
        "skill_score",
        "Skill score",
        "How much smaller an entrant's errors are than the baseline's, on the geometric average over tasks. "
        "0 is as good as the baseline, 1 would be no error at all, below 0 is worse than the baseline. "
        "Ratios are clipped before averaging, so that one task cannot decide the board. Between two entrants A "
        "and B, B takes the place of the baseline.",
        "1 − exp(mean over tasks of ln(clip(error / baseline error)))",
        "fev (forecast evaluation), its leaderboard and pairwise comparison",
    ),
    Entry(
        "geometric_mean",
        "Geometric mean",
        "The average for ratios: halving an error on one task and doubling it on another cancel out. "
        "The arithmetic mean would call that worse.",
        "exp(mean of ln(x))",
        "Fleming & Wallace 1986, How not to lie with statistics: the correct way to summarize benchmark results",
    ),
    Entry(
        "clipping",
        "Clipping",
        "A ratio of errors below the lower or above the upper limit of the board counts as that limit. "
        "The limits are in the manifest and in the JSON of every board.",
        "min(max(ratio, low), high)",
    ),
    Entry(
        "win_rate",
        "Win rate",
        "The share of comparisons that an entrant wins: over all tasks and all other entrants, half for ties. "
        "It says how often an entrant is better, not by how much; with a single entrant there is none.",
        "mean over opponents B of mean over tasks of [error A < error B] + ½ [error A = error B]",
        "fev (forecast evaluation), its leaderboard and pairwise comparison",
    ),
    Entry(
        "share_beaten",
        "Share beaten",
        "The share of the other entrants with a value on this task that are worse there, half for ties: 1 is the first "
        "place on the task, 0 the last.",
        "mean over opponents B of [A better than B] + ½ [A = B]",
    ),
    Entry(
        "mean",
        "Mean over tasks",
        "The plain average of a metric over tasks; every task counts the same, however much data it has.",
        "sum over tasks of the metric / number of tasks",
    ),
    Entry(
        "borda",
        "Borda points",
        "On each task an entrant gets a point for every other one that it is ranked before, half a point for a tie; "
        "the points are summed over tasks. A task without a result gives no points, so an entrant without every task "
        "has a rank too, but no rank interval, and is never one that may be first.",
        "sum over tasks of (entrants − rank on the task)",
        "MTEB's leaderboard; Colombo et al. 2022, What are the best systems?",
    ),
    Entry(
        "mean_rank",
        "Mean rank",
        "The average over tasks of the entrant's rank on each, ties sharing the average of their ranks. Only entrants "
        "with a result on every task are ranked. 1 is best.",
        "mean over tasks of the rank on the task",
        "Demšar 2006, Statistical comparisons of classifiers over multiple data sets",
    ),
    Entry(
        "group_mean",
        "Mean over groups of tasks",
        "Tasks are averaged within their group, then the groups: each group counts the same, however many tasks it "
        "has. Intervals resample the tasks within each group.",
        "mean over groups of (mean over the group's tasks of the metric)",
        "MTEB's mean over task types: Muennighoff et al. 2023",
    ),
    Entry(
        "advantage",
        "Advantage",
        "On a board of means: the mean over tasks of how much better A is than B, in the metric's own unit; on a board "
        "of points or ranks, in those. Above 0, A is better, whichever way the metric points.",
    ),
    Entry(
        "median_time",
        "Time",
        "The median over tasks of the reported seconds, per so many forecasts where the head of the column says so. "
        "Times are reported by submitters from their own machines, so small differences mean little.",
    ),
)
