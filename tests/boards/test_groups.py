"""Groups of tasks as columns of a board: what is declared, what a gap costs, and whom a group cannot help."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.boards.evidence import BoardEvidence, board_of
from app.boards.example import rows
from app.kinds.contract import NO_FACTS
from app.kinds.parse import parse_manifest
from app.render.table_page import TablePage, TableView
from app.values.table import Cell, Table

MANIFEST = """\
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
metrics: {error: {direction: minimize, min: 0, max: 1}}
tasks: [{id: a, where: {area: x}}, {id: b, about: {area: x}}, {id: c, about: {area: y, made: "2020"}}]
group_by: area
leaderboards:
  - {name: main, method: METHOD, metric: error}
"""


def board(method: str, values: dict[str, list[float]], manifest: str = MANIFEST) -> Table:
    """Return the board of some values on the tasks a, b and c."""
    declared = parse_manifest(manifest.replace("METHOD", method).encode())
    return board_of(BoardEvidence.of_rows(declared, rows(values)), declared.leaderboards[0]).leaderboard


@pytest.mark.parametrize("method", ["mean", "borda", "mean_rank", "mean_win_rate"])
def test_a_board_has_what_its_manifest_declares(method: str) -> None:
    """The mean of each value of the column, whatever ranks; nobody is in a group of which a task is missing."""
    table = board(method, {"A": [0.1, 0.2, 0.3], "B": [0.4, 0.3, 0.3], "C": [0.0]})
    cells = {str(each["entrant"]): each for each in table.records()}

    assert table.meta["groups"] == {"x": 2, "y": 1}
    assert cells["A"]["mean:x"] == pytest.approx(0.15)
    assert (cells["C"]["mean:x"], cells["C"]["mean:y"]) == (None, None)
    assert cells["B"]["mean:x_lower"] < 0.35 < cells["B"]["mean:x_upper"]
    assert cells["A"]["mean:y_lower"] is None


def test_no_group_moves_a_rank_and_none_is_there_undeclared() -> None:
    """The other columns are as without groups."""
    values = {"A": [0.1, 0.2, 0.3], "B": [0.4, 0.3, 0.3]}
    with_groups, without = board("borda", values), board("borda", values, MANIFEST.replace("group_by: area\n", ""))
    names = without.column_names()

    assert not [name for name in names if name.startswith("mean:")]
    assert [tuple(each[name] for name in names) for each in with_groups.records()] == list(without.rows)


def test_seen_data_better_no_group() -> None:
    """Where a board counts another's errors instead of leaked ones, its groups do."""
    manifest = MANIFEST.replace("metric: error", "metric: error, baseline: B, leakage_model: B")
    declared = parse_manifest(manifest.replace("METHOD", "skill_score").encode())
    scores = rows({"A": [0.1, 0.2, 0.3], "B": [0.4, 0.3, 0.3]})
    scores = replace(scores, leaked=(scores.entrant.codes == scores.entrant.words.index("A")))
    table = board_of(BoardEvidence.of_rows(declared, scores), declared.leaderboards[0]).leaderboard
    a, b = sorted(table.records(), key=lambda each: str(each["entrant"]))

    assert a["mean:x"] == b["mean:x"] == pytest.approx((0.4 * 0.3) ** 0.5)


def test_a_board_speaks_of_what_its_field_compares() -> None:
    """Titles, notes and sentences have the nouns of the manifest; keys and names stay."""
    named = MANIFEST.replace("group_by", "nouns: {entrant: model, task: data set}\ngroup_by")
    table = board("mean_rank", {"The Entrant": [0.1, 0.2, 0.3], "B": [0.4, 0.3, 0.3], "Task": [0.5]}, named)
    said = [*table.notes, *table.meta["statement"], *(column.title for column in table.columns)]

    assert "entrant" in table.column_names()
    assert "Model" in [column.title for column in table.columns]
    assert any("The Entrant" in text for text in table.meta["statement"])
    assert not [text for text in said if re.search("entrant|task", text.replace("The Entrant", "").replace("Task", ""))]


def test_what_a_page_adds_speaks_so_too() -> None:
    """The chips of a board, and the words behind its groups and remarks, are made when it is shown."""
    nouns = parse_manifest(
        MANIFEST.replace("group_by", "nouns: {task: data set}\ngroup_by").replace("METHOD", "mean").encode()
    ).nouns
    table = board("mean", {"A": [0.1, 0.2, 0.3], "B": [0.4, 0.3, 0.3]})
    leaked = replace(table, rows=tuple(_with(table, row, n_leaked=2) for row in table.rows))
    page = TablePage(title="Main", view=TableView("t", "/t", leaked, facts=replace(NO_FACTS, nouns=nouns)), asked=())
    shown = page.board
    assert shown is not None

    assert ("3 data sets, taken as independent", "No families of data sets are declared", "") in page.chips
    assert shown.group_words(shown.groups[0]).startswith("x: over 2 data sets; ")
    assert ("2 leaked", "declared to have seen the data of 2 data sets") in shown.remarks(shown.rows[0])


def _with(table: Table, row: tuple[Cell, ...], **cells: Cell) -> tuple[Cell, ...]:
    return tuple(cells.get(name, cell) for name, cell in zip(table.column_names(), row, strict=True))


def test_what_is_told_of_a_task_decides_no_measurement() -> None:
    """A steward may name a domain later without anything being computed anew; what rows must have is another matter."""
    first, told, asked = (
        parse_manifest(MANIFEST.replace("METHOD", "mean").replace("about: {area: x}", words).encode())
        for words in ("about: {area: x}", "about: {area: z}", "where: {area: x}")
    )

    assert first.deciding() == told.deciding() != asked.deciding()


@pytest.mark.parametrize("example", ["mteb-eng-v2", "fev-bench"])
def test_an_example_has_a_column_for_each_group(example: str) -> None:
    """On each of its boards, those that group tasks themselves included; every task is in one."""
    declared = parse_manifest(Path(f"examples/{example}/manifest.yaml").read_bytes())
    groups = declared.declared_groups()

    assert len(groups) == 7
    assert sorted(task for tasks in groups.values() for task in tasks) == sorted(declared.task_ids() or ())
    assert all(spec.groups_of_tasks(()) or declared.declared_groups() for spec in declared.leaderboards)
