"""Two estimators on the records of a stratum that both have. Called by `app.boards`; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.strata import Group


@dataclass(frozen=True)
class PairedGroup:
    """Differences a − b of two estimators on the records that both have, [n_pairs]."""

    first: str
    second: str
    metric: str
    stratum: str
    differences: FloatArray


def pair_groups(groups: Sequence[Group]) -> Iterator[PairedGroup]:
    """Yield the paired differences for each metric and stratum, with estimators in alphabetical order.

    They are the first estimator's values minus the second's, in the metric's unit, on the records where both have one;
    a pair without common records is left out.
    Source: lrdbench 2.0, `a__minus__b`.

    >>> of = {name: Group(name, "mae", "s", np.array(v), np.arange(2)) for name, v in
    ...       (("B", [0.5, 0.25]), ("A", [1.0, np.nan]))}
    >>> [(pair.first, pair.second, pair.differences.tolist()) for pair in pair_groups([of["B"], of["A"]])]
    [('A', 'B', [0.5])]
    """
    cells: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        cells.setdefault((group.metric, group.stratum), []).append(group)
    for (metric, stratum), members in cells.items():
        ordered = sorted(members, key=lambda member: member.estimator)
        for at, first in enumerate(ordered):
            for second in ordered[at + 1 :]:
                differences = _differences(first, second)
                if len(differences):
                    yield PairedGroup(first.estimator, second.estimator, metric, stratum, differences)


def _differences(first: Group, second: Group) -> FloatArray:
    a, b = first.included, second.included
    if np.array_equal(first.records[a], second.records[b]):
        return first.values[a] - second.values[b]
    _, at_first, at_second = np.intersect1d(first.records[a], second.records[b], return_indices=True)
    order = np.argsort(at_first)
    return first.values[a][at_first[order]] - second.values[b][at_second[order]]
