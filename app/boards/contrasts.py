"""The contrast between two entrants of a board: how much their scores differ, and how certain that is.

Computed by `app.boards.standing`, shown in every table of pairs. The verdict is the board's: whether two are separable
allows for all pairs being compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.stats.arrays import BoolArray, FloatArray
from app.values.columnar import CellColumn
from app.values.frame import Ends
from app.values.table import finite


@dataclass(frozen=True)
class Verdict:
    """Two entrants compared by the board's score: `contrast` is A minus B, larger being better for A.

    Its interval and `p_value` are for this pair alone, `separable` allows for all pairs of the board. None where
    unknown.
    """

    contrast: Ends
    beats: float | None = None
    p_value: float | None = None
    separable: bool | None = None


@dataclass(frozen=True)
class Contrasts:
    """The pairwise results for some entrants of a board, each [n_shown, n_shown]; NaN where unknown.

    `widest` is the width of the range of scores, which no difference can exceed.
    """

    differences: FloatArray
    margins: FloatArray
    errors: FloatArray
    beats: FloatArray
    p_values: FloatArray
    separated: BoolArray
    is_known: BoolArray
    widest: float = float("inf")

    def by_rule(self, ahead: FloatArray) -> "Contrasts":
        """Return the contrasts in which row is better than column by rule where `ahead` [n_shown, n_shown] is a number.

        The difference of such a pair is `ahead`, that with the worst value in each gap; there is no test, so there is
        no interval and no p-value. Without a worst value, inf, row wins in any case.
        """
        pairs = ~np.isnan(ahead)
        if not pairs.any():
            return self
        above, below = np.nonzero(pairs)
        changed = {
            name: getattr(self, name).copy() for name in ("differences", "margins", "errors", "beats", "p_values")
        }
        for values in changed.values():
            values[pairs | pairs.T] = np.nan
        by = ahead[above, below]
        changed["differences"][above, below], changed["differences"][below, above] = by, -by
        certain = np.isinf(by)
        changed["beats"][above, below] = np.where(certain, 1.0, np.nan)
        changed["beats"][below, above] = np.where(certain, 0.0, np.nan)
        return replace(self, **changed)

    def verdict(self, a: int, b: int) -> Verdict:
        """Return the verdict on two entrants, by their positions among those shown."""
        difference, margin = float(self.differences[a, b]), float(self.margins[a, b])
        if a == b or not self.is_known[a, b]:
            return Verdict((finite(difference), None, None))
        low, high = max(difference - margin, -self.widest), min(difference + margin, self.widest)
        ends = (finite(difference), *((None, None) if np.isnan(margin) else (finite(low), finite(high))))
        separable = bool(self.separated[a, b] or self.separated[b, a])
        return Verdict(ends, finite(float(self.beats[a, b])), finite(float(self.p_values[a, b])), separable)

    def cells(self, *, is_turned: bool = False) -> list[CellColumn]:
        """Return cells for every ordered pair, row by row: contrast, its ends, P(beats), p-value, separable.

        `is_turned` means that scores were negated: the contrast is turned back to the metric's own sign, low end first.
        """
        is_known = self.is_known & ~np.eye(len(self.is_known), dtype=np.bool_)
        low, high = (np.clip(self.differences + way * self.margins, -self.widest, self.widest) for way in (-1.0, 1.0))
        squares = [np.where(is_known, values, np.nan) for values in (low, high, self.beats, self.p_values)]
        separable = np.where(is_known, 1 + (self.separated | self.separated.T), 0).astype(np.int8)
        contrast = (self.differences, *squares[:2])
        # Not −x, which would turn 0.0 into −0.0.
        shown = (0.0 - contrast[0], 0.0 - contrast[2], 0.0 - contrast[1]) if is_turned else contrast
        return [
            *map(CellColumn.of_numbers, (*shown, *squares[2:])),
            CellColumn(separable.ravel(), (None, False, True)),
        ]


def without_spread(points: FloatArray) -> Contrasts:
    """Return only the differences of points [n_shown], larger being better; without replicates all else is NaN.

    Source: row minus column.

    >>> without_spread(np.array([3.0, 1.0])).differences.tolist()
    [[0.0, 2.0], [-2.0, 0.0]]
    """
    unknown = np.full((len(points),) * 2, np.nan)
    nothing = np.zeros(unknown.shape, dtype=np.bool_)
    return Contrasts(points[:, None] - points[None, :], unknown, unknown, unknown, unknown, nothing, nothing)


def of_some(known: Contrasts, has_contrasts: Sequence[bool]) -> Contrasts:
    """Spread known contrasts over more entrants; `has_contrasts` [n_shown] marks those that `known` is about, in order.

    For the others everything is unknown: NaN, or False.
    Source: none; it rearranges.

    >>> of_some(without_spread(np.array([3.0, 1.0])), [True, False, True]).differences.tolist()
    [[0.0, nan, 2.0], [nan, nan, nan], [-2.0, nan, 0.0]]
    """
    place = np.flatnonzero(has_contrasts)
    square, shape = np.ix_(place, place), (len(has_contrasts), len(has_contrasts))

    def spread(values: FloatArray) -> FloatArray:
        whole = np.full(shape, np.nan)
        whole[square] = values
        return whole

    def flags(values: BoolArray) -> BoolArray:
        whole = np.zeros(shape, dtype=np.bool_)
        whole[square] = values
        return whole

    return Contrasts(
        differences=spread(known.differences),
        margins=spread(known.margins),
        errors=spread(known.errors),
        beats=spread(known.beats),
        p_values=spread(known.p_values),
        separated=flags(known.separated),
        is_known=flags(known.is_known),
        widest=known.widest,
    )
