"""Confidence sets for ranks and for the best entrant, from studentized pairwise differences. Ranks count from 1, which
is the best. Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks with Applications to Mobility
across Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies 91(1).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappushpop

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_finite,
    require_level,
    require_shape,
)
from app.stats.compiled import Real, Signs, Studentized, compiled, fill_signs, in_parts, pair_variances, turned
from app.stats.resample import TIE, probability_beats

DEVIATIONS = 2.0
"""Standard errors added to a resampled quantile, because it is itself uncertain."""

MOST_ROUNDS = 2
"""Rounds of step-down after the first test of all pairs; stopping early only makes intervals wider."""


@dataclass(frozen=True)
class RankSets:
    """What all pairwise comparisons imply for ranks, at one level.

    `low` and `high` are [n_entrants]: each entrant's interval, by itself, covers its rank at the level. `separated`
    [n_entrants, n_entrants] is True where row is better than column; all of these hold simultaneously at the level.
    `ruled`, where there is a rule, is True where that is so by it and not by a test.
    """

    low: IntArray
    high: IntArray
    separated: BoolArray
    ruled: BoolArray | None = None

    @cached_property
    def may_be_first(self) -> BoolArray:
        """Say who is separated from nobody better, [n_entrants]: at the level, whoever is truly first is among them."""
        return ~np.asarray(self.separated.any(axis=0))

    def groups(self, order: IntArray) -> IntArray:
        """Return the group of each entrant, from 1, in the given `order` from best to worst.

        A new group begins where every entrant before is separated from every entrant after.
        """
        # The last position of an entrant that each is not separated from: it itself, if nobody else.
        last = len(order) - 1 - np.argmin(self.separated[np.ix_(order, order)][:, ::-1], axis=1)
        begins = np.arange(1, len(order)) > np.maximum.accumulate(last)[:-1]
        return np.concatenate([[1], 1 + np.cumsum(begins)]).astype(np.int64)


Rows = slice | IntArray

EVERY = slice(None)


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
        rows = turned(self.replicates)
        rows -= self.replicates.mean(axis=0)[:, None]
        return rows

    @cached_property
    def drawn(self) -> FloatArray:
        """Return the standard deviation of each difference over the resamples; 0 where it is the same in all."""
        spreads = pair_variances(self.deviations)
        np.sqrt(spreads, out=spreads)
        size = np.abs(self.points) + np.maximum(self.deviations.max(axis=1), -self.deviations.min(axis=1))
        for rows in self._strips(len(size)):
            strip = spreads[rows]
            strip[strip <= ROUNDING * (size[rows, None] + size[None, :])] = 0.0
        return spreads

    def let_go(self) -> None:
        """Free the deviations behind the spreads, 16 MB for 2,000 entrants; they are computed again on demand."""
        self.__dict__.pop("deviations", None)

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
        return self._sizes(at)

    def _sizes(self, at: Rows) -> FloatArray:
        drawn, roots = self.drawn[at][:, at], self._roots[at]
        errors = drawn * np.maximum(roots[:, None], roots[None, :])
        sizes = np.full(drawn.shape, np.inf)
        np.divide(np.abs(self.differences(at, at)), errors, out=sizes, where=drawn > 0.0)
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
        sizes: FloatArray = self._sizes(EVERY)
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
        in_parts(len(signs), 1, lambda part: fill_signs(*among, part.start, part.stop), n_steps=signs.size)
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


def rank_sets(
    contests: Contests, level: float, *, rounds: int = MOST_ROUNDS, above: IntArray | None = None
) -> RankSets:
    """Return the marginal interval of each rank, and which pairs are separated simultaneously.

    low = 1 + number significantly better, high = n − number significantly worse. Critical values are quantiles of the
    largest studentized difference over the resamples: over one entrant's opponents for its own interval, over all pairs
    for `separated`; both are stepped down. They never fall below the normal quantile of a single difference. Fewer
    `rounds` of step-down are faster and give wider intervals. `above` [n_entrants] is, for who is worse than another by
    rule, the position of that one, else −1: see `put_behind`.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Mogstad et al. 2024, sections 3.1 and 3.2; the correction for small samples, as in Student's t, is ours: see
    `Contests`.

    >>> draws = np.random.default_rng(1).normal(size=(500, 3)) * 0.1
    >>> sets = rank_sets(Contests(np.array([0.0, 1.0, 1.05]), draws, np.full(3, 40.0)), 0.95)
    >>> (sets.low.tolist(), sets.high.tolist(), sets.may_be_first.tolist())
    ([3, 1, 1], [3, 2, 2], [False, True, True])
    """
    require_level(level)
    n_entrants = len(contests.points)
    studentized = Studentized.of(contests.deviations, contests.drawn)
    contests.let_go()
    pairs = LeftPairs(studentized, studentized.largest())
    own = _step_down(contests, pairs, level, rounds, together=False)
    together = _step_down(contests, pairs, level, rounds, together=True)
    if above is not None and (above >= 0).any():
        return put_behind(own, together, above)
    worse, better = (own > 0).sum(axis=1), (own < 0).sum(axis=1)
    return RankSets(1 + better, n_entrants - worse, together > 0)


def put_behind(own: Signs, together: Signs, above: IntArray) -> RankSets:
    """Return the sets in which some entrants are worse than another by rule, `above` [n_entrants], −1 where not.

    `own` and `together` [n_entrants, n_entrants] are the tests row by row and of all pairs: 1 where row is above
    column, −1 where below. None of those put behind may be first, and their intervals begin at 2 at the earliest. They
    stay better only than whom all above them by rule are better than, too, and take a rank from nobody else. So
    decisions stay transitive where the tests are, and somebody may always be first: decisions by test go up in the
    score, and those by rule along `above`.
    Raises InvalidArgument where `above` leads in a circle, and not to somebody who is behind nobody.
    Source: our rule, docs/statistics.md, "Who may be first with gaps".

    >>> tests = np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]], dtype=np.int8)
    >>> sets = put_behind(tests, tests, np.array([1, -1, -1]))
    >>> (sets.low.tolist(), sets.high.tolist(), sets.may_be_first.tolist())
    ([2, 1, 1], [3, 3, 3], [False, True, True])
    """
    tested, worse, better = together > 0, own > 0, own < 0
    behind = _from_the_top(above)
    for at in behind:
        tested[at] &= tested[above[at]]
        worse[at] &= worse[above[at]]
        better[:, at] &= better[:, above[at]]
    separated = tested.copy()
    for at in behind:
        separated[:, at] |= separated[:, above[at]]
        separated[above[at], at] = True
    ruled = separated & ~tested
    ruled[above[behind], behind] = True
    low = 1 + better.sum(axis=1)
    low[behind] = np.maximum(low[behind], 2)
    return RankSets(low, np.maximum(len(above) - worse.sum(axis=1), low), separated, ruled)


def _from_the_top(above: IntArray) -> list[int]:
    """Return the positions of those with somebody above, each after the one above it."""
    steps = dict.fromkeys(np.flatnonzero(above < 0).tolist(), 0)
    for at in np.flatnonzero(above >= 0).tolist():
        way = [at]
        while way[-1] not in steps:
            if len(way) > len(above):
                raise InvalidArgument("above leads in a circle; expected positions that lead to nobody, -1")
            way.append(int(above[way[-1]]))
        for n, each in enumerate(reversed(way)):
            steps[each] = steps[way[-1]] + n
    return sorted((at for at, n in steps.items() if n), key=lambda at: (steps[at], at))


@dataclass
class LeftPairs:
    """Studentized differences, with each row's largest in every resample before any hypothesis is rejected.

    `bounds` is [n_entrants, n_resamples], from `Studentized.largest`. `rejected` is 0 where both directions of a pair
    are left, 1 where row has been shown better than column, −1 where worse: then only the other direction is left. A
    quantile below 0 may come out as any number up to 0.
    Raises InvalidArgument for another shape.
    """

    studentized: Studentized
    bounds: Real
    _rejected: Signs | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        require_shape("bounds", self.bounds, *self.studentized.rows.shape)

    def own(self, rejected: Signs, wanted: IntArray, n_largest: int) -> FloatArray:
        """Return, for each wanted row, the `n_largest`-th largest over resamples of its maximum, [n_wanted].

        `rejected` [n_entrants, n_entrants] says which hypotheses are left.
        Raises InvalidArgument for `rejected` of a different shape, and for `n_largest` outside 1 to n_resamples.
        Source: Romano & Wolf 2005 for the quantile; Fagin, Lotem & Naor 2003 for stopping at a bound.

        >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> none = np.zeros((2, 2), dtype=np.int8)
        >>> LeftPairs(each, each.largest()).own(none, np.arange(2), 2).round(6).tolist()
        [1.0, 1.0]
        """
        self._require(rejected, n_largest)
        quantiles, (order, steps) = np.empty(len(wanted)), self._order
        self._forget(rejected)
        among = (self._columns, self.bounds, order, steps, self._seen)

        def look(part: slice) -> None:
            for start in range(part.start, part.stop, NEAR):
                some = slice(start, min(start + NEAR, part.stop))
                ways = self._ways(rejected, wanted[some])
                _own(*among, ways, wanted[some], n_largest, LANES, quantiles[some])

        in_parts(len(wanted), 1, look, n_steps=OWN_STEPS * len(wanted) * len(rejected))
        return quantiles

    def _ways(self, rejected: Signs, wanted: IntArray) -> Real:
        """Return the factors of the differences, [n_wanted, 2, n_padded]; both the same if one direction is left."""
        ways = np.zeros((len(wanted), 2, self._columns.shape[1]), dtype=self.bounds.dtype)
        _fill_ways(self.studentized.factors, rejected, wanted, ways)
        return ways

    def _forget(self, rejected: Signs) -> None:
        """Drop the remembered maxima that may no longer hold, given what is rejected now."""
        before, self._rejected = self._rejected, rejected
        if before is not None:
            among = (self.studentized.rows, self.studentized.factors, rejected, before, self._order[0], self._seen)
            _forget(*among, 0, len(rejected))

    @cached_property
    def _seen(self) -> Real:
        """Return the remembered maxima, [n_entrants, N_SEEN + 1] by position in the order; inf if unknown."""
        return np.full((len(self.bounds), N_SEEN + 1), np.inf, dtype=self.bounds.dtype)

    def together(self, rejected: Signs, n_largest: int) -> float:
        """Return the `n_largest`-th largest over resamples of the largest difference of all rows.

        Raises and source: as for `own`.

        >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> none = np.zeros((2, 2), dtype=np.int8)
        >>> round(LeftPairs(each, each.largest()).together(none, 1), 6)
        2.0
        """
        self._require(rejected, n_largest)
        kept, most = [-np.inf] * n_largest, self.bounds.max(axis=0)
        for resample in np.argsort(-most).tolist():
            if most[resample] <= kept[0]:
                break
            heappushpop(kept, self._largest_in(rejected, resample))
        return kept[0]

    def _largest_in(self, rejected: Signs, resample: int) -> float:
        """Return the largest difference left in one resample, beginning with the row of the largest bound."""
        column, bounds = self._columns[resample, : len(self.bounds)], np.ascontiguousarray(self.bounds[:, resample])
        return float(_largest(column, self.studentized.factors, rejected, bounds, int(bounds.argmax())))

    @cached_property
    def _columns(self) -> Real:
        """Return the deviations, one row per resample, each padded with zeros to whole lanes."""
        n_entrants, n_resamples = self.bounds.shape
        columns = np.zeros((n_resamples, -(-n_entrants // LANES) * LANES), dtype=self.studentized.rows.dtype)
        columns[:, :n_entrants] = self.studentized.rows.T
        return columns

    @cached_property
    def _order(self) -> tuple[NDArray[np.int32], Real]:
        """Return each row's resamples, large bounds first, and by how much a later bound may exceed an earlier one."""
        order, steps = np.empty(self.bounds.shape, dtype=np.int32), np.empty(len(self.bounds), dtype=self.bounds.dtype)
        _put_in_order(self.bounds, N_BINS, order, steps)
        return order, steps

    def _require(self, rejected: Signs, n_largest: int) -> None:
        n_entrants, n_resamples = self.bounds.shape
        require_shape("rejected", rejected, n_entrants, n_entrants)
        require_count("n_largest", n_largest)
        require_count("the number of resamples", n_resamples, least=n_largest)


