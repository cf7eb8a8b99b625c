"""Rows of evaluation summaries: every cell right, or every problem with its place."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from app.errors import MAX_PROBLEMS, EvidenceRejected, ManifestRejected
from app.kinds.summary.read import TaskRules
from app.manifest.model import Manifest
from tests.cases.evidence_tables import CLOSED, make_manifest, problems, read, the_problem

FULL = "{entrant: model, task: task, leaked: leaked, training_time_s: train, n_forecasts: n, recorded: [print]}"


CLOSED_HEADER = "model,task,horizon,target,levels,gap,MASE\n"
HARD = {"model": "A", "task": "hard", "horizon": "24", "target": "y", "levels": '"[0.1, 0.5]"', "gap": "", "MASE": "1"}


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("NaN", "NaN is not a number"),
        ("nan", "NaN is not a number"),
        ("inf", "infinite"),
        ("-Infinity", "infinite"),
        ("1e400", "infinite or too large"),
        ("-0.5", "negative"),
        ("abc", "not a number"),
        ("1_000", "not a number"),
        ("0x10", "not a number"),
        ("True", "not a number"),
        ('"0,5"', "write decimals with a point"),
        ("=1+1", "not a number"),
        ("\u0663", "not a number"),
    ],
)
def test_a_score_that_is_none_is_refused(tmp_path: Path, cell: str, words: str) -> None:
    """The problem has the row, the column, the value and what is wrong with it."""
    problem = the_problem(tmp_path, f"model,task,MASE\nA,t,1\nB,t,{cell}\n")

    assert (problem.row, problem.column, problem.value) == (3, "MASE", cell.strip('"'))
    assert words in problem.message


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    """Spaces, signs and exponents are fine, in a column with and without them."""
    texts = ["0.1", "1e-3", "5e-324", "0.30000000000000004", "9.999999999999999e49"]
    rows = "".join(f"A{number},t,{text}\n" for number, text in enumerate(texts))

    plain = read(tmp_path, {"r.csv": "model,task,MASE\n" + rows}).scores
    spaced = read(tmp_path, {"r.csv": "model,task,MASE\n" + rows + "B,t, +2. \n"}).scores

    assert plain.value("MASE").tolist() == [float(text) for text in texts]
    assert spaced.value("MASE").tolist() == [*(float(text) for text in texts), 2.0]


def test_an_empty_score_is_null_with_its_reason(tmp_path: Path) -> None:
    """A task on which the entrant failed may stand there without a value."""
    scores = read(tmp_path, {"r.csv": "model,task,MASE\nA,s,\nA,t,1\n"}).scores

    assert np.isnan(scores.value("MASE")).tolist() == [True, False]
    assert scores.reason is not None
    assert scores.reason.to_list() == ["empty in the file: MASE", None]


NAMES = {
    "a tab": "A\tB", "a leading space": " A", "a trailing space": "A ", "two spaces": "A  B", "nothing": "",
    "too long": "x" * 201, "a direction mark": "a\u202eb", "no width": "a\u200bb", "a hard space": "a\u00a0b",
    "decomposed": "e\u0301", "a mark alone": "\u0301a", "a filler": "a\u3164",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_not_allowed(tmp_path: Path, name: str) -> None:
    """Names that hide something, have another spelling or never end are refused, and shown harmlessly."""
    problem = the_problem(tmp_path, f'model,task,MASE\n"{NAMES[name]}",t,1\n')

    assert (problem.row, problem.column) == (2, "model")
    assert problem.value is None or (len(problem.value) < 100 and problem.value.isprintable())


def test_a_task_may_be_named_in_parts_where_tasks_are_open_and_not_at_all_where_there_are_several(
    tmp_path: Path,
) -> None:
    """A name with slashes is one, and one that hides something is none; rows without it would be of any task."""
    scores = read(tmp_path, {"r.csv": "model,task,MASE\nA,covid/new,1\n"}).scores
    with pytest.raises(ManifestRejected) as refusal:
        make_manifest(columns="{entrant: model, task: null}", tasks=CLOSED)

    assert scores.task.to_list() == ["covid/new"]
    assert the_problem(tmp_path, "model,task,MASE\nA,covid\u200b/new,1\n").column == "task"
    assert [problem.column for problem in refusal.value.problems] == ["columns.task"]


def test_the_form_field_names_the_entrant(tmp_path: Path) -> None:
    """Rows that do not say whose they are are those of the form field, with and without the column."""
    without = read(tmp_path, {"r.csv": "task,MASE\ns,1\nt,2\n"}, entrant="A").scores
    partly = read(tmp_path, {"r.csv": "model,task,MASE\n,s,1\nA,t,2\n"}, entrant="A").scores

    assert without.entrant.to_list() == partly.entrant.to_list() == ["A", "A"]


FULL_ROW = "model,task,MASE,leaked,train\nA,t,1,0,{}\n"
BOUNDED = make_manifest().model_copy(
    update={"metrics": {"MASE": make_manifest().metrics["MASE"].model_copy(update={"max": 2.0})}}
)
WRONG: dict[str, tuple[str, Manifest | None, str | None, list[tuple[int | None, str | None, str]]]] = {
    "a score above the maximum": (
        "model,task,MASE\nA,t,2\nB,t,2.5\n", BOUNDED, None, [(3, "MASE", "above 2, the largest allowed")]),
    "rows of another entrant than the form field": (
        "model,task,MASE\nA,t,1\nB,t,1\n", None, "A", [(3, "model", "the form field entrant says A")]),
    "a form field that is no name": ("model,task,MASE\nA,t,1\n", None, "A\u200b", [(None, "entrant", "")]),
    "neither a column nor a form field": (
        "task,MASE\nt,1\n", make_manifest(columns="{entrant: null, task: task}"), None,
        [(None, None, "no entrant; send the form field entrant")]),
    "names that differ only in case": (
        "model,task,MASE\nTiRex,s,1\nTirex,t,1\n", None, None,
        [(None, "model",
          "Tirex and TiRex differ only in case or in the form of their letters; write the name one way")]),
    **{f"a time of {cell}": (FULL_ROW.format(cell), make_manifest(columns=FULL), None, [(2, "train", "")])
       for cell in ("-1", "inf", "soon")},
    "a recorded text without end": (
        "model,task,MASE,leaked,print\nA,s,1,0," + "x" * 2001 + "\n", make_manifest(columns=FULL), None,
        [(2, "print", "")]),
    **{f"a flag of {cell}": (
        f"model,task,MASE,leaked\nA,t,1,{cell}\n", make_manifest(columns=FULL), None, [(2, "leaked", "")])
       for cell in ("", "yes", "2", "None", "1.5")},
    "every differing column of every row": (
        CLOSED_HEADER + 'A,easy,9,"[a]","[0.1, 0.5]",,-1\nA,hard,9,y,"[0.1, 0.5]",,1\n', make_manifest(tasks=CLOSED),
        None, [(2, "horizon", ""), (2, "target", ""), (2, "MASE", ""), (3, "horizon", "")]),
    "an unknown task, with what no task has": (
        CLOSED_HEADER + 'A,easy,8,"[\'a\', \'b\']","[0.1, 0.5]",,1\nA,other,95,y,"[0.1, 0.5]",,1\n',
        make_manifest(tasks=CLOSED), None,
        [(3, "task", "other is not a task of small; nor has any of its tasks horizon 95")]),
    "misspelt tasks": (
        CLOSED_HEADER + "A,haerd,8,y,,,1\nA,harrd,8,y,,,1\n", make_manifest(tasks=CLOSED), None,
        [(2, "task", "did you mean hard? It has easy, hard"),
         (3, "task", "did you mean hard? It has easy, hard")]),
    "a column of the definition that has a value": (
        'model,task,target,levels,MASE\nA,hard,y,"[0.1, 0.5]",1\n', make_manifest(tasks=CLOSED), None,
        [(None, "horizon", "")]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_everything_that_is_wrong_is_a_problem_with_its_place(tmp_path: Path, name: str) -> None:
    """Row, column and what is wrong, in the order of the rows."""
    content, declared, entrant, said = WRONG[name]
    actual = problems(tmp_path, {"r.csv": content}, declared, entrant)

    assert [(p.row, p.column) for p in actual] == [(row, column) for row, column, _ in said]
    assert [words for p, (_, _, words) in zip(actual, said, strict=True) if words not in p.message] == []


def test_missing_columns_are_all_named(tmp_path: Path) -> None:
    """Each column that the manifest asks for and the file lacks is a problem of the file."""
    actual = problems(tmp_path, {"r.csv": "a,b\n1,2\n"}, make_manifest(columns=FULL))

    assert [(p.row, p.column) for p in actual if p.row is None] == [
        (None, "model"),
        (None, "task"),
        (None, "leaked"),
        (None, "MASE"),
    ]


def test_the_same_pair_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    """Within a file and across files, however often."""
    header = "model,task,MASE\n"
    files = {"a.csv": f"{header}A,s,1\nA,t,1\nA,s,2\n", "b.csv": f"{header}B,s,1\nA,s,3\n"}

    actual = problems(tmp_path, files)

    assert [(p.file, p.row, p.column, p.value, p.message) for p in actual] == [
        ("a.csv", 4, "task", "s", "A has a row for s already: row 2 of a.csv"),
        ("b.csv", 3, "task", "s", "A has a row for s already: row 2 of a.csv"),
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [("True", True), ("true", True), ("TRUE", True), ("1", True), ("False", False), ("false", False), ("0", False)],
)
def test_flags_of_leakage(tmp_path: Path, cell: str, value: bool) -> None:
    """As Python, R, JSON and spreadsheets write them."""
    table = f"model,task,MASE,leaked,train,n\nA,t,1,{cell},1.5,\n"

    assert read(tmp_path, {"r.csv": table}, make_manifest(columns=FULL)).scores.leaked.tolist() == [value]


def test_measured_quantities_follow_the_metrics(tmp_path: Path) -> None:
    """They have plumbline's names, gaps are allowed, and a column that a file lacks is unknown with a warning; recorded
    columns are kept as text.
    """
    table = "model,task,MASE,leaked,train,print\nA,s,1,0,1.5,007\nA,t,1,0,NaN,\n"
    evidence = read(tmp_path, {"r.csv": table}, make_manifest(columns=FULL))

    assert evidence.scores.columns == ("MASE", "training_time_s", "n_forecasts")
    assert str(evidence.scores.value("training_time_s").tolist()) == "[1.5, nan]"
    assert evidence.scores.recorded["print"].to_list() == ["007", None]
    assert [(w.column, w.message) for w in evidence.warnings] == [("n", "no column n: n_forecasts is unknown")]


def test_columns_that_are_not_read_are_named_once(tmp_path: Path) -> None:
    """A submitter learns what had no effect, so that a misspelt column does not go unnoticed."""
    evidence = read(tmp_path, {"r.csv": "model,task,MASE,note,MASE2\nA,s,1,,\nA,t,1,,\n"})

    assert [w.message for w in evidence.warnings] == [
        "columns that this benchmark does not read were ignored: note, MASE2"
    ]


def test_rows_that_repeat_the_definition_are_read(tmp_path: Path) -> None:
    """A list may be JSON or Python's notation, an integer may end in .0, nothing has many names."""
    table = (
        CLOSED_HEADER
        + 'A,easy,8,"[""a"", ""b""]","[0.1, 0.5]",,1\nB,easy,8.0,"[\'a\', \'b\']","(0.1, 0.50)",NaN,1\n'
        + 'A,hard,24,y,"[0.1,0.5]",None,1\n'
    )

    scores = read(tmp_path, {"r.csv": table}, make_manifest(tasks=CLOSED)).scores

    assert scores.task.to_list() == ["easy", "easy", "hard"]
    assert scores.recorded == {}


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("horizon", "95", "95 is not the horizon of task hard; expected 24"),
        ("horizon", "", "an empty cell is not the horizon of task hard; expected 24"),
        ("horizon", "24.5", "24.5 is not the horizon of task hard; expected 24"),
        ("target", "Y", "Y is not the target of task hard; expected y"),
        ("levels", '"[0.5, 0.1]"', "[0.5, 0.1] is not the levels of task hard; expected [0.1, 0.5]"),
        ("levels", "[0.1", "[0.1 is not the levels of task hard; expected [0.1, 0.5]"),
        ("levels", "__import__('os')", "__import__('os') is not the levels of task hard; expected [0.1, 0.5]"),
        ("gap", "0", "0 is not the gap of task hard; expected an empty cell"),
    ],
)
def test_a_column_that_differs_from_its_task_is_refused(tmp_path: Path, column: str, cell: str, message: str) -> None:
    """The message has the value, the task and what is expected."""
    table = CLOSED_HEADER + ",".join({**HARD, column: cell}.values()) + "\n"

    problem = the_problem(tmp_path, table, make_manifest(tasks=CLOSED))

    assert (problem.row, problem.column, problem.message) == (2, column, message)


