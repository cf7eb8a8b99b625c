"""Counts of very many examples: every row has its own random words, whichever thread draws it when."""

import numpy as np
import pytest

from app.stats import curve_bands
from app.stats.curve_bands import map_resamples
from app.stats.curves import LANES


@pytest.mark.parametrize("generator", [np.random.PCG64, np.random.SFC64])
@pytest.mark.parametrize("n_examples", [7, 1001, 4000])
def test_rows_can_be_drawn_in_any_order(generator: type[np.random.BitGenerator], n_examples: int) -> None:
    """Those of a later batch first, and again; numpy's own generator skips words and another one draws them."""
    draws = curve_bands._Draws(n_examples, np.random.Generator(generator(3)), curve_bands.MARGIN)
    later, every = draws.counts(5, 9), draws.counts(0, 9)

    assert later.tolist() == every[5:].tolist() == draws.counts(5, 9).tolist()
    assert (every.sum(axis=1) == n_examples).all()
    assert len({row.tobytes() for row in every}) == 9


@pytest.mark.parametrize("near_cells", [1, 2500])
def test_random_words_are_drawn_as_few_as_wanted_at_a_time(monkeypatch: pytest.MonkeyPatch, near_cells: int) -> None:
    """A row at a time, or two."""
    draws = curve_bands._Draws(1200, np.random.default_rng(3), curve_bands.MARGIN)
    at_once = draws.counts(0, 7)
    monkeypatch.setattr(curve_bands, "NEAR_CELLS", near_cells)

    assert draws.counts(0, 7).tolist() == at_once.tolist()


@pytest.mark.parametrize(
    ("n_examples", "batch_cells", "is_wide", "n_rows"),
    [
        (10, 10 * LANES, False, LANES),
        (10, 25 * LANES, True, 2 * LANES),
        (10, 30, False, LANES),
        (10, 10 * LANES // curve_bands.MOST_BATCHES, False, LANES),
        (10, 10 * LANES // curve_bands.MOST_BATCHES - 1, False, 1),
        (10, 30, True, 3),
        (100, 1, True, 1),
    ],
)
def test_a_batch_has_whole_sets_of_rows_where_they_fit(
    n_examples: int, batch_cells: int, is_wide: bool, n_rows: int
) -> None:
    """Else as many as there is room for, and one at least; of what is wide no more than there is room for."""
    rng = np.random.default_rng(1)
    sizes = [*map_resamples(len, n_examples, 8 * LANES, rng, batch_cells=batch_cells, is_wide=is_wide)]

    assert sizes[0] == n_rows
    assert sum(sizes) == 8 * LANES
