"""Ranks of ratios and of the errors that they are of, by one sorting: those that two sortings give."""

import numpy as np
import pytest

from app.boards.cells import CellMatrix
from app.boards.methods.skill_score.effects import ByTask
from app.boards.methods.skill_score.relative import Relative
from app.stats.arrays import FloatArray
from app.stats.relative import average_ranks, win_shares, wins_and_ranks


def relative(errors: FloatArray, n_failures: int = 0) -> Relative:
    """Return relative errors of entrants that have them all."""
    names = tuple(f"m{at}" for at in range(errors.shape[1]))
    present = np.ones(errors.shape, dtype=np.bool_)
    cells = CellMatrix(tuple(f"t{at}" for at in range(len(errors))), names, errors, ~present, present)
    failures = np.full(len(names), n_failures)
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
    assert ByTask.of(relative(raw, n_failures=1), raw).mean_ranks is None
    assert ByTask.of(relative(raw)).mean_ranks is None
