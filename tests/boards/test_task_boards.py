"""Borda points, mean over groups, mean win rate and mean rank, worked by hand on three tasks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.boards.standing import letters_table, score_column
from app.boards.statement import with_statement
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.scores import Coded, ScoreTable
from app.values.table import Column, Table

NAN = float("nan")
# On a the order is X, Y = Z; on b it is Z, X, and Y has nothing; on c it is Y, X, Z.
CELLS = {"X": (3.0, 2.0, 2.0), "Y": (1.0, NAN, 3.0), "Z": (1.0, 5.0, 1.0)}


def manifest(board: str, tasks: str = "[{id: a}, {id: b}, {id: c}]", direction: str = "maximize") -> Manifest:
    """Return a benchmark of one board."""
    return parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {{x: {{direction: {direction}}}}}
tasks: {tasks}
leaderboards: [{{name: board, metric: x, {board}, uncertainty: {{n_resamples: 200}}}}]
""".encode()
    )


def table(cells: dict[str, Sequence[float]], tasks: Sequence[str] = ("a", "b", "c")) -> ScoreTable:
    """Return a row for each cell that has a value."""
    rows = [(e, t, v) for e, values in enumerate(cells.values()) for t, v in enumerate(values) if not np.isnan(v)]
    entrant, task, value = (np.array(column) for column in zip(*rows, strict=True))
    return ScoreTable(
        entrant=Coded(tuple(cells), entrant),
        task=Coded(tuple(tasks), task),
        columns=("x",),
        values=value.reshape(-1, 1),
        leaked=np.zeros(len(rows), dtype=np.bool_),
        file=np.zeros(len(rows), dtype=np.int64),
        row=np.arange(len(rows)),
    )


def board(declared: Manifest, cells: dict[str, Sequence[float]]) -> Table:
    """Return the board of these cells."""
    return compute_board(declared, declared.leaderboards[0], table(cells)).leaderboard


def joined(first: ScoreTable, second: ScoreTable) -> ScoreTable:
    """Return the rows of both, which have the same words."""
    of_rows = ("values", "leaked", "file", "row")
    both = {name: np.concatenate([getattr(each, name) for each in (first, second)]) for name in of_rows}
    entrant, task = (
        Coded(getattr(first, name).words, np.concatenate([getattr(each, name).codes for each in (first, second)]))
        for name in ("entrant", "task")
    )
    return replace(first, entrant=entrant, task=task, **both)


def shown(result: Table, column: str) -> dict[str, tuple[Any, Any]]:
    """Return each entrant's rank and score, in the order of the board."""
    return {str(row["entrant"]): (row["rank"], row[column]) for row in result.records()}


def test_borda_points_are_those_whom_one_is_ranked_before() -> None:
    """Three entrants count on every task, the absent one too: X has 2 + 1 + 1, Z 0.5 + 2 + 0, Y 0.5 + 0 + 2."""
    actual = shown(board(manifest("method: borda"), CELLS), "borda_points")

    assert actual == {"X": (1, 4.0), "Y": (2, 2.5), "Z": (2, 2.5)}


def test_a_win_rate_is_the_share_of_the_complete_that_one_beats() -> None:
    """Y lacks a task: X and Z play alone, X wins a and c."""
    actual = shown(board(manifest("method: mean_win_rate"), CELLS), "win_rate")

    assert actual == {"X": (1, pytest.approx(2 / 3)), "Z": (2, pytest.approx(1 / 3)), "Y": (None, None)}


@pytest.mark.parametrize("names", ["X", "XY"])
def test_who_has_nobody_to_beat_is_first_without_a_win_rate(names: str) -> None:
    """A rate of 0 would say that it was beaten by everybody; Y, which lacks a task, is nobody to beat."""
    actual = shown(board(manifest("method: mean_win_rate"), {name: CELLS[name] for name in names}), "win_rate")

    assert actual == {name: (1 if name == "X" else None, None) for name in names}


