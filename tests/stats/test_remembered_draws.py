"""Counts that are read from a room are those that would be drawn again, to the last one."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.stats import curve_bands
from app.stats.curve_bands import DrawnCounts, map_resamples


def drawn(room: DrawnCounts | None, n_examples: int, n_resamples: int, **options: Any) -> NDArray[np.uint8]:
    """Return every count of a stream."""
    rng = np.random.default_rng(3)
    return np.concatenate(list(map_resamples(np.copy, n_examples, n_resamples, rng, room=room, **options)))


@pytest.mark.parametrize("n_examples", [1, 2, 7, 1001, 2000])
@pytest.mark.parametrize("batch_cells", [1, 3003])
def test_counts_of_a_room_are_the_drawn_ones(n_examples: int, batch_cells: int) -> None:
    """Odd and even numbers of examples, all resamples and the first of them, batch by batch."""
    room = DrawnCounts(n_examples, 20)
    plain = drawn(None, n_examples, 20)

    assert (drawn(room, n_examples, 20) == plain).all()
    assert room.is_whole
    assert (drawn(room, n_examples, 20, batch_cells=batch_cells) == plain).all()
    assert (drawn(room, n_examples, 9, batch_cells=batch_cells) == plain[:9]).all()


def test_a_count_that_half_a_byte_does_not_hold_does_not_fit() -> None:
    """Sixteen of one example would come back as none."""
    room = DrawnCounts(3, 2)

    assert room.write(0, np.array([[15, 0, 15]], dtype=np.uint8))
    assert room.counts(0, 1).tolist() == [[15, 0, 15]]
    assert not room.write(1, np.array([[0, 16, 1]], dtype=np.uint8))


def test_counts_that_do_not_fit_are_drawn_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room is not whole with too large a count, wherever it is."""
    monkeypatch.setattr(curve_bands, "MOST_COUNTED", 2)
    room = DrawnCounts(1200, 4)
    first = drawn(room, 1200, 4)

    assert first.max() > 2
    assert not room.is_whole
    assert (drawn(room, 1200, 4) == first).all()
