"""What a board is about whose grid is open: what half of the owners have and of the earlier ones, by definition."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.boards.coverage import Coverage, are_common, common_tasks, commonly_held
from app.boards.evidence import BoardEvidence, board_of
from app.boards.example import measured, rows
from app.boards.measured import Measurement
from app.boards.methods.estimate import measured_roster
from app.boards.registry import compute_board
from app.boards.standing import caveats_of, letters_table, separable_pairs
from app.boards.tables import ON_COMMON_CELLS
from app.errors import BoardUnavailable
from app.kinds.episodes.coverage import open_items
from app.kinds.parse import parse_manifest
from app.manifest.model import GridFacts
from app.render.table_page import board_chips
from app.values.scores import Coded
from tests.cases.admission import grid, table

OPEN = """
schema_version: 1
slug: open
title: Open
evidence: evaluation_summary
metrics: {error: {direction: minimize, min: 0, max: 1}}
tasks: {open: true}
leaderboards: [{name: main, method: mean, metric: error}]
"""

ARRIVALS = [0, 0, 1, 2, 3, 3]


def by_definition(counts: np.ndarray, owners: Sequence[int]) -> list[int]:
    """Return of each cell the largest number that at least half of the owners reach with one of their entrants, and at
    least half of the half of them who came first; where that is 0 everywhere, what it is of that half alone.
    """
    numbers = sorted(set(owners))
    while True:
        earlier = numbers[: max(1, len(numbers) // 2)]
        held = []
        for cell in counts.T.tolist():
            best = {number: max(n for n, own in zip(cell, owners, strict=True) if own == number) for number in numbers}
            enough = [
                n
                for n in [0, *best.values()]
                if all(2 * sum(best[each] >= n for each in who) >= len(who) for who in (numbers, earlier))
            ]
            held.append(max(enough))
        if any(held) or len(numbers) == 1:
            return held
        numbers = earlier


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_what_half_of_the_owners_have(seed: int) -> None:
    """Of six entrants of one to six owners in five cells, which few have."""
    random = np.random.default_rng(seed)
    counts, owners = random.integers(0, 4, size=(6, 5)) * random.integers(0, 2, size=(6, 5)), random.integers(0, 6, 6)

    assert commonly_held(counts, owners.tolist()).tolist() == by_definition(counts, owners.tolist())
    of_cells = by_definition((counts > 0).astype(int), owners.tolist())
    assert are_common(counts > 0, owners.tolist()).tolist() == [n > 0 for n in of_cells]


@pytest.mark.parametrize("order", list(itertools.permutations(range(6)))[::120])
def test_the_order_of_entrants_changes_nothing(order: tuple[int, ...]) -> None:
    """Nor which of an owner's entrants is named first."""
    counts = np.random.default_rng(3).integers(0, 4, size=(6, 5))
    arrivals = [ARRIVALS[at] for at in order]

    assert commonly_held(counts[list(order)], arrivals).tolist() == commonly_held(counts, ARRIVALS).tolist()


def test_where_nothing_is_held_by_half_what_the_earlier_have_counts() -> None:
    """Of three owners who have nothing in common the first says what is asked for."""
    assert commonly_held(np.diag([1, 2, 3]), [0, 1, 2]).tolist() == [1, 0, 0]
    assert commonly_held(np.diag([1, 2, 3]), [2, 1, 0]).tolist() == [0, 0, 3]


@pytest.mark.parametrize(("n_honest", "n_late"), [(1, 1), (1, 2), (2, 2), (2, 5), (3, 3), (3, 8)])
@pytest.mark.parametrize("leave_out", [False, True])
def test_late_tokens_do_not_make_tasks_of_their_own_count(n_honest: int, n_late: int, *, leave_out: bool) -> None:
    """Up to three for each who came before, whether they have the others' two tasks or leave them out."""
    has = np.ones((n_honest + n_late, 5), dtype=np.bool_)
    has[:n_honest, 2:] = False
    has[n_honest:, :2] = not leave_out

    assert are_common(has, range(len(has))).tolist() == [True, True, False, False, False]


def with_items(name: str, items: str, n: int = 20) -> Measurement:
    """Return an entrant that was measured on some items."""
    return replace(measured(name, 0.5), coverage=Coverage(n, n), held=(("t", "", n),), items=items)


@pytest.mark.parametrize(
    ("items", "arrivals", "behind"),
    [
        (("same", "same", "own"), (0, 1, 2), ("C",)),
        (("same", "same", ""), (0, 1, 2), ("C",)),
        (("same", "own", "own"), (0, 1, 1), ()),
        (("same", "same", "own", "own"), (0, 1, 2, 3), ()),
        (("one", "two", "three"), (0, 1, 2), ()),
        (("same", "own"), (0, 1), ()),
        (("own", "same", "same"), (0, 1, 2), ()),
    ],
)
def test_as_many_items_that_are_not_the_usual_ones_are_behind(
    items: Sequence[str], arrivals: Sequence[int], behind: tuple[str, ...]
) -> None:
    """Usual is what at least half of the owners have, two or more of them; of an even split nobody knows."""
    entrants = [with_items(name, own) for name, own in zip("ABCD", items, strict=False)]

    assert sum(measured_roster(entrants, arrivals).behind, ()) == behind


