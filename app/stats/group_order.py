"""The order of examples within their groups, by falling values. Called by `app.stats.ranking`; pure."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_finite, require_integers, require_shape
from app.stats.compiled import compiled

MAX_COMBINED = 2**62
MOST_IN_GROUP = 64
"""Groups of up to so many examples are sorted one by one, by insertion: larger ones would take the square of that."""


def orders_within(groups: IntArray, first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    """Return two orders [n_examples] by group: within it by falling `first`, of equals by falling `second`; and by
    falling `second` alone.

    All are [n_examples]. What is equal in all has any order.
    Raises InvalidArgument for arrays of different lengths, values that are not finite, and group numbers that are not
    integers. Source: by definition.

    >>> first, second = orders_within(np.array([7, 7, 8]), np.array([0.1, 0.9, 0.5]), np.array([2.0, 1.0, 0.0]))
    >>> (first.tolist(), second.tolist())
    ([1, 0, 2], [0, 1, 2])
    """
    require_shape("groups", groups, "n_examples")
    require_integers("groups", groups)
    for name, values in (("first", first), ("second", second)):
        require_shape(name, values, len(groups))
        require_finite(name, values)
    ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, len(groups))
    if (groups[1:] < groups[:-1]).any() or np.diff(ends, prepend=0).max() > MOST_IN_GROUP:
        of_group, of_second = _Key.of(groups), _Key.of(-second)
        return _order(of_group, _Key.of(-first), of_second), _order(of_group, of_second)
    orders = np.empty((2, len(groups)), dtype=np.int64)
    for order, by in zip(orders, (first, second), strict=True):
        compiled(_insert)(ends, by, second, order)
    return orders[0], orders[1]


def _insert(ends: IntArray, first: FloatArray, second: FloatArray, order: IntArray) -> None:
    """Put each example of a group before those with lower values; those with the same ones keep their order."""
    begin = 0
    for end in ends:
        for example in range(begin, end):
            at = example
            while at > begin:
                other = order[at - 1]
                is_same = first[other] == first[example]
                if first[other] > first[example] or (is_same and second[other] >= second[example]):
                    break
                order[at] = other
                at -= 1
            order[at] = example
        begin = end


@dataclass(frozen=True)
class _Key:
    """Values to sort by, with the rank of each among the distinct values."""

    values: FloatArray | IntArray
    place: IntArray
    n_distinct: int

    @classmethod
    def of(cls, values: FloatArray | IntArray) -> Self:
        """Return a key; values that are already in order, as groups often are, need no sorting."""
        if (values[1:] >= values[:-1]).all():
            place = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])
            return cls(values, place, int(place[-1]) + 1)
        distinct, place = np.unique(values, return_inverse=True)
        return cls(values, place, len(distinct))


def _order(*keys: _Key) -> IntArray:
    """Return the order by the first key, then the next, and so on; not stable for examples equal in all keys.

    One sort of combined integers takes a third of the time of lexsort, which sorts stably by every key.
    """
    combined, n_combined = np.zeros(len(keys[0].values), dtype=np.int64), 1
    for key in keys:
        n_combined *= key.n_distinct
        if n_combined > MAX_COMBINED:
            return np.lexsort([key.values for key in reversed(keys)])
        combined = combined * key.n_distinct + key.place
    order: IntArray = np.argsort(combined)
    return order
