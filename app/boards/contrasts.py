"""The one contrast of a board for two of its entrants: by how much their scores differ, and what is sure of it.

Made by `app.boards.standing`, shown by every table of pairs. The verdict is that of the board: who is separable from
whom takes into account that all pairs are looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray
from app.values.columnar import CellColumn
from app.values.frame import Ends
from app.values.table import finite


@dataclass(frozen=True)
class Verdict:
    """Two entrants compared by the board's score: `contrast` is A minus B, larger being better for A.

    Its interval and `p_value` are of this pair by itself, `separable` of all pairs of the board at once. None where
    there is nothing to say it from.
    """

    contrast: Ends
    beats: float | None = None
    p_value: float | None = None
    separable: bool | None = None


@dataclass(frozen=True)
class Contrasts:
    """Everything known of some entrants of a board pair by pair, each [n_shown, n_shown]; NaN where unknown.

    No difference is larger than `widest`, the width of the range in which the scores lie.
    """

    differences: FloatArray
    margins: FloatArray
    errors: FloatArray
    beats: FloatArray
    p_values: FloatArray
    separated: BoolArray
    is_known: BoolArray
    widest: float = float("inf")

    def verdict(self, a: int, b: int) -> Verdict:
        """Return what is known of two of the entrants, by their places among those shown."""
        difference, margin = float(self.differences[a, b]), float(self.margins[a, b])
        if a == b or not self.is_known[a, b]:
            return Verdict((finite(difference), None, None))
        low, high = max(difference - margin, -self.widest), min(difference + margin, self.widest)
        ends = (finite(difference), *((None, None) if np.isnan(margin) else (finite(low), finite(high))))
        separable = bool(self.separated[a, b] or self.separated[b, a])
        return Verdict(ends, float(self.beats[a, b]), finite(float(self.p_values[a, b])), separable)

    def cells(self, *, is_turned: bool = False) -> list[CellColumn]:
        """Return the same of every ordered pair, row after row: contrast, its ends, P(beats), p-value, separable.

        `is_turned`: scores were negated, and the contrast is to have the metric's own sign, with its ends in order.
        """
        is_known = self.is_known & ~np.eye(len(self.is_known), dtype=np.bool_)
        low, high = (np.clip(self.differences + way * self.margins, -self.widest, self.widest) for way in (-1.0, 1.0))
        squares = [np.where(is_known, values, np.nan) for values in (low, high, self.beats, self.p_values)]
        separable = np.where(is_known, 1 + (self.separated | self.separated.T), 0).astype(np.int8)
        contrast = (self.differences, *squares[:2])
        # Not −x: no difference at all stays 0.0.
        shown = (0.0 - contrast[0], 0.0 - contrast[2], 0.0 - contrast[1]) if is_turned else contrast
        return [
            *map(CellColumn.of_numbers, (*shown, *squares[2:])),
            CellColumn(separable.ravel(), (None, False, True)),
        ]


def without_spread(points: FloatArray) -> Contrasts:
    """Return the differences of points [n_shown] alone, larger being better: nothing was drawn, so all else is NaN.

    Source: by definition.

    >>> without_spread(np.array([3.0, 1.0])).differences.tolist()
    [[0.0, 2.0], [-2.0, 0.0]]
    """
    unknown = np.full((len(points),) * 2, np.nan)
    nothing = np.zeros(unknown.shape, dtype=np.bool_)
    return Contrasts(points[:, None] - points[None, :], unknown, unknown, unknown, unknown, nothing, nothing)


def of_some(known: Contrasts, has_contrasts: Sequence[bool]) -> Contrasts:
    """Return the contrasts of more entrants than those that are known, who are there [n_shown] in their order.

    Of the others everything is unknown: NaN, or False. Source: by definition.

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
