"""Every pair of entrants compared on the same resamples: differences, their standard errors, p-values.

Called by `app.stats.rank_sets` and by `app.boards.standing`; pure. Scores are larger-is-better. Replicates are
[n_resamples, n_entrants], drawn with exponential weights by the unit's name (`app.stats.named_draws`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import InvalidArgument, require_finite, require_shape
from app.stats.compiled import compiled, in_parts, turned
from app.stats.interval import TIE, probability_beats
from app.stats.known_contests import KNOWN, Recalled
from app.stats.pair_loops import Signs, pair_variances
from app.stats.sign_loops import fill_signs, fill_sizes

Rows = slice | IntArray
EVERY = slice(None)
STRIP_CELLS = 1 << 17
"""Cells of a square array computed at a time: 1 MiB of each array."""

ROUNDING = 1e-12
"""A spread below this fraction of the numbers' own size is rounding and counts as zero."""
FEW_DEGREES, MOST_FREEDOM = 30.0, 1e6
FEW_UNITS = 8


@dataclass(frozen=True)
class Contests:
    """Every pair of entrants compared on the same resamples.

    `points` is [n_entrants], `replicates` [n_resamples, n_entrants]. `freedom` [n_entrants] holds the degrees of
    freedom of each entrant's spread, such as units − 1; NaN for an entrant without replicates, whose column repeats its
    point. `inflation` [n_entrants] is the factor that makes the variance of the replicates unbiased, by default 1 + 2 /
    freedom: exponential weights on n units give a mean the variance σ̂² / (n + 1), where σ̂² / (n − 1) is unbiased.
    `in_steps` means that scores are discrete, as ranks are: then the share of resamples in which a difference has the
    opposite sign counts too, because a difference of one step may by chance be large relative to its standard error.
    Raises InvalidArgument for arrays of mismatched shapes, for a number that is not finite, and for freedom below 1.
    """

    points: FloatArray
    replicates: FloatArray
    freedom: FloatArray
    inflation: FloatArray | None = None
    in_steps: bool = False

    def __post_init__(self) -> None:
        require_shape("points", self.points, "[n_entrants]")
        require_finite("points", self.points)
        require_shape("replicates", self.replicates, "[n_resamples]", len(self.points))
        require_finite("replicates", self.replicates)
        require_shape("freedom", self.freedom, len(self.points))

    @cached_property
    def has_spread(self) -> BoolArray:
        """Say which entrants have replicates, [n_entrants]."""
        return ~np.isnan(self.freedom)

    @cached_property
    def deviations(self) -> FloatArray:
        """Return replicates minus their mean, [n_entrants, n_resamples]."""
        rows, means = turned(self.replicates), self.replicates.mean(axis=0)
        in_parts(len(rows), 1, lambda part: np.subtract(rows[part], means[part, None], out=rows[part]))
        return rows

    @cached_property
    def drawn(self) -> FloatArray:
        """Return the standard deviation of each difference over the resamples; 0 where it is the same in all."""
        fresh = self.recalled.fresh
        if len(fresh) == len(self.points):
            return self._spreads(None)
        drawn, own = self.recalled.drawn(), self._spreads(fresh)
        drawn[fresh], drawn[:, fresh] = own, own.T
        return drawn

    @cached_property
    def recalled(self) -> Recalled:
        """Return what this process has already computed for these pairs."""
        return KNOWN.recall(self.points, self.deviations)

    def let_go(self) -> None:
        """Free the arrays behind the spreads, 40 MB for 2,000 entrants; they are computed again on demand."""
        # What is recalled keeps the square of the board's previous state in memory, too.
        for name in ("deviations", "recalled"):
            self.__dict__.pop(name, None)

    def _spreads(self, wanted: IntArray | None) -> FloatArray:
        spreads = pair_variances(self.deviations, wanted)
        np.sqrt(spreads, out=spreads)
        size = np.abs(self.points) + np.maximum(self.deviations.max(axis=1), -self.deviations.min(axis=1))
        of_rows = size if wanted is None else size[wanted]
        for rows in self._strips(len(of_rows)):
            strip = spreads[rows]
            strip[strip <= ROUNDING * (of_rows[rows, None] + size[None, :])] = 0.0
        return spreads

    @cached_property
    def _grid(self) -> tuple[FloatArray, IntArray]:
        """Return the distinct degrees of freedom, ascending, and each entrant's index into them; a pair has the fewer.

        In a pair where only one has replicates, that one's count. They are rounded down, so that few are distinct.
        """
        known = self.freedom[self.has_spread]
        if (known < 1.0).any():
            raise InvalidArgument(f"freedom holds {known.min()}; expected at least 1, or NaN")
        return np.unique(_rounded_down(np.where(self.has_spread, self.freedom, np.inf)), return_inverse=True)

    def pair_freedom(self, rows: Rows, columns: Rows = EVERY) -> FloatArray:
        """Return the degrees of freedom of each difference, [n_rows, n_columns]; by default of all entrants."""
        own = _rounded_down(np.where(self.has_spread, self.freedom, np.inf))
        return np.minimum(own[rows][:, None], own[columns][None, :])

    def errors(self, rows: Rows = EVERY, columns: Rows = EVERY) -> FloatArray:
        """Return the standard error of each difference, [n_rows, n_columns], unbiased by the larger inflation."""
        drawn = self.drawn[rows][:, columns]
        if self.inflation is None:
            return drawn * np.sqrt(1.0 + 2.0 / self.pair_freedom(rows, columns))
        own = np.where(self.has_spread, self.inflation, 1.0)
        return drawn * np.sqrt(np.maximum(own[rows][:, None], own[columns][None, :]))

    def differences(self, rows: Rows = EVERY, columns: Rows = EVERY) -> FloatArray:
        """Return point of row minus point of column, [n_rows, n_columns]; a difference below TIE becomes 0."""
        differences: FloatArray = self.points[rows][:, None] - self.points[columns][None, :]
        differences[np.abs(differences) <= TIE] = 0.0
        return differences

    def sizes(self, at: IntArray) -> FloatArray:
        """Return each |difference| among some entrants in standard errors, [n_at, n_at]; infinite if the error is 0.

        For discrete scores, at most the normal quantile of the share of resamples with the opposite sign.
        """
        if self._turned is not None:
            return np.asarray(self._turned[np.ix_(at, at)])
        sizes = np.empty((len(at), len(at)))
        compiled(fill_sizes)(self.points[at], self._roots[at], self.drawn[np.ix_(at, at)], TIE, sizes)
        return sizes

    @cached_property
    def _roots(self) -> FloatArray:
        """Return the square root of each entrant's inflation, [n_entrants]; a difference has the larger of its two."""
        if self.inflation is None:
            return np.sqrt(1.0 + 2.0 / _rounded_down(np.where(self.has_spread, self.freedom, np.inf)))
        return np.sqrt(np.where(self.has_spread, self.inflation, 1.0))

    @cached_property
    def _turned(self) -> FloatArray | None:
        """Return the sizes of all differences of discrete scores; None where a size is just |difference| / error."""
        if not self.in_steps:
            return None
        won = probability_beats(self.replicates)
        sizes: FloatArray = np.empty_like(self.drawn)
        compiled(fill_sizes)(self.points, self._roots, self.drawn, TIE, sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            turned = -ndtri(np.minimum(won, won.T)) * self.drawn / self.errors()
            sizes = np.minimum(sizes, turned)
        sizes[~(self.drawn > 0.0)] = np.inf
        return sizes

    def _strips(self, n_rows: int) -> Iterator[slice]:
        """Yield a few rows at a time, so that intermediate arrays stay in the processor's cache."""
        at_once = max(1, STRIP_CELLS // max(1, len(self.points)))
        return (slice(start, start + at_once) for start in range(0, n_rows, at_once))

    def signs(self, critical: FloatArray, safe: float) -> Signs:
        """Return 1 where row beats column by more than its critical value [n_entrants], −1 where it loses so, else 0.

        A critical value c is on the scale of the normal: it represents the quantile of Student's t with the same tail
        and the degrees of freedom of the pair. With fewer than FEW_UNITS units it is at least `safe`, because their
        resamples have no tails to take a quantile from. Where a difference is the same in every resample, its error is
        unknown; its sign in each unit is used instead, as in a sign test. An entrant without replicates is above
        nobody: uncertainty about a score counts against that score alone.
        """
        steps, place = self._grid
        values = np.where(steps < FEW_UNITS - 1.0, np.maximum(critical, safe)[:, None], critical[:, None])
        least, of_signs = -stdtrit(steps[None, :], ndtr(-values)), _sign_test(steps)[None, :] > values
        signs, by_size = np.empty(self.drawn.shape, dtype=np.int8), self._turned is not None
        looked_up = (place, least, np.broadcast_to(of_signs, least.shape), self.has_spread)
        given = self.drawn if self._turned is None else self._turned
        among = (self.points, self._roots, self.drawn, given, by_size, TIE, *looked_up, signs)
        loop = compiled(fill_signs)
        in_parts(len(signs), 1, lambda part: loop(*among, part.start, part.stop), n_steps=signs.size)
        return signs

    def p_values(self, at: IntArray) -> FloatArray:
        """Return the unadjusted two-sided p-value of each difference among some entrants, [n_at, n_at]; 1 for a tie."""
        sizes, freedom = self.sizes(at), self.pair_freedom(at, at)
        of_signs = self._by_freedom(at, lambda freedom: ndtr(-_sign_test(freedom)))
        # Sizes are symmetric, and the tail probabilities take longest: each is computed once.
        upper = np.triu_indices(len(at))
        tails = np.empty(sizes.shape)
        tails[upper] = np.where(np.isinf(sizes[upper]), of_signs[upper], stdtr(freedom[upper], -sizes[upper]))
        tails.T[upper] = tails[upper]
        values: FloatArray = np.where(self.differences(at, at) == 0.0, 1.0, np.minimum(1.0, 2.0 * tails))
        return values

    def margins(self, at: IntArray, level: float) -> FloatArray:
        """Return half the width of each difference's interval among some entrants, unadjusted, [n_at, n_at].

        NaN where the difference is the same in every resample, so that its error is unknown.
        """
        quantiles = self._by_freedom(at, lambda freedom: -stdtrit(freedom, (1.0 - level) / 2.0))
        margins = quantiles * self.errors(at, at)
        return np.where(margins > 0.0, margins, np.nan)

    def _by_freedom(self, at: IntArray, of: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return a function of each pair's degrees of freedom, [n_at, n_at], computed once for each distinct value."""
        steps, place = self._grid
        return np.asarray(of(steps)[np.minimum(place[at][:, None], place[at][None, :])])


def _rounded_down(freedom: FloatArray) -> FloatArray:
    """Round degrees of freedom down: whole numbers up to 30, then steps of a tenth, where quantiles hardly differ."""
    factor = np.log(1.1)
    beyond = np.exp(np.floor(np.log(np.maximum(freedom, 1.0)) / factor) * factor)
    return np.minimum(np.where(freedom < FEW_DEGREES, np.floor(freedom), beyond), MOST_FREEDOM)


def _sign_test(freedom: FloatArray) -> FloatArray:
    """Return the normal quantile whose tail is the probability that all freedom + 1 units have the same sign."""
    quantiles: FloatArray = -ndtri(np.exp2(-(freedom + 1.0)))
    return quantiles
