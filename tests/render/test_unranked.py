"""What a board's page shows first, and how it sets those apart who have no rank."""

from dataclasses import replace

from app.render.columns import MAX_ENTRANTS
from app.render.table_page import apart, tally
from app.values.table import Column, Table
from tests.cases.html_pages import in_one_line, page_of

BOARD = Table(
    "leaderboard/small",
    "Small",
    (
        Column("rank", "Rank", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("other", "Other", interval=("other_low", "other_high")),
        Column("other_low", "Other, low", detail=True),
        Column("other_high", "Other, high", detail=True),
        Column("skill", "Skill"),
        Column("group", "Group", "integer", detail=True),
        Column("covered", "Covered", "text"),
        Column("n_attempted", "Attempted", "integer", detail=True),
        Column("n_included", "Included", "integer", detail=True),
        Column("unranked_because", "No rank because", "text", optional=True),
    ),
    (
        (1, "Best", 0.5, 0.4, 0.6, 0.9, 1, "9 of 9", 9, 9, None),
        (2, "Next", 0.5, 0.4, 0.6, 0.5, 2, "9 of 9", 9, 9, None),
        (None, "Some", 0.5, 0.4, 0.6, 0.7, None, "7 of 9", 9, 7, "partial"),
    ),
    meta={"rank_by": "skill"},
)


def test_rows_without_a_rank_stand_under_a_heading_that_says_why() -> None:
    """A heading row stands between the ranked and the others, with the reason and how many there are."""
    page = page_of(BOARD)
    heading = page.index("Without a rank (partial): 1 entrant<")
    assert page.index(">Next") < heading < page.index(">Some")


def test_different_reasons_stand_at_their_rows() -> None:
    """Where the rows without a rank have different reasons, the heading names none of them."""
    other = (None, "Else", 0.5, 0.4, 0.6, 0.7, None, "9 of 9", 9, 9, "not asked")
    page = page_of(replace(BOARD, rows=(*BOARD.rows, other)))
    assert "Without a rank: 2 entrants" in page
    assert ">partial, 7 of 9<" in page
    assert ">not asked<" in page


def test_the_heading_counts_all_without_a_rank_where_a_page_has_a_part_of_them() -> None:
    """The rows of a page are some of a long table's: the number and the reason are of the whole, on each page."""
    more = [(None, f"E{at}", 0.5, 0.4, 0.6, 0.7, None, "7 of 9", 9, 7, "partial") for at in range(4)]
    long = replace(BOARD, rows=(*BOARD.rows, *more))
    mixed = replace(long, rows=(*long.rows[:-1], (*long.rows[-1][:-1], "not asked")))

    assert (first := apart(long, long.rows[:4])) is not None
    assert (first.start, first.words) == (2, "Without a rank (partial): 5 entrants")
    assert (apart(long, long.rows[4:]) or first).words == first.words
    assert (apart(mixed, mixed.rows[:4]) or first).words == "Without a rank: 5 entrants"


def test_no_heading_stands_in_the_middle_of_ranked_rows() -> None:
    """Sorted by something else, ranked rows follow one without a rank: a heading over it would cover them."""
    mixed = replace(BOARD, rows=BOARD.rows[::-1])
    assert apart(mixed, mixed.rows) is None


def test_who_lacks_something_has_it_beside_the_name() -> None:
    """On a phone the column of coverage is off the screen, so a partial entrant's name carries n of N."""
    page = in_one_line(page_of(BOARD))
    assert page.count('class="gap"') == 1
    assert '<small class="gap">7 of 9</small>' in page


def test_of_more_pairs_than_anybody_reads_the_square_of_the_first_is_shown() -> None:
    """The page of a board with many entrants shows their square, says of how many it is, and lists no pair."""
    names = [f"E{number:02d}" for number in range(50)]
    columns = (
        Column("entrant_a", "A", "text"),
        Column("entrant_b", "B", "text"),
        Column("win_rate", "Win rate of A"),
    )
    rows = tuple((a, b, 0.6 if a < b else 0.4) for a in names for b in names if a != b)
    page = page_of(Table("pairwise/small", "Pairs", columns, rows))
    assert "The first 40 of 50" in page
    assert page.count('<th scope="row">') == MAX_ENTRANTS


def test_the_totals_name_of_what_may_go_wrong_only_what_did() -> None:
    """A zero is told where it is news, of what is absent, and not of every other trouble that did not happen."""
    counts = ("n_attempted", "n_included", "n_absent", "n_failed", "n_leaked")
    columns = tuple(Column(name, name, "integer") for name in counts)
    reported = tally(Table("small", "Small", columns, ((9, 9, 0, 0, 2),)))
    assert [(count.text, count.word) for count in reported] == [
        ("9", "attempted"),
        ("9", "included"),
        ("0", "absent"),
        ("2", "leaked"),
    ]
