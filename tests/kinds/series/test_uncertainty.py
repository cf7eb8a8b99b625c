"""Intervals of aggregates, drawn as lrdbench draws them: the order of the draws where values are null."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from app.boards.methods.weighted_rank.records import series_groups, stratum_aggregates
from app.kinds.series.contract import series_intervals
from app.kinds.series.manifest_part import SeriesUncertainty
from app.values.scores import Coded, ScoreTable

ESTIMATORS, STRATA, METRICS = ("RS", "DFA"), ("a", "b"), ("mae", "coverage@0.95")
N_RECORDS = 6
DRAWN = SeriesUncertainty(n_resamples=100, rng_seed=7, paired=True, stream="lrdbench")
Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Key = tuple[str, str, str | None]


def values(nulls: list[tuple[int, int, int]]) -> Values:
    """Return values by record, estimator and metric; the first half of the records is of stratum a."""
    result = np.random.default_rng(3).uniform(0.0, 1.0, (N_RECORDS, len(ESTIMATORS), len(METRICS)))
    for place in nulls:
        result[place] = np.nan
    return result


def scores(of: Values) -> ScoreTable:
    """Return the values as evidence: the estimators of one record after those of another."""
    places = list(product(range(N_RECORDS), range(len(ESTIMATORS))))
    n_rows = len(places)
    return ScoreTable(
        entrant=Coded(ESTIMATORS, np.array([estimator for _, estimator in places])),
        task=Coded(STRATA, np.array([record // (N_RECORDS // 2) for record, _ in places])),
        columns=METRICS,
        values=of.reshape(n_rows, len(METRICS)),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
        item=Coded(tuple(f"r{at}" for at in range(N_RECORDS)), np.array([record for record, _ in places])),
    )


def by_definition(of: Values) -> dict[Key, tuple[float, float]]:
    """Return every interval by loops over the rows, nulls dropped first, from one generator in lrdbench's order."""
    rng = np.random.default_rng(DRAWN.rng_seed)
    within: dict[Key, list[float]] = defaultdict(list)
    paired: dict[tuple[str, str], dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    attempted: dict[Key, list[float]] = defaultdict(list)
    for record, estimator, metric in product(range(N_RECORDS), range(len(ESTIMATORS)), range(len(METRICS))):
        value, stratum = float(of[record, estimator, metric]), STRATA[record // (N_RECORDS // 2)]
        key = (ESTIMATORS[estimator], METRICS[metric], stratum)
        attempted[key] += [] if np.isnan(value) else [value]
        if not np.isnan(value):
            within[key].append(value)
            paired[METRICS[metric], stratum][record][ESTIMATORS[estimator]] = value
    over: dict[Key, list[float]] = defaultdict(list)
    for (name, metric, _), result in attempted.items():
        if result:
            over[name, metric, None].append(float(np.mean(result)))
    ends = {key: draw(result, rng) for key, result in [*within.items(), *over.items()]}
    for (metric, stratum), records in paired.items():
        for first, second in combinations(sorted({name for cell in records.values() for name in cell}), 2):
            differences = [cell[first] - cell[second] for cell in records.values() if {first, second} <= set(cell)]
            if differences:
                ends[f"{first}__minus__{second}", metric, stratum] = draw(differences, rng)
    return ends


def draw(result: list[float], rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of a mean, drawn resample by resample."""
    units = np.array(result)
    means = [units[rng.integers(0, units.size, size=units.size)].mean() for _ in range(DRAWN.n_resamples)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


@pytest.mark.parametrize(
    "nulls",
    [
        [],
        [(0, 0, 0)],
        [(0, 0, 0), (1, 0, 0), (2, 0, 0)],
        [(0, 0, 1), (0, 1, 0), (3, 1, 1), (4, 1, 1), (5, 1, 1)],
        [(record, estimator, 0) for record, estimator in product(range(3), range(2))],
    ],
    ids=["none", "a-groups-first-row", "a-whole-stratum-of-one", "several", "a-metric-of-a-whole-stratum"],
)
def test_every_interval_is_lrdbenchs_wherever_values_are_null(nulls: list[tuple[int, int, int]]) -> None:
    """Nulls are dropped before anything is grouped, so the shared generator goes round in the order of values."""
    groups = series_groups(scores(values(nulls)))
    actual = series_intervals(groups, stratum_aggregates(groups, METRICS), DRAWN)
    ours = {(i.estimator, i.metric, i.stratum): (i.low, i.high) for i in actual}
    expected = by_definition(values(nulls))

    assert ours.keys() == expected.keys()
    assert max(abs(a - b) for key, ends in expected.items() for a, b in zip(ours[key], ends, strict=True)) < 1e-12


def test_a_coverage_error_that_the_manifest_does_not_name_is_not_drawn() -> None:
    """It would move every later draw of the shared generator, and lrdbench has no such row."""
    groups = series_groups(scores(values([])))

    assert {a.metric for a in stratum_aggregates(groups, METRICS)} == set(METRICS)
    assert "coverage_error@0.95" in {a.metric for a in stratum_aggregates(groups)}


@pytest.mark.parametrize(
    ("paired_metrics", "expected"), [(None, {"mae", "coverage@0.95"}), (["mae"], {"mae"})], ids=["those drawn", "some"]
)
def test_pairs_are_drawn_of_the_metrics_that_are_declared_for_pairs(
    paired_metrics: list[str] | None, expected: set[str]
) -> None:
    """Where none are, of those of the intervals."""
    table = scores(values([]))
    groups = series_groups(table)
    drawn = DRAWN.model_copy(update={"paired_metrics": paired_metrics})
    intervals = series_intervals(groups, stratum_aggregates(groups), drawn)

    assert {each.metric for each in intervals if "__minus__" in each.estimator} == expected


def test_one_record_has_a_value_and_no_interval() -> None:
    """Nothing is known of its spread; the row says that it is of one record, and lrdbench's stream has no width."""
    groups = series_groups(scores(values([(0, 0, 0), (1, 0, 0)])))
    independent = DRAWN.model_copy(update={"stream": "independent", "paired": False})
    ours, theirs = (
        next(i for i in series_intervals(groups, [], drawn) if (i.estimator, i.metric, i.stratum) == ("RS", "mae", "a"))
        for drawn in (independent, DRAWN)
    )

    assert (ours.low, ours.high, ours.n_units) == (None, None, 1)
    assert theirs.low == theirs.high == theirs.value == ours.value


def test_an_independent_interval_is_the_same_without_the_others() -> None:
    """Its generator is named after the estimator, the metric and the stratum; ratios too, which are drawn in pairs."""
    independent = DRAWN.model_copy(update={"stream": "independent", "paired": False})
    groups = series_groups(scores(values([(0, 0, 0)])))
    groups += [replace(group, metric=f"{group.metric}_ratio", rule="ratio", denominators=1.0 + group.values)
               for group in groups]  # fmt: skip
    together = series_intervals(groups, [], independent)
    alone = [interval for group in groups for interval in series_intervals([group], [], independent)]

    assert {each.metric for each in together} == {"mae", "coverage@0.95", "mae_ratio", "coverage@0.95_ratio"}
    assert all(each.low < each.value < each.high for each in together if each.low is not None)
    assert sorted(map(str, together)) == sorted(map(str, alone))
