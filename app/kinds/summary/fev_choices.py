"""What a task list of fev does not say of a benchmark: the baseline, the leakage model, how times are normalised.

Called by `plumbline benchmark import-fev`: options decide, else the result files, else it is as on fev-bench.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.boards.methods.skill_score.spec import RankBy
from app.errors import ManifestRejected, Problem
from app.kinds.summary.fev_results import FevResults
from app.names import first_few

BASELINE = "Seasonal Naive"
LEAKAGE_MODEL = "Chronos-Bolt"
NORMALIZE_TIME_PER = 100
# What the models that fev's own lists use are called once case and signs are left out, the likeliest first.
BASELINES = ("seasonalnaive", "snaive")
LEAKAGE_MODELS = ("chronosbolt", "chronosboltbase")


@dataclass(frozen=True)
class FevChoices:
    """What a task list does not say. `leakage_model` None is none; `per_n_forecasts` None is times as they are.

    `counts` are the forecasts of each task. `rank_by` is the column that ranks: fev's own list is sorted by `win_rate`.
    """

    baseline: str = BASELINE
    leakage_model: str | None = LEAKAGE_MODEL
    per_n_forecasts: int | None = NORMALIZE_TIME_PER
    description: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    rank_by: RankBy = "skill_score"


@dataclass(frozen=True)
class FevOptions:
    """What a steward chose outright. None is no choice, and `no_leakage_model` and `plain_times` say no."""

    baseline: str | None = None
    leakage_model: str | None = None
    no_leakage_model: bool = False
    per_n_forecasts: int | None = None
    plain_times: bool = False
    description: str | None = None
    rank_by: RankBy = "skill_score"


def choose(options: FevOptions, results: FevResults | None, tasks: Sequence[str]) -> FevChoices:
    """Return the choices of a benchmark. Raises ManifestRejected where nothing says them."""
    counts = {} if results is None else results.forecasts()
    counted = results is None or all(task in counts for task in tasks)
    per = options.per_n_forecasts or (NORMALIZE_TIME_PER if counted else None)
    problems: list[Problem] = []
    baseline = _baseline(options, results, problems)
    leakage_model = None if options.no_leakage_model else _leakage_model(options, results, problems)
    if problems:
        raise ManifestRejected("The result files leave open what the boards need.", problems)
    per = None if options.plain_times else per
    return FevChoices(baseline, leakage_model, per, options.description, counts, options.rank_by)


def _baseline(options: FevOptions, results: FevResults | None, problems: list[Problem]) -> str:
    if results is None:
        return options.baseline or BASELINE
    name = options.baseline or _first_named(BASELINES, results.models)
    if name not in results.models:
        who = "a seasonal naive forecast is" if name is None else f"{name} is"
        problems.append(Problem(f"{who} not among the models ({_some(results.models)}); name one with --baseline"))
    return name or BASELINE


def _leakage_model(options: FevOptions, results: FevResults | None, problems: list[Problem]) -> str | None:
    if results is None:
        return options.leakage_model or LEAKAGE_MODEL
    unspoiled = results.models - results.leaked
    if options.leakage_model is not None:
        if options.leakage_model not in unspoiled:
            why = "has itself seen data" if options.leakage_model in results.leaked else "is not among the models"
            problems.append(Problem(f"{options.leakage_model} {why} ({_some(unspoiled)} have not seen any)"))
        return options.leakage_model
    model = _first_named(LEAKAGE_MODELS, unspoiled)
    if model is None and results.leaked:
        problems.append(
            Problem(
                f"{_some(results.leaked)} have seen data, and there is no Chronos-Bolt that has not, to replace their "
                "errors; name another model with --leakage-model, or pass --no-leakage-model"
            )
        )
    return model


def _first_named(plain_names: Sequence[str], models: set[str]) -> str | None:
    """Return the model that has the first of some names, whatever its case and signs."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in sorted(models, reverse=True)}
    return next((plain[name] for name in plain_names if name in plain), None)


def _some(names: set[str]) -> str:
    return first_few(sorted(names), 6)
