"""The files in which evaluation summaries come beside CSV: Parquet, one JSON object, archives with other files."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.kinds.parse import parse_manifest
from tests.cases.evidence_tables import CLOSED, FEV, make_manifest, problems, read

MANIFEST = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"
NAIVE = FEV / "results" / "naive.csv"


def parquet(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


@pytest.mark.heavy
def test_parquet_gives_what_the_csv_gives(tmp_path: Path) -> None:
    """A given result file, written again by pandas: every value, flag and recorded text."""
    manifest = parse_manifest(MANIFEST.read_bytes())
    out = io.BytesIO()
    pd.read_csv(NAIVE).to_parquet(out)

    ours = read(tmp_path, {"r.parquet": out.getvalue()}, manifest).scores
    expected = read(tmp_path, {"r.csv": NAIVE.read_bytes()}, manifest).scores

    assert np.array_equal(ours.values, expected.values, equal_nan=True)
    assert [ours.task.words[c] for c in ours.task.codes] == [expected.task.words[c] for c in expected.task.codes]
    assert ours.leaked.tolist() == expected.leaked.tolist()
    assert ours.recorded["dataset_fingerprint"].to_list() == expected.recorded["dataset_fingerprint"].to_list()


@pytest.mark.heavy
def test_lists_of_parquet_are_compared_with_the_definition(tmp_path: Path) -> None:
    """Columns that pandas reads as texts may be lists, integers and nothing there."""
    table = pa.table(
        {
            "model": ["A"], "task": pa.array(["easy"]).dictionary_encode(), "MASE": [0.1], "horizon": [8],
            "target": [["a", "b"]], "levels": [[0.1, 0.5]], "gap": pa.nulls(1, pa.int64()),
        }
    )  # fmt: skip

    assert len(read(tmp_path, {"r.parquet": parquet(table)}, make_manifest(CLOSED)).scores) == 1


@pytest.mark.heavy
def test_a_wrong_cell_of_parquet_has_its_row(tmp_path: Path) -> None:
    """The first record is row 1."""
    table = pa.table({"model": ["A", "B"], "task": ["t", "t"], "MASE": [1.0, -1.0]})
    (problem,) = problems(tmp_path, {"r.parquet": parquet(table)})

    assert (problem.file, problem.row, problem.column, problem.value) == ("r.parquet", 2, "MASE", "-1")


def test_one_summary_as_a_json_object_is_a_row(tmp_path: Path) -> None:
    """What fev's evaluation_summary returns, dumped as it is."""
    (row,) = json.loads(pd.read_csv(NAIVE).head(1).to_json(orient="records"))

    scores = read(tmp_path, {"r.json": json.dumps(row)}, parse_manifest(MANIFEST.read_bytes())).scores

    assert (len(scores), scores.value("SQL").tolist()) == (1, [row["SQL"]])


@pytest.mark.parametrize("frame", [{"MASE": {"0": 1.0}, "task": {"0": "t"}}, {}, {"columns": ["task"], "rows": 1}])
def test_another_object_is_no_record(tmp_path: Path, frame: object) -> None:
    """Columns of a frame are told from the cells of a record, and the message says what is a table."""
    (problem, *_) = problems(tmp_path, {"r.json": json.dumps(frame)})

    assert "the JSON is not a table" in problem.message or problem.column is not None


NO_RESULTS = "holds no evaluation results: neither a list with dataset and value nor a card with model-index"


def test_other_files_of_an_archive_are_named_and_ignored(tmp_path: Path) -> None:
    """A folder of results as it is, packed with its README."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("results/README.md", "Results of fev.")
        archive.writestr("results/plot.pdf", b"%PDF")
        archive.writestr("results/naive.csv", NAIVE.read_bytes())

    evidence = read(tmp_path, {"all.zip": out.getvalue()}, parse_manifest(MANIFEST.read_bytes()))

    assert len(evidence.scores) == 100
    assert [(warning.file, warning.message) for warning in evidence.warnings[:2]] == [
        ("all.zip", "1 of its members were ignored, being of kinds that are not read: results/plot.pdf"),
        ("all.zip/results/README.md", f"{NO_RESULTS}; it was ignored"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("README.md", b"Results of fev.", NO_RESULTS), ("r.parquet", b"PAR1", "cannot be read as Parquet"),
     ("r.parquet", b"model,task\n", "cannot be read as Parquet")],
)  # fmt: skip
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """A README by itself is taken for a model card; a broken file is a problem, not an error of the server."""
    (problem,) = problems(tmp_path, {name: content})

    assert words in problem.message
