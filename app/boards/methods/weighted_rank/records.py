"""What weighted ranks are computed from: which records estimators have, grouped in strata, and their resamples."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from app.boards.calibrated import DrawnSpread, Precision
from app.boards.coverage import are_common
from app.errors import FieldRejected, Problem
from app.manifest.model import (
    EVERY_TASK,
    EvidenceKind,
    Explored,
    KindPart,
    Leaderboard,
    MetricName,
    RequiredGrid,
    Task,
    Uncertainty,
)
from app.names import count, names_in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray, share
from app.stats.curves import curve_areas, sort_scores
from app.stats.rank_sets import WIDER
from app.stats.resample import named_weights, unit_keys
from app.stats.strata import RATIO_EPSILON, Aggregate, Group, Rule, aggregate_group, balance
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, Column, Table

TABLE = "records"


@dataclass(frozen=True)
class HeldRecords:
    """Who has a row for which record: `held` is [n_contenders, n_records].

    `records` and `strata` are [n_records], indexed by the record numbers of groups. A row without a value counts, too:
    a failed record is held. `asked` [n_records] marks the records of the benchmark's grid, None if none is declared;
    `arrivals` numbers the contenders' owners, in their order, by when they came.
    """

    contenders: tuple[str, ...]
    records: tuple[str, ...]
    strata: tuple[str, ...]
    held: BoolArray
    asked: BoolArray | None = None
    arrivals: tuple[int, ...] = ()

    @property
    def known(self) -> BoolArray:
        """Say which records any contender has, [n_records]."""
        return np.asarray(self.held.any(axis=0))

    @property
    def common(self) -> BoolArray:
        """Say which records every contender has, [n_records]."""
        return np.asarray(self.held.all(axis=0))

    @property
    def of_benchmark(self) -> BoolArray:
        """Say which records ranks are over, [n_records]: those of the grid, or that the owners have in common."""
        if self.asked is not None:
            return self.asked
        return are_common(self.held, self.arrived)

    @property
    def arrived(self) -> Sequence[int]:
        """Return the number of each contender's owner; without any, each contender is its own."""
        return self.arrivals or range(len(self.contenders))

    def holders_of_others(self) -> list[str]:
        """Return the contenders with rows for records outside the benchmark."""
        return [self.contenders[at] for at in np.flatnonzero((self.held & ~self.of_benchmark).any(axis=1)).tolist()]


def held_records(
    scores: ScoreTable,
    contenders: Sequence[str],
    asked: frozenset[str] | None = None,
    arrivals: Sequence[int] = (),
) -> HeldRecords:
    """Return which contender has a row for which record; `asked` are the records of the grid, if it names any.

    Asked records that nobody has are included. `arrivals` numbers the contenders' owners, in their order.
    Source: none; it arranges rows.

    >>> from app.boards.example import rows
    >>> held_records(rows({"A": [0.1, 0.2], "B": [0.3]}), ["A", "B"]).held.tolist()
    [[True, True, False], [True, False, False]]
    """
    words = () if scores.item is None else scores.item.words
    records = (*words, *sorted((asked or frozenset()) - set(words)))
    held = np.zeros((len(contenders), len(records)), dtype=np.bool_)
    strata = [""] * len(records)
    if scores.item is not None:
        place = {name: at for at, name in enumerate(contenders)}
        rows = np.array([place.get(name, -1) for name in scores.entrant.words], dtype=np.int64)[scores.entrant.codes]
        kept = (rows >= 0) & (scores.item.codes >= 0)
        held[rows[kept], scores.item.codes[kept]] = True
        for record, task in zip(scores.item.codes[kept].tolist(), scores.task.codes[kept].tolist(), strict=True):
            strata[record] = strata[record] or scores.task.words[task]
    of_grid = None if asked is None else np.array([record in asked for record in records], dtype=np.bool_)
    return HeldRecords(tuple(contenders), records, tuple(strata), held, of_grid, tuple(arrivals))


def on_tasks(
    scores: ScoreTable, asked: frozenset[str] | None, tasks: Collection[str] | None
) -> tuple[ScoreTable, frozenset[str] | None]:
    """Return the rows in some strata, and the asked records that anybody has there; all of both if `tasks` is None.

    A record that nobody has belongs to no stratum, so a board over some strata does not ask for it.
    Source: none; it selects.

    >>> from app.boards.example import rows
    >>> kept, asked = on_tasks(rows({"A": [0.1, 0.2, 0.3]}), frozenset("abcd"), ["b", "c"])
    >>> len(kept), sorted(asked)
    (2, ['b', 'c'])
    """
    if tasks is None:
        return scores, asked
    is_in = np.array([word in tasks for word in scores.task.words], dtype=np.bool_)
    kept = scores.take(is_in[scores.task.codes])
    if asked is None or kept.item is None:
        return kept, asked
    return kept, asked & {kept.item.words[code] for code in np.unique(kept.item.codes).tolist() if code >= 0}


