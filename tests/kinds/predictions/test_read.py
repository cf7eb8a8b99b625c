"""Predictions of every form and format, in the order of their labels, and everything that can be wrong with them."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.errors import EvidenceRejected, ManifestRejected, TooLarge
from app.files.uploads import Limits
from app.kinds.labels import LabelReading
from app.kinds.parse import parse_manifest
from app.kinds.predictions import read as prediction_matching
from app.kinds.predictions.labels import read_labels
from app.kinds.predictions.manifest_part import PredictionsPart
from app.kinds.reader import read_evidence
from app.manifest.model import part_of
from app.values.scores import Labels
from tests.cases.evidence_tables import LIMITS
from tests.cases.predictions import BINARY, COLOURS, labels, manifest, problems, read, uploaded, yaml
from tests.cases.read import parquet

REGRESSION = "kind: regression"
RANKING = "kind: ranking"
OWN = "labels: submitted"


def values(*arguments: Any, **options: Any) -> list[list[float]]:
    """Return the numbers of the only block of a submission."""
    (block,) = read(*arguments, **options).predictions
    rows: list[list[float]] = block.values.tolist()
    return rows


def test_predictions_come_in_the_order_of_the_labels(tmp_path: Path) -> None:
    """Whatever the order of the rows."""
    evidence = read(tmp_path, "item,prediction\nc,0.3\na,0.1\nb,0.2\n")

    (block,) = evidence.predictions
    assert block.values.tolist() == [[0.1], [0.2], [0.3]]
    assert (block.entrant, block.task, block.labels) == ("A", "t", None)


def test_a_row_of_scores_stands_for_each_entrant_and_task(tmp_path: Path) -> None:
    """It has no values: these are in the block."""
    truth = {**labels("a", task="t"), **labels("a", "b", task="u")}
    content = "entrant,task,item,prediction\nB,u,b,0.2\nB,u,a,0.1\nA,t,a,0.5\nB,t,a,0.7\nA,u,a,0\nA,u,b,1\n"

    evidence = read(tmp_path, content, truth=truth, entrant=None)

    scores = evidence.scores
    cells = list(zip(scores.entrant.to_list(), scores.task.to_list(), scores.row.tolist(), strict=True))
    assert sorted(cells, key=str) == [("A", "t", 4), ("A", "u", 6), ("B", "t", 5), ("B", "u", 2)]
    assert (scores.columns, scores.values.shape) == ((), (4, 0))
    assert {(b.entrant, b.task): b.values[:, 0].tolist() for b in evidence.predictions} == {
        ("A", "t"): [0.5],
        ("A", "u"): [0.0, 1.0],
        ("B", "t"): [0.7],
        ("B", "u"): [0.1, 0.2],
    }
    assert evidence.files[0].n_rows == 6


@pytest.mark.heavy
@pytest.mark.parametrize(
    "content",
    [
        "item,p_red,p_green,p_blue\na,0.2,0.3,0.5\nb,1,0,0\n",
        "p_blue,item,p_red,p_green\n0.5,a,0.2,0.3\n0,b,1,0\n",
        'item,prediction\na,"[0.2, 0.3, 0.5]"\nb,"[1,0,0]"\n',
        'item,prediction\na,"[0.2,\n0.3 ,0.5]"\nb," [1,0,0] "\n',
        {"p.json": json.dumps([{"item": "a", "prediction": [0.2, 0.3, 0.5]}, {"item": "b", "prediction": [1, 0, 0]}])},
        {"p.jsonl": '{"item": "a", "prediction": [0.2, 0.3, 0.5]}\n{"item": "b", "prediction": [1, 0, 0]}\n'},
        {"p.json": '{"columns": ["item", "p_red", "p_green", "p_blue"], "data":[["a", 0.2, 0.3, 0.5],["b", 1, 0, 0]]}'},
        {"p.parquet": parquet({"item": ["a", "b"], "prediction": [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]})},
        {"p.parquet": parquet({"item": ["a", "b"], "p_red": [0.2, 1], "p_green": [0.3, 0], "p_blue": [0.5, 0]})},
    ],
)  # fmt: skip
def test_classes_may_be_columns_or_a_list(tmp_path: Path, content: Any) -> None:
    """In the order of the manifest's classes, in every format."""
    assert values(tmp_path, content, COLOURS, labels("a", "b")) == [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]


