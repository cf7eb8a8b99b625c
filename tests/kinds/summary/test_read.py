"""Rows of evaluation summaries: every cell right, or every problem with its place."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from app.errors import MAX_PROBLEMS, EvidenceRejected, ManifestRejected
from app.kinds.summary.read import TaskRules
from tests.cases.evidence_tables import CLOSED, make_manifest, problems, read, the_problem

FULL = "{entrant: model, task: task, leaked: leaked, training_time_s: train, n_forecasts: n, recorded: [print]}"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("NaN", "NaN is not a score"),
        ("nan", "NaN is not a score"),
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


def test_a_score_above_the_maximum_is_refused(tmp_path: Path) -> None:
    """A metric's range comes from the manifest."""
    manifest = make_manifest()
    bounded = manifest.model_copy(
        update={"metrics": {"MASE": manifest.metrics["MASE"].model_copy(update={"max": 2.0})}}
    )

    assert the_problem(tmp_path, "model,task,MASE\nA,t,2\nB,t,2.5\n", bounded).message == "above 2, the largest allowed"


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


@pytest.mark.parametrize(
    "name",
    ["A\tB", " A", "A ", "A  B", "", "x" * 201, "a\u202eb", "a\u200bb", "a\u00a0b", "e\u0301", "\u0301a", "a\u3164"],
    ids=[
        "a tab",
        "a leading space",
        "a trailing space",
        "two spaces",
        "nothing",
        "too long",
        "a direction mark",
        "no width",
        "a hard space",
        "decomposed",
        "a mark alone",
        "a filler",
    ],
)
def test_names_that_are_not_allowed(tmp_path: Path, name: str) -> None:
    """Names that hide something, have another spelling or never end are refused, and shown harmlessly."""
    problem = the_problem(tmp_path, f'model,task,MASE\n"{name}",t,1\n')

    assert (problem.row, problem.column) == (2, "model")
    assert problem.value is None or (len(problem.value) < 100 and problem.value.isprintable())


def test_a_task_may_be_named_in_parts(tmp_path: Path) -> None:
    """Where tasks are open, a name with slashes is one, and one that hides something is none."""
    scores = read(tmp_path, {"r.csv": "model,task,MASE\nA,covid/new,1\n"}).scores

    assert scores.task.to_list() == ["covid/new"]
    assert the_problem(tmp_path, "model,task,MASE\nA,covid\u200b/new,1\n").column == "task"


def test_no_column_may_name_the_task_where_there_are_several() -> None:
    """Rows would be of any of them."""
    with pytest.raises(ManifestRejected) as refusal:
        make_manifest(columns="{entrant: model, task: null}", tasks=CLOSED)

    assert [problem.column for problem in refusal.value.problems] == ["columns.task"]


def test_missing_columns_are_all_named(tmp_path: Path) -> None:
    """Each column that the manifest asks for and the file lacks is a problem of the file."""
    actual = problems(tmp_path, {"r.csv": "a,b\n1,2\n"}, make_manifest(columns=FULL))

    assert [(p.row, p.column) for p in actual if p.row is None] == [
        (None, "model"),
        (None, "task"),
        (None, "leaked"),
        (None, "MASE"),
    ]


def test_the_form_field_names_the_entrant(tmp_path: Path) -> None:
    """Rows that do not say whose they are are those of the form field, with and without the column."""
    without = read(tmp_path, {"r.csv": "task,MASE\ns,1\nt,2\n"}, entrant="A").scores
    partly = read(tmp_path, {"r.csv": "model,task,MASE\n,s,1\nA,t,2\n"}, entrant="A").scores

    assert without.entrant.to_list() == partly.entrant.to_list() == ["A", "A"]


def test_rows_of_another_entrant_than_the_form_field_are_refused(tmp_path: Path) -> None:
    """The field and the rows must agree."""
    (problem,) = problems(tmp_path, {"r.csv": "model,task,MASE\nA,t,1\nB,t,1\n"}, entrant="A")

    assert (problem.row, problem.column, problem.value) == (3, "model", "B")
    assert problem.message == "the form field entrant says A"


