"""The worlds of intervals of means over tasks, each of one value: within 0 and 1, without a range, from 0 on."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.calibrated import intervals
from app.stats.spreads import SHARE, Range, task_spread
from bench.interval_methods import BOOTSTRAPS, LEVEL, student
from bench.interval_world import OURS, Drawn, World

TASK_SCORES: Mapping[str, tuple[float, Callable[[np.random.Generator, tuple[int, int]], FloatArray]]] = {
    "normal": (0.0, lambda rng, shape: rng.normal(size=shape)),
    "t, 4 df": (0.0, lambda rng, shape: rng.standard_t(4, size=shape)),
    "gamma 2": (2.0, lambda rng, shape: rng.gamma(2.0, size=shape)),
    "exponential": (1.0, lambda rng, shape: rng.exponential(size=shape)),
    "1 in 10 far": (
        -0.33,
        lambda rng, shape: np.where(
            rng.random(shape) < 0.1, rng.normal(-1.5, 0.5, shape), rng.normal(-0.2, 0.2, shape)
        ),
    ),
}


FROM_ZERO: Mapping[str, tuple[float, Callable[[np.random.Generator, tuple[int, int]], FloatArray]]] = {
    "|normal|": (float(np.sqrt(2.0 / np.pi)), lambda rng, shape: np.abs(rng.normal(size=shape))),
    "exponential": (1.0, lambda rng, shape: rng.exponential(size=shape)),
    "lognormal": (float(np.exp(0.5)), lambda rng, shape: rng.lognormal(size=shape)),
    "1 in 10 far up": (0.9 * 2.0 + 0.1 * 3.3, lambda rng, shape: _some_far(rng, shape, 2.0, 3.3)),
    "1 in 10 far down": (0.9 * 3.3 + 0.1 * 2.0, lambda rng, shape: _some_far(rng, shape, 3.3, 2.0)),
}


def _some_far(rng: np.random.Generator, shape: tuple[int, int], most: float, some: float) -> FloatArray:
    is_far = rng.random(shape) < 0.1
    return np.abs(np.where(is_far, rng.normal(some, 0.3, shape), rng.normal(most, 0.2, shape)))


def _bounded_tasks() -> Iterator[World]:
    """Yield means over tasks whose scores lie within 0 and 1; ICC is their variance over p (1 − p)."""
    for n_tasks in (10, 40, 100):
        for alike in (0.03, 0.1, 0.3):
            for share in (0.5, 0.8, 0.9, 0.97):
                draw = partial(_bounded_means, n_tasks, alike, share)
                yield World("tasks within 0 and 1", f"{n_tasks} tasks, ICC {alike:g}", f"p {share:g}", share, draw)


def _bounded_means(n_tasks: int, alike: float, share: float, rng: np.random.Generator, n: int) -> Drawn:
    strength = 1 / alike - 1
    units = rng.beta(share * strength, (1 - share) * strength, size=(n, n_tasks))
    ours = intervals(task_spread(units), SHARE, LEVEL)
    return {OURS: ours, "t": student(units), **{name: of(units) for name, of in BOOTSTRAPS.items()}}


def task_worlds() -> Iterator[World]:
    """Yield the cells of means over tasks within 0 and 1, without a range, and from 0 on."""
    yield from _bounded_tasks()
    for n_tasks in (5, 10, 20, 40, 100):
        for name, (truth, scores) in TASK_SCORES.items():
            yield World("tasks", f"{n_tasks} tasks", name, truth, partial(_task_means, n_tasks, scores, Range()))
        for name, (truth, scores) in FROM_ZERO.items():
            draw = partial(_task_means, n_tasks, scores, Range(low=0.0))
            yield World("tasks from 0 on", f"{n_tasks} tasks", name, truth, draw)


def _task_means(
    n_tasks: int, scores: Callable[..., FloatArray], within: Range, rng: np.random.Generator, n: int
) -> Drawn:
    units = scores(rng, (n, n_tasks))
    ours = intervals(task_spread(units), within, LEVEL)
    return {OURS: ours, "t": student(units), **{name: of(units) for name, of in BOOTSTRAPS.items()}}
