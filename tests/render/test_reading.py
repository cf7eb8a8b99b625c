"""What stands over a board: who leads, who may be first too, and what was noticed about their evidence."""

from dataclasses import replace

from app.boards.statement import with_statement
from app.render.board import BoardRows
from app.render.columns import shown_columns
from app.render.table_page import TablePage, TableView, board_chips, legend, tally
from app.values.table import Cell, Column, Table

COLUMNS = tuple(Column(name, name.capitalize()) for name in ("rank", "entrant", "may_be_first", "flags"))


def board(*rows: tuple[Cell, ...]) -> Table:
    """Return a board of ranks, entrants, who may be first, and flags."""
    return Table("leaderboard/small", "Small", COLUMNS, rows, (), {"level": 0.95})


def said(*rows: tuple[Cell, ...]) -> list[str]:
    """Return what such a board says."""
    return list(with_statement(board(*rows)).meta["statement"])


def test_flags_of_who_may_be_first_stand_beside_their_names_in_words() -> None:
    """A reader learns at once that the leader's rows are another's; of one far behind it is no matter."""
    rows = ((1, "copy", True, "near_rows exact_best"), (2, "model", True, "same_rows"), (3, "late", False, "same_rows"))

    assert said(*rows) == [
        "copy leads.",
        "One other may be first too: model.",
        "The remaining one, late, is ruled out as first, at 95 %.",
        "Flagged: copy (rows that are nearly another entrant's, as they are, moved or scaled; values that are exactly "
        "the best possible, or errors of zero or less); model (rows with the same digits under two entrants).",
    ]


def test_a_flag_is_told_where_not_everybody_is_named() -> None:
    """Of many a sentence names four: that some of those who may be first are flagged stands before their names."""
    many = [(rank, f"model{rank}", True, "same_rows" if rank > 5 else None) for rank in range(1, 8)]

    assert said(*many)[1].startswith("Six others may be first too (two flagged): model2, ")


def test_the_same_flag_of_several_is_said_once() -> None:
    """The words of a flag are long; with them behind each name the line above a board took half a phone."""
    rows = [(rank, f"model{rank}", True, "exact_best" if rank == 2 else "same_rows") for rank in range(1, 7)]

    assert said(*rows)[-1] == (
        "Flagged: model1, model3, model4, model5 and 1 more (rows with the same digits under two entrants); "
        "model2 (values that are exactly the best possible, or errors of zero or less)."
    )


def test_what_is_missing_is_the_first_chip_of_a_board() -> None:
    """Chips for which there is no room are left out from the end."""
    table = Table("leaderboard/small", "Small", (Column("n_absent", "Absent", "integer"),), ((3,),), (), {"n_tasks": 9})
    chips = [words for words, _ in board_chips("Error", table, tally(table))]

    assert chips == ["3 missing", "9 tasks", "Error"]


def test_the_sentence_follows_the_rows() -> None:
    """Nobody is left out of it, and it says no more than the rows do."""
    alone = said((1, "model", True, None), (2, "other", False, None))
    tied = said((1, "A", True, None), (1, "B", True, None), (3, "C", True, None))
    unsure = said((1, "A", None, None), (2, "B", True, None), (3, "C", False, None))

    assert alone == ["model leads.", "The only other one, other, is ruled out as first, at 95 %."]
    assert tied == [
        "A, B lead with the same score.",
        "One other may be first too: C.",
        "Nobody is shown to be worse than the first, at 95 %.",
    ]
    assert unsure == [
        "A has the best score; how sure that is, is not known.",
        "One may be first: B.",
        "The remaining one, C, is ruled out as first, at 95 %.",
    ]


def test_who_is_behind_by_the_rule_for_missing_results_is_counted_apart() -> None:
    """No test was made of them: that they are ruled out holds by the rule, not at the level."""
    columns = (*COLUMNS, Column("first_p", "p (first)"))
    rows = ((1, "A", True, None, 1.0), (2, "B", False, None, 0.01), (3, "C", False, None, None))
    table = Table("leaderboard/small", "Small", columns, rows, (), {"level": 0.95})

    assert with_statement(table).meta["statement"][-1] == (
        "All others are ruled out as first: 1 at 95 %, 1 by the rule for missing results."
    )
    only_ruled = replace(table, rows=(rows[0], rows[2]))
    assert with_statement(only_ruled).meta["statement"][-1] == (
        "Nobody is shown to be worse than the first, at 95 %; 1 is ruled out by the rule for missing results."
    )


def test_who_leads_by_the_tie_break_alone_is_said_to() -> None:
    """Two with the same weighted rank have the ranks 1 and 2, and a page that compares them says they are equal."""
    columns = (*COLUMNS, Column("score", "Score"))
    rows = ((1, "A", True, None, 2.375), (2, "B", True, None, 2.375), (3, "C", True, None, 2.5))
    table = Table("leaderboard/small", "Small", columns, rows, (), {"level": 0.95, "rank_by": "score"})

    assert with_statement(table).meta["statement"][0] == "A leads, ahead of B with the same score by the tie-break."


