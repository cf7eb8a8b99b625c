"""The items of a grid, as a steward uploads them: all that is wrong with a file is told where it stands."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from app.errors import EvidenceRejected, Problem, TooLarge
from app.files.uploads import SentFile
from app.kinds.items import LONGEST, ItemsReading, read_items
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.names import clip_for_message
from tests.cases.evidence_tables import LIMITS

QUIZ = """
schema_version: 1
slug: quiz
title: Quiz
evidence: episodes
episodes: {entrant: model, item: [question], condition: null, seed: null, task: subject}
metrics: {acc: {direction: maximize, min: 0, max: 1}}
tasks: [{id: x}, {id: y}]
grid: {items: file}
leaderboards: [{name: acc, method: estimate, metrics: [acc], statistic: mean}]
"""
PLAIN, CLUSTERED = parse_manifest(QUIZ.encode()), parse_manifest(f"{QUIZ}items: {{cluster: passage}}".encode())


def read(folder: Path, text: str, manifest: Manifest = PLAIN, more: str | None = None) -> ItemsReading:
    """Return the items of a CSV file, or of two."""
    texts = {"items.csv": text} | ({} if more is None else {"more.csv": more})
    for name, each in texts.items():
        (folder / name).write_text(each)
    return read_items(manifest, [SentFile(name, folder / name) for name in texts], LIMITS)


@pytest.mark.parametrize(
    ("manifest", "text", "items"),
    [
        (PLAIN, "item\nq2\nq1\n", {"": ("q2", "q1")}),
        (PLAIN, "task,item\ny,q1\nx,q2\nx,q1\n", {"x": ("q2", "q1"), "y": ("q1",)}),
        (PLAIN, f"item\n{'q' * LONGEST}\n", {"": ("q" * LONGEST,)}),
        (CLUSTERED, "task,item\nx,p1/q1\nx,p2/q2\ny,p2/q1\ny,p1/q2\n",
         {"x": ("p1/q1", "p2/q2"), "y": ("p2/q1", "p1/q2")}),
    ],
)  # fmt: skip
def test_items_are_kept_by_task_in_the_order_of_the_file(
    tmp_path: Path, manifest: Manifest, text: str, items: dict[str, tuple[str, ...]]
) -> None:
    """Without a column of tasks they are those of every task; an item may be of another cluster in another task."""
    assert read(tmp_path, text, manifest).items == items


def test_rows_that_are_left_out_are_warned_of(tmp_path: Path) -> None:
    """A steward who counts the lines of the file is told which are no items."""
    text = "task,item\nx,q1\n,\nx,q2\n"
    reading = read(tmp_path, text)

    assert (reading.items, reading.sha256) == ({"x": ("q1", "q2")}, sha256(text.encode()).hexdigest())
    assert [warning.message for warning in reading.warnings] == [
        "ignored, because empty in every column that is read: 1 row"
    ]


def at(message: str, row: int, column: str, value: str) -> Problem:
    """Return what is wrong with a cell of the file."""
    return Problem(message, "items.csv", row, column, value)


def of_cluster(task: str | None) -> Problem:
    """Return that all items are of one cluster."""
    words = "all 2 items are of the cluster p1, so nothing can be drawn; expected two clusters"
    return Problem(words, column="item", value=task)


WRONG: dict[str, tuple[Manifest, str, list[Problem]]] = {
    "an empty name and one again": (
        PLAIN, "item\nq1\n\" \"\nq1\n",
        [at("expected the name of an item", 3, "item", " "), at("the item is there already", 4, "item", "q1")]),
    "one again in a task": (
        PLAIN, "task,item\nx,q1\ny,q1\nx,q1\n", [at("the item is there already", 4, "item", "q1")]),
    "a long name": (
        PLAIN, f"item\n{'q' * (LONGEST + 1)}\nq1\n",
        [at("the name of an item has at most 200 characters", 2, "item", clip_for_message("q" * (LONGEST + 1)))]),
    "a task that is none, and no task": (
        PLAIN, "task,item\nx,q1\nz,q1\n,q2\n",
        [at("not a task of this benchmark; it has x, y", 3, "task", "z"),
         at("expected a task: another row names one", 4, "task", "")]),
    "no column": (PLAIN, "name\nq1\n", [Problem("the column item is missing", "items.csv", column="item")]),
    "nothing": (PLAIN, "item\n", [Problem("there is no item", column="item")]),
    "an item without its cluster": (
        CLUSTERED, "item\np1/q1\nq2\np2/q1\n",
        [at("the item q2 names no cluster; expected passage/question", 3, "item", "q2"),
         at("the item q1 is in two clusters, p1 and p2; expected one", 4, "item", "p2/q1")]),
    "one cluster for every task": (CLUSTERED, "item\np1/q1\np1/q2\n", [of_cluster(None)]),
    "one cluster in a task": (
        CLUSTERED, "task,item\nx,p1/q1\nx,p2/q2\ny,p1/q1\ny,p1/q2\n", [of_cluster("y")]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_items_is_told_with_its_row_or_its_task(tmp_path: Path, name: str) -> None:
    """Every problem at once: a steward has one file, which may be of a million rows."""
    manifest, text, expected = WRONG[name]
    with pytest.raises(EvidenceRejected) as refused:
        read(tmp_path, text, manifest)

    assert list(refused.value.problems) == expected


def test_files_with_and_without_tasks_are_not_mixed(tmp_path: Path) -> None:
    """Nobody could say whether the items of every task are also those of a task that has its own."""
    with pytest.raises(EvidenceRejected) as refused:
        read(tmp_path, "item\nq1\n", more="task,item\nx,q2\n")

    assert list(refused.value.problems) == [Problem("one file names tasks and another does not", column="task")]
    assert read(tmp_path, "item\nq1\n", more="item\nq2\n").items == {"": ("q1", "q2")}


def test_more_items_than_a_file_may_have_are_refused(tmp_path: Path) -> None:
    """With how many there may be."""
    few = replace(LIMITS, max_rows=2)
    path = tmp_path / "items.csv"
    path.write_text("item\nq1\nq2\nq3\n")

    with pytest.raises(TooLarge, match="more than 2 "):
        read_items(PLAIN, [SentFile(path.name, path)], few)
    assert len(read_items(PLAIN, [SentFile(path.name, path)], replace(few, max_rows=3)).items[""]) == 3
