"""The numbers of every board with its pairs, and its words."""

import numpy as np
import pytest

from app.boards.tables import BoardTables
from tests.cases.boards import CASES, OF_ROWS, Case, built, given
from tests.cases.frozen import assert_frozen, assert_same, tables_as_text, words_of


def as_text(tables: BoardTables) -> str:
    """Return the board, its pairs and its further tables."""
    return tables_as_text([t for t in (tables.leaderboard, tables.pairwise, *tables.extra) if t is not None])


def _name(case: Case) -> str:
    return f"{case.name}-{case.direction}"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_board_is_as_it_was(case: Case) -> None:
    """Of four entrants who delivered everything."""
    if next(each for each in CASES if each.name == case.name) is case:
        assert_frozen(f"board-{case.name}", as_text(built(case)))
    else:
        assert_same(f"board-{_name(case)}", as_text(built(case)))


def test_the_words_of_boards_are_as_they_were() -> None:
    """Titles, notes and titles of columns: a change of words is reviewed in one file."""
    assert_frozen("words", words_of(built(case) for case in CASES))


@pytest.mark.parametrize("case", OF_ROWS, ids=_name)
def test_a_board_with_gaps_is_as_it_was(case: Case) -> None:
    """Near has no value of two units, Poor of one: the counts and bounds of who is unranked."""
    errors = given().errors.copy()
    errors[1, [3, 4]] = np.nan
    errors[0, 7] = np.nan

    assert_same(f"gaps-{_name(case)}", as_text(case.build(given(errors=errors))))
