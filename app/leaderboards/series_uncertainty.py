"""Intervals of a series benchmark's aggregates: within strata, over strata, and of paired differences.

Called by `app.leaderboards.series_tables`. In lrdbench's stream one generator is shared and drawn from in its order, so
every number comes out; in ours each interval has its own, so that one estimator less leaves the others as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.leaderboards.series_groups import by_metric
from app.lrdbench_catalog import split_identity
from app.manifest_kinds import SeriesUncertainty
from app.stats.resample import board_generator
from app.stats.strata import (
    Aggregate,
    Group,
    aggregate_group,
    interval_of,
    pair_groups,
    resample_group,
    resample_strata,
)

FloatArray = NDArray[np.float64]
MIN_UNITS = 2


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


class _Drawing:
    """The draws of one benchmark."""

    def __init__(self, drawn: SeriesUncertainty) -> None:
        self._drawn = drawn
        self._is_shared = drawn.stream == "lrdbench"
        self._shared = np.random.default_rng(drawn.rng_seed)

    def all(self, groups: Sequence[Group], aggregates: Sequence[Aggregate]) -> Iterator[SeriesInterval]:
        """Yield the intervals: first within strata, then over strata, then the paired ones."""
        wanted = [group for group in groups if self._is_wanted(group.metric)]
        for group in wanted:
            yield from self._within(group)
        for (estimator, metric), members in by_metric(aggregates).items():
            if self._is_wanted(metric):
                yield from self._over_strata(estimator, metric, members)
        if self._drawn.paired:
            yield from self._paired(groups)

    def _is_wanted(self, metric: str) -> bool:
        return self._is_among(metric, self._drawn.metrics)

    def _is_among(self, metric: str, declared: Sequence[str] | None) -> bool:
        return declared is None or metric in declared or split_identity(metric)[0] in declared

    def _generator(self, *names: str) -> np.random.Generator:
        return self._shared if self._is_shared else board_generator(self._drawn.rng_seed, *names)

    def _within(self, group: Group) -> Iterator[SeriesInterval]:
        n_units = int(group.included.sum())
        if not n_units:
            return
        about = (group.estimator, group.metric, group.stratum)
        replicates = resample_group(group, self._drawn.n_resamples, self._generator(*about))
        yield from self._at_levels(about, aggregate_group(group).value, replicates, n_units)

    def _over_strata(self, estimator: str, metric: str, members: Sequence[Aggregate]) -> Iterator[SeriesInterval]:
        values = np.array([a.value for a in members if np.isfinite(a.value)])
        if not len(values):
            return
        replicates = resample_strata(values, self._drawn.n_resamples, self._generator(estimator, metric, "strata"))
        yield from self._at_levels((estimator, metric, None), float(np.mean(values)), replicates, len(values))

    def _paired(self, groups: Sequence[Group]) -> Iterator[SeriesInterval]:
        declared = self._drawn.paired_metrics if self._drawn.paired_metrics is not None else self._drawn.metrics
        for pair in pair_groups([group for group in groups if self._is_among(group.metric, declared)]):
            names = (pair.first, pair.second)
            about = ("__minus__".join(names), pair.metric, pair.stratum)
            replicates = resample_strata(pair.differences, self._drawn.n_resamples, self._generator(*about))
            value = float(np.mean(pair.differences))
            yield from self._at_levels(about, value, replicates, len(pair.differences), names)

    def _at_levels(
        self,
        about: tuple[str, str, str | None],
        value: float,
        replicates: FloatArray,
        n_units: int,
        pair: tuple[str, str] | None = None,
    ) -> Iterator[SeriesInterval]:
        for level in self._drawn.levels:
            ends: tuple[float | None, float | None] = interval_of(replicates, level)
            if n_units < MIN_UNITS and not self._is_shared:
                ends = (None, None)
            yield SeriesInterval(*about, value, *ends, level, n_units, pair)
