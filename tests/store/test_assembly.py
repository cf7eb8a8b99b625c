"""Score tables out of blocks: how much memory the rows of a large board take."""

import numpy as np
import pytest

from app.store.assembly import narrowed
from app.values.scores import Coded


@pytest.mark.parametrize(("n_cells", "n_bytes"), [(2**31 - 1, 4), (2**31, 8)], ids=["fits", "beyond"])
def test_codes_take_32_bits_where_the_number_of_a_cell_does(n_cells: int, n_bytes: int) -> None:
    """A product of two codes is the number of a cell, and must not wrap where somebody multiplies them."""
    assert narrowed(Coded(("a",), np.array([0])), n_cells).codes.itemsize == n_bytes
