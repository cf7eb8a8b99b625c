"""Runs that OpenML's own client put on disk: items and evaluations, and what is refused with its file and line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.cli.drafting.draft import Wishes, draft_manifest
from app.cli.drafting.sheet import read_sheet
from app.kinds.parse import parse_manifest
from tests.cases.drafts import LIMITS, nobody
from tests.cases.harnesses import ITEMS, SAMPLES, read, rows_of, zipped

OPENML = SAMPLES / "openml"
RUN = {path.name: path.read_bytes() for path in sorted((OPENML / "classification").iterdir())}
DRAWN = b"0,0,0,0,'Iris setosa','Iris setosa',0.8,0.1,0.1"


def refused(folder: Path, changed: Mapping[str, bytes | None], level: str = "items") -> list[tuple[str, int, str]]:
    """Return file, row and message of what is refused of the run with some files changed, or left out."""
    for name, content in {**RUN, **changed}.items():
        if content is not None:
            (folder / name).write_bytes(content)
    _, run = rows_of(sorted(folder.iterdir()), folder, level)
    return [(str(each.file), each.row or 0, each.message) for each in run.findings.kept]


def test_a_run_is_items_of_its_repeats(tmp_path: Path) -> None:
    """Twelve rows twice; a label with a space or an apostrophe is compared whole; repeats are seeds."""
    rows, run = rows_of([zipped(OPENML / "classification", tmp_path / "run.zip")], tmp_path)
    means = [sum(row.scores["predictive_accuracy"] for row in rows if row.seed == seed) / 12 for seed in (0, 1)]

    assert run.findings.n_problems == 0
    assert {(row.entrant, row.task) for row in rows} == {("made.up.Tree(1)", "task 59")}
    assert sorted(row.item for row in rows if row.seed == 0) == list(range(12))  # type: ignore[type-var]
    assert means == pytest.approx([1.0, 10 / 12])


@pytest.mark.parametrize(
    ("name", "metric"), [("classification", "predictive_accuracy"), ("regression", "mean_absolute_error")]
)
def test_the_items_come_to_the_evaluations_that_the_client_stated(tmp_path: Path, name: str, metric: str) -> None:
    """All folds are of one size, so the mean of their evaluations is that of the items."""
    sent = [zipped(OPENML / name, tmp_path / "run.zip")]
    rows = rows_of(sent, tmp_path)[0]
    (stated,) = rows_of(sent, tmp_path, "summary")[0]

    assert sum(row.scores[metric] for row in rows) / len(rows) == pytest.approx(stated.scores[metric])


def test_what_the_run_states_is_kept(tmp_path: Path) -> None:
    """Its set-up and parameters, and what it does not say."""
    evidence = read(
        [zipped(OPENML / "classification", tmp_path / "run.zip")],
        ITEMS.format(column="predictive_accuracy", seed="seed"),
    )
    (table,) = [each for each in evidence.attachments if each.name == "harness"]

    assert ("parameter depth", "task 59", "3") in table.rows
    assert "run_id" in table.notes[0]


def test_a_draft_of_runs_is_a_manifest(tmp_path: Path) -> None:
    """Both runs: two tasks, each with its metric and direction."""
    sheet = read_sheet([zipped(OPENML, tmp_path / "runs.zip")], tmp_path, LIMITS)
    manifest = parse_manifest(draft_manifest(sheet, "runs", Wishes(), nobody).text.encode())

    assert {name: metric.direction for name, metric in manifest.metrics.items()} == {
        "predictive_accuracy": "maximize",
        "mean_absolute_error": "minimize",
    }


@pytest.mark.parametrize(
    ("changed", "level", "file", "row", "message"),
    [
        ({"description.xml": None, "flow.xml": None}, "items", "predictions.arff", 0, "is not beside it"),
        ({"description.xml": b"<oml:run"}, "items", "description.xml", 1, "not XML"),
        ({"description.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'}, "items", "description.xml", 0, "document type"),
        ({"description.xml": '<!DOCTYPE a><a/>'.encode("utf-16")}, "items", "description.xml", 0, "not UTF-8"),
        ({"description.xml": b"<a/>"}, "items", "description.xml", 0, "names no task"),
        ({"description.xml": RUN["description.xml"].replace(b"<oml:value>1.0<", b"<oml:value>NaN<", 1)}, "summary",
         "description.xml", 1, "no name and number"),
        ({"predictions.arff": RUN["predictions.arff"].split(b"@DATA")[0]}, "items", "predictions.arff", 0, "cut off"),
        ({"predictions.arff": b"\xff\xfe"}, "items", "predictions.arff", 0, "UTF-8"),
        ({"predictions.arff": RUN["predictions.arff"].replace(DRAWN, b"0,0,0,0,'Iris")}, "items",
         "predictions.arff", 15, "not closed"),
        ({"predictions.arff": RUN["predictions.arff"].replace(DRAWN, b"0,0,0,0")}, "items", "predictions.arff", 15,
         "4 cells; there are 9"),
        ({"predictions.arff": RUN["predictions.arff"].replace(DRAWN, DRAWN.replace(b"0,0,0,0", b"0,0,0,one"))}, "items",
         "predictions.arff", 15, "row_id"),
        ({"predictions.arff": RUN["predictions.arff"].replace(b"0,0,0,0,'Iris setosa'", b"0,0,0,0,?")}, "items",
         "predictions.arff", 15, "prediction"),
    ],
    ids=["alone", "broken", "entities", "utf-16", "no-task", "nan", "cut-off", "encoding", "quote", "cells", "item",
         "missing"],
)  # fmt: skip
def test_what_is_broken_is_refused_with_its_file_and_line(
    tmp_path: Path, changed: dict[str, bytes | None], level: str, file: str, row: int, message: str
) -> None:
    """Cut off, of another encoding, or not what it says; entities are never expanded."""
    actual = refused(tmp_path, changed, level)

    assert {each[0] for each in actual} == {file}
    assert any(message in text and (not row or row == at) for _, at, text in actual)
