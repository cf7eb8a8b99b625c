"""The tables behind a board's pictures: who shares a letter, who is on the front, what each has on each task."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from app.boards.coverage import PARTIAL
from app.boards.example import benchmark as small
from app.boards.example import rows as small_rows
from app.boards.methods.weighted_rank.records import WeightedRank
from app.boards.task_values import (
    MOST_CELLS,
    differences_table,
    matrix_table,
    metrics_of_means,
    places_table,
    side_by_side,
    standing_on_task,
    task_values,
)
from app.boards.tradeoff import axes_of, offered, tradeoff_table, with_years
from app.kinds.parse import parse_manifest
from app.kinds.registry import counted_rows
from app.manifest.model import Manifest, Metric
from app.render.drawings import build_drawings, draw_tradeoff
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, Column, Table
from tests.cases.admission import grid, table
from tests.cases.boards import declare
from tests.cases.chamber import MANIFEST

Way = Literal["minimize", "maximize"] | None
COLUMNS = (
    Column("rank", "Rank", "integer"),
    Column("entrant", "Entrant", "text"),
    Column("score", "Score", direction="maximize", interval=("score_low", "score_high")),
    Column("score_low", "Score, low", detail=True),
    Column("score_high", "Score, high", detail=True),
    Column("time_s", "Time", unit="s", direction="minimize"),
)
ROWS: tuple[tuple[Cell, ...], ...] = (
    (1, "Slow", 3.0, 2.5, 3.5, 100.0),
    (2, "Quick", 2.0, 1.5, 2.6, 1.0),
    (3, "Near", 1.9, 1.4, 2.5, 2.0),
    (4, "Beaten", 1.0, 0.5, 1.5, 50.0),
)


def board(*rows: tuple[Cell, ...]) -> Table:
    """Return a board with these rows."""
    return Table("leaderboard/b", "B", COLUMNS, rows or ROWS, (), {"rank_by": "score"})


def test_the_front_is_who_nobody_beats_in_both() -> None:
    """Near is beaten by Quick in both, but its interval reaches above it."""
    table = tradeoff_table(board(), axes_of(board(), None, None))
    rows = {row[0]: row[-2:] for row in table.rows}

    assert (table.meta["x"], table.meta["y"]) == ("time_s", "score")
    assert rows == {"Quick": (True, True), "Near": (False, True), "Beaten": (False, False), "Slow": (True, True)}


@pytest.mark.parametrize("seed", [0, 2, 4])
@pytest.mark.parametrize("x_way", ["minimize", "maximize", None])
@pytest.mark.parametrize("y_way", ["maximize", "minimize", None])
def test_the_front_is_that_of_the_definition_whichever_way_is_better(x_way: Way, y_way: Way, seed: int) -> None:
    """Twelve entrants on few values, so that many are tied in one or in both; some without an interval or a cost."""
    rng = np.random.default_rng(seed)
    costs, scores = rng.integers(0, 5, (2, 12)).astype(float).tolist()
    halves = [None if at % 5 == 3 else float(of) for at, of in enumerate(rng.random(12) * 2)]
    columns = (*COLUMNS[:2], replace(COLUMNS[2], direction=y_way), *COLUMNS[3:5], replace(COLUMNS[5], direction=x_way))
    rows = tuple(
        (at + 1, f"e{at:02}", score, None if half is None else score - half, None if half is None else score + half,
         None if at == 11 else cost)
        for at, (cost, score, half) in enumerate(zip(costs, scores, halves, strict=True))
    )  # fmt: skip
    turned = replace(board(), columns=columns, rows=rows)
    drawn = tradeoff_table(turned, axes_of(turned, "time_s", "score"))
    cost = [each if x_way != "maximize" else -each for each in costs[:11]]
    score = [each if y_way != "minimize" else -each for each in scores[:11]]
    best = [of + (half or 0.0) for of, half in zip(score, halves, strict=False)]
    rivals = [[b for b in range(11) if b != a and cost[b] <= cost[a]] for a in range(11)]
    on = [not any(score[b] >= score[a] and (cost[b], score[b]) != (cost[a], score[a]) for b in rivals[a])
          for a in range(11)]  # fmt: skip
    may = [on[a] or all(score[b] <= best[a] for b in rivals[a]) for a in range(11)]

    assert 0 < sum(on) < sum(may) < 11
    assert {row[0]: row[5:] for row in drawn.rows} == {f"e{a:02}": (on[a], may[a]) for a in range(11)}
    assert [row[:5] for row in drawn.rows] == [
        (rows[a][1], costs[a], *rows[a][2:5])
        for a in sorted(range(11), key=lambda a: (costs[a], not on[a], a))
    ]  # fmt: skip
    assert [column.direction for column in drawn.columns[1:3]] == [x_way or "minimize", y_way or "maximize"]
    assert drawn.notes[1] == f"{sum(on)} of 11 are on the front."


def test_axes_are_what_ranks_and_the_first_cost_unless_others_are_asked_for() -> None:
    """Of costs one that is no detail comes first; a column that is the same for all is none."""
    more = (Column("cost_a", "A", detail=True), Column("size_b", "B"), Column("price_c", "C"), Column("same_time", "D"),
            Column("time_of_some", "E"))  # fmt: skip
    rows = tuple((*row[:5], at, 5 - at, at, 7.0, None if at else 1.0) for at, row in enumerate(ROWS))
    many = replace(board(), columns=(*COLUMNS[:5], *more), rows=rows)

    def axes(*asked: str | None, meta: dict[str, str] | None = None) -> tuple[str, str] | None:
        found = axes_of(many if meta is None else replace(many, meta=meta), *asked)
        return None if found is None else (found.x.name, found.y.name)

    assert [column.name for column in offered(many)] == ["score", "cost_a", "size_b", "price_c"]
    assert axes(None, None) == ("size_b", "score")
    assert axes("cost_a", None) == ("cost_a", "score")
    assert axes(None, "size_b") == ("price_c", "size_b")
    assert axes("score", "price_c") == ("score", "price_c")
    assert axes(None, None, meta={"rank_by": "gone"}) == ("size_b", "score")
    assert axes_of(replace(board(), columns=COLUMNS[:5], rows=tuple(row[:5] for row in ROWS)), None, None) is None
    with pytest.raises(KeyError, match="same_time"):
        axes("same_time", None)


def test_who_is_shown_to_be_worse_than_a_cheaper_one_may_not_be_on_the_front() -> None:
    """The pairs of the board decide, not whether intervals overlap; of a pair that they lack, the intervals do."""
    columns = (Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text"), Column("separable", "", "flag"))
    ranked = replace(board(), columns=(*COLUMNS, Column("rank_low", "Rank, low", "integer")),
                     rows=tuple((*row, low) for row, low in zip(ROWS, (1, 1, 2, 3), strict=True)))  # fmt: skip

    def may_be(*pairs: tuple[Cell, ...]) -> bool:
        each = Table("pairwise/main", "Pairs", columns, pairs)
        return {row[0]: row[-1] for row in tradeoff_table(ranked, axes_of(ranked, None, None), each).rows}["Near"]

    assert not may_be(("Quick", "Near", True), ("Near", "Quick", True))
    assert may_be(("Quick", "Near", False), ("Near", "Quick", False))
    assert may_be(("Quick", "Beaten", True))
    assert may_be(("Slow", "Near", True))
    assert may_be(("Gone", "Near", True), ("Near", "Gone", True))


def test_a_front_says_what_must_be_known_of_the_pairs_where_they_decide() -> None:
    """As every page does that says who is told apart; without a pair that was tested there is nothing to know."""
    columns = (Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text"), Column("separable", "", "flag"))

    def notes(*pairs: tuple[Cell, ...]) -> tuple[str, ...]:
        each = Table("pairwise/main", "Pairs", columns, pairs, (), {"caveats": ["Few tasks."]})
        return tradeoff_table(board(), axes_of(board(), None, None), each).notes

    assert notes(("Quick", "Near", False))[-1] == "Few tasks."
    assert "with all pairs of the board tested at once" in notes(("Quick", "Near", False))[0]
    assert "Few tasks." not in notes()


def test_who_has_no_rank_is_not_on_the_front_and_keeps_nobody_off_it() -> None:
    """Whoever leaves out what is hard or slow has the best score at the least cost."""
    sly = (None, "Sly", 9.0, 8.5, 9.5, 0.1)
    with_sly = tradeoff_table(board(*ROWS, sly), axes_of(board(), None, None))
    rows = {row[0]: row[-2:] for row in with_sly.rows}

    assert rows == {
        "Sly": (None, None), "Quick": (True, True), "Near": (False, True), "Beaten": (False, False),
        "Slow": (True, True),
    }  # fmt: skip
    assert with_sly.notes[-1] == "Left out of the front, without a rank: Sly."


def test_how_much_was_delivered_is_no_cost() -> None:
    """Fewer episodes are no saving."""
    counts = [Column("n_episodes", "Episodes", "integer", glossary="counts"), Column("attempt", "Attempt", "integer",
              glossary="attempts"), Column("n_failed", "Failed", "integer", glossary="coverage")]  # fmt: skip
    columns = (*COLUMNS, *counts)
    counted = Table("leaderboard/b", "B", columns, tuple((*row, at, at, at) for at, row in enumerate(ROWS)))

    assert {column.name for column in offered(counted)} == {column.name for column in offered(board())}


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SKILL = "method: skill_score, baseline: A"


def benchmark(method: str, n_tasks: int = 3, direction: str = "minimize") -> Manifest:
    """Return a benchmark of errors on tasks t1, t2 … with one board."""
    tasks = ", ".join(f"{{id: t{at + 1}}}" for at in range(n_tasks))
    metrics = f"{{x: {{direction: {direction}, min: 0}}}}"
    return declare("evaluation_summary", metrics, f"metric: x, {method}", "", f"[{tasks}]")


def scores(*cells: tuple[str, str, float, bool]) -> ScoreTable:
    """Return rows of entrant, task, value and whether the data leaked."""
    names, tasks = (tuple(sorted({cell[at] for cell in cells})) for at in (0, 1))
    return ScoreTable(
        entrant=Coded(names, np.array([names.index(cell[0]) for cell in cells])),
        task=Coded(tasks, np.array([tasks.index(cell[1]) for cell in cells])),
        columns=("x",),
        values=np.array([[cell[2]] for cell in cells]),
        leaked=np.array([cell[3] for cell in cells]),
        file=np.zeros(len(cells), dtype=np.int64),
        row=np.arange(len(cells)),
    )


CELLS = scores(("A", "t1", 1.0, False), ("A", "t2", np.nan, False), ("A", "t3", 3.0, True), ("B", "t1", 2.0, False))


@pytest.mark.parametrize(
    ("method", "states"),
    [
        ("method: mean", ["value", "no value", "leaked", "value", "absent", "absent"]),
        ("method: skill_score, baseline: A, missing: impute", ["value", "leaked", "value", "imputed"]),
    ],
)
def test_the_matrix_says_what_is_not_as_asked(method: str, states: list[str]) -> None:
    """A row without a value failed, no row is absent; a board that imputes says so of both; leaked data are marked.

    Tasks on which the baseline has no value are none.
    """
    manifest = benchmark(method)
    spec = manifest.leaderboards[0]
    actual = matrix_table(spec, manifest.metrics["x"], task_values(manifest, spec, CELLS), ["A", "B"])

    assert [row[-1] for row in actual.rows] == states
    assert [row[3] for row in actual.rows if row[1] == "t1"] == [1.0, 0.0]


def test_too_large_a_matrix_is_no_picture() -> None:
    """It says how large it is, and has no rows."""
    manifest = benchmark("method: mean")
    n = MOST_CELLS // 3 + 1
    rows = replace(CELLS, entrant=Coded(tuple(f"E{at}" for at in range(n)), CELLS.entrant.codes))
    spec = manifest.leaderboards[0]
    actual = matrix_table(spec, manifest.metrics["x"], task_values(manifest, spec, rows), [])

    assert actual.rows == ()
    assert f"{n:,} entrants on 3 tasks" in actual.notes[0]


def test_the_largest_matrix_is_drawn() -> None:
    """Of as many cells as a picture has at most, here of one task."""
    manifest = benchmark("method: mean", n_tasks=1)
    rows = replace(CELLS, entrant=Coded(tuple(f"E{at}" for at in range(MOST_CELLS)), CELLS.entrant.codes))
    spec = manifest.leaderboards[0]
    actual = matrix_table(spec, manifest.metrics["x"], task_values(manifest, spec, rows), [])

    assert len(actual.rows) == MOST_CELLS


def test_tasks_that_nobody_listed_are_in_the_order_of_their_names() -> None:
    """In whatever order they came."""
    manifest = declare("evaluation_summary", "{x: {direction: minimize}}", "metric: x, method: mean")
    rows = replace(CELLS, task=Coded(("t3", "t1", "t2"), CELLS.task.codes))

    assert task_values(manifest, manifest.leaderboards[0], rows).tasks == ("t1", "t2", "t3")


def test_a_board_that_ranks_by_size_alone_shows_its_values_by_task_all_the_same() -> None:
    """A bias is no mean that compares entrants, and there is nothing else."""
    spec = WeightedRank(name="main", method="weighted_rank", weights={"bias": 1.0})
    manifest = small(spec).model_copy(update={"metrics": {"bias": Metric(direction="minimize")}})
    by_task = task_values(manifest, spec, small_rows({"A": [-0.5, 0.5]}, "bias"))

    assert (by_task.metric, by_task.values[:2, 0].tolist()) == ("bias", [-0.5, 0.5])


AS_SENT = "Here x is compared as it was sent; the score of the board is not the mean of these."


@pytest.mark.parametrize(
    ("method", "a", "b", "on_board", "rows", "notes"),
    [
        # Ahead as often as behind, by as much, and equal once: without no task anybody leads.
        ("mean", (1.0, 2.0, 3.0), (2.0, 2.0, 2.0), 1e-12,
         [("t1", 1.0, -0.5, False), ("t3", -1.0, 0.5, False), ("t2", 0.0, 0.0, False)],
         ["A is ahead on 1 of 3 tasks, B on 1."]),
        ("mean", (1.0, 1.0), (4.0, 0.0), 1.0, [("t1", 3.0, -1.0, True), ("t2", -1.0, 3.0, False)],
         ["A is ahead on 1 of 2 tasks, B on 1.", "One task decides: without t1 B would lead on average."]),
        ("mean", (1.0,), (2.0,), 1.0, [("t1", 1.0, None, False)], ["A is ahead on 1 of 1 task, B on 0."]),
        ("mean", (1.0,), (2.0,), None, [("t1", 1.0)], ["A is ahead on 1 of 1 task, B on 0."]),
        ("mean", (1.0, 1.0, None), (2.0, 2.0, 2.0), 1.0, [("t1", 1.0), ("t2", 1.0)],
         ["A is ahead on 2 of 2 tasks, B on 0.", "Tasks that one or both lack are left out: 1.", AS_SENT]),
        ("borda", (1.0, 1.0), (2.0, 2.0), 1.0, [("t1", 1.0), ("t2", 1.0)],
         ["A is ahead on 2 of 2 tasks, B on 0.", AS_SENT]),
    ],
)  # fmt: skip
def test_two_are_compared_task_by_task(
    method: str,
    a: Sequence[float | None],
    b: Sequence[float | None],
    on_board: float | None,
    rows: list[tuple[Cell, ...]],
    notes: list[str],
) -> None:
    """Largest difference first; what a single task decides only where the board's score is the mean of all of them."""
    manifest = benchmark(f"method: {method}", len(a))
    cells = [(name, f"t{at}", value, False) for name, own in (("A", a), ("B", b)) for at, value in enumerate(own, 1)
             if value is not None]  # fmt: skip
    spec = manifest.leaderboards[0]
    by_task = task_values(manifest, spec, scores(*cells))
    actual = differences_table(spec, manifest.metrics["x"], by_task, ("A", "B"), on_board)

    assert [(row[0], *row[3:]) for row in actual.rows] == rows
    assert list(actual.notes) == notes


