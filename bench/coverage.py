"""How often an interval that says 95 % holds the truth, by simulation: `python -m bench.coverage`.

A number after it is that of data sets instead of 2,000. Its tables stand in docs/statistics.md; a test repeats one row
of them.
"""

import sys

import numpy as np

from app.stats.cluster import Sample, draw_clusters, draw_iid, estimate, group_sample, mean

TRUTH = 0.5
N_EPISODES, N_DATASETS, N_RESAMPLES = 50, 2_000, 1_000
SEEDS = (5, 16)
# Standard deviation of the success rate between seeds: none, small, moderate, large.
BETWEEN = (0.0, 0.05, 0.15, 0.3)


def simulate_sample(n_seeds: int, between: float, rng: np.random.Generator) -> Sample:
    """Return one data set whose seeds have success rates around TRUTH."""
    rates = np.full(n_seeds, TRUTH)
    if between > 0.0:
        strength = TRUTH * (1 - TRUTH) / between**2 - 1
        rates = rng.beta(TRUTH * strength, (1 - TRUTH) * strength, size=n_seeds)
    scores = (rng.random((n_seeds, N_EPISODES)) < rates[:, None]).astype(np.float64)
    return group_sample(scores.ravel(), np.repeat(np.arange(n_seeds), N_EPISODES))


def simulate_coverage(n_seeds: int, between: float, n_datasets: int = N_DATASETS) -> tuple[float, float]:
    """Return the coverage of the cluster interval and of the pooled one."""
    rng = np.random.default_rng([n_seeds, round(between * 1000)])
    held = np.zeros(2)
    for _ in range(n_datasets):
        sample = simulate_sample(n_seeds, between, rng)
        for at, draw in enumerate((draw_clusters, draw_iid)):
            result = estimate(sample, {"mean": mean}, draw(sample, N_RESAMPLES, rng), level=0.95)["mean"]
            held[at] += result.low is not None and result.high is not None and result.low <= TRUTH <= result.high
    covered: list[float] = (held / n_datasets).tolist()
    return covered[0], covered[1]


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    print("| seeds | standard deviation between seeds | cluster | pooled (iid) |\n|---|---|---|---|")
    for n_seeds in SEEDS:
        for between in BETWEEN:
            cluster, pooled = simulate_coverage(n_seeds, between, n_datasets)
            print(f"| {n_seeds} | {between:g} | {100 * cluster:.1f} % | {100 * pooled:.1f} % |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
