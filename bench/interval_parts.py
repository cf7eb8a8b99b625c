"""The worlds of intervals of averages over several tasks: of seeds that tasks share or do not, and of predictions.

A task's interval is made by the same functions as a board makes it, and what is averaged goes through the boards' own
`over_parts` or, where tasks share seeds, through `mean_over_tasks`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtri

from app.boards.measured import Estimate
from app.kinds.episodes.measure import SeedScores, mean_over_tasks, plain_mean
from app.kinds.predictions.measure import Spreading, calibrated_average
from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated, calibrate, intervals, over_parts
from app.stats.curves import area_spread, root_mean_squares
from app.stats.spreads import SHARE, averaged_spread, cluster_spread, influence_spread, mean_spread, support_of_values
from bench.interval_methods import LEVEL, Ends, student
from bench.interval_world import OURS, Drawn, World

TASKS, CLUSTERS, SHARES = (10, 40, 100), (5, 8, 16, 50), (0.5, 0.8, 0.9, 0.97, 1.0)
APART, SHARED = "apart", "shared"
ALIKE = {APART: (0.0, 0.1, 0.3), SHARED: (0.1, 0.3)}
N_EPISODES, N_EXAMPLES = 20, 50
AT_ONCE = 250
"""So many data sets are drawn together: 250 × 100 tasks × 50 seeds are 10 MB of counts."""


def part_worlds() -> Iterator[World]:
    """Yield the cells of averages over 10, 40 and 100 tasks."""
    for n_tasks in TASKS:
        for n_seeds in CLUSTERS:
            for how, alikes in ALIKE.items():
                for alike in alikes:
                    yield from _seeded(n_tasks, n_seeds, how, alike)
        for degrees in (None, 10, 5):
            column = "normal" if degrees is None else f"t, {degrees} df"
            draw = partial(_roots, n_tasks, degrees)
            yield World("RMSE over tasks", f"{n_tasks} tasks of {N_EXAMPLES} examples", column, 1.0, draw)
        for area in (0.5, 0.75, 0.9, 0.97):
            draw = partial(_areas, n_tasks, area)
            row = f"{n_tasks} tasks of {N_EXAMPLES} examples"
            yield World("AUC over tasks", row, f"AUC {area:g}", area, draw)
        for n_examples in (8, 50):
            for share in SHARES:
                draw = partial(_accuracies, n_tasks, n_examples, share)
                row = f"{n_tasks} tasks of {n_examples} examples"
                yield World("accuracy over tasks", row, f"p {share:g}", share, draw)


def _seeded(n_tasks: int, n_seeds: int, how: str, alike: float) -> Iterator[World]:
    row = f"{n_tasks} tasks of {n_seeds} seeds, {how}, ICC {alike:g}"
    for share in SHARES[: None if alike == 0 else -1]:
        draw = partial(_means, n_tasks, n_seeds, how == SHARED, alike, share)
        yield World("mean over seeds and tasks", row, f"p {share:g}", share, draw)


def rates(shape: tuple[int, int, int], alike: float, share: float, rng: np.random.Generator) -> FloatArray:
    """Return rates of success, all equal where seeds are not `alike` in anything."""
    if alike == 0:
        return np.full(shape, share)
    strength = 1 / alike - 1
    return rng.beta(share * strength, (1 - share) * strength, size=shape)


def _means(
    n_tasks: int, n_seeds: int, is_shared: bool, alike: float, share: float, rng: np.random.Generator, n: int
) -> Drawn:
    """Return the intervals of averages; a seed that tasks share is as good in all of them."""
    ours, points = [], []
    for start in range(0, n, AT_ONCE):
        n_now = min(AT_ONCE, n - start)
        of_seeds = rates((n_now, 1 if is_shared else n_tasks, n_seeds), alike, share, rng)
        counts = rng.binomial(N_EPISODES, np.broadcast_to(of_seeds, (n_now, n_tasks, n_seeds))).astype(np.float64)
        ours.append(_of_shared(counts) if is_shared else _of_apart(counts))
        points.append(counts.mean(axis=(1 if is_shared else 2)) / N_EPISODES)
    return {OURS: in_one(ours), "t": student(np.concatenate(points))}


def _of_apart(counts: FloatArray) -> Ends:
    """Return the intervals of data sets [n_datasets, n_tasks, n_seeds] whose tasks share no seed."""
    parts = cluster_spread(counts, np.full(counts.shape, float(N_EPISODES)), counts)
    n_tasks = counts.shape[1]
    ends = intervals(averaged_spread(parts, np.full(n_tasks, 1.0 / n_tasks)), SHARE, LEVEL)
    require_same(_board(counts[0], counts.shape[2]), ends)
    return ends


def _of_shared(counts: FloatArray) -> Ends:
    """Return the intervals of data sets [n_datasets, n_tasks, n_seeds] whose tasks have the same seeds.

    All at once as `mean_over_tasks` makes each of them, which the first one is compared with.
    """
    n_datasets, n_tasks, n_seeds = counts.shape
    shares = counts / N_EPISODES
    points = shares.mean(axis=2)
    apart = cluster_spread(counts, np.full(counts.shape, float(N_EPISODES)), counts)
    moved = (shares - points[:, :, None]).sum(axis=1) / (n_tasks * n_seeds)
    least = np.sqrt((apart.least**2).sum(axis=1)) / n_tasks
    units = np.full(n_datasets, float(n_seeds))
    joint = replace(
        influence_spread(points.mean(axis=1), moved, units, units - 1.0, least), support=support_of_values(n_seeds)
    )
    ends = intervals(joint, SHARE, LEVEL)
    require_same(_board(counts[0], 0), ends)
    return ends


def _board(counts: FloatArray, step: int) -> Calibrated:
    """Return the interval that a board has of one data set [n_tasks, n_seeds]; a task's seeds begin `step` later."""
    seeds = np.repeat(np.arange(counts.shape[1]), N_EPISODES)
    right = (np.arange(N_EPISODES) < counts[:, :, None]).astype(np.float64).reshape(len(counts), -1)
    tasks = [SeedScores(one, seeds + at * step) for at, one in enumerate(right)]
    return mean_over_tasks(tasks, np.full(len(tasks), 1.0 / len(tasks)), plain_mean(SHARE), LEVEL)


