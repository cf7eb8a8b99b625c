"""Coverage of boards of weighted ranks: a cell is a record in one of the metrics that make up the score. A record asks
a metric only where it exists (`RankedPart.asked_on`). What is missing because the run declares a failure
(`.failures`) counts as lrdbench counts it: means skip it, and a metric without any value takes the worst rank. What
is missing without that is absent.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.boards.coverage import PARTIAL, Coverage, Roster, are_common, call_roster
from app.boards.methods.weighted_rank.records import (
    CLASS_METRICS,
    FURTHEST,
    RULES,
    THRESHOLD,
    HeldRecords,
    RankedPart,
    WeightedRank,
    clean_series,
    levels_of,
    on_records,
    source_metric,
    strata_of_grid,
)
from app.manifest.model import Manifest, part_of
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.strata import Group, Rule
from app.values.scores import ScoreTable


@dataclass(frozen=True)
class CoveredMetric:
    """One metric: who has a row, and who a value, for which record, who is asked, and who declares a failure.

    Each is [n_contenders, n_records]. `has_worst` says that some value of a record is the worst for every component
    made of it: of a coverage error none is, since who covers too much comes nearer to its level by a record that it
    does not cover.
    """

    metric: str
    has_row: BoolArray
    has_value: BoolArray
    asked: BoolArray
    failed: BoolArray
    has_worst: bool = True

    def missing(self, at: int) -> BoolArray:
        """Return which asked records an estimator has no value for, [n_records]."""
        missing: BoolArray = self.asked[at] & ~self.has_value[at]
        return missing

    def undeclared(self, at: int) -> BoolArray:
        """Return which of the missing records an estimator declares no failure on, [n_records]: it leaves them out."""
        undeclared: BoolArray = self.missing(at) & ~self.failed[at]
        return undeclared

    def lacking(self, at: int) -> BoolArray:
        """Return which records a value could be put in for; none if it has no value at all (`is_empty`)."""
        return np.zeros(self.asked.shape[1], dtype=np.bool_) if self.is_empty(at) else self.missing(at)

    def is_empty(self, at: int) -> bool:
        """Say whether an estimator has no value of the metric at all, and so the worst rank by the board's rule."""
        return not self.has_value[at].any()


@dataclass(frozen=True)
class Failures:
    """The declared failures of each metric, each [n_contenders, n_records]; a metric that is not there has none."""

    by_metric: Mapping[str, BoolArray] = field(default_factory=dict)

    def of(self, metric: str, shape: tuple[int, ...]) -> BoolArray:
        """Return those of a metric."""
        return self.by_metric.get(metric, np.zeros(shape, dtype=np.bool_))


NO_FAILURES = Failures()


def covered_metrics(
    manifest: Manifest,
    spec: WeightedRank,
    held: HeldRecords,
    groups: Sequence[Group],
    labels: FloatArray,
    failures: Failures = NO_FAILURES,
) -> tuple[CoveredMetric, ...]:
    """Return the coverage of each metric that makes up the score; `groups` hold records of the benchmark.

    `labels` [n_records] are the classes of the records: one with rows but without a known class, NaN, is not asked for
    by classification metrics. `failures` are those that the runs declare.
    Source: `app.boards.coverage` where no grid is declared.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import series_groups
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> board, scores = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0}), rows(metric="mae")
    >>> held = held_records(scores, scores.entrant.words)
    >>> covered, = covered_metrics(benchmark(board), board, held, series_groups(scores), np.full(3, np.nan))
    >>> covered.metric, covered.has_value.all(axis=1).tolist()
    ('mae', [True, True, True])
    """
    part, strata = part_of(manifest, RankedPart), record_strata(manifest, held)
    classed = ~(np.isnan(labels) & held.known)
    everything = np.ones(len(held.records), dtype=np.bool_)
    derived = {source_metric(metric) for metric in spec.metric_names() if source_metric(metric) != metric}
    covered = (
        _covered(
            metric,
            held,
            [g for g in groups if g.metric == metric],
            classed if metric in CLASS_METRICS else everything,
            [_asked_on(part, metric, name, held, strata) for name in held.contenders],
            failures.of(metric, held.held.shape),
            of_all=part.is_of_every_record(metric),
        )
        for metric in dict.fromkeys(source_metric(metric) for metric in spec.metric_names())
    )
    return tuple(replace(each, has_worst=each.metric not in derived) for each in covered)


