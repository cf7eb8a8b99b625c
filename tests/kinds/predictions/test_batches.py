"""How many resamples are in memory at once: many side by side, and few where more is made of each."""

from dataclasses import replace

import numpy as np
import pytest

from app.kinds.predictions import task
from app.stats.arrays import Weights
from app.stats.curve_bands import BATCH_CELLS
from app.stats.curves import LANES, Areas, SortedScores, curve_areas
from tests.cases.prediction_boards import BINARY, benchmark, measure, two_classes

N_EXAMPLES, N_RESAMPLES = 50_000, 100


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("metrics", "is_weighted", "most"),
    [
        (["auc"], False, LANES),
        (["auc"], True, BATCH_CELLS // N_EXAMPLES),
        (["auc", "precision@recall=0.5"], False, BATCH_CELLS // N_EXAMPLES),
    ],
)
def test_weighted_and_constrained_metrics_take_few_resamples_at_a_time(
    monkeypatch: pytest.MonkeyPatch, metrics: list[str], is_weighted: bool, most: int
) -> None:
    """A weighted count is eight bytes, and what is called at each threshold some dozens: of a million 1.5 GB a set."""
    sizes = list[int]()

    def counted(scores: SortedScores, weights: Weights) -> Areas:
        sizes.append(len(weights))
        return curve_areas(scores, weights)

    monkeypatch.setattr(task, "curve_areas", counted)
    labels, scores = two_classes(N_EXAMPLES)
    labels = replace(labels, weight=np.full(N_EXAMPLES, 2.0)) if is_weighted else labels

    manifest = benchmark(
        BINARY, metrics, more=f", uncertainty: {{n_resamples: {N_RESAMPLES}, level: 0.95, rng_seed: 1}}"
    )
    measure(manifest, "A", scores, labels)

    assert max(sizes) == most
    assert sum(sizes) >= N_RESAMPLES
