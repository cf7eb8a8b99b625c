"""Coverage of boards of weighted ranks: a cell is a record in one of the metrics that make up the score.

Called by `.method`; pure. A metric for which an estimator has no value at all takes the worst rank by the board's rule;
one for which it has some values is expected for every record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.coverage import Coverage, Roster, call_roster
from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS, FURTHEST, THRESHOLD
from app.boards.methods.weighted_rank.groups import RULES
from app.boards.methods.weighted_rank.records import HeldRecords, on_records
from app.boards.methods.weighted_rank.resampling import source_metric
from app.boards.methods.weighted_rank.spec import RankedPart, WeightedRank
from app.boards.open_grid import are_common
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import BoolArray, FloatArray
from app.stats.strata import Group, Rule


@dataclass(frozen=True)
class CoveredMetric:
    """One metric: who has a row, and who a value, for which record, [n_contenders, n_records], and the asked records.

    `asked` is [n_records]. `has_worst` says that some value of a record is the worst for every component made of it: of
    a coverage error none is, since who covers too much comes nearer to its level by a record that it does not cover.
    """

    metric: str
    has_row: BoolArray
    has_value: BoolArray
    asked: BoolArray
    has_worst: bool = True

    def lacking(self, at: int) -> BoolArray:
        """Return which records an estimator has no value for; none if it has no value at all (`is_empty`)."""
        if self.is_empty(at):
            return np.zeros(len(self.asked), dtype=np.bool_)
        lacking: BoolArray = self.asked & ~self.has_value[at]
        return lacking

    def is_empty(self, at: int) -> bool:
        """Say whether an estimator has no value of the metric at all, and so the worst rank by the board's rule."""
        return not self.has_value[at].any()


def covered_metrics(
    manifest: Manifest, spec: WeightedRank, held: HeldRecords, groups: Sequence[Group], labels: FloatArray
) -> tuple[CoveredMetric, ...]:
    """Return the coverage of each metric that makes up the score; `groups` hold records of the benchmark.

    `labels` [n_records] are the classes of the records: one with rows but without a known class, NaN, is not asked for
    by classification metrics.
    Source: `app.boards.open_grid` where no grid is declared.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.groups import series_groups
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> board, scores = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0}), rows(metric="mae")
    >>> held = held_records(scores, scores.entrant.words)
    >>> covered, = covered_metrics(benchmark(board), board, held, series_groups(scores), np.full(3, np.nan))
    >>> covered.metric, covered.has_value.all(axis=1).tolist()
    ('mae', [True, True, True])
    """
    part = part_of(manifest, RankedPart)
    classed = ~(np.isnan(labels) & held.known)
    everything = np.ones(len(held.records), dtype=np.bool_)
    derived = {source_metric(metric) for metric in spec.metric_names() if source_metric(metric) != metric}
    covered = (
        _covered(
            metric,
            held,
            [g for g in groups if g.metric == metric],
            classed if metric in CLASS_METRICS else everything,
            of_all=part.is_of_every_record(metric),
        )
        for metric in dict.fromkeys(source_metric(metric) for metric in spec.metric_names())
    )
    return tuple(replace(each, has_worst=each.metric not in derived) for each in covered)


def _covered(
    metric: str, held: HeldRecords, groups: Sequence[Group], of_metric: BoolArray, *, of_all: bool
) -> CoveredMetric:
    place = {name: at for at, name in enumerate(held.contenders)}
    has_row, has_value = np.zeros(held.held.shape, dtype=np.bool_), np.zeros(held.held.shape, dtype=np.bool_)
    for group in groups:
        if group.estimator in place:
            has_row[place[group.estimator], group.records] = True
            has_value[place[group.estimator], group.records[group.included]] = True
    asked = held.of_benchmark & of_metric
    if not of_all:
        # The manifest cannot declare which records have one, so those are asked that half of the owners have a row for.
        asked &= are_common(has_row, held.owners or held.contenders) & has_row.any(axis=0)
    return CoveredMetric(metric, has_row, has_value, asked)


def on_asked(groups: Sequence[Group], covered: Sequence[CoveredMetric]) -> Iterator[Group]:
    """Yield the groups on the records asked for in their metric, so that all means are over the same records.

    Source: none; it selects rows.

    >>> both = np.ones((1, 2), dtype=np.bool_)
    >>> metric = CoveredMetric("drift", both, both, np.array([True, False]))
    >>> group = Group("GPH", "drift", "n=128", np.array([0.1, 0.9]), np.arange(2))
    >>> [kept.values.tolist() for kept in on_asked([group], [metric])]
    [[0.1]]
    """
    asked = {metric.metric: metric.asked for metric in covered}
    for group in groups:
        yield from on_records([group], asked[group.metric]) if group.metric in asked else (group,)


def record_roster(manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric]) -> Roster:
    """Return who is ranked: those with a value for every record.

    Source: `app.boards.coverage.call_roster`.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> scores = rows({"A": [0.1, 0.2], "B": [0.3]}, "mae")
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"mae": 1.0})
    >>> held = held_records(scores, ("A", "B"), frozenset("abc"))
    >>> covered = CoveredMetric("mae", held.held, held.held, np.array([True, True, False]))
    >>> record_roster(benchmark(board), held, [covered]).ranked
    ('A',)
    """
    coverages = {name: _cover(manifest, held, covered, at) for at, name in enumerate(held.contenders)}
    return call_roster(coverages, is_declared=held.asked is not None)


def _cover(manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric], at: int) -> Coverage:
    known = _asked_earlier(manifest, held, held.contenders[at])
    counts = np.zeros(6, dtype=np.int64)
    for metric in covered:
        missing, has_row = metric.asked & ~metric.has_value[at], metric.has_row[at]
        gone, failed = missing & ~has_row, missing & has_row
        is_empty, n_gone = metric.is_empty(at), int(gone.sum())
        if metric.metric in manifest.metrics and not manifest.asked.has_asked(held.contenders[at], [metric.metric]):
            counts[4] += int(missing.sum())
            continue
        n_not_asked, n_worst = (0, int(missing.sum())) if is_empty else (int((gone & ~known).sum()), 0)
        counts += [int(metric.asked.sum()) - n_not_asked, int((metric.asked & metric.has_value[at]).sum()),
                   n_gone - n_not_asked, int(failed.sum()), n_not_asked, n_worst]  # fmt: skip
    n_attempted, n_included, n_absent, n_failed, n_not_asked, n_worst = counts.tolist()
    has_worst = all(metric.has_worst or not metric.lacking(at).any() for metric in covered)
    is_filled = held.asked is not None and manifest.absent == "worst" and not n_not_asked and has_worst
    return Coverage(
        n_attempted, n_included, n_absent, n_failed, n_not_asked, is_filled=bool(is_filled), n_worst=n_worst
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
    >>> from app.boards.methods.weighted_rank.groups import series_groups
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
