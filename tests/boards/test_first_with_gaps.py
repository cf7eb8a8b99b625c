"""Who may be first although something of it is missing: who, with the worst in its own gaps, leads all with fewer."""

import numpy as np
import pytest

from app.boards.calibrated import DrawnSpread
from app.boards.example import benchmark
from app.boards.standing import BY_BOTH, BY_RULE, BoardStanding, Gaps, among_others, stand
from app.boards.statement import with_statement
from app.boards.task_values import side_by_side
from app.manifest.model import Leaderboard
from app.render.against import chances, find_pair, measured_by, verdict
from app.stats.arrays import FloatArray, InvalidArgument
from app.stats.rank_sets import put_behind
from app.values.table import Column, ColumnarRows, Table

NAN, NEVER = np.nan, -np.inf
NAMES = "ABCD"


def board(
    points: FloatArray,
    at_worst: list[float] | None,
    noise: float = 0.2,
    seed: int = 1,
    delivered: list[int] | None = None,
) -> BoardStanding:
    """Return the standing of points with replicates around them, some with another score at worst.

    Without saying what is `delivered`, everybody with a gap has one.
    """
    rng = np.random.default_rng(seed)
    spread = DrawnSpread.of_units(points + noise * rng.normal(size=(400, len(points))), 20)
    if at_worst is None:
        return stand(points, spread, 0.95)
    scores = np.array(at_worst)
    counts = np.where(np.isnan(scores), 10, 9) if delivered is None else np.array(delivered)
    return stand(points, spread, 0.95, gaps=Gaps(scores, counts))


def test_without_resamples_only_ranks_are_known() -> None:
    """There is no matrix, so nobody is said to be first."""
    actual = stand(np.array([0.9, 0.8]), None, 0.95, gaps=Gaps(np.array([0.1, NAN]), np.array([9, 10])))

    assert [(place.rank, place.may_be_first) for place, _ in actual.placed("AB")] == [(1, None), (2, None)]


@pytest.mark.parametrize("seed", range(40))
def test_the_matrix_stays_consistent(seed: int) -> None:
    """Decisions stay antisymmetric and transitive, somebody may be first, and every row follows from the matrix.

    Brute force: who has gaps is behind only if with the worst in them it is below the best of those who delivered more.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    points = np.round(rng.normal(size=n), 1)
    lacking = rng.random(n) < rng.choice([0.3, 1.0])
    at_worst = np.where(lacking, points - np.round(rng.exponential(size=n), 1), NAN)
    at_worst[lacking & (rng.random(n) < 0.2)] = NEVER
    delivered = np.where(lacking, rng.integers(5, 10, size=n), 10)
    noise = float(rng.choice([0.01, 0.1, 0.6]))
    standing = board(points, list(at_worst), noise, seed, delivered.tolist())
    plain = board(points, None, noise, seed)
    assert standing.sets is not None
    assert plain.sets is not None
    better, tested, scores = standing.sets.separated, plain.sets.separated, np.where(lacking, at_worst, points)
    behind = [
        any(delivered > delivered[at]) and scores[at] < points[delivered > delivered[at]].max() - 1e-9
        for at in range(n)
    ]
    places = [standing.place(at, "x") for at in range(n)]
    shown = better if standing.sets.tested is None else standing.sets.tested

    assert not (better & better.T).any()
    assert not (shown & ~(better & tested)).any()
    assert any(place.may_be_first for place in places)
    for at, place in enumerate(places):
        assert place.rank_low is not None
        assert place.rank_high is not None
        assert place.may_be_first == (not better[:, at].any())
        assert (place.rank_low, place.rank_high) == (1 + better[:, at].sum(), n - shown[at].sum())
        assert place.rank <= place.rank_high
        assert place.may_be_first == (place.rank_low == 1) == (place.first_p is not None and place.first_p > 0.05)
        assert behind[at] == (place.first_p is None)
        if behind[at]:
            assert (place.may_be_first, place.first_resamples_share) == (False, 0.0)
        else:
            assert not (better[:, at] & ~tested[:, at]).any()
            assert place.rank_low <= (plain.place(at, "x").rank_low or 0)
    contrasts = standing.contrasts(range(n))
    decided = np.array([[contrasts.verdict(a, b).by for b in range(n)] for a in range(n)])
    assert (shown == better & (decided != BY_RULE)).all()
    assert (((decided == BY_BOTH) == (shown | shown.T) & ~contrasts.tested) | ~(better | better.T)).all()
    assert not (contrasts.tested & better & ~tested).any()
    for above, below in np.argwhere(better):
        assert contrasts.verdict(above, below).word in ("better", None)
        assert better[above][better[below]].all()
    # What the rule decides changes no number of a pair.
    own = plain.contrasts(range(n))
    for name in ("differences", "margins", "p_values", "beats"):
        assert np.array_equal(getattr(contrasts, name), getattr(own, name), equal_nan=True)
    known = [place.first_resamples_share for place in places if place.first_resamples_share is not None]
    assert sum(known) == pytest.approx(1.0) or len(known) < n


def test_who_is_behind_somebody_behind_them_is_refused() -> None:
    """It would be followed for ever."""
    nothing = np.zeros((3, 3), dtype=np.bool_)

    with pytest.raises(InvalidArgument, match="leads in a circle"):
        put_behind(nothing, np.ones(3), np.array([1, 2, 0]))


def test_who_is_put_behind_is_better_only_than_whom_the_other_is_better() -> None:
    """A beat C by its score; B, now before A, is not sure to be before C, so neither is A."""
    tests = np.zeros((4, 4), dtype=np.bool_)
    tests[0, [1, 2, 3]], tests[1, 3] = True, True
    actual = put_behind(tests, np.ones(4), np.array([1, -1, -1, -1]))

    assert actual.separated[1].tolist() == [True, False, False, True]
    assert actual.separated[0].tolist() == [False, False, False, True]
    assert (actual.low.tolist(), actual.high.tolist()) == ([2, 1, 1, 3], [3, 3, 4, 4])


def pairs(standing: BoardStanding) -> Table:
    """Return a table of all pairs, as far as sentences need it."""
    columns = [Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text")]
    columns += [
        Column(
            "board_difference",
            "A minus B",
            direction="maximize",
            interval=("board_difference_lower", "board_difference_upper"),
        )
    ]
    columns += [
        Column(name, name)
        for name in ("board_difference_lower", "board_difference_upper", "p_a_beats_b", "p_value", "separable")
    ]
    columns += [Column("verdict", "A compared with B", "text"), Column("decided_by", "Decided by", "text")]
    cells = ColumnarRows(tuple(standing.contrasts(range(len(standing.points))).cells()))
    named = [(a, b) for a in NAMES[: len(standing.points)] for b in NAMES[: len(standing.points)]]
    rows = tuple((*pair, *row) for pair, row in zip(named, cells, strict=True))
    return Table(
        "pairwise/b",
        "B",
        tuple(columns),
        rows,
        (),
        {"score": "skill score", "level": 0.95, "contrast": "board_difference"},
    )


@pytest.mark.parametrize("at_worst", [0.6, NEVER])
@pytest.mark.parametrize("turn", [("A", "B"), ("B", "A")])
def test_a_pair_with_the_leader_says_why(at_worst: float, turn: tuple[str, str]) -> None:
    """B is before A, whose score is higher: the sentence follows the matrix, with the scores' difference."""
    table = pairs(board(np.array([0.9, 0.8, 0.2]), [at_worst, NAN, NAN]))
    pair = find_pair(table, *turn)

    said = verdict(pair, measured_by(table, benchmark(Leaderboard(name="b", method="mean"))))
    assert said.startswith(
        "B is before A on skill score by the rule for missing results alone. By the scores of the board, A’s skill "
        "score is higher than B’s by 0.100 (95 % interval of this pair alone: "
    )
    assert (pair.forth["separable"], pair.forth["decided_by"]) == (True, BY_RULE)
    assert chances(pair)[0].startswith("Asked alone, the two would not be told apart either (p = 0.7")
    words = {(row["entrant_a"], row["entrant_b"]): row["verdict"] for row in table.records()}
    assert (words["A", "B"], words["B", "A"]) == ("worse", "better")


