"""The contract's tables against those that lrdbench wrote of the given runs: every column, row and cell in order."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from app.kinds.series.contract import AS_STATED, metadata_table, series_tables
from app.kinds.series.manifest_part import SeriesPart
from app.manifest.model import part_of
from app.render.csv_and_json import table_to_csv
from app.render.plot import build_heatmap
from app.values.table import Table
from tests.cases.series_runs import CLASSES_ONLY, GIVEN, given_manifest, member, read_given

# Whose run it is only a run knows.
NAMES = ("per_stratum_metrics", "benchmark_uncertainty", "uncertainty_calibration", "estimator_disagreement",
         "scale_window_sensitivity", "failures", "failure_map", "estimator_metadata")  # fmt: skip
REQUIRED = {"run_summary": ["run_id", "manifest_id", "benchmark_name", "mode"]}


@pytest.fixture(scope="module", params=sorted(GIVEN))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Table]]:
    """Return a given run's name and our tables of its rows."""
    manifest = given_manifest(request.param)
    evidence = read_given(request.param, tmp_path_factory.mktemp("run"))
    tables = {table.name.rpartition("/")[2]: table for table in series_tables(manifest, evidence.scores)}
    enrolled = part_of(manifest, SeriesPart).estimators
    return request.param, tables | {"estimator_metadata": metadata_table(evidence.facts.described, enrolled)}


def plain(cell: str) -> object:
    """Return a cell as what it says: a number to twelve digits, a JSON value, or text."""
    try:
        return round(float(cell), 12)
    except ValueError:
        pass
    try:
        return json.loads(cell, parse_float=lambda text: round(float(text), 12))
    except ValueError:
        return cell


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_lrdbenchs_own(run: tuple[str, dict[str, Table]], name: str) -> None:
    """The same columns in the same order, the same rows in the same order, the same cells with their metadata."""
    created = list(csv.DictReader(io.StringIO(table_to_csv(run[1][name]).decode())))
    theirs = member(run[0], f"tables/{name}.csv")
    with zipfile.ZipFile(GIVEN[run[0]]) as archive:
        header = archive.read(f"{run[0]}/tables/{name}.csv").decode().splitlines()[0]

    assert [column.name for column in run[1][name].columns] == header.split(",")
    assert all([run[1][name].title, *(column.title for column in run[1][name].columns)])
    assert [{key: plain(cell) for key, cell in row.items()} for row in created] == [
        {key: plain(cell) for key, cell in row.items()} for row in theirs
    ]


@pytest.mark.heavy
def test_the_summary_says_what_the_tables_are_of(run: tuple[str, dict[str, Table]]) -> None:
    """A benchmark stands where lrdbench has a run."""
    summary = run[1]["run_summary"]

    assert [column.name for column in summary.columns] == REQUIRED["run_summary"]
    assert [row["mode"] for row in summary.records()] == [part_of(given_manifest(run[0]), SeriesPart).mode]


def test_no_uncertainty_is_made_that_the_manifest_does_not_ask_for(tmp_path: Path) -> None:
    """lrdbench writes no row without an uncertainty block, and the table says why it is empty."""
    table = next(
        table
        for table in series_tables(
            given_manifest("smoke_ground_truth"), read_given("smoke_ground_truth", tmp_path).scores
        )
        if table.name == "tables/benchmark_uncertainty"
    )

    assert table.rows == ()
    assert "asks for no uncertainty" in table.notes[0]


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["uncertainty_calibration", "estimator_disagreement", "scale_window_sensitivity"])
def test_an_empty_table_says_why(run: tuple[str, dict[str, Table]], name: str) -> None:
    """The contract asks for it of every run; a reader who finds nothing in it is told what would stand there."""
    table = run[1][name]
    message = [note for note in table.notes if note.startswith("This benchmark has no row of ")]

    assert bool(message) == (not table.rows)


@pytest.mark.parametrize("name", ["estimator_disagreement", "scale_window_sensitivity"])
def test_values_that_nothing_here_recomputes_are_said_to_be_the_runs(
    run: tuple[str, dict[str, Table]], name: str
) -> None:
    """What lies between estimators or variants is believed; where there is nothing, that is said instead."""
    table = run[1][name]

    assert (AS_STATED in table.notes) == bool(table.rows)
    assert len(table.notes) == 1


@pytest.mark.parametrize("run", sorted(set(GIVEN) - {CLASSES_ONLY}), indirect=True)
@pytest.mark.parametrize("name", ["failures", "failure_map"])
def test_a_heatmap_has_names_on_both_axes_and_estimators_alone(run: tuple[str, dict[str, Table]], name: str) -> None:
    """Every stratum is a row by its name; what is measured between estimators is apart from them."""
    table = run[1][name]
    heat = build_heatmap(table, table.meta["plot"])
    assert heat is not None

    assert len(heat.rows) == len({row["stratum_json"] for row in table.records()})
    assert all(not label.startswith("{") for label, _ in heat.rows)
    assert not [column for column in heat.columns if "__" in column]
    assert heat.value_title in ("Missing", "mae", "validity_rate")
