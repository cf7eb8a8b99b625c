"""What holds on every board, whatever its method and direction: said once, over all of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.boards.registry import methods
from app.boards.tables import BoardTables
from app.stats.cluster import draw_clusters
from app.stats.curve_bands import map_resamples
from app.stats.pairs import compare
from app.stats.resample import Resamples
from app.values.table import Table
from tests.cases.boards import CASES, ENTRANTS, MIRRORED, OF_ROWS, Case, built, given


def _name(case: Case) -> str:
    return f"{case.name}-{case.direction}"


EVERY = pytest.mark.parametrize("case", CASES, ids=_name)


@pytest.mark.heavy
def test_every_method_has_a_case() -> None:
    """A method without one would be held to nothing that follows."""
    boards = [built(case).leaderboard for case in {case.name: case for case in CASES}.values()]

    assert {board.meta["method"] for board in boards} == set(methods())


Rows = dict[str, dict[str, Any]]


def by_entrant(tables: BoardTables) -> Rows:
    """Return the board's rows by entrant, in the board's order."""
    return {str(row["entrant"]): dict(row) for row in tables.leaderboard.records()}


def intervals(table: Table) -> list[tuple[str, str, str]]:
    """Return the columns that have an interval, each with those of its ends; ranks have one of their own."""
    names = {column.name for column in table.columns}
    declared = [(c.name, *c.interval) for c in table.columns if c.interval is not None and c.name != "rank"]
    return [each for each in declared if names.issuperset(each)]


def assert_alike(first: BoardTables, second: BoardTables) -> None:
    """Hold two boards to the same order, ranks and words, and to the same numbers up to rounding."""
    ours, theirs = by_entrant(first), by_entrant(second)
    assert list(ours) == list(theirs)
    for entrant, row in ours.items():
        other = theirs[entrant]
        numbers = [name for name, value in row.items() if isinstance(value, float)]
        assert {**row, **dict.fromkeys(numbers)} == {**other, **dict.fromkeys(numbers)}
        assert [row[name] for name in numbers] == pytest.approx([other[name] for name in numbers], rel=1e-12, abs=1e-12)


@EVERY
def test_the_better_entrant_ranks_higher(case: Case) -> None:
    """Best is first and Poor is last, and the two that overlap are between them."""
    rows = by_entrant(built(case))

    assert [rows[name]["rank"] for name in ("Best", "Poor")] == [1, 4]
    assert {rows[name]["rank"] for name in ("Near", "Fair")} <= {2, 3}


@EVERY
def test_no_two_columns_have_one_title(case: Case) -> None:
    """Whoever looks at all columns, or chooses some by their titles, could not tell them apart."""
    titles = [column.title for column in case.build(given()).leaderboard.columns]

    assert sorted(titles) == sorted(set(titles))


@EVERY
def test_a_board_names_the_column_that_ranks(case: Case) -> None:
    """Pages mark it, an entrant's page and a badge show it, and a perfect score is looked for in it."""
    board = built(case).leaderboard
    column = board.columns[board.index(str(board.meta["rank_by"]))]

    assert column.direction in ("minimize", "maximize")
    assert column.interval is not None


@EVERY
def test_scores_depend_on_opponents_where_the_method_says_so(case: Case) -> None:
    """The last entrant becomes the first: no other score moves, but where it is about who is compared."""
    better = given()
    better = replace(better, errors=np.where(np.arange(len(ENTRANTS))[:, None] == 0, 0.01, better.errors))
    boards = [case.build(each).leaderboard for each in (given(), better)]
    rank_by = str(boards[0].meta["rank_by"])
    before, after = ({str(row["entrant"]): row[rank_by] for row in board.records()} for board in boards)
    moved = {name for name in ENTRANTS[1:] if before[name] != pytest.approx(after[name])}

    is_of_opponents = methods()[str(boards[0].meta["method"])].spec.is_of_opponents
    assert bool(moved) is (is_of_opponents or rank_by == "win_rate")


@EVERY
def test_a_rank_lies_in_its_interval(case: Case) -> None:
    """Low ≤ rank ≤ high, with ranks that there are."""
    for row in by_entrant(built(case)).values():
        assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= len(ENTRANTS)


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in ("ndcg", "estimate-iqm")], ids=_name)
def test_who_is_far_ahead_or_behind_has_no_other_rank(case: Case) -> None:
    """Best has the first rank and Poor the last, and nothing else is possible; either of the two between may be it.

    Not so by NDCG, of which 24 groups are too few to tell Best from the two, nor by the interquartile mean of seeds.
    """
    rows = by_entrant(built(case))

    assert (rows["Best"]["rank_low"], rows["Best"]["rank_high"]) == (1, 1)
    assert (rows["Poor"]["rank_low"], rows["Poor"]["rank_high"]) == (4, 4)
    assert 2 <= rows["Near"]["rank_low"] <= rows["Near"]["rank_high"] <= 3


