"""Boards about who is compared: a pool that nobody can join, and neighbours whom one owner's entrants keep in order."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.boards.example import benchmark, rows
from app.boards.methods.borda import Borda
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.mean_win_rate import MeanWinRate
from app.boards.opponents import moved_by_owners, wins_by_owner
from app.boards.provenance import Provenance, with_owners, with_provenance
from app.boards.registry import compute_board
from app.boards.task_points import OpponentsBoard
from app.errors import BoardUnavailable
from app.manifest.model import Explored, Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import WILSON
from app.stats.pairs import borda_points
from app.values.table import Table

METHODS = (Borda, MeanRank, MeanWinRate)
RIVALS = {"u1": [0.1, 0.5, 0.2], "u2": [0.2, 0.1, 0.5], "mine": [0.4, 0.4, 0.1], "u3": [0.5, 0.3, 0.4]}
DECOYS = {f"decoy {at}": [0.01, 0.45, 0.15 + at / 100] for at in range(6)}
"""Errors of decoys: each is better than the leader where `mine` is, and nowhere else behind it."""


def board(method: type[OpponentsBoard], **declared: object) -> OpponentsBoard:
    """Return a board of a method."""
    name = {Borda: "borda", MeanRank: "mean_rank", MeanWinRate: "mean_win_rate"}[method]
    return method(name="main", method=name, metric="error", **declared)


def computed(spec: OpponentsBoard, values: dict[str, list[float]], manifest: Manifest | None = None) -> Table:
    """Return the leaderboard of some errors on three tasks."""
    return compute_board(manifest or benchmark(spec), spec, rows(values)).leaderboard


def scores(table: Table) -> dict[str, object]:
    """Return the score that ranks, by entrant."""
    return {str(row["entrant"]): row[str(table.meta["rank_by"])] for row in table.records()}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_neighbours_are_named_as_a_board_without_the_owner_would_rank_them(seed: int) -> None:
    """Of random boards of few values, with ties and gaps, where one owner has several: by points computed anew."""
    rng = np.random.default_rng(seed)
    better = rng.integers(0, 4, size=(4, 9)).astype(np.float64)
    better[rng.random(better.shape) < 0.1] = np.nan
    owners = [f"{at}" for at in rng.integers(0, 4, size=9)]
    totals = borda_points(better).sum(axis=0)
    order = np.argsort(-totals, kind="stable")
    all_owners, wins = wins_by_owner(better, order, owners)
    names = [str(at) for at in order]
    moved = {
        (one["above"], one["below"]): one
        for one in moved_by_owners(names, wins, [owners[at] for at in order], all_owners)
    }

    for a, b in pairwise(order.tolist()):
        turned = {}
        for owner in sorted(set(owners) - {owners[a], owners[b]}):
            kept = [at for at in range(9) if owners[at] != owner]
            points = dict(zip(kept, borda_points(better[:, kept]).sum(axis=0).tolist(), strict=True))
            if totals[a] > totals[b] and points[a] <= points[b]:
                turned[owner] = points[a] - points[b]
        found = moved.get((str(a), str(b)))
        assert (found is None) == (not turned)
        if found is not None:
            assert turned[found["owner"]] == min(turned.values())


@pytest.mark.parametrize("method", METHODS)
def test_who_joins_changes_no_score_where_opponents_are_named(method: type[OpponentsBoard]) -> None:
    """However many decoys there are; without names they move the scores of all."""
    pool = board(method, opponents=["u1", "u2", "u3"])
    before, after = (scores(computed(pool, values)) for values in (RIVALS, {**RIVALS, **DECOYS}))
    free = [scores(computed(board(method), values)) for values in (RIVALS, {**RIVALS, **DECOYS})]

    assert before == {name: after[name] for name in RIVALS}
    assert free[0] != {name: free[1][name] for name in RIVALS}


@pytest.mark.parametrize("method", METHODS)
def test_named_opponents_are_everybody_where_all_are_named(method: type[OpponentsBoard]) -> None:
    """Shares, and so the order, are those of the method; a Borda count is of one more, since nobody beats itself.

    Either has a range with two ends.
    """
    everybody = computed(board(method, opponents=list(RIVALS)), RIVALS)
    free = computed(board(method), RIVALS)
    how = f"{free.meta['rank_by']}_calibrated_how"
    factor = 4.0 / 3.0 if method is Borda else 1.0

    assert [(row["entrant"], row[how]) for row in everybody.records()] == [
        (row["entrant"], WILSON) for row in free.records()
    ]
    if method is not MeanRank:
        assert scores(everybody) == pytest.approx({name: factor * float(str(x)) for name, x in scores(free).items()})


def test_a_reader_who_names_others_sees_their_scores_against_the_same_opponents() -> None:
    """The opponents are not on the board then; too few of them, and there is none."""
    spec = board(MeanWinRate, opponents=["u1", "u2"])
    whole = scores(computed(spec, RIVALS))
    chosen = spec.as_chosen(None, Explored({}, beside=("u1", "u2")))
    few = board(MeanWinRate, opponents=["u1", "nobody"])

    assert scores(computed(chosen, RIVALS)) == {name: whole[name] for name in ("mine", "u3")}
    with pytest.raises(BoardUnavailable, match="nobody"):
        computed(few, RIVALS)
    with pytest.raises(ValueError, match="named twice"):
        board(Borda, opponents=["u1", "u1"])


@pytest.mark.parametrize("method", METHODS)
def test_the_note_names_the_owner_whose_entrants_decide_and_nobody_else(method: type[OpponentsBoard]) -> None:
    """Six decoys of one owner put `mine` first; the loader of most others is not blamed."""
    owners = dict.fromkeys(RIVALS, "1") | {"mine": "2"} | dict.fromkeys(DECOYS, "3")
    spec = board(method)
    manifest = benchmark(spec)
    manifest = manifest.with_grid_facts(replace(manifest.asked.facts, owners=owners))
    table = computed(spec, {**RIVALS, **DECOYS}, manifest)
    known = {name: Provenance(1, None, int(owner), 0, 1, 1) for name, owner in owners.items()}
    shown = with_owners(with_provenance(table, known), {1: "loader", 2: "me", 3: "eve"})
    (note,) = [note for note in shown.notes if "only with" in note or "hangs on" in note]

    assert "eve" in note
    assert "loader" not in note
    assert {one["owner"] for one in shown.meta["without_owner"]} == {"eve"}


def test_of_one_owner_each_nobody_is_named_where_nobody_moves_anybody() -> None:
    """Order is the same without any one of them."""
    values: dict[str, FloatArray | list[float]] = {"a": [0.1] * 3, "b": [0.2] * 3, "c": [0.3] * 3, "d": [0.4] * 3}
    spec = board(Borda)
    manifest = benchmark(spec)
    facts = replace(manifest.asked.facts, owners={name: str(at) for at, name in enumerate(values)})

    assert computed(spec, values, manifest.with_grid_facts(facts)).meta["without_owner"] == []  # type: ignore[arg-type]


@pytest.mark.parametrize("decoys", [{}, {"decoy": [np.nan, np.nan, 0.1]}])
def test_a_task_that_only_a_decoy_has_is_asked_of_opponents_with_and_without_it(decoys: dict[str, list[float]]) -> None:
    """One row of anybody's may not take away a board that was there before it."""
    spec = board(MeanWinRate, opponents=["u1", "u2"])
    with pytest.raises(BoardUnavailable, match="0 have every task yet"):
        computed(spec, {**{name: own[:2] for name, own in RIVALS.items()}, **decoys})