def test_pairs_of_some_are_those_of_all() -> None:
    """Also where the leader is not among them."""
    standing = board(np.array([0.9, 0.8, 0.2]), [0.6, NAN, NAN])
    whole, some = standing.contrasts([0, 1, 2]), among_others(standing, [2, None, 0])

    assert some.differences[0, 2] == whole.differences[2, 0]
    assert standing.contrasts([1, 0]).differences[0, 1] == pytest.approx(-0.1)
    assert standing.contrasts([1, 0]).verdict(0, 1).word == "better"


def test_side_by_side_the_one_that_is_before_comes_first() -> None:
    """Whatever their ranks: A has the better score, and B is before it by the rule alone."""
    table = pairs(board(np.array([0.9, 0.8, 0.2]), [0.6, NAN, NAN]))
    told = side_by_side(Table("matrix/b", "B", (), ()), ["A", "B"], table).notes

    assert told == ("B is before A by the rule for missing results alone.",)


RULED = tuple(Column(name, name) for name in ("rank", "entrant", "may_be_first", "first_p", "rank_low", "rank_high"))


@pytest.mark.parametrize(
    ("high", "said"),
    [
        (1, "The only other one, B, is ruled out as first by the rule for missing results."),
        (2, "Nobody is shown to be worse than the first; 1 is ruled out by the rule for missing results."),
    ],
)
def test_nobody_is_shown_to_be_worse_only_where_no_test_says_so(high: int, said: str) -> None:
    """The rank interval of the first says how many a test shows to be worse."""
    rows = ((1, "A", True, 1.0, 1, high), (2, "B", False, None, 2, 2))

    assert with_statement(Table("leaderboard/b", "B", RULED, rows)).meta["statement"] == ["A leads.", said]


COLUMNS = tuple(Column(name, name) for name in ("rank", "entrant", "may_be_first", "covered", "rank_if_worst"))


def test_the_first_sentence_says_that_the_first_rank_has_gaps() -> None:
    """With how many, and where the worst would put it; then who may be first."""
    rows = ((1, "A", False, "99 of 100", 3), (2, "B", True, "100 of 100", None), (3, "C", True, "100 of 100", None))
    tied = ((1, "A", False, "99 of 100", 3), (1, "B", True, "100 of 100", None))

    gaps = (
        "First by the rule for missing results, but not if each of these were the worst possible: A (99 of 100 included"
    )
    uncounted = ((1, "A", False, None, 3), *rows[1:])
    said, tied_said, uncounted_said = (
        with_statement(Table("leaderboard/b", "B", COLUMNS, each)).meta["statement"] for each in (rows, tied, uncounted)
    )

    assert uncounted_said[0] == f"{gaps.removesuffix('99 of 100 included')}then rank 3)."
    assert [said[0], tied_said[0]] == [f"{gaps}, then rank 3)."] * 2
    assert [said[1:], tied_said[1:]] == [
        ["Two may be first: B, C.", "The remaining one, A, is ruled out as first."],
        ["B leads.", "The only other one, A, is ruled out as first."],
    ]