def test_a_form_field_that_is_no_name_is_refused(tmp_path: Path) -> None:
    """The field is held to the same rule as the rows."""
    actual = problems(tmp_path, {"r.csv": "model,task,MASE\nA,t,1\n"}, entrant="A\u200b")

    assert [(p.column, p.value) for p in actual] == [("entrant", "A\\x200b")]


def test_a_benchmark_may_leave_the_entrant_to_the_form_field(tmp_path: Path) -> None:
    """Without a column and without the field nobody knows whose rows they are."""
    manifest = make_manifest(columns="{entrant: null, task: task}")

    (problem,) = problems(tmp_path, {"r.csv": "task,MASE\nt,1\n"}, manifest)

    assert problem.message == "no entrant; send the form field entrant"


def test_the_same_pair_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    """Within a file and across files, however often."""
    header = "model,task,MASE\n"
    files = {"a.csv": f"{header}A,s,1\nA,t,1\nA,s,2\n", "b.csv": f"{header}B,s,1\nA,s,3\n"}

    actual = problems(tmp_path, files)

    assert [(p.file, p.row, p.message) for p in actual] == [
        ("a.csv", 4, "A has a row for s already: row 2 of a.csv"),
        ("b.csv", 3, "A has a row for s already: row 2 of a.csv"),
    ]


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    """On a board they are one entrant."""
    (problem,) = problems(tmp_path, {"r.csv": "model,task,MASE\nTiRex,s,1\nTirex,t,1\n"})

    assert (
        problem.message == "Tirex and TiRex differ only in case or in the form of their letters; write the name one way"
    )


@pytest.mark.parametrize(
    ("cell", "value"),
    [("True", True), ("true", True), ("TRUE", True), ("1", True), ("False", False), ("false", False), ("0", False)],
)
def test_flags_of_leakage(tmp_path: Path, cell: str, value: bool) -> None:
    """As Python, R, JSON and spreadsheets write them."""
    table = f"model,task,MASE,leaked,train,n\nA,t,1,{cell},1.5,\n"

    assert read(tmp_path, {"r.csv": table}, make_manifest(columns=FULL)).scores.leaked.tolist() == [value]


@pytest.mark.parametrize("cell", ["", "yes", "2", "None", "1.5"])
def test_anything_else_is_no_flag(tmp_path: Path, cell: str) -> None:
    """Whether an entrant has seen the data is never guessed."""
    table = f"model,task,MASE,leaked\nA,t,1,{cell}\n"

    problem = the_problem(tmp_path, table, make_manifest(columns=FULL))

    assert (problem.row, problem.column) == (2, "leaked")


def test_measured_quantities_follow_the_metrics(tmp_path: Path) -> None:
    """They have plumbline's names, gaps are allowed, and a column that a file lacks is unknown with a warning."""
    evidence = read(
        tmp_path, {"r.csv": "model,task,MASE,leaked,train\nA,s,1,0,1.5\nA,t,1,0,NaN\n"}, make_manifest(columns=FULL)
    )

    assert evidence.scores.columns == ("MASE", "training_time_s", "n_forecasts")
    assert str(evidence.scores.value("training_time_s").tolist()) == "[1.5, nan]"
    assert [(w.column, w.message) for w in evidence.warnings] == [("n", "no column n: n_forecasts is unknown")]


@pytest.mark.parametrize("cell", ["-1", "inf", "soon"])
def test_measured_quantities_are_checked(tmp_path: Path, cell: str) -> None:
    """A time is a finite number that is not negative."""
    table = f"model,task,MASE,leaked,train\nA,t,1,0,{cell}\n"

    assert the_problem(tmp_path, table, make_manifest(columns=FULL)).column == "train"


def test_recorded_columns_are_kept_as_text(tmp_path: Path) -> None:
    """They are shown and never computed with; a very long one is refused."""
    table = "model,task,MASE,leaked,print\nA,s,1,0,007\nA,t,1,0,\n"

    scores = read(tmp_path, {"r.csv": table}, make_manifest(columns=FULL)).scores

    assert scores.recorded["print"].to_list() == ["007", None]
    assert the_problem(tmp_path, table.replace("007", "x" * 2001), make_manifest(columns=FULL)).column == "print"