def test_of_a_score_of_several_metrics_it_is_said_that_one_is_compared() -> None:
    """And not that it is compared as it was sent: the score is no mean of any of them."""
    spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 0.5, "error": 0.5})
    by_task = task_values(small(spec), spec, small_rows(metric="mae"))
    actual = differences_table(spec, small(spec).metrics["mae"], by_task, ("Good", "Fair"))

    assert actual.notes == (
        "Here mae alone is compared, one component of the score.",
        "Good is ahead on 3 of 3 tasks, Fair on 0.",
    )


def test_ratios_are_held_against_each_other_as_logarithms() -> None:
    """Half of the other's error is as much as twice of it is little."""
    manifest = benchmark(SKILL)
    rows = scores(("A", "t1", 1.0, False), ("A", "t2", 4.0, False), ("B", "t1", 2.0, False), ("B", "t2", 2.0, False))
    spec = manifest.leaderboards[0]
    actual = differences_table(spec, manifest.metrics["x"], task_values(manifest, spec, rows), ("A", "B"))

    assert sorted(round(float(str(row[3])), 6) for row in actual.rows) == [-0.693147, 0.693147]


def test_who_lacks_values_of_a_task_has_no_place_on_it() -> None:
    """Whoever leaves out the record that was hard would be first."""
    columns = (Column("entrant", "Entrant", "text"), Column("record", "Record", "text"), Column("mae", "Error"))
    own = {"A": (1.0, 3.0), "B": (2.0, 2.5), "sly": (0.1,)}
    rows = tuple((name, str(at), value) for name, values in own.items() for at, value in enumerate(values))
    actual = standing_on_task(Table("task/t", "t", columns, rows), {"mae": Metric(direction="minimize")})

    assert actual is not None
    assert actual.rows == ((1, "A", 2.0), (2, "B", 2.25), (None, "sly", 0.1))
    assert actual.notes[0] == "First: A with 2."
    assert actual.notes[-1] == "Without a place, with fewer values here than most: sly."