def test_a_mean_rank_is_the_average_of_the_ranks_among_the_complete() -> None:
    """X is 1, 2, 1; Z is 2, 1, 2."""
    actual = shown(board(manifest("method: mean_rank"), CELLS), "mean_rank")

    assert actual == {"X": (1, pytest.approx(4 / 3)), "Z": (2, pytest.approx(5 / 3)), "Y": (None, None)}


def test_a_group_counts_once_however_many_tasks_it_has() -> None:
    """X has (2.5 + 2) / 2 and Z (3 + 1) / 2 where a and b are one group."""
    actual = shown(board(manifest("method: group_mean, groups: {one: [a, b], two: [c]}"), CELLS), "group_mean_x")

    assert actual == {"X": (1, 2.25), "Z": (2, 2.0), "Y": (None, None)}


def test_where_most_of_the_spread_is_of_a_group_of_one_task_nobody_is_told_apart() -> None:
    """What one task shows of chance is nothing; the compatible interval, within groups, is as its system has it."""
    actual = board(manifest("method: group_mean, groups: {one: [a, b], two: [c]}"), CELLS)
    flat = board(manifest("method: group_mean, groups: {one: [a], two: [c]}"), CELLS)

    said = (
        "Groups of one task alone: two. One task shows no spread, and most of the spread of the scores would be that "
        "of such groups: there are no calibrated intervals and no ranges of ranks."
    )
    assert said in actual.notes
    assert with_statement(actual).meta["statement"][-1] == (
        "No differences are tested: most of the spread of the scores would be that of groups of one task, which shows "
        "none."
    )
    assert {row["rank_low"] for table in (actual, flat) for row in table.records()} == {None}
    rows = [row for row in actual.records() if row["rank"] is not None]
    assert {row["group_mean_x_calibrated_how"] for row in rows} == {"groups_of_one_unit"}
    assert all(row["group_mean_x_lower"] is not None for row in rows)


@pytest.mark.parametrize("method", ["mean_win_rate", "mean_rank", "group_mean, groups: {all: [a, b, c]}"])
def test_nobody_is_ranked_where_nobody_is_complete(method: str) -> None:
    """The board shows who is there, and says why."""
    actual = board(manifest(f"method: {method}"), {"X": (1.0, NAN, NAN), "Y": (NAN, 1.0, NAN), "Z": (NAN, NAN, 1.0)})

    assert [row["rank"] for row in actual.records()] == [None, None, None]
    assert "Listed separately, without a rank, because they lack tasks: X, Y, Z." in actual.notes


def test_who_lacks_tasks_is_behind_the_best_of_those_with_more_on_borda() -> None:
    """Y would be first but for the task it lacks, on which it gets no points: X is before it, whatever a test says."""
    cells = {"X": (1.0, 1.0, 1.0), "Y": (9.0, NAN, 9.0), "Z": (0.0, 0.0, 0.0), "W": (0.0, 0.0, 0.0)}
    rows = {str(row["entrant"]): row for row in board(manifest("method: borda"), cells).records()}

    assert (rows["Y"]["rank"], rows["Y"]["rank_low"], rows["Y"]["may_be_first"]) == (2, 2, False)
    assert (rows["X"]["rank_low"], rows["X"]["may_be_first"]) == (1, True)


@pytest.mark.parametrize(
    ("board_text", "tasks", "message"),
    [
        ("method: borda", "{open: true}", "the method borda needs a list of tasks"),
        ("method: group_mean, groups: {one: [a, b], two: [b]}", "[{id: a}, {id: b}]", "b is in more than one group"),
        ("method: group_mean, groups: {one: [a], two: []}", "[{id: a}]", "two has no task"),
        ("method: group_mean, groups: {one: [z]}", "[{id: a}]", "z is not among the declared tasks"),
    ],
    ids=["open tasks", "twice", "empty", "unknown"],
)
def test_a_board_that_cannot_be_is_refused(board_text: str, tasks: str, message: str) -> None:
    """With open tasks one more row would leave everybody incomplete; a task weighs in one group."""
    with pytest.raises(ManifestRejected) as refused:
        manifest(board_text, tasks)

    assert message in str(refused.value.problems)


