"""Every ordered pair of entrants compared: task by task (wins, relative errors, mean ranks) or by McNemar and paired t.

The two tests are on the same examples; all other p-values of pairs are those of `app.stats.rank_sets.AllPairs`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_finite,
    require_level,
    require_number,
    require_numbers,
    require_shape,
    share,
)
from app.stats.compiled import compiled, run_chunks
from app.stats.resample import MonotoneScale, Resamples, ends_of, order_replicates, percentile_interval

AnyFloatArray = NDArray[np.floating[Any]]

BLOCK_CELLS = 2_000_000

FEWEST = 16


EXACT_TASKS = 1 << 23
"""Sums of half-integers below this are exact in single precision."""


@dataclass(frozen=True)
class PairStatistics:
    """Point and interval of the effect and the win rate of every ordered pair, each [n_entrants, n_entrants].

    Intervals are NaN without resamples.
    """

    skill: FloatArray
    skill_low: FloatArray
    skill_high: FloatArray
    win_rate: FloatArray
    win_rate_low: FloatArray
    win_rate_high: FloatArray


@dataclass(frozen=True)
class Contrast:
    """How two entrants are compared: `of` gives a number per task, `scale` turns its mean over tasks into the effect.

    `is_antisymmetric` means that swapping the two entrants negates `of`. `falls` means that the effect decreases as the
    mean increases.
    """

    of: Callable[[FloatArray, FloatArray], FloatArray]
    scale: Callable[[FloatArray], FloatArray]
    is_antisymmetric: bool
    falls: bool = False


@dataclass(frozen=True)
class _Block:
    """Some ordered pairs, the entrant at `first` against the one at `second`; mirrored ones fill both orders."""

    first: IntArray
    second: IntArray
    is_mirrored: bool


def compare(
    errors: FloatArray,
    contrast: Contrast | None,
    resamples: Resamples | None,
    level: float,
    *,
    wanted: BoolArray | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair on errors [n_tasks, n_entrants]; the smaller error wins a task, ties counting half.

    If the contrast is antisymmetric, only half of the pairs are resampled: the other half is the mirror image.
    Without a contrast the effect is NaN and only win rates are computed. Memory is O(block_cells), which does not
    change the result. By default every pair is `wanted` [n_entrants, n_entrants]; the others are NaN. A pair whose
    contrast is NaN on any task has the effect NaN; a task where either error is NaN is won by neither. Intervals are
    NaN without resamples.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: Efron & Tibshirani 1993, section 13.3, with tasks as the paired units.

    >>> difference = Contrast(np.subtract, np.asarray, True)
    >>> pairs = compare(np.array([[1.0, 2.0], [3.0, 3.0]]), difference, None, 0.95)
    >>> (pairs.skill.tolist(), pairs.win_rate.tolist())
    ([[0.0, -0.5], [0.5, 0.0]], [[0.5, 0.75], [0.25, 0.5]])
    """
    require_level(level)
    require_shape("errors", errors, "[n_tasks]", "[n_entrants]")
    require_count("block_cells", block_cells)
    if resamples is not None:
        require_shape("errors", errors, resamples.n_units, "[n_entrants]")
    numbers = np.full((6, errors.shape[1], errors.shape[1]), np.nan)
    wanted = np.ones(numbers.shape[1:], dtype=np.bool_) if wanted is None else wanted
    require_shape("wanted", wanted, *numbers.shape[1:])
    n_rows = len(errors) if resamples is None else max(len(errors), resamples.n_resamples)
    is_mirrored = contrast is None or contrast.is_antisymmetric
    for block in _blocks(wanted, max(1, block_cells // n_rows), is_mirrored=is_mirrored):
        a, b = errors[:, block.first], errors[:, block.second]
        _fill_wins(numbers[3:], block, _wins(a, b), resamples, level)
        if contrast is not None:
            _fill_effects(numbers[:3], block, contrast.of(a, b), contrast, resamples, level)
    return PairStatistics(*numbers)


def _blocks(wanted: BoolArray, width: int, *, is_mirrored: bool) -> Iterator[_Block]:
    """Yield the pairs that are wanted, in blocks.

    A matrix product with very few columns is summed in a different order, which changes the last digit. So that a
    pair's result does not depend on its block, a small last block is padded with pairs that are computed twice.
    """
    first, second = np.nonzero(np.triu(wanted | wanted.T) if is_mirrored else wanted)
    for start in range(0, len(first), width):
        part = slice(start, start + width)
        size = max(len(first[part]), min(width, FEWEST))
        yield _Block(np.resize(first[part], size), np.resize(second[part], size), is_mirrored)


def _wins(a: FloatArray, b: FloatArray) -> AnyFloatArray:
    wins: AnyFloatArray = (a < b).astype(np.float32 if len(a) < EXACT_TASKS else np.float64)
    wins[a == b] = 0.5
    return wins


def _fill_effects(
    effects: FloatArray, block: _Block, each: FloatArray, contrast: Contrast, resamples: Resamples | None, level: float
) -> None:
    a, b, scale = block.first, block.second, contrast.scale
    point = each.mean(axis=0)
    # The mirror image first, so that the diagonal keeps its own zero rather than a negated one.
    if block.is_mirrored:
        effects[0, b, a] = scale(-point)
    effects[0, a, b] = scale(point)
    if resamples is None:
        return
    # Quantiles interpolate between replicates, so they are taken on the scale of effects, not of means.
    drawn = order_replicates(resamples.means(each))
    if block.is_mirrored:
        mirrored = MonotoneScale(lambda means: scale(-means), falls=not contrast.falls)
        effects[1, b, a], effects[2, b, a] = ends_of(drawn, level, mirrored)
    effects[1, a, b], effects[2, a, b] = ends_of(drawn, level, MonotoneScale(scale, contrast.falls))


def _fill_wins(
    rates: FloatArray,
    block: _Block,
    wins: AnyFloatArray,
    resamples: Resamples | None,
    level: float,
) -> None:
    a, b = block.first, block.second
    point = wins.mean(axis=0, dtype=np.float64)
    low, high = (np.nan, np.nan) if resamples is None else percentile_interval(resamples.means(wins), level)
    if block.is_mirrored:
        rates[0, b, a], rates[1, b, a], rates[2, b, a] = 1.0 - point, 1.0 - high, 1.0 - low
    rates[0, a, b], rates[1, a, b], rates[2, a, b] = point, low, high


def compare_wins(
    values: FloatArray, resamples: Resamples | None, *, level: float, wanted: BoolArray | None = None
) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better, only by who wins each task.

    The win rate counts the tasks on which A is larger, ties counting half; the effect is NaN, and so are pairs that are
    not `wanted` [n_entrants, n_entrants]. Infinite values are ordered: -inf loses to every other value and ties with
    -inf.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: fev 0.10, its win rate.

    >>> compare_wins(np.array([[1.0, -np.inf], [3.0, 3.0]]), None, level=0.95).win_rate.tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    return compare(-values, None, resamples, level, wanted=wanted)


# Relative errors over tasks: geometric-mean skill and win rates, as statistics of resampled tasks. Errors are
# positive numbers, smaller is better, [n_tasks, n_entrants]. Source: the definitions of fev's analysis functions.

MANY_SHARES = 200_000
"""Boards with fewer win shares than this are too quick to sum to be worth optimizing."""

EXACT_SINGLE = 1 << 24
"""Integers up to this are exact in single precision."""


def skill(mean_log_ratios: FloatArray) -> FloatArray:
    """Return 1 − geometric mean of ratios, from the mean of their natural logarithms; higher is better.

    It takes any shape and returns the same; the skill is unitless and at most 1. NaN gives NaN. Raises nothing.
    Source: fev 0.10, `leaderboard`: skill_score = 1 − gmean of the clipped relative errors.

    >>> skill(np.log(np.array([0.5, 1.0, 2.0]))).round(12).tolist()
    [0.5, 0.0, -1.0]
    """
    scores: FloatArray = 0.0 - np.expm1(mean_log_ratios)
    return scores


def average_ranks(errors: FloatArray, *, block_cells: int = BLOCK_CELLS) -> FloatArray:
    """Return the entrants' ranks on each task, the smallest error first, ties sharing the average rank.

    `errors` and the ranks are [n_tasks, n_entrants]; ranks count from 1. The result does not depend on `block_cells`.
    Raises InvalidArgument for NaN, which cannot be ordered, and for no entrant.
    Source: Kendall 1945 for tied ranks.

    >>> average_ranks(np.array([[0.5, 0.1, 0.5]])).tolist()
    [[2.5, 1.0, 2.5]]
    """
    require_count("block_cells", block_cells)
    require_shape("errors", errors, "n_tasks", "[n_entrants]")
    require_numbers("errors", errors)
    return _ranked(errors, None, block_cells)[0]


def _ranked(
    errors: FloatArray, finer: FloatArray | None, block_cells: int = BLOCK_CELLS
) -> tuple[FloatArray, FloatArray]:
    """Return the ranks of `errors` and the sums of the ranks of `finer`, which orders alike but has fewer ties.

    One sort serves both. Ranks are multiples of one half, so their sums are exact in any order.
    """
    ranks, sums = np.empty(errors.shape), np.zeros(errors.shape[1])
    n_rows = max(1, block_cells // errors.shape[1])
    for start in range(0, len(errors), n_rows):
        rows = slice(start, start + n_rows)
        order = np.argsort((errors if finer is None else finer)[rows], axis=1)
        _fill_ranks(errors[rows], order, ranks[rows])
        if finer is not None:
            own = np.empty(order.shape)
            _fill_ranks(finer[rows], order, own)
            sums += own.sum(axis=0)
    return ranks, sums


@compiled()
def _fill_ranks(errors: FloatArray, order: IntArray, ranks: FloatArray) -> None:
    for row in range(len(errors)):
        first = 0
        while first < errors.shape[1]:
            value, last = errors[row, order[row, first]], first + 1
            while last < errors.shape[1] and errors[row, order[row, last]] == value:
                last += 1
            for place in range(first, last):
                ranks[row, order[row, place]] = 0.5 * (first + 1 + last)
            first = last


def win_shares(errors: FloatArray) -> FloatArray:
    """Return, per task, the share of opponents that an entrant beats, ties counting half, [n_tasks, n_entrants].

    An entrant with the average rank r beats n − r opponents; larger is better.
    Raises InvalidArgument for fewer than two entrants, since there is no opponent, and for NaN.
    Source: fev 0.10, `leaderboard`: win_rate = mean over opponents of A < B, plus half of A = B.

    >>> win_shares(np.array([[1.0, 2.0, 2.0]])).tolist()
    [[1.0, 0.25, 0.25]]
    """
    require_shape("errors", errors, "n_tasks", "n_entrants")
    require_count("the number of entrants", errors.shape[1], least=2)
    return _shares(average_ranks(errors))


def wins_and_ranks(errors: FloatArray, finer: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares of `win_shares`, [n_tasks, n_entrants], and the mean ranks of finer errors, [n_entrants].

    `finer` [n_tasks, n_entrants] is what `errors` was computed from, monotonically on each task, such as by ratios to a
    baseline that were clipped: so `errors` never decreases where `finer` increases.
    Raises InvalidArgument for fewer than two entrants, other shapes and NaN, which cannot be ordered.
    Source: as for `win_shares` and `average_ranks`.

    >>> wins_and_ranks(np.array([[1.0, 2.0, 2.0]]), np.array([[1.0, 2.0, 3.0]]))[1].tolist()
    [1.0, 2.0, 3.0]
    """
    require_shape("errors", errors, "[n_tasks]", "n_entrants")
    require_shape("finer", finer, *errors.shape)
    require_count("the number of entrants", errors.shape[1], least=2)
    require_numbers("errors", errors)
    require_numbers("finer", finer)
    ranks, sums = _ranked(errors, finer)
    return _shares(ranks), sums / len(errors)


def _shares(ranks: FloatArray) -> FloatArray:
    """Turn ranks into win shares in place, because each such array of a large board is a lot of memory."""
    n_entrants = ranks.shape[1]
    shares = np.subtract(n_entrants, ranks, out=ranks)
    shares /= n_entrants - 1
    return shares


def resampled_shares(shares: FloatArray, resamples: Resamples) -> FloatArray:
    """Return the mean of `win_shares` [n_tasks, n_entrants] over resampled tasks, [n_resamples, n_entrants].

    Twice a share times the number of opponents is an integer. On a large board those integers are summed in single
    precision, exactly while they are small enough, in half the time. NaN gives NaN in every resample.
    Raises InvalidArgument for resamples of another number of tasks.
    Source: Efron & Tibshirani 1993, section 6.2.

    >>> drawn = Resamples(2, 3, lambda: np.random.default_rng(1))
    >>> resampled_shares(np.array([[1.0, 0.0], [1.0, 0.0]]), drawn).tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    """
    n_halves = 2 * (shares.shape[1] - 1)
    if shares.size < MANY_SHARES or len(shares) * n_halves > EXACT_SINGLE:
        return resamples.means(shares)
    means = resamples.means(np.rint(shares * n_halves).astype(np.float32))
    means /= n_halves
    return means


def compare_pairs(
    errors: FloatArray,
    resamples: Resamples | None,
    *,
    clip: tuple[float, float],
    level: float,
    wanted: BoolArray | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair of entrants by skill, from clipped error ratios, and by win rate, from unclipped ones.

    `errors` is [n_tasks, n_entrants], smaller being better; the row's skill and win rate are larger-is-better. NaN and
    `wanted` are as in `compare`, ratios of zeros as in `ratios`.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: fev 0.10, `pairwise_comparison`.

    >>> compare_pairs(np.array([[1.0, 2.0]]), None, clip=(0.01, 100.0), level=0.95).skill.round(12).tolist()
    [[0.0, 0.5], [-1.0, 0.0]]
    """
    symmetric = bool(np.isclose(clip[0] * clip[1], 1.0, rtol=1e-15))
    contrast = Contrast(
        lambda a, b: np.log(np.clip(ratios(a, b), *clip)),
        skill,
        is_antisymmetric=symmetric,
        falls=True,
    )
    return compare(errors, contrast, resamples, level, wanted=wanted, block_cells=block_cells)


def ratios(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a / b, to be clipped: equal errors have the ratio 1, including 0 / 0; any other error over 0 is infinite.

    Errors may have any shapes that broadcast; smaller is better. NaN in either gives NaN.
    Raises ValueError, numpy's own, for shapes that do not broadcast.
    Source: our convention for 0 / 0; the clip of fev 0.10 makes every ratio finite.

    >>> ratios(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0])).tolist()
    [1.0, inf, 1.5]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Adding 0 turns a negative zero, from a tiny negative number in the upload, into a positive one.
        quotients: FloatArray = np.asarray(a / (b + 0.0))
    # Finite numbers other than 0 divide by themselves to 1 anyway; skipping them saves time on a large board.
    if not (np.isfinite(b).all() and b.all()):
        quotients[np.equal(a, b)] = 1.0
    return quotients


# Points for entrants from their order on each task.


def borda_points(better: FloatArray) -> FloatArray:
    """Return the Borda points of each entrant on each task, [n_tasks, n_entrants]; larger is better.

    `better` is [n_tasks, n_entrants] in any unit, larger being better; NaN means no result: it gets no points and ranks
    behind every result. A result with rank r, ties sharing the average rank, gets n − r points, where n counts all
    entrants, including those without a result.
    Raises InvalidArgument for no entrant.
    Source: MTEB, its leaderboard's `_borda_count`; Colombo et al. 2022, What are the best systems? (Borda's count).

    >>> borda_points(np.array([[0.9, 0.5, 0.5], [0.1, np.nan, 0.2]])).tolist()
    [[2.0, 0.5, 0.5], [1.0, 0.0, 2.0]]
    """
    require_shape("better", better, "n_tasks", "[n_entrants]")
    ranks = scipy.stats.rankdata(-better, axis=1, nan_policy="omit")
    points: FloatArray = np.where(np.isnan(better), 0.0, better.shape[1] - ranks)
    return points


def within(better: FloatArray, some: BoolArray, points_of: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return points among the entrants marked in `some` [n_entrants], [n_tasks, n_entrants]; 0 for all others.

    `points_of` is given the columns of `better` [n_tasks, n_some], larger being better, and returns an array of that
    shape; it must handle NaN itself. A single entrant has 0 points. Raises what `points_of` raises.
    Source: none; it selects columns.

    >>> within(np.array([[1.0, np.nan, 2.0]]), np.array([True, False, True]), lambda b: b * 10).tolist()
    [[10.0, 0.0, 20.0]]
    """
    points = np.zeros(better.shape)
    if some.sum() > 1:
        points[:, some] = points_of(better[:, some])
    return points


def ranks_beside(others: FloatArray, points: FloatArray, owns: FloatArray, counts: FloatArray) -> IntArray:
    """Return each candidate's rank by Borda points if it alone joined the others, [n_owns].

    `owns` [n_tasks, n_owns] are the candidates' results. `others` is [n_tasks, n_others] and `points` [n_others] their
    points among themselves; larger is better, in any unit. `counts` [n_tasks] is the weight of each task's points. Ties
    share a point; 1 is the best rank.
    Raises InvalidArgument for arrays of mismatched shapes.
    Source: as for `borda_points`, updated for one more entrant.

    >>> ranks_beside(np.array([[0.9, 0.5]]), np.array([1.0, 0.0]), np.array([[0.7, 0.4]]), np.ones(1)).tolist()
    [2, 3]
    """
    require_shape("others", others, "n_tasks", "n_others")
    n_tasks, n_others = others.shape
    require_shape("points", points, n_others)
    require_shape("owns", owns, n_tasks, "n_owns")
    require_shape("counts", counts, n_tasks)
    rows, own_rows = np.ascontiguousarray(others.T), np.ascontiguousarray(owns.T)
    ranks, n_steps = np.empty(len(own_rows), dtype=np.int64), others.size * len(own_rows)

    def rank(part: slice) -> None:
        _fill_ranks_beside(rows, points, own_rows[part], counts, ranks[part])

    run_chunks(len(ranks), 1, rank, n_steps=n_steps)
    return ranks


@compiled(reorders_sums=True)
def _fill_ranks_beside(
    others: FloatArray, points: FloatArray, owns: FloatArray, counts: FloatArray, ranks: IntArray
) -> None:
    everything = counts.sum()
    totals = np.empty(len(others))
    for place in range(len(owns)):
        own, of_own = owns[place], 0.0
        for other in range(len(others)):
            result, behind = others[other], 0.0
            for task in range(len(counts)):
                # A win is both ahead and not behind, a whole point; a tie only the latter, half a point.
                behind += counts[task] * ((result[task] < own[task]) + (result[task] <= own[task]))
            of_own += 0.5 * behind
            totals[other] = points[other] + (everything - 0.5 * behind)
        ranks[place] = 1 + (totals > of_own).sum()


BLOCK_UNITS = 100_000

ROUNDING = 1e-13


@dataclass(frozen=True)
class PairTests:
    """For entrant a in the row and b in the column, [n_entrants, n_entrants]: one-sided tests that a is better.

    `mean` and `deviation` describe the paired differences, positive in favour of a; `p_value` is NaN for a t-test whose
    differences do not vary. `only` counts, for McNemar, the examples that only a predicts correctly; None for paired t.
    """

    mean: FloatArray
    deviation: FloatArray
    p_value: FloatArray
    only: IntArray | None


def mcnemar_pairs(is_right: NDArray[Any]) -> PairTests:
    """Return the exact one-sided McNemar test of every pair, from [n_examples, n_entrants] of 1 (correct) and 0.

    The p-value is P(X ≥ n₁₂), X ~ Bin(n₁₂ + n₂₁, ½); 1 where the two never differ. `deviation` is the standard
    deviation of the differences, with divisor n − 1.
    Raises InvalidArgument for no example and for anything but zeros and ones, including NaN: a failed example is 0.
    Source: McNemar 1947; Agresti 2013, Categorical data analysis, section 11.1. YDF computes P(X > n₁₂), which makes
    its values too small.

    >>> tests = mcnemar_pairs(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    >>> (tests.p_value.tolist(), tests.only.tolist())
    ([[1.0, 0.25], [1.0, 1.0]], [[0, 2], [0, 0]])
    """
    require_shape("is_right", is_right, "[n_examples]", "n_entrants")
    if not ((is_right == 0) | (is_right == 1)).all():
        raise InvalidArgument("is_right holds something else than zeros and ones")
    n_examples = len(is_right)
    both = _both(np.packbits(np.ascontiguousarray(is_right.T, dtype=np.bool_), axis=1))
    only = np.diag(both)[:, None] - both
    different = only + only.T
    p_value = np.where(different > 0, scipy.stats.binom.sf(only - 1, different, 0.5), 1.0)
    mean = (only - only.T) / n_examples
    spread = np.maximum(different - n_examples * mean**2, 0.0) / max(n_examples - 1, 1)
    return PairTests(mean, np.sqrt(spread), p_value, only)


def _both(bits: NDArray[np.uint8]) -> IntArray:
    """Return how many examples both entrants have correct, [n_entrants, n_entrants], from eight examples per byte."""
    both = np.empty((len(bits), len(bits)), dtype=np.int64)
    for at, own in enumerate(bits):
        both[at, : at + 1] = np.bitwise_count(bits[: at + 1] & own).sum(axis=1, dtype=np.int64)
        both[: at + 1, at] = both[at, : at + 1]
    return both


def paired_t_pairs(scores: FloatArray) -> PairTests:
    """Return the one-sided paired t-test of every pair, from scores [n_units, n_entrants], larger being better.

    The standard deviation has the divisor n − 1; the p-value is NaN where differences do not vary and for a single
    unit.
    Raises InvalidArgument for no unit and for a score that is not finite: the caller decides about missing scores.
    Source: Student 1908, the test of paired differences; `scipy.stats.ttest_rel` with `alternative="greater"`.

    >>> float(paired_t_pairs(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])).p_value[0, 1].round(4))
    0.0371
    """
    require_shape("scores", scores, "[n_units]", "n_entrants")
    require_finite("scores", scores)
    n_units, n_entrants = scores.shape
    totals, products = np.zeros(n_entrants), np.zeros((n_entrants, n_entrants))
    # Centring each unit leaves differences unchanged and keeps the sums precise.
    for start in range(0, n_units, BLOCK_UNITS):
        part = scores[start : start + BLOCK_UNITS]
        part = part - part.mean(axis=1, keepdims=True)
        totals += part.sum(axis=0)
        products += part.T @ part
    mean = (totals[:, None] - totals[None, :]) / n_units
    own = np.diag(products)[:, None] + np.diag(products)[None, :]
    squares = own - 2 * products - n_units * mean**2
    # For equal columns, what remains is rounding and not a spread.
    deviation = np.sqrt(np.where(squares > ROUNDING * own, squares, 0.0) / max(n_units - 1, 1))
    ratio = share(mean * np.sqrt(n_units), deviation)
    return PairTests(mean, deviation, scipy.stats.t.sf(ratio, n_units - 1), None)


# Companions to tests of two entrants: correction for multiple tests, and the sample size a test would need; pure.

MOST_NEEDED = 10**12


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple testing, in the same order; an empty list for an empty one.

    Raises InvalidArgument for a p-value outside [0, 1], or NaN: a test without a p-value must be left out of the
    family.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm_adjusted([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p_value in p_values:
        require_number("p_values", p_value, 0.0, 1.0)
    values = np.array(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(len(values), 0, -1) * values[order]))
    return adjusted.tolist()


def examples_needed(
    mean: float, deviation: float, level: float, power: float = 0.8, *, two_sided: bool = True
) -> int | None:
    """Return how many pairs are needed to detect a difference of this mean and deviation; None if the mean is zero.

    n = ((z_{1−α/2} + z_power) × deviation / mean)², with z_{1−α} for a one-sided test. Also None above MOST_NEEDED,
    which nobody could collect. Mean and deviation are in the same unit; n counts pairs.
    Raises InvalidArgument for a level or power outside (0, 1), a mean that is not finite, and a negative deviation.
    Source: Chow, Shao & Wang 2008, Sample size calculations in clinical research, section 3.1.

    >>> examples_needed(0.5, 1.0, 0.95)
    32
    """
    require_level(level)
    require_level(power)
    require_number("mean", mean)
    require_number("deviation", deviation, 0.0)
    factor = _factor(level, power, two_sided=two_sided)
    if factor * deviation >= math.sqrt(MOST_NEEDED) * abs(mean):
        return None
    return math.ceil((factor * deviation / mean) ** 2)


def examples_needed_of_all(
    means: FloatArray, deviations: FloatArray, level: float, power: float = 0.8, *, two_sided: bool = True
) -> FloatArray:
    """Return `examples_needed` for each mean and deviation, [n_pairs], with NaN for None.

    Both are in the same unit. Also NaN for a deviation of zero or NaN, which does not determine a sample size.
    Raises InvalidArgument for a level or power outside (0, 1).
    Source: as for `examples_needed`.

    >>> examples_needed_of_all(np.array([0.5, 0.5]), np.array([1.0, np.nan]), 0.95).tolist()
    [32.0, nan]
    """
    require_level(level)
    require_level(power)
    factor = _factor(level, power, two_sided=two_sided)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        is_shown = (deviations > 0.0) & ~(factor * deviations >= math.sqrt(MOST_NEEDED) * np.abs(means))
        return np.where(is_shown, np.ceil((factor * deviations / means) ** 2), np.nan)


def _factor(level: float, power: float, *, two_sided: bool) -> float:
    normal = NormalDist()
    return normal.inv_cdf((1 + level) / 2 if two_sided else level) + normal.inv_cdf(power)