def test_a_signed_bias_decides_no_task() -> None:
    """The lowest of them is not the best one, and the mean of squared errors is no root of it: the next metric does."""
    manifest = parse_manifest((EXAMPLES / "lrdbench-canonical" / "manifest.yaml").read_bytes())

    assert {"bias", "rmse"} <= set(manifest.metrics)
    assert next(iter(metrics_of_means(manifest, manifest.leaderboards))) == "mae"
    assert not {"bias", "rmse"} & set(metrics_of_means(manifest, manifest.leaderboards))

    named_so = declare("evaluation_summary", "{bias: {direction: minimize}}", "metric: bias, method: mean")
    assert list(metrics_of_means(named_so, named_so.leaderboards)) == ["bias"]


def test_the_matrix_says_whose_values_may_be_of_a_part_of_a_task() -> None:
    """Its values are marked and nobody is placed against them; what it lacks or has seen is said as of anybody."""
    manifest = benchmark("method: mean")
    spec = manifest.leaderboards[0]
    by_task = task_values(manifest, spec, CELLS)
    actual = matrix_table(spec, manifest.metrics["x"], by_task, ["A", "B"], partial=["B"])

    assert [row[-1] for row in actual.rows] == ["value", "no value", "leaked", PARTIAL, "absent", "absent"]
    assert actual.notes[1:] == ("Without a place, for their values may be of a part of a task: B.",)
    assert matrix_table(spec, manifest.metrics["x"], by_task, ["A", "B"]).notes == actual.notes[:1]
    assert [row[3] for row in actual.rows] == [None] * 6