@pytest.mark.parametrize(
    ("method", "n_entrants", "more", "is_said"),
    [
        ("method: borda", 6, "", True),
        ("method: borda", 5, "", False),
        ("method: mean_rank", 7, "", True),
        ("method: mean_win_rate", 7, "", True),
        ("method: group_mean, groups: {g: [a, b, c]}", 7, "", False),
        ("method: group_mean, groups: {g: [a, b, c]}", 2, "min: 0, max: 1, ", True),
        ("method: group_mean, groups: {g: [a, b, c]}", 2, "min: 0, max: 1, family: same", False),
    ],
)
def test_what_few_tasks_may_hide_is_said_where_intervals_fail_by_it(
    method: str, n_entrants: int, more: str, is_said: bool
) -> None:
    """Of places among five opponents or more, and of means within a range; not where families give no interval."""
    tasks = "[{id: a}, {id: b}, {id: c}]"
    if "family" in more:
        tasks = "[{id: a, family: f}, {id: b, family: f}, {id: c, family: g}]"
    declared = manifest(method, tasks, f"maximize, {more.partition('family')[0]}".rstrip(", "))
    cells = {f"E{at}": (0.1 * at, 0.9 - 0.1 * at, 0.05 * at) for at in range(n_entrants)}
    notes = board(declared, cells).notes

    assert any("A rare failure may not be among so few tasks." in note for note in notes) is is_said
    assert any("one were the worst of a hundred" in note for note in notes) is (is_said and "group" not in method)


def test_who_was_filled_could_rank_as_if_its_gaps_were_the_best() -> None:
    """A is last with 0 on a, and would be first with 9."""
    tasks = "[{id: a}, {id: b}, {id: c}]\ngrid: {absent: worst}"
    declared = manifest("method: mean", tasks, "maximize, min: 0, max: 9")
    result = board(declared, {"A": (NAN, 1.0, 2.0), "B": (1.0, 2.0, 2.0), "C": (3.0, 2.0, 1.0)})

    (row,) = (row for row in result.records() if row["entrant"] == "A")
    assert (row["rank"], row["rank_if_worst"], row["rank_if_best"]) == (3, 3, 1)


@pytest.mark.parametrize("method", ["mean", "borda", "mean_rank", "mean_win_rate"])
def test_who_leaves_out_may_not_be_first_behind_who_delivered_more(method: str) -> None:
    """A single result and the worst for all others spread so far that no test tells whether it is behind."""
    tasks = "[" + ", ".join(f"{{id: {task}}}" for task in "abcdefghi") + "]\ngrid: {absent: worst}"
    declared = manifest(f"method: {method}", tasks, "maximize, min: 0, max: 9")
    cells: dict[str, Sequence[float]] = {"Full": [5, 4, 6, 5, 4, 6, 5, 4, 6], "More": [6, 5, 5, 6, 5, 5, 6, 5, 7],
                                         "Solo": [9.0] + [NAN] * 8}  # fmt: skip
    result = compute_board(declared, declared.leaderboards[0], table(cells, tuple("abcdefghi")))
    records = {str(row["entrant"]): row for row in result.leaderboard.records()}

    solo = records["Solo"]
    assert (solo["rank"], solo["may_be_first"], solo["first_p"]) == (3, False, None)
    assert solo["rank_low"] >= 2
    assert records["Full"]["may_be_first"] or records["More"]["may_be_first"]
    assert any("Excluded as first by the rule for gaps" in note for note in result.leaderboard.notes)
    assert result.pairwise is not None
    assert {row["decided_by"] for row in result.pairwise.records() if "Solo" in (row["entrant_a"], row["entrant_b"])}


