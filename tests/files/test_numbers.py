"""Which texts are numbers: the same ones whatever else their column holds."""

import numpy as np
import pyarrow as pa
import pytest

from app.files.tables import read_numbers

NONE_ELSEWHERE = "+1"
"""A number that is read one by one, so that the cells beside it are too."""


@pytest.mark.parametrize(
    "text", ["nan(1)", "NaN(abc)", "nan()", "1_000", "٣", "１", "0x10", "1.#QNAN", "1d5", "1e", "∞"]
)
@pytest.mark.parametrize("beside", ["1", NONE_ELSEWHERE])
def test_what_is_no_number_is_text(text: str, beside: str) -> None:
    """Also what C reads as a number and no table means as one."""
    actual = read_numbers(pa.array([text, beside, None]))

    assert actual.is_text.tolist() == [True, False, False]
    assert actual.empty.tolist() == [False, False, True]


@pytest.mark.parametrize("text", ["NaN", "nan", "-nan", "inf", "-Infinity", "1e-400", "5e-324", "-0.0", "1.", ".5"])
@pytest.mark.parametrize("beside", ["1", NONE_ELSEWHERE])
def test_what_is_a_number_is_read_the_same_in_every_company(text: str, beside: str) -> None:
    """To the sign of a zero."""
    actual = read_numbers(pa.array([text, beside]))

    assert not actual.is_text.any()
    assert repr(actual.values[0]) == repr(np.float64(text)) or np.isnan([actual.values[0], float(text)]).all()