def test_who_was_the_best_when_is_drawn_over_days() -> None:
    """The axis names years, and each dot its day; no number has a comma."""
    days = ("2023-03-01", "2025-07-02", "2024-01-01", "2024-09-09")
    score = replace(COLUMNS[2], digits=2)
    columns = (*COLUMNS[:2], score, *COLUMNS[3:], Column("released", "Released", "text"))
    rows = tuple((*row, day) for row, day in zip(ROWS, days, strict=True))
    table = Table("leaderboard/b", "B", columns, rows, (), {"rank_by": "score", "entrant_fields": {"released": "date"}})
    dated = with_years(table)
    axes = axes_of(dated, "released", "score")
    assert axes is not None
    drawn = tradeoff_table(dated, axes)
    figure = draw_tradeoff(drawn, drawn.meta["plot"])
    assert figure is not None
    texts = [shape.text for shape in figure.shapes]

    assert [(column.direction, column.digits) for column in drawn.columns[1:5]] == [
        (None, 3), ("maximize", 2), (None, 2), (None, 2)
    ]  # fmt: skip
    assert drawn.meta["shown_as"]["x"]["2,025.499"] == "2025-07-02"
    assert {"2024", "2025"} <= set(texts)
    assert "Quick: Score 2, Released 2025-07-02" in str(figure.shapes)
    assert [text for text in texts if "," in text] == []


