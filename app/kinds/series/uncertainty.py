"""Intervals of a series benchmark's aggregates: within strata, over strata, and of paired differences.

Called by `app.kinds.series.contract_tables`. In lrdbench's stream one generator is shared and drawn from in its order,
so every number comes out; in ours each interval has its own, so that one estimator less leaves the others as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.groups import by_metric
from app.boards.methods.weighted_rank.identity import split_identity
from app.kinds.series.manifest_part import SeriesUncertainty
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval
from app.stats.resample import board_generator
from app.stats.strata import Aggregate, Group, aggregate_group, interval_of, resample_means, resample_ratio
from app.stats.strata_pairs import pair_groups

MIN_UNITS = 2
BATCH_CELLS = 4_000_000


@dataclass(frozen=True)
class SeriesInterval:
    """One interval at one level. `stratum` None is over strata; `pair` names the two of a difference.

    `low` and `high` are None when fewer than two units carry no spread; lrdbench's own stream gives them no width.
    """

    estimator: str
    metric: str
    stratum: str | None
    value: float
    low: float | None
    high: float | None
    level: float
    n_units: int
    pair: tuple[str, str] | None = None


def series_intervals(
    groups: Sequence[Group], aggregates: Sequence[Aggregate], drawn: SeriesUncertainty
) -> list[SeriesInterval]:
    """Return every interval, in the order in which lrdbench draws them."""
    return list(_Drawing(drawn).all(groups, aggregates))


@dataclass(frozen=True)
class _Target:
    """What one interval is of: its units, and how their mean becomes the value."""

    estimator: str
    metric: str
    stratum: str | None
    value: float
    units: FloatArray
    is_root: bool = False
    ratio: Group | None = None
    pair: tuple[str, str] | None = None


class _Drawing:
    """The draws of one benchmark."""

    def __init__(self, drawn: SeriesUncertainty) -> None:
        self._drawn = drawn
        self._is_shared = drawn.stream == "lrdbench"
        self._shared = np.random.default_rng(drawn.rng_seed)

    def all(self, groups: Sequence[Group], aggregates: Sequence[Aggregate]) -> Iterator[SeriesInterval]:
        """Yield the intervals: first within strata, then over strata, then the paired ones.

        Nulls are dropped before anything is grouped, as lrdbench does: a group, or a stratum's aggregate, takes its
        place in the order by its first value.
        """
        groups = sorted((group for group in groups if group.included.any()), key=lambda group: group.begins)
        aggregates = [aggregate for aggregate in aggregates if np.isfinite(aggregate.value)]
        batch: list[_Target] = []
        for target in self._targets(groups, aggregates):
            # Targets of one size are drawn at once, in their order, as many as memory allows.
            full = len(batch) * self._drawn.n_resamples * max(len(target.units), 1) >= BATCH_CELLS
            if batch and (full or target.ratio is not None or len(batch[0].units) != len(target.units)):
                yield from self._draw(batch)
                batch = []
            if target.ratio is not None:
                yield from self._draw_ratio(target, target.ratio)
            else:
                batch.append(target)
        yield from self._draw(batch)

    def _targets(self, groups: Sequence[Group], aggregates: Sequence[Aggregate]) -> Iterator[_Target]:
        for group in groups:
            if self._is_among(group.metric, self._drawn.metrics):
                yield self._within(group)
        for (estimator, metric), members in by_metric(aggregates).items():
            values = np.array([a.value for a in members])
            if self._is_among(metric, self._drawn.metrics):
                yield _Target(estimator, metric, None, float(np.mean(values)), values)
        if self._drawn.paired:
            declared = self._drawn.paired_metrics if self._drawn.paired_metrics is not None else self._drawn.metrics
            for pair in pair_groups([group for group in groups if self._is_among(group.metric, declared)]):
                names = (pair.first, pair.second)
                value = float(np.mean(pair.differences))
                yield _Target("__minus__".join(names), pair.metric, pair.stratum, value, pair.differences, pair=names)

    def _within(self, group: Group) -> _Target:
        about = (group.estimator, group.metric, group.stratum, aggregate_group(group).value)
        ratio = group if group.denominators is not None else None
        return _Target(*about, group.values[group.included], group.rule == "root_mean_square", ratio)

    def _is_among(self, metric: str, declared: Sequence[str] | None) -> bool:
        return declared is None or metric in declared or split_identity(metric)[0] in declared

    def _generator(self, target: _Target) -> np.random.Generator:
        names = (target.estimator, target.metric, target.stratum or "strata")
        return self._shared if self._is_shared else board_generator(self._drawn.rng_seed, *names)

    def _draw(self, batch: Sequence[_Target]) -> Iterator[SeriesInterval]:
        if not batch:
            return
        rngs = self._shared if self._is_shared else [self._generator(target) for target in batch]
        replicates = resample_means(np.array([target.units for target in batch]), self._drawn.n_resamples, rngs)
        is_root = np.array([target.is_root for target in batch])
        replicates[is_root] = np.sqrt(replicates[is_root])
        ends = [percentile_interval(replicates.T, level) for level in self._drawn.levels]
        for at, target in enumerate(batch):
            for level, (low, high) in zip(self._drawn.levels, ends, strict=True):
                yield self._interval(target, float(low[at]), float(high[at]), level)

    def _draw_ratio(self, target: _Target, group: Group) -> Iterator[SeriesInterval]:
        replicates = resample_ratio(group, self._drawn.n_resamples, self._generator(target))
        for level in self._drawn.levels:
            yield self._interval(target, *interval_of(replicates, level), level)

    def _interval(self, target: _Target, low: float, high: float, level: float) -> SeriesInterval:
        about = (target.estimator, target.metric, target.stratum, target.value)
        n_units = len(target.units)
        if n_units < MIN_UNITS and not self._is_shared:
            return SeriesInterval(*about, None, None, level, n_units, target.pair)
        return SeriesInterval(*about, low, high, level, n_units, target.pair)
