"""Who may be first although something of it is missing: whoever would lead with the worst value in each of its gaps."""

from typing import Any

import numpy as np
import pytest

from app.boards.example import benchmark
from app.boards.spread import Spread
from app.boards.standing import BoardStanding, among_others, stand
from app.manifest.leaderboard import Leaderboard
from app.render.against import find_pair, measured_by, verdict
from app.render.reading import leader_sentence
from app.stats.arrays import FloatArray
from app.stats.rank_sets import RankSets
from app.values.columnar import ColumnarRows
from app.values.table import Column, Table

NAN, NEVER = np.nan, -np.inf
NAMES = "ABCD"


def board(points: FloatArray, at_worst: list[float] | None, noise: float = 0.2, seed: int = 1) -> BoardStanding:
    """Return the standing of points with replicates around them, some with another score at worst."""
    rng = np.random.default_rng(seed)
    spread = Spread.of_units(points + noise * rng.normal(size=(400, len(points))), 20)
    return stand(points, spread, 0.95, at_worst=None if at_worst is None else np.array(at_worst))


def by_name(standing: BoardStanding) -> dict[str, Any]:
    """Return places by the names A, B, C, D."""
    return {place.entrant: place for place, _ in standing.placed(NAMES[: len(standing.points)])}


def test_the_first_rank_with_gaps_is_no_first_place() -> None:
    """A has the rank that the rule gives it; with the worst in its gaps B is before it, so A is second at best."""
    actual = board(np.array([0.9, 0.8, 0.2]), [0.7, NAN, NAN])
    places = by_name(actual)

    assert [places[name].rank for name in "ABC"] == [1, 2, 3]
    assert (places["A"].rank_low, places["A"].may_be_first, places["A"].p_best) == (2, False, 0.0)
    assert (places["B"].rank_low, places["B"].may_be_first) == (1, True)
    assert sum(place.p_best for place in places.values()) == pytest.approx(1.0)
    assert actual.sets is not None
    assert actual.sets.separated[1, 0]


def test_who_leads_with_the_worst_in_each_gap_is_first() -> None:
    """What A lacks can change nothing: it may be first as if it were complete."""
    plain, actual = (board(np.array([0.9, 0.3, 0.2]), worst) for worst in (None, [0.6, NAN, NAN]))

    assert by_name(actual) == by_name(plain)


def test_a_score_that_counts_gaps_as_worst_already_needs_no_less() -> None:
    """Borda: no points for what is missing. Behind the leader it may not be first, at its head it may."""
    places = by_name(board(np.array([0.9, 0.89, 0.2]), [0.9, 0.89, NAN]))

    assert [places[name].may_be_first for name in "AB"] == [True, False]
    assert places["B"].rank_low == 2


def test_a_tie_at_worst_keeps_both() -> None:
    """Behind the leader is who is below it."""
    places = by_name(board(np.array([0.9, 0.8]), [0.8, NAN]))

    assert [places[name].may_be_first for name in "AB"] == [True, True]


def test_without_a_worst_value_nobody_with_gaps_is_first() -> None:
    """However far ahead it is; where everybody is so, nobody is said to be first."""
    places = by_name(board(np.array([9.0, 0.8, 0.2]), [NEVER, NAN, NAN]))
    nobody = by_name(board(np.array([9.0, 0.8]), [NEVER, NEVER]))

    assert (places["A"].rank, places["A"].rank_low, places["A"].may_be_first) == (1, 2, False)
    assert places["B"].may_be_first
    assert {(place.may_be_first, place.rank_low, place.p_best) for place in nobody.values()} == {(None, None, None)}
    assert [nobody[name].rank for name in "AB"] == [1, 2]


def test_without_resamples_only_ranks_are_known() -> None:
    """There is no matrix, so nobody is said to be first."""
    actual = stand(np.array([0.9, 0.8]), None, 0.95, at_worst=np.array([0.1, NAN]))

    assert [(place.rank, place.may_be_first) for place, _ in actual.placed("AB")] == [(1, None), (2, None)]


