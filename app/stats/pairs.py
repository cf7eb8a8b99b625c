"""Every ordered pair of entrants compared task by task, with intervals from resampled tasks.

Called by `app.stats.relative` and `app.stats.difference`, which define the effect; pure.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import require_count, require_level, require_shape
from app.stats.interval import Scale, ends_of, order_replicates, percentile_interval
from app.stats.known_pairs import KnownPairs, column_digests
from app.stats.resample import Resamples

AnyFloatArray = NDArray[np.floating[Any]]
BLOCK_CELLS = 2_000_000
FEWEST = 16
KNOWN = KnownPairs()
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

    `is_antisymmetric` means that swapping the two entrants negates `of`; `name` identifies the contrast. `falls` means
    that the effect decreases as the mean increases.
    """

    of: Callable[[FloatArray, FloatArray], FloatArray]
    scale: Callable[[FloatArray], FloatArray]
    is_antisymmetric: bool
    name: tuple[str | float, ...]
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
    board: str | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair on errors [n_tasks, n_entrants]; the smaller error wins a task, ties counting half.

    If the contrast is antisymmetric, only half of the pairs are resampled: the other half is the mirror image. Without
    a contrast the effect is NaN and only win rates are computed. Memory is O(block_cells), which does not change the
    result. Pairs that this process has already compared for the same `board`, on the same errors and draws, are taken
    from its cache. A pair whose contrast is NaN on any task has the effect NaN; a task where either error is NaN is won
    by neither. Intervals are NaN without resamples.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: Efron & Tibshirani 1993, section 13.3, with tasks as the paired units.

    >>> difference = Contrast(np.subtract, np.asarray, True, ("difference",))
    >>> pairs = compare(np.array([[1.0, 2.0], [3.0, 3.0]]), difference, None, 0.95)
    >>> (pairs.skill.tolist(), pairs.win_rate.tolist())
    ([[0.0, -0.5], [0.5, 0.0]], [[0.5, 0.75], [0.25, 0.5]])
    """
    require_level(level)
    require_shape("errors", errors, "[n_tasks]", "[n_entrants]")
    require_count("block_cells", block_cells)
    if resamples is not None:
        require_shape("errors", errors, resamples.n_units, "[n_entrants]")
    draws = None if board is None or resamples is None else resamples.digest()
    if draws is None:
        unknown = np.zeros((errors.shape[1],) * 2, dtype=np.bool_)
        numbers = np.full((6, *unknown.shape), np.nan)
        return PairStatistics(*_fill(numbers, unknown, errors, contrast, resamples, level, block_cells))
    key, digests = (board, draws, level, None if contrast is None else contrast.name), column_digests(errors)
    numbers, is_known = KNOWN.recall(key, digests)
    _fill(numbers, is_known, errors, contrast, resamples, level, block_cells)
    KNOWN.keep(key, digests, numbers)
    return PairStatistics(*numbers)


def _fill(
    numbers: FloatArray,
    is_known: BoolArray,
    errors: FloatArray,
    contrast: Contrast | None,
    resamples: Resamples | None,
    level: float,
    block_cells: int,
) -> FloatArray:
    n_rows = len(errors) if resamples is None else max(len(errors), resamples.n_resamples)
    is_mirrored = contrast is None or contrast.is_antisymmetric
    for block in _blocks(is_known, max(1, block_cells // n_rows), is_mirrored=is_mirrored):
        a, b = errors[:, block.first], errors[:, block.second]
        _fill_wins(numbers[3:], block, _wins(a, b), resamples, level)
        if contrast is not None:
            _fill_effects(numbers[:3], block, contrast.of(a, b), contrast, resamples, level)
    return numbers


def _blocks(is_known: BoolArray, width: int, *, is_mirrored: bool) -> Iterator[_Block]:
    """Yield the pairs that are not cached, in blocks.

    A matrix product with very few columns is summed in a different order, which changes the last digit. So that a
    pair's result does not depend on its block, a small last block is padded with pairs that are computed twice.
    """
    wanted = np.triu(~is_known) if is_mirrored else ~is_known
    first, second = np.nonzero(wanted)
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
        mirrored = Scale(lambda means: scale(-means), falls=not contrast.falls)
        effects[1, b, a], effects[2, b, a] = ends_of(drawn, level, mirrored)
    effects[1, a, b], effects[2, a, b] = ends_of(drawn, level, Scale(scale, contrast.falls))


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