@pytest.mark.heavy
@pytest.mark.parametrize(
    "content",
    [
        "item,prediction\na,0.25\n",
        "item,p_yes\na,0.25\n",
        "item,p_yes,p_no\na,0.25,0.75\n",
        'item,prediction\na,"[0.75, 0.25]"\n',
        "item,prediction,comment\na, 2.5e-1 ,hello\n",
        {"p.csv.gz": gzip.compress(b"item,prediction\na,0.25\n")},
        {"p.parquet": parquet({"item": ["a"], "prediction": pa.array([0.25], pa.float32())})},
        {"p.parquet": parquet({"item": pa.array(["a"]).dictionary_encode(), "prediction": ["0.25"]})},
    ],
)
def test_a_binary_prediction_is_the_probability_of_the_positive_class(tmp_path: Path, content: Any) -> None:
    """Alone, or beside that of the other class, which it sums to one with."""
    assert values(tmp_path, content, BINARY, labels("a")) == [[0.25]]


def test_the_positive_class_may_be_the_first(tmp_path: Path) -> None:
    """As the manifest says."""
    assert values(tmp_path, "item,p_yes,p_no\na,0.25,0.75\n", f"{BINARY}, positive: 'no'", labels("a")) == [[0.75]]


@pytest.mark.heavy
def test_numbers_of_a_regression_may_be_negative_and_large(tmp_path: Path) -> None:
    """Also integers, such as no float holds exactly; and items may be integers in Parquet."""
    content = {"p.parquet": parquet({"item": [7, 8], "prediction": [-1e50, 3.0]})}
    whole = {"p.parquet": parquet({"item": ["a"], "prediction": [2**62 + 1]})}

    assert values(tmp_path, content, REGRESSION, labels("8", "7")) == [[3.0], [-1e50]]
    assert values(tmp_path, whole, REGRESSION, labels("a")) == [[2.0**62]]


def test_missing_items_may_count_as_failures(tmp_path: Path) -> None:
    """As the manifest says, also every item of a task; they are NaN in the block, and counted in reason and warning."""
    lenient, truth = f"{BINARY}, missing: failure", {**labels("a", task="t"), **labels("a", "b", task="u")}
    evidence = read(tmp_path, "item,prediction\nb,0.2\na,\n", lenient)
    of_task = read(tmp_path, "item,task,prediction\na,t,0.5\n", lenient, truth)
    blocks = {block.task: block.values.tolist() for block in of_task.predictions}

    assert np.isnan(evidence.predictions[0].values[:, 0]).tolist() == [True, False, True]
    assert evidence.scores.reason is not None
    assert evidence.scores.reason.at(0) == "2 of 3 items have no prediction"
    assert evidence.warnings[0].message == "A, t: 2 of 3 items have no prediction; each counts as a failure"
    assert str(blocks) == "{'t': [[0.5]], 'u': [[nan], [nan]]}"
    assert [w.message for w in of_task.warnings] == ["A, u: 2 of 2 items have no prediction; each counts as a failure"]


