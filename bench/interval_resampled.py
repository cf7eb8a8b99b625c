"""The worlds of intervals that come from resamples by name: weighted ranks, their components, differences, profiles.

Each data set is drawn and resampled by itself, so there are fewer of them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from app.boards.calibrated import Precision
from app.boards.methods.weighted_rank.method import Ranking, component_spread, ends_of_ranks, rank_level, widened
from app.boards.methods.weighted_rank.records import DrawnComponents
from app.stats.arrays import FloatArray, IntArray
from app.stats.calibrated import intervals
from app.stats.rank_sets import AllPairs
from app.stats.resample import NamedResamples, named_weights, percentile_interval, unit_keys
from app.stats.spreads import SHARE, Range
from app.stats.strata import average_ranks
from bench.interval_methods import LEVEL, Ends
from bench.interval_world import OURS, Drawn, World

N_RESAMPLES, N_COMPONENTS, N_ESTIMATORS, N_EPISODES = 400, 3, 6, 20
SIZES = ((1, 8), (2, 5), (3, 5), (3, 12), (6, 20))
"""Strata, and records in each."""
PERCENTILE = "percentile"


def resampled_worlds() -> Iterator[World]:
    """Yield the cells whose intervals need resamples."""
    for size in SIZES:
        row = f"{size[0]} strata of {size[1]} records"
        for name, truth in _estimators().items():
            score = average_ranks(truth, N_ESTIMATORS).mean(axis=1)
            for place, at in (("the best", 0), ("in the middle", 2)):
                draw = partial(_scores, size, truth, at)
                yield World("score of weighted ranks", row, f"{name}, {place}", float(score[at]), draw)
            draw = partial(_score_gaps, size, truth)
            yield World("difference of such scores", row, name, float(score[0] - score[-1]), draw)
        for name, (mean, within, values) in COMPONENTS.items():
            yield World("component", row, name, mean, partial(_components, size, within, values))
    yield from _differences()


def _estimators() -> dict[str, FloatArray]:
    spaced = np.linspace(0.0, 1.0, N_ESTIMATORS)[:, None] * np.ones(N_COMPONENTS)
    halves = np.where(np.arange(N_ESTIMATORS) < N_ESTIMATORS // 2, 0.0, 0.8)[:, None] * np.ones(N_COMPONENTS)
    return {"evenly spaced": spaced, "all equal": np.zeros_like(spaced), "two halves": halves}


def _drawn(size: tuple[int, int], values: FloatArray, rng_seed: int) -> tuple[FloatArray, DrawnComponents]:
    """Return balanced means [n_estimators, n_components] of values [n_records, …, …], and their replicates."""
    n_strata, n_each = size
    keys = unit_keys(rng_seed, [(str(at),) for at in range(len(values))])
    parts = np.split(np.arange(len(values)), n_strata)
    flat = values.reshape(len(values), -1)
    means = [NamedResamples(keys[part], N_RESAMPLES).means(flat[part]) for part in parts]
    replicates = (sum(means) / n_strata).reshape(N_RESAMPLES, *values.shape[1:])
    precision = Precision(n_strata * (n_each - 1.0), Precision.of_units(n_each).inflation)
    return values.mean(axis=0), DrawnComponents(replicates, precision, float(len(values)))


def _noisy(size: tuple[int, int], truth: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return errors of estimators on records that are hard for all of them alike."""
    n_records = size[0] * size[1]
    shared = 0.7 * rng.normal(size=(n_records, 1, N_COMPONENTS))
    return truth + shared + rng.normal(size=(n_records, *truth.shape))


def _ranked(size: tuple[int, int], truth: FloatArray, rng: np.random.Generator, n: int) -> Iterator[list[FloatArray]]:
    """Yield the scores [n_estimators], those of replicates, and those of widened replicates [n_resamples, …]."""
    ranking = Ranking(lambda values: values, np.full(N_COMPONENTS, 1.0 / N_COMPONENTS), N_ESTIMATORS)
    for at in range(n):
        points, drawn = _drawn(size, _noisy(size, truth, rng), at)
        yield [ranking.scores(each) for each in (points, drawn.values, widened(points, drawn, LEVEL))]


def _scores(size: tuple[int, int], truth: FloatArray, of: int, rng: np.random.Generator, n: int) -> Drawn:
    created = list(_ranked(size, truth, rng, n))
    level = rank_level(LEVEL, float(size[0] * size[1]))
    ours = [ends_of_ranks(again[:, [of]], points[[of]], level) for points, _, again in created]
    clipped = [(max(float(low[0]), 1.0), min(float(high[0]), float(N_ESTIMATORS))) for low, high in ours]
    return {
        OURS: _pairs(clipped),
        PERCENTILE: _pairs([_percentiles(drawn[:, of]) for _, drawn, _ in created]),
    }


def _score_gaps(size: tuple[int, int], truth: FloatArray, rng: np.random.Generator, n: int) -> Drawn:
    created = list(_ranked(size, truth, rng, n))
    level = rank_level(LEVEL, float(size[0] * size[1]))
    ours = [
        ends_of_ranks(again[:, :1] - again[:, -1:], points[:1] - points[-1:], level) for points, _, again in created
    ]
    plain = [_percentiles(drawn[:, 0] - drawn[:, -1]) for _, drawn, _ in created]
    return {OURS: _pairs([(low[0], high[0]) for low, high in ours]), PERCENTILE: _pairs(plain)}