def _covered(
    metric: str,
    held: HeldRecords,
    groups: Sequence[Group],
    of_metric: BoolArray,
    declared: Sequence[BoolArray | None],
    failed: BoolArray,
    *,
    of_all: bool,
) -> CoveredMetric:
    place = {name: at for at, name in enumerate(held.contenders)}
    has_row, has_value = np.zeros(held.held.shape, dtype=np.bool_), np.zeros(held.held.shape, dtype=np.bool_)
    for group in groups:
        if group.estimator in place:
            has_row[place[group.estimator], group.records] = True
            has_value[place[group.estimator], group.records[group.included]] = True
    common = held.of_benchmark & of_metric
    if not of_all:
        # Where the manifest does not declare which records have one, those are asked that half of the owners have a
        # row for.
        common = common & are_common(has_row, held.arrived) & has_row.any(axis=0)
    asked = [common if own is None else held.of_benchmark & of_metric & own for own in declared]
    return CoveredMetric(metric, has_row, has_value, np.array(asked).reshape(held.held.shape), failed)


def record_strata(manifest: Manifest, held: HeldRecords) -> Sequence[str]:
    """Return the stratum of each record, [n_records]: that of the grid, else the one that rows state.

    Source: none; it looks up.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0})
    >>> record_strata(benchmark(board), held_records(rows(metric="mae"), ("Good",)))
    ['a', 'b', 'c']
    """
    named = strata_of_grid(manifest.asked)
    return [named.get(record, stated) for record, stated in zip(held.records, held.strata, strict=True)]


def _asked_on(
    part: RankedPart, metric: str, estimator: str, held: HeldRecords, strata: Sequence[str]
) -> BoolArray | None:
    """Return on which records, [n_records], the manifest asks an estimator for a metric; None where it says nothing."""
    declared = part.asked_on(metric, estimator)
    if declared is None:
        return None
    both = zip(held.records, strata, strict=True)
    return np.array([record in declared or stratum in declared for record, stratum in both], dtype=np.bool_)


def on_asked(groups: Sequence[Group], covered: Sequence[CoveredMetric], names: Sequence[str]) -> Iterator[Group]:
    """Yield the groups on the records that their estimator is asked for in their metric, so that more is no gain.

    `names` are the contenders, in the order of the covered metrics.

    Source: none; it selects rows.

    >>> both = np.ones((1, 2), dtype=np.bool_)
    >>> metric = CoveredMetric("drift", both, both, np.array([[True, False]]), ~both)
    >>> group = Group("GPH", "drift", "n=128", np.array([0.1, 0.9]), np.arange(2))
    >>> [kept.values.tolist() for kept in on_asked([group], [metric], ["GPH"])]
    [[0.1]]
    """
    asked, place = {metric.metric: metric.asked for metric in covered}, {name: at for at, name in enumerate(names)}
    for group in groups:
        is_asked = group.metric in asked
        yield from on_records([group], asked[group.metric][place[group.estimator]]) if is_asked else (group,)


