"""What a board says of where its rows come from: perfect scores, and the entrants of one owner among the opponents."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.provenance import Provenance, with_owners, with_provenance
from app.stats.pairs import win_shares
from app.values.table import Cell, Column, Table

NAMES = ("A", "B", "C", "D", "E")


def board(method: str, rank_by: str, scores: tuple[Cell, ...]) -> Table:
    """Return a board of five entrants, of whom the last has no rank."""
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column(rank_by, "Score"))
    rows = tuple((at + 1 if at < 4 else None, name, scores[at]) for at, name in enumerate(NAMES))
    return Table("leaderboard/main", "Main", columns, rows, meta={"method": method, "rank_by": rank_by})


def known(owners: str = "aabbc") -> dict[str, Provenance]:
    """Return whom each entrant belongs to."""
    return {
        name: Provenance(1, 1, ord(owner), 1, owners.count(owner), 1) for name, owner in zip(NAMES, owners, strict=True)
    }


def test_a_perfect_score_is_flagged_on_the_row_of_who_is_ranked_by_it() -> None:
    """An area of exactly one under the curve, of whatever kind; who has no rank leads nobody astray."""
    created = with_provenance(board("estimate", "auc", (1.0, 0.99, 1.0, None, 1.0)), known(), {"auc": 1.0})

    assert [row[created.index("flags")] for row in created.rows] == ["exact_best", None, "exact_best", None, None]


def test_a_rank_that_is_owed_to_declared_leaks_is_flagged_on_its_row() -> None:
    """The method names them; the flags of their evidence stay beside it."""
    table = board("skill_score", "win_rate", (0.9, 0.8, 0.7, None, 0.1))
    of_each = known()
    of_each["C"] = replace(of_each["C"], flags=("near_rows",))
    created = with_provenance(replace(table, meta={**table.meta, "served_by_leaks": ["A", "C"]}), of_each)

    flags = [row[created.index("flags")] for row in created.rows]
    assert flags == ["leak_serves", None, "near_rows leak_serves", None, None]


@pytest.mark.parametrize(
    ("method", "column"),
    [("mean", "mean_accuracy"), ("group_mean", "group_mean_accuracy"), ("borda", "accuracy_points")],
)
def test_a_mean_over_tasks_is_perfect_where_every_task_is(method: str, column: str) -> None:
    """The best value of the metric is the best of its mean; of points made from it nothing is known."""
    table = board(method, column, (1.0, 0.99, 0.9, None, 1.0))
    created = with_provenance(replace(table, meta={**table.meta, "metric": "accuracy"}), known(), {"accuracy": 1.0})

    is_mean = column != "accuracy_points"
    assert created.rows[0][created.index("flags")] == ("exact_best" if is_mean else None)
    assert created.rows[1][created.index("flags")] is None


@pytest.mark.parametrize(("n_submissions", "is_told"), [(1, False), (5, True)])
def test_who_tried_under_names_that_are_gone_is_told(n_submissions: int, is_told: bool) -> None:
    """Five names of which one is left, each sent by itself: the best of five. One file of five is one try."""
    one = replace(board("mean", "score", (1.0,) * 5), rows=((1, "A", 1.0),))
    tried = with_provenance(one, {"A": Provenance(1, 1, 97, 0, 5, n_submissions)})
    notes = with_owners(tried, {97: "a"}).notes

    assert any(note.startswith("Read a row as the best of what its owner tried") for note in notes) is is_told


@pytest.mark.parametrize(("n_entrants", "others", "is_told"), [(5, "b", True), (4, "b", False), (5, "a", False)])
def test_the_best_of_many_names_of_one_owner_is_told_beside_others(n_entrants: int, others: str, is_told: bool) -> None:
    """One file of hundreds of models is one submission, and the luckiest of them leads a board of equals."""
    of_owner = {"a": Provenance(1, 1, 97, 0, n_entrants, 1), "b": Provenance(1, 1, 98, 1, 1, 1)}
    known = {name: of_owner[owner] for name, owner in zip(NAMES, f"aaaa{others}", strict=True)}
    notes = with_owners(with_provenance(board("mean", "score", (1.0,) * 5), known), {97: "ann", 98: "bob"}).notes
    expected = "Read a row as the best of what its owner tried here: ann: 0 registrations, 5 entrants, 1 submission."

    assert (expected in notes) is is_told


@pytest.mark.parametrize(
    ("owners", "is_tested", "n_told"),
    [("aaabb", True, 3), ("aabbb", True, 0), ("aaaab", True, 0), ("aaabb", False, 0), ("aaaaa", True, 0)],
)
def test_an_owner_of_many_who_are_tested_is_told(owners: str, is_tested: bool, n_told: int) -> None:
    """Three of the four with a rank; two of four are few, and a board of one owner is nobody else's."""
    table = board("mean", "score", (1.0,) * 5)
    low = tuple(1 if is_tested and at < 4 else None for at in range(5))
    table = replace(
        table,
        columns=(*table.columns, Column("rank_low", "Rank, low", "integer")),
        rows=tuple((*row, each) for row, each in zip(table.rows, low, strict=True)),
    )
    notes = with_provenance(table, known(owners)).notes

    expected = [f"{n_told} of the 4 entrants with a rank have the same owner."] if n_told else []
    assert [note.partition(" All pairs")[0] for note in notes if "same owner" in note] == expected