def on_records(groups: Sequence[Group], wanted: BoolArray) -> Iterator[Group]:
    """Yield the groups with only their rows on the wanted records [n_records], in the same order, without empty groups.

    NaN stays null.
    Source: none; it selects.

    >>> group = Group("GPH", "mae", "n=128", np.array([0.1, np.nan]), np.arange(2))
    >>> [each.values.tolist() for each in on_records([group], np.array([True, False]))]
    [[0.1]]
    """
    for group in groups:
        kept = wanted[group.records]
        if kept.all():
            yield group
        elif kept.any():
            below = None if group.denominators is None else group.denominators[kept]
            yield replace(group, values=group.values[kept], records=group.records[kept], denominators=below)


def record_notes(held: HeldRecords) -> Iterator[str]:
    """Yield the notes on which records the ranks are over.

    >>> held = HeldRecords(("A", "B"), ("r1", "r2"), ("x", "x"), np.array([[True, True], [True, False]]))
    >>> list(record_notes(held))
    ['2 estimators; 1 of 2 records is common to all of them.']
    """
    yield _common_note(held)
    n_ranked = int(held.of_benchmark.sum())
    n_others = int((held.known & ~held.of_benchmark).sum())
    if others := held.holders_of_others():
        yield (
            f"Ranks are about {count(n_ranked, 'record')} of the benchmark; rows on "
            f"{count(n_others, 'other record')} are left out: {names_in_words(others)}."
        )


def strata_of_grid(asked: RequiredGrid) -> dict[str, str]:
    """Return the stratum of each record that the grid of a benchmark names: in its lists, or in a steward's file.

    Source: the manifest's grid.

    >>> from app.manifest.model import Grid
    >>> strata_of_grid(RequiredGrid(Grid.model_validate({"tasks": {"easy": {"items": ["r1"]}}}), ("easy",)))
    {'r1': 'easy'}
    """
    lists = {task: axes.items for task, axes in asked.grid.tasks.items() if isinstance(axes.items, list)}
    put = asked.facts.items if asked.grid.has_file else None
    of_file = {task: items for task, items in (put or {}).items() if task != EVERY_TASK}
    return {record: task for task, items in (lists | of_file).items() for record in items}


def strata_note(held: HeldRecords, named: Collection[str]) -> Iterator[str]:
    """Yield a note on how many records have strata stated only by a submitter; `named` are those in the grid.

    >>> held = HeldRecords(("A",), ("r1", "r2"), ("x", "x"), np.array([[True, True]]))
    >>> [note[:32] for note in strata_note(held, ["r1"])], list(strata_note(held, ["r1", "r2"]))
    (['The strata of 1 of 2 records are'], [])
    """
    known = [record for record, is_known in zip(held.records, held.known.tolist(), strict=True) if is_known]
    if n_stated := sum(record not in named for record in known):
        yield (
            f"The strata of {n_stated} of {len(known)} records are as the first submission of each states them, and "
            "whoever states others is not admitted. The benchmark's grid does not name them."
        )


def _common_note(held: HeldRecords) -> str:
    n_known, n_common = int(held.known.sum()), int(held.common.sum())
    who = count(len(held.contenders), "estimator")
    if len(held.contenders) == 1:
        return f"{who}, {count(n_known, 'record')}."
    return f"{who}; {n_common} of {count(n_known, 'record')} {'is' if n_common == 1 else 'are'} common to all of them."


def records_table(held: HeldRecords) -> Table:
    """Return each record with its stratum, how many estimators have it, and who lacks it (None if nobody).

    >>> held = HeldRecords(("A", "B"), ("r1", "r2"), ("x", "x"), np.array([[True, True], [True, False]]))
    >>> records_table(held).rows
    (('r1', 'x', 2, True, True, None), ('r2', 'x', 1, False, True, 'B'))
    """
    rows = tuple(_record_rows(held))
    columns = (
        Column("record_id", "Record", "text"),
        Column("task", "Stratum", "text"),
        Column("n_estimators", "Estimators", "integer"),
        Column("is_common", "Common to all", "flag"),
        Column("is_ranked", "Counts for ranks", "flag"),
        Column("lacking", "Lacked by", "text"),
    )
    notes = (
        _common_note(held),
        "A record counts for ranks where the benchmark's grid has it; without one, where half of the submitters do.",
    )
    return Table(TABLE, "Records", columns, rows, notes)