def test_the_tasks_of_an_entrant_are_listed_by_the_share_of_others_that_it_is_behind() -> None:
    """Second of three comes before second of two; the first of two, and whoever is alone, before both."""
    manifest = benchmark("method: mean")
    cells = {"t1": {"A": 2.0, "B": 1.0}, "t2": {"A": 2.0, "B": 1.0, "C": 3.0}, "t3": {"A": 1.0, "B": 2.0}}
    rows = scores(*((name, task, value, False) for task, own in cells.items() for name, value in own.items()))
    spec = manifest.leaderboards[0]
    by_task = task_values(manifest, spec, rows)
    actual = places_table(spec, manifest.metrics["x"], by_task, {task: [task] for task in by_task.tasks}, "A")

    assert [(row[0], row[2], row[3]) for row in actual.rows] == [("t3", 1, 2), ("t2", 2, 3), ("t1", 2, 2)]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_places_are_in_the_order_of_shares_and_of_names_where_these_are_the_same(direction: str) -> None:
    """Third of four is better than last of two; whoever is alone is first. Parts that one lacks, or nobody has, are not
    there, and neither are others without rows.
    """
    manifest = benchmark("method: mean", 4, direction)
    values = {"t1": {"A": 2.0, "B": 1.0}, "t2": {"A": 3.0, "B": 1.0, "C": 2.0, "D": 4.0}, "t3": {"A": 5.0},
              "t4": {"B": 1.0}}  # fmt: skip
    sign = 1.0 if direction == "minimize" else -1.0
    rows = scores(*((name, task, 9.0 + sign * value, False) for task, own in values.items()
                    for name, value in own.items()))  # fmt: skip
    parts = {"gone": ["t9"], "lacked": ["t4"], "last": ["t1"], "so": ["t2"], "alone": ["t3"], "a like": ["t3"]}
    spec, beside = manifest.leaderboards[0], {"Gone": "Next above: Gone", "B": "Next below: B"}
    by_task = task_values(manifest, spec, rows)
    actual = places_table(spec, manifest.metrics["x"], by_task, parts, "A", beside, "Group")

    assert [(row[0], row[2], row[3], row[4]) for row in actual.rows] == [
        ("a like", 1, 1, "A"), ("alone", 1, 1, "A"), ("so", 3, 4, "B"), ("last", 2, 2, "B"),
    ]  # fmt: skip
    assert [row[5] for row in actual.rows] == [None, None, 9.0 + sign, 9.0 + sign]
    assert [column.title for column in actual.columns] == ["Group", "x", "Place", "Among", "Best", "Next below: B"]