def _joined(points: FloatArray, ends: Ends, n_units: float) -> Ends:
    """Return the intervals of averages of parts [n_datasets, n_parts].

    All at once as `over_parts` makes each of them, which the first one is compared with.
    """
    n_parts, middle = points.shape[1], points.mean(axis=1)
    below, above = (np.linalg.norm(points - end, axis=1) / n_parts for end in ends)
    first = zip(ends[0][0].tolist(), ends[1][0].tolist(), strict=True)
    parts = [Calibrated(low, high, "by parts", n_units) for low, high in first]
    require_same(over_parts(points[0], parts, np.full(n_parts, 1.0 / n_parts)), (middle - below, middle + above))
    return middle - below, middle + above


def require_same(board: Calibrated, ends: Ends) -> None:
    """Raise AssertionError where a board has another interval than the first of these."""
    if not np.allclose((board.low, board.high), (ends[0][0], ends[1][0])):  # type: ignore[arg-type]
        raise AssertionError(f"a board has {board.low} to {board.high}, this bench {ends[0][0]} to {ends[1][0]}")


def _roots(n_tasks: int, degrees: int | None, rng: np.random.Generator, n: int) -> Drawn:
    ours, points = [], []
    for start in range(0, n, AT_ONCE):
        squares = _errors((min(AT_ONCE, n - start), n_tasks, N_EXAMPLES), degrees, rng) ** 2
        points.append(np.sqrt(squares.mean(axis=2)))
        ours.append(_joined(points[-1], root_mean_squares(squares, None, LEVEL), float(N_EXAMPLES)))
    return {OURS: in_one(ours), "t": student(np.concatenate(points))}


def _errors(shape: tuple[int, ...], degrees: int | None, rng: np.random.Generator) -> FloatArray:
    if degrees is None:
        return rng.normal(size=shape)
    errors: FloatArray = rng.standard_t(degrees, size=shape) / np.sqrt(degrees / (degrees - 2))
    return errors


def _areas(n_tasks: int, area: float, rng: np.random.Generator, n: int) -> Drawn:
    is_positive, ones = np.arange(N_EXAMPLES) < 15, np.ones(N_EXAMPLES)
    shift, weights = float(ndtri(area)) * np.sqrt(2.0), np.full(n_tasks, 1.0 / n_tasks)
    ours, added, points = [], [], []
    for _ in range(n):
        spreads = [area_spread(rng.normal(size=N_EXAMPLES) + shift * is_positive, is_positive, ones) for _ in weights]
        parts = [Estimate(float(one.point), calibrated=calibrate(one, SHARE, LEVEL)) for one in spreads]
        average = calibrated_average(parts, [Spreading(spread, SHARE) for spread in spreads], weights, LEVEL)
        points.append(np.array([float(spread.point) for spread in spreads]))
        ours.append(average)
        added.append(over_parts(points[-1], [part.calibrated for part in parts if part.calibrated], weights))
    return {OURS: _ends(ours), "MOVER": _ends(added), "t": student(np.array(points))}


def _accuracies(n_tasks: int, n_examples: int, share: float, rng: np.random.Generator, n: int) -> Drawn:
    """Return the intervals of averages of accuracies, all at once as `calibrated_average` makes each of them."""
    weights = np.full(n_tasks, 1.0 / n_tasks)
    ours, added, points = [], [], []
    for start in range(0, n, AT_ONCE):
        right = rng.binomial(1, share, size=(min(AT_ONCE, n - start), n_tasks, n_examples)).astype(np.float64)
        spreads = mean_spread(right)
        ours.append(intervals(averaged_spread(spreads, weights), SHARE, LEVEL))
        require_same(_accuracy_of_a_board(right[0], weights), ours[-1])
        middle, ends = spreads.point.mean(axis=1), intervals(spreads, SHARE, LEVEL)
        below, above = (np.linalg.norm(spreads.point - end, axis=1) / n_tasks for end in ends)
        added.append((middle - below, middle + above))
        points.append(spreads.point)
    return {OURS: in_one(ours), "MOVER": in_one(added), "t": student(np.concatenate(points))}


def _accuracy_of_a_board(right: FloatArray, weights: FloatArray) -> Calibrated:
    spreads = [mean_spread(task) for task in right]
    parts = [Estimate(float(one.point), calibrated=calibrate(one, SHARE, LEVEL)) for one in spreads]
    average = calibrated_average(parts, [Spreading(spread, SHARE) for spread in spreads], weights, LEVEL)
    return average or Calibrated(None, None, None, 0.0)


def in_one(batches: list[Ends]) -> Ends:
    """Return the ends of all batches in one."""
    return np.concatenate([low for low, _ in batches]), np.concatenate([high for _, high in batches])


def _ends(result: Sequence[Calibrated | None]) -> Ends:
    low, high = np.array([(each.low, each.high) for each in result if each is not None], dtype=np.float64).T
    return low, high