@pytest.mark.parametrize("method", ["borda", "mean_rank", "mean_win_rate", "group_mean, groups: {g: [a, b], h: [c]}"])
def test_what_is_filled_is_not_called_a_result(method: str) -> None:
    """Not on the board, nor pair by pair; nor is a task that nobody ran one where everybody is the worst."""
    gaps = {"A": (NAN, 1.0, 2.0), "B": (1.0, NAN, 2.0), "C": (3.0, 2.0, 1.0)}
    tasks = "[{id: a}, {id: b}, {id: c}, {id: d}]\ngrid: {absent: worst}"
    declared = manifest(f"method: {method}", tasks, "maximize, min: 0, max: 9")
    tables = compute_board(declared, declared.leaderboards[0], table(gaps))
    assert tables.pairwise is not None

    filled = (
        "What is absent counts as the worst there is: A (2 of 3 included), B (2 of 3 included). Such an entrant may "
        "not be first if it is behind the best of those who have more results."
    )
    notes = ("3 entrants on 3 tasks; 1 has a result on every one.", filled)
    assert tables.leaderboard.notes[:2] == notes
    assert filled in tables.pairwise.notes
    assert ("Declared, and without a result of anybody on this board: d." in tables.leaderboard.notes) == (
        "groups" not in method
    )


@pytest.mark.parametrize("method", ["borda", "mean_rank", "mean_win_rate"])
@pytest.mark.parametrize("grid", ["", "\ngrid: {absent: worst}"])
def test_a_row_without_a_value_makes_no_task_of_the_board(method: str, grid: str) -> None:
    """Whoever sends it, all would tie there, and ties are no evidence that anybody is better elsewhere."""
    tasks = tuple("abcdefghi")
    declared = manifest(f"method: {method}", "[" + ", ".join(f"{{id: {task}}}" for task in tasks) + "]" + grid,
                        "maximize, min: 0, max: 9")  # fmt: skip
    sent = table({"X": [5.0] * 5, "Y": [4.0] * 5}, tasks)
    nulls = replace(table({"X": [0.0] * 9, "Y": [0.0] * 9}, tasks).take(np.arange(5, 9)), values=np.full((4, 1), NAN))
    boards = [compute_board(declared, declared.leaderboards[0], each) for each in (sent, joined(sent, nulls))]

    pairs = [None if board.pairwise is None else tuple(board.pairwise.rows) for board in boards]
    assert pairs[0] == pairs[1]
    assert (pairs[0] is None) is (not grid and method != "borda")


@pytest.mark.parametrize(
    ("n_tied", "n_won", "n_lost", "p"),
    [(4, 5, 0, 2 / 2**5), (10, 6, 0, 2 / 2**6), (0, 7, 1, 2 * 9 / 2**8), (0, 8, 0, 2 / 2**8), (20, 8, 0, 2 / 2**8)],
)
@pytest.mark.parametrize("others", [{}, {"Z": -5.0}])
def test_a_tie_has_no_sign_and_wins_are_counted(
    n_tied: int, n_won: int, n_lost: int, p: float, others: dict[str, float]
) -> None:
    """By Student's t four ties beside five wins make 0.0135 of 0.0625, and seven wins of eight are 0.0198.

    Also beside a third, who is last everywhere.
    """
    tasks = tuple(f"t{at:02d}" for at in range(n_tied + n_won + n_lost))
    declared = manifest("method: borda", "[" + ", ".join(f"{{id: {task}}}" for task in tasks) + "]")
    last = {name: [value] * len(tasks) for name, value in others.items()}
    cells = {"X": [1.0] * n_won + [-1.0] * n_lost + [0.0] * n_tied, "Y": [0.0] * len(tasks), **last}
    result = compute_board(declared, declared.leaderboards[0], table(cells, tasks))
    assert result.pairwise is not None

    found = next(row for row in result.pairwise.records() if (row["entrant_a"], row["entrant_b"]) == ("X", "Y"))
    assert found["p_value"] == pytest.approx(p)
    assert found["separable"] is (p < (0.008 if others else 0.025))


@pytest.mark.parametrize("others", [{}, {"Z": -5.0}])
def test_a_family_of_two_wins_no_more_than_one_sign(others: dict[str, float]) -> None:
    """Seven of eight families, of which the larger one is won: as tasks alone, chance in seven of a hundred cases."""
    tasks = tuple("abcdefghi")
    families = ", ".join(f"{{id: {task}, family: f{'a' if task == 'b' else task}}}" for task in tasks)
    declared = manifest("method: borda", f"[{families}]")
    cells = {"X": [1.0] * 8 + [-1.0], "Y": [0.0] * 9, **{name: [value] * 9 for name, value in others.items()}}
    result = compute_board(declared, declared.leaderboards[0], table(cells, tasks))
    assert result.pairwise is not None

    found = next(row for row in result.pairwise.records() if (row["entrant_a"], row["entrant_b"]) == ("X", "Y"))
    assert found["p_value"] == pytest.approx(2 * 9 / 2**8)
    assert (found["separable"], found["advantage_lower"]) == (False, None)
    assert any(note.startswith("A pair without an interval differs by the same") for note in result.pairwise.notes)


