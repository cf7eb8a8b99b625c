"""Letters shared by exactly those who are not apart."""

import numpy as np
import pytest

from app.stats.rank_sets import letter_groups


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_two_share_a_letter_exactly_where_they_are_not_apart(n: int) -> None:
    """Whatever the relation is, also one that no order of intervals has."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        upper = np.triu(rng.random((n, n)) < 0.4, 1)
        apart = upper | upper.T
        groups = letter_groups(apart)

        assert groups is not None
        shared = [[a == b or any(a in group and b in group for group in groups) for b in range(n)] for a in range(n)]
        assert (np.array(shared) == ~apart).all()


def test_no_group_is_inside_another() -> None:
    """A letter that says nothing of its own is not given."""
    apart = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]], dtype=np.bool_)

    assert letter_groups(apart) == [(0, 1), (1, 2), (2, 3)]


def test_nobody_has_no_letters() -> None:
    """An empty board is no error."""
    assert letter_groups(np.zeros((0, 0), dtype=np.bool_)) == []
