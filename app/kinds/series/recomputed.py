"""Per-series values recomputed from a run's own estimates and truths, by lrdbench's definitions.

Called by `app.kinds.series.read` for runs that carry raw/estimates.csv and raw/truths.csv; pure. What raw/metrics.csv
states and does not follow from them does not count. Source: lrdbench 2.0, `GroundTruthEvaluator._per_series_rows`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.discrimination import CLASS_COLUMNS, CLASS_ESTIMAND
from app.boards.methods.weighted_rank.groups import PAIRED_ERRORS, PAIRED_RATIO
from app.boards.methods.weighted_rank.identity import split_identity
from app.files.flag_cells import FLAGS
from app.kinds.series.definitions import FROM_ONE_ESTIMATE, OF_INTERVALS, PAIRED, Estimate, Pair, value_from
from app.kinds.series.json_cells import value_of
from app.kinds.series.pivot import code_texts
from app.kinds.series.truths import Truths
from app.names import clip_for_message
from app.values.scores import NONE, Coded, ScoreTable

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Difference:
    """A stated value that does not follow from the estimate and the truth; None is null."""

    estimator: str
    record: str
    metric: str
    stated: float | None
    recomputed: float | None

    def in_words(self) -> str:
        """Return whose value of what was stated, and what follows instead."""
        whose = f"{clip_for_message(self.estimator)} {self.metric} of {clip_for_message(self.record)}"
        return f"{whose}: {self.stated!r} stated, {self.recomputed!r} recomputed"


def recompute(
    scores: ScoreTable,
    recorded: Mapping[str, Coded],
    truths: Truths,
    estimands: Mapping[str, str],
    metrics: Collection[str],
    is_complete: Callable[[int], bool],
) -> tuple[ScoreTable, list[Difference]]:
    """Return the scores with what can be recomputed, and where that differs from what the run states.

    `recorded` are the cells of each row's estimate, `is_complete` says of a file's position whether its run carries
    estimates and truths. A metric of the benchmark that no row states is computed all the same.
    """
    wanted = [metric for metric in metrics if split_identity(metric)[0] in FROM_ONE_ESTIMATE | PAIRED]
    errors = PAIRED_ERRORS if PAIRED_RATIO in wanted else ()
    columns = tuple(dict.fromkeys([*scores.columns, *wanted, *errors]))
    values = np.full((len(scores), len(columns)), np.nan)
    values[:, : len(scores.columns)] = scores.values
    lists = _lists(scores)
    missing = [words.split() for words in _texts(scores.recorded.get("missing_ci"), len(scores))]
    differences: list[Difference] = []
    estimates = list(_estimates(recorded, len(scores)))
    cleans = _CleanEstimates.of(scores, estimates)
    for at, estimate in enumerate(estimates):
        if not is_complete(int(scores.file[at])) or _is_diagnostic(scores, at):
            continue
        estimator, record = scores.entrant.at(at) or "", _at(scores.item, at)
        estimand = estimands.get(estimator)
        truth = truths.of(record, estimand)
        pair = cleans.pair(at, estimate, truth)
        for metric in wanted:
            place, is_paired = columns.index(metric), split_identity(metric)[0] in PAIRED
            if is_paired:
                has_row, recomputed = pair is not None, None if pair is None else pair.value(metric)
            else:
                has_row, recomputed = (
                    (False, None) if estimate is None else value_from(metric, estimate, truth, estimand)
                )
            if not has_row and metric not in lists[at]:
                continue
            stated = None if np.isnan(values[at, place]) else float(values[at, place])
            if metric in lists[at] and _differ(stated, recomputed):
                differences.append(Difference(estimator, record or "", metric, stated, recomputed))
            values[at, place] = np.nan if recomputed is None else recomputed
            lists[at] += [] if metric in lists[at] else [metric]
            lacks = recomputed is None and split_identity(metric)[0] in OF_INTERVALS
            lacks = lacks if pair is None or not is_paired else pair.lacks_interval(metric)
            missing[at] = [*(m for m in missing[at] if m != metric), *([metric] if lacks else [])]
        if pair is not None and PAIRED_RATIO in wanted:
            places = [columns.index(name) for name in PAIRED_ERRORS]
            stated_errors, values[at, places] = values[at, places].copy(), pair.errors()
            for name, stated_error, error in zip(PAIRED_ERRORS, stated_errors.tolist(), pair.errors(), strict=True):
                if _differ(_known(stated_error), _known(error)):
                    differences.append(Difference(estimator, record or "", name, _known(stated_error), _known(error)))
    kept = {**scores.recorded, "metrics": code_texts([" ".join(names) or None for names in lists]),
            "missing_ci": code_texts([" ".join(names) or None for names in missing])}  # fmt: skip
    return replace(scores, columns=columns, values=values, recorded=kept), differences


@dataclass(frozen=True)
class _CleanEstimates:
    """From which clean series each stressed one was made, and in which row an estimator's estimate of a series is."""

    scores: ScoreTable
    estimates: Sequence[Estimate | None]
    clean_of: Mapping[str, str]
    place: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, scores: ScoreTable, estimates: Sequence[Estimate | None]) -> "_CleanEstimates":
        """Collect them; a row may leave out of which series it was made where another row of the record says it."""
        clean = scores.recorded.get("clean_record_id")
        names: dict[str, Counter[str]] = {}
        place = {}
        for at in range(len(scores)):
            record, name = _at(scores.item, at) or "", None if clean is None else clean.at(at)
            place[scores.entrant.at(at) or "", record] = at
            if name is not None:
                names.setdefault(record, Counter())[name] += 1
        return cls(scores, estimates, {record: counts.most_common(1)[0][0] for record, counts in names.items()}, place)

    def pair(self, at: int, stressed: Estimate | None, truth: float | None) -> Pair | None:
        """Return the estimates of both series by the estimator of a row; None where the row's is no stressed one."""
        clean = self.clean_of.get(_at(self.scores.item, at) or "")
        if clean is None:
            return None
        where = self.place.get((self.scores.entrant.at(at) or "", clean))
        return Pair(stressed, None if where is None else self.estimates[where], truth)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


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
    scores_and_classes = np.full((len(scores), len(CLASS_COLUMNS)), np.nan)
    for at, estimate in enumerate(_estimates(recorded, len(scores))):
        class_label = truths.class_of(_at(scores.item, at))
        is_asked = estimands.get(scores.entrant.at(at) or "") == CLASS_ESTIMAND and is_complete(int(scores.file[at]))
        if is_asked and class_label is not None and not _is_diagnostic(scores, at):
            point = None if estimate is None else estimate.usable()
            scores_and_classes[at] = (np.nan if point is None else point, class_label)
    return replace(
        scores, columns=(*scores.columns, *CLASS_COLUMNS), values=np.column_stack([scores.values, scores_and_classes])
    )


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
    entries = value_of(text)
    cells: list[list[Any]] = [
        [each.get(key) for key in ("nominal", "ci_low", "ci_high")] for each in entries if isinstance(each, dict)
    ]
    return [
        (float(three[0]), float(three[1]), float(three[2]))
        for three in cells
        if all(isinstance(number, int | float) for number in three)
    ]


def _at(coded: Coded | None, at: int) -> str | None:
    return None if coded is None else coded.at(at)


def _differ(stated: float | None, recomputed: float | None) -> bool:
    if stated is None or recomputed is None:
        return stated is not recomputed
    return abs(stated - recomputed) > TOLERANCE * max(1.0, abs(recomputed))
