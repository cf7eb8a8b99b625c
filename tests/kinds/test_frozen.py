"""The tables that kinds make beside boards, whole: contract tables, reports, tests of pairs, a submission's own."""

from pathlib import Path

import numpy as np
import pytest

from app.kinds.episodes.summary import summarise_episodes
from app.kinds.parse import parse_manifest
from app.kinds.predictions.report import report_tables
from app.kinds.registry import measured_evidence
from app.kinds.series.contract import metadata_table, series_tables
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.summary.summary import summarise_means
from app.manifest.model import part_of
from app.values.scores import Labels
from tests.cases.frozen import assert_frozen, assert_same, tables_as_text
from tests.cases.prediction_boards import BINARY, benchmark, measure, spec, two_classes
from tests.cases.series_runs import GIVEN, given_manifest, read_given
from tests.cases.small_tables import SPREAD, small_table

SMALL = """
schema_version: 1
slug: small
title: Small
evidence: {evidence}
metrics: {{x: {{direction: maximize}}}}
tasks: {{open: true}}
leaderboards: [{{name: board, {method}}}]
"""

# One of each kind; `own-spread` is of means and of episodes.
WHOLE = ("series-smoke_ground_truth", "predictions-classes", "own-spread")


def keep(name: str, text: str) -> None:
    """Compare with what is kept: whole, or its digest."""
    (assert_frozen if name in WHOLE else assert_same)(name, text)


@pytest.mark.heavy
@pytest.mark.parametrize("run", sorted(set(GIVEN) - {"rich_stress"}))
def test_the_tables_of_a_series_are_as_they_were(run: str, tmp_path: Path) -> None:
    """Every table of lrdbench's contract, of each given run."""
    manifest, evidence = given_manifest(run), read_given(run, tmp_path)
    described = metadata_table(evidence.facts.described, part_of(manifest, SeriesPart).estimators)

    keep(f"series-{run}", tables_as_text([*series_tables(manifest, evidence.scores), described]))


PARTS = {
    "classes": (BINARY, ["accuracy", "auc", "logloss"]),
    "values": ("kind: regression", ["rmse", "r2"]),
    "groups": ("kind: ranking", ["ndcg", "mrr"]),
}


@pytest.mark.parametrize("part", PARTS)
def test_the_report_and_the_tests_of_predictions_are_as_they_were(part: str) -> None:
    """Of two entrants on one task: their reports, and the tests that compare them."""
    declared, metrics = PARTS[part]
    manifest = benchmark(declared, metrics)
    labels, scores = two_classes(60)
    if part == "groups":
        labels = Labels("t", (), labels.label, group=np.arange(60) // 10)
    others = np.round(np.clip(scores + 0.1 * np.sin(np.arange(60)), 0.01, 0.99), 2).astype(np.float64)
    measured = [measure(manifest, name, values, labels) for name, values in (("A", scores), ("B", others))]
    further = measured_evidence(manifest).further_tables(manifest, spec(manifest), measured, None)
    reports = report_tables({m.entrant: m.rows for m in measured})

    beside = [table for each in further if (table := each.compute()) is not None]
    keep(f"predictions-{part}", tables_as_text([*beside, *reports]))


SOME = np.where(np.arange(12) == 4, 0.3, np.nan)
VALUES = {"spread": SPREAD, "equal": np.full(12, 0.5), "one": SOME, "none": np.full(12, np.nan)}


@pytest.mark.parametrize("values", VALUES)
def test_the_own_table_of_a_submission_is_as_it_was(values: str) -> None:
    """Of means and of episodes, whose bootstrap may be by seeds, by seeds and episodes, or of all episodes alike."""
    means = parse_manifest(SMALL.format(evidence="evaluation_summary", method="method: mean, metric: x").encode())
    episodes = parse_manifest(SMALL.format(evidence="episodes", method="method: estimate, metrics: [x]").encode())
    own = summarise_means(means, small_table(VALUES[values], is_episodes=False))
    of_episodes = [
        summarise_episodes(episodes, small_table(VALUES[values], is_episodes=True), method)
        for method in ("cluster", "hierarchical", "iid")
    ]

    keep(f"own-{values}", tables_as_text([own, *of_episodes]))
