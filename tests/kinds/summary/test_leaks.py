"""Flags of evaluation summaries that say whether a model has seen a task's data."""

import csv
import io
from pathlib import Path

import pytest

from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from tests.cases.evidence_tables import FEV, problems, read

EXAMPLE = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"
FLAG = "trained_on_this_dataset"


def manifest() -> Manifest:
    """Return fev-bench, whose leakage model is Chronos-Bolt."""
    return parse_manifest(EXAMPLE.read_bytes())


def results(name: str, flag: str, at: int = 0) -> str:
    """Return a given result file with another flag in one of its rows."""
    rows = list(csv.DictReader((FEV / "results" / name).read_text().splitlines()))
    rows[at][FLAG] = flag
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(("flag", "leaked"), [("1.0", True), ("0.0", False), ("", False), ("True", True)])
def test_flags_are_read_as_fev_reads_them(tmp_path: Path, flag: str, leaked: bool) -> None:
    """By an empty one nothing is replaced, and pandas writes 1.0 beside gaps."""
    scores = read(tmp_path, {"r.csv": results("naive.csv", flag)}, manifest()).scores

    assert bool(scores.leaked[0]) is leaked


def test_rows_that_do_not_say_it_are_counted_in_a_warning(tmp_path: Path) -> None:
    """The submitter sees what was made of an empty flag."""
    warnings = read(tmp_path, {"r.csv": results("naive.csv", "")}, manifest()).warnings

    assert [(w.column, w.message) for w in warnings if w.column == FLAG] == [
        (FLAG, "1 row without a value: as in fev, errors there are not replaced, and the overlap counts what is known")
    ]


@pytest.mark.parametrize(
    ("name", "flag", "at", "words"),
    [
        *(("naive.csv", flag, 0, "") for flag in ("maybe", "2", "1.00001")),
        ("chronos-bolt.csv", "True", 3, "Chronos-Bolt is the leakage model of sql, mase, wape, wql, sql-mini"),
    ],
)
def test_another_flag_and_a_leakage_model_that_has_seen_the_data_are_refused(
    tmp_path: Path, name: str, flag: str, at: int, words: str
) -> None:
    """What is neither yes nor no; and the leakage model's errors stand for those of models that have seen it."""
    (problem,) = problems(tmp_path, {"r.csv": results(name, flag, at)}, manifest())

    assert (problem.row, problem.column, problem.value) == (at + 2, FLAG, flag)
    assert problem.message.startswith(words)


def test_a_leakage_model_may_have_seen_what_its_boards_do_not_use(tmp_path: Path) -> None:
    """Off the board's tasks its errors stand for nobody's."""
    declared = manifest()
    mini = declared.leaderboard("sql-mini")
    elsewhere = results("chronos-bolt.csv", "True", at=1)
    task = list(csv.DictReader(elsewhere.splitlines()))[1]["task_name"]
    assert task not in (mini.tasks or ())

    evidence = read(tmp_path, {"r.csv": elsewhere}, declared.model_copy(update={"leaderboards": [mini]}))

    assert evidence.scores.leaked.sum() == 1


UNSAID_BOARD = b"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
preset: fev
metrics: {MASE: {direction: minimize, min: 0}}
columns: {entrant: model, task: task, leaked: seen}
leaderboards: [{name: b, method: skill_score, metric: MASE, baseline: Base, uncertainty: {n_resamples: 0}}]
tasks: [{id: a}, {id: b}, {id: c}]
"""


@pytest.mark.parametrize(("flags", "overlap"), [("True,False,", 0.5), ("False,False,", 0.0), (",,", None)])
def test_the_overlap_is_over_the_tasks_of_which_it_is_known(tmp_path: Path, flags: str, overlap: float | None) -> None:
    """A model that does not say whether it has seen the data does not look clean, and the board says who that is."""
    manifest = parse_manifest(UNSAID_BOARD)
    rows = [f"{name},{task},1.0,{flag}" for name in ("Base", "X")
            for task, flag in zip("abc", flags.split(",") if name == "X" else ["False"] * 3, strict=True)]  # fmt: skip
    evidence = read(tmp_path, {"results.csv": "model,task,MASE,seen\n" + "\n".join(rows) + "\n"}, manifest)
    board = compute_board(manifest, manifest.leaderboards[0], evidence.scores).leaderboard
    n_unsaid = flags.split(",").count("")

    assert {r["entrant"]: r["training_corpus_overlap"] for r in board.records()} == {"Base": 0.0, "X": overlap}
    assert any(f"of the other tasks: X ({n_unsaid} task" in note for note in board.notes)


def test_where_no_column_says_it_the_overlap_is_unknown(tmp_path: Path) -> None:
    """A benchmark that does not ask knows of nobody, and blames nobody for not saying it."""
    manifest = parse_manifest(UNSAID_BOARD.replace(b", leaked: seen", b""))
    rows = [f"{name},{task},1.0" for name in ("Base", "X") for task in "abc"]
    evidence = read(tmp_path, {"results.csv": "model,task,MASE\n" + "\n".join(rows) + "\n"}, manifest)
    board = compute_board(manifest, manifest.leaderboards[0], evidence.scores).leaderboard

    assert [row["training_corpus_overlap"] for row in board.records()] == [None, None]
    assert not [note for note in board.notes if "the overlap" in note]
