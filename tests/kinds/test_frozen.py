"""The numbers of one submission a kind, whole: contract tables, reports and tests of pairs, a submission's own."""

from pathlib import Path

import numpy as np

from app.kinds.episodes.summary import summarise_episodes
from app.kinds.parse import parse_manifest
from app.kinds.predictions.report import report_tables
from app.kinds.registry import measured_kind
from app.kinds.series.contract import metadata_table, series_tables
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.summary.summary import summarise_means
from app.manifest.model import part_of
from tests.cases.frozen import assert_frozen, tables_as_text
from tests.cases.prediction_boards import BINARY, benchmark, measure, spec, two_classes
from tests.cases.series_runs import given_manifest, read_given
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


def test_the_tables_of_a_series_are_as_they_were(tmp_path: Path) -> None:
    """Every table of lrdbench's contract; those of each given run are compared with lrdbench's own."""
    run = "smoke_ground_truth"
    manifest, evidence = given_manifest(run), read_given(run, tmp_path)
    described = metadata_table(evidence.facts.described, part_of(manifest, SeriesPart).estimators)

    assert_frozen(f"series-{run}", tables_as_text([*series_tables(manifest, evidence.scores), described]))


def test_the_report_and_the_tests_of_predictions_are_as_they_were() -> None:
    """Of two entrants on one task: their reports, and the tests that compare them."""
    manifest = benchmark(BINARY, ["accuracy", "auc", "logloss"])
    labels, scores = two_classes(60)
    others = np.round(np.clip(scores + 0.1 * np.sin(np.arange(60)), 0.01, 0.99), 2).astype(np.float64)
    measured = [measure(manifest, name, values, labels) for name, values in (("A", scores), ("B", others))]
    further = measured_kind(manifest).further_tables(manifest, spec(manifest), measured, None)
    beside = [table for each in further if (table := each.compute()) is not None]

    assert_frozen(
        "predictions-classes", tables_as_text([*beside, *report_tables({m.entrant: m.rows for m in measured})])
    )


def test_the_own_table_of_a_submission_is_as_it_was() -> None:
    """Of means and of episodes, whose bootstrap may be by seeds, by seeds and episodes, or of all episodes alike."""
    means = parse_manifest(SMALL.format(evidence="evaluation_summary", method="method: mean, metric: x").encode())
    episodes = parse_manifest(SMALL.format(evidence="episodes", method="method: estimate, metrics: [x]").encode())
    own = summarise_means(means, small_table(SPREAD, is_episodes=False))
    of_episodes = [
        summarise_episodes(episodes, small_table(SPREAD, is_episodes=True), method)
        for method in ("cluster", "hierarchical", "iid")
    ]

    assert_frozen("own-spread", tables_as_text([own, *of_episodes]))