def test_that_no_results_would_do_is_not_said_where_others_would() -> None:
    """One order on each of eight tasks is more than chance for three entrants, however mixed it is on this board."""
    tasks = tuple("abcdefgh")
    declared = manifest("method: borda", "[" + ", ".join(f"{{id: {task}}}" for task in tasks) + "]")
    ordered: dict[str, Sequence[float]] = {"X": [2.0] * 8, "Y": [1.0] * 8, "Z": [0.0] * 8}
    mixed: dict[str, Sequence[float]] = {
        "X": (1, 1, 2, 2, 0, 0, 2, 2), "Y": (0, 0, 2, 1, 0, 2, 0, 1), "Z": (1, 1, 0, 0, 2, 2, 2, 1),
    }  # fmt: skip
    said = [
        with_statement(compute_board(declared, declared.leaderboards[0], table(cells, tasks)).leaderboard)
        for cells in (ordered, mixed)
    ]

    assert said[0].meta["statement"][-1] == "All others are ruled out as first, at 95 %."
    assert said[1].meta["statement"][-1] == "Nobody is shown to be worse than the first, at 95 %."


@pytest.mark.parametrize(
    "method", ["mean", "borda", "mean_rank", "mean_win_rate", "group_mean, groups: {g: [a, b, c]}"]
)
def test_over_snapshots_three_tasks_tell_nobody_apart(method: str) -> None:
    """However far: the board has ranks, and says nothing of what it would find."""
    cells = {f"E{at}": (100.0 * at, 101.0 * at, 99.0 * at) for at in range(3)}
    result = board(manifest(f"method: {method}, over_snapshots: true"), cells)

    assert [(row["rank"], row["rank_low"], row["rank_high"]) for row in result.records()] == [
        (1, 1, 3),
        (2, 1, 3),
        (3, 1, 3),
    ]
    assert "power" not in result.meta


@pytest.mark.parametrize(("method", "range_of"), [("method: borda", ""), ("method: mean", ", min: 0, max: 1")])
def test_what_few_tasks_may_hide_is_said_of_families_and_by_pairs_too(method: str, range_of: str) -> None:
    """Twenty tasks of ten families are ten, and who is told apart by pairs or letters rests on as few."""
    names = [f"t{at:02}" for at in range(20)]
    tasks = ", ".join(f"{{id: {name}, family: f{at // 2}}}" for at, name in enumerate(names))
    declared = manifest(method, f"[{tasks}]", f"maximize{range_of}")
    rng = np.random.default_rng(7)
    scores = table({f"E{at}": (0.1 * at + 0.2 * rng.random(20)).tolist() for at in range(7)}, names)
    found = compute_board(declared, declared.leaderboards[0], scores)
    assert found.pairwise is not None
    lettered = letters_table(found.leaderboard, found.pairwise)

    for notes in (found.leaderboard.notes, found.pairwise.notes, lettered.notes):
        (note,) = (note for note in notes if note.startswith("A rare failure may not be among so few tasks."))
        assert "an interval of 95 % from 10 tasks" in note


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_letters_name_the_level_of_the_intervals_beside_them(level: float) -> None:
    """It is the board's, which the legend of their page says of the line at a score."""
    declared = manifest("method: mean")
    own = declared.leaderboards[0].uncertainty.model_copy(update={"level": level})
    spec = declared.leaderboards[0].model_copy(update={"uncertainty": own})
    found = compute_board(
        declared, spec, table({name: [0.1 * at + k for k in range(3)] for at, name in enumerate("AB")})
    )

    assert letters_table(found.leaderboard, found.pairwise).meta["level"] == level


