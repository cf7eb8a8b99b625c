"""Episodes: the cluster bootstrap against its definition as a double loop. `bench.growth` has how publications grow."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from app.stats.cluster import (
    chamber_generator,
    draw_chamber,
    draw_clusters,
    estimate,
    group_sample,
    interquartile_mean,
    mean,
)
from tests.cases.cluster_oracle import double_loop

N_SEEDS, N_EPISODES, N_RESAMPLES = 16, 100, 10_000
N_LOOPED = 1_000


def _seconds(work: Callable[[], object], repeats: int = 5) -> float:
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


def measure_bootstrap() -> None:
    """Print how much faster the two streams are than the double loop, whose time is scaled from fewer resamples."""
    rng = np.random.default_rng(0)
    scores = {seed: (rng.random(N_EPISODES) < 0.3 + 0.02 * seed).astype(float).tolist() for seed in range(N_SEEDS)}
    values = np.array([value for by_seed in scores.values() for value in by_seed])
    sample = group_sample(values, np.repeat(np.arange(N_SEEDS), N_EPISODES))
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    loop_s = _seconds(lambda: double_loop(scores, N_LOOPED, chamber_generator(0, "a")), 1) * N_RESAMPLES / N_LOOPED
    ours = {
        "default": lambda: draw_clusters(sample, N_RESAMPLES, np.random.default_rng(0)),
        "chamber": lambda: draw_chamber(sample, N_RESAMPLES, chamber_generator(0, "a")),
    }
    print(f"{N_SEEDS} seeds x {N_EPISODES} episodes x {N_RESAMPLES:,} resamples: the double loop takes {loop_s:.2f} s")
    for name, draw in ours.items():
        taken = _seconds(lambda draw=draw: estimate(sample, aggregates, draw(), level=0.95))  # type: ignore[misc]
        print(f"  stream {name}: {taken:.4f} s, {loop_s / taken:.0f} times faster")
