"""What every key of a manifest means, in a sentence. Read by `app.kinds.parse` for the JSON Schema.

By the type that has the key; `*` holds for every board. A test compares the keys with those of the types.
"""

from collections.abc import Mapping
from functools import cache

from app.boards.registry import methods

BOARD: Mapping[str, str] = {
    "name": "the board's name in addresses",
    "title": "the title shown on pages; its name by default",
    "description": "what it shows, in Markdown",
    "method": "how it ranks",
    "tasks": "the tasks that count; all of them by default",
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
        "tasks": "the closed list of tasks, or `{open: true}` to accept any task that the evidence names",
        "grid": "what every entrant must report, and how absent cells count",
        "admission": "the rules that a submission must meet to be admitted",
        "metadata": "metadata that submissions may or must state; shown, and boards can be filtered by it",
        "columns": "which column of a summary holds what",
        "preset": "fev: its older column names are accepted too",
        "episodes": "which columns of an episode hold its condition, seed and item",
        "mode": "what a benchmark of series may claim: ground truth, stress test or observation",
        "contamination": "the operators of a stress test",
        "estimators": "the enrolled estimators; others are refused",
        "asked": "on which records metrics are asked that do not exist on all of them",
        "uncertainty": "how the intervals of series are drawn",
        "predictions": "what is predicted, and the classes",
        "scoring": "how private labels are scored in public: parts, quotas, and when they close",
        "claims": "contrasts that are decided for every entrant",
        "leaderboards": "the boards",
    },
    "Metric": {
        "direction": "whether higher or lower is better",
        "from": "the column it is read from, if not its own name",
        "above": "the score is 1 if the column is above this value, else 0",
        "title": "what pages call it",
        "unit": "the unit of its values, such as ms",
        "min": "the least possible value; anything below is refused",
        "max": "the greatest possible value; anything above is refused",
        "description": "what it measures",
    },
    "Task": {
        "id": "the task's name, as rows give it",
        "title": "what pages call it",
        "where": "the value that each named column must have in the task's rows; others are refused",
        "n_forecasts": "how many forecasts one run of the task makes",
    },
    "OpenTasks": {"open": "true: any task that the evidence names is accepted"},
    "Grid": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward uploads them as a table",
        "tasks": "exceptions for some tasks",
        "entrants": "exceptions for some entrants",
        "absent": "unranked: entrants with absent cells are listed separately; worst: such cells count as the worst",
        "registration_may_choose": (
            "seeds or conditions that a registration names before the run, such as `{seeds: {at_least: 16}}`; needs "
            "`admission: {prereg: required}`"
        ),
    },
    "Axes": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward uploads them as a table",
    },
    "AtLeast": {"at_least": "the fewest that a registration must name"},
    "Admission": {
        "prereg": "required: every run must be registered before it begins",
        "prereg_forms": "the forms of preregistration that are accepted",
        "min_seeds": "the fewest seeds of a run",
        "claims": "required: a run must state its intervals, and they must agree",
        "dirty": "whether a run with uncommitted code is admitted",
        "failure_policy": "how rows without a score are judged if the registration does not say",
        "report_within_days": "how long after its registration a run becomes overdue",
        "submissions": "invited: only those appointed submitters of the benchmark may register and submit",
        "started_at": "required: a run must state when it began, so that a later registration is detected",
        "registration": "anyone who asks gets a token to submit here; without it, stewards invite submitters",
    },
    "DescribedBy": {
        "name": "the field's name in the metadata of a submission; may also be one that every benchmark has",
        "type": "the type of its values; a date is a day such as 2026-01-31",
        "title": "its label on pages and in the form",
        "unit": "the unit of its values, such as tokens",
        "values": "the values that a text may have; any by default",
        "required": "true: a submission that does not state it is refused",
        "description": "what it means",
    },
    "Registration": {
        "per_day": "how many tokens are issued in 24 hours",
        "token_days": "after how many days each of them expires",
    },
    "LeastSeeds": {
        "spike": "for a run registered in the axis form",
        "entry": "for a run registered in another form, or not at all",
    },
    "Columns": {
        "entrant": "the column that names the entrant; null: the form field names it",
        "task": "the column that names the task; null: the benchmark has one task, and no column names it",
        "leaked": "the column that says whether the entrant has seen the task's data",
        "training_time_s": "the column of the training time, seconds",
        "inference_time_s": "the column of the inference time, seconds",
        "n_forecasts": "the column of the number of forecasts",
        "recorded": "columns that are stored and shown, never used in computations",
    },
    "Episodes": {
        "entrant": "the column that names the entrant",
        "seed": "the column of the seed; null: there are no seeds, every row has seed 0, and items are resampled",
        "condition": "the column of the condition, or several of which each row has one; null: only one condition",
        "item": "the columns that identify a row within a seed and task",
        "conditions": "the closed list of conditions",
        "task": "the column that names the task",
        "boolean": "metrics whose cells must be true or false",
    },
    "Predictions": {
        "kind": "classification, regression or ranking",
        "classes": "the classes, in the order of the columns",
        "positive": "the positive class, of two",
        "labels": "private: the steward uploads them, and no endpoint returns them",
        "label_holders": "entrants of who can read private labels: reference, listed without a rank, or ranked",
        "missing": "how an item without a prediction is treated",
        "truncation": "the depth of the metrics of a ranking",
        "sum_tolerance": "how far the sum of an item's probabilities may be from 1",
        "thresholds": "decision thresholds: marked in reports, compared by the tests",
    },
    "Scoring": {
        "public_share": "the share of the items that is scored and shown before the close",
        "per_day": "how many submissions of one owner are scored in a day",
        "entrants_per_submission": "how many entrants one submission may bring",
        "ladder": "a score is shown only if it beats the owner's best by more than its standard error",
        "digits": "the most significant digits of a published number",
        "closes_at": "when submissions close and the private part is shown",
    },
    "Truncations": {"ndcg": "the depth of NDCG", "mrr": "the depth of MRR", "map": "the depth of MAP"},
    "CatalogUse": {"catalog": "the catalog: lrdbench", "use": "the metrics of it"},
    "Contamination": {
        "name": "the operator's name",
        "description": "what it does",
        "params": "its parameters",
    },
    "AskedOn": {
        "metrics": "the metrics",
        "estimators": "the estimators that it is about; all by default",
        "tasks": "the strata in which they are asked",
        "records": "single records on which they are asked",
    },
    "SeriesUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "levels": "the confidence levels",
        "rng_seed": "the generator's seed",
        "metrics": "the metrics that have intervals",
        "paired": "whether differences are resampled too",
        "paired_metrics": "the metrics whose differences are resampled",
        "stream": "which random stream",
    },
    "Claim": {
        "contrast": "first minus second, conditions or entrants; a single one is compared with the threshold itself",
        "metric": "the metric that it concerns",
        "threshold": "what the contrast is compared with",
        "direction": "the claimed side of the threshold",
    },
    "Uncertainty": {
        "n_resamples": "how many resamples are drawn; 0: no intervals, if the method allows it",
        "level": "the confidence level",
        "rng_seed": "the generator's seed",
        "stream": "which random stream: an independent one, or that of another system, to reproduce its numbers",
    },
    "EstimateUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "level": "the confidence level",
        "rng_seed": "the generator's seed",
        "stream": "which random stream: an independent one, or that of another system, to reproduce its numbers",
        "method": "which units are resampled, and within which",
    },
    "Mean": {
        "missing": "error: an absent task leaves the board empty; drop: an entrant that lacks one is listed separately"
    },
    "GroupMean": {"groups": "the tasks of each group; groups have equal weight"},
    "Borda": {},
    "MeanRank": {},
    "MeanWinRate": {},
    "SkillScore": {
        "baseline": "the baseline entrant, to which errors are relative",
        "leakage_model": "the entrant whose errors replace those of entrants that have seen the data",
        "missing": "impute: a task without an error counts as the baseline's, and everybody is ranked by that rule, as "
        "in fev; drop: such tasks are left out of the scores, and who lacks one is listed separately; error: the board "
        "is empty then",
        "clip": "the bounds at which relative errors are clipped",
        "rank_by": "whether entrants are ranked by skill score or win rate",
        "normalize_time_per_n_forecasts": "times are given per this many forecasts",
    },
    "EstimateBoard": {
        "metrics": "the metrics of the board",
        "rank_by": "the metric that ranks; by default the first",
        "statistic": "the statistic over items: mean or interquartile mean",
        "statistics": "metrics with another statistic",
        "labels": "entrants that are shown but not ranked, each with the reason",
        "quantiles": "quantiles of the scores, shown as further columns",
        "optimality_gap": "the optimality gap below a threshold, shown as further columns",
        "profile": "the performance profile of a metric",
        "composite": "a weighted mean over tasks",
    },
    "OptimalityGap": {"threshold": "the score that counts as optimal"},
    "Profile": {
        "metric": "the metric; by default the one that ranks",
        "low": "the least threshold; by default the metric's min",
        "high": "the greatest threshold; by default the metric's max",
        "n_points": "how many thresholds",
    },
    "Composite": {
        "title": "what pages call it",
        "weights": "the weight of each task",
        "conditions": "the condition of the task that is scored",
        "against": "the condition it is compared with",
    },
    "WeightedRank": {
        "ranking_rule": "the version of the weighting rule",
        "weights": "the weight of each metric; they sum to one",
        "tie_break": "the metric that breaks ties",
    },
}


def text_of(model: str, key: str) -> str | None:
    """Return what a key means; None for one that nobody described. What all boards have is described once."""
    return FIELDS.get(model, {}).get(key) or (BOARD.get(key) if model in _boards() else None)


@cache
def _boards() -> frozenset[str]:
    return frozenset(method.spec.__name__ for method in methods().values())
