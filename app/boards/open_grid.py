"""The cells that a board without a declared grid is about: those that at least half of the owners have.

Called by the ranking methods; pure. Items of a single owner are not expected of others and do not count in scores, so
nobody leads by bringing more. Two owners who differ form no majority: then every cell that either has counts, because
leaving cells out must not pay.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from app.stats.arrays import BoolArray, IntArray
from app.values.scores import ScoreTable


def commonly_held(counts: IntArray, owners: Sequence[Hashable]) -> IntArray:
    """Return, for each cell, the number that at least half of the owners have, [n_cells], from [n_entrants, n_cells].

    An owner's number is the largest of its entrants'. Where no cell is held by half of the owners, every held cell
    counts.
    Source: our rule, the upper median over owners.

    >>> commonly_held(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 9]]), ["a", "b", "c"]).tolist()
    [1, 1, 0]
    >>> commonly_held(np.array([[1, 0], [1, 9]]), ["a", "b"]).tolist()
    [1, 9]
    """
    names = list(dict.fromkeys(owners))
    if not names:
        return np.zeros(counts.shape[1], dtype=np.int64)
    of = np.array([names.index(owner) for owner in owners])
    most = np.stack([counts[of == at].max(axis=0) for at in range(len(names))])
    n_needed = (len(names) + 1) // 2
    common: IntArray = np.sort(most, axis=0)[len(names) - n_needed]
    return common if common.any() else np.asarray(most.max(axis=0))


def common_tasks(scores: ScoreTable, entrants: Sequence[str], owners: Sequence[Hashable]) -> list[str]:
    """Return the tasks of which at least half of these entrants' owners have a row, by name.

    Source: as for `commonly_held`.

    >>> from app.boards.example import rows
    >>> common_tasks(rows({"A": [0.1], "B": [0.1, 0.2], "C": [0.3]}), ["A", "B", "C"], ["a", "b", "c"])
    ['a']
    """
    has = np.zeros((len(scores.entrant.words), len(scores.task.words)), dtype=np.bool_)
    has[scores.entrant.codes, scores.task.codes] = True
    place = {name: at for at, name in enumerate(scores.entrant.words)}
    known = [(place[name], owner) for name, owner in zip(entrants, owners, strict=True) if name in place]
    if not known:
        return []
    common = are_common(has[[at for at, _ in known]], [owner for _, owner in known])
    return sorted(scores.task.words[at] for at in np.flatnonzero(common).tolist())


def are_common(has: BoolArray, owners: Sequence[Hashable]) -> BoolArray:
    """Return which cells count, [n_cells], from who has them, [n_entrants, n_cells].

    Source: as for `commonly_held`.

    >>> are_common(np.array([[True, False], [True, False], [True, True]]), ["a", "b", "c"]).tolist()
    [True, False]
    """
    names = list(dict.fromkeys(owners))
    of = np.array([names.index(owner) for owner in owners], dtype=np.int64)
    n_owners = np.zeros(has.shape[1], dtype=np.int64)
    for at in range(len(names)):
        n_owners += has[of == at].any(axis=0)
    common: BoolArray = 2 * n_owners >= max(1, len(names))
    return common if common.any() else np.asarray(has.any(axis=0))