@pytest.mark.parametrize("seed", range(60))
def test_the_matrix_stays_consistent(seed: int) -> None:
    """Decisions stay antisymmetric and transitive, the leader may be first, and no interval misses a rank but for gaps.

    Brute force: who has gaps may be first only if its score at worst is nowhere below another's.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    points = np.round(rng.normal(size=n), 1)
    lacking = rng.random(n) < rng.choice([0.3, 1.0])
    at_worst = np.where(lacking, points - np.round(rng.exponential(size=n), 1), NAN)
    at_worst[lacking & (rng.random(n) < 0.2)] = NEVER
    standing = board(points, list(at_worst), noise=float(rng.choice([0.01, 0.1, 0.6])), seed=seed)
    if standing.sets is None:
        assert (at_worst == NEVER).all()
        return
    better = standing.sets.separated
    assert not (better & better.T).any()
    scores = np.where(lacking, at_worst, points)

    for at in range(n):
        place = standing.place(at, "x")
        assert place.rank_low is not None
        assert place.rank_high is not None
        is_behind = bool(lacking[at] and scores[at] < scores.max() - 1e-9)
        assert place.may_be_first == (not better[:, at].any())
        assert not (is_behind and (place.may_be_first or place.rank_low < 2))
        assert place.rank_low <= place.rank_high
        assert place.rank_low <= (place.rank or 0) <= place.rank_high or (is_behind and place.rank_low == 2)
    assert any(standing.place(at, "x").may_be_first for at in range(n) if scores[at] >= scores.max() - 1e-9)
    for above, below in np.argwhere(better & (points[:, None] <= points[None, :])):
        assert better[above][better[below]].all()


def test_who_is_put_behind_is_better_only_than_whom_the_leader_is_better() -> None:
    """A beat C by its score; B, now before A, is not sure to be before C, so neither is A."""
    separated = np.zeros((4, 4), dtype=np.bool_)
    separated[0, [1, 2, 3]], separated[1, 3] = True, True
    actual = RankSets(np.array([1, 2, 2, 3]), np.array([1, 3, 4, 4]), separated).put_behind(
        1, np.array([True, False, False, False])
    )

    assert actual.separated[1].tolist() == [True, False, False, True]
    assert actual.separated[0].tolist() == [False, False, False, True]
    assert (actual.low.tolist(), actual.high.tolist()) == ([2, 2, 2, 3], [2, 3, 4, 4])


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


@pytest.mark.parametrize(
    ("at_worst", "sentence"),
    [
        (
            0.6,
            "B’s skill score is higher than A’s by 0.200 (with the worst value in each gap, so without an interval).",
        ),
        (NEVER, "A lacks results that may be as bad as one likes, so on skill score B is before it."),
    ],
)
@pytest.mark.parametrize("turn", [("A", "B"), ("B", "A")])
def test_a_pair_with_the_leader_says_why(at_worst: float, sentence: str, turn: tuple[str, str]) -> None:
    """The pair has no test: its difference is that with the worst in each gap, and the sentence follows the matrix."""
    table = pairs(board(np.array([0.9, 0.8, 0.2]), [at_worst, NAN, NAN]))
    pair = find_pair(table, *turn)

    assert verdict(pair, measured_by(table, benchmark(Leaderboard(name="b", method="mean")))) == sentence
    assert (pair.forth["p_value"], pair.forth["separable"]) == (None, True)
    assert find_pair(table, "A", "C").forth["p_value"] is not None


def test_pairs_of_some_are_those_of_all() -> None:
    """Also where the leader is not among them."""
    standing = board(np.array([0.9, 0.8, 0.2]), [0.6, NAN, NAN])
    whole, some = standing.contrasts([0, 1, 2]), among_others(standing, [2, None, 0])

    assert some.differences[0, 2] == whole.differences[2, 0]
    assert standing.contrasts([1, 0]).differences[0, 1] == pytest.approx(0.2)


COLUMNS = tuple(Column(name, name) for name in ("rank", "entrant", "may_be_first", "covered", "rank_if_worst"))


def test_the_first_sentence_says_that_the_first_rank_has_gaps() -> None:
    """With how many, and where the worst would put it; then who may be first."""
    rows = ((1, "A", False, "99 of 100", 3), (2, "B", True, "100 of 100", None), (3, "C", True, "100 of 100", None))
    tied = ((1, "A", False, "99 of 100", 3), (1, "B", True, "100 of 100", None))

    assert leader_sentence(Table("leaderboard/b", "B", COLUMNS, rows)) == (
        "Ranked first by the rule for what is missing, but not with the worst in each gap: A (99 of 100 included, then "
        "ranked 3). With all entrants tested simultaneously, these may be first: B, C."
    )
    assert leader_sentence(Table("leaderboard/b", "B", COLUMNS, tied)) == (
        "Ranked first by the rule for what is missing, but not with the worst in each gap: A (99 of 100 included, then "
        "ranked 3). First: B. With all entrants tested simultaneously, no other may be first."
    )