def _record_rows(held: HeldRecords) -> Iterator[tuple[Cell, ...]]:
    counts, is_common, is_ranked = held.held.sum(axis=0), held.common, held.of_benchmark
    for at in np.flatnonzero(held.known | held.of_benchmark).tolist():
        absent = [name for name, has in zip(held.contenders, held.held[:, at].tolist(), strict=True) if not has]
        flags = (bool(is_common[at]), bool(is_ranked[at]))
        yield (held.records[at], held.strata[at], int(counts[at]), *flags, ", ".join(absent) or None)


# Per-series rows of a ScoreTable as groups: one estimator's values of one metric in one stratum, in evidence order.

COVERAGE, COVERAGE_ERROR = "coverage", "coverage_error"

DIAGNOSTIC = "diagnostic"

# A row of the ratio has no value of its own: stressed and clean errors are averaged separately, then divided.
PAIRED_RATIO = "paired_mae_ratio"

PAIRED_ERRORS = ("stressed_absolute_error", "clean_absolute_error")

ROC_AUC, BALANCED, TRUE_RATE, FALSE_RATE = CLASS_METRICS = (
    "roc_auc",
    "balanced_accuracy",
    "true_positive_rate",
    "false_positive_rate",
)

# Metrics whose stratum aggregate is not the mean of their rows; rows of rmse hold squared errors.
RULES: Mapping[str, Rule] = {
    "rmse": "root_mean_square",
    PAIRED_RATIO: "ratio",
    **dict.fromkeys(CLASS_METRICS, "scores"),
}

BY_SIZE = frozenset({"bias"})
"""The metric that ranks by its absolute value."""


def series_groups(scores: ScoreTable) -> list[Group]:
    """Return all groups in order of first appearance, values in the metric's unit.

    Each row lists in `recorded["metrics"]` the metrics it had, in the file's order; a listed metric that is NaN was
    null.
    Source: lrdbench 2.0, its per-series rows.

    >>> from app.boards.example import rows
    >>> [(g.estimator, g.stratum, g.values.tolist()) for g in series_groups(rows({"GPH": [0.1, 0.2]}, "mae"))]
    [('GPH', 'a', [0.1]), ('GPH', 'b', [0.2])]
    """
    if scores.item is None:
        return []
    rows: dict[tuple[int, str, int], list[int]] = {}
    metrics = _metric_lists(scores)
    entrants, tasks = scores.entrant.codes.tolist(), scores.task.codes.tolist()
    for at, (entrant, task) in enumerate(zip(entrants, tasks, strict=True)):
        for metric in metrics[at]:
            rows.setdefault((entrant, metric, task), []).append(at)
    return [
        _group(scores, scores.item, entrant, metric, task, np.array(at)) for (entrant, metric, task), at in rows.items()
    ]


def _metric_lists(scores: ScoreTable) -> list[Sequence[str]]:
    recorded = scores.recorded.get("metrics")
    if recorded is None:
        return [scores.columns] * len(scores)
    known = set(scores.columns)
    lists = [[metric for metric in words.split() if metric in known] for words in recorded.words]
    return [lists[code] if code >= 0 else [] for code in recorded.codes.tolist()]


def _group(scores: ScoreTable, item: Coded, entrant: int, metric: str, task: int, at: IntArray) -> Group:
    name, _ = split_identity(metric)
    rule = RULES.get(name, "mean")
    is_ratio = metric == PAIRED_RATIO and set(PAIRED_ERRORS) <= set(scores.columns)
    values = scores.value(PAIRED_ERRORS[0] if is_ratio else metric)[at]
    below = scores.value(PAIRED_ERRORS[1])[at] if is_ratio else None
    about = (scores.entrant.words[entrant], metric, scores.task.words[task])
    known = np.flatnonzero(~np.isnan(values))
    begins = int(at[known[0]]) if len(known) else len(scores)
    return Group(*about, values, item.codes[at], rule if is_ratio or rule != "ratio" else "mean", below, begins)


def stratum_aggregates(groups: Sequence[Group], metrics: Collection[str] | None = None) -> list[Aggregate]:
    """Return the aggregate of each group, then the coverage errors computed from the coverage aggregates.

    Coverage errors are limited to `metrics` unless that is None: lrdbench computes none that its manifest does not
    name. The order is lrdbench's, because it decides what the shared generator draws; a ratio comes last.
    Classification scores have no aggregate in a stratum.
    Source: lrdbench 2.0; `app.stats.strata.aggregate_group`.

    >>> from app.boards.example import rows
    >>> groups = series_groups(rows({"GPH": [0.5]}, "coverage@0.75"))
    >>> [(a.metric, a.value) for a in stratum_aggregates(groups)]
    [('coverage@0.75', 0.5), ('coverage_error@0.75', 0.25)]
    """
    aggregates = [aggregate_group(group) for group in groups if group.rule != "scores"]
    plain = [a for a in aggregates if a.metric != PAIRED_RATIO]
    errors = [error for error in _coverage_errors(plain) if metrics is None or error.metric in metrics]
    return [*plain, *errors, *(a for a in aggregates if a.metric == PAIRED_RATIO)]


