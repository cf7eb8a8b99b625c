"""Who is counted against on a board whose scores depend on who is compared: a fixed pool that the manifest names, or
everybody; and then whether one owner's entrants decide the order of two others.

With several tokens one can send entrants that are better than a rival only where one's own is. A pool of a steward's
choice ends that. Without one, every two neighbours are compared once more without any one owner's entrants, from sums
that are kept for each owner.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from app.errors import BoardUnavailable, Unavailable
from app.names import count, first_few, in_words, names_in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray

MOST_ROWS = 200
"""Of a larger board the best-ranked alone are compared without an owner's entrants, as they are pair by pair."""
MOST_NAMED = 5
WITHOUT_OWNER = "without_owner"
"""The key of a board's meta that names neighbours whom one owner's entrants keep in their order."""


def pool_of(named: Sequence[str], entrants: Sequence[str], complete: BoolArray) -> IntArray:
    """Return the positions of the named opponents that have every task, `complete` [n_entrants] saying who has.

    Raises BoardUnavailable for fewer than two of them.
    Source: none; it selects.

    >>> pool_of(["A", "B", "C"], ["B", "A", "X"], np.array([True, True, True])).tolist()
    [0, 1]
    """
    found = np.flatnonzero(np.isin(entrants, list(named)) & complete)
    if len(found) < 2:
        have = "has" if len(found) == 1 else "have"
        reason = f"Of the opponents {names_in_words(named)} {len(found):,} {have} every task yet."
        raise BoardUnavailable(Unavailable.INCOMPLETE, f"{reason} Scores are counted against at least two.")
    return found


def pool_note(named: Sequence[str], entrants: Sequence[str], pool: IntArray) -> str:
    """Say who is counted against, and which of the named are not here; `pool` [n_pool] are positions.

    Source: none; it words.

    >>> pool_note(["A", "B", "C"], ["A", "B"], np.array([0, 1]))[-66:]
    'alone), whoever else is on the board; not here with every task: C.'
    """
    here = {entrants[at] for at in pool.tolist()}
    absent = [name for name in named if name not in here]
    named_here = f"{count(len(here), 'opponent')} that the benchmark names (these against the others of them alone)"
    text = f"Counted against {named_here}, whoever else is on the board"
    return f"{text}; not here with every task: {names_in_words(absent)}." if absent else f"{text}."


def shares_against(own: FloatArray, pool: FloatArray, is_member: BoolArray) -> FloatArray:
    """Return the share of opponents beaten on each task, ties counting half, [n_tasks, n_own]; 0 without a result, NaN.

    `own` [n_tasks, n_own] and `pool` [n_tasks, n_pool] are larger-is-better; `is_member` [n_own] marks who is in the
    pool, and is no opponent of its own: so whoever joins the board changes nobody's share.
    Source: `app.stats.pairs.win_shares`, where everybody is the pool.

    >>> shares_against(np.array([[2.0, 3.0]]), np.array([[1.0, 2.0, 2.0]]), np.array([True, False])).tolist()
    [[0.75, 1.0]]
    """
    beaten = np.empty(own.shape)
    for task, opponents in enumerate(np.sort(np.where(np.isnan(pool), -np.inf, pool), axis=1)):
        sides = (np.searchsorted(opponents, own[task], side) for side in ("left", "right"))
        beaten[task] = 0.5 * sum(sides)
    shares: FloatArray = (beaten - 0.5 * is_member) / (pool.shape[1] - is_member)
    return np.where(np.isnan(own), 0.0, shares)


