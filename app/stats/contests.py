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
"""So many cells of a square are computed at a time, 1 MiB of each array."""

ROUNDING = 1e-12
"""A spread below this share of what it is the spread of is the rounding of sums, and none."""
FEW_DEGREES, MOST_FREEDOM = 30.0, 1e6
FEW_UNITS = 8


@dataclass(frozen=True)
class Contests:
    """Every pair of entrants compared on the same resamples.

    `points` is [n_entrants], `replicates` [n_resamples, n_entrants]. `freedom` [n_entrants] are the degrees of freedom
    of each entrant's spread, such as units − 1; NaN for an entrant without replicates, whose column holds its point.
    `inflation` [n_entrants] is by how much the variance of the replicates falls short of an unbiased one, where that is
    not 1 + 2 / freedom: exponential weights of n units give a mean the variance σ̂² / (n + 1), unbiased is σ̂² / (n − 1).
    `in_steps` says that scores move in steps, as ranks do: then the share of the resamples in which a difference has
    the other sign counts too, as a difference of one step may be large beside its own standard error by chance.
    Raises InvalidArgument for arrays of other shapes, for a number that is not finite, and for freedom below 1.
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
        """Say of whom there are replicates, [n_entrants]."""
        return ~np.isnan(self.freedom)

    @cached_property
    def deviations(self) -> FloatArray:
        """Return replicates without their mean, [n_entrants, n_resamples]."""
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
        """Return what this process knows of the pairs already."""
        return KNOWN.recall(self.points, self.deviations)

    def let_go(self) -> None:
        """Let go of what the spreads were found with, 40 MB of 2,000 entrants; whoever asks has it computed again."""
        # With what is recalled a process also holds the square of the board's last state.
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
        """Return some degrees of freedom, ascending, and for each entrant which of them it has; a pair has the fewer.

        Of a pair with one who has replicates they are that one's. Rounded down, there are few of them.
        """
        known = self.freedom[self.has_spread]
        if (known < 1.0).any():
            raise InvalidArgument(f"freedom holds {known.min()}; expected at least 1, or NaN")
        return np.unique(_rounded_down(np.where(self.has_spread, self.freedom, np.inf)), return_inverse=True)

    def pair_freedom(self, rows: Rows, columns: Rows = EVERY) -> FloatArray:
        """Return the degrees of freedom of each difference, [n_rows, n_columns]; of all where none are named."""
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
        """Return points of row minus column, [n_rows, n_columns]; a difference below TIE is none."""
        differences: FloatArray = self.points[rows][:, None] - self.points[columns][None, :]
        differences[np.abs(differences) <= TIE] = 0.0
        return differences

    def sizes(self, at: IntArray) -> FloatArray:
        """Return each |difference| among some entrants in its standard errors, [n_at, n_at]; infinite without any.

        For scores in steps no more than the normal quantile of the share of resamples with the other sign.
        """
        if self._turned is not None:
            return np.asarray(self._turned[np.ix_(at, at)])
        sizes = np.empty((len(at), len(at)))
        compiled(fill_sizes)(self.points[at], self._roots[at], self.drawn[np.ix_(at, at)], TIE, sizes)
        return sizes

    @cached_property
    def _roots(self) -> FloatArray:
        """Return the root of each entrant's inflation, [n_entrants]: a difference has the larger of two."""
        if self.inflation is None:
            return np.sqrt(1.0 + 2.0 / _rounded_down(np.where(self.has_spread, self.freedom, np.inf)))
        return np.sqrt(np.where(self.has_spread, self.inflation, 1.0))

    @cached_property
    def _turned(self) -> FloatArray | None:
        """Return the sizes of all where scores move in steps; None where a size is the difference in its errors."""
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
        """Yield some rows at a time: what is computed of them stays near the processor."""
        at_once = max(1, STRIP_CELLS // max(1, len(self.points)))
        return (slice(start, start + at_once) for start in range(0, n_rows, at_once))

    def signs(self, critical: FloatArray, safe: float) -> Signs:
        """Return 1 where row is above column by more than its critical value [n_entrants], −1 where below, else 0.

        A critical value c is on the scale of the normal: it represents the quantile of Student's t with the same tail
        and the degrees of freedom of the pair. With fewer than FEW_UNITS it is no less than `safe`: the resamples of
        so few units have no tails to take a quantile from. Where a difference is the same in every resample, its size
        says nothing of its error; its sign in each unit does, as in a sign test. Who has no replicates is above
        nobody: what is not known of a score speaks against that score alone.
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
        """Return the two-sided p-value of each difference among some entrants, by itself, [n_at, n_at]; 1 for a tie."""
        sizes, freedom = self.sizes(at), self.pair_freedom(at, at)
        of_signs = self._by_freedom(at, lambda freedom: ndtr(-_sign_test(freedom)))
        # A difference has one size from either side, and the tails take longest.
        upper = np.triu_indices(len(at))
        tails = np.empty(sizes.shape)
        tails[upper] = np.where(np.isinf(sizes[upper]), of_signs[upper], stdtr(freedom[upper], -sizes[upper]))
        tails.T[upper] = tails[upper]
        values: FloatArray = np.where(self.differences(at, at) == 0.0, 1.0, np.minimum(1.0, 2.0 * tails))
        return values

    def margins(self, at: IntArray, level: float) -> FloatArray:
        """Return half the width of the interval of each difference among some entrants, by itself, [n_at, n_at].

        NaN where the difference is the same in every resample, so that nothing says how wide it is.
        """
        quantiles = self._by_freedom(at, lambda freedom: -stdtrit(freedom, (1.0 - level) / 2.0))
        margins = quantiles * self.errors(at, at)
        return np.where(margins > 0.0, margins, np.nan)

    def _by_freedom(self, at: IntArray, of: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return a function of the degrees of freedom of each pair, [n_at, n_at]: there are few different ones."""
        steps, place = self._grid
        return np.asarray(of(steps)[np.minimum(place[at][:, None], place[at][None, :])])


def _rounded_down(freedom: FloatArray) -> FloatArray:
    """Return whole degrees up to 30, beyond them steps of a tenth; Student's quantiles hardly differ there."""
    factor = np.log(1.1)
    beyond = np.exp(np.floor(np.log(np.maximum(freedom, 1.0)) / factor) * factor)
    return np.minimum(np.where(freedom < FEW_DEGREES, np.floor(freedom), beyond), MOST_FREEDOM)


def _sign_test(freedom: FloatArray) -> FloatArray:
    """Return the normal quantile with the tail of as many equal signs as there are units, freedom + 1."""
    quantiles: FloatArray = -ndtri(np.exp2(-(freedom + 1.0)))
    return quantiles
