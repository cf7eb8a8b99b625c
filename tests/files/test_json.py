"""JSON and JSON Lines as tables."""

import json
from pathlib import Path

import pytest

from app.errors import TooLarge
from app.files.findings import Findings
from app.files.tables import open_json
from app.files.uploads import Limits, ReceivedFile
from tests.cases.evidence_tables import make_manifest, problems, read, the_problem


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.json", '[{"model": "A", "task": "easy", "MASE": 0.5}, {"model": "B", "task": "easy", "MASE": 0.25}]'),
        (
            "r.json",
            '\ufeff {"columns": ["model", "task", "MASE"], "rows": [["A", "easy", 0.5], ["B", "easy", "0.25"]]}',
        ),
        (
            "r.json",
            '{"index": [0], "columns": ["model", "task", "MASE"], "data": [["A","easy",0.5],["B","easy",0.25]]}',
        ),
        ("r.jsonl", '{"model": "A", "task": "easy", "MASE": 0.5}\n\n{"task": "easy", "model": "B", "MASE": 0.25}\n'),
    ],
    ids=["objects", "columns and rows", "split of pandas", "lines"],
)
def test_tables_in_json(tmp_path: Path, name: str, content: str) -> None:
    """A list of objects, columns and rows, and lines of objects are the same table."""
    scores = read(tmp_path, {name: content}).scores

    assert scores.entrant.to_list() == ["A", "B"]
    assert scores.value("MASE").tolist() == [0.5, 0.25]


def test_rows_of_json_are_counted_from_one(tmp_path: Path) -> None:
    """A list has no header: its first record is row 1; a record of JSON Lines has the number of its line."""
    bad = '{"model": "A", "task": "easy", "MASE": -1}'

    assert the_problem(tmp_path, f"[{bad}]", name="r.json").row == 1
    assert the_problem(tmp_path, f"\n\n{bad}\n", name="r.jsonl").row == 3


def test_a_key_that_is_absent_is_an_empty_cell(tmp_path: Path) -> None:
    """Records need not all have the same keys; absent and null are the same."""
    rows = (
        '{"model": "A", "task": "t"}\n{"model": "B", "task": "t", "MASE": 1}\n{"model": "C", "task": "t", "MASE": null}'
    )

    scores = read(tmp_path, {"r.jsonl": rows}).scores

    assert scores.reason is not None
    assert scores.reason.to_list() == ["empty in the file: MASE", None, "empty in the file: MASE"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"A": {"easy": 0.5}}', "the JSON is not a table"),
        ('"text"', "the JSON is not a table"),
        ("17", "the JSON is not a table"),
        ("[[1, 2]]", "not an object"),
        ("[]", "the file contains no rows"),
        ("[1", "not an object"),
        ('[{"model": "A", "model": "B"}]', "the key model twice"),
        ('[{"a": {"b": 1, "b": 2}}]', "the key b twice"),
        ('{"columns": ["a", "a"], "rows": []}', "two columns are named a"),
        ('{"columns": ["a"], "rows": [[1, 2]]}', "the row has 2 cells"),
        ('{"columns": ["a"], "rows": [5]}', "the row is not a list"),
        ("[" * 20_000, "nested too deeply"),
        ("[" + '{"a":' * 20_000, "nested too deeply"),
        ('{"model": "A"}\n{"model": "B"}', "Give it the ending .jsonl"),
        ('[{"model": "A"}] []', "text follows the end of the list"),
        ("{", "not JSON"),
    ],
)
def test_json_that_is_no_table_is_refused(tmp_path: Path, content: str, words: str) -> None:
    """The first problem says what is wrong and what a table looks like."""
    assert words in problems(tmp_path, {"r.json": content})[0].message


