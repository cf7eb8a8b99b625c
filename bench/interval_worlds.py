"""The worlds in which intervals are compared: what is drawn, what is true, and the methods that are tried.

Each world draws data sets from a generator and gives, by method, the ends of every data set's interval.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri
from scipy.stats import norm

from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated, calibrate, calibrated_iqm, hanley_mcneil, intervals, wilson
from app.stats.curves import area_spread, root_mean_squares
from app.stats.spreads import SHARE, Range, cluster_spread, mean_spread
from bench.interval_methods import BOOTSTRAPS, LEVEL, TAIL, Ends, design_effect, log_student, student
from bench.interval_parts import part_worlds
from bench.interval_quantiles import quantile_worlds
from bench.interval_replicates import replicate_worlds
from bench.interval_resampled import resampled_worlds
from bench.interval_tasks import task_worlds
from bench.interval_trimmed_parts import trimmed_part_worlds
from bench.interval_world import OURS, Drawn, World

CLUSTERS, SHARES, ALIKE = (5, 8, 16, 50), (0.5, 0.8, 0.9, 0.97, 1.0), (0.0, 0.03, 0.1, 0.3)
N_ITEMS = 50


def worlds() -> Iterator[World]:
    """Yield every cell of the written grid."""
    yield from _clustered()
    yield from task_worlds()
    yield from _squares()
    yield from _areas()
    yield from _weighted_shares()
    yield from quantile_worlds()
    yield from resampled_worlds()
    yield from part_worlds()
    yield from trimmed_part_worlds()
    yield from replicate_worlds()


def _clustered() -> Iterator[World]:
    for n_clusters in CLUSTERS:
        for alike in ALIKE:
            for share in SHARES[: None if alike == 0 else -1]:
                row, column = f"{n_clusters} seeds, ICC {alike:g}", f"p {share:g}"
                draw = partial(_means, n_clusters, alike, share)
                yield World("mean", row, column, share, draw)
                middle = float(np.clip(2 * (share - 0.25), 0, 1))
                yield World("IQM of 0/1", row, column, middle, partial(_trims, n_clusters, alike, share))
        for alike in ALIKE:
            yield World("IQM", f"{n_clusters} seeds", f"ICC {alike:g}", 0.0, partial(_smooth_trims, n_clusters, alike))


def _seed_counts(n_clusters: int, alike: float, share: float, rng: np.random.Generator, n: int) -> FloatArray:
    """Return successes of each seed; `alike` is the correlation of two episodes of one seed."""
    rates = np.full((n, n_clusters), share)
    if alike > 0:
        strength = 1 / alike - 1
        rates = rng.beta(share * strength, (1 - share) * strength, size=(n, n_clusters))
    return rng.binomial(N_ITEMS, rates).astype(np.float64)


def _means(n_clusters: int, alike: float, share: float, rng: np.random.Generator, n: int) -> Drawn:
    counts = _seed_counts(n_clusters, alike, share, rng, n)
    others = {"t": student, "design effect": design_effect(N_ITEMS), **BOOTSTRAPS}
    return {OURS: _share_ends(counts), **{name: of(counts / N_ITEMS) for name, of in others.items()}}


def _share_ends(counts: FloatArray) -> Ends:
    return intervals(cluster_spread(counts, np.full(counts.shape, float(N_ITEMS)), counts), SHARE, LEVEL)


def _trims(n_clusters: int, alike: float, share: float, rng: np.random.Generator, n: int) -> Drawn:
    """0/1: an interquartile mean is a function of the mean, so every bootstrap's ends are those of the mean's."""
    counts = _seed_counts(n_clusters, alike, share, rng, n)
    clusters = np.repeat(np.arange(n_clusters), N_ITEMS)
    items = (np.arange(N_ITEMS) < counts[:, :, None]).astype(np.float64).reshape(n, -1)
    ours = [calibrated_iqm(row, clusters, within=SHARE, level=LEVEL) for row in items]
    return {OURS: _ends(ours), **{name: _middle(of(counts / N_ITEMS)) for name, of in BOOTSTRAPS.items()}}


def _middle(ends: Ends) -> Ends:
    """Return what the ends of a share are as an interquartile mean."""
    low, high = (np.clip(2 * (end - 0.25), 0, 1) for end in ends)
    return low, high


def _smooth_trims(n_clusters: int, alike: float, rng: np.random.Generator, n: int) -> Drawn:
    between = rng.normal(size=(n, n_clusters, 1)) * np.sqrt(alike)
    items = between + rng.normal(size=(n, n_clusters, 20)) * np.sqrt(1 - alike)
    clusters = np.repeat(np.arange(n_clusters), 20)
    ours = [calibrated_iqm(row.ravel(), clusters, within=Range(), level=LEVEL) for row in items]
    return {OURS: _ends(ours), "percentile": _drawn_trims(items, rng)}


def _drawn_trims(items: FloatArray, rng: np.random.Generator) -> Ends:
    """Return the percentile bootstrap over clusters of interquartile means, data set by data set."""
    ends = []
    for one in items:
        drawn = one[rng.integers(len(one), size=(399, len(one)))].reshape(399, -1)
        dropped = drawn.shape[1] // 4
        kept = np.sort(drawn, axis=1)[:, dropped : drawn.shape[1] - dropped].mean(axis=1)
        ends.append(np.quantile(kept, [TAIL, 1 - TAIL]))
    low, high = np.array(ends).T
    return low, high


WEIGHTS: Mapping[str, Callable[[np.random.Generator, Any], FloatArray]] = {
    "1": lambda rng, shape: np.ones(shape),
    "U(.1, 3)": lambda rng, shape: rng.uniform(0.1, 3.0, shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
}


def _squares() -> Iterator[World]:
    for n_examples in (*CLUSTERS, 200, 1000):
        for name in WEIGHTS if n_examples in (16, 50, 200) else ("1",):
            for degrees in (None, 10, 5):
                column = "normal" if degrees is None else f"t, {degrees} df"
                row = f"{n_examples} examples" + ("" if name == "1" else f", weights {name}")
                yield World("RMSE", row, column, 1.0, partial(_errors, n_examples, name, degrees))


def _errors(n_examples: int, weighting: str, degrees: int | None, rng: np.random.Generator, n: int) -> Drawn:
    shape = (n, n_examples)
    errors = (
        rng.normal(size=shape)
        if degrees is None
        else rng.standard_t(degrees, size=shape) / np.sqrt(degrees / (degrees - 2))
    )
    squares = errors**2
    if weighting != "1":
        return {OURS: root_mean_squares(squares, WEIGHTS[weighting](rng, shape), LEVEL)}
    mean = squares.mean(axis=1)
    exact = tuple(np.sqrt(mean * n_examples / chdtri(n_examples, tail)) for tail in (TAIL, 1 - TAIL))
    means = {"log t": log_student, **(BOOTSTRAPS if n_examples <= 200 else {})}
    roots = {name: tuple(np.sqrt(np.clip(end, 0, None)) for end in of(squares)) for name, of in means.items()}
    return {OURS: root_mean_squares(squares, None, LEVEL), "X2": exact, **roots}


def _areas() -> Iterator[World]:
    for n_examples in (5, 8, 10, 16, 32, 50, 200):
        for name in WEIGHTS:
            if name != "1" and n_examples < 32:
                continue
            for area in (0.5, 0.75, 0.9, 0.97):
                row = f"{n_examples} examples, weights {name}"
                yield World("AUC", row, f"AUC {area:g}", area, partial(_area_ends, n_examples, name, area))


def _area_ends(n_examples: int, weighting: str, area: float, rng: np.random.Generator, n: int) -> Drawn:
    n_positive = max(2, round(n_examples * (0.5 if n_examples < 50 else 0.3)))
    is_positive = np.arange(n_examples) < n_positive
    shift = float(ndtri(area)) * np.sqrt(2.0)
    result: dict[str, list[Any]] = {OURS: [], "H of Σw": [], "logit": []}
    for _ in range(n):
        scores = rng.normal(size=n_examples) + shift * is_positive
        weights = WEIGHTS[weighting](rng, n_examples)
        spread = area_spread(scores, is_positive, weights)
        created = calibrate(spread, SHARE, LEVEL)
        result[OURS].append((created.low, created.high))
        of_classes = [float(weights[mask].sum()) for mask in (is_positive, ~is_positive)]
        result["H of Σw"].append(hanley_mcneil(float(spread.point), of_classes[0], of_classes[1], LEVEL))
        result["logit"].append(_logit(float(spread.point), float(spread.error)))
    return {name: _pairs(ends) for name, ends in result.items()}


def _logit(area: float, error: float) -> tuple[float, float]:
    if not 0 < area < 1:
        return area, area
    odds, reach = np.log(area / (1 - area)), norm.ppf(1 - TAIL) * error / (area * (1 - area))
    return 1 / (1 + np.exp(reach - odds)), 1 / (1 + np.exp(-reach - odds))


def _weighted_shares() -> Iterator[World]:
    for n_examples in (8, 16, 50, 200):
        for name in WEIGHTS:
            for share in SHARES:
                row = f"{n_examples} examples, weights {name}"
                yield World("accuracy", row, f"p {share:g}", share, partial(_accuracies, n_examples, name, share))


def _accuracies(n_examples: int, weighting: str, share: float, rng: np.random.Generator, n: int) -> Drawn:
    right = (rng.random((n, n_examples)) < share).astype(np.float64)
    weights = WEIGHTS[weighting](rng, right.shape)
    spread = mean_spread(right, weights)
    point = np.clip(spread.point, 0.0, 1.0)
    by_sum = [wilson(p * w, w, LEVEL) for p, w in zip(point.tolist(), weights.sum(axis=1).tolist(), strict=True)]
    by_kish = [wilson(p * k, k, LEVEL) for p, k in zip(point.tolist(), spread.n_units.tolist(), strict=True)]
    return {OURS: intervals(spread, SHARE, LEVEL), "W of Σw": _pairs(by_sum), "W of n_eff": _pairs(by_kish)}


def _ends(result: list[Calibrated]) -> Ends:
    return _pairs([(each.low, each.high) for each in result])


def _pairs(result: list[Any]) -> Ends:
    low, high = np.array(result, dtype=np.float64).T
    return low, high