@pytest.mark.parametrize(
    ("n_own", "n_others", "n_unranked", "is_told"),
    [(3, 6, 0, True), (3, 7, 0, False), (3, 6, 3, True), (10, 10, 0, True)],
)
def test_a_third_of_those_with_a_rank_is_enough(n_own: int, n_others: int, n_unranked: int, is_told: bool) -> None:
    """Whoever has no rank is tested against nobody; an owner of many is told once."""
    ranked = [(f"e{at}", owner) for at, owner in enumerate([*[1] * n_own, *range(2, 2 + n_others)])]
    columns = tuple(Column(name, name) for name in ("rank", "entrant", "rank_low"))
    rows = tuple((at, name, 1) for at, (name, _) in enumerate(ranked, 1))
    rest = tuple((None, f"apart {at}", None) for at in range(n_unranked))
    of_each = {name: Provenance(1, 1, owner, 1, 1, 1) for name, owner in ranked}
    of_each |= {f"apart {at}": Provenance(1, 1, 1, 1, 1, 1) for at in range(n_unranked)}
    notes = with_provenance(Table("leaderboard/b", "B", columns, (*rows, *rest)), of_each).notes

    said = [note for note in notes if note.startswith(f"{n_own} of the {n_own + n_others} entrants with a rank have")]
    assert (len(said), len(notes)) == (is_told, is_told)


def test_neighbours_that_hang_on_one_owner_are_told_with_the_name_it_has_now() -> None:
    """What is stored has its number, also in meta, since a name can be erased."""
    moved = [{"above": "A", "below": "B", "owner": "99", "becomes": "tied"}]
    table = board("borda", "borda_points", (1.0,) * 5)
    stored = with_provenance(replace(table, meta={**table.meta, "without_owner": moved}), known())
    shown = with_owners(stored, {97: "ann", 98: "bob", 99: "eve"})

    assert shown.meta["without_owner"] == [{"above": "A", "below": "B", "owner": "eve", "becomes": "tied"}]
    assert shown.notes[-1] == (
        "A is above B only with eve's entrants on the board: without them, and with all others, the two would be equal."
    )


@pytest.mark.parametrize(("method", "n_notes"), [("borda", 1), ("mean", 0)])
def test_a_board_says_how_far_copies_under_other_tokens_can_move_the_others(method: str, n_notes: int) -> None:
    """Each has an owner of its own, so only their rows tell: one of the four that have a rank; who has none moves none.

    What was published before such notes were kept has the words that were added to it when it was read.
    """
    of_each, names = known("abcde"), {ord(owner): owner for owner in "abcde"}
    of_each |= {name: replace(of_each[name], flags=("near_rows", "equal_run")) for name in ("D", "E")}
    table = with_provenance(board(method, "score", (0.5,) * 5), of_each)
    before = replace(table, notes=(), meta={key: of for key, of in table.meta.items() if key != "n_compared"})
    expected = [
        (table, "1 of the 4 entrants that are compared repeats another one of them", "0.67"),
        (before, "2 of the 5 entrants have", "1.00"),
    ]

    for stored, of_whom, by_up_to in expected:
        said = [note for note in with_owners(stored, names).notes if "another one" in note]
        assert [(note.startswith(of_whom), by_up_to in note) for note in said] == [(True, True)] * n_notes


def test_clones_move_the_win_rates_of_two_others_by_no_more_than_the_note_says() -> None:
    """Twice their share of the opponents, whatever errors they send: tried with the worst of two hundred."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(200):
        honest, clones = rng.normal(size=(6, 5)), rng.choice([-9.0, 9.0, 0.0], size=(6, 1)) + np.zeros((6, 3))
        apart = [win_shares(errors).mean(axis=0)[:2] for errors in (honest, np.hstack([honest, clones]))]
        worst = max(worst, abs(float(np.diff(apart[1])[0] - np.diff(apart[0])[0])))

    assert 0.02 < worst <= 2 * 3 / 7


def test_a_few_owners_of_many_each_are_told_together() -> None:
    """Three tokens with ten each have less than a third each: together they cost as much as thirty of one."""
    owners = "a" * 10 + "b" * 10 + "c" * 10 + "dddeef"
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("score", "Score"),
               Column("rank_low", "Rank, low", "integer"))  # fmt: skip
    rows = tuple((1, f"E{at}", 1.0, 1) for at in range(len(owners)))
    table = Table("leaderboard/main", "Main", columns, rows, meta={"method": "borda", "rank_by": "score"})
    of_each = {f"E{at}": Provenance(1, 1, ord(owner), 1, 1, 1) for at, owner in enumerate(owners)}
    notes = with_provenance(table, of_each).notes

    (said,) = (note for note in notes if "All pairs are tested" in note)
    assert said.startswith("30 of the 36 entrants with a rank are of 3 owners with ten or more each.")
    assert "opponents in everybody's score" in said