COMPONENTS = {
    "|normal|": (float(np.sqrt(2 / np.pi)), Range(0.0), lambda rng, shape: np.abs(rng.normal(size=shape))),
    "exponential": (1.0, Range(0.0), lambda rng, shape: rng.exponential(size=shape)),
    "rate 0.5": (0.5, SHARE, lambda rng, shape: (rng.random(shape) < 0.5).astype(np.float64)),
    "rate 0.9": (0.9, SHARE, lambda rng, shape: (rng.random(shape) < 0.9).astype(np.float64)),
}


def _components(
    size: tuple[int, int], within: Range, values: Callable[..., FloatArray], rng: np.random.Generator, n: int
) -> Drawn:
    created = [_drawn(size, values(rng, (size[0] * size[1], 1, 1)), at) for at in range(n)]
    ours = [
        intervals(component_spread(points[:, 0], drawn.values[:, :, 0], drawn), within, LEVEL)
        for points, drawn in created
    ]
    plain = [_percentiles(drawn.values[:, 0, 0]) for _, drawn in created]
    return {OURS: _pairs([(low[0], high[0]) for low, high in ours]), PERCENTILE: _pairs(plain)}


def _differences() -> Iterator[World]:
    for n_tasks in (5, 10, 40, 100):
        for name, scores in TASK_DIFFERENCES.items():
            draw = partial(_task_differences, n_tasks, scores)
            yield World("difference over tasks", f"{n_tasks} tasks", name, 0.0, draw)
    for n_seeds in (5, 8, 16, 50):
        for share in (0.5, 0.8, 0.9):
            for is_shared in (True, False):
                draw = partial(_seed_differences, n_seeds, share, is_shared)
                column = f"p {share:g}, seeds {'shared' if is_shared else 'apart'}"
                yield World("difference over seeds", f"{n_seeds} seeds", column, 0.0, draw)


TASK_DIFFERENCES: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t, 4 df": lambda rng, shape: rng.standard_t(4, size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}


def _task_differences(n_tasks: int, scores: Callable[..., FloatArray], rng: np.random.Generator, n: int) -> Drawn:
    keys = unit_keys(1, [(str(at),) for at in range(n_tasks)])
    drawn = NamedResamples(keys, N_RESAMPLES)
    result = []
    for _ in range(n):
        values = scores(rng, (n_tasks, 2)) + rng.normal(size=(n_tasks, 1))
        result.append((values.mean(axis=0), drawn.means(values)))
    return _both(result, n_tasks)


def _seed_differences(n_seeds: int, share: float, is_shared: bool, rng: np.random.Generator, n: int) -> Drawn:
    """Two policies of one rate that varies between seeds; where seeds are shared, so is half of how good a seed is."""
    names = [[(f"{who}{seed}",) for seed in range(n_seeds)] for who in ("aa" if is_shared else "ab")]
    cluster = np.repeat(np.arange(n_seeds), N_EPISODES)
    weights = [_nested(of, cluster) for of in names]
    result = []
    for _ in range(n):
        own = rng.beta(share * 9, (1 - share) * 9, size=(n_seeds, 2))
        rates = np.where(is_shared & (rng.random((n_seeds, 1)) < 0.5), own[:, :1], own)
        right = (rng.random((len(cluster), 2)) < rates[cluster]).astype(np.float64)
        replicates = [weights[who] @ right[:, who] for who in (0, 1)]
        result.append((right.mean(axis=0), np.column_stack(replicates)))
    return _both(result, n_seeds)


def _nested(seeds: Sequence[tuple[str, ...]], cluster: IntArray) -> FloatArray:
    """Return the share of each episode in each resample, [n_resamples, n_episodes], drawn as a board draws them."""
    items = [(*seeds[at], str(number)) for number, at in enumerate(cluster.tolist())]
    weights = named_weights(unit_keys(1, items), N_RESAMPLES)
    weights *= named_weights(unit_keys(1, seeds), N_RESAMPLES)[:, cluster]
    shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _both(result: list[tuple[FloatArray, FloatArray]], n_units: int) -> Drawn:
    """Return Student's interval of the first minus the second, as a board's pairs have it, and percentiles."""
    freedom, at = np.full(2, n_units - 1.0), np.arange(2)
    ours = []
    for points, replicates in result:
        margin = float(AllPairs(points, replicates, freedom).margins(at, LEVEL)[0, 1])
        ours.append((float(points[0] - points[1]) - margin, float(points[0] - points[1]) + margin))
    plain = [_percentiles(replicates[:, 0] - replicates[:, 1]) for _, replicates in result]
    return {OURS: _pairs(ours), PERCENTILE: _pairs(plain)}


def _pairs(result: Sequence[tuple[Any, Any]]) -> Ends:
    low, high = np.array(result, dtype=np.float64).T
    return low, high


def _percentiles(drawn: FloatArray) -> tuple[float, float]:
    """Return the percentile interval of one number's replicates [n_resamples]."""
    low, high = percentile_interval(drawn[:, None], LEVEL)
    return float(low[0]), float(high[0])
