"""Per-series values made again from a run's own estimates and truths, by lrdbench's definitions.

Called by `app.kinds.series.read` for runs that carry raw/estimates.csv and raw/truths.csv; pure. What raw/metrics.csv
states and does not follow from them does not count. Source: lrdbench 2.0, `GroundTruthEvaluator._per_series_rows`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.boards.weighted_rank.discrimination import CLASS_COLUMNS, CLASS_ESTIMAND
from app.boards.weighted_rank.identity import split_identity
from app.files.flag_cells import FLAGS
from app.kinds.series.json_cells import value_of
from app.kinds.series.pivot import code_texts
from app.kinds.series.truths import Truths
from app.values.scores import NONE, Coded, ScoreTable

TOLERANCE = 1e-9
OF_POINTS = frozenset({"bias", "mae", "rmse"})
OF_INTERVALS = frozenset({"coverage", "ci_width", "ci_availability"})
MADE = OF_POINTS | OF_INTERVALS | {"validity_rate", "runtime"}
DEFAULT_LEVEL = 0.95
LEVEL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Estimate:
    """What an estimator said of a record; `intervals` are (level, low, high)."""

    valid: bool
    point: float | None
    ends: tuple[float | None, float | None]
    intervals: Sequence[tuple[float, float, float]]
    runtime: float | None

    def usable(self) -> float | None:
        """Return the point of a valid estimate, None where there is none."""
        return self.point if self.valid and self.point is not None and np.isfinite(self.point) else None

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the interval at a level; the two plain ends are one at 95 %."""
        if self.usable() is None:
            return None
        for at, low, high in self.intervals:
            if abs(at - level) < LEVEL_TOLERANCE and low <= high:
                return low, high
        is_default = not self.intervals and abs(level - DEFAULT_LEVEL) < LEVEL_TOLERANCE
        first, last = self.ends
        return (first, last) if is_default and first is not None and last is not None and first <= last else None


@dataclass(frozen=True)
class Difference:
    """A stated value that does not follow from the estimate and the truth; None is null."""

    estimator: str
    record: str
    metric: str
    stated: float | None
    made: float | None


def value_from(metric: str, estimate: Estimate, truth: float | None) -> tuple[bool, float | None]:
    """Return whether lrdbench has a row of the metric for an estimate, and its value, None for null."""
    name, level = split_identity(metric)
    if name in OF_POINTS:
        point = estimate.usable()
        error = None if point is None or truth is None else point - truth
        made = {
            "bias": error,
            "mae": None if error is None else abs(error),
            "rmse": None if error is None else error**2,
        }
        return truth is not None, made[name]
    if name in OF_INTERVALS:
        bounds = estimate.interval(DEFAULT_LEVEL if level is None else level)
        if name == "ci_availability":
            return True, float(bounds is not None)
        if name == "ci_width":
            return True, None if bounds is None else bounds[1] - bounds[0]
        covers = None if bounds is None or truth is None else float(bounds[0] <= truth <= bounds[1])
        return truth is not None, covers
    return True, float(estimate.valid) if name == "validity_rate" else float(estimate.runtime or 0.0)


def recompute(
    scores: ScoreTable,
    recorded: Mapping[str, Coded],
    truths: Truths,
    estimands: Mapping[str, str],
    metrics: Collection[str],
    is_complete: Callable[[int], bool],
) -> tuple[ScoreTable, list[Difference]]:
    """Return the scores with what can be made again, and where that differs from what the run states.

    `recorded` are the cells of each row's estimate, `is_complete` says of a file's position whether its run carries
    estimates and truths. A metric of the benchmark that no row states is made all the same.
    """
    wanted = [metric for metric in metrics if split_identity(metric)[0] in MADE]
    columns = (*scores.columns, *(metric for metric in wanted if metric not in scores.columns))
    values = np.full((len(scores), len(columns)), np.nan)
    values[:, : len(scores.columns)] = scores.values
    lists = _lists(scores)
    missing = [words.split() for words in _texts(scores.recorded.get("missing_ci"), len(scores))]
    differences: list[Difference] = []
    estimates = list(_estimates(recorded, len(scores)))
    for at, estimate in enumerate(estimates):
        if not is_complete(int(scores.file[at])) or _is_diagnostic(scores, at):
            continue
        estimator, record = scores.entrant.at(at) or "", _at(scores.item, at)
        truth = truths.of(record, estimands.get(estimator))
        for metric in wanted:
            place = columns.index(metric)
            has_row, made = (False, None) if estimate is None else value_from(metric, estimate, truth)
            if not has_row and metric not in lists[at]:
                continue
            stated = None if np.isnan(values[at, place]) else float(values[at, place])
            if metric in lists[at] and _differ(stated, made):
                differences.append(Difference(estimator, record or "", metric, stated, made))
            values[at, place] = np.nan if made is None else made
            lists[at] += [] if metric in lists[at] else [metric]
            lacks = made is None and split_identity(metric)[0] in OF_INTERVALS
            missing[at] = [*(m for m in missing[at] if m != metric), *([metric] if lacks else [])]
    kept = {**scores.recorded, "metrics": code_texts([" ".join(names) for names in lists]),
            "missing_ci": code_texts([" ".join(names) or None for names in missing])}  # fmt: skip
    return replace(scores, columns=columns, values=values, recorded=kept), differences