def _coverage_errors(aggregates: Sequence[Aggregate]) -> Iterator[Aggregate]:
    for a in aggregates:
        name, level = split_identity(a.metric)
        if name == COVERAGE and level is not None:
            error = identity_of(COVERAGE_ERROR, level)
            yield Aggregate(a.estimator, error, a.stratum, abs(a.value - level), a.n_attempted, a.n_included)


def by_metric(aggregates: Sequence[Aggregate]) -> dict[tuple[str, str], list[Aggregate]]:
    """Return the stratum aggregates of each (estimator, metric), in order of appearance.

    Source: none; it groups.

    >>> list(by_metric([Aggregate("GPH", "mae", "n=128", 0.1, 1, 1)]))
    [('GPH', 'mae')]
    """
    of_metric: dict[tuple[str, str], list[Aggregate]] = {}
    for aggregate in aggregates:
        of_metric.setdefault((aggregate.estimator, aggregate.metric), []).append(aggregate)
    return of_metric


def balanced(aggregates: Sequence[Aggregate]) -> list[Aggregate]:
    """Return the mean over strata of each (estimator, metric). Source: `app.stats.strata.balance`.

    >>> parts = [Aggregate("GPH", "mae", stratum, value, 1, 1) for stratum, value in (("a", 0.1), ("b", 0.3))]
    >>> [a.value for a in balanced(parts)]
    [0.2]
    """
    return [balance(members) for members in by_metric(aggregates).values()]


def enrolled_estimators(scores: ScoreTable, enrolled: Sequence[str] | None) -> list[str]:
    """Return the estimators with rows, restricted to `enrolled` unless it is None.

    lrdbench's rows that compare several estimators have artificial names, which are left out.
    Source: lrdbench 2.0, the role `diagnostic` of its rows.

    >>> from app.boards.example import rows
    >>> enrolled_estimators(rows({"GPH": [0.1], "R/S": [0.2]}, "mae"), ["GPH", "DFA"])
    ['GPH']
    """
    role = scores.recorded.get("role")
    between = np.zeros(0, dtype=np.int64)
    if role is not None and DIAGNOSTIC in role.words:
        between = np.unique(scores.entrant.codes[role.codes == role.words.index(DIAGNOSTIC)])
    codes = np.setdiff1d(scores.entrant.codes, between)
    names = {scores.entrant.words[code] for code in codes.tolist()}
    return sorted(names if enrolled is None else names & set(enrolled))


# Metrics of estimators that classify series, computed from the scores and classes of many records. A record states a
# score and the true class, in two columns beside the metrics; such a metric has no value for a single record or
# stratum. Source: lrdbench 2.0, `_classification_metric_rows`.

CLASS_SCORE, CLASS_LABEL = CLASS_COLUMNS = ("class_score", "class_label")

CLASS_ESTIMAND = "lrd_class"

THRESHOLD = 0.5
"""The threshold from which a score predicts positive, and a true value is positive."""

FURTHEST = 1e300
"""How far beyond all others, on the wrong side, an absent score is placed where absence counts as the worst."""


def discriminations(scores: ScoreTable, metrics: Collection[str]) -> list[Aggregate]:
    """Return those of `metrics` that each estimator with classification scores has, over all records at once.

    Values are shares from 0 to 1, NaN where a class is absent. Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> from app.boards.example import rows
    >>> discriminations(rows(), [ROC_AUC])
    []
    """
    n_records = 0 if scores.item is None else len(scores.item.words)
    return class_aggregates(class_groups(scores, metrics), record_labels(scores, n_records))


def record_labels(scores: ScoreTable, n_records: int) -> FloatArray:
    """Return the class of each record, [n_records]: 1 for a positive one, NaN where no row says it.

    The first row that states one counts.
    Source: none; it looks up.

    >>> from app.boards.example import rows
    >>> record_labels(rows({"A": [1.0, 0.0]}, CLASS_LABEL), 3).tolist()
    [1.0, 0.0, nan]
    """
    labels = np.full(n_records, np.nan)
    if CLASS_LABEL in scores.columns and scores.item is not None:
        stated = scores.value(CLASS_LABEL)
        rows = np.flatnonzero(~np.isnan(stated) & (scores.item.codes >= 0))[::-1]
        labels[scores.item.codes[rows]] = stated[rows]
    return labels


