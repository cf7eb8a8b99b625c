"""In which stratum a record is: the benchmark's grid says it, and where it does not, no first submission is silent."""

import pytest

from app.admission.case import Check, CurrentRecord
from app.boards.example import rows
from app.boards.methods.weighted_rank.records import strata_of_grid
from app.kinds.parse import parse_manifest
from app.kinds.series.rules import check_records
from app.manifest.model import GridFacts, RequiredGrid
from tests.cases import grids, publications
from tests.cases.lrdbench_http import EXAMPLES
from tests.fixtures import Site

OWN = rows({"GPH": [0.1, 0.2]}, "mae")
"""Records a and b, each in the stratum of its name."""
OTHER = [CurrentRecord("a", "elsewhere", 3), CurrentRecord("b", "b", 3)]
LISTS = "grid: {tasks: {a: {items: [a]}, b: {items: [b]}}}"


def strata(standing: list[CurrentRecord], declared: dict[str, str]) -> Check:
    """Return the check of the strata of a run."""
    return check_records(OWN, standing, declared)[0]


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


def test_a_first_run_with_strata_of_its_own_is_not_admitted_where_the_grid_names_them() -> None:
    """Whoever comes first decides nothing, and the reason names both strata."""
    actual = strata([], {"a": "elsewhere", "b": "b"})

    assert (actual.outcome, "a is in a here and in elsewhere in the grid" in actual.reason) == ("failed", True)


def test_a_first_run_says_that_its_strata_are_its_own() -> None:
    """Where neither the grid nor anybody else tells them; told by either one they pass."""
    outcomes = [strata([], {}).outcome, strata([], {"a": "a", "b": "b"}).outcome,
                strata([CurrentRecord("a", "a", 3), CurrentRecord("b", "b", 3)], {}).outcome]  # fmt: skip

    assert outcomes == ["warned", "passed", "passed"]


def test_who_differs_from_an_earlier_run_is_told_what_a_steward_can_do() -> None:
    """Nothing tells which of the two is right."""
    actual = strata(OTHER, {})

    assert (actual.outcome, "a steward can withdraw it" in actual.reason) == ("failed", True)


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


def test_a_board_says_that_nobody_but_the_first_run_told_the_strata(roomy_site: Site) -> None:
    """Easy records in strata of their own lift a mean over strata, and whoever states others is kept off."""
    slug = grids.declare(roomy_site, publications.SERIES, None)
    publications.send(roomy_site, slug, "metrics.csv", publications.good_run("GPH"), "bob")
    notes = grids.board(roomy_site, slug, "shared")["notes"]

    assert any("strata of 5 of 5 records are as the first submission of each states them" in note for note in notes)