Said = tuple[str | None, int | None, str | None, str | None, str]
TWO = {**labels("a", task="t"), **labels("a", task="u")}
HEADERS: dict[str, tuple[str | None, str]] = {
    "prediction\n1\n": ("item", "the column item is missing"),
    "item\na\n": ("prediction", "the column prediction (or p_yes) is missing"),
    "item,p_no\na,0\n": ("p_yes", "the column p_yes is missing"),
    "item,prediction,p_yes\na,0,1\n": ("p_yes", "send either prediction or a column per class"),
    "item,p_yes,p_No\na,0,1\n": ("p_No", "there is no class of this name; the classes are no, yes"),
    "item,prediction\n": (None, "the file contains no rows"),
}
REFUSED: dict[str, tuple[Any, str, Any, str | None, list[Said]]] = {
    **{f"the header {content!r}": (content, BINARY, labels("a"), "A", [("p.csv", None, column, None, message)])
       for content, (column, message) in HEADERS.items()},
    **{f"{cell}, whose square overflows": (
        f"item,prediction\na,{cell}\n", REGRESSION, labels("a"), "A", [("p.csv", 2, "prediction", cell, message)])
       for cell, message in (("1e51", "larger in size than 1e+50"), ("-1.7e308", "larger in size than 1e+50"))},
    "the hardest task left out by one, the other by another": (
        "entrant,task,item,prediction\nA,t,a,0.5\nB,u,a,0.5\n", BINARY, TWO, None,
        [("p.csv", None, "task", "u", "A has no prediction for task u"),
         ("p.csv", None, "task", "t", "B has no prediction for task t")]),
    "a task without own labels, of which nothing could count as failed": (
        "item,task,prediction,label\na,t,0.5,yes\n", f"{BINARY}, {OWN}, missing: failure",
        {**labels(task="t"), **labels(task="u")}, "A",
        [("p.csv", None, "task", "u", "A has no prediction for task u")]),
    "missing items": (
        "item,prediction\nb,0.2\n", BINARY, None, "A",
        [("p.csv", None, "item", "a", "A has no prediction for this item of task t"),
         ("p.csv", None, "item", "c", "")]),
    "unknown items, of which a formula is one": (
        "item,prediction\na,0.1\nb,0.1\nc,0.1\n=1+1,0.2\nd,0.2\n", BINARY, None, "A",
        [("p.csv", 5, "item", "=1+1", "not an item of task t; nothing can be scored by it"),
         ("p.csv", 6, "item", "d", "")]),
    "repeated items, also across files": (
        {"p.csv": "item,prediction\na,0.1\nb,0.1\nc,0.1\na,0.2\n", "q.csv": "item,prediction\na,0.1\n"}, BINARY,
        None, "A",
        [("p.csv", 5, "item", "a", "the item has a prediction already: row 2 of p.csv"),
         ("q.csv", 2, "item", "a", "the item has a prediction already: row 2 of p.csv")]),
    "one number for three classes": (
        "item,prediction\na,0.5\n", COLOURS, labels("a"), "A",
        [("p.csv", None, "prediction", None,
          "one number for several classes; send a list of 3 probabilities, or a column p_… for each class")]),
    "part of the classes": (
        "item,p_red,p_green,p_blue\na,0.5,,0.5\n", COLOURS, labels("a"), "A",
        [("p.csv", 2, "p_green", None, "empty, while other classes have a probability")]),
    "a sum beyond the tolerance": (
        "item,p_red,p_green,p_blue\na,0.3,0.3,0.35\n", COLOURS, labels("a"), "A",
        [("p.csv", 2, None, None, "the probabilities sum to 0.95; they must sum to 1 within 0.001")]),
    "an unknown task, whose rows are not missing items as well": (
        "item,task,prediction\na,x,0.5\n", BINARY, labels("a"), "A",
        [("p.csv", None, "task", "x", "not a task of this benchmark with labels; it has t")]),
    "several tasks of which none is named": (
        "item,prediction\na,0.5\n", BINARY, TWO, "A", [("p.csv", None, "task", None, "the column task is missing")]),
    "no entrant": ("item,prediction\na,0\n", BINARY, labels("a"), None, [(None, None, "entrant", None, "")]),
    "another entrant than the form says": (
        "item,prediction,entrant\na,0,B\n", BINARY, labels("a"), "A",
        [(None, None, "entrant", None, "the form field entrant says A")]),
    "an entrant that hides something": (
        "item,prediction,entrant\na,0,B\u200b\n", BINARY, labels("a"), None, [(None, None, "entrant", None, "")]),
    "weights in one of two files": (
        {"p.csv": "item,prediction,label,weight\na,0,no,1\n", "q.csv": "item,prediction,label\nb,0,no\n"},
        f"{BINARY}, {OWN}", {}, "A",
        [("q.csv", None, "weight", None, "the column weight is missing, which another file has")]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_the_labels_or_the_benchmark_is_refused(tmp_path: Path, name: str) -> None:
    """Each problem with file, row, column and value where it has one, and in its words."""
    content, part, truth, entrant, said = REFUSED[name]
    actual = problems(tmp_path, content, part, truth, entrant)
    found = [(p.file, p.row, p.column, p.value, p.message) for p in actual]

    assert len(found) == len(said)
    for of, wanted in zip(found, said, strict=True):
        assert [at for at in range(4) if wanted[at] is not None and of[at] != wanted[at]] == [], of
        assert wanted[4] in of[4]


def test_the_tolerance_of_a_sum_is_the_manifests(tmp_path: Path) -> None:
    """A sum that another benchmark refuses."""
    content = "item,p_red,p_green,p_blue\na,0.3,0.3,0.35\n"

    assert values(tmp_path, content, f"{COLOURS}, sum_tolerance: 0.06", labels("a")) == [[0.3, 0.3, 0.35]]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("NaN", "NaN is not a number here; leave the cell empty where there is none"),
        ("inf", "the number is infinite or too large for a 64-bit float; at most 1e+50 in size is allowed"),
        ("1e999", "the number is infinite or too large for a 64-bit float; at most 1e+50 in size is allowed"),
        ("1.00001", "above 1, the largest allowed; rounding beyond it by up to 1e-06 is cut"),
        ("-0.1", "negative; it must be at least 0; rounding beyond it by up to 1e-06 is cut"),
        ("yes", "not a number"),
        ('"0,5"', "not a number; write decimals with a point"),
        ("", "the prediction is empty"),
        ('"[0.5]"', "expected a list of 2 probabilities, in the order of the manifest's classes"),
        ('"[0.5, null]"', "a probability is a number from 0 to 1; one of the list is not"),
        ('"[0.5, 0.9]"', "the probabilities sum to 1.4; they must sum to 1 within 0.001"),
        ('"[[0.5, 0.5]]"', "expected a list of 2 probabilities, in the order of the manifest's classes"),
        ('"[0.5, 0.5"', "expected a list of 2 probabilities, in the order of the manifest's classes"),
    ],
)
def test_a_number_that_is_no_probability_is_refused(tmp_path: Path, cell: str, message: str) -> None:
    """With its place and, in `value`, the cell itself."""
    (actual,) = problems(tmp_path, f"item,prediction\na,{cell}\n", truth=labels("a"))

    assert (actual.file, actual.row, actual.column, actual.message) == ("p.csv", 2, "prediction", message)


