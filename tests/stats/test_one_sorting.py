"""Ranks of ratios and of the errors that they are of, by one sorting: those that two sortings give."""

import numpy as np
import pytest

from app.boards.cells import CellMatrix
from app.boards.methods.skill_score import ByTask, Relative
from app.stats.arrays import FloatArray
from app.stats.pairs import average_ranks, resampled_shares, win_shares, wins_and_ranks
from app.stats.resample import Resamples


def relative(errors: FloatArray, values: FloatArray | None = None) -> Relative:
    """Return relative errors of entrants that have them all, where other `values` are not given."""
    names = tuple(f"m{at}" for at in range(errors.shape[1]))
    present = np.ones(errors.shape, dtype=np.bool_)
    cells = CellMatrix(
        tuple(f"t{at}" for at in range(len(errors))), names, errors if values is None else values, ~present, present
    )
    failures = np.zeros(len(names), dtype=np.int64)
    return Relative(cells, errors, np.ones(len(errors), dtype=np.bool_), failures, failures)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("clip", [(0.01, 100.0), (0.5, 2.0), (1.0, 1.0)])
def test_one_sorting_gives_what_two_give(seed: int, clip: tuple[float, float]) -> None:
    """Also where a clip makes equal what was different, and where raw errors are equal themselves."""
    rng = np.random.default_rng(seed)
    raw = rng.exponential(size=(37, 11)).round(1 + seed % 3)
    errors = np.clip(raw / (raw[:, [0]] + 0.1), *clip)

    wins, mean_ranks = wins_and_ranks(errors, raw)

    assert wins.tobytes() == win_shares(errors).tobytes()
    assert mean_ranks.tobytes() == average_ranks(raw).mean(axis=0).tobytes()


def test_errors_that_ratios_may_turn_are_sorted_for_themselves() -> None:
    """An error below 0, and one that was put in a gap, need not have the order of its ratio."""
    raw = np.array([[1.0, 2.0, 3.0]])
    known = ByTask.of(relative(raw), raw).mean_ranks

    assert known is not None
    assert known.tolist() == [1.0, 2.0, 3.0]
    assert ByTask.of(relative(raw), raw - 2.0).mean_ranks is None
    assert ByTask.of(relative(raw, np.array([[1.0, np.nan, 3.0]])), raw).mean_ranks is None
    assert ByTask.of(relative(raw)).mean_ranks is None


def test_shares_of_a_large_board_are_summed_as_whole_numbers() -> None:
    """They are the exact means: those of the same shares one by one in any order, to the last bit."""
    rng = np.random.default_rng(1)
    errors = rng.exponential(size=(500, 401)).round(2)
    shares = win_shares(errors)
    drawn = Resamples(500, 20, lambda: np.random.default_rng(2))
    counts = np.concatenate(list(drawn.batches())).astype(np.int64)
    halves = np.rint(shares * 800).astype(np.int64)

    means = resampled_shares(shares, drawn)

    assert means.tobytes() == (counts @ halves / 500 / 800).tobytes()
    assert np.abs(means - drawn.means(shares)).max() < 1e-15


@pytest.mark.heavy
def test_shares_whose_sums_single_precision_does_not_hold_are_summed_in_double() -> None:
    """17 million halves of opponents are more than it counts one by one."""
    shares = win_shares(np.random.default_rng(1).exponential(size=(4_200, 2_001)))
    drawn = Resamples(4_200, 2, lambda: np.random.default_rng(2))

    assert resampled_shares(shares, drawn).tobytes() == drawn.means(shares).tobytes()
