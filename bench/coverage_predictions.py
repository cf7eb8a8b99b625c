"""How often an interval of a metric of predictions holds the truth: `python -m bench.coverage_predictions`.

Every data set goes the way that a submission's does. A number after it is that of data sets a row instead of 2,000, in
twenties. The tables stand in docs/statistics.md; a test repeats a row.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from app.boards.measured import EntrantEvidence
from app.kinds.parse import parse_manifest
from app.kinds.predictions.measure import measure_predictions
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.values.scores import Coded, Labels, PredictionBlock, ScoreTable

Held = dict[tuple[str, str], float]
N_DATASETS, N_RESAMPLES, N_PARTS = 2_000, 1_000, 20
NORMAL = NormalDist()
# Two normal scores, the positive one shifted: this is the share of positives, these are areas under the ROC curve.
SHARE_POSITIVE, AREAS = 0.3, (0.75, 0.95)
N_EXAMPLES = (50, 200, 1_000)
TAGS = (("accuracy", "W"), ("accuracy", "acc_ci_ydf"), ("accuracy", "B"), ("auc", "H"), ("auc", "B"))
TAGS += (("pr_auc", "L"), ("pr_auc", "B"))
# Residuals: normal, and Student's t with five degrees of freedom, whose tails are those of many real errors.
RESIDUALS = {"normal": None, "Student's t, 5 degrees of freedom": 5}


@dataclass(frozen=True)
class Dataset:
    """Predictions and labels, each [n_examples]."""

    predicted: FloatArray
    label: FloatArray


def simulate_classes(area: float, n_examples: int, rng: np.random.Generator) -> Dataset:
    """Return calibrated probabilities of the positive class, and the class."""
    shift = _shift(area)
    label = (rng.random(n_examples) < SHARE_POSITIVE).astype(np.float64)
    score = rng.normal(size=n_examples) + shift * label
    odds = SHARE_POSITIVE / (1 - SHARE_POSITIVE) * np.exp(shift * score - shift**2 / 2)
    return Dataset(odds / (1 + odds), label)


def true_metrics(area: float) -> dict[str, float]:
    """Return what the metrics of `simulate_classes` tend to with ever more examples."""
    shift = _shift(area)
    cut = shift / 2 - np.log(SHARE_POSITIVE / (1 - SHARE_POSITIVE)) / shift
    accuracy = SHARE_POSITIVE * NORMAL.cdf(shift - cut) + (1 - SHARE_POSITIVE) * NORMAL.cdf(cut)
    recall = (np.arange(200_000) + 0.5) / 200_000
    false_positive = np.array([NORMAL.cdf(NORMAL.inv_cdf(result) - shift) for result in recall.tolist()])
    precision = SHARE_POSITIVE * recall / (SHARE_POSITIVE * recall + (1 - SHARE_POSITIVE) * false_positive)
    return {"accuracy": accuracy, "auc": area, "pr_auc": float(precision.mean())}


def simulate_values(degrees: int | None, n_examples: int, rng: np.random.Generator) -> Dataset:
    """Return predictions of zero, and labels whose standard deviation is one."""
    if degrees is None:
        return Dataset(np.zeros(n_examples), rng.normal(size=n_examples))
    return Dataset(np.zeros(n_examples), rng.standard_t(degrees, n_examples) / np.sqrt(degrees / (degrees - 2)))


def simulate_coverage(
    manifest: Manifest,
    simulate: Callable[[np.random.Generator], Dataset],
    truth: dict[str, float],
    seeds: range,
) -> Held:
    """Return by metric and tag the share of data sets, one of each seed, whose interval holds the truth."""
    held: dict[tuple[str, str], int] = {}
    for seed in seeds:
        for metric, tag, low, high in _intervals(manifest, simulate(np.random.default_rng([7, seed]))):
            if metric not in truth:  # stands beside one that was asked for
                continue
            is_held = low is not None and high is not None and low <= truth[metric] <= high
            held[metric, tag] = held.get((metric, tag), 0) + is_held
    return {key: count / len(seeds) for key, count in held.items()}


def manifest_of(kind: str, metrics: str) -> Manifest:
    """Return a benchmark of predictions with one board."""
    classes = ", classes: [negative, positive]" if kind == "classification" else ""
    direction = "maximize" if kind == "classification" else "minimize"
    declared = ", ".join(f"{metric.strip()}: {{direction: {direction}}}" for metric in metrics.split(","))
    return parse_manifest(
        "schema_version: 1\nslug: s\ntitle: s\nevidence: predictions\ntasks: [{id: t}]\n"
        f"predictions: {{kind: {kind}{classes}}}\nmetrics: {{{declared}}}\n"
        f"leaderboards: [{{name: b, method: estimate, metrics: [{metrics}], "
        f"uncertainty: {{n_resamples: {N_RESAMPLES}, level: 0.95, rng_seed: 1}}}}]\n".encode()
    )


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the tables as Markdown."""
    classes = manifest_of("classification", "accuracy, auc, pr_auc")
    titles = [f"{metric} {tag}" for metric, tag in TAGS]
    print(f"| AUC | examples | {' | '.join(titles)} |\n|---|---|{'---|' * len(titles)}")
    for area in AREAS:
        for n_examples in N_EXAMPLES:
            held = _in_parallel(classes, partial(simulate_classes, area, n_examples), true_metrics(area), n_datasets)
            print(f"| {area} | {n_examples} | {' | '.join(f'{100 * held[tag]:.1f} %' for tag in TAGS)} |")
    values = manifest_of("regression", "rmse")
    print("\n| residuals | examples | rmse X2 | rmse B |\n|---|---|---|---|")
    for title, degrees in RESIDUALS.items():
        for n_examples in N_EXAMPLES:
            held = _in_parallel(values, partial(simulate_values, degrees, n_examples), {"rmse": 1.0}, n_datasets)
            shown = (f"{100 * held['rmse', tag]:.1f} %" for tag in ("X2", "B"))
            print(f"| {title} | {n_examples} | {' | '.join(shown)} |")


def _in_parallel(
    manifest: Manifest, simulate: Callable[[np.random.Generator], Dataset], truth: dict[str, float], n_datasets: int
) -> Held:
    size = max(n_datasets // N_PARTS, 1)
    parts = [range(at * size, (at + 1) * size) for at in range(N_PARTS)]
    with ProcessPoolExecutor() as pool:
        result = list(pool.map(partial(simulate_coverage, manifest, simulate, truth), parts))
    return {key: sum(part[key] for part in result) / N_PARTS for key in result[0]}


def _intervals(manifest: Manifest, data: Dataset) -> Iterator[tuple[str, str, float | None, float | None]]:
    """Yield (metric, tag, low, high) as a submission's page shows them."""
    one = np.zeros(1, dtype=np.int64)
    table = ScoreTable(Coded(("A",), one), Coded(("t",), one), (), np.empty((1, 0)), one.astype(bool), one, one + 1)
    block = PredictionBlock("A", "t", data.predicted[:, None])
    labels = {"t": Labels("t", (), data.label)}
    created = measure_predictions(manifest, manifest.leaderboards[0], EntrantEvidence("A", table, [block], labels))
    for _, metric, _, low, high, tag, *_ in created.rows["intervals"]:
        yield str(metric), str(tag), low, high  # type: ignore[misc]  # cells of these columns are numbers


def _shift(area: float) -> float:
    """Return the distance of two unit normals at which the upper one is larger with this probability."""
    return NORMAL.inv_cdf(area) * 2**0.5


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