def test_every_broken_line_is_reported(tmp_path: Path) -> None:
    """A line that is not JSON does not hide the next."""
    good = '{"model": "A", "task": "t", "MASE": 1}'
    lines = f'{good}\n{{"model":\n{good} {good}\n[1]\n'

    actual = problems(tmp_path, {"r.jsonl": lines})

    assert [p.row for p in actual] == [2, 3, 4]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("NaN", "NaN is not a number"),
        ("-Infinity", "infinite"),
        ("9" * 500_000, "too large"),
        *((cell, "not a number") for cell in ("true", "[1]", '{"a": 1}', '"one"')),
    ],
    ids=["nan", "infinite", "huge", "flag", "list", "object", "word"],
)
def test_values_that_are_no_scores_are_refused(tmp_path: Path, cell: str, words: str) -> None:
    """Python's tokens, flags, lists, words; and half a million digits cost no more time than they are long."""
    content = f'[{{"model": "A", "task": "t", "MASE": {cell}}}]'

    assert words in the_problem(tmp_path, content, name="r.json").message


def test_nan_of_python_is_a_gap_where_a_value_may_be_unknown(tmp_path: Path) -> None:
    """Python writes NaN for a missing number: a time is unknown. Other numbers keep their value to the last digit."""
    manifest = make_manifest(columns="{entrant: model, task: task, training_time_s: time}")
    content = '[{"model": "A", "task": "t", "MASE": 0.1234567890123456789, "time": NaN}]'

    assert str(read(tmp_path, {"r.json": content}, manifest).scores.values.tolist()) == "[[0.12345678901234568, nan]]"


@pytest.mark.parametrize("name", ["\\ud800", "a\\u0000b"])
def test_text_that_postgres_could_not_hold_is_refused(tmp_path: Path, name: str) -> None:
    """Half a surrogate pair and a zero character are named with their place."""
    actual = problems(tmp_path, {"r.json": f'[{{"model": "{name}", "task": "t", "MASE": 1}}]'})

    assert (actual[0].row, actual[0].column) == (1, "model")
    assert "surrogate" in actual[0].message


def test_a_million_keys_are_refused(tmp_path: Path) -> None:
    """The number of columns is bounded."""
    keys = ",".join(f'"k{number}":1' for number in range(60_000))

    assert "different keys" in the_problem(tmp_path, f"[{{{keys}}}]", name="r.json").message


def test_a_large_json_file_is_too_large(tmp_path: Path) -> None:
    """A JSON document is held in memory, so it has a limit of its own."""
    limits = Limits(max_unpacked_bytes=10_000, max_json_bytes=100, max_files=5, max_rows=5)

    with pytest.raises(TooLarge, match=r"send \.jsonl or \.csv"):
        read(tmp_path, {"r.json": "[" + " " * 200 + "]"}, limits=limits)


@pytest.mark.parametrize("line", ["{}", "x", '{"model": "A"}'])
def test_endless_lines_stop_at_the_limit_of_rows(tmp_path: Path, line: str) -> None:
    """Good and bad records count alike, before anything is made of them."""
    with pytest.raises(TooLarge, match="more than 10,000 records"):
        read(tmp_path, {"r.jsonl": f"{line}\n" * 10_001})


def test_the_limit_of_rows_holds_over_files(tmp_path: Path) -> None:
    """The records of all files are counted before a value of the first one is read."""
    limits = Limits(max_unpacked_bytes=10_000, max_json_bytes=1000, max_files=5, max_rows=3)
    two = json.dumps([{"model": "A", "task": "t", "MASE": "no number"}] * 2)

    with pytest.raises(TooLarge, match=r"b\.json with those of the files before it has more than 3 records"):
        read(tmp_path, {"a.json": two, "b.json": two}, limits=limits)


def test_nothing_is_parsed_beyond_the_limit_of_rows(tmp_path: Path) -> None:
    """What follows the first record that is too many is broken, and nobody has noticed."""
    (tmp_path / "r.json").write_text('[{"a": 1}, {"a": 2}, {"a": 3}, {"broken')
    findings = Findings()

    with pytest.raises(TooLarge, match="more than 2 records"):
        open_json(ReceivedFile("r.json", tmp_path / "r.json", ".json", 0), findings, 2)
    assert findings.n_problems == 0