def with_classes(
    scores: ScoreTable,
    recorded: Mapping[str, Coded],
    truths: Truths,
    estimands: Mapping[str, str],
    is_complete: Callable[[int], bool],
) -> ScoreTable:
    """Return the scores with what metrics of classes are made of: each record's score, and the class of its truth.

    Only those of estimators that tell classes apart; an estimate that is invalid has no score.
    """
    found = np.full((len(scores), len(CLASS_COLUMNS)), np.nan)
    for at, estimate in enumerate(_estimates(recorded, len(scores))):
        told = truths.class_of(_at(scores.item, at))
        is_asked = estimands.get(scores.entrant.at(at) or "") == CLASS_ESTIMAND and is_complete(int(scores.file[at]))
        if is_asked and told is not None and not _is_diagnostic(scores, at):
            point = None if estimate is None else estimate.usable()
            found[at] = (np.nan if point is None else point, told)
    return replace(scores, columns=(*scores.columns, *CLASS_COLUMNS), values=np.column_stack([scores.values, found]))


def _is_diagnostic(scores: ScoreTable, at: int) -> bool:
    role = scores.recorded.get("role")
    return role is not None and role.at(at) == "diagnostic"


def _lists(scores: ScoreTable) -> list[list[str]]:
    recorded = scores.recorded.get("metrics")
    if recorded is None:
        return [list(scores.columns) for _ in range(len(scores))]
    return [words.split() for words in _texts(recorded, len(scores))]


def _texts(coded: Coded | None, n_rows: int) -> list[str]:
    return [""] * n_rows if coded is None else [text or "" for text in coded.to_list()]


def _estimates(recorded: Mapping[str, Coded], n_rows: int) -> Iterator[Estimate | None]:
    """Yield each row's estimate, None where it has none."""
    numbers = {name: _numbers(recorded[name]) for name in ("point_estimate", "ci_low", "ci_high", "runtime_seconds")}
    intervals = [_intervals(text) for text in recorded["bootstrap_cis_json"].words]
    flags, cis = recorded["valid"], recorded["bootstrap_cis_json"].codes
    for at in range(n_rows):
        if flags.codes[at] == NONE:
            yield None
            continue
        of_row = {name: column[at] for name, column in numbers.items()}
        yield Estimate(
            valid=FLAGS[flags.at(at) or "False"],
            point=of_row["point_estimate"],
            ends=(of_row["ci_low"], of_row["ci_high"]),
            intervals=intervals[cis[at]] if cis[at] != NONE else (),
            runtime=of_row["runtime_seconds"],
        )


def _numbers(coded: Coded) -> list[float | None]:
    words = [_number(word) for word in coded.words]
    return [None if code == NONE else words[code] for code in coded.codes.tolist()]


def _number(word: str) -> float | None:
    value = float(word)
    return value if np.isfinite(value) else None


def _intervals(text: str) -> Sequence[tuple[float, float, float]]:
    found = value_of(text)
    cells: list[list[Any]] = [
        [each.get(key) for key in ("nominal", "ci_low", "ci_high")] for each in found if isinstance(each, dict)
    ]
    return [
        (float(three[0]), float(three[1]), float(three[2]))
        for three in cells
        if all(isinstance(number, int | float) for number in three)
    ]


def _at(coded: Coded | None, at: int) -> str | None:
    return None if coded is None else coded.at(at)


def _differ(stated: float | None, made: float | None) -> bool:
    if stated is None or made is None:
        return stated is not made
    return abs(stated - made) > TOLERANCE * max(1.0, abs(made))