def test_columns_that_are_not_read_are_named_once(tmp_path: Path) -> None:
    """A submitter learns what had no effect, so that a misspelt column does not go unnoticed."""
    evidence = read(tmp_path, {"r.csv": "model,task,MASE,note,MASE2\nA,s,1,,\nA,t,1,,\n"})

    assert [w.message for w in evidence.warnings] == [
        "columns that this benchmark does not read were ignored: note, MASE2"
    ]


CLOSED_HEADER = "model,task,horizon,target,levels,gap,MASE\n"


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
    cells = {
        "model": "A",
        "task": "hard",
        "horizon": "24",
        "target": "y",
        "levels": '"[0.1, 0.5]"',
        "gap": "",
        "MASE": "1",
    }
    table = CLOSED_HEADER + ",".join({**cells, column: cell}.values()) + "\n"

    problem = the_problem(tmp_path, table, make_manifest(tasks=CLOSED))

    assert (problem.row, problem.column, problem.message) == (2, column, message)


@pytest.mark.parametrize("cell", ["[" * 20_000, "[" * 100 + "]" * 100, "9" * 50_000, "-" * 30_000 + "1"])
def test_a_hostile_list_only_differs(tmp_path: Path, cell: str) -> None:
    """Deep or endless cells are not handed to a parser that recurses."""
    table = CLOSED_HEADER + f"A,hard,24,y,{cell},,1\n"

    assert the_problem(tmp_path, table, make_manifest(tasks=CLOSED)).column == "levels"


def test_every_differing_column_of_every_row_is_reported(tmp_path: Path) -> None:
    """One problem for each cell, in the order of the rows."""
    table = CLOSED_HEADER + 'A,easy,9,"[a]","[0.1, 0.5]",,-1\nA,hard,9,y,"[0.1, 0.5]",,1\n'

    actual = problems(tmp_path, {"r.csv": table}, make_manifest(tasks=CLOSED))

    assert [(p.row, p.column) for p in actual] == [(2, "horizon"), (2, "target"), (2, "MASE"), (3, "horizon")]


def test_an_unknown_task_is_refused_with_what_no_task_has(tmp_path: Path) -> None:
    """One problem for the row; the columns of a task that is not there have nothing to be compared with."""
    table = CLOSED_HEADER + 'A,easy,8,"[\'a\', \'b\']","[0.1, 0.5]",,1\nA,other,95,y,"[0.1, 0.5]",,1\n'

    problem = the_problem(tmp_path, table, make_manifest(tasks=CLOSED))

    assert (problem.row, problem.column, problem.value) == (3, "task", "other")
    assert problem.message == "other is not a task of small; nor has any of its tasks horizon 95"


def test_a_missing_column_of_the_definition_matters_where_it_has_a_value(tmp_path: Path) -> None:
    """A file may leave out a column that is empty for all of its tasks."""
    table = 'model,task,target,levels,MASE\nA,hard,y,"[0.1, 0.5]",1\n'

    (problem,) = problems(tmp_path, {"r.csv": table}, make_manifest(tasks=CLOSED))

    assert (problem.row, problem.column) == (None, "horizon")


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


def test_the_order_of_files_does_not_change_what_is_read(tmp_path: Path) -> None:
    """The same rows come out, under the numbers of their files."""
    a, b = "model,task,MASE\nA,s,1\n", "model,task,MASE\nB,t,2\n"

    one, other = read(tmp_path, {"a.csv": a, "b.csv": b}).scores, read(tmp_path, {"b.csv": b, "a.csv": a}).scores

    assert sorted(zip(one.entrant.to_list(), one.task.to_list(), one.values.tolist(), strict=True)) == sorted(
        zip(other.entrant.to_list(), other.task.to_list(), other.values.tolist(), strict=True)
    )


def test_only_names_that_occur_are_words(tmp_path: Path) -> None:
    """A closed list does not put its other tasks into the table."""
    table = CLOSED_HEADER + 'A,hard,24,y,"[0.1, 0.5]",,1\n'

    assert read(tmp_path, {"r.csv": table}, make_manifest(tasks=CLOSED)).scores.task.words == ("hard",)