def test_places_say_whom_they_count() -> None:
    """Who lacks one task of a group has no place in the group, and one on each other task."""
    manifest = benchmark("method: mean")
    rows = scores(("A", "t1", 1.0, False), ("A", "t2", 4.0, False), ("B", "t1", 2.0, False))
    spec, metric = manifest.leaderboards[0], manifest.metrics["x"]
    by_task = task_values(manifest, spec, rows)
    of_task = places_table(spec, metric, by_task, {"t1": ["t1"]}, "B")
    of_group = places_table(spec, metric, by_task, {"g": ["t1", "t2"]}, "A", title="Task group")

    assert [row[2:4] for table in (of_task, of_group) for row in table.rows] == [(2, 2), (1, 1)]
    assert places_table(spec, metric, by_task, {"g": ["t1", "t2"]}, "B", title="Task group").rows == ()
    assert of_task.notes == ("Places count only entrants with a result on the task. They are not tested.",)
    assert of_group.notes == ("Places count only entrants with all tasks of the group. They are not tested.",)


def test_two_are_compared_on_the_tasks_of_both_and_how_many_are_left_out_is_said() -> None:
    """Nothing is said of it where both have all."""
    manifest = benchmark("method: mean")
    spec = manifest.leaderboards[0]
    both = [(name, task, value, False) for name, value in (("A", 1.0), ("B", 2.0)) for task in ("t1", "t2", "t3")]
    for rows, said in ((both, []), (both[:-1], ["Tasks that one or both lack are left out: 1."])):
        by_task = task_values(manifest, spec, scores(*rows))
        notes = differences_table(spec, manifest.metrics["x"], by_task, ("A", "B")).notes
        assert [note for note in notes if "left out" in note] == said