@pytest.mark.parametrize(("cell", "cut"), [("1.0000001", 1.0), ("-1e-12", 0.0), ("-0.000001", 0.0)])
def test_rounding_beyond_the_ends_is_cut(tmp_path: Path, cell: str, cut: float) -> None:
    """A softmax in single precision ends a little beyond zero and one, in a column as in a list."""
    in_list = f'item,prediction\na,"[{1.0 - cut}, {cell}]"\n'

    assert values(tmp_path, f"item,prediction\na,{cell}\n", BINARY, labels("a")) == [[cut]]
    assert values(tmp_path, in_list, BINARY, labels("a")) == [[cut]]


@pytest.mark.heavy
@pytest.mark.parametrize("number", [np.nan, np.inf, 1.5])
def test_numbers_of_parquet_are_judged_as_any(tmp_path: Path, number: float) -> None:
    """NaN, infinity and what no probability is."""
    (actual,) = problems(tmp_path, {"p.parquet": parquet({"item": ["a"], "prediction": [number]})}, truth=labels("a"))

    assert (actual.row, actual.column, actual.value) == (1, "prediction", str(number))


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    """A label in a submission counts for nothing where labels are private."""
    evidence = read(tmp_path, "item,prediction,label\na,0,no\n", truth=labels("a"))

    assert evidence.warnings[0].message == "columns that this benchmark does not read were ignored: label"
    assert evidence.facts.own_labels is False


