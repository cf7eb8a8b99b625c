"""Contests of which a process knows most: to the last bit those of a process that knows nothing."""

import numpy as np
import pytest

from app.stats import rank_sets
from app.stats.arrays import FloatArray, IntArray
from app.stats.rank_sets import FEWEST, Contests, KnownContests, RankSets

N_RESAMPLES = 60


def entrants(n_entrants: int) -> FloatArray:
    """Return replicates of more and less alike entrants, [n_resamples, n_entrants]."""
    rng = np.random.default_rng(7)
    shared = 3.0 * rng.normal(size=(N_RESAMPLES, 1))
    return rng.normal(0.0, 0.6, n_entrants) + shared + 0.1 * rng.normal(size=(N_RESAMPLES, n_entrants))


def sets_and_spreads(replicates: FloatArray) -> tuple[RankSets, FloatArray]:
    """Return the sets and spreads of a board."""
    board = Contests(replicates.mean(axis=0), replicates, np.full(replicates.shape[1], 30.0))
    return rank_sets.rank_sets(board, 0.9), board.drawn


def same(one: tuple[RankSets, FloatArray], other: tuple[RankSets, FloatArray]) -> bool:
    """Say whether two boards came out the same, to the last bit."""
    parts = [(sets.low, sets.high, sets.separated, drawn) for sets, drawn in (one, other)]
    return all(a.tobytes() == b.tobytes() for a, b in zip(*parts, strict=True))


def histories() -> list[list[IntArray]]:
    """Return rosters one after the other: entrants come, go, come again and stand in another order."""
    rng, everyone = np.random.default_rng(3), np.arange(FEWEST + 20)
    grown = [np.sort(rng.permutation(everyone)[: FEWEST + n]) for n in (0, 15)]
    one_more = [
        everyone[:-4],
        everyone[:-3],
        everyone,
        np.delete(everyone, 5),
        everyone[::-1],
        rng.permutation(everyone),
    ]
    twins = [everyone, np.append(everyone, 3), everyone]
    return [grown, one_more, twins, [everyone[:FEWEST], everyone[: FEWEST - 1], everyone]]


@pytest.mark.heavy
def test_what_is_remembered_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over histories of entrants that come and go every board is that of a process that knows nothing."""
    replicates = entrants(FEWEST + 20)
    for history in histories():
        known, anew = KnownContests(), KnownContests(most_cells=0)
        for roster in history:
            boards = []
            for memory in (known, anew):
                monkeypatch.setattr(rank_sets, "KNOWN", memory)
                monkeypatch.setattr(rank_sets, "KNOWN", memory)
                boards.append(sets_and_spreads(replicates[:, roster]))
            assert same(*boards), roster


@pytest.mark.heavy
def test_an_entrant_that_almost_ties_is_looked_at_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that differs in the seventh digit comes and goes: what was found in single precision is not used."""
    replicates = entrants(FEWEST + 1)
    replicates[:, -1] = replicates[:, 0] + 1e-6 * replicates[:, 1]
    known, anew = KnownContests(), KnownContests(most_cells=0)
    for n_entrants in (FEWEST, FEWEST + 1, FEWEST):
        boards = []
        for memory in (known, anew):
            monkeypatch.setattr(rank_sets, "KNOWN", memory)
            monkeypatch.setattr(rank_sets, "KNOWN", memory)
            boards.append(sets_and_spreads(replicates[:, :n_entrants]))
        assert same(*boards)


def test_only_new_entrants_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a board with one entrant more only that one is new; of one that changed altogether all are."""
    replicates = entrants(FEWEST + 1)
    memory = KnownContests()
    monkeypatch.setattr(rank_sets, "KNOWN", memory)
    monkeypatch.setattr(rank_sets, "KNOWN", memory)
    sets_and_spreads(replicates[:, :-1])
    points, deviations = replicates.mean(axis=0), np.ascontiguousarray((replicates - replicates.mean(axis=0)).T)

    assert memory.recall(points, deviations).fresh.tolist() == [FEWEST]
    assert memory.recall(points + 1.0, deviations).fresh.tolist() == list(range(FEWEST + 1))


def test_the_oldest_boards_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many pairs are kept and no more: a board that changed takes the place of its last state."""
    memory = KnownContests(most_cells=2 * (FEWEST + 1) ** 2)
    monkeypatch.setattr(rank_sets, "KNOWN", memory)
    monkeypatch.setattr(rank_sets, "KNOWN", memory)
    boards = [entrants(FEWEST + 1) * factor for factor in (1.0, 2.0, 3.0)]
    for board in boards[:2]:
        sets_and_spreads(board[:, :-1])
        sets_and_spreads(board)
    known = [len(Contests(b.mean(axis=0), b, np.full(FEWEST + 1, 30.0)).recalled.known) for b in boards[:2]]
    sets_and_spreads(boards[2])

    assert known == [FEWEST + 1, FEWEST + 1]
    assert not len(Contests(boards[0].mean(axis=0), boards[0], np.full(FEWEST + 1, 30.0)).recalled.known)