@pytest.mark.parametrize(
    ("leaks", "model", "said"),
    [
        (True, "B", ("A leaked cell shows the entrant's own value; the board counts that of B there.",)),
        (True, "Gone", ("A leaked cell shows the entrant's own value; the board does not count it.",)),
        (False, "B", ()),
    ],
)
def test_the_matrix_says_what_a_board_counts_for_a_leaked_value(leaks: bool, model: str, said: tuple[str, ...]) -> None:
    """The picture shows values as they were sent; without a leaked one there is nothing to say."""
    manifest = benchmark(f"{SKILL}, leakage_model: {model}")
    rows = scores(("A", "t1", 1.0, leaks), ("A", "t2", 4.0, False), ("B", "t1", 2.0, False), ("B", "t2", 2.0, False))
    spec = manifest.leaderboards[0]
    actual = matrix_table(spec, manifest.metrics["x"], task_values(manifest, spec, rows), ["A", "B"])

    assert actual.notes[1:] == said


def test_two_without_a_common_task_are_not_compared() -> None:
    """There are no rows, and a sentence."""
    manifest = benchmark("method: mean")
    rows = scores(("A", "t1", 1.0, False), ("B", "t2", 2.0, False))
    spec = manifest.leaderboards[0]
    actual = differences_table(spec, manifest.metrics["x"], task_values(manifest, spec, rows), ("A", "B"))

    assert (actual.rows, actual.notes) == ((), ("The two have no task in common.",))


def test_a_task_that_one_entrant_has_has_no_winner() -> None:
    """Nothing is said."""
    columns = (Column("entrant", "Entrant", "text"), Column("err", "Error"))

    assert standing_on_task(Table("t", "t", columns, (("A", 1.0),)), {"err": Metric(direction="minimize")}) is None


def test_equals_share_a_place_in_the_order_of_their_names_and_half_of_them_say_how_many_values_are_whole() -> None:
    """Of four, two of whom have both values, the other two have no place."""
    columns = (Column("entrant", "Entrant", "text"), Column("err", "Error"))
    rows = (("D", 0.5), ("B", 0.5), ("B", 0.5), ("A", 0.5), ("A", 0.5), ("C", 0.1))
    actual = standing_on_task(Table("t", "t", columns, rows), {"err": Metric(direction="minimize")})
    assert actual is not None

    assert [row[:2] for row in actual.rows] == [(1, "A"), (1, "B"), (None, "C"), (None, "D")]


@pytest.mark.parametrize("columns", [("entrant", "seconds"), ("record", "err")])
def test_rows_without_entrants_or_without_a_metric_have_no_winner(columns: tuple[str, str]) -> None:
    """A table of something else is shown as it is, without a picture of who wins."""
    named = (Column(columns[0], "Name", "text"), Column(columns[1], "Value"))
    table = Table("t", "t", named, (("A", 1.0), ("B", 2.0)))

    assert standing_on_task(table, {"err": Metric(direction="minimize")}) is None


def test_tasks_are_drawn_under_the_names_in_their_table() -> None:
    """The matrix, two entrants task by task, and who wins a task have a picture each beside their rows."""
    manifest = benchmark("method: mean")
    spec, metric = manifest.leaderboards[0], manifest.metrics["x"]
    rows = scores(("A", "t1", 1.0, False), ("A", "t2", 4.0, False), ("B", "t1", 2.0, False), ("B", "t2", 2.0, False))
    by_task = task_values(manifest, spec, rows)
    columns = (Column("entrant", "Entrant", "text"), Column("x", "Error"))
    of_task = standing_on_task(Table("task/t1", "t1", columns, (("A", 1.0), ("B", 2.0))), manifest.metrics)
    assert of_task is not None
    tables = {
        "matrix": (matrix_table(spec, metric, by_task, ["A", "B"]), {"A", "B", "t1", "t2"}),
        "two": (differences_table(spec, metric, by_task, ("A", "B")), {"t1", "t2"}),
        "one task": (of_task, set()),
    }

    for name, (each, words) in tables.items():
        (drawn,) = build_drawings(each).shown
        assert name == "one task" or drawn.figure is not None
        assert words <= {shape.text for shape in (drawn.figure.shapes if drawn.figure else ())}


