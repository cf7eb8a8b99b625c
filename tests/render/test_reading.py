"""What stands over a board: who is first, who may be, and what was noticed about their evidence."""

from app.render.table_page import leader_sentence, legend
from app.values.table import Cell, Column, Table

COLUMNS = tuple(Column(name, name.capitalize()) for name in ("rank", "entrant", "may_be_first", "flags"))


def board(*rows: tuple[Cell, ...]) -> Table:
    """Return a board of ranks, entrants, who may be first, and flags."""
    return Table("leaderboard/small", "Small", COLUMNS, rows)


def test_flags_of_who_may_be_first_stand_beside_their_names_in_words() -> None:
    """A reader of the first sentence learns that the leader's rows are another's; of one far behind it is no matter."""
    table = board((1, "copy", True, "near_rows exact_best"), (2, "model", True, None), (3, "late", False, "same_rows"))
    noticed = (
        "Flagged: copy (rows that are nearly another entrant's, as they are, moved or scaled; "
        "values that are exactly the best possible)."
    )

    assert leader_sentence(table) == (
        f"First: copy. With all entrants tested simultaneously, these may be first too: model. {noticed}"
    )


def test_a_rival_s_flag_is_named_too() -> None:
    """Whoever may be first is read about there."""
    table = board((1, "model", True, None), (2, "copy", True, "same_rows"))

    assert str(leader_sentence(table)).endswith("Flagged: copy (rows with the same digits under two entrants).")


def test_nothing_is_added_where_nothing_was_noticed() -> None:
    """An empty cell is no flag."""
    table = board((1, "model", True, None), (2, "other", False, None))

    assert leader_sentence(table) == "First: model. With all entrants tested simultaneously, no other may be first."


def test_a_board_with_one_ranked_entrant_compares_it_with_nobody() -> None:
    """Its first place is no result of a test; an entrant without a rank is no rival."""
    table = board((1, "model", True, None), (None, "part", None, None))

    assert leader_sentence(table) == "First: model. No other is ranked."


def test_the_legend_explains_the_flags_that_are_raised() -> None:
    """Whoever reads `copy, near_rows` finds what it means below; the other flags are in the glossary, not here."""
    columns = [Column("flags", "Flags", "text", glossary="flags")]
    ((_, raised),) = legend(columns, board((1, "copy", True, "near_rows exact_best"), (2, "model", True, None)))
    ((_, none),) = legend(columns, board((1, "model", True, None)))

    assert raised.brief == (
        "What was noticed when the evidence arrived; here near_rows: rows that are nearly another entrant's, as they "
        "are, moved or scaled; exact_best: values that are exactly the best possible."
    )
    assert none.brief == "What was noticed when the evidence arrived, in words that programs can read."
