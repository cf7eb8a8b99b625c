"""The ratchet of the house: what fragments the code goes down, never up."""

import pytest

from bench.house import House, count

MOST_LONELY, MOST_HANDED_ON = 4, 2950
"""What was measured last. Lower them with a commit that lowers a count.

A number and not a share: deleting a parameter that is used would raise the share.
"""


@pytest.fixture(scope="module")
def house() -> House:
    """The counts of this checkout."""
    return count()


@pytest.mark.heavy
def test_a_small_module_with_one_importer_stands_beside_it(house: House) -> None:
    """A helper with one caller is in its caller's file, below it."""
    assert len(house.lonely) <= MOST_LONELY, house.lonely


@pytest.mark.heavy
def test_parameters_are_used_where_they_are_given(house: House) -> None:
    """No more of them than before are only handed to the next call."""
    assert house.handed_on <= MOST_HANDED_ON
