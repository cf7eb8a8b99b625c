"""The simulation behind docs/statistics.md, coarsely: what is said to hold at the level holds near it."""

import pytest

from bench.rank_coverage import ALPHAS, measure, new_sets

N_DATASETS = 300
SLACK = 3.0 * (0.05 * 0.95 / N_DATASETS) ** 0.5
"""Three standard errors of a share of one in twenty."""


@pytest.mark.slow
@pytest.mark.parametrize("world", ["all equal", "five tied at the top"])
@pytest.mark.parametrize("n_units", [10, 40])
def test_all_ranks_hold_at_once_and_who_is_first_is_named(world: str, n_units: int) -> None:
    """Of equals none is called better, and the p-value of one that is truly first is small as seldom as it says."""
    covered = measure(world, n_units, new_sets, N_DATASETS)

    assert covered.at_once >= 0.95 - SLACK
    assert covered.sentence >= 0.95 - SLACK
    for alpha in ALPHAS:
        assert covered.at_most[alpha] <= alpha + SLACK