def class_groups(scores: ScoreTable, metrics: Collection[str]) -> list[Group]:
    """Return the scores of each estimator's records as groups, one per metric and stratum; NaN is no score.

    Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> from app.boards.example import rows
    >>> class_groups(rows(), [ROC_AUC])
    []
    """
    wanted = [metric for metric in metrics if metric in CLASS_METRICS]
    if scores.item is None or not wanted or not set(CLASS_COLUMNS) <= set(scores.columns):
        return []
    rows: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(~np.isnan(scores.value(CLASS_LABEL))).tolist():
        rows.setdefault((int(scores.entrant.codes[at]), int(scores.task.codes[at])), []).append(at)
    values, records = scores.value(CLASS_SCORE), scores.item.codes
    return [
        Group(scores.entrant.words[entrant], metric, scores.task.words[task], values[at], records[at], "scores")
        for metric in wanted
        for (entrant, task), positions in rows.items()
        for at in [np.array(positions)]
    ]


def class_aggregates(groups: Sequence[Group], labels: FloatArray) -> list[Aggregate]:
    """Return each estimator's metrics from its groups of scores; `labels` [n_records] are the classes of all records.

    As in lrdbench, the metrics of one estimator are adjacent, and records without a score are left out and counted.
    Values are shares from 0 to 1, NaN where a class is absent.
    Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.array([0.9, 0.1, np.nan]), np.arange(3), "scores")
    >>> area, = class_aggregates([group], np.array([1.0, 0.0, 1.0]))
    >>> area.value, area.n_attempted, area.n_included
    (1.0, 3, 2)
    """
    return [_aggregate(key, members, labels) for key, members in by_estimator(groups).items()]


def by_estimator(groups: Sequence[Group]) -> Mapping[tuple[str, str], list[Group]]:
    """Return the groups of scores of each (estimator, metric), the metrics of one estimator adjacent.

    Source: none; it puts groups in order.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.zeros(1), np.zeros(1, dtype=np.int64), "scores")
    >>> list(by_estimator([group]))
    [('GPH', 'roc_auc')]
    """
    groups_of: dict[str, dict[str, list[Group]]] = {}
    for group in groups:
        if group.rule == "scores":
            groups_of.setdefault(group.estimator, {}).setdefault(group.metric, []).append(group)
    return {(name, metric): members for name, of in groups_of.items() for metric, members in of.items()}


def _aggregate(key: tuple[str, str], groups: Sequence[Group], labels: FloatArray) -> Aggregate:
    values, of = scored_records(groups, labels)
    estimate = class_values(key[1], values, of, np.ones((1, len(values))))
    n_attempted, n_positive = sum(len(group.values) for group in groups), int((of >= THRESHOLD).sum())
    return Aggregate(*key, None, float(estimate[0]), n_attempted, len(values), n_positive=n_positive)


def scored_records(groups: Sequence[Group], labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scores and classes of the records that have both, [n_records] each; NaN is neither.

    A larger score is nearer the positive class. `labels` [n_records] are those of all records.
    Raises ValueError, numpy's own, for no group.
    Source: none; it selects.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.array([0.9, np.nan]), np.arange(2), "scores")
    >>> [each.tolist() for each in scored_records([group], np.array([1.0, 0.0]))]
    [[0.9], [1.0]]
    """
    values = np.concatenate([group.values for group in groups])
    of = labels[np.concatenate([group.records for group in groups])]
    kept = np.isfinite(values) & ~np.isnan(of)
    return values[kept], of[kept]


def class_values(metric: str, values: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a metric under weightings [n_resamples, n_records] of scored records, [n_resamples], a share from 0 to 1.

    `values` and `labels` are [n_records]. NaN where a class is absent.
    Source: lrdbench 2.0; `app.stats.curves` for the area.

    >>> class_values(TRUE_RATE, np.array([0.9, 0.2, 0.1]), np.array([1.0, 1.0, 0.0]), np.ones((1, 3))).tolist()
    [0.5]
    """
    is_positive = labels >= THRESHOLD
    if not is_positive.any() or is_positive.all():
        return np.full(len(weights), np.nan)
    if metric == ROC_AUC:
        return curve_areas(sort_scores(values, is_positive), np.ascontiguousarray(weights)).roc
    is_called = values >= THRESHOLD
    true_rate, false_rate = (
        share(weights @ (is_called & of_class), weights.sum(axis=1, where=of_class))
        for of_class in (is_positive, ~is_positive)
    )
    rates = {TRUE_RATE: true_rate, FALSE_RATE: false_rate, BALANCED: 0.5 * (true_rate + (1.0 - false_rate))}
    return rates[metric]


# Names of metrics with a nominal level, which is part of their identity: `coverage@0.95`.


def identity_of(metric: str, nominal: float | None) -> str:
    """Return a metric's name with its own level, None where it has none.

    >>> identity_of("mae", None), identity_of("coverage", 0.95)
    ('mae', 'coverage@0.95')
    """
    return metric if nominal is None else f"{metric}@{nominal!r}"


