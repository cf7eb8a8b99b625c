"""A submission's own numbers: their intervals at the level that the page says, and claims to the digit allowed."""

import numpy as np
import pytest

from app.admission.claims import check_claims
from app.admission.fields import Claims
from app.boards.claim_rows import COLUMNS, Asked, Contrast
from app.boards.claims import decide_claims
from app.kinds.episodes.summary import summarise_episodes
from app.kinds.parse import parse_manifest
from app.kinds.summary.summary import summarise_means
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.cluster import draw_clusters, group_sample
from app.stats.resample import board_generator, draw_counts
from app.values.scores import Coded, ScoreTable

VALUES = np.array([0.1, 0.7, 0.4, 0.9, 0.3, 0.8, 0.2, 0.6, 0.55, 0.35, 0.75, 0.15])
SEEDS = np.repeat([1, 2, 3], 4)


def manifest(evidence: str) -> Manifest:
    """Return a benchmark of one metric."""
    method = "method: mean, metric: x" if evidence == "evaluation_summary" else "method: estimate, metrics: [x]"
    return parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: {evidence}
metrics: {{x: {{direction: maximize}}}}
tasks: {{open: true}}
leaderboards: [{{name: board, {method}}}]
""".encode()
    )


def scores(*, episodes: bool) -> ScoreTable:
    """Return twelve tasks of A, or twelve episodes of three seeds."""
    none = np.zeros(12, dtype=np.int64)
    each = Coded(tuple(f"{at:02}" for at in range(12)), np.arange(12))
    return ScoreTable(
        entrant=Coded(("A",), none),
        task=Coded(("t",), none) if episodes else each,
        columns=("x",),
        values=VALUES[:, None],
        leaked=none.astype(np.bool_),
        file=none,
        row=none,
        condition=Coded(("near", "far"), np.arange(12) % 2) if episodes else None,
        seed=SEEDS if episodes else None,
        item=Coded(tuple(f"{at:02}" for at in range(6)), np.arange(12) // 2) if episodes else None,
    )


def ends(replicates: FloatArray) -> list[float]:
    """Return the 2.5th and the 97.5th percentile: what a reader takes 95 % for."""
    return [float(end) for end in np.quantile(replicates, [0.025, 0.975])]


def test_the_interval_of_a_submissions_mean_says_95_and_holds_95() -> None:
    """A thousand resamples of its tasks, drawn by name."""
    drawn = draw_counts(12, 1000, board_generator(0, "summary", "A", "x")) @ VALUES / 12
    table = summarise_means(manifest("evaluation_summary"), scores(episodes=False))
    row = next(iter(table.records()))

    assert table.meta["level"] == 0.95
    assert [row["mean_lower"], row["mean_upper"]] == pytest.approx(ends(drawn))


def test_the_interval_of_a_submissions_episodes_says_95_and_holds_95() -> None:
    """Two thousand resamples of its seeds, and of the episodes within them."""
    sample = group_sample(VALUES, SEEDS)
    (counts,) = draw_clusters(sample, 2000, board_generator(0, "summary", "A", "x"))
    table = summarise_episodes(manifest("episodes"), scores(episodes=True), "cluster")
    row = next(iter(table.records()))

    assert table.meta["level"] == 0.95
    assert [row["mean_lower"], row["mean_upper"]] == pytest.approx(ends(counts @ sample.distinct / counts.sum(axis=1)))


def test_the_interval_of_a_claim_holds_95() -> None:
    """Two thousand resamples of the paired differences, near minus far, by seed."""
    differences, clusters = VALUES[::2] - VALUES[1::2], SEEDS[::2]
    sample = group_sample(differences, clusters)
    (counts,) = draw_clusters(sample, 2000, board_generator(0, "claim", "A", "near", "far", "x"))
    contrast = Contrast("c", "manifest", "near", "far", "x", 0.1, "greater")
    (row,) = decide_claims([contrast], scores(episodes=True), Asked(1))
    named = dict(zip((column.name for column in COLUMNS), row, strict=True))

    assert [named["difference_lower"], named["difference_upper"]] == pytest.approx(
        ends(counts @ sample.distinct / counts.sum(axis=1))
    )


@pytest.mark.parametrize(
    ("claimed", "outcome"),
    [(0.5, "passed"), (0.5 + 9e-7, "passed"), (0.5 - 9e-7, "passed"), (0.5 + 2e-6, "failed"), (0.5 - 2e-6, "failed")],
)
def test_a_claim_is_held_to_the_sixth_decimal(claimed: float, outcome: str) -> None:
    """A millionth is rounding; two are another number."""
    claims: Claims = {"A": {"x": claimed}}

    assert [check.outcome for check in check_claims(claims, {("A", "x"): 0.5})] == [outcome]


@pytest.mark.parametrize(("claimed", "outcome"), [(2e6 + 1.5, "passed"), (2e6 + 3.0, "failed")])
def test_a_large_claim_is_held_to_its_sixth_digit(claimed: float, outcome: str) -> None:
    """A millionth of it, whatever its unit."""
    assert [check.outcome for check in check_claims({"A": {"x": claimed}}, {("A", "x"): 2e6})] == [outcome]
