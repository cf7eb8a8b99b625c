"""What every key of a manifest means, in a sentence. Read by `app.kinds.parse` for the JSON Schema.

By the type that has the key; `*` holds for every board. A test compares the keys with those of the types.
"""

from collections.abc import Mapping
from functools import cache

from app.boards.registry import methods

BOARD: Mapping[str, str] = {
    "name": "the board's name in addresses",
    "title": "what pages call it; the name where there is none",
    "description": "what it shows, in Markdown",
    "method": "how it ranks",
    "tasks": "the tasks that count; all of them where none are listed",
    "uncertainty": "how its intervals are drawn",
    "metric": "the metric that ranks",
}

FIELDS: Mapping[str, Mapping[str, str]] = {
    "*": BOARD,
    "Manifest": {
        "schema_version": "the version of this format: 1",
        "slug": "the benchmark's name in addresses; it never changes",
        "title": "what pages call it",
        "description": "what is measured, by whom and how, in Markdown",
        "evidence": "what is uploaded: the kind of evidence",
        "metrics": "the metrics by name, or a choice from a catalog",
        "tasks": "the closed list of tasks, or `{open: true}` for whatever the evidence names",
        "grid": "what every entrant is asked for, and what becomes of what it lacks",
        "admission": "the rules that a submission must meet before it stands on a board",
        "metadata": "what is said of entrants beside their rows, and must be: shown, and boards are filtered by it",
        "columns": "which columns of a summary hold what",
        "preset": "fev: its older column names are known too",
        "episodes": "where an episode says its condition, seed and item",
        "mode": "what a benchmark of series may claim: ground truth, stress test or observation",
        "contamination": "the operators of a stress test",
        "estimators": "the estimators that are enrolled, where others are refused",
        "uncertainty": "how the intervals of series are drawn",
        "predictions": "what is predicted, and which classes there are",
        "scoring": "how private labels are scored in public: parts, quotas, and when they close",
        "claims": "contrasts that are decided for every entrant",
        "leaderboards": "the boards",
    },
    "Metric": {
        "direction": "which way is better",
        "from": "the column that it is read from, where that is not its own name",
        "above": "the score is whether the column is above this value",
        "title": "what pages call it",
        "unit": "the unit of its values, such as ms",
        "min": "the least value there is; one below is refused",
        "max": "the greatest value there is; one above is refused",
        "description": "what it measures",
    },
    "Task": {
        "id": "the task's name, as rows say it",
        "title": "what pages call it",
        "where": "the value that each named column has in the task's rows; others are refused",
        "n_forecasts": "how many forecasts a run of it makes",
    },
    "OpenTasks": {"open": "true: tasks are whatever the evidence names"},
    "Grid": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward puts them as a table",
        "tasks": "what differs for some tasks",
        "entrants": "what differs for some entrants",
        "absent": "unranked: who lacks anything stands apart; worst: it counts as the worst of the range",
        "registration_may_choose": "axes whose values a registration names before the run",
    },
    "Axes": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward puts them as a table",
    },
    "AtLeast": {"at_least": "how many a registration must name at least"},
    "Admission": {
        "prereg": "required: every run is registered before it is made",
        "prereg_forms": "the forms of registration that are taken",
        "min_seeds": "the fewest seeds of a run",
        "claims": "required: a run states its intervals, and they must agree",
        "dirty": "whether a run with uncommitted code is taken",
        "failure_policy": "how rows without a score are judged where no registration says it",
        "report_within_days": "how long after its registration a run may take before it counts as overdue",
        "submissions": "invited: only who was made a submitter of the benchmark registers and submits",
        "started_at": "required: a run says when it began, so that a registration after it shows",
        "registration": "whoever asks gets a token to submit here; without it a steward invites",
    },
    "DescribedBy": {
        "name": "the field's name in the metadata of a submission; one that every benchmark has may be asked for too",
        "type": "what its values are; a date is a day such as 2026-01-31",
        "title": "what pages and the form call it",
        "unit": "the unit of its values, such as tokens",
        "values": "the values that a text may have; any where none are listed",
        "required": "true: a submission that does not say it is refused",
        "description": "what it means",
    },
    "Registration": {
        "per_day": "how many tokens are given in 24 hours",
        "token_days": "after how many days each of them ends",
    },
    "LeastSeeds": {
        "spike": "of a run that was registered in the axis form",
        "entry": "of a run that was registered otherwise, or not at all",
    },
    "Columns": {
        "entrant": "the column that names who is compared; null: the form field does",
        "task": "the column that names the task; null: the benchmark has one task, and no column names it",
        "leaked": "the column that says whether the entrant has seen the task's data",
        "training_time_s": "the column of the training time, seconds",
        "inference_time_s": "the column of the inference time, seconds",
        "n_forecasts": "the column of the number of forecasts",
        "recorded": "columns that are kept and shown, never computed with",
    },
    "Episodes": {
        "entrant": "the column that names who is compared",
        "seed": "the column of the seed; null: there are none, every row is of seed 0, and intervals rest on items",
        "condition": "the column of the condition, or several of which each row has one; null: there is one condition",
        "item": "the columns that tell the rows of one seed and task apart",
        "conditions": "the closed list of conditions",
        "task": "the column that names the task",
        "boolean": "metrics whose cells are true or false and no number between",
    },
    "Predictions": {
        "kind": "classification, regression or ranking",
        "classes": "the classes, in the order of the columns",
        "positive": "the class that counts as found, of two",
        "labels": "private: the steward puts them, and no address returns them",
        "missing": "what becomes of an item without a prediction",
        "truncation": "the depth of the metrics of a ranking",
        "sum_tolerance": "how far the probabilities of an item may be from one in sum",
        "thresholds": "the scores from which on a class is called: marked in reports, compared by the tests",
    },
    "Scoring": {
        "public_share": "the share of the items whose scores are shown before the close",
        "per_day": "how many submissions of one owner are scored in a day",
        "entrants_per_submission": "how many entrants one submission may bring",
        "ladder": "a score is shown only where it is better than the owner's best by more than its standard error",
        "digits": "how many significant digits a number has at most",
        "closes_at": "when nothing more is taken and the private part is shown",
    },
    "Truncations": {"ndcg": "the depth of NDCG", "mrr": "the depth of MRR", "map": "the depth of MAP"},
    "CatalogUse": {"catalog": "the catalog: lrdbench", "use": "the metrics of it"},
    "Contamination": {
        "name": "the operator's name",
        "description": "what it does",
        "params": "its parameters",
    },
    "SeriesUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "levels": "the confidence levels",
        "rng_seed": "the seed of the draws",
        "metrics": "the metrics that have intervals",
        "paired": "whether differences are drawn too",
        "paired_metrics": "the metrics whose differences are drawn",
        "stream": "whose draws they are",
    },
    "Claim": {
        "contrast": "first minus second, of conditions or entrants; a single one is compared with the threshold itself",
        "metric": "the metric that it is about",
        "threshold": "what the contrast is compared with",
        "direction": "on which side of the threshold the claim is",
    },
    "Uncertainty": {
        "n_resamples": "how many resamples are drawn; 0: no intervals, where the method can do without",
        "level": "the confidence level",
        "rng_seed": "the seed of the draws",
        "stream": "whose draws they are: independent, or those of a system that they must equal",
    },
    "EstimateUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "level": "the confidence level",
        "rng_seed": "the seed of the draws",
        "stream": "whose draws they are: independent, or those of a system that they must equal",
        "method": "what is resampled within what",
    },
    "Mean": {"missing": "error: a lacking task leaves the board empty; drop: who lacks one stands apart"},
    "GroupMean": {"groups": "the tasks of each group; each group counts the same"},
    "Borda": {},
    "MeanRank": {},
    "MeanWinRate": {},
    "SkillScore": {
        "baseline": "the entrant that errors are relative to",
        "leakage_model": "whose errors replace those of entrants that have seen the data",
        "missing": "what becomes of a lacking task",
        "clip": "the ends at which relative errors are cut",
        "rank_by": "whether skill score or win rate ranks",
        "normalize_time_per_n_forecasts": "times are per so many forecasts",
    },
    "EstimateBoard": {
        "metrics": "the metrics of the board",
        "rank_by": "the metric that ranks; the first where none is named",
        "statistic": "how items become a score: mean or interquartile mean",
        "statistics": "the statistic of a metric that has another one",
        "labels": "entrants that are shown and are no contenders, each with why",
        "quantiles": "quantiles of the scores that are shown beside",
        "optimality_gap": "how far scores stay below a threshold, shown beside",
        "profile": "the performance profile of a metric",
        "composite": "a weighted mean over tasks",
    },
    "OptimalityGap": {"threshold": "the score that counts as reached"},
    "Profile": {
        "metric": "the metric; the one that ranks where none is named",
        "low": "the least threshold; the metric's min where none is given",
        "high": "the greatest threshold; the metric's max where none is given",
        "n_points": "how many thresholds",
    },
    "Composite": {
        "title": "what pages call it",
        "weights": "the weight of each task",
        "conditions": "the condition of a task that counts",
        "against": "the condition of a task that is compared with it",
    },
    "WeightedRank": {
        "ranking_rule": "the version of the rule by which ranks are weighed",
        "weights": "the weight of each metric; they sum to one",
        "tie_break": "the metric that decides between equals",
    },
}


def text_of(model: str, key: str) -> str | None:
    """Return what a key means; None for one that nobody described. What all boards have is described once."""
    return FIELDS.get(model, {}).get(key) or (BOARD.get(key) if model in _boards() else None)


@cache
def _boards() -> frozenset[str]:
    return frozenset(method.spec.__name__ for method in methods().values())