def split_identity(identity: str) -> tuple[str, float | None]:
    """Return the metric and its own level, None where it has none; the reverse of `identity_of`.

    >>> split_identity("coverage@0.95"), split_identity("mae")
    (('coverage', 0.95), ('mae', None))
    """
    metric, mark, text = identity.partition("@")
    try:
        level = float(text) if mark else None
    except ValueError:
        return identity, None
    return metric, level


def joined(identities: Sequence[str]) -> str:
    """Return the name of a component that is the mean over several levels of one metric.

    >>> joined(["coverage@0.5", "coverage@0.95"])
    'coverage@0.5@0.95'
    """
    metric = identities[0].partition("@")[0]
    return "@".join([metric, *(identity.removeprefix(f"{metric}@") for identity in identities)])


def levels_of(component: str) -> tuple[str, ...]:
    """Return the metrics, each with one level at most, whose mean a component is; the reverse of `joined`.

    >>> levels_of("coverage@0.5@0.95"), levels_of("mae")
    (('coverage@0.5', 'coverage@0.95'), ('mae',))
    """
    metric, *levels = component.split("@")
    return tuple(f"{metric}@{level}" for level in levels) if len(levels) > 1 else (component,)


# Replicates of balanced component values: records are weighted by name, the same for every estimator. In a stress
# suite one clean series appears contaminated in many strata: the clean series is the unit, and all records derived
# from it share its weight.

CLEAN_SERIES = "clean_record_id"
"""The recorded field in which a row of a stress suite names the clean series of its record."""


@dataclass(frozen=True)
class Records:
    """The name of each record's resampling unit, and its class, NaN where no row states one; [n_records] each."""

    units: Sequence[str]
    labels: FloatArray


@dataclass(frozen=True)
class DrawnComponents:
    """Replicates [n_resamples, n_entrants, n_components], their precision, and their number of units."""

    values: FloatArray
    precision: Precision
    n_units: float

    def spread(self, score: Callable[[FloatArray], FloatArray], points: FloatArray) -> DrawnSpread:
        """Return the spread of the scores of replicates, smaller being better; `points` are [n_entrants, n_components].

        An estimator without a component has none: its worst rank is the same in every resample, which a few units
        would not tell from chance, and who lacks something is never one that may be first.
        """
        lacking = np.asarray(np.isnan(points).any(axis=1)).tolist()
        wide = points + WIDER * (self.values - self.values.mean(axis=0))
        precision = [None if lacks else self.precision for lacks in lacking]
        return DrawnSpread(-score(self.values), precision, -score(wide))


def resample_components(
    groups: Sequence[Group], names: Sequence[str], metrics: Sequence[str], drawn: Uncertainty, of: Records
) -> DrawnComponents | None:
    """Return replicates of means over strata; None if no stratum has two units, or without resamples.

    A stratum with a single unit stays as it is in every resample. Values [n_resamples, n_entrants, n_components] have
    the metrics' units; NaN where nothing is included. Source: `app.stats.strata.balance`, weighted as in Rubin 1981.

    >>> group = Group("GPH", "mae", "n=128", np.array([0.1, 0.1]), np.arange(2))
    >>> of = Records(["r1", "r2"], np.full(2, np.nan))
    >>> drawn = resample_components([group], ["GPH"], ["mae"], Uncertainty(n_resamples=100), of)
    >>> drawn.values.shape, bool(np.allclose(drawn.values, 0.1))
    ((100, 1, 1), True)
    """
    units = of.units
    by_stratum: dict[str, list[Group]] = {stratum: [] for stratum in sorted({group.stratum for group in groups})}
    for group in groups:
        by_stratum[group.stratum].append(group)
    records = {stratum: _records(members) for stratum, members in by_stratum.items()}
    of_strata = [{units[at] for at in of_stratum.tolist()} for of_stratum in records.values()]
    precision = _precision(of_strata)
    if precision is None or not drawn.n_resamples:
        return None
    shape = (drawn.n_resamples, len(names), len(metrics))
    sums, counts = np.zeros(shape), np.zeros(shape)
    for stratum, members in by_stratum.items():
        keys = unit_keys(drawn.rng_seed, [(units[at],) for at in records[stratum].tolist()])
        weights = named_weights(keys, drawn.n_resamples)
        values = _stratum_values(members, records[stratum], weights, names, metrics)
        known = ~np.isnan(values)
        sums += np.where(known, values, 0.0)
        counts += known
    values = share(sums, counts)
    for (name, metric), members in by_estimator(groups).items():
        if name in names and metric in metrics:
            place = (list(names).index(name), list(metrics).index(metric))
            values[:, *place] = _class_replicates(members, metric, drawn, of)
    return DrawnComponents(values, precision, float(len(set().union(*of_strata))))


