"""The worlds of intervals of averages of interquartile means over several tasks, that share seeds or do not.

Scores of 0 and 1 are computed for all data sets at once, as `iqm_over_tasks` does for each of them, which the first of
a batch is compared with; smooth scores by that function itself.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import ndtr

from app.kinds.episodes.measure import SeedScores, iqm_over_tasks
from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated, intervals
from app.stats.spreads import SHARE, Range, Spread, cluster_spread
from bench.interval_methods import LEVEL, Ends, student
from bench.interval_parts import APART, AT_ONCE, N_EPISODES, SHARED, TASKS, in_one, rates, require_same
from bench.interval_world import OURS, Drawn, World

SHARES, CLUSTERS, ALIKE = (0.5, 0.7, 0.8, 0.9), (5, 16), (0.0, 0.1, 0.3)
MIDDLE_OF_EXPONENTIALS = float(2.0 * (0.5 + 0.25 * np.log(0.25) - 0.75 * np.log(0.75)))
"""Twice the integral of −ln v from a quarter to three quarters."""


def trimmed_part_worlds() -> Iterator[World]:
    """Yield the cells of averages of interquartile means over 10, 40 and 100 tasks."""
    for n_tasks in TASKS:
        for n_seeds in CLUSTERS:
            for how in (APART, SHARED):
                for alike in ALIKE[how == SHARED :]:
                    row = f"{n_tasks} tasks of {n_seeds} seeds, {how}, ICC {alike:g}"
                    for share in SHARES:
                        draw = partial(_trims, n_tasks, n_seeds, how == SHARED, alike, share)
                        truth = float(_middle(np.array(share)))
                        yield World("IQM of 0/1 over tasks", row, f"p {share:g}", truth, draw)
            for name, truth in (("normal", 0.0), ("exponential", MIDDLE_OF_EXPONENTIALS)):
                draw = partial(_smooth, n_tasks, n_seeds, name)
                row = f"{n_tasks} tasks of {n_seeds} seeds, ICC 0.1"
                yield World("IQM over tasks", row, name, truth, draw)


def _middle(share: FloatArray) -> FloatArray:
    middle: FloatArray = np.clip(2.0 * (share - 0.25), 0.0, 1.0)
    return middle


def _trims(
    n_tasks: int, n_seeds: int, is_shared: bool, alike: float, share: float, rng: np.random.Generator, n: int
) -> Drawn:
    """Return the intervals with and without the allowance for what each task leans; a shared seed is as good in all."""
    result: dict[str, list[Ends]] = {OURS: [], "ends added" if is_shared else "MOVER": []}
    points = []
    for start in range(0, n, AT_ONCE):
        n_now = min(AT_ONCE, n - start)
        of_seeds = rates((n_now, 1 if is_shared else n_tasks, n_seeds), alike, share, rng)
        counts = rng.binomial(N_EPISODES, np.broadcast_to(of_seeds, (n_now, n_tasks, n_seeds))).astype(np.float64)
        spread = cluster_spread(counts, np.full(counts.shape, float(N_EPISODES)), counts)
        points.append(_middle(spread.point))
        ours, plain = _ends(spread, is_shared)
        require_same(_board(counts[0], 0 if is_shared else n_seeds), ours)
        for ends, each in zip((ours, plain), result.values(), strict=True):
            each.append(ends)
    return {**{name: in_one(batches) for name, batches in result.items()}, "t": student(np.concatenate(points))}


def _ends(spread: Spread, is_shared: bool) -> tuple[Ends, Ends]:
    """Return the ends of the averages [n_datasets] with what tasks lean, and without."""
    point, (low, high) = _middle(spread.point), (_middle(end) for end in intervals(spread, SHARE, LEVEL))
    n_tasks, middle = point.shape[1], point.mean(axis=1)
    reaches = [(each.sum(axis=1) if is_shared else np.linalg.norm(each, axis=1)) / n_tasks
               for each in (point - low, high - point)]  # fmt: skip
    leans = [_lean(np.abs(spread.point - turn), spread.believed).mean(axis=1) for turn in (0.25, 0.75)]
    ours = np.maximum(middle - reaches[0] - leans[0], 0.0), np.minimum(middle + reaches[1] + leans[1], 1.0)
    return ours, (middle - reaches[0], middle + reaches[1])


def _lean(away: FloatArray, error: FloatArray) -> FloatArray:
    z = away / np.where(error > 0.0, error, 1.0)
    lean: FloatArray = (
        (1.0 + np.sqrt(2.0)) * 2.0 * error * (np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi) - z * ndtr(-z))
    )
    return np.maximum(lean, 0.0)


def _board(counts: FloatArray, step: int) -> Calibrated:
    """Return the interval that a board has of one data set [n_tasks, n_seeds]; a task's seeds begin `step` later."""
    seeds = np.repeat(np.arange(counts.shape[1]), N_EPISODES)
    right = (np.arange(N_EPISODES) < counts[:, :, None]).astype(np.float64).reshape(len(counts), -1)
    tasks = [SeedScores(one, seeds + at * step) for at, one in enumerate(right)]
    return iqm_over_tasks(tasks, np.full(len(tasks), 1.0 / len(tasks)), SHARE, LEVEL)


def _smooth(n_tasks: int, n_seeds: int, name: str, rng: np.random.Generator, n: int) -> Drawn:
    """Return the intervals of averages of scores without ties, a tenth of whose variance is that of their seed."""
    weights, seeds, ours, points = np.full(n_tasks, 1.0 / n_tasks), np.repeat(np.arange(n_seeds), N_EPISODES), [], []
    for _ in range(n):
        shape = (n_tasks, n_seeds, N_EPISODES)
        normal = np.sqrt(0.1) * rng.normal(size=(*shape[:2], 1)) + np.sqrt(0.9) * rng.normal(size=shape)
        scores = (normal if name == "normal" else -np.log(ndtr(-normal))).reshape(n_tasks, -1)
        tasks = [SeedScores(one, seeds + at * n_seeds) for at, one in enumerate(scores)]
        average = iqm_over_tasks(tasks, weights, Range(low=-np.inf if name == "normal" else 0.0), LEVEL)
        ours.append((average.low, average.high))
        n_dropped = scores.shape[1] // 4
        points.append(np.sort(scores, axis=1)[:, n_dropped : scores.shape[1] - n_dropped].mean(axis=1))
    low, high = np.array(ours, dtype=np.float64).T
    return {OURS: (low, high), "t": student(np.array(points))}