@EVERY
def test_chances_of_being_best_sum_to_one(case: Case) -> None:
    """None is below zero, and nearly all of it is Best's."""
    chances = {name: row["first_resamples_share"] for name, row in by_entrant(built(case)).items()}

    assert sum(chances.values()) == pytest.approx(1.0)
    assert min(chances.values()) >= 0.0
    assert chances["Best"] > 0.99


@pytest.mark.parametrize("case", OF_ROWS, ids=lambda case: f"{case.name}-{case.direction}")
def test_equals_share_the_first_place(case: Case) -> None:
    """Four times the same errors: one rank for all, and the chances still sum to one."""
    errors = np.tile(given().errors[2], (len(ENTRANTS), 1))
    rows = by_entrant(case.build(given(errors=errors)))

    assert [row["rank"] for row in rows.values()] == [1, 1, 1, 1]
    assert sum(row["first_resamples_share"] for row in rows.values()) == pytest.approx(1.0)


@EVERY
def test_intervals_hold_their_points(case: Case) -> None:
    """Every column with an interval: low ≤ point ≤ high, and some width where entrants differ."""
    tables = built(case)
    declared = intervals(tables.leaderboard)
    assert declared
    for row in by_entrant(tables).values():
        for point, low, high in declared:
            assert row[low] <= row[point] <= row[high]


@pytest.mark.heavy
@EVERY
def test_pairs_are_mirror_images(case: Case) -> None:
    """P(A beats B) and P(B beats A) sum to one, and the better one of the board is ahead in its pairs."""
    pairwise = built(case).pairwise
    assert pairwise is not None
    chances = {(row["entrant_a"], row["entrant_b"]): row["p_a_beats_b"] for row in pairwise.records()}

    for a, b in ((a, b) for a, b in chances if a != b):
        assert chances[a, b] + chances[b, a] == pytest.approx(1.0)
    assert all(chances["Best", other] > 0.99 for other in ("Near", "Fair", "Poor"))


@EVERY
def test_the_order_of_entrants_changes_nothing(case: Case) -> None:
    """Whoever comes first in the evidence."""
    assert_alike(case.build(given(entrant_order=(2, 0, 3, 1))), built(case))


@EVERY
def test_the_order_of_rows_changes_nothing(case: Case) -> None:
    """Rows shuffled over all entrants."""
    assert_alike(case.build(given(row_seed=4)), built(case))


@pytest.mark.heavy
@pytest.mark.unmutated
@EVERY
def test_the_batch_changes_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resamples drawn a few at a time, by as many cells as a test can bear."""
    whole = case.build(given())
    for of, name in ((Resamples.__init__, "batch_cells"), (draw_clusters, "batch_cells"),
                     (map_resamples, "batch_cells"), (compare, "block_cells")):  # fmt: skip
        monkeypatch.setitem(of.__kwdefaults__, name, 1000)

    assert_alike(case.build(given()), whole)


@pytest.mark.parametrize("name", MIRRORED)
def test_negating_a_metric_mirrors_the_board(name: str) -> None:
    """Minus the errors, larger being better: the same ranks, chances and rank intervals; points change their sign."""
    smaller, larger = (by_entrant(MIRRORED[name][way](given())) for way in ("minimize", "maximize"))

    assert list(smaller) == list(larger)
    for entrant, row in smaller.items():
        for column in ("rank", "rank_low", "rank_high", "first_resamples_share"):
            assert row[column] == pytest.approx(larger[entrant][column])


@pytest.mark.parametrize(("name", "stem"), [("mean", "mean_x"), ("estimate-iqm", "x"), ("estimate-mean", "x")])
def test_negating_a_metric_turns_its_interval(name: str, stem: str) -> None:
    """The low end of the one is minus the high end of the other."""
    smaller, larger = (by_entrant(MIRRORED[name][way](given())) for way in ("minimize", "maximize"))
    for entrant, row in smaller.items():
        turned = [larger[entrant][f"{stem}{end}"] for end in ("", "_upper", "_lower")]

        assert [row[f"{stem}{end}"] for end in ("", "_lower", "_upper")] == pytest.approx([-end for end in turned])


@pytest.mark.parametrize("rank_by", ["skill-score", "win-rate"])
def test_the_reciprocal_of_errors_turns_the_ranking(rank_by: str) -> None:
    """Ratios have no negative: one over each error makes the last the first, with the ends of its ranks."""
    case = next(case for case in CASES if case.name == rank_by)
    straight, turned = by_entrant(built(case)), by_entrant(case.build(given(errors=1.0 / given().errors)))
    for entrant, row in straight.items():
        ends = [turned[entrant][column] for column in ("rank", "rank_high", "rank_low")]

        assert [row[column] for column in ("rank", "rank_low", "rank_high")] == [5 - end for end in ends]
