"""The ratchet of the house: what fragments the code goes down, never up."""

import pytest

from bench.house import House, count

MOST_LONELY, MOST_HANDED_ON = 4, 0.301
"""What was measured last: modules, and the share of all parameters. Lower them with a commit that lowers one.

A share, since a house that is added to has more parameters of either sort.
"""


pytestmark = [pytest.mark.heavy, pytest.mark.unmutated]


@pytest.fixture(scope="module")
def house() -> House:
    """The counts of this checkout."""
    return count()


def test_a_small_module_with_one_importer_stands_beside_it(house: House) -> None:
    """A helper with one caller is in its caller's file, below it."""
    assert len(house.lonely) <= MOST_LONELY, house.lonely


def test_parameters_are_used_where_they_are_given(house: House) -> None:
    """No more of them than before are only handed to the next call."""
    assert house.share_handed_on <= MOST_HANDED_ON
