"""Compact letter display: letters shared by exactly those entrants that are not separable.

Called by `app.boards.letters`; pure.
"""

from collections.abc import Iterable

import numpy as np

from app.stats.arrays import BoolArray
from app.stats.checks import require_shape

MOST_GROUPS = 200
"""Intervals on a line have at most as many groups as members; a relation with more is unreadable as letters."""


def letter_groups(apart: BoolArray) -> list[tuple[int, ...]] | None:
    """Return the maximal groups without a pair that is apart, each as ascending positions, in lexical order.

    `apart` is [n, n] and symmetric, True where two differ. Two share a group exactly where they are not apart. None
    where there would be more than MOST_GROUPS groups.
    Raises InvalidArgument for an array that is not square.
    Source: Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13(2): insert and absorb.

    >>> letter_groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [(0, 1), (1, 2)]
    """
    require_shape("apart", apart, len(apart), len(apart))
    groups: set[frozenset[int]] = {frozenset(range(len(apart)))} if len(apart) else set()
    for a, b in np.argwhere(np.triu(apart | apart.T, 1)).tolist():
        split = {group for group in groups if a in group and b in group}
        parts = {group - {gone} for group in split for gone in (a, b)}
        groups = _absorbed((groups - split) | parts)
        if len(groups) > MOST_GROUPS:
            return None
    return sorted(tuple(sorted(group)) for group in groups)


def _absorbed(groups: Iterable[frozenset[int]]) -> set[frozenset[int]]:
    """Return the groups that are not contained in another."""
    kept: set[frozenset[int]] = set()
    for group in sorted(groups, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.add(group)
    return kept