@pytest.mark.parametrize("cell", ["[" * 20_000, "[" * 100 + "]" * 100, "9" * 50_000, "-" * 30_000 + "1"])
def test_a_hostile_list_only_differs(tmp_path: Path, cell: str) -> None:
    """Deep or endless cells are not handed to a parser that recurses."""
    table = CLOSED_HEADER + f"A,hard,24,y,{cell},,1\n"

    assert the_problem(tmp_path, table, make_manifest(tasks=CLOSED)).column == "levels"


@pytest.mark.parametrize(("preset", "n_problems"), [("null", 1), ("fev", 0)])
def test_only_files_of_fev_may_leave_out_what_its_old_releases_did(preset: str, n_problems: int) -> None:
    """One window a row is what a file of fev 0.1 means; elsewhere the column says how many."""
    rules = TaskRules(make_manifest(tasks="[{id: easy, where: {num_windows: 1}}]", preset=preset))

    assert int(rules.missing_matters("num_windows", np.zeros(1, dtype=np.int64))) == n_problems


@pytest.mark.parametrize(("preset", "differ"), [("null", [True, False, True]), ("fev", [False, False, True])])
def test_only_fev_reads_no_levels_as_an_empty_list(preset: str, differ: list[bool]) -> None:
    """Of a task without levels: an empty cell, an empty list, a list of one; of no rows, nothing differs."""
    rules = TaskRules(make_manifest(tasks="[{id: easy, where: {quantile_levels: []}}]", preset=preset))
    texts = pa.array([None, "[]", "[0.1]"], pa.string())

    assert rules.differing("quantile_levels", texts, np.zeros(3, dtype=np.int64)).tolist() == differ
    none = rules.differing("quantile_levels", texts[:0], np.zeros(0, dtype=np.int64))
    assert (str(none.dtype), len(none)) == ("bool", 0)


def test_more_problems_than_are_shown_are_counted(tmp_path: Path) -> None:
    """The answer holds the first thousand and the number of all."""
    rows = "".join(f"A,t{number},-1\n" for number in range(3000))

    with pytest.raises(EvidenceRejected) as refused:
        read(tmp_path, {"r.csv": "model,task,MASE\n" + rows})

    assert len(refused.value.problems) == MAX_PROBLEMS
    assert refused.value.n_problems == 3000


def test_only_names_that_occur_are_words(tmp_path: Path) -> None:
    """A closed list does not put its other tasks into the table."""
    table = CLOSED_HEADER + 'A,hard,24,y,"[0.1, 0.5]",,1\n'

    assert read(tmp_path, {"r.csv": table}, make_manifest(tasks=CLOSED)).scores.task.words == ("hard",)
