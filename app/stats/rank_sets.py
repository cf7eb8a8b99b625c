"""One matrix of decisions between entrants, from studentized pairwise differences, with the p-value of each pair.

And all that is read from the matrix: rank sets, who may be first, groups. Ranks count from 1, which is the best. Tests
of two entrants on the same examples, McNemar's and the paired t, are in `app.stats.pairs`. Source: Mogstad, Romano,
Shaikh & Wilhelm 2024, Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement
across Countries, Review of Economic Studies 91(1).

Why: docs/adr/008-rank-sets.md.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappushpop

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import bdtrc, chdtri, nctdtrinc, ndtr, ndtri, stdtr, stdtrit

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    InvalidArgument,
    require_finite,
    require_level,
    require_number,
    require_shape,
)
from app.stats.compiled import (
    Real,
    Signs,
    Studentized,
    compiled,
    fill_leads,
    fill_signs,
    pair_variances,
    run_chunks,
    transposed,
)
from app.stats.resample import TIE, probability_beats

DEVIATIONS = 2.0
"""Standard errors added to a resampled quantile, because it is itself uncertain."""

MANY_SIGNS, MANY_RANKS = 14.0, 40.0
"""With so many degrees of freedom a sign test of all units is no bound for ranks any more, and with the second number
the quantile of the resamples holds of them: `bench.ranks`."""

SMALLEST_TAIL = 1e-100

MOST_EXACT_PAIRED = 200
"""Among more entrants the level of all pairs lies far beyond the sign test of few units; as many are compared pair by
pair, with their own p."""

WIDER = 3.0
"""How far replicates of discrete scores are spread: a difference of nine standard errors is then turned in one of a
thousand resamples."""

MOST_ROUNDS = 2
"""Rounds of step-down after the first test of all pairs; stopping early only decides less."""


@dataclass(frozen=True)
class RankSets:
    """What the matrix of decisions says of ranks; all of it holds at once at the level.

    `separated` [n_entrants, n_entrants] is True where row is better than column; it is transitive. `within` of the same
    shape, where it was asked for, is True where two are known to differ by less than what matters, which two that are
    separated may, too. `critical` is the critical value of all pairs, on the scale of the normal; NaN without a test.
    `first_p` [n_entrants] is the smallest error rate at which an entrant leaves the set of those that may be first: at
    most 1 − level where it is not in it; NaN without replicates. `ruled`, where there is a rule, is True where it
    decides that row is better, and `tested` where a test says so, whatever the rule.
    """

    separated: BoolArray
    first_p: FloatArray
    ruled: BoolArray | None = None
    tested: BoolArray | None = None
    within: BoolArray | None = None
    critical: float = float("nan")

    @property
    def both(self) -> BoolArray | None:
        """Say of which pairs a rule says that row is better, and a test, too; None without a rule."""
        return None if self.ruled is None or self.tested is None else self.ruled & self.tested

    @cached_property
    def low(self) -> IntArray:
        """Return the best rank that each may have, [n_entrants]: 1 + how many are better."""
        return np.asarray(1 + self.separated.sum(axis=0))

    @cached_property
    def high(self) -> IntArray:
        """Return the worst rank that each may have, [n_entrants]: n − how many a test says are worse.

        Whom only a rule puts behind is not counted: that it may not be first is no evidence that it is worse.
        """
        shown = self.separated if self.tested is None else self.tested
        return np.asarray(len(self.separated) - shown.sum(axis=1))

    @property
    def may_be_first(self) -> BoolArray:
        """Say who is separated from nobody better, [n_entrants]: at the level, whoever is truly first is among them."""
        return np.asarray(self.low == 1)

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
class AllPairs:
    """Every pair of entrants compared on the same resamples.

    `points` is [n_entrants], `replicates` [n_resamples, n_entrants]. `freedom` [n_entrants] holds the degrees of
    freedom of each entrant's spread, such as units − 1; NaN for an entrant without replicates, whose column repeats its
    point. `inflation` [n_entrants] is the factor that makes the variance of the replicates unbiased, by default 1 + 2 /
    freedom: exponential weights on n units give a mean the variance σ̂² / (n + 1), where σ̂² / (n − 1) is unbiased.
    `wide` [n_resamples, n_entrants] is given where scores are discrete, as ranks are: what they would be with what they
    are made of WIDER times as far from its value. A difference of one step may by chance be large relative to its
    standard error, or the same in every resample, though a little more would turn it; so a size is at most WIDER times
    the normal quantile of the share in which it is turned there.
    `are_ranks` says that scores are means of ranks, wins or points per unit. Over a few units these may differ by the
    same step by chance, so a size is at most that of a sign test in which every unit has the same sign. `by_unit`
    [n_units, n_entrants] are these ranks, wins or points of each unit, in any scale: a unit on which two tie has no
    sign, and of two who differ by one step wherever they do, or are alone, and so only win or lose a unit, the size is
    at most that of the sign test itself.
    `over_snapshots` means that the tail of a difference is that of its largest size at any look, however often one
    looks while units are added: `reach_over_looks` instead of Student's quantile.
    Raises InvalidArgument for arrays of mismatched shapes, for a number that is not finite, and for freedom below 1.
    """

    points: FloatArray
    replicates: FloatArray
    freedom: FloatArray
    inflation: FloatArray | None = None
    wide: FloatArray | None = None
    are_ranks: bool = False
    over_snapshots: bool = False
    by_unit: FloatArray | None = None

    def __post_init__(self) -> None:
        require_shape("points", self.points, "[n_entrants]")
        require_finite("points", self.points)
        require_shape("replicates", self.replicates, "[n_resamples]", len(self.points))
        require_finite("replicates", self.replicates)
        require_shape("freedom", self.freedom, len(self.points))

    @property
    def n_tests(self) -> int:
        """Return the number of pairs; of ranks twice, since over a few units they pass Student's quantile too often."""
        return _n_pairs(len(self.points)) * (2 if self.are_ranks else 1)

    def safe(self, level: float) -> float:
        """Return the critical value that bounds the error of all pairs whatever their resamples say: Bonferroni's."""
        return float(-ndtri((1.0 - level) / (2.0 * max(self.n_tests, 1))))

    @cached_property
    def has_spread(self) -> BoolArray:
        """Say which entrants have replicates, [n_entrants]."""
        return ~np.isnan(self.freedom)

    @cached_property
    def deviations(self) -> FloatArray:
        """Return replicates minus their mean, [n_entrants, n_resamples]."""
        rows = transposed(self.replicates)
        rows -= self.replicates.mean(axis=0)[:, None]
        return rows

    @cached_property
    def drawn(self) -> FloatArray:
        """Return the standard deviation of each difference over the resamples; 0 where it is the same in all."""
        spreads = pair_variances(self.deviations)
        np.sqrt(spreads, out=spreads)
        size = np.abs(self.points) + np.maximum(self.deviations.max(axis=1), -self.deviations.min(axis=1))
        for rows in self.strips(len(size)):
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

        Of discrete scores at most what `wide` says, and never infinite.
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
        if self.wide is None:
            return self._at_most_signs() if self.are_ranks else None
        won, n_drawn = probability_beats(self.wide), len(self.wide)
        # None of so many resamples is not never.
        lost = (np.minimum(won, won.T) * n_drawn + 0.5) / (n_drawn + 1.0)
        turned = -WIDER * ndtri(lost) / np.maximum(self._roots[:, None], self._roots[None, :])
        return np.asarray(np.minimum(self._sizes(EVERY), turned))

    def _at_most_signs(self) -> FloatArray | None:
        tails = self._sign_tails(np.arange(len(self.points)))
        if tails is None:
            return None
        # Of a tail as small as none scipy's quantile is of either sign.
        is_known = tails >= SMALLEST_TAIL
        most = np.where(is_known, self._reaches(self.pair_freedom(EVERY), np.where(is_known, tails, 0.5)), np.inf)
        return np.asarray(np.minimum(self._sizes(EVERY), most))

    def _sign_tails(self, at: IntArray) -> FloatArray | None:
        """Return the least one-sided tail that a difference of each pair can have for its signs, [n_at, n_at].

        0 for a pair of which signs say nothing; None where they do of nobody.
        """
        steps, _ = self._grid
        few = self._few_signs(at)
        if not len(steps) or steps.min() >= MANY_SIGNS:
            return few
        alike = self._by_freedom(at, lambda freedom: ndtr(-self._sign_test(freedom)))
        return alike if few is None else np.maximum(alike, few)

    def _few_signs(self, at: IntArray) -> FloatArray | None:
        """Return the same for pairs that differ on few units, 0 for others, [n_at, n_at]; None without any."""
        if self.by_unit is None:
            return None
        units = np.round(self.by_unit[:, at], 9)
        n_ties = np.zeros(len(at), dtype=np.int64)
        for of_unit in units:
            _, value, n_alike = np.unique(of_unit, return_inverse=True, return_counts=True)
            n_ties += n_alike[value] > 1
        # A pair ties on no more units than either of its two ties with anybody.
        few = np.flatnonzero(len(units) - n_ties <= MANY_SIGNS)
        if len(few) < 2:
            return None
        n_signs = np.zeros((len(few), len(few)))
        for of_unit in units[:, few]:
            n_signs += of_unit[:, None] != of_unit[None, :]
        own = np.minimum(ndtr(-self._sign_test(n_signs - 1.0)), 0.5)
        if len(few) <= MOST_EXACT_PAIRED and not self.over_snapshots:
            # Two who differ by one step wherever they differ only win or lose a unit, as two alone do, whatever the
            # units weigh.
            apart = units[:, few, None] - units[:, None, few]
            sizes, n_won = np.abs(apart), (apart > 0.0).sum(axis=0)
            are_one = sizes.max(axis=0) < np.where(sizes > 0.0, sizes, np.inf).min(axis=0) + 1e-6
            more = np.maximum(n_won, n_signs - n_won)
            own = np.where(
                are_one | (len(self.points) == 2),
                np.minimum(bdtrc(more - 1.0, n_signs.astype(np.int64), 0.5), 0.5),
                own,
            )
        tails = np.zeros((len(at), len(at)))
        tails[np.ix_(few, few)] = np.where(n_signs <= MANY_SIGNS, own, 0.0)
        return tails

    def strips(self, n_rows: int) -> Iterator[slice]:
        """Yield a few rows at a time, so that intermediate arrays stay in the processor's cache."""
        at_once = max(1, STRIP_CELLS // max(1, len(self.points)))
        return (slice(start, start + at_once) for start in range(0, n_rows, at_once))

    def signs(self, critical: float, safe: float) -> Signs:
        """Return 1 where row beats column by more than the critical value, −1 where it loses so, else 0.

        A critical value c is on the scale of the normal: it represents the quantile of Student's t with the same tail
        and the degrees of freedom of the pair. With fewer than MANY_UNITS units, of ranks with up to MANY_RANKS, and of
        discrete scores, it is at least `safe`, because their resamples have no tails to take a quantile from. Where a
        difference is the same in every resample, its error is unknown; its sign in each unit is used instead, as in a
        sign test. An entrant without replicates is above nobody and below nobody: its score may be far from its truth.
        """
        steps, place = self._grid
        values = np.where(self.without_tails(steps), max(critical, safe), critical)
        least, of_signs = self._reaches(steps, ndtr(-values)), self._sign_test(steps) > values
        signs = np.empty(self.drawn.shape, dtype=np.int8)
        among = (*self._compared, place, least, of_signs, self.has_spread, signs)
        run_chunks(len(signs), 1, lambda part: fill_signs(*among, part.start, part.stop), n_steps=signs.size)
        return signs

    def without_tails(self, freedom: FloatArray) -> BoolArray:
        """Say where resamples have no tails to take a quantile of the largest difference from, [n_freedom]."""
        few = MANY_RANKS if self.are_ranks else MANY_UNITS - 1.0
        return np.asarray((freedom < few) | (self.wide is not None))

    def can_be_apart(self, critical: float, at: IntArray) -> BoolArray:
        """Say which pairs some difference could separate at a critical value as of `signs`, [n_at, n_at].

        Of ranks over a few units none does where even the same sign in each would be no more than chance.
        """
        steps, _ = self._grid
        if not self.are_ranks or not len(steps) or steps.min() >= MANY_SIGNS:
            return np.ones((len(at), len(at)), dtype=np.bool_)
        return self._by_freedom(at, lambda freedom: self._sign_test(freedom)) > critical

    def to_be_found(self, critical: float, power: float, at: IntArray) -> FloatArray:
        """Return by how many standard errors two must differ to be found with a power, [n_at, n_at]: `to_be_found`.

        NaN where a difference is the same in every resample, or one has no replicates.
        """
        tail = float(ndtr(-critical))
        needed = self._by_freedom(at, lambda freedom: to_be_found(self._reaches(freedom, tail), freedom, power))
        has = self.has_spread[at]
        return np.where(has[:, None] & has[None, :] & (self.drawn[np.ix_(at, at)] > 0.0), needed, np.nan)

    def half_widths(self, critical: float, rows: Rows) -> FloatArray:
        """Return half the width of each difference's interval at a critical value as of `signs`, [n_rows, n_entrants].

        NaN where a difference is the same in every resample, or one has no replicates.
        """
        steps, place = self._grid
        quantiles = self._reaches(steps, ndtr(-critical))
        with np.errstate(invalid="ignore"):  # an endless quantile of what does not vary
            of_pairs = quantiles[np.minimum(place[rows][:, None], place[None, :])] * self.errors(rows)
        is_known = self.has_spread[rows][:, None] & self.has_spread[None, :] & (of_pairs > 0.0)
        return np.where(is_known, of_pairs, np.nan)

    def leads(self, rivals: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest lead that a rival with a better score has over each, [n_entrants, n_steps], −inf if none.

        `rivals` [n_entrants] says over whom the largest is taken. It is on the scale of the critical values of `signs`,
        apart for each of the degrees of freedom [n_steps], which come second.
        """
        steps, place = self._grid
        largest, is_constant = np.full((len(place), len(steps)), -np.inf), np.zeros((len(place), len(steps)), np.bool_)
        among = (*self._compared, place, self.has_spread & rivals, largest, is_constant)
        run_chunks(len(place), 1, lambda part: fill_leads(*among, part.start, part.stop), n_steps=self.drawn.size)
        tails = np.where(np.isneginf(largest), 1.0, self._tails(steps, largest))
        return np.maximum(-ndtri(tails), np.where(is_constant, self._sign_test(steps), -np.inf)), steps

    @property
    def _compared(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, bool, float]:
        sized = self._turned
        if sized is not None:
            return self.points, self._roots, np.ones_like(sized), sized, True, TIE
        return self.points, self._roots, self.drawn, self.drawn, False, TIE

    def p_values(self, at: IntArray) -> FloatArray:
        """Return the unadjusted two-sided p-value of each difference among some entrants, [n_at, n_at]; 1 for a tie."""
        sizes, freedom = self.sizes(at), self.pair_freedom(at, at)
        of_signs = self._by_freedom(at, lambda freedom: ndtr(-self._sign_test(freedom)))
        # Sizes are symmetric, and the tail probabilities take longest: each is computed once.
        upper = np.triu_indices(len(at))
        tails = np.empty(sizes.shape)
        tails[upper] = np.where(np.isinf(sizes[upper]), of_signs[upper], self._tails(freedom[upper], sizes[upper]))
        tails.T[upper] = tails[upper]
        few = self._few_signs(at)
        tails = tails if few is None else np.maximum(tails, few)
        values: FloatArray = np.where(self.differences(at, at) == 0.0, 1.0, np.minimum(1.0, 2.0 * tails))
        return values

    def margins(self, at: IntArray, level: float) -> FloatArray:
        """Return half the width of each difference's interval among some entrants, unadjusted, [n_at, n_at].

        NaN where the difference is the same in every resample, so that its error is unknown, and of ranks where even
        the same sign in each of so few units would be no more than chance.
        """
        tail = (1.0 - level) / 2.0
        quantiles = self._by_freedom(at, lambda freedom: self._reaches(freedom, tail))
        with np.errstate(invalid="ignore"):  # over snapshots few units reach no quantile, however small the error
            margins = quantiles * self.errors(at, at)
        of_signs = self._sign_tails(at) if self.are_ranks else None
        is_known = margins > 0.0 if of_signs is None else (margins > 0.0) & (of_signs < tail)
        return np.where(is_known, margins, np.nan)

    def one_look(self, critical: float) -> float:
        """Return the critical value by which a single look reaches as far, at the median degrees of freedom."""
        if not self.over_snapshots or not self.has_spread.any():
            return critical
        median = np.median(self.freedom[self.has_spread], keepdims=True)
        return float(-ndtri(stdtr(median, -self._reaches(median, ndtr(-critical))))[0])

    def _reaches(self, freedom: FloatArray, tails: FloatArray | float) -> FloatArray:
        """Return the sizes of differences, in standard errors, that are exceeded with these one-sided tails."""
        if self.over_snapshots:
            return reach_over_looks(freedom, 2.0 * np.asarray(tails))
        return np.asarray(-stdtrit(freedom, tails))

    def _tails(self, freedom: FloatArray, sizes: FloatArray) -> FloatArray:
        """Return the one-sided tails of sizes; the reverse of `_reaches`."""
        if self.over_snapshots:
            return np.asarray(error_over_looks(freedom, sizes) / 2.0)
        return np.asarray(stdtr(freedom, -sizes))

    def _sign_test(self, freedom: FloatArray) -> FloatArray:
        """Return the normal quantile whose tail is the probability that all freedom + 1 units have the same sign.

        Over looks it is at most that of n + 1 such: by an even mixture over the probabilities of a sign.
        """
        tails = np.exp2(-(freedom + 1.0))
        if self.over_snapshots:
            tails = np.minimum(0.5 * (freedom + 2.0) * tails, 0.5)
        return np.asarray(-ndtri(tails))

    def _by_freedom(self, at: IntArray, of: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return a function of each pair's degrees of freedom, [n_at, n_at], computed once for each distinct value."""
        steps, place = self._grid
        return np.asarray(of(steps)[np.minimum(place[at][:, None], place[at][None, :])])


def rank_sets(
    all_pairs: AllPairs, level: float, *, above: IntArray | None = None, smallest: float | None = None
) -> RankSets:
    """Return which pairs are separated, all of them at once at the level, and what that implies for ranks.

    Critical values are quantiles of the largest studentized difference of all pairs over the resamples, stepped down;
    they never fall below the normal quantile of a single difference. What decisions imply is decided, too: who is
    better than one who is better than a third is better than the third. That costs no level, since it is true wherever
    the decisions are, and it contradicts none of them, since all go the way of the points. `above` [n_entrants] is,
    for who is worse than another by rule, the position of that one, else −1: see `put_behind`.

    With `smallest`, the smallest difference that matters, two are within it where their interval at the critical value
    of all pairs is: two one-sided tests. Of a pair at most one of "equal" and "as far apart as matters" is
    true, so that both decisions hold at once with that critical value; it is then not stepped down.

    With `AllPairs.over_snapshots` no false decision is ever made, with the level as probability, however often one
    looks while units are added and entrants join: each pair of n entrants has 1 / n(n − 1)² of the error rate, so that
    those that the n-th brings have 1 / n(n − 1) together, which add up to at most one. Nothing is stepped down then.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Mogstad et al. 2024, sections 3.1 and 3.2; Schuirmann 1987 for equivalence; the correction for small
    samples, as in Student's t, is ours: see `AllPairs`. Over snapshots: `reach_over_looks`.

    >>> draws = np.random.default_rng(1).normal(size=(500, 3)) * 0.1
    >>> sets = rank_sets(AllPairs(np.array([0.0, 1.0, 1.05]), draws, np.full(3, 40.0)), 0.95)
    >>> (sets.low.tolist(), sets.high.tolist(), sets.may_be_first.tolist(), sets.first_p.round(2).tolist())
    ([3, 1, 1], [3, 2, 2], [False, True, True], [0.01, 1.0, 1.0])
    """
    require_level(level)
    roots = np.ones(len(all_pairs.points), dtype=np.bool_) if above is None else above < 0
    if all_pairs.over_snapshots:
        decided, critical, first_p = _over_looks(all_pairs, level, roots)
    else:
        decided, every, left = _step_down(all_pairs, level, MOST_ROUNDS if smallest is None else 0)
        critical = _quantile(every, level)
        if all_pairs.without_tails(all_pairs.freedom).any():
            critical = max(critical, all_pairs.safe(level))
        first_p = _first_p(all_pairs, level, every, left, roots)
    tested = _closed(decided > 0, np.argsort(-all_pairs.points, kind="stable"))
    sets = RankSets(tested, first_p) if above is None or roots.all() else put_behind(tested, first_p, above)
    # By rule, by implication, or by rounding an entrant is on the other side of 1 − level than its own leads are.
    alpha = round(1.0 - level, 12)
    stays = np.maximum(first_p, alpha + SMALLEST_STEP)
    first_p = np.where(sets.may_be_first, stays, np.minimum(sets.first_p, alpha))
    sets = replace(sets, first_p=first_p, critical=critical)
    return sets if smallest is None else replace(sets, within=_within(all_pairs, sets, smallest))


def _over_looks(all_pairs: AllPairs, level: float, roots: BoolArray) -> tuple[Signs, float, FloatArray]:
    """Return the decisions of all pairs over all looks, their critical value, and `first_p`, [n_entrants]."""
    n = len(all_pairs.points)
    n_tests = max(_n_pairs(n) * (n - 1), 1)
    critical = float(-ndtri((1.0 - level) / (2.0 * n_tests)))
    decided = all_pairs.signs(critical, critical)
    first_p = np.minimum(2.0 * n_tests * ndtr(-all_pairs.leads(roots)[0]), 1.0).min(axis=1)
    return decided, critical, np.where(all_pairs.has_spread, first_p, np.nan)


def to_be_found(reach: FloatArray, freedom: FloatArray, power: float) -> FloatArray:
    """Return by how many standard errors two must differ for a test to find it with a power.

    `reach` is the size in standard errors that the test needs, `freedom` its degrees; both are of any one shape, and
    NaN gives NaN. Source: the noncentral t distribution; Cohen 1988, Statistical power analysis.

    >>> to_be_found(np.array([8.57, 1e6]), np.array([15.0, 1.0]), 0.8).round(2).tolist()
    [9.97, 1281551.57]
    """
    many, is_far = freedom > MOST_EXACT, reach > FARTHEST
    exact = nctdtrinc(np.where(many, MOST_EXACT, freedom), 1.0 - power, np.where(is_far, FARTHEST, reach))
    # So far out chance in the difference is nothing beside chance in its standard error.
    far = reach * np.sqrt(chdtri(freedom, 1.0 - power) / freedom)
    return np.asarray(np.where(many, reach + ndtri(power), np.where(is_far, far, exact)))


def times_the_units(size: float, critical: float, freedom: float, power: float) -> float:
    """Return how many times the units a test of all pairs needs to find a difference, at least 1.

    `size` is the difference in today's standard errors, above 0; `critical` is on the scale of the normal and stays,
    while with more units than `freedom` + 1 the degrees of freedom grow and Student's quantile falls.
    Raises InvalidArgument for a size that is not above 0.
    Source: `to_be_found`; Chow, Shao & Wang 2008, Sample size calculations in clinical research, section 3.1.

    >>> round(times_the_units(2.0, 5.086, 15.0, 0.8), 1), times_the_units(20.0, 5.086, 15.0, 0.8)
    (9.6, 1.0)
    """
    require_number("size", size, SMALLEST_STEP)

    def lacking(logarithm: float) -> float:
        times = math.exp(logarithm)
        degrees = np.array([times * (freedom + 1.0) - 1.0])
        needed = to_be_found(np.asarray(-stdtrit(degrees, ndtr(-critical))), degrees, power)
        return float(needed[0]) - math.sqrt(times) * size

    return 1.0 if lacking(0.0) <= 0.0 else math.exp(brentq(lacking, 0.0, 2.0 * math.log(MOST_EXACT / size) + 20.0))


MOST_EXACT = 1e4
"""Beyond so many degrees of freedom the noncentral t is a normal around its centre."""

FARTHEST = 1e3
"""From so many standard errors on the noncentral t is its limit: scipy's takes minutes, and holds the interpreter."""

EFFECT = 4.0
"""The variance of differences between entrants, in variances of a difference on one unit, for which looks are sharpest.

Any number is valid; with a larger one few units decide more, and many units less."""


def reach_over_looks(freedom: FloatArray, error_rates: FloatArray) -> FloatArray:
    """Return how many standard errors a difference of no truth reaches at any look, with these probabilities at most.

    `freedom` [n_looks] is units − 1, and `error_rates` [n_looks], or one for all; infinite, and never null or
    NaN, where so few units can decide nothing.
    Source: Lai 1976, On confidence sequences, with normal effects as in Wang & Ramdas 2024, Anytime-valid t-tests and
    confidence sequences for Gaussian means with unknown variance: exact for normal values, whatever their spread.

    >>> reach_over_looks(np.array([4.0, 19.0, 399.0]), np.array([0.05])).round(2).tolist()
    [5.36, 3.63, 3.68]
    """
    prior = 1.0 + EFFECT * (freedom + 1.0)
    needed = (np.log(prior) - 2.0 * np.log(error_rates)) / (freedom + 1.0)
    left = 1.0 - np.exp(needed) / prior
    squares = np.full(np.broadcast_shapes(left.shape, freedom.shape), np.inf)
    np.divide(freedom * np.expm1(needed), left, out=squares, where=left > 0.0)
    return np.asarray(np.sqrt(squares))


def error_over_looks(freedom: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the smallest error rate at which a difference of so many standard errors is one, at most 1.

    `freedom` [n_looks] is units − 1, of as many sizes; never null or NaN. Source: the inversion of `reach_over_looks`.

    >>> error_over_looks(np.array([19.0, 1.0]), np.array([3.63, np.inf])).round(2).tolist()
    [0.05, 0.33]
    """
    prior, squares = 1.0 + EFFECT * (freedom + 1.0), sizes**2 / freedom
    with np.errstate(invalid="ignore"):
        gained = np.where(np.isinf(sizes), np.log(prior), np.log1p(squares) - np.log1p(squares / prior))
    return np.asarray(np.minimum(np.exp(0.5 * (np.log(prior) - (freedom + 1.0) * gained)), 1.0))


def _within(all_pairs: AllPairs, sets: RankSets, smallest: float) -> BoolArray:
    """Say which pairs are known to differ by less than what matters, [n_entrants, n_entrants]."""
    within = np.zeros(sets.separated.shape, dtype=np.bool_)
    for rows in all_pairs.strips(len(within)):
        differ = np.abs(all_pairs.differences(rows))
        # NaN, an unknown width, is within nothing.
        within[rows] = differ + all_pairs.half_widths(sets.critical, rows) <= smallest
    return within


def put_behind(tested: BoolArray, first_p: FloatArray, above: IntArray) -> RankSets:
    """Return the sets in which some entrants are worse than another by rule, `above` [n_entrants], −1 where not.

    `tested` [n_entrants, n_entrants] is True where row is above column by the tests. None of those put behind may be
    first, whatever the level, so their `first_p` is 0. They stay better only than whom all above them by rule are
    better than, too, and take a rank from nobody else. So decisions stay transitive where the tests are, and somebody
    may always be first: decisions by test go up in the score, and those by rule along `above`.
    Raises InvalidArgument where `above` leads in a circle, and not to somebody who is behind nobody.
    Source: our rule, docs/statistics.md, "Who may be first with gaps".

    >>> tests = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    >>> sets = put_behind(tests, np.ones(3), np.array([1, -1, -1]))
    >>> (sets.low.tolist(), sets.high.tolist(), sets.may_be_first.tolist(), sets.first_p.tolist())
    ([2, 1, 1], [3, 3, 3], [False, True, True], [0.0, 1.0, 1.0])
    """
    tested = tested.copy()
    behind = _from_the_top(above)
    for at in behind:
        tested[at] &= tested[above[at]]
    separated = tested.copy()
    for at in behind:
        separated[:, at] |= separated[:, above[at]]
        separated[above[at], at] = True
    ruled = separated & ~tested
    ruled[above[behind], behind] = True
    return RankSets(separated, np.where(above < 0, first_p, 0.0), ruled, separated & tested)


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


def _step_down(all_pairs: AllPairs, level: float, most_rounds: int) -> tuple[Signs, Real, Real]:
    """Return 1 where row is above column, −1 where below, 0 where undecided, from the test of all pairs.

    Then the largest differences [n_resamples] of all pairs, and of those left when the last critical value was taken.
    """
    studentized = Studentized.of(all_pairs.deviations, all_pairs.drawn)
    all_pairs.let_go()
    bounds, safe = studentized.largest(), all_pairs.safe(level)
    every = left = bounds.max(axis=0)
    critical = _quantile(every, level)
    rejected, most = all_pairs.signs(critical, safe), None
    columns = transposed(studentized.rows)
    for _ in range(most_rounds):
        # In the end one direction of each pair is left, so the critical value is about that of twice the error rate.
        most = all_pairs.signs(_quantile(every, 2.0 * level - 1.0), safe) if most is None else most
        if not rejected.any() or np.array_equal(rejected, most):
            break
        left = left_maxima(columns, studentized.factors, bounds, rejected, len(every) - _place(len(every), level))
        critical = min(critical, _quantile(left, level))
        before, rejected = rejected, all_pairs.signs(critical, safe)
        if np.array_equal(before, rejected):
            break
    return rejected, every, left


def left_maxima(columns: Real, factors: Real, bounds: Real, rejected: Signs, n_largest: int) -> Real:
    """Return the largest studentized difference of the pairs left in each resample, [n_resamples].

    `columns` [n_resamples, n_entrants] are the deviations, `factors` [n_entrants, n_entrants] and `bounds` [n_entrants,
    n_resamples] from `Studentized`. `rejected` is 0 where both directions of a pair are left, 1 where row has been
    shown better than column, −1 where worse: then only the other direction is left. Only the `n_largest` largest are
    computed; the others are what they are at most, before anything was rejected or, if less, the `n_largest`-th.
    Source: Romano & Wolf 2005 for what is left; Fagin, Lotem & Naor 2003 for stopping at a bound.

    >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> nothing = np.zeros((2, 2), dtype=np.int8)
    >>> left_maxima(transposed(each.rows), each.factors, each.largest(), nothing, 2).round(6).tolist()
    [1.0, 2.0]
    """
    most: Real = bounds.max(axis=0)
    kept = [-np.inf] * n_largest
    for resample in np.argsort(-most).tolist():
        if most[resample] <= kept[0]:
            break
        of_rows = np.ascontiguousarray(bounds[:, resample])
        most[resample] = _largest(columns[resample], factors, rejected, of_rows, int(of_rows.argmax()))
        heappushpop(kept, float(most[resample]))
    return most


def _closed(better: BoolArray, order: IntArray) -> BoolArray:
    """Return the decisions with all that they imply; `order` are the positions by descending points."""
    n = len(order)
    bits = np.zeros((n, -(-n // 64) * 64), dtype=np.bool_)
    bits[:, :n] = better[np.ix_(order, order)]
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    _close(words)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").view(np.bool_)
    back = np.argsort(order)
    return bits[np.ix_(back, back)]


@compiled()
def _close(words: NDArray[np.uint64]) -> None:
    """Decide in place what decisions imply, 64 to a word; nobody is better than one before it."""
    implied = np.empty(words.shape[1], dtype=np.uint64)
    for row in range(len(words) - 1, -1, -1):
        implied[:] = 0
        for other in range(row + 1, len(words)):
            at, bit = other // 64, np.uint64(1) << np.uint64(other % 64)
            # All that is implied by one that is implied itself is known already.
            if words[row, at] & bit and not implied[at] & bit:
                for place in range(at, len(implied)):
                    implied[place] |= words[other, place]
        for place in range(len(implied)):
            words[row, place] |= implied[place]


def _first_p(all_pairs: AllPairs, level: float, every: Real, left: Real, rivals: BoolArray) -> FloatArray:
    """Return the smallest error rate at which each is shown worse than a rival, [n_entrants]; NaN without replicates.

    Below 1 − level that is by the maxima of all pairs, `every`; from there on what is rejected at 1 − level need not be
    tested again, so that it is by the maxima of what is `left`.
    """
    leads, steps = all_pairs.leads(rivals)
    n_tests = np.where(all_pairs.without_tails(steps), all_pairs.n_tests, 1.0)
    of_single = 2.0 * n_tests * ndtr(-leads)
    of_every, of_left = (
        np.minimum(np.maximum(of_single, _share_above(maxima, leads)), 1.0).min(axis=1) for maxima in (every, left)
    )
    smallest = np.minimum(of_every, np.maximum(of_left, 1.0 - level))
    return np.where(all_pairs.has_spread, smallest, np.nan)


def _share_above(maxima: Real, values: FloatArray) -> FloatArray:
    """Return the smallest error rate whose quantile of the maxima, as `_quantile` takes it, is below each value."""
    n_drawn, ordered = len(maxima), np.sort(maxima).astype(np.float64)
    n_below = np.searchsorted(ordered, values, side="left")
    # The level at which the place in `_place` is the last one below: the lesser root of a quadratic equation.
    a, d = n_drawn + 1.0, DEVIATIONS**2 * n_drawn
    half = a * n_below + d / 2.0
    level = (half - np.sqrt(np.maximum(half**2 - (a**2 + d) * n_below**2.0, 0.0))) / (a**2 + d)
    return np.asarray(1.0 - level)


def _n_pairs(n_entrants: int) -> int:
    return n_entrants * (n_entrants - 1) // 2


def _quantile(maxima: Real, level: float) -> float:
    """Return the observed quantile, but no less than that of a single normal difference."""
    known = max(level, 0.0)
    place = _place(len(maxima), known)
    return max(float(np.partition(maxima, place)[place]), _normal_quantile(known))


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

SMALLEST_STEP = 1e-9
"""By as much a p-value is above 1 − level at least where its entrant stays: more than rounding of it."""

FEW_DEGREES, MOST_FREEDOM, NEARLY_WHOLE = 30.0, 1e6, 1e-4

MANY_UNITS = 41
"""With fewer units the resamples' quantile of many differences is too low: `bench.families`, docs/statistics.md."""


def _rounded_down(freedom: FloatArray) -> FloatArray:
    """Round degrees of freedom down: whole numbers up to 30, then steps of a tenth, where quantiles hardly differ.

    What is a whole number but for a weight that is hardly another is that number.
    """
    factor, freedom = np.log(1.1), freedom + NEARLY_WHOLE
    beyond = np.exp(np.floor(np.log(np.maximum(freedom, 1.0)) / factor) * factor)
    return np.minimum(np.where(freedom < FEW_DEGREES, np.floor(freedom), beyond), MOST_FREEDOM)


@compiled()
def _largest(column: Real, factors: Real, rejected: Signs, bounds: Real, begin: int) -> float:
    largest = -np.inf
    for place in range(-1, len(bounds)):
        first = begin if place < 0 else place
        if bounds[first] <= largest:
            continue
        here = column[first]
        for second in range(first + 1, len(column)):
            value, sign = (here - column[second]) * factors[first, second], rejected[first, second]
            value = abs(value) if sign == 0 else -value if sign > 0 else value
            largest = value if value > largest else largest
    return largest


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