def test_of_how_many_nothing_is_said_stands_in_the_sentence() -> None:
    """Of 324 embedding models 221 lack results: whoever reads that all others are ruled out would count them in."""
    some = said((1, "A", True, None), (2, "B", None, None), (3, "C", False, None), (None, "D", None, None))
    nobody = said((1, "A", True, None), (2, "B", True, None), (None, "C", None, None))

    assert some[-1] == "The remaining one with a rank interval, C, is ruled out as first, at 95 %; 2 have none."
    assert nobody[-1] == "Nobody with a rank interval is shown to be worse than the first, at 95 %; 1 has none."


def test_a_board_with_one_ranked_entrant_compares_it_with_nobody() -> None:
    """Its first place is no result of a test; an entrant without a rank is no rival."""
    assert said((1, "model", None, None), (None, "part", None, None)) == [
        "model alone has a rank here, so there is nobody to compare it with."
    ]
    assert said((None, "part", None, None)) == []


def test_the_legend_explains_the_flags_that_are_raised() -> None:
    """Whoever reads `copy, near_rows` finds what it means below; the other flags are in the glossary, not here."""
    columns = [Column("flags", "Flags", "text", glossary="flags")]
    ((_, raised),) = legend(columns, board((1, "copy", True, "near_rows exact_best"), (2, "model", True, None)))
    ((_, none),) = legend(columns, board((1, "model", True, None)))

    assert raised.brief == (
        "Oddities found in the results; here near_rows: rows that are nearly another entrant's, as they "
        "are, moved or scaled; exact_best: values that are exactly the best possible, or errors of zero or less."
    )
    assert none.brief == "Oddities found in the results."


def test_so_few_seeds_that_they_say_little_are_counted_in_the_sentence() -> None:
    """Whoever reads that the second is ruled out, in a feed or on a badge, reads from how few."""
    rows = ((1, "A", True, None), (2, "B", False, None))
    few = replace(board(*rows), meta={"level": 0.95, "few_units": "5 seeds"})

    assert with_statement(few).meta["statement"][-1] == (
        "The only other one, B, is ruled out as first, at 95 %, from 5 seeds alone."
    )


def test_who_has_no_rank_and_would_lead_whatever_is_missing_is_named() -> None:
    """Nine of ten results that no value in the gap takes from the first place: the leader leads the others alone."""
    columns = (*COLUMNS, Column("rank_if_worst", "Rank if worst"))
    rows = (
        (1, "B", True, None, None),
        (2, "C", True, None, None),
        (None, "A", None, None, 1),
        (None, "D", None, None, 2),
    )
    table = Table("leaderboard/small", "Small", columns, rows, (), {"level": 0.95})

    assert with_statement(table).meta["statement"][0::2] == [
        "B leads.",
        "A has no rank, and would lead whatever its missing results were.",
    ]


def test_a_board_names_its_flags_in_words_alone_where_it_shows_marks() -> None:
    """A row has a mark, whose words are those of the legend; the name is for whoever reads it in a cell."""
    named = tuple(Column(each.name, each.title, glossary="flags" if each.name == "flags" else None) for each in COLUMNS)
    view = TableView("small", "/small", replace(board((1, "copy", True, "exact_best")), columns=named))
    usual, every, chosen = (
        dict(TablePage(title="Small", view=view, asked=asked).legend)["Flags"].brief
        for asked in ([], [("detail", "1")], [("column", "flags")])
    )

    assert (
        usual
        == "Oddities found in the results; here values that are exactly the best possible, or errors of zero or less."
    )
    assert every == chosen == usual.replace("here ", "here exact_best: ")


def test_an_axis_needs_an_interval_to_draw() -> None:
    """On one task of a board of skill scores the baseline alone has an interval, from 0 to 0: its axis was empty."""
    named = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"))
    columns = (*named, Column("skill", "Skill", interval=("low", "high")), Column("low", "Low"), Column("high", "High"))
    rows: list[tuple[Cell, ...]] = [(1, "A", 0.5, None, None), (2, "Base", 0.0, 0.0, 0.0)]
    table = Table("leaderboard/small", "Small", columns, tuple(rows), (), {"rank_by": "skill"})

    assert BoardRows(table, rows).bar_title[0] == "Rank interval"
    assert BoardRows(table, rows).axis is None
    assert BoardRows(table, [(1, "A", 0.5, 0.4, 0.6), *rows[1:]]).axis is not None


def test_an_interval_without_width_is_not_read_out() -> None:
    """Every resample of five seeds that all fail is 0: "0.000 to 0.000" would be certain of the truth."""
    ends = (Column("low", "Low", detail=True), Column("high", "High", detail=True))
    columns = (Column("iqm", "IQM (compatible interval)", interval=("low", "high"), digits=3), *ends)
    rows: tuple[tuple[Cell, ...], ...] = ((0.0, 0.0, 0.0), (0.176, 0.072, 0.284))
    (shown,) = shown_columns(Table("leaderboard/b", "B", columns, rows), detail=False)

    assert [shown.interval_text(row) for row in rows] == [None, "0.072 to 0.284"]