def test_own_labels_come_with_the_predictions(tmp_path: Path) -> None:
    """In the order of the items' names, marked in the facts; of one class alone with a warning."""
    content = "item,prediction,label,weight\nb,0.9,yes,2\na,0.1,no,0\n"

    evidence = read(tmp_path, content, f"{BINARY}, {OWN}", {})

    (block,) = evidence.predictions
    own = block.labels
    assert own is not None
    assert own.weight is not None
    assert (own.items, own.label.tolist(), own.weight.tolist()) == (("a", "b"), [0.0, 1.0], [0.0, 2.0])
    assert block.values.tolist() == [[0.1], [0.9]]
    assert evidence.facts.own_labels is True
    alone = read(tmp_path, "item,prediction,label\nb,0.9,yes\n", f"{BINARY}, {OWN}", {})
    assert "an AUC is undefined" in alone.warnings[0].message


def test_own_groups_are_numbered(tmp_path: Path) -> None:
    """Any text is a group."""
    content = "item,prediction,label,group\nb,0.9,2,=x\na,0.1,0,y\nc,0.5,1,=x\n"

    (block,) = read(tmp_path, content, f"{RANKING}, {OWN}", {}).predictions

    assert block.labels is not None
    assert block.labels.group is not None
    assert block.labels.group.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("part", "content", "column", "message"),
    [
        (BINARY, "item,prediction\na,0\n", "label", "the column label is missing"),
        (BINARY, "item,prediction,label\na,0,maybe\n", "label", "empty, or not one of the benchmark's classes"),
        (BINARY, "item,prediction,label,weight\na,0,no,-1\n", "weight", "negative; it must be at least 0"),
        (BINARY, "item,prediction,label,weight\na,0,no,\n", "weight", "the cell is empty"),
        (BINARY, "item,prediction,label\na\u200b,0,no\n", "item", "not a name that is allowed"),
        (BINARY, "item,prediction,label\na,0,no\na,0,no\n", "item", "the item has a prediction already"),
        (REGRESSION, "item,prediction,label\na,0,NaN\n", "label", "NaN is not a number"),
        (RANKING, "item,prediction,label\na,0,1\n", "group", "the column group is missing"),
        (RANKING, "item,prediction,label,group\na,0,-1,x\n", "label", "negative; it must be at least 0"),
        (RANKING, "item,prediction,label,group\na,0,1,\n", "group", "the cell is empty"),
    ],
)
def test_own_labels_are_judged(tmp_path: Path, part: str, content: str, column: str, message: str) -> None:
    """As the predictions are."""
    (actual,) = problems(tmp_path, content, f"{part}, {OWN}", {})

    assert actual.column == column
    assert actual.message.startswith(message)


@pytest.mark.heavy
def test_a_row_of_a_million_columns_is_refused(tmp_path: Path) -> None:
    """In the header, in a row, as keys, as a list: each with its own words."""
    wide = ",".join(["x"] * 1_000_000)
    limits = Limits(max_unpacked_bytes=50_000_000, max_json_bytes=50_000_000, max_files=5, max_rows=100)
    from_list = json.dumps([{"item": "a", "prediction": [0.1] * 1_000_000}])
    files = {
        "header.csv": f"item,{wide}\n",
        "row.csv": f"item,prediction\na,{wide}\n",
        "keys.json": json.dumps([{f"k{at}": 0 for at in range(100_000)}]),
        "list.json": from_list,
    }
    with pytest.raises(EvidenceRejected) as refused:
        read_evidence(manifest(), uploaded(tmp_path, files), "A", limits, labels("a"))

    messages = {p.file: p.message for p in refused.value.problems}
    assert "columns or more; at most 2000 are allowed" in messages["header.csv"]
    assert "has 1000001 cells; the header has 2" in messages["row.csv"]
    assert "more than 2000 different keys" in messages["keys.json"]
    assert "a list of 2 probabilities" in messages["list.json"]
    assert all(len(p.value or "") < 100 for p in refused.value.problems)