def wins_by_owner(better: FloatArray, rows: IntArray, owners: Sequence[Hashable]) -> tuple[list[Hashable], FloatArray]:
    """Return the owners, and how often each of `rows` beats entrants of each, ties counting half, [n_rows, n_owners].

    `better` is [n_tasks, n_entrants], larger being better; without a result, NaN, one beats nobody and everybody with
    one beats it. A row does not beat itself.
    Source: the wins of `app.stats.pairs.borda_points`, added up by owner.

    >>> wins_by_owner(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 2.0]]), np.array([0, 1]), ["a", "b", "b"])
    (['a', 'b'], array([[0. , 2. ],
           [1. , 1.5]]))
    """
    names = list(dict.fromkeys(owners))
    place = {owner: at for at, owner in enumerate(names)}
    of_each = np.array([place[owner] for owner in owners])
    halves = np.zeros((len(rows), better.shape[1]), dtype=np.int64)
    for results in np.where(np.isnan(better), -np.inf, better):
        own = results[rows][:, None]
        halves += np.where(np.isneginf(own), 0, (own > results).astype(np.int64) + (own >= results))
    halves[np.arange(len(rows)), rows] = 0
    wins = np.zeros((len(rows), len(names)))
    np.add.at(wins.T, of_each, 0.5 * halves.T)
    return names, wins


def moved_by_owners(names: Sequence[str], wins: FloatArray, owners: Sequence[Hashable], all_owners: Sequence[Hashable],
                    ) -> list[dict[str, Any]]:  # fmt: skip
    """Return each two neighbours, best first, who change their order, or tie, without one other owner's entrants.

    `names` and `owners` are those of the rows of `wins` [n_rows, n_owners], in the order of their ranks; `all_owners`
    are its columns. Of several such owners it is the one without whom the pair is turned round farthest. Nobody is left
    out whose owner is not known, a tuple.
    Source: leave one out; Arrow 1951 for why opponents matter.

    >>> moved_by_owners(["A", "B"], np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]), ["a", "b"], ["a", "b", "c"])
    [{'above': 'A', 'below': 'B', 'owner': 'c', 'becomes': 'turned'}]
    """
    is_known = np.array([isinstance(owner, str) for owner in all_owners], dtype=np.bool_)
    totals, found = wins.sum(axis=1), []
    for at in range(len(names) - 1):
        gap = totals[at] - totals[at + 1]
        without = gap - (wins[at] - wins[at + 1])
        is_other = is_known & np.array([owner not in (owners[at], owners[at + 1]) for owner in all_owners])
        least = int(np.where(is_other, without, np.inf).argmin())
        if gap > 0.0 and is_other.any() and without[least] <= 0.0:
            turned = "tied" if without[least] == 0.0 else "turned"
            found.append(
                {"above": names[at], "below": names[at + 1], "owner": str(all_owners[least]), "becomes": turned}
            )
    return found


def without_owner_meta(
    names: Sequence[str], better: FloatArray, owners: Sequence[Hashable], order: Sequence[int]
) -> dict[str, Any]:
    """Return, for a board's `meta`, the neighbours whom one owner's entrants keep in order; empty without any owner.

    `names` and `owners` [n_entrants] are those of `better` [n_tasks, n_entrants], `order` their positions from best on;
    NaN is no result. Source: `moved_by_owners`.

    >>> without_owner_meta(["A", "B"], np.array([[2.0, 1.0]]), ["1", "2"], [0, 1])
    {'without_owner': []}
    """
    if not any(isinstance(owner, str) for owner in owners):
        return {}
    best = list(order)[:MOST_ROWS]
    all_owners, wins = wins_by_owner(better, np.array(best, dtype=np.int64), owners)
    moved = moved_by_owners([names[at] for at in best], wins, [owners[at] for at in best], all_owners)
    return {WITHOUT_OWNER: moved}


def owner_note(moved: Sequence[dict[str, Any]]) -> str:
    """Say whose order hangs on one owner's entrants.

    >>> owner_note([{"above": "A", "below": "B", "owner": "eve", "becomes": "turned"}])
    "A is above B only with eve's entrants on the board: without them, and with all others, B would be above A."
    """
    if len(moved) == 1:
        (one,) = moved
        above, below, owner = in_words(one["above"]), in_words(one["below"]), one["owner"]
        then = f"{below} would be above {above}" if one["becomes"] == "turned" else "the two would be equal"
        only = f"{above} is above {below} only with {owner}'s entrants on the board"
        return f"{only}: without them, and with all others, {then}."
    named = first_few(moved, MOST_NAMED, _neighbours)
    return f"The order of these neighbours hangs on the entrants of one other owner: {named}."


def _neighbours(one: Mapping[str, Any]) -> str:
    return f"{in_words(one['above'])} and {in_words(one['below'])} (of {one['owner']})"