def test_items_are_compared_by_name_unless_seeds_name_them() -> None:
    """The same episodes have one digest, others another; initial states that follow the seed have none."""
    rows = grid(range(2))
    usual, own, of_seeds = (table([(*row[:4], name(row)) for row in rows]) for name in (
        lambda row: row[4], lambda row: f"easy {row[4]}", lambda row: f"{row[3]} {row[4]}"))  # fmt: skip

    assert open_items(usual, ["place"]) == open_items(table(grid((5,))), ["place"]) != ""
    assert open_items(usual, ["place"]) != open_items(own, ["place"])
    assert open_items(of_seeds, ["place"]) == ""


def test_nobody_is_said_to_be_first_where_tasks_are_open() -> None:
    """Not by its rank interval, nor by a sentence, nor by how often it stays first; pairs are compared all the same."""
    open_to_all = parse_manifest(OPEN.encode())
    errors = rows({name: [0.1 * at + 0.02 * task for task in range(12)] for at, name in enumerate("ABC")})
    errors = replace(errors, task=Coded(tuple(f"t{at:02}" for at in range(12)), errors.task.codes), item=None)
    found = board_of(BoardEvidence.of_rows(open_to_all, errors), open_to_all.leaderboards[0])
    board, pairs = found.leaderboard, found.pairwise
    unsaid = ("rank_low", "rank_high", "may_be_first", "first_p", "first_resamples_share", "group")

    assert [(row["entrant"], row["rank"], *(row[name] for name in unsaid)) for row in board.records()] == [
        (name, rank, *[None] * 6) for rank, name in enumerate("ABC", 1)
    ]
    assert board.meta["statement"][0] == "Provisional."
    assert not any("first in" in words for words, _ in board_chips("Error", board, ()))
    assert pairs is not None
    assert separable_pairs(pairs)["A", "C"]
    # Wherever these are read, they come with what they are worth.
    assert caveats_of(pairs)[0].startswith("Provisional: ")
    assert {ON_COMMON_CELLS} <= {*pairs.notes} & {*letters_table(board, pairs).notes}


def test_where_nobody_has_a_value_the_board_says_that_no_task_has_one() -> None:
    """Rows alone make no ranks; what is shown in the board's place is the reason."""
    open_to_all = parse_manifest(OPEN.encode())
    empty = rows({"A": [np.nan, np.nan], "B": [np.nan]})

    with pytest.raises(BoardUnavailable, match="No task has a result of every entrant") as refused:
        compute_board(open_to_all, open_to_all.leaderboards[0], empty)
    assert refused.value.reason == "no_common_task"


def test_what_is_said_of_tasks_of_an_owners_own_is_true_of_them() -> None:
    """Nothing is filled in, only who leads is compared on them, and those that look alike are counted among them."""
    open_to_all = parse_manifest(OPEN.encode()).with_grid_facts(GridFacts(arrivals={"A": 0, "B": 1, "C": 0}))
    both, own = [0.3 + 0.01 * at for at in range(6)], [0.2 + 0.01 * at for at in range(7)]
    errors = rows({"A": [*both, *[np.nan] * 7], "B": [*both[::-1], *[np.nan] * 7], "C": [*[np.nan] * 6, *own]})
    named = Coded(tuple(f"{name}_{at}" for at, name in enumerate("xxxxxxyyyyzzz")), errors.task.codes)
    errors = replace(errors, task=named).take(np.flatnonzero(~np.isnan(errors.values[:, 0])))
    board = compute_board(open_to_all, open_to_all.leaderboards[0], errors).leaderboard

    assert [(row["entrant"], row["rank"]) for row in board.records()] == [("C", 1), ("A", 2), ("B", 3)]
    assert "Those who lack the fewest results are compared on the 7 of 13 tasks that all of them have." in board.notes
    assert not any("counts as the worst" in note for note in board.notes)
    assert board.meta["dependence"]["n_alike"] == 7


def test_a_task_of_the_later_three_of_five_is_left_out_with_the_reason() -> None:
    """They are more than half of the submitters, but none who came first; a row without a value counts for none."""
    open_to_all, of_b = parse_manifest(OPEN.encode()), (None, None, 0.1, 0.1, 0.1)
    errors = rows({name: [0.2, 0.3 if late is None else late] for name, late in zip("ABCDE", of_b, strict=True)})
    values = errors.values.copy()
    values[np.isin(errors.entrant.codes, [0, 1]) & (errors.task.codes == 1)] = np.nan
    for scores in (errors.take(np.flatnonzero(~np.isnan(values[:, 0]))), replace(errors, values=values)):
        board = compute_board(open_to_all, open_to_all.leaderboards[0], scores).leaderboard
        left_out = [note for note in board.notes if note.startswith("Left out")]

        assert common_tasks(scores, "ABCDE", range(5)) == ["a"]
        assert left_out == [
            "Left out, because fewer than half of the submitters have them, or of those who came first: b."
        ]
