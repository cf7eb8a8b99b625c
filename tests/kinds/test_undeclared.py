"""What a manifest leaves open is said to its steward and to readers, because it makes every board provisional."""

import pytest

from app.cli.drafts import describe
from app.kinds.grid_sentences import grid_rules, undeclared
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from tests.cases import grids
from tests.cases.grids import EPISODES
from tests.fixtures import Site

CLOSED, OPEN = "[{id: arithmetic}, {id: code}]", "{open: true}"
SUMMARY = """
schema_version: 1
slug: table
title: Table
evidence: evaluation_summary
tasks: TASKS
metrics: {score: {direction: maximize}}
leaderboards: [{name: board, method: mean, metric: score, missing: drop}]
"""
PREDICTIONS = """
schema_version: 1
slug: spam
title: Spam
evidence: predictions
predictions: {kind: classification, classes: [a, b], labels: LABELS}
tasks: [{id: inbox}]
metrics: {auc: {direction: maximize}}
leaderboards: [{name: auc, method: estimate, metrics: [auc]}]
"""
SERIES = """
schema_version: 1
slug: lrd
title: Lrd
evidence: series_metrics
mode: ground_truth
tasks: {open: true}
GRID
metrics: {catalog: lrdbench, use: [mae]}
leaderboards: [{name: mae, method: weighted_rank, weights: {mae: 1.0}}]
"""
WITH_CONDITIONS = EPISODES.replace("condition: null", "condition: level")


def of_episodes(grid: str, text: str = EPISODES) -> Manifest:
    """Return a benchmark of episodes with a grid; what registrations may choose is registered."""
    prereg = "required" if "may_choose" in grid else "optional"
    filled = text.replace("GRID", grid).replace("SLUG", "small").replace("prereg: optional", f"prereg: {prereg}")
    return parse_manifest(filled.encode())


LEFT = {
    "nothing, by tasks": (parse_manifest(SUMMARY.replace("TASKS", CLOSED).encode()), []),
    "tasks": (parse_manifest(SUMMARY.replace("TASKS", OPEN).encode()), ["tasks"]),
    "tasks, but a board lists its own": (
        parse_manifest(SUMMARY.replace("TASKS", OPEN).replace("metric: score", "metric: score, tasks: [a]").encode()),
        [],
    ),
    "seeds and items, without a grid": (of_episodes(""), ["seeds", "items"]),
    "conditions, of which the grid forgets to speak": (
        of_episodes("grid: {seeds: 2, items: 20}", WITH_CONDITIONS),
        ["conditions"],
    ),
    "the items of one task": (of_episodes("grid: {seeds: 2, tasks: {code: {items: 20}}}"), ["items"]),
    "nothing, by each task": (
        of_episodes("grid: {seeds: 2, tasks: {code: {items: 20}, arithmetic: {items: 10}}}"),
        [],
    ),
    "nothing, by registration": (
        of_episodes("grid: {items: 20, registration_may_choose: {seeds: {at_least: 5}}}"),
        [],
    ),
    "nothing, by labels": (parse_manifest(PREDICTIONS.replace("LABELS", "private").encode()), []),
    "items of labels that everybody brings": (
        parse_manifest(PREDICTIONS.replace("LABELS", "submitted").encode()),
        ["items"],
    ),
    "records": (parse_manifest(SERIES.replace("GRID", "").encode()), ["records"]),
    "records, which are only counted": (
        parse_manifest(SERIES.replace("GRID", "grid: {items: 3}").encode()),
        ["records"],
    ),
    "nothing, by records": (
        parse_manifest(SERIES.replace("GRID", "grid: {tasks: {x: {items: [r1]}}}").encode()),
        [],
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_a_manifest_leaves_open(case: str) -> None:
    """Each axis that rows have and the manifest does not determine; `plumbline benchmark check` says it too."""
    manifest, axes = LEFT[case]

    assert list(manifest.part.open_axes(manifest)) == axes
    assert any("so boards are provisional" in line for line in describe(manifest)) is bool(axes)


def test_a_list_of_tasks_is_a_grid() -> None:
    """A reader of the page learns what everybody is asked for, also where the manifest has no key `grid`."""
    (rule,) = grid_rules(parse_manifest(SUMMARY.replace("TASKS", CLOSED).encode()))

    assert f"{rule.text}{rule.words}{rule.rest}" == (
        "Every entrant is asked for 2 tasks. Entrants that lack any of it are listed separately, without a rank."
    )


def test_axes_that_the_evidence_has_not_are_asked_of_nobody() -> None:
    """A row of a summary has no seed: the page must not say that everybody is asked for two."""
    grid = "grid: {seeds: 2, conditions: [x], tasks: {code: {items: 3}}}\ntasks:"
    manifest = parse_manifest(SUMMARY.replace("TASKS", CLOSED).replace("tasks:", grid, 1).encode())
    texts = [f"{rule.text}{rule.words}{rule.rest}" for rule in grid_rules(manifest)]

    assert texts[0].startswith("Every entrant is asked for 2 tasks. ")
    assert texts[-1] == (
        "The grid gives seeds, conditions and items, which evaluation_summary does not carry: nobody is asked for them."
    )
    assert len(texts) == 2


def test_several_axes_are_one_sentence() -> None:
    """In the order of the grid."""
    assert next(undeclared(of_episodes(""))) == (
        "The manifest leaves its seeds and items open, so boards are provisional: "
        "ranks are about what most submitters have, and nobody is called first."
    )


def test_items_that_nobody_has_uploaded_are_missed_on_the_page(site: Site) -> None:
    """Until then boards are provisional; afterwards the page has their number."""
    slug = grids.declare(site, EPISODES.replace("GRID", grids.GRID), items=None)
    before = site.http.get(f"/benchmarks/{slug}").text
    site.http.put(
        f"/benchmarks/{slug}/items", files=[("file", ("items.csv", "item\nq1\nq2\n"))], headers=site.auth("steward")
    )
    after = site.http.get(f"/benchmarks/{slug}").text

    assert "The steward has not uploaded the items yet" in before
    assert "The steward has not uploaded the items yet" not in after
    assert "the 2 items of the steward&#39;s file" in after


def test_the_rules_say_that_a_board_relative_to_another_asks_for_its_tasks() -> None:
    """Only where there is such a board."""
    declared = (
        "schema_version: 1\nslug: s\ntitle: S\nevidence: evaluation_summary\nmetrics: {x: {direction: minimize}}\n"
    )
    tasks = "tasks: [{id: a}, {id: b}]\n"
    for method, n_said in (("method: mean", 0), ("method: skill_score, baseline: Base", 1)):
        manifest = parse_manifest(f"{declared}{tasks}leaderboards: [{{name: b, metric: x, {method}}}]\n".encode())
        said = [
            rule.text for rule in grid_rules(manifest) if rule.text.startswith("Boards relative to Base ask for no")
        ]
        assert len(said) == n_said
