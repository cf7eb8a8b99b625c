"""A coarse run of `bench.few_seeds`: equal entrants of few seeds are seldom separable, different ones are found."""

import pytest

from app.boards.calibrated import TOLD_BESIDE_STEADY
from bench.few_seeds import COLLAPSING, DIFFERENT, RARE, SHARED, SMOOTH, share_separated, share_separated_by_shared

pytestmark = pytest.mark.slow

N_DATASETS, WITHIN = 500, 0.05 + 3 * 0.0098


@pytest.mark.parametrize("world", [*SMOOTH, *COLLAPSING])
def test_equal_entrants_are_separable_in_one_of_twenty(world: str) -> None:
    """Within three standard errors of 5 %, whatever the number of seeds."""
    sides, sizes = (SMOOTH | COLLAPSING)[world]
    assert sides[0].mean == pytest.approx(sides[1].mean)
    assert max(share_separated(sides, n_seeds, N_DATASETS) for n_seeds in sizes) <= WITHIN


@pytest.mark.parametrize("world", RARE)
def test_where_few_seeds_do_not_show_what_is_rare_no_more_are_separable_than_is_said(world: str) -> None:
    """15 of 100 from five seeds, 20 where a seed in five fails, within three standard errors."""
    assert share_separated(RARE[world][0], 5, N_DATASETS) <= (0.2 if world.startswith("0.2") else 0.15) + 3 * 0.016


def test_no_more_are_separable_by_shared_seeds_than_is_said() -> None:
    """Pairing takes out what is as hard for both, so that what few seeds do not show decides more often."""
    (_, (rare, _)), (_, (equal, _)) = SHARED.items()
    told = {n: share_separated_by_shared(rare, n, N_DATASETS) for n in (5, 8)}

    assert {n: TOLD_BESIDE_STEADY["seeds that are shared"][n] / 100 for n in told} == pytest.approx(told, abs=3 * 0.022)
    assert share_separated_by_shared(equal, 5, N_DATASETS) <= WITHIN


def test_what_differs_is_found() -> None:
    """0.5 against 0.8 with five seeds of 20 episodes, in at least 65 %."""
    assert share_separated(DIFFERENT["0.5 against 0.8, ICC 0.02"][0], 5, N_DATASETS) >= 0.65