def record_roster(manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric]) -> Roster:
    """Return who is ranked: those who have a value, or declare a failure, for every record that they are asked for.

    Who leaves something out is listed separately, but never while somebody with fewer values is ranked: then it is
    ranked too, behind all who have values in each component of which it left something out (`left_out`).
    Source: `app.boards.coverage.call_roster`.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> scores = rows({"A": [0.1, 0.2], "B": [0.3]}, "mae")
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0})
    >>> held = held_records(scores, ("A", "B"), frozenset("abc"))
    >>> asked = np.array([[True, True, False]] * 2)
    >>> covered = CoveredMetric("mae", held.held, held.held, asked, np.zeros((2, 3), dtype=np.bool_))
    >>> record_roster(benchmark(board), held, [covered]).ranked
    ('A',)
    """
    coverages = {name: _cover(manifest, held, covered, at) for at, name in enumerate(held.contenders)}
    roster = call_roster(coverages, is_declared=held.asked is not None)
    while late := [name for name in roster.apart if _has_more_than_some(coverages, name, roster.ranked)]:
        coverages |= {name: replace(coverages[name], is_counted=True) for name in late}
        roster = call_roster(coverages, is_declared=held.asked is not None)
    return roster


def _has_more_than_some(coverages: Mapping[str, Coverage], name: str, ranked: Sequence[str]) -> bool:
    """Say whether an estimator is unranked for what it lacks while somebody is ranked with fewer values, or a smaller
    share of those that it is asked for.
    """
    mine = coverages[name]
    others = [coverages[other] for other in ranked]
    return mine.why_unranked == PARTIAL and any(
        other.n_included < mine.n_included or other.n_included * mine.n_attempted < mine.n_included * other.n_attempted
        for other in others
    )


def left_out(spec: WeightedRank, covered: Sequence[CoveredMetric], at: int, *, is_any: bool = False) -> BoolArray:
    """Return in which components, [n_components], an estimator left out records without declaring a failure.

    `is_any` counts declared failures too.
    Source: none; it selects.

    >>> has = np.array([[True, False]])
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0})
    >>> left_out(board, [CoveredMetric("mae", has, has, np.ones((1, 2), dtype=np.bool_), ~has)], 0).tolist()
    [False]
    """
    by_metric = {metric.metric: metric for metric in covered}
    of_each = [[by_metric[source_metric(each)] for each in levels_of(component)] for component in spec.weights]
    return np.array(
        [any((m.missing(at) if is_any else m.undeclared(at)).any() for m in metrics) for metrics in of_each],
        dtype=np.bool_,
    )


def _cover(manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric], at: int) -> Coverage:
    known = _asked_earlier(manifest, held, held.contenders[at])
    counts, is_worst = np.zeros(5, dtype=np.int64), held.asked is not None and manifest.absent == "worst"
    for metric in covered:
        missing = metric.missing(at)
        failed = missing & (metric.has_row[at] | metric.failed[at])
        gone = missing & ~failed
        if metric.metric in manifest.metrics and not manifest.asked.has_asked(held.contenders[at], [metric.metric]):
            counts[4] += int(missing.sum())
            continue
        n_not_asked = int((gone & ~known).sum())
        counts += [int(metric.asked[at].sum()) - n_not_asked, int((metric.asked[at] & metric.has_value[at]).sum()),
                   int(gone.sum()) - n_not_asked, int(failed.sum()), n_not_asked]  # fmt: skip
    n_attempted, n_included, n_absent, n_failed, n_not_asked = counts.tolist()
    has_worst = all(metric.has_worst or not metric.lacking(at).any() for metric in covered)
    is_declared = not any(metric.undeclared(at).any() for metric in covered)
    return Coverage(
        n_attempted,
        n_included,
        n_absent,
        n_failed,
        n_not_asked,
        is_filled=bool(is_worst and not n_not_asked and has_worst),
        is_counted=bool(held.asked is not None and not is_worst and is_declared),
    )


def _asked_earlier(manifest: Manifest, held: HeldRecords, name: str) -> BoolArray:
    """Return which records [n_records] were asked when an estimator was admitted: all, unless the grid changed."""
    earlier = manifest.asked.facts.earlier.get(name, ())
    asked = [grid.named_items for grid in earlier]
    if not earlier or None in asked:
        return np.ones(len(held.records), dtype=np.bool_)
    return np.array([any(record in (names or ()) for names in asked) for record in held.records], dtype=np.bool_)