def test_values_by_task_count_what_an_entrant_lacks_as_its_board_does() -> None:
    """Where absent episodes count as the worst, half of them missing is half of the value, and the task is named so."""
    declared = parse_manifest(MANIFEST + b"\ngrid: {seeds: 5, conditions: [left, right], items: 4, absent: worst}\n")
    spec = declared.leaderboards[0]
    rows = table([*grid(), *grid(conditions=("left",), entrant="lacking")], ("success", "violation"))
    counted = task_values(declared, spec, rows, counted_rows(declared, spec))
    plain = task_values(declared, spec, rows)

    assert counted.entrants == plain.entrants == ("mover", "lacking")
    assert (counted.tasks, counted.metric) == (("place",), "success")
    assert (counted.values.tolist(), plain.values.tolist()) == ([[1.0, 0.5]], [[1.0, 1.0]])


def test_an_axis_of_costs_begins_at_nothing() -> None:
    """Names need room beside the cheapest, which is no cost below 0; what costs nothing stands before the powers."""
    rows = [(rank, f"{rank}", 5.0 - rank, 4.5 - rank, 5.5 - rank, cost) for rank, cost in enumerate((5e9, 2e7, 0.0), 1)]
    free, alike = (tradeoff_table(table, axes_of(table, "time_s", "score")) for table in (board(*rows), board(*rows[:1],
                   (2, "2", 1.0, 0.5, 1.5, 1e9))))  # fmt: skip
    drawn = [draw_tradeoff(table, table.meta["plot"]) for table in (free, alike)]
    ticks = [[shape.text for shape in each.shapes if shape.look == "tick"] for each in drawn if each is not None]

    assert {"0", "100 M", "1 B"} <= set(ticks[0])
    assert not any(text.startswith("−") for text in ticks[1])


def test_a_task_without_a_result_has_no_standing() -> None:
    """Neither where nobody has a row on it, nor where those that are there have no value."""
    columns = (Column("entrant", "Entrant", "text"), Column("err", "Error"))
    for rows in ((), (("A", None), ("B", None))):
        table = Table("task/t", "t", columns, rows)
        assert standing_on_task(table, {"err": Metric(direction="minimize")}) is None


def test_who_has_seen_a_task_has_no_place_on_it_and_is_ahead_of_nobody_there() -> None:
    """A model that saw a task's data would be first on it, and ahead on it of whom it is compared with."""
    columns = (Column("entrant", "Entrant", "text"), Column("err", "Error"), Column("leaked", "Leaked", "flag"))
    rows = (("Seer", 0.1, True), ("A", 0.2, False), ("B", 0.3, False))
    metrics = {"err": Metric(direction="minimize")}
    table = Table("task/t", "t", columns, rows)
    as_counted, as_sent = (standing_on_task(table, metrics, without_leaks=each) for each in (True, False))
    assert as_counted is not None
    assert as_sent is not None

    assert [(row[0], row[1]) for row in as_counted.rows] == [(1, "A"), (2, "B"), (None, "Seer")]
    assert as_counted.notes[-1] == "Without a place, said to have seen the data of this task: Seer."
    assert as_sent.rows[0][:2] == (1, "Seer")

    manifest = benchmark(f"{SKILL}, leakage_model: B")
    sent = scores(("A", "t1", 1.0, True), ("A", "t2", 4.0, False), ("B", "t1", 2.0, False), ("B", "t2", 2.0, False))
    spec = manifest.leaderboards[0]
    by_task = task_values(manifest, spec, sent)
    apart = differences_table(spec, manifest.metrics["x"], by_task, ("A", "B"), -float(np.log(2.0)))
    beside = side_by_side(matrix_table(spec, manifest.metrics["x"], by_task, ["A", "B"]), ["A", "B"], None)

    assert [row[0] for row in apart.rows] == ["t2"]
    assert apart.notes == (
        "A is ahead on 0 of 1 task, B on 1.",
        "Tasks whose data one of them is said to have seen are left out: 1.",
        AS_SENT,
    )
    lacking = scores(("A", "t1", 1.0, True), ("A", "t2", 4.0, False), ("B", "t2", 2.0, False))
    by_task = task_values(manifest, spec, lacking)
    left = differences_table(spec, manifest.metrics["x"], by_task, ("A", "B")).notes[1:]
    assert left == ("Tasks that one or both lack are left out: 1.", AS_SENT)
    assert beside.notes == ("Values of tasks whose data an entrant has seen are shown as they were sent: A 1.",)