def test_more_numbers_than_memory_allows_are_refused(tmp_path: Path) -> None:
    """Also those that missing predictions would stand for."""
    many = tuple(f"i{at}" for at in range(prediction_matching.MAX_VALUES // 100 + 1))
    truth = {"t": Labels("t", many, np.zeros(len(many)))}
    rows = "".join(f"E{at},i0,0.5\n" for at in range(100))

    with pytest.raises(TooLarge, match="more than 20,000,000 numbers"):
        read(tmp_path, f"entrant,item,prediction\n{rows}", f"{BINARY}, missing: failure", truth, None)


class TestHostileParquet:
    """A Parquet file may promise little and unpack to anything."""

    @pytest.mark.heavy
    def test_what_is_no_parquet_is_refused(self, tmp_path: Path) -> None:
        """With the reason of its reader, clipped."""
        (actual,) = problems(tmp_path, {"p.parquet": b"PAR1 not really"})

        assert "cannot be read as Parquet" in actual.message

    @pytest.mark.heavy
    def test_too_many_rows_are_refused_before_they_are_read(self, tmp_path: Path) -> None:
        """By what the file itself says."""
        n_rows = LIMITS.max_rows + 1
        content = parquet({"item": ["a"] * n_rows, "prediction": [0.5] * n_rows})
        (actual,) = problems(tmp_path, {"p.parquet": content})

        assert actual.message == "the table has 10,001 rows; at most 10,000 are allowed"

    @pytest.mark.heavy
    def test_too_many_columns_are_refused(self, tmp_path: Path) -> None:
        """As in a CSV file."""
        (actual,) = problems(tmp_path, {"p.parquet": parquet({f"c{at}": [1] for at in range(2001)})})

        assert actual.message == "the table has 2001 columns; at most 2000 are allowed"

    @pytest.mark.heavy
    def test_long_texts_kept_once_do_not_unpack(self, tmp_path: Path) -> None:
        """A text of 100 kB in 10,000 rows is a gigabyte, and a few bytes of Parquet."""
        text = pa.array(["x" * 100_000]).dictionary_encode()
        items = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), text.dictionary)
        content = parquet({"item": items, "prediction": [0.5] * 10_000})
        (actual,) = problems(tmp_path, {"p.parquet": content})

        assert len(content) < 1_000_000
        assert "at most 65,536 are allowed" in actual.message

    @pytest.mark.heavy
    def test_lists_that_unpack_to_much_are_refused(self, tmp_path: Path) -> None:
        """A list of equal numbers takes no room in the file."""
        n_rows, length = 1000, 100_000
        flat = pa.array(np.zeros(n_rows * length, dtype=np.float32))
        lists = pa.ListArray.from_arrays(np.arange(0, n_rows * length + 1, length, dtype=np.int32), flat)
        content = parquet({"item": [f"i{at}" for at in range(n_rows)], "prediction": lists})
        (actual,) = problems(tmp_path, {"p.parquet": content}, COLOURS)

        assert len(content) < 5_000_000
        assert "more than 536,870,912 bytes" in actual.message or "needs more memory" in actual.message

    @pytest.mark.heavy
    def test_kinds_that_are_not_read_are_named(self, tmp_path: Path) -> None:
        """Structures, times, fractions where names belong, lists where numbers belong."""
        struct = problems(tmp_path, {"p.parquet": parquet({"item": ["a"], "prediction": [{"x": 1.0}]})})
        fraction = problems(tmp_path, {"p.parquet": parquet({"item": [1.5], "prediction": [0.5]})})
        lists = problems(tmp_path, {"p.parquet": parquet({"item": ["a"], "prediction": [[0.5]]})}, REGRESSION)

        assert "texts, numbers and lists of numbers are read" in struct[0].message
        assert fraction[0].message == "the column contains numbers with a fraction; names are texts or integers"
        assert lists[0].message == "the column contains lists"