def with_worst(
    manifest: Manifest,
    held: HeldRecords,
    covered: Sequence[CoveredMetric],
    groups: Sequence[Group],
    labels: FloatArray,
) -> list[Group]:
    """Return the groups, with the metric's worst value, in its unit, for each record that an estimator lacks.

    A record that nobody has belongs to no stratum and is left out for everybody. A classification score is worst beyond
    all others on the wrong side. `labels` are [n_records]; a metric without a worst value leaves NaN.
    Source: the manifest's `absent: worst`.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import series_groups
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"error": 1.0})
    >>> scores = rows({"A": [np.nan, 0.5]})
    >>> held, groups = held_records(scores, ("A",)), series_groups(scores)
    >>> covered = covered_metrics(benchmark(board), board, held, groups, np.full(3, np.nan))
    >>> [g.values.tolist() for g in with_worst(benchmark(board), held, covered, groups, np.full(3, np.nan))]
    [[1.0], [0.5]]
    """
    known = np.array([stratum != "" for stratum in held.strata], dtype=np.bool_)
    by_metric = {metric.metric: metric for metric in covered}
    filled = [_with_values(manifest, held, by_metric.get(group.metric), group, labels) for group in groups]
    places = {(g.estimator, g.metric, g.stratum): at for at, g in enumerate(filled)}
    for metric in (metric for metric in covered if metric.has_worst):
        for at, name in enumerate(held.contenders):
            for record in np.flatnonzero(metric.lacking(at) & ~metric.has_row[at] & known).tolist():
                _append(manifest, filled, places, (name, metric.metric, held.strata[record]), record, labels)
    return filled


def _worst(manifest: Manifest, metric: str, rule: str, labels: FloatArray) -> FloatArray:
    """Return the worst value of a metric for records of these classes, [n_records]."""
    if rule == "scores":
        # Where a class is unknown, classification metrics ask for nothing (`covered_metrics`).
        return np.where(labels >= THRESHOLD, -FURTHEST, FURTHEST)
    worst = manifest.metrics[metric].worst
    value = np.nan if worst is None else float(worst)
    return np.full(len(labels), value**2 if rule == "root_mean_square" else value)


def _with_values(
    manifest: Manifest, held: HeldRecords, covered: CoveredMetric | None, group: Group, labels: FloatArray
) -> Group:
    if covered is None or not covered.has_worst or group.rule == "ratio":
        return group
    # Also where a whole stratum failed: leaving it out of the mean over strata would reward failing altogether.
    lacking = covered.lacking(held.contenders.index(group.estimator))[group.records] & ~group.included
    worst = _worst(manifest, group.metric, group.rule, labels[group.records])
    return replace(group, values=np.where(lacking, worst, group.values))


def _append(
    manifest: Manifest,
    groups: list[Group],
    places: dict[tuple[str, str, str], int],
    key: tuple[str, str, str],
    n: int,
    labels: FloatArray,
) -> None:
    if key not in places:
        places[key] = len(groups)
        groups.append(Group(*key, np.zeros(0), np.zeros(0, dtype=np.int64), _rule(key[1])))
    group = groups[places[key]]
    value = _worst(manifest, group.metric, group.rule, labels[[n]])
    groups[places[key]] = replace(group, values=np.append(group.values, value), records=np.append(group.records, n))


def _rule(metric: str) -> Rule:
    # A ratio would need both of its parts.
    rule = RULES.get(metric, "mean")
    return "mean" if rule == "ratio" else rule


# Which failures the runs of a board declare: estimates that are invalid, intervals and comparisons that failed. A
# null that nothing declares is absent, however it came about.

VALIDITY = "validity_rate"

INVALID = frozenset({"False", "false", "FALSE", "0", "0.0"})
"""How the flag of an estimate may say that it is invalid."""

