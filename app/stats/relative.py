"""Relative errors over tasks: geometric-mean skill and win rates, as statistics of resampled tasks.

Called by `app.boards.methods.skill_score.method`; pure. Errors are positive numbers, smaller is better,
[n_tasks, n_entrants]. Source: the definitions of fev's analysis functions.
"""

from collections import deque

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_count, require_numbers, require_shape
from app.stats.compiled import N_THREADS, compiled, in_parts
from app.stats.pairs import BLOCK_CELLS, Contrast, PairStatistics, compare
from app.stats.resample import Resamples

SORTING = 16
"""Steps of work per error, for deciding whether threads are worthwhile."""
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
) -> tuple[FloatArray, deque[FloatArray]]:
    """Return the ranks of `errors` and partial sums of the ranks of `finer`, which orders alike but has fewer ties.

    One sort serves both. Ranks are multiples of one half, so their sums are exact in any order.
    """
    ranks, sums, loop = np.empty(errors.shape), deque[FloatArray](), compiled(_fill_ranks)

    def rank(part: slice) -> None:
        for start in range(part.start, part.stop, n_rows):
            rows = slice(start, min(start + n_rows, part.stop))
            order = np.argsort((errors if finer is None else finer)[rows], axis=1)
            loop(errors[rows], order, ranks[rows])
            if finer is not None:
                own = np.empty(order.shape)
                loop(finer[rows], order, own)
                sums.append(own.sum(axis=0))

    n_rows = max(1, block_cells // (errors.shape[1] * N_THREADS))
    in_parts(len(errors), 1, rank, n_steps=SORTING * errors.size)
    return ranks, sums


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
    return _shares(ranks), np.sum(sums, axis=0) / len(errors)


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
    halves = np.empty(shares.shape, dtype=np.float32)

    def count(part: slice) -> None:
        halves[part] = np.rint(shares[part] * n_halves)

    in_parts(len(shares), 1, count, n_steps=shares.size)
    means = resamples.means(halves)
    means /= n_halves
    return means


def compare_pairs(
    errors: FloatArray,
    resamples: Resamples | None,
    *,
    clip: tuple[float, float],
    level: float,
    board: str | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair of entrants by skill, from clipped error ratios, and by win rate, from unclipped ones.

    `errors` is [n_tasks, n_entrants], smaller being better; the row's skill and win rate are larger-is-better. NaN is
    as in `compare`, ratios of zeros as in `ratios`.
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
        name=("ratio", *clip),
        falls=True,
    )
    return compare(errors, contrast, resamples, level, board=board, block_cells=block_cells)


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
