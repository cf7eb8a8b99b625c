"""What is drawn from a published board, whole: letters, the tradeoff, the matrix of tasks, and two entrants of it.

And a reader's own choice of a board: its words and its meta, and each way to ask for what the board does not have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from app.boards.evidence import BoardEvidence
from app.boards.explore import Choice, chosen_board, understand
from app.boards.registry import compute_board
from app.boards.standing import letters_table
from app.boards.task_values import differences_table, matrix_table, places_table, standing_on_task, task_values
from app.boards.tradeoff import axes_of, offered, tradeoff_table
from app.errors import BoardUnavailable, FieldRejected
from app.manifest.model import Manifest, Metric
from app.render.against import ahead_by, find_pair
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable
from app.values.table import Column, Table
from tests.cases.boards import CASES, Case, built, declare
from tests.cases.frozen import assert_same, tables_as_text

NAMES = ("org/Alpha", "org/Beta", "lab/Gamma", "lab/Delta")
LEVELS = {"easy1": "easy", "easy2": "easy", "hard1": "hard", "hard2": "hard", "odd": "odd"}
TASKS = tuple(LEVELS)
LISTED = "[" + ", ".join(f"{{id: {task}, where: {{level: {level}}}}}" for task, level in LEVELS.items()) + "]"
METHODS = {
    "mean": "method: mean",
    "skill_score": "method: skill_score, baseline: org/Beta",
    "group_mean": "method: group_mean, groups: {easy: [easy1, easy2], hard: [hard1, hard2]}",
}
CHOICES: Mapping[str, Choice] = {
    "entrants": Choice(entrants=("lab/Gamma", "org/Alpha", "org/Beta")),
    "tasks": Choice(tasks=("odd",), groups=("level:easy", "level:hard")),
    "weights": Choice(weights={"odd": 2.0, "easy1": 0.5}),
    "no weight": Choice(weights={"odd": 0.0}),
    "baseline": Choice(baseline="lab/Delta"),
    "described": Choice(described="open weights", within=frozenset(NAMES[:2])),
    "described as nobody is": Choice(described="of 2031", within=frozenset()),
    "its own groups": Choice(groups=("easy", "hard")),
    "one column of groups": Choice(groups=("level:easy", "level:odd")),
    "unknown": Choice(("org/Alfa",), "", ("easy9",), ("level:soft",), {"odds": 1.0, "odd": -2.0}, baseline="Nobody"),
    "nobody": Choice(matching="zzz"),
    "no task": Choice(weights=dict.fromkeys(TASKS, 0.0)),
}


def rows(values: FloatArray) -> ScoreTable:
    """Return a row for each entrant and task of values [n_entrants, n_tasks]; where NaN there is none."""
    entrant, task = np.nonzero(~np.isnan(values))
    return ScoreTable(
        entrant=Coded(NAMES, entrant),
        task=Coded(TASKS, task),
        columns=("x",),
        values=values[entrant, task].reshape(-1, 1),
        leaked=(entrant == 1) & (task == 4),
        file=np.zeros(len(entrant), dtype=np.int64),
        row=np.arange(len(entrant)),
    )


def some_rows() -> ScoreTable:
    """Return rows in which Delta has no result on the odd task."""
    values = np.random.default_rng(4).uniform(0.5, 2.0, size=(len(NAMES), len(TASKS)))
    values[3, 4] = np.nan
    return rows(values)


def benchmark(method: str) -> Manifest:
    """Return a benchmark with one board of a method."""
    return declare("evaluation_summary", "{x: {direction: minimize, min: 0, unit: s}}",
                   f"metric: x, {METHODS[method]}", "columns: {leaked: seen}", LISTED)  # fmt: skip


def explored(manifest: Manifest, choice: Choice) -> Iterator[str]:
    """Yield the board of a choice as lines, or what is wrong with the choice."""
    evidence = BoardEvidence.of_rows(manifest, some_rows())
    try:
        yield tables_as_text([chosen_board(manifest.leaderboards[0], evidence, choice)])
    except FieldRejected as refused:
        yield from (f"problem {each.column} {each.value}\n" for each in refused.problems)
    except BoardUnavailable as none:
        yield f"no board, {none.reason}\n"


@pytest.mark.parametrize("method", METHODS)
def test_a_choice_is_as_it_was(method: str) -> None:
    """Or why there is none."""
    texts = [f"## {name}\n{''.join(explored(benchmark(method), choice))}" for name, choice in CHOICES.items()]

    assert_same(f"explored-{method}", "\n".join(texts))


@pytest.mark.parametrize("method", ["mean", "group_mean", "borda"])
def test_a_board_of_the_worst_for_who_is_absent_is_as_it_was(method: str) -> None:
    """Delta has no result on the odd task, which counts as the end of the declared range."""
    own = METHODS.get(method, f"method: {method}")
    declared = declare("evaluation_summary", "{x: {direction: minimize, min: 0, max: 3}}", f"metric: x, {own}",
                       "grid: {absent: worst}", LISTED)  # fmt: skip
    tables = compute_board(declared, declared.leaderboards[0], some_rows())

    assert_same(f"worst-{method}", tables_as_text(t for t in (tables.leaderboard, tables.pairwise) if t))


def test_what_a_board_without_groups_has_to_choose_is_said() -> None:
    """Nothing: its open tasks have no columns to group them by."""
    declared = declare("evaluation_summary", "{x: {direction: minimize}}", "metric: x, method: mean")

    with pytest.raises(FieldRejected) as refused:
        understand(declared, declared.leaderboards[0], NAMES, Choice(groups=("level:hard",)))
    (problem,) = refused.value.problems
    assert (problem.column, problem.message) == ("group", "not on this board; it has none to choose")


def test_no_single_task_decides_is_said_where_the_mean_keeps_its_sign_without_each() -> None:
    """One task that outweighs the other two decides; two equals, and one task alone, say nothing of it."""
    values = np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 1.0, 1.0],
                       [0.9, 0.9, 9.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])  # fmt: skip
    manifest = benchmark("mean")
    by_task = task_values(manifest, manifest.leaderboards[0], rows(values))
    pairwise = compute_board(manifest, manifest.leaderboards[0], rows(values)).pairwise
    assert pairwise is not None
    tables = [
        differences_table(manifest.leaderboards[0], manifest.metrics["x"], by_task, (NAMES[0], other),
                          ahead_by(find_pair(pairwise, NAMES[0], other)))
        for other in NAMES[1:4]
    ]  # fmt: skip

    assert [table.notes[1:] for table in tables] == [
        ("Without any single task org/Alpha would still lead on average.",),
        ("One task decides: without hard1 lab/Gamma would lead on average.",),
        (),
    ]
    assert [(row[0], round(float(str(row[4])), 3)) for row in tables[1].rows if row[5]] == [("hard1", -0.05)]


@pytest.mark.parametrize("method", ["group_mean", "skill_score"])
def test_which_task_decides_is_said_only_where_the_board_adds_up_the_same(method: str) -> None:
    """Groups add tasks up otherwise, and so does a board that clips errors, or whose baseline's fill a gap."""
    manifest = benchmark(method)
    by_task = task_values(
        manifest, manifest.leaderboards[0], rows(np.array([[1.0] * 5, [2.0] * 5, [3.0] * 5, [4.0] * 5]))
    )
    spec, metric = manifest.leaderboards[0], manifest.metrics["x"]
    actual = differences_table(spec, metric, by_task, (NAMES[0], NAMES[1]), 0.5)

    assert actual.column_names() == ("task", "a", "b", "effect")
    assert actual.notes[-1] == "Here x is compared as it was sent; the score of the board is not the mean of these."