def lettered(pairs: dict[tuple[str, str], bool | None], names: Sequence[str], ranks: Sequence[int] = ()) -> Table:
    """Return the letters of entrants, of whom some pairs, in either order, are separable or not."""
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("s", "Score"))
    rows = tuple(
        (rank, name, float(-rank)) for rank, name in zip(ranks or range(1, len(names) + 1), names, strict=True)
    )
    of_two = tuple(Column(name, name) for name in ("entrant_a", "entrant_b", "separable", "decided_by", "verdict"))
    listed = tuple((*pair, known, None if known is not None else "rule for gaps", None)
                   for (a, b), known in pairs.items() for pair in ((a, b), (b, a)))  # fmt: skip
    board = Table("leaderboard/b", "B", columns, rows, (), {"rank_by": "s"})
    return letters_table(board, Table("pairwise/b", "B", of_two, listed))


@pytest.mark.parametrize(("n", "n_lettered"), [(52, 52), (53, 0)])
def test_letters_end_with_the_alphabet(n: int, n_lettered: int) -> None:
    """Where all are told apart each has one of its own: of more than 52 nobody has any."""
    names = [f"E{at:02}" for at in range(n)]
    table = lettered({(a, b): True for a in names for b in names if a < b}, names)

    assert sum(row["letters"] is not None for row in table.records()) == n_lettered
    assert ("Nobody has letters: there would be too many groups to read." in table.notes) is (n_lettered == 0)


@pytest.mark.parametrize("n", [60, 61])
def test_the_best_sixty_have_letters(n: int) -> None:
    """Whoever is behind them has a bar alone, which is said."""
    names = [f"E{at:02}" for at in range(n)]
    table = lettered({(a, b): False for a in names for b in names if a < b}, names)

    assert [row["letters"] for row in table.records()] == ["a"] * 60 + [None] * (n - 60)
    assert ("Only the best 60 have letters." in table.notes) is (n > 60)
    assert {(row["alike_low"], row["alike_high"], row["n_alike"]) for row in table.records()} == {(1, n, n - 1)}


def test_a_bar_is_of_those_who_were_compared_and_equals_are_in_the_order_of_their_names() -> None:
    """B and C have no pair: neither is alike to the other, nor told apart."""
    table = lettered({("A", "B"): False, ("A", "C"): False}, "ACB", (1, 2, 2))

    assert [(row["entrant"], row["alike_low"], row["alike_high"], row["n_alike"]) for row in table.records()] == [
        ("A", 1, 2, 2), ("B", 1, 2, 1), ("C", 1, 2, 1)
    ]  # fmt: skip


def test_the_score_of_a_board_that_names_none_is_its_first_number_with_an_interval() -> None:
    """Neither a count with one, nor a number without."""
    interval = ("low", "high")
    columns = (Column("n", "N", "integer", interval=interval), Column("bare", "Bare"),
               Column("s", "Score", interval=interval))  # fmt: skip
    found = score_column(Table("leaderboard/b", "B", columns, ()))

    assert found is not None
    assert found.name == "s"
    assert score_column(Table("leaderboard/b", "B", columns[:2], ())) is None


def test_letters_name_whom_they_leave_out() -> None:
    """Who has no rank is compared with nobody; of the ranked, those without a listed pair are not counted."""
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("s", "Score"))
    rows = ((1, "A", 4.0), (2, "B", 3.0), (3, "C", 2.0), (None, "Part", 9.0))
    pairs = (Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text"), Column("separable", "", "flag"))

    def notes(ranked: tuple[tuple[Any, ...], ...], names: str) -> list[str]:
        listed = tuple((a, b, True) for a in names for b in names if a != b)
        lettered = letters_table(
            Table("leaderboard/b", "B", columns, ranked, (), {"rank_by": "s"}), Table("pairwise/b", "B", pairs, listed)
        )
        return list(lettered.notes[2:])

    compared = "Only the best 2 of 3 are here: bars end with them, and who else is not counted."
    assert notes(rows[:3], "ABC") == []
    assert notes(rows, "ABC") == ["Compared with nobody, for want of a rank: Part."]
    assert notes(rows[:3], "AB") == [compared]
