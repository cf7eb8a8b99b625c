"""In which stratum a record is: the benchmark's grid says it, and where it does not, no first submission is silent."""

import pytest

from app.boards.methods.weighted_rank.records import strata_of_grid
from app.kinds.parse import parse_manifest
from app.manifest.model import GridFacts, RequiredGrid
from tests.cases import grids, publications
from tests.cases.lrdbench_http import EXAMPLES
from tests.fixtures import Site

LISTS = "grid: {tasks: {a: {items: [a]}, b: {items: [b]}}}"


def asked(grid: str, facts: GridFacts) -> RequiredGrid:
    """Return what a benchmark of series with this grid asks."""
    text = f"""
schema_version: 1
slug: small
title: Small
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [mae, runtime]}}
tasks: {{open: true}}
{grid}
leaderboards: [{{name: main, method: weighted_rank, weights: {{mae: 0.5, runtime: 0.5}}}}]
"""
    whole = parse_manifest(text.encode()).asked
    return RequiredGrid(whole.grid, whole.tasks, facts)


@pytest.mark.parametrize(
    ("grid", "put", "named"),
    [
        (LISTS, None, {"a": "a", "b": "b"}),
        ("grid: {items: file}", {"a": ["x"], "b": ["y"]}, {"x": "a", "y": "b"}),
        ("grid: {items: file}", {"": ["x"]}, {}),
        ("grid: {items: [x, y]}", None, {}),
        ("", None, {}),
    ],
    ids=["lists", "a file by task", "a file of every task", "a list of every task", "none"],
)
def test_the_grid_names_strata_by_its_tasks(grid: str, put: dict[str, list[str]] | None, named: dict[str, str]) -> None:
    """In the manifest or in the steward's file; items of every task belong to no stratum."""
    assert strata_of_grid(asked(grid, GridFacts(items=put))) == named


def test_an_imported_suite_names_the_stratum_of_each_record() -> None:
    """All 144 of the given stress run."""
    declared = parse_manifest((EXAMPLES / "lrdbench" / "manifest.yaml").read_bytes()).asked

    assert len(strata_of_grid(declared)) == 144
    assert declared.named_items == strata_of_grid(declared).keys()


def test_a_board_says_that_nobody_but_the_first_run_told_the_strata(shared_site: Site) -> None:
    """Easy records in strata of their own lift a mean over strata, and whoever states others is kept off."""
    slug = grids.declare(shared_site, publications.SERIES, None)
    publications.send(shared_site, slug, "metrics.csv", publications.good_run("GPH"), "bob")
    notes = grids.board(shared_site, slug, "shared")["notes"]

    assert any("strata of 5 of 5 records are as the first submission of each states them" in note for note in notes)
