"""The worlds of intervals of metrics without a closed form, PR-AUC, AP and F1, whose error comes from replicates.

Every data set is scored, resampled and given its interval by the functions with which a board does it.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.measure import calibrated_metric, spreading_of
from app.kinds.predictions.metrics import scorer_of
from app.kinds.predictions.task import TaskPredictions, complete
from app.stats.arrays import BoolArray, FloatArray
from app.stats.calibrated import logistic
from app.stats.curve_bands import map_resamples
from app.stats.resample import percentile_interval
from app.values.scores import Labels, PredictionBlock
from bench.coverage_predictions import NORMAL
from bench.interval_methods import LEVEL
from bench.interval_world import OURS, Drawn, World

METRICS = {"PR-AUC": "pr_auc", "AP": "ap", "F1": "f1"}
SIZES = ((50, 0.3), (50, 0.5), (200, 0.1), (200, 0.3), (1_000, 0.1))
"""Examples, and the share of the positive ones."""
AREAS = (0.75, 0.9, 0.97)
N_RESAMPLES, N_STEPS = 400, 100_000
FEWEST_POSITIVE = 2
PART = Predictions(kind="classification", classes=["no", "yes"])


def replicate_worlds() -> Iterator[World]:
    """Yield a cell for each metric, size and how well the scores tell the classes apart."""
    for n_examples, share in SIZES:
        for area in AREAS:
            truths = true_metrics(area, share)
            for title, name in METRICS.items():
                row, draw = (
                    f"{n_examples} examples, {share:.0%} positive",
                    partial(_ends, n_examples, share, area, name),
                )
                yield World(f"{title} by replicates", row, f"AUC {area:g}", truths[name], draw)


def true_metrics(area: float, share: float) -> dict[str, float]:
    """Return what the metrics tend to with ever more examples, two unit normals apart, probabilities calibrated.

    >>> {name: round(number, 3) for name, number in true_metrics(0.9, 0.3).items()}
    {'pr_auc': 0.805, 'ap': 0.805, 'f1': 0.719}
    """
    shift = NORMAL.inv_cdf(area) * 2**0.5
    cut = shift / 2 - np.log(share / (1 - share)) / shift
    recall = (np.arange(N_STEPS) + 0.5) / N_STEPS
    called_wrongly = np.array([NORMAL.cdf(NORMAL.inv_cdf(each) - shift) for each in recall.tolist()])
    precision = float((share * recall / (share * recall + (1 - share) * called_wrongly)).mean())
    right, wrong = share * NORMAL.cdf(shift - cut), (1 - share) * NORMAL.cdf(-cut)
    return {"pr_auc": precision, "ap": precision, "f1": 2 * right / (right + wrong + share)}


def _ends(n_examples: int, share: float, area: float, name: str, rng: np.random.Generator, n: int) -> Drawn:
    """Return the intervals of data sets; those without FEWEST_POSITIVE of both classes are drawn again."""
    ours, plain, closed = [], [], []
    for _ in range(n):
        task = _task(_labels(n_examples, share, rng), share, area, rng)
        score = scorer_of(task, (name,))
        point = float(score(task.unit_weights[None, :])[name][0])
        parts = map_resamples(score, n_examples, N_RESAMPLES, rng)
        drawn = np.concatenate([part[name] for part in parts])
        spreading = spreading_of(name, task, point, drawn)
        created = calibrated_metric(name, task, point, spreading, LEVEL)
        ours.append((np.nan, np.nan) if created is None or created.low is None else (created.low, created.high))
        plain.append([float(end[0]) for end in percentile_interval(drawn[~np.isnan(drawn)][:, None], LEVEL)])
        closed.append(logistic(point, float(task.label.sum()), LEVEL) or (0.0, 1.0))
    methods = {OURS: ours, "percentile": plain} | ({"logistic": closed} if name != "f1" else {})
    return {method: _columns(np.array(ends, dtype=np.float64)) for method, ends in methods.items()}


def _columns(ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    return ends[:, 0], ends[:, 1]


def _labels(n_examples: int, share: float, rng: np.random.Generator) -> BoolArray:
    while True:
        labels: BoolArray = rng.random(n_examples) < share
        if FEWEST_POSITIVE <= np.count_nonzero(labels) <= n_examples - FEWEST_POSITIVE:
            return labels


def _task(is_positive: BoolArray, share: float, area: float, rng: np.random.Generator) -> TaskPredictions:
    """Return calibrated probabilities of the positive class from scores whose distance gives the area."""
    shift = NORMAL.inv_cdf(area) * 2**0.5
    scores = rng.normal(size=len(is_positive)) + shift * is_positive
    odds = share / (1 - share) * np.exp(shift * scores - shift**2 / 2)
    block = PredictionBlock("A", "t", (odds / (1 + odds))[:, None])
    return complete(PART, block, Labels("t", (), is_positive.astype(np.float64)))
