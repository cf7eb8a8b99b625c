"""A submission's own numbers: their intervals at the level that the page says, and claims to the digit allowed."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.claims import COLUMNS, NO_VALUES, AskedClaim, ClaimedContrast, decide_claims
from app.boards.example import rows
from app.kinds.episodes.summary import summarise_episodes
from app.kinds.parse import parse_manifest
from app.kinds.summary.summary import summarise_means
from app.manifest.model import Manifest, Task
from app.stats.arrays import FloatArray
from app.stats.claimed import Side
from app.stats.cluster import draw_clusters, group_sample
from app.stats.resample import board_generator, draw_counts
from app.stats.spreads import Range
from app.values.scores import Coded
from tests.cases.small_tables import SEEDS, SPREAD, small_table

NOBODY = np.zeros(12, dtype=np.int64)


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


def ends(replicates: FloatArray) -> list[float]:
    """Return the 2.5th and the 97.5th percentile: what a reader takes 95 % for."""
    return [float(end) for end in np.quantile(replicates, [0.025, 0.975])]


def test_the_interval_of_a_submissions_mean_says_95_and_holds_95() -> None:
    """A thousand resamples of its tasks, drawn by the name of the metric; the next submission has the same ones."""
    drawn = draw_counts(12, 1000, board_generator(0, "summary", "x")) @ SPREAD / 12
    tables = [summarise_means(manifest("evaluation_summary"), small_table(SPREAD, is_episodes=False)) for _ in range(2)]
    row = next(iter(tables[0].records()))

    assert tables[0].meta["level"] == 0.95
    assert [row["mean_lower"], row["mean_upper"]] == pytest.approx(ends(drawn))
    assert tables[0] == tables[1]


@pytest.mark.parametrize(("n_scored", "expected"), [(1, [0.1, None, None]), (2, [0.4, 0.1, 0.7])])
def test_two_tasks_are_enough_for_an_interval_of_a_mean(n_scored: int, expected: list[float | None]) -> None:
    """Of one task nothing is known of the spread; a quarter of the resamples of two draw one of them twice."""
    values = np.where(np.arange(12) < n_scored, SPREAD, np.nan)
    row = next(iter(summarise_means(manifest("evaluation_summary"), small_table(values, is_episodes=False)).records()))

    assert [row["mean"], row["mean_lower"], row["mean_upper"]] == pytest.approx(expected)
    assert (row["n_scored"], row["n_missing"]) == (n_scored, 12 - n_scored)
    nothing = small_table(np.full(12, np.nan), is_episodes=True)
    empty = next(iter(summarise_episodes(manifest("episodes"), nothing, "cluster").records()))
    assert (empty["mean"], empty["mean_lower"], empty["mean_upper"]) == (None, None, None)


def test_an_entrants_own_numbers_are_the_same_whoever_is_in_its_submission() -> None:
    """Sent together, with a failure of one and nothing of another, each has what it has when it is sent alone."""
    scores = {"A": SPREAD, "B": 1.0 - SPREAD, "C": np.where(SPREAD > 0.5, np.nan, SPREAD), "D": np.full(12, np.nan)}
    alone = [
        replace(small_table(own, is_episodes=False), entrant=Coded((name,), NOBODY)) for name, own in scores.items()
    ]
    together = replace(
        small_table(np.concatenate(list(scores.values())), is_episodes=False),
        entrant=Coded(tuple(scores), np.repeat(np.arange(4), 12)),
    )
    asked = manifest("evaluation_summary")

    assert summarise_means(asked, together).rows == tuple(summarise_means(asked, own).rows[0] for own in alone)


def test_the_interval_of_a_submissions_episodes_says_95_and_holds_95() -> None:
    """Two thousand resamples of its seeds, and of the episodes within them."""
    sample = group_sample(SPREAD, SEEDS)
    (counts,) = draw_clusters(sample, 2000, board_generator(0, "summary", "A", "x"))
    table = summarise_episodes(manifest("episodes"), small_table(SPREAD, is_episodes=True), "cluster")
    row = next(iter(table.records()))

    assert table.meta["level"] == 0.95
    assert [row["mean_lower"], row["mean_upper"]] == pytest.approx(ends(counts @ sample.distinct / counts.sum(axis=1)))


def test_the_interval_of_a_claim_holds_95() -> None:
    """Two thousand resamples of the paired differences, near minus far, by seed."""
    differences, clusters = SPREAD[::2] - SPREAD[1::2], SEEDS[::2]
    sample = group_sample(differences, clusters)
    (counts,) = draw_clusters(sample, 2000, board_generator(0, "claim", "A", "near", "far", "x"))
    contrast = ClaimedContrast("c", "manifest", "near", "far", "x", 0.1, "greater")
    (row,) = decide_claims(manifest("episodes"), [contrast], small_table(SPREAD, is_episodes=True), AskedClaim(1))
    named = dict(zip((column.name for column in COLUMNS), row, strict=True))

    assert [named["difference_lower"], named["difference_upper"]] == pytest.approx(
        ends(counts @ sample.distinct / counts.sum(axis=1))
    )


def test_a_claim_about_a_metric_that_no_row_has_is_not_decided() -> None:
    """Of predictions a metric is of all rows at once: nothing here tested it, so it is not found inconclusive."""
    nothing = rows({"A": [np.nan] * 3, "B": [np.nan] * 3}, "x")
    contrast = ClaimedContrast("c", "manifest", "A", "B", "x", 0.0, "greater")
    (row,) = decide_claims(manifest("evaluation_summary"), [contrast], nothing, AskedClaim(1))
    named = dict(zip((column.name for column in COLUMNS), row, strict=True))

    assert (named["verdict"], named["alone"], named["note"]) == ("not decided", "not decided", NO_VALUES)


def test_a_claim_of_rows_without_seeds_has_families_of_tasks_for_units() -> None:
    """The interval that decides is that of the mean difference over them, each of as much weight as it has tasks."""
    names, near, far = tuple("abcdef"), SPREAD[:6], SPREAD[6:] - 0.2
    declared = manifest("evaluation_summary").model_copy(
        update={"tasks": tuple(Task(id=name, family=name if name > "c" else "abc") for name in names)}
    )
    both = rows({"A": near.tolist(), "B": far.tolist()}, "x")
    both = replace(both, task=Coded(names, both.task.codes), item=None)
    contrast = ClaimedContrast("c", "manifest", "A", "B", "x", 0.0, "greater")
    (row,) = decide_claims(declared, [contrast], both, AskedClaim(1))
    named = dict(zip((column.name for column in COLUMNS), row, strict=True))
    own = Side(near - far, np.array([0, 0, 0, 1, 2, 3]), Range(), are_tasks=True).interval(0.95)

    assert [named["difference_calibrated_low"], named["difference_calibrated_high"]] == pytest.approx(
        [own.low, own.high]
    )
