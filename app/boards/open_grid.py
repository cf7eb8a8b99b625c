"""What a board is about whose grid nobody has declared: the cells that at least half of the owners have.

Called by the ranking methods; pure. Of one owner's own items no others are asked, and a score is not about them, so
nobody leads by bringing more. Two owners who differ have no majority: then all counts that either has, because leaving
out must not pay.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from app.stats.arrays import BoolArray, IntArray
from app.values.scores import ScoreTable


def commonly_held(counts: IntArray, owners: Sequence[Hashable]) -> IntArray:
    """Return of each cell how many at least half of the owners have, [n_cells], by counts [n_entrants, n_cells].

    An owner has as many as that of its entrants which has the most. Where no cell is held by so many, all that anybody
    has count. Source: by definition.

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
    """Return the tasks that at least half of the owners of some entrants have a row of, by name.

    Source: by definition.

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
    """Return which cells count, [n_cells], by who has them: [n_entrants, n_cells]. Source: by definition.

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
