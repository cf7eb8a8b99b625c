"""What every kind of evidence says on the pages: examples without holes, terms that are explained, words in use."""

from pathlib import Path

import pytest

from app.kinds.grid_sentences import grid_rules
from app.kinds.parse import parse_manifest
from app.kinds.registry import KINDS, kind_of
from app.manifest.model import Manifest
from app.render.glossary import glossary_entries

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "manifest.yaml").exists())


def manifest(name: str) -> Manifest:
    """Return the manifest of an example."""
    return parse_manifest((EXAMPLES / name / "manifest.yaml").read_bytes())


def test_there_is_an_example_of_every_kind() -> None:
    """So that the tests below leave none out."""
    assert {manifest(name).evidence for name in NAMES} == set(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_upload_says_what_each_column_holds(name: str) -> None:
    """No column comes twice or without a meaning."""
    declared = manifest(name)
    columns = kind_of(declared).pages.example(declared).columns

    assert len({column.name for column in columns}) == len(columns) > 0
    assert all(column.holds for column in columns)


SUMMARY = """
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
columns: COLUMNS
metrics: {error: {direction: minimize, min: 0}}
tasks: [{id: t1}]
leaderboards: [{name: mean, method: mean, metric: error}]
"""


@pytest.mark.parametrize(
    ("columns", "row", "cells"),
    [
        ("{entrant: model, task: about}", "per entrant and task", {"model": "my-model", "about": "t1"}),
        ("{entrant: null, task: null, n_forecasts: n, leaked: seen}", "per entrant", {"n": "1", "seen": "False"}),
    ],
)  # fmt: skip
def test_an_example_summary_has_the_columns_that_are_declared(columns: str, row: str, cells: dict[str, str]) -> None:
    """And says what one of its rows is: without a column of tasks there is one for each entrant."""
    declared = parse_manifest(SUMMARY.replace("COLUMNS", columns).encode())
    example = kind_of(declared).pages.example(declared)

    assert {column.name: column.cell for column in example.columns if column.name != "error"} == cells
    assert (example.a_row_is, example.names_entrant) == (row, "model" in cells)


ITEMS = """
schema_version: 1
slug: rooms
title: Rooms
evidence: episodes
episodes: {item: [%s]}
grid: {seeds: [7], items: [%s]}
metrics: {success: {direction: maximize}}
tasks: [{id: lift}]
leaderboards: [{name: board, method: estimate, metrics: [success]}]
"""


@pytest.mark.parametrize(
    ("columns", "items", "expected"),
    [
        ("room, layout", "kitchen/3, hall/4", {"room": "kitchen", "layout": "3"}),
        ("room", "kitchen/3", {"room": "kitchen/3"}),
        ("room, layout", "kitchen", {"room": "0", "layout": "0"}),
    ],
)
def test_an_example_upload_has_an_item_that_is_asked_for(columns: str, items: str, expected: dict[str, str]) -> None:
    """Where several columns tell items apart, each has its part of a declared name."""
    declared = parse_manifest((ITEMS % (columns, items)).encode())
    cells = {column.name: column.cell for column in kind_of(declared).pages.example(declared).columns}

    assert {name: cells[name] for name in expected} == expected
    assert cells["seed"] == "7"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_leads_to_an_entry_of_the_glossary(name: str) -> None:
    """A rule has words to click on where it has an anchor, and the anchor is explained."""
    declared = manifest(name)
    rules = [*grid_rules(declared), *kind_of(declared).pages.rules(declared)]
    linked = [rule for rule in rules if rule.words or rule.anchor]

    assert {rule.anchor for rule in linked} <= {entry.anchor for entry in glossary_entries()}
    assert all(rule.words and rule.anchor for rule in linked)


def test_the_terms_of_a_kind_are_on_the_page_of_the_glossary() -> None:
    """Whatever a kind brings is explained for everybody."""
    shown = glossary_entries()

    assert all(entry in shown for kind in KINDS.values() for entry in kind.glossary())
    assert sum(len(kind.glossary()) for kind in KINDS.values()) > 30