def put(
    folder: Path, content: str | dict[str, bytes | str], part: str = BINARY, tasks: str = "[{id: t}]"
) -> LabelReading:
    """Read a steward's labels."""
    about = manifest(part, tasks)
    files: dict[str, bytes | str] = content if isinstance(content, dict) else {"labels.csv": content}
    return read_labels(about, uploaded(folder, files), LIMITS)


def test_labels_are_numbers_of_classes(tmp_path: Path) -> None:
    """In the order of the manifest, items in that of their names: of two files with the same rows none draws others."""
    (truth,) = put(tmp_path, "item,label,weight\nb,yes,2\na,no,0.5\n").labels

    assert (truth.task, truth.items, truth.label.tolist()) == ("t", ("a", "b"), [0.0, 1.0])
    assert truth.weight is not None
    assert truth.weight.tolist() == [0.5, 2.0]
    assert len(truth) == 2


def test_labels_of_several_tasks_are_kept_apart(tmp_path: Path) -> None:
    """The same item may be in each of them; groups are numbered within the task, in the order of their names."""
    content = "item,task,label,group\na,u,1,q1\na,t,0,q1\nb,u,3,q0\nb,t,2,q9\n"
    first, second = put(tmp_path, content, RANKING, "[{id: t}, {id: u}]").labels

    assert (first.task, first.label.tolist(), second.task, second.label.tolist()) == ("t", [0, 2], "u", [3, 1])
    assert first.group is not None
    assert second.group is not None
    assert (first.group.tolist(), second.group.tolist()) == ([0, 1], [0, 1])


@pytest.mark.parametrize(
    ("content", "part", "column", "message"),
    [
        ("item,label\na,yes\n", BINARY, "label", "have one class only"),
        ("item,label\na,yes\nb,perhaps\n", BINARY, "label", "not one of the benchmark's classes"),
        ("item,label\na,yes\nb,\n", BINARY, "label", "empty"),
        ("item,label\na,yes\na,no\n", BINARY, "item", "has a label already, in row 2 of labels.csv"),
        ("item,label\na\u200b,yes\nb,no\n", BINARY, "item", "not a name that is allowed"),
        ("item,label,weight\na,yes,-1\nb,no,1\n", BINARY, "weight", "negative; it must be at least 0"),
        ("item,label,weight\na,yes,inf\nb,no,1\n", BINARY, "weight", "infinite"),
        ("item,label,weight\na,yes,0\nb,no,0\n", BINARY, "weight", "no weight above 0"),
        ("item,label,weight\na,yes,1\nb,no,0\n", BINARY, "label", "have one class only"),
        ("item,label,weight\na,yes,1e51\nb,no,0\n", BINARY, "weight", "larger in size than 1e+50"),
        ("item,label\na,yes\nb,0.7\n", REGRESSION, "label", "not a number"),
        ("item,label\na,1e51\nb,7\n", REGRESSION, "label", "larger in size than 1e+50"),
        ("item,label,group\na,51,q\n", RANKING, "label", "above 50, the largest allowed"),
        ("item,answer\na,yes\n", BINARY, "label", "the column label is missing"),
        ("item,label,task\na,yes,x\nb,no,t\n", BINARY, "task", "not a task of this benchmark with labels"),
        ("item,label\na,yes,yes\nb,no\nc,yes\n", BINARY, None, "the row has 3 cells; the header has 2"),
    ],
)
def test_labels_that_are_wrong_are_refused_without_a_word_of_them(
    tmp_path: Path, content: str, part: str, column: str | None, message: str
) -> None:
    """The place is enough for a steward who has the file."""
    with pytest.raises(EvidenceRejected) as refused:
        put(tmp_path, content, part)

    (actual,) = refused.value.problems
    assert actual.column == column
    assert message in actual.message
    assert actual.value is None or actual.column in ("item", "task")
    reported = f"{refused.value} {refused.value.problems}"
    assert not any(text in reported for text in ("yes", "perhaps", "0.7", "51"))