def test_a_board_of_values_beyond_its_range_is_as_it_was() -> None:
    """And of open tasks, of which one that half of the entrants lack is not the board's."""
    values = np.random.default_rng(4).uniform(0.5, 2.0, size=(len(NAMES), len(TASKS)))
    values[1:, 0], values[2:, 1], values[0, 2], values[1, 3] = np.nan, np.nan, 4.0, -0.5
    declared = declare("evaluation_summary", "{x: {direction: minimize, min: 0, max: 3}}", "metric: x, method: mean")
    tables = compute_board(declared, declared.leaderboards[0], rows(values))

    assert_same("open-mean", tables_as_text(t for t in (tables.leaderboard, tables.pairwise) if t))


def derived(board: Table, pairs: Table | None) -> Iterator[Table]:
    """Yield the tables that are made from a board's own: whatever it has as an axis is one once."""
    yield letters_table(board, pairs)
    yield letters_table(board, None)
    yield tradeoff_table(board, axes_of(board, None, None))
    yield tradeoff_table(board, None)
    names = [column.name for column in offered(board)]
    yield from (tradeoff_table(board, axes_of(board, x, y)) for x, y in pairwise(names[:4]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.direction}")
def test_what_is_drawn_of_a_board_is_as_it_was(case: Case) -> None:
    """With its own score and cost, and with others."""
    tables = built(case)

    assert_same(f"derived-{case.name}-{case.direction}",
                  tables_as_text(derived(tables.leaderboard, tables.pairwise)))  # fmt: skip


def test_letters_follow_the_column_that_ranks() -> None:
    """Else the first number that has an interval, whatever stands before it."""
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"),
               Column("n", "N", "integer", interval=("a", "b")), Column("plain", "Plain"),
               Column("s", "Score", interval=("low", "high")), Column("low", "Low"),
               Column("high", "High"))  # fmt: skip
    board = Table("leaderboard/b", "B", columns, ((1, "A", 5, 9.0, 2.0, 1.0, 3.0), (2, "B", 5, 9.0, 1.0, 0.0, 2.0)))
    pair = (
        Column("entrant_a", "A", "text"),
        Column("entrant_b", "B", "text"),
        Column("separable", "Separable", "flag"),
    )
    pairs = Table("pairwise/b", "B", pair, (("A", "B", False), ("B", "A", False)))
    asked = [board, replace(board, meta={"rank_by": "plain"})]

    assert_same("letters-score", tables_as_text(letters_table(each, pairs) for each in asked))