MISSING = '"missing_'


def declared_failures(scores: ScoreTable, held: HeldRecords, part: RankedPart, metrics: Sequence[str]) -> Failures:
    """Return the failures that rows declare of each of the metrics.

    An estimate is invalid where its validity is 0 or, without a validity, where its flag says so; every metric of it is
    then. What compares a stressed series with its clean one fails with either. Otherwise the metadata of a null say
    why, and `part` knows which of them may be said of a metric.
    Source: lrdbench 2.0, its per-series rows.

    >>> from dataclasses import replace
    >>> from app.boards.example import rows
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> table = replace(rows({"A": [1.0, 0.0]}), columns=(VALIDITY,))
    >>> declared_failures(table, held_records(table, ["A"]), RankedPart(), ["mae"]).by_metric["mae"].tolist()
    [[False, True, False]]
    """
    rows, records = _places(scores, held)
    failed = np.zeros(held.held.shape, dtype=np.bool_)
    at = np.flatnonzero(_are_invalid(scores) & (rows >= 0))
    failed[rows[at], records[at]] = True
    place = {record: number for number, record in enumerate(held.records)}
    clean = clean_series(scores) if part.are_stressed() else {}
    origin = np.array(
        [place.get(clean.get(record, record), n) for n, record in enumerate(held.records)], dtype=np.int64
    )
    with_clean = failed | failed[:, origin]
    stated = {metric: (with_clean if part.is_of_pairs(metric) else failed).copy() for metric in metrics}
    for metric, at_row in _reasons(scores, part, metrics):
        if rows[at_row] >= 0:
            stated[metric][rows[at_row], records[at_row]] = True
    return Failures(stated)


def _places(scores: ScoreTable, held: HeldRecords) -> tuple[IntArray, IntArray]:
    place = {name: at for at, name in enumerate(held.contenders)}
    rows = np.array([place.get(name, -1) for name in scores.entrant.words], dtype=np.int64)[scores.entrant.codes]
    records = np.full(len(scores), -1) if scores.item is None else scores.item.codes
    return np.where(records >= 0, rows, -1), records


def _are_invalid(scores: ScoreTable) -> BoolArray:
    rate = scores.value(VALIDITY) if VALIDITY in scores.columns else np.full(len(scores), np.nan)
    flag = scores.recorded.get("valid")
    says = (
        np.zeros(len(scores), dtype=np.bool_)
        if flag is None
        else np.array([*(word in INVALID for word in flag.words), False])[flag.codes]
    )
    invalid: BoolArray = np.where(np.isnan(rate), says, rate == 0.0)
    return invalid


def _reasons(scores: ScoreTable, part: RankedPart, metrics: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each metric and row whose metadata say why it is null, as far as that may be said of it."""
    allowed = {metric: reason for metric in metrics if (reason := part.reason_of(metric)) is not None}
    lists, metadata = scores.recorded.get("missing_ci"), scores.recorded.get("metadata")
    if lists is not None:
        wanted = [[m for m in word.split() if allowed.get(m) == "missing_ci"] for word in lists.words]
        for at in np.flatnonzero(lists.codes >= 0).tolist():
            yield from ((metric, at) for metric in wanted[lists.codes[at]])
    others = {metric: reason for metric, reason in allowed.items() if reason != "missing_ci"}
    if metadata is None or not others:
        return
    said = {
        code: [metric for metric, reason in others.items() if _says(about.get(metric), reason)]
        for code, word in enumerate(metadata.words)
        if MISSING in word
        for about in [json.loads(word)]
    }
    for at in np.flatnonzero(np.isin(metadata.codes, list(said))).tolist():
        yield from ((metric, at) for metric in said[int(metadata.codes[at])])


def _says(about: object, reason: str) -> bool:
    return isinstance(about, dict) and (bool(about.get(reason)) or about.get("missing_reason") == reason)