def _step_down(contests: Contests, pairs: LeftPairs, level: float, rounds: int, *, together: bool) -> Signs:
    """Return 1 where row is above column, −1 where below, 0 where undecided: row by row, or all pairs `together`."""
    n_entrants = len(contests.points)
    safe = _bonferroni(level, n_entrants * (n_entrants - 1) // 2 if together else n_entrants - 1)
    first = pairs.bounds.max(axis=0)[None, :] if together else pairs.bounds
    # In the end one direction of each pair is left, so the critical value is about that of twice the error rate.
    at_first, at_least = _quantiles(first, level, 2.0 * level - 1.0)
    critical = np.broadcast_to(at_first, n_entrants).copy()
    rejected, most = contests.signs(critical, safe), None
    for _ in range(rounds):
        most = contests.signs(np.broadcast_to(at_least, n_entrants), safe) if most is None else most
        wanted = _worth_another_test(rejected, most, together=together)
        if not len(wanted):
            break
        critical[wanted] = np.minimum(critical[wanted], _left(pairs, rejected, wanted, level, together=together))
        before, rejected = rejected, contests.signs(critical, safe)
        # Row by row: mostly the first few already differ.
        if all(map(np.array_equal, before, rejected)):
            break
    return rejected


def _left(pairs: LeftPairs, rejected: Signs, wanted: IntArray, level: float, *, together: bool) -> FloatArray:
    """Return the critical values over the hypotheses left: one per wanted row, or the same for all if `together`."""
    n_drawn = pairs.bounds.shape[1]
    n_largest = n_drawn - _place(n_drawn, level)
    quantiles = np.array([pairs.together(rejected, n_largest)]) if together else pairs.own(rejected, wanted, n_largest)
    return np.asarray(np.maximum(quantiles, _normal_quantile(level)), dtype=np.float64)


def _worth_another_test(rejected: Signs, most: Signs, *, together: bool) -> IntArray:
    """Return the rows with something rejected where more might be; if `together`, all rows or none."""
    rows: BoolArray = (rejected != most).any(axis=1) & rejected.any(axis=1)
    return np.flatnonzero(np.broadcast_to(rows.any(), rows.shape) if together else rows)


def _bonferroni(level: float, n_tests: int) -> float:
    return float(-ndtri((1.0 - level) / (2.0 * max(n_tests, 1))))


def _quantiles(largest: Real, *levels: float) -> list[FloatArray]:
    """Return the observed quantiles of each row, but no less than those of a single normal difference."""
    known = [max(level, 0.0) for level in levels]
    places = [_place(largest.shape[1], level) for level in known]
    observed = np.partition(largest, places, axis=1)[:, places].astype(np.float64)
    return [np.maximum(own, _normal_quantile(level)) for own, level in zip(observed.T, known, strict=True)]


def _place(n_drawn: int, level: float) -> int:
    """Return the index, from 0, of the quantile among `n_drawn` resamples in ascending order.

    A quantile of resamples is itself uncertain: the upper end of its interval is taken.
    """
    at = math.ceil(level * (n_drawn + 1) + DEVIATIONS * math.sqrt(n_drawn * level * (1.0 - level))) - 1
    return min(max(at, 0), n_drawn - 1)


def _normal_quantile(level: float) -> float:
    return float(ndtri((1.0 + level) / 2.0))


# Every pair of entrants compared on the same resamples: differences, their standard errors, p-values. Scores are
# larger-is-better. Replicates are [n_resamples, n_entrants], drawn with exponential weights by the unit's name
# (`app.stats.resample`).

STRIP_CELLS = 1 << 17
"""Cells of a square array computed at a time: 1 MiB of each array."""

ROUNDING = 1e-12
"""A spread below this fraction of the numbers' own size is rounding and counts as zero."""

FEW_DEGREES, MOST_FREEDOM = 30.0, 1e6

FEW_UNITS = 8


def _rounded_down(freedom: FloatArray) -> FloatArray:
    """Round degrees of freedom down: whole numbers up to 30, then steps of a tenth, where quantiles hardly differ."""
    factor = np.log(1.1)
    beyond = np.exp(np.floor(np.log(np.maximum(freedom, 1.0)) / factor) * factor)
    return np.minimum(np.where(freedom < FEW_DEGREES, np.floor(freedom), beyond), MOST_FREEDOM)


def _sign_test(freedom: FloatArray) -> FloatArray:
    """Return the normal quantile whose tail is the probability that all freedom + 1 units have the same sign."""
    quantiles: FloatArray = -ndtri(np.exp2(-(freedom + 1.0)))
    return quantiles


# Quantiles of the largest studentized difference over the hypotheses not yet rejected, mostly without computing it.
# The hypotheses left are a subset of all, so the maximum over all bounds theirs. A quantile needs only the few
# largest resamples: they are computed roughly in the order of their bounds, until none left can matter. A maximum
# stays one while its own hypothesis is left.

LANES = 256
"""Maxima kept in parallel lanes for vector instructions; a power of two."""

NEAR = 16
"""Rows per block, so that their factors stay in the processor's cache."""

N_BINS = 1024
"""Bins for sorting bounds."""

OWN_STEPS = 100
"""Resamples of a row that are looked at, about: for deciding whether threads are worthwhile."""

N_SEEN = 128
"""Resamples per row, those with the largest bounds, for which the last maximum is remembered."""


@compiled()
def _largest(column: Real, factors: Real, rejected: Signs, bounds: Real, begin: int) -> float:
    largest = -np.inf
    for place in range(-1, len(bounds)):
        first = begin if place < 0 else place
        if bounds[first] <= largest:
            continue
        here = column[first]
        for second in range(len(column)):
            value, sign = (here - column[second]) * factors[first, second], rejected[first, second]
            value = abs(value) if sign == 0 else -value if sign > 0 else value
            largest = value if value > largest else largest
    return largest


@compiled()
def _put_in_order(bounds: Real, n_bins: int, order: NDArray[np.int32], steps: Real) -> None:
    n_resamples = bounds.shape[1]
    bins, begins = np.empty(n_resamples, dtype=np.int32), np.empty(n_bins + 1, dtype=np.int32)
    for row in range(len(bounds)):
        highest, lowest = bounds[row, 0], bounds[row, 0]
        for resample in range(n_resamples):
            highest, lowest = max(highest, bounds[row, resample]), min(lowest, bounds[row, resample])
        span = highest - lowest
        scale = (n_bins - 1) / span if 0.0 < span < np.inf else 0.0
        steps[row] = 2.0 / scale if scale > 0.0 else np.inf  # twice the width of a bin, as places are rounded
        begins[:] = 0
        for resample in range(n_resamples):
            bins[resample] = np.int32((highest - bounds[row, resample]) * scale) if scale > 0.0 else 0
            begins[bins[resample] + 1] += 1
        for each in range(n_bins):
            begins[each + 1] += begins[each]
        for resample in range(n_resamples):
            order[row, begins[bins[resample]]] = resample
            begins[bins[resample]] += 1


@compiled()
def _forget(
    rows: Real,
    factors: Real,
    rejected: Signs,
    before: Signs,
    order: NDArray[np.int32],
    seen: Real,
    begin: int,
    end: int,
) -> None:
    n_places = min(seen.shape[1] - 1, order.shape[1])
    for first in range(begin, end):
        for second in range(len(factors)):
            sign, earlier = rejected[first, second], before[first, second]
            if sign == earlier:
                continue
            # One of two directions was rejected, so its maximum may be gone. Otherwise more may be left than before.
            lost = factors[first, second] if sign > 0 else -factors[first, second]
            for place in range(n_places):
                difference = rows[first, order[first, place]] - rows[second, order[first, place]]
                if earlier != 0 or difference * lost >= seen[first, place]:
                    seen[first, place] = np.inf


@compiled()
def _fill_ways(factors: Real, rejected: Signs, wanted: IntArray, ways: Real) -> None:
    for place in range(len(wanted)):
        for second in range(len(factors)):
            factor, sign = factors[wanted[place], second], rejected[wanted[place], second]
            ways[place, 0, second] = -factor if sign > 0 else factor
            ways[place, 1, second] = factor if sign < 0 else -factor


@compiled()
def _own(
    columns: Real,
    bounds: Real,
    order: NDArray[np.int32],
    steps: Real,
    seen: Real,
    ways: Real,
    wanted: IntArray,
    n_largest: int,
    n_lanes: int,
    quantiles: FloatArray,
) -> None:
    n_padded, unknown, lanes = columns.shape[1], seen.shape[1] - 1, np.empty(n_lanes, dtype=columns.dtype)
    for place in range(len(wanted)):
        first, up, down = wanted[place], ways[place, 0], ways[place, 1]
        kept = np.full(n_largest, -np.inf)
        for at in range(order.shape[1]):
            resample = order[first, at]
            if bounds[first, resample] + steps[first] <= kept[0]:
                break
            column, largest = columns[resample], seen[first, min(at, unknown)]
            if largest == np.inf:
                here = column[first]
                lanes[:] = -np.inf
                for start in range(0, n_padded, n_lanes):
                    others, ups, downs = column[start:][:n_lanes], up[start:][:n_lanes], down[start:][:n_lanes]
                    for lane in range(len(lanes)):
                        difference = here - others[lane]
                        one, other = difference * ups[lane], difference * downs[lane]
                        value = one if one > other else other
                        lanes[lane] = value if value > lanes[lane] else lanes[lane]
                half = n_lanes // 2
                while half > 0:  # the largest of all, again several at once
                    for lane in range(half):
                        lanes[lane] = lanes[lane + half] if lanes[lane + half] > lanes[lane] else lanes[lane]
                    half //= 2
                largest = lanes[0]
            seen[first, min(at, unknown)] = largest if at < unknown else np.inf
            slot = 0  # the kept are in ascending order
            while slot + 1 < n_largest and kept[slot + 1] < largest:
                kept[slot] = kept[slot + 1]
                slot += 1
            kept[slot] = largest if largest > kept[slot] else kept[slot]
        quantiles[place] = kept[0]


# Compact letter display: letters shared by exactly those entrants that are not separable.

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