def test_who_wins_a_task_is_as_it_was() -> None:
    """Of several metrics the first that a mean may be of, with its title, unit and direction."""
    columns = (Column("entrant", "Entrant", "text"), Column("item", "Item", "text"), Column("err", "Error"))
    rows_of_task = [(name, str(at), value + at) for name, value in zip("ABCDEFG", (2, 1, 1, 1, 1, 1, 1), strict=True)
                    for at in range(1 if name == "A" else 2)]  # fmt: skip
    table = Table("task/t", "t", columns, tuple(rows_of_task))
    of_each = {"bad": {}, "ends": {"title": "Seconds", "unit": "s"}, "up": {"direction": "maximize"}}
    shown = [
        standing_on_task(table, {"err": Metric(**({"direction": "minimize"} | more))}) for more in of_each.values()
    ]

    assert_same("one-task", tables_as_text(each for each in shown if each is not None))


def tasks_of(manifest: Manifest, scores: ScoreTable, order: Sequence[str]) -> Iterator[Table]:
    """Yield the matrix of a board and two of its entrants task by task, whoever is first of the two."""
    spec, metric = manifest.leaderboards[0], manifest.metrics["x"]
    by_task = task_values(manifest, spec, scores)
    yield matrix_table(spec, metric, by_task, order)
    yield matrix_table(spec, titled(metric), by_task, ())
    yield from (differences_table(spec, metric, by_task, pair) for pair in ((NAMES[0], NAMES[3]), (NAMES[1], NAMES[0])))
    yield places_table(spec, metric, by_task, {"hard": TASKS[:2], "each": TASKS}, NAMES[1], {"lead": NAMES[0]})


def titled(metric: Metric) -> Metric:
    """Return the metric under a title, the other way round."""
    return metric.model_copy(update={"title": "Seconds", "direction": "maximize"})


@pytest.mark.parametrize("method", METHODS)
def test_values_by_task_are_as_they_were(method: str) -> None:
    """Also those of a task that the board does not list, which are nobody's."""
    manifest = benchmark(method)
    board = compute_board(manifest, manifest.leaderboards[0], some_rows()).leaderboard
    order = [str(row["entrant"]) for row in board.records()]
    stray = replace(some_rows(), task=Coded((*TASKS[:-1], "unlisted"), some_rows().task.codes))

    tables = [*tasks_of(manifest, some_rows(), order), *tasks_of(manifest, stray, order)]
    assert_same(f"tasks-{method}", tables_as_text(tables))