def _class_replicates(groups: Sequence[Group], metric: str, drawn: Uncertainty, of: Records) -> FloatArray:
    """Return replicates of a metric that tells classes apart, over all strata: a record weighs as it does in each.

    A resample never lacks a class that is there, because no weight is zero.
    """
    kept = [np.isfinite(group.values) & ~np.isnan(of.labels[group.records]) for group in groups]
    records = np.concatenate([group.records[rows] for group, rows in zip(groups, kept, strict=True)])
    keys = unit_keys(drawn.rng_seed, [(of.units[at],) for at in records.tolist()])
    return class_values(metric, *scored_records(groups, of.labels), named_weights(keys, drawn.n_resamples))


def unit_names(scores: ScoreTable, *, are_stressed: bool) -> list[str]:
    """Return the unit of each record: the clean series it is derived from where series are stressed, or itself.

    Source: none; it looks names up.

    >>> from app.boards.example import rows
    >>> unit_names(rows({"GPH": [0.1, 0.2]}, "mae"), are_stressed=True)
    ['a', 'b', 'c']
    """
    if scores.item is None:
        return []
    clean = clean_series(scores) if are_stressed else {}
    return [clean.get(record, record) for record in scores.item.words]


def clean_series(scores: ScoreTable) -> dict[str, str]:
    """Return the clean series that rows name for each record; rows without one are ignored.

    Admission refuses rows that contradict each other. Among older rows that do, the majority counts, ties by name.
    Source: none; a majority vote.

    >>> from app.boards.example import rows
    >>> clean_series(rows({"GPH": [0.1, 0.2]}, "mae"))
    {}
    """
    names: dict[str, Counter[str]] = {}
    if scores.item is not None and (stated := scores.recorded.get(CLEAN_SERIES)) is not None:
        for at in np.flatnonzero((stated.codes >= 0) & (scores.item.codes >= 0)).tolist():
            names.setdefault(scores.item.at(at) or "", Counter())[stated.at(at) or ""] += 1
    return {record: min(counts, key=lambda name: (-counts[name], name)) for record, counts in names.items()}


def _precision(units: Sequence[set[str]]) -> Precision | None:
    """Return the precision of a mean over strata, from the units of each; None where no stratum has two.

    Degrees of freedom add up over strata without a common unit; otherwise they are those of the distinct units.
    """
    several = [each for each in units if len(each) > 1]
    if not several:
        return None
    distinct = len(set().union(*several))
    is_nested = distinct == sum(map(len, several))
    freedom = distinct - (len(several) if is_nested else 1)
    inflation = sum((len(each) + 1.0) / (len(each) - 1.0) for each in several) / len(several)
    return Precision(float(freedom), inflation)


def _records(groups: Sequence[Group]) -> IntArray:
    return np.unique(np.concatenate([group.records for group in groups]))


def _stratum_values(
    groups: Sequence[Group],
    records: IntArray,
    weights: FloatArray,
    names: Sequence[str],
    metrics: Sequence[str],
) -> FloatArray:
    """Return [n_resamples, n_entrants, n_components] of one stratum's aggregates."""
    values = np.full((len(weights), len(names), len(metrics)), np.nan)
    place = {name: at for at, name in enumerate(names)}
    sources = [source_metric(metric) for metric in metrics]
    for group in groups:
        for at, metric in enumerate(metrics):
            if sources[at] == group.metric and group.estimator in place and group.rule != "scores":
                values[:, place[group.estimator], at] = _resampled_aggregate(group, records, weights, metric)
    return values


def over_levels(values: FloatArray, components: Sequence[str]) -> FloatArray:
    """Return [..., n_components] from [..., n_metrics]: a component of several levels is the mean of those available.

    The unit is unchanged; NaN where there is none.
    Source: the mean over levels.

    >>> over_levels(np.array([0.2, 0.4, 1.0]), ["coverage@0.5@0.95", "mae"]).round(9).tolist()
    [0.3, 1.0]
    """
    parts, at = [], 0
    for component in components:
        n_levels = len(levels_of(component))
        levels = values[..., at : at + n_levels]
        known = ~np.isnan(levels)
        parts.append(levels[..., 0] if n_levels == 1 else share(np.where(known, levels, 0.0).sum(-1), known.sum(-1)))
        at += n_levels
    folded: FloatArray = np.stack(parts, axis=-1)
    return folded


def source_metric(metric: str) -> str:
    """Return the metric whose rows a component is computed from: a coverage error comes from the coverage of its level.

    >>> source_metric("coverage_error@0.95"), source_metric("mae")
    ('coverage@0.95', 'mae')
    """
    name, level = split_identity(metric)
    return identity_of(COVERAGE, level) if name == COVERAGE_ERROR else metric


