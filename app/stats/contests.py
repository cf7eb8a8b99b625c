"""Every pair of entrants compared on the same resamples: differences, their standard errors, p-values.

Called by `app.stats.rank_sets` and by `app.boards.standing`; pure. Scores are larger-is-better. Replicates are
[n_resamples, n_entrants], drawn with exponential weights by the unit's name (`app.stats.named_draws`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import InvalidArgument, require_finite, require_shape
from app.stats.interval import TIE, probability_beats
from app.stats.pair_loops import Signs, pair_variances

T = TypeVar("T", bound=np.generic)

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
    def differences(self) -> FloatArray:
        """Return points of row minus column, [n_entrants, n_entrants]; a difference below TIE is none."""
        found = self.points[:, None] - self.points[None, :]
        found[np.abs(found) <= TIE] = 0.0
        return found

    @cached_property
    def deviations(self) -> FloatArray:
        """Return replicates without their mean, [n_entrants, n_resamples]."""
        return np.ascontiguousarray((self.replicates - self.replicates.mean(axis=0)).T)

    @cached_property
    def drawn(self) -> FloatArray:
        """Return the standard deviation of each difference over the resamples; 0 where it is the same in all."""
        found = np.sqrt(pair_variances(self.deviations))
        size = np.abs(self.points) + np.abs(self.deviations).max(axis=1)
        found[found <= ROUNDING * (size[:, None] + size[None, :])] = 0.0
        return found

    @cached_property
    def _grid(self) -> tuple[FloatArray, IntArray]:
        """Return some degrees of freedom, ascending, and for each pair which of them it has: the fewer of its two.

        Of a pair with one who has replicates they are that one's. Rounded down, there are few of them.
        """
        known = self.freedom[self.has_spread]
        if (known < 1.0).any():
            raise InvalidArgument(f"freedom holds {known.min()}; expected at least 1, or NaN")
        steps, place = np.unique(_rounded_down(np.where(self.has_spread, self.freedom, np.inf)), return_inverse=True)
        return steps, np.minimum(place[:, None], place[None, :])

    @cached_property
    def pair_freedom(self) -> FloatArray:
        """Return the degrees of freedom of each difference, [n_entrants, n_entrants]."""
        steps, place = self._grid
        return steps[place]

    @cached_property
    def errors(self) -> FloatArray:
        """Return the standard error of each difference, [n_entrants, n_entrants], unbiased by the larger inflation."""
        if self.inflation is None:
            return self.drawn * np.sqrt(1.0 + 2.0 / self.pair_freedom)
        own = np.where(self.has_spread, self.inflation, 1.0)
        return self.drawn * np.sqrt(np.maximum(own[:, None], own[None, :]))

    @cached_property
    def sizes(self) -> FloatArray:
        """Return each |difference| in its standard errors, [n_entrants, n_entrants]; infinite where there is none.

        For scores in steps no more than the normal quantile of the share of resamples with the other sign.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.abs(self.differences) / self.errors
            if self.in_steps:
                won = probability_beats(self.replicates)
                turned = -ndtri(np.minimum(won, won.T)) * self.drawn / self.errors
                found = np.minimum(found, turned)
        return np.where(self.drawn > 0.0, found, np.inf)

    def signs(self, critical: FloatArray, safe: float) -> Signs:
        """Return 1 where row is above column by more than its critical value [n_entrants], −1 where below, else 0.

        A critical value c is on the scale of the normal: it stands for the quantile of Student's t with the same tail
        and the degrees of freedom of the pair. With fewer than FEW_UNITS it is no less than `safe`: the resamples of
        so few units have no tails to take a quantile from. Where a difference is the same in every resample, its size
        says nothing of its error; its sign in each unit does, as in a sign test. Who has no replicates is above
        nobody: what is not known of a score speaks against that score alone.
        """
        steps, place = self._grid
        values = np.where(steps < FEW_UNITS - 1.0, np.maximum(critical, safe)[:, None], critical[:, None])
        far = self.sizes > _look_up(-stdtrit(steps[None, :], ndtr(-values)), place)
        far &= (self.drawn > 0.0) | _look_up(_sign_test(steps)[None, :] > values, place)
        far &= np.where(self.differences > 0.0, self.has_spread[:, None], self.has_spread[None, :])
        return np.where(far, np.sign(self.differences), 0.0).astype(np.int8)

    def p_values(self, at: IntArray) -> FloatArray:
        """Return the two-sided p-value of each difference among some entrants, by itself, [n_at, n_at]; 1 for a tie."""
        square = np.ix_(at, at)
        sizes, freedom = self.sizes[square], self.pair_freedom[square]
        tails = np.where(np.isinf(sizes), ndtr(-_sign_test(freedom)), stdtr(freedom, -sizes))
        found: FloatArray = np.where(self.differences[square] == 0.0, 1.0, np.minimum(1.0, 2.0 * tails))
        return found

    def margins(self, at: IntArray, level: float) -> FloatArray:
        """Return half the width of the interval of each difference among some entrants, by itself, [n_at, n_at].

        NaN where the difference is the same in every resample, so that nothing says how wide it is.
        """
        square = np.ix_(at, at)
        found = -stdtrit(self.pair_freedom[square], (1.0 - level) / 2.0) * self.errors[square]
        return np.where(found > 0.0, found, np.nan)


def _look_up(table: NDArray[T], place: IntArray) -> NDArray[T]:
    """Return the entry of each row [n_entrants, n_steps] at each place of it; the same one where there is one alone."""
    return table if table.shape[1] == 1 else np.take_along_axis(table, place, axis=1)


def _rounded_down(freedom: FloatArray) -> FloatArray:
    """Return whole degrees up to 30, beyond them steps of a tenth; Student's quantiles hardly differ there."""
    factor = np.log(1.1)
    beyond = np.exp(np.floor(np.log(np.maximum(freedom, 1.0)) / factor) * factor)
    return np.minimum(np.where(freedom < FEW_DEGREES, np.floor(freedom), beyond), MOST_FREEDOM)


def _sign_test(freedom: FloatArray) -> FloatArray:
    """Return the normal quantile with the tail of as many equal signs as there are units, freedom + 1."""
    found: FloatArray = -ndtri(np.exp2(-(freedom + 1.0)))
    return found
