"""Confidence sets for ranks and for the best entrant, from studentized pairwise differences.

Called by `app.boards.standing`; pure. Ranks count from 1, which is the best.
Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for Ranks with Applications to Mobility across Neighbourhoods
and Academic Achievement across Countries, Review of Economic Studies 91(1).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import require_level
from app.stats.compiled import in_parts
from app.stats.contests import Contests
from app.stats.known_contests import KNOWN
from app.stats.left_pairs import LeftPairs
from app.stats.pair_loops import Real, Signs, Studentized
from app.stats.sign_loops import last_beside

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
        last = last_beside(self.separated, order)
        begins = np.arange(1, len(order)) > np.maximum.accumulate(last)[:-1]
        return np.concatenate([[1], 1 + np.cumsum(begins)]).astype(np.int64)


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
    studentized, recalled = Studentized.of(contests.deviations, contests.drawn), contests.recalled
    bounds = studentized.largest_of_all(recalled.bounds(studentized.rows.dtype), recalled.fresh)
    contests.let_go()
    KNOWN.keep(recalled, contests.drawn, bounds)
    del recalled
    pairs = LeftPairs(studentized, bounds)
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
    score, and those by rule along `above`, which must lead back to nobody.
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
            way.append(int(above[way[-1]]))
        for n, each in enumerate(reversed(way)):
            steps[each] = steps[way[-1]] + n
    return sorted((at for at, n in steps.items() if n), key=lambda at: (steps[at], at))


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
    observed = np.empty((len(largest), len(places)))

    def look(part: slice) -> None:
        observed[part] = np.partition(largest[part], places, axis=1)[:, places]

    in_parts(len(largest), 1, look, n_steps=largest.size)
    return [np.maximum(own, _normal_quantile(level)) for own, level in zip(observed.T, known, strict=True)]


def _place(n_drawn: int, level: float) -> int:
    """Return the index, from 0, of the quantile among `n_drawn` resamples in ascending order.

    A quantile of resamples is itself uncertain: the upper end of its interval is taken.
    """
    at = math.ceil(level * (n_drawn + 1) + DEVIATIONS * math.sqrt(n_drawn * level * (1.0 - level))) - 1
    return min(max(at, 0), n_drawn - 1)


def _normal_quantile(level: float) -> float:
    return float(ndtri((1.0 + level) / 2.0))