def _resampled_aggregate(group: Group, records: IntArray, weights: FloatArray, metric: str) -> FloatArray:
    kept = group.included
    mine = weights[:, np.searchsorted(records, group.records[kept])]
    averages = share(mine @ group.values[kept], mine.sum(axis=1))
    if group.denominators is not None:
        below = share(mine @ group.denominators[kept], mine.sum(axis=1))
        return share(averages, np.where(below > RATIO_EPSILON, below, 0.0))
    if group.rule == "root_mean_square":
        roots: FloatArray = np.sqrt(averages)
        return roots
    name, level = split_identity(metric)
    return np.abs(averages - level) if name == COVERAGE_ERROR and level is not None else averages


# The declaration of a board of weighted ranks: rule, weights and the tie-breaking component.

WEIGHT_TOLERANCE = 1e-6

NO_TIE_BREAK = "none"


class RankedPart(KindPart):
    """What the method needs from a kind's part of the manifest; kinds override the defaults."""

    def enrolled(self) -> Sequence[str] | None:
        """Return who is ranked; None for every entrant with rows."""
        return None

    def is_of_every_record(self, metric: str) -> bool:
        """Say whether every record can have a value of a metric; one that compares two records may have none."""
        del metric
        return True

    def asked_on(self, metric: str, estimator: str) -> Collection[str] | None:
        """Return the strata and records on which a metric exists for an estimator; None where nothing is declared."""
        del metric, estimator
        return None

    def is_of_pairs(self, metric: str) -> bool:
        """Say whether a metric compares a stressed series with its clean one, and so fails with either."""
        del metric
        return False

    def reason_of(self, metric: str) -> str | None:
        """Return which entry of a row's metadata declares a null of a metric although the estimate is valid."""
        del metric
        return None

    def are_stressed(self) -> bool:
        """Say whether records are contaminated versions of clean series, which are the units then."""
        return False

    def board_meta(self) -> dict[str, Any]:
        """Return the benchmark's entries for a board's `meta`."""
        return {}


class WeightedRank(Leaderboard):
    """A board of weighted ranks. Rule 2 shares ranks between ties; rule 1 breaks them by name, as lrdbench once did.

    A weighted metric with several levels (`coverage@0.5@0.95`) is the mean over them. Equal scores are ordered by the
    value of `tie_break`, by default the first component; under `none` they share a rank.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("series_metrics",)
    draws_tasks = False
    is_of_opponents = True

    method: Literal["weighted_rank"] = Field(description="how it ranks")
    ranking_rule: Literal[1, 2] = Field(2, description="the version of the weighting rule")
    weights: dict[MetricName, float] = Field(
        min_length=1, max_length=50, description="the weight of each metric; they sum to one"
    )
    tie_break: MetricName | None = Field(None, description="the metric that breaks ties")

    @model_validator(mode="after")
    def _weights_are_shares(self) -> Self:
        outside = [name for name, weight in self.weights.items() if not 0.0 <= weight <= 1.0]
        if outside:
            raise ValueError(f"weights: each is from 0 to 1; not so {', '.join(outside)}")
        total = sum(self.weights.values())
        if abs(total - 1.0) > WEIGHT_TOLERANCE:
            raise ValueError(f"weights: they sum to {total:g}; expected 1")
        if self.tie_break not in (None, NO_TIE_BREAK, *self.weights):
            raise ValueError(f"tie_break must be one of the weighted metrics, or {NO_TIE_BREAK}")
        return self

    def as_chosen(self, tasks: Collection[str] | None, explored: Explored) -> Self:
        """Return the board with its weights multiplied by a reader's; 0 removes a metric.

        Raises FieldRejected where no weight is left.
        """
        chosen = super().as_chosen(tasks, explored)
        by = {name: explored.weights.get(name, 1.0) for name in self.weights}
        # The same factor for all is the board as declared, to the last digit.
        if len(set(by.values())) == 1 and all(by.values()):
            return chosen
        left = {name: weight * by[name] for name, weight in self.weights.items() if by[name]}
        if not any(left.values()):
            raise FieldRejected(
                "The choice leaves no component.", [Problem("no weight is left; keep one at least", column="weight")]
            )
        return chosen.weighing(left)

    def weighing(self, weights: Mapping[str, float]) -> Self:
        """Return the board with other weights, which are divided by their sum."""
        shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
        tie_break = self.tie_break if self.tie_break in (None, NO_TIE_BREAK, *shares) else None
        return self.model_copy(update={"weights": shares, "tie_break": tie_break})

    def weighable(self, tasks: Sequence[Task]) -> Collection[str]:
        """Return its components."""
        return list(self.weights)

    def combines_metrics(self) -> bool:
        """Say whether there are several components."""
        return len(self.weights) > 1

    def metric_names(self) -> tuple[str, ...]:
        """Return the weighted metrics; a metric with a level includes it (`coverage_error@0.95`)."""
        return tuple(metric for component in self.weights for metric in levels_of(component))
