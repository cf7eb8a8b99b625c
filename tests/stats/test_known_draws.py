"""Counts that are remembered are those that would be drawn again, to the last one, and take a bounded room."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.stats import curve_bands
from app.stats.curve_bands import Drawn, KnownDraws, map_resamples


def drawn(known: KnownDraws, n_examples: int, n_resamples: int, seed: int = 3, **options: Any) -> NDArray[np.uint8]:
    """Return every count of a stream that is known by its seed."""
    rng = np.random.default_rng(seed)
    options = {"key": seed, "known": known} | options
    return np.concatenate(list(map_resamples(lambda counts: counts.copy(), n_examples, n_resamples, rng, **options)))


@pytest.mark.parametrize("n_examples", [1, 2, 7, 1001, 2000])
@pytest.mark.parametrize("batch_cells", [1, 3003])
def test_remembered_counts_are_the_drawn_ones(n_examples: int, batch_cells: int) -> None:
    """Odd and even numbers of examples, all resamples and the first of them, batch by batch."""
    known = KnownDraws()
    plain = drawn(known, n_examples, 20, key=None)

    assert (drawn(known, n_examples, 20) == plain).all()
    assert (drawn(known, n_examples, 20, batch_cells=batch_cells) == plain).all()
    assert (drawn(known, n_examples, 9, batch_cells=batch_cells) == plain[:9]).all()


def test_what_is_remembered_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where fewer resamples are asked for; more of them are drawn anew, and so is what has no key."""
    known, began = KnownDraws(), list[int]()
    draws = curve_bands._Draws

    def counted(n_examples: int, *others: Any) -> curve_bands._Draws:
        began.append(n_examples)
        return draws(n_examples, *others)

    monkeypatch.setattr(curve_bands, "_Draws", counted)
    for n_resamples in (5, 5, 3, 6, 6, 5):
        drawn(known, 1200, n_resamples)
    assert began == [1200, 1200]
    drawn(known, 1200, 5, seed=4)
    drawn(known, 1201, 5)
    drawn(known, 1200, 5, margin=4.0)
    drawn(known, 1200, 5, key=None)
    assert began == [1200, 1200, 1200, 1201, 1200, 1200]


def test_two_keys_are_not_confused() -> None:
    """Each has its own counts, whichever was asked for last."""
    known = KnownDraws()
    first, second = drawn(known, 1200, 4, seed=1), drawn(known, 1200, 4, seed=2)

    assert (first != second).any()
    assert (drawn(known, 1200, 4, seed=1) == first).all()
    assert (drawn(known, 1200, 4, seed=2) == second).all()


def test_those_not_used_for_longest_make_room() -> None:
    """Room for two: the one of three that was asked for least recently is forgotten."""
    known = KnownDraws(most_bytes=2 * 4 * 600)
    for seed in (1, 2, 1, 3):
        drawn(known, 1200, 4, seed=seed)

    assert [known.recall((seed, curve_bands.MARGIN), 1200, 4) is not None for seed in (1, 2, 3)] == [
        True, False, True,
    ]  # fmt: skip


def test_more_than_there_is_room_for_is_only_drawn() -> None:
    """A million examples and two thousand resamples would be a gigabyte."""
    known = KnownDraws(most_bytes=4 * 600 - 1)
    first = drawn(known, 1200, 4)

    assert known.room("a", 1_000_000, 2000) is None
    assert known.recall((3, curve_bands.MARGIN), 1200, 4) is None
    assert (drawn(known, 1200, 4) == first).all()


def test_a_count_that_half_a_byte_does_not_hold_is_not_remembered() -> None:
    """Sixteen of one example would come back as none."""
    room = Drawn.empty("a", 3, 2)

    assert room.write(0, np.array([[15, 0, 15]], dtype=np.uint8))
    assert room.read(0, 1).tolist() == [[15, 0, 15]]
    assert not room.write(1, np.array([[0, 16, 1]], dtype=np.uint8))


def test_counts_that_do_not_fit_are_drawn_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered of a stream with too large a count, wherever it is."""
    monkeypatch.setattr(curve_bands, "MOST_COUNTED", 2)
    known = KnownDraws()
    first = drawn(known, 1200, 4)

    assert first.max() > 2
    assert known.recall((3, curve_bands.MARGIN), 1200, 4) is None
    assert (drawn(known, 1200, 4) == first).all()