@pytest.mark.heavy
@pytest.mark.parametrize("cells", [[["secretive"]], [2**64 - 1]])
def test_labels_of_parquet_are_not_quoted_either(tmp_path: Path, cells: list[Any]) -> None:
    """Not by the reader's own complaint about a cell."""
    kind = pa.uint64() if cells == [2**64 - 1] else None
    content = parquet({"item": ["a"], "label": pa.array(cells, kind)})

    with pytest.raises(EvidenceRejected) as refused:
        put(tmp_path, {"labels.parquet": content}, REGRESSION)

    reported = f"{refused.value} {refused.value.problems}"
    assert "column 'label'" in reported
    assert not any(text in reported for text in ("secretive", str(2**64 - 1)))


def test_labels_must_cover_every_task(tmp_path: Path) -> None:
    """They go up once."""
    with pytest.raises(EvidenceRejected) as refused:
        put(tmp_path, "item,label,task\na,yes,t\nb,no,t\n", tasks="[{id: t}, {id: u}]")

    (actual,) = refused.value.problems
    assert (actual.column, actual.value) == ("task", "u")


def test_labels_without_some_class_are_accepted_with_a_warning(tmp_path: Path) -> None:
    """The count is said, the class is not."""
    reading = put(tmp_path, "item,label\na,red\nb,blue\n", COLOURS)

    assert reading.warnings[0].message.startswith("the labels of task t have 2 of the 3 classes")


def test_labels_do_not_show_themselves() -> None:
    """Neither in a log nor in a traceback."""
    truth = Labels("t", ("a",), np.array([1.0]))

    assert "1.0" not in repr(truth)
    assert "'a'" not in repr(truth)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("kind: classification", "classes are declared for classification"),
        ("kind: regression, classes: [a, b]", "classes are declared for classification"),
        ("kind: classification, classes: [a, a]", "a class is declared twice"),
        ("kind: classification, classes: [a, b], positive: c", "positive must be one of the classes"),
        ("kind: classification, classes: [a, b, c], positive: c", "positive is one of two classes"),
        ("kind: classification, classes: ['=a', b]", "expected text of the form"),
    ],
)
def test_a_part_that_contradicts_itself_is_refused(part: str, message: str) -> None:
    """Classes, kinds and the positive class belong together."""
    with pytest.raises(ManifestRejected) as refused:
        manifest(part)

    assert any(message in problem.message for problem in refused.value.problems)


def test_predictions_and_their_part_belong_together() -> None:
    """One without the other is refused."""
    whole = yaml()
    texts = [
        whole.replace(f"predictions: {{{BINARY}}}\n", ""),
        whole.replace("evidence: predictions", "evidence: episodes"),
    ]
    complaints = []
    for text in texts:
        with pytest.raises(ManifestRejected) as refused:
            parse_manifest(text.encode())
        complaints.append(refused.value.problems[0])

    assert "says what is predicted" in complaints[0].message
    assert (complaints[1].column, complaints[1].message) == ("predictions", "belongs to evidence of kind predictions")


def test_the_classes_of_public_data_sets_are_allowed() -> None:
    """Such as an income above a limit, or minus one."""
    assert part_of(manifest("kind: classification, classes: ['<=50K', '>50K']"), PredictionsPart)
    assert part_of(manifest("kind: classification, classes: ['-1', '+1']"), PredictionsPart)
