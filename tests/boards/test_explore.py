"""A board as a reader would have it: the same method on what was chosen, and labelled as a choice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from app.boards.evidence import NOBODY, BoardEvidence, LeftOut, Standing, board_of
from app.boards.example import EPISODES, measured
from app.boards.example import benchmark as of_board
from app.boards.explore import AFTERWARDS, FEWER, LABEL, QUICK, QUICK_FROM, Choice, chosen_board
from app.boards.measured import Measurement
from app.boards.methods.estimate import EstimateBoard
from app.errors import FieldRejected
from app.jobs.evidence import MOST_MEASURED_ROWS, MOST_ROWS, RowsInMemory, for_a_reader
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest, Task
from app.render.table_page import explore_form
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from tests.cases import prediction_boards
from tests.cases.boards import declare
from tests.cases.chamber import MANIFEST as CHAMBER

TASKS = ("easy1", "easy2", "hard1", "hard2", "hard3", "odd")
LISTED = "[" + ", ".join(f"{{id: {task}, where: {{level: {task.rstrip('123')}}}}}" for task in TASKS) + "]"
NAMES = ("org/Alpha", "org/Beta", "lab/Gamma", "lab/Delta")
GROUPS = "groups: {easy: [easy1, easy2], hard: [hard1, hard2, hard3]}"
METHODS = {
    "mean": "method: mean",
    "borda": "method: borda",
    "mean_rank": "method: mean_rank",
    "mean_win_rate": "method: mean_win_rate",
    "skill_score": "method: skill_score, baseline: org/Beta",
    "group_mean": f"method: group_mean, {GROUPS}",
}


def benchmark(method: str, more: str = "") -> Manifest:
    """Return a benchmark with one board of a method."""
    return declare("evaluation_summary", "{x: {direction: minimize, min: 0}}", f"metric: x, {METHODS[method]}{more}",
                   "", LISTED)  # fmt: skip


def scores(names: Sequence[str] = NAMES, tasks: Sequence[str] = TASKS) -> ScoreTable:
    """Return a row for each of the names and tasks; the numbers of a cell are the same in every table."""
    rng = np.random.default_rng(4)
    cells = dict(zip(NAMES, rng.uniform(0.5, 2.0, size=(len(NAMES), len(TASKS))), strict=True))
    values = np.array([[cells[name][TASKS.index(task)] for task in tasks] for name in names])
    at = np.arange(values.size)
    return ScoreTable(
        entrant=Coded(tuple(names), at // len(tasks)),
        task=Coded(tuple(tasks), at % len(tasks)),
        columns=("x",),
        values=values.reshape(-1, 1),
        leaked=np.zeros(len(at), dtype=np.bool_),
        file=np.zeros(len(at), dtype=np.int64),
        row=at,
    )


def explored(
    manifest: Manifest, choice: Choice, rows: ScoreTable | None = None, open_tasks: Sequence[Task] = ()
) -> Table:
    """Return the board of a choice."""
    result = scores() if rows is None else rows
    evidence = replace(BoardEvidence.of_rows(manifest, result), open_tasks=lambda: open_tasks)
    return chosen_board(manifest.leaderboards[0], evidence, choice)


def by_entrant(table: Table) -> dict[Any, Mapping[str, Any]]:
    """Return the rows of a board by entrant, without the label."""
    return {row["entrant"]: {k: v for k, v in row.items() if k != "choice"} for row in table.records()}


def published(manifest: Manifest, rows: ScoreTable) -> dict[Any, Mapping[str, Any]]:
    """Return the rows of the board as it would be published."""
    return by_entrant(board_of(BoardEvidence.of_rows(manifest, rows), manifest.leaderboards[0]).leaderboard)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "group_mean"])
def test_a_choice_of_tasks_is_the_board_that_declares_them(method: str) -> None:
    """Ranks, rank intervals, scores and their intervals, to the digit."""
    chosen = explored(benchmark(method), Choice(tasks=("hard1", "hard3"), groups=("level:easy",)))

    assert by_entrant(chosen) == published(benchmark(method, ", tasks: [easy1, easy2, hard1, hard3]"), scores())


@pytest.mark.parametrize("method", METHODS)
def test_a_choice_of_entrants_is_the_board_without_the_others(method: str) -> None:
    """As if nobody else had ever submitted."""
    chosen = explored(benchmark(method), Choice(entrants=("lab/Gamma", "org/Alpha", "org/Beta")))

    assert by_entrant(chosen) == published(benchmark(method), scores(["org/Alpha", "org/Beta", "lab/Gamma"]))
    assert FEWER in chosen.notes[0]
    assert FEWER not in explored(benchmark(method), Choice()).notes[0]
    assert chosen.meta["statement"][-1] == f"{LABEL}."
    assert f"{LABEL}." not in explored(benchmark(method), Choice()).meta["statement"]


def test_weights_of_tasks_weigh_the_mean() -> None:
    """By hand: the weighted mean of the cells, those of weight 0 left out."""
    choice = Choice(weights={"easy1": 3.0, "odd": 0.0, "level:hard": 0.5})
    board = explored(benchmark("mean"), choice)
    weights = [3.0, 1.0, 0.5, 0.5, 0.5, 0.0]

    for name in NAMES:
        wanted = np.average(scores([name]).values[:, 0], weights=weights)
        assert by_entrant(board)[name]["mean_x"] == pytest.approx(wanted)


@pytest.mark.parametrize(("weight", "is_taken"), [(1000.0, True), (1000.5, False), (0.0, True), (-0.5, False)])
def test_a_weight_may_be_as_large_as_the_message_says(weight: float, is_taken: bool) -> None:
    """From 0 to 1000, both included."""
    choice = Choice(weights={"odd": weight})
    if is_taken:
        assert len(explored(benchmark("mean"), choice).rows) == len(NAMES)
        return
    with pytest.raises(FieldRejected) as refused:
        explored(benchmark("mean"), choice)
    assert [problem.message for problem in refused.value.problems] == ["expected a weight from 0 to 1000"]


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("group_mean", "skill_score")])
def test_weights_that_are_all_the_same_change_no_rank(method: str) -> None:
    """A scale of the weights is none of the board's."""
    plain = published(benchmark(method), scores())
    chosen = by_entrant(explored(benchmark(method), Choice(weights=dict.fromkeys(TASKS, 2.0))))
    columns = ("rank", "rank_low", "rank_high", "may_be_first", "group")

    assert {n: [r[c] for c in columns] for n, r in chosen.items()} == {
        n: [r[c] for c in columns] for n, r in plain.items()
    }


def test_another_baseline_is_what_scores_are_relative_to() -> None:
    """Whether it is among those who are ranked or not: only who is found or named is."""
    found = by_entrant(explored(benchmark("skill_score"), Choice(matching="org/", baseline="lab/Delta")))
    named = by_entrant(explored(benchmark("skill_score"), Choice(entrants=("org/Alpha",), baseline="lab/Delta")))

    assert "lab/Delta" not in found
    assert set(named) == {"org/Alpha"}
    assert named["org/Alpha"]["skill_score"] == found["org/Alpha"]["skill_score"]


def test_a_choice_on_a_board_of_measured_entrants_is_in_the_words_of_its_evidence() -> None:
    """Each keeps its own number; nobody else is measured for it."""
    points = {"Good": 0.9, "Fair": 0.6, "Poor": 0.3}
    board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    standings = [Standing(name, 1, (1, at)) for at, name in enumerate(points)]

    def measure(spec: EstimateBoard, left_out: LeftOut) -> list[Measurement]:
        return [measured(each.entrant, points[each.entrant]) for each in standings if each.pair not in left_out]

    evidence = BoardEvidence(
        manifest=of_board(board),
        standings=standings,
        scores=lambda left_out: pytest.fail("no rows are read here"),
        measurements=measure,
        measured=EPISODES,
    )
    chosen = chosen_board(board, evidence, Choice(entrants=("Poor", "Fair")))

    assert [(row["rank"], row["entrant"], row["success"]) for row in chosen.records()] == [
        (1, "Fair", 0.6),
        (2, "Poor", 0.3),
    ]
    assert chosen.notes[0].startswith(f"{LABEL}: 2 of 3 entrants (2 named).")
    assert any("seeds" in note for note in chosen.notes[1:])


PREDICTIONS = prediction_boards.benchmark(prediction_boards.BINARY, ["auc"])


@pytest.mark.parametrize(
    ("manifest", "n_rows", "said"),
    [
        (parse_manifest(CHAMBER), MOST_MEASURED_ROWS, None),
        (parse_manifest(CHAMBER), MOST_MEASURED_ROWS + 1, "200,001 rows, and a choice of tasks is computed of at most"),
        (PREDICTIONS, 1, "are measured on all of its tasks; entrants can be chosen"),
    ],
)
def test_a_choice_of_tasks_is_measured_while_a_reader_can_wait(
    manifest: Manifest, n_rows: int, said: str | None
) -> None:
    """Episodes up to a number, predictions not at all; a choice of entrants alone measures nobody anew."""
    spec = manifest.leaderboards[0]
    evidence = replace(RowsInMemory(manifest, [], {}, {}).evidence(), n_rows=lambda: n_rows)
    asked = for_a_reader(evidence, spec)

    assert asked.measurements(spec, NOBODY) == []
    if said is None:
        assert asked.measurements(spec.over(["place"]), NOBODY) == []
        return
    with pytest.raises(FieldRejected) as refused:
        asked.measurements(spec.over(["place"]), NOBODY)
    assert said in refused.value.problems[0].message


@pytest.mark.parametrize("method", ["mean", "borda"])
def test_a_choice_is_computed_of_as_many_rows_as_a_reader_can_wait_for(method: str) -> None:
    """And refused of one more; where entrants are measured it is the choice of tasks that is held to a number."""
    manifest = benchmark(method)
    spec = manifest.leaderboards[0]

    evidence = BoardEvidence.of_rows(manifest, scores())
    fits, beyond = (replace(evidence, n_rows=partial(int, n)) for n in (MOST_ROWS, MOST_ROWS + 1))

    assert for_a_reader(fits, spec).scores(NOBODY).entrant.words == scores().entrant.words
    with pytest.raises(FieldRejected) as refused:
        for_a_reader(beyond, spec)
    assert refused.value.problems[0].message == (
        "the evidence has 5,000,001 rows, and a choice is computed of at most 5,000,000"
    )


def test_a_choice_is_labelled_wherever_it_is_shown() -> None:
    """In the title, the first note, the meta of the JSON and each row of the CSV."""
    board = explored(benchmark("borda"), Choice(matching="org/", tasks=("odd", "easy1"), weights={"odd": 2.0}))
    message = "2 of 4 entrants (“org/” in the name); 2 of 6 tasks (odd, easy1); weights odd × 2"

    assert board.name == "explore/board"
    assert board.title.endswith("a reader's choice")
    assert board.notes[0].startswith(f"{LABEL}: {message}.")
    assert board.notes[0].endswith("Ranks and scores, without rank intervals, are computed anew for it.")
    assert AFTERWARDS in explored(benchmark("borda"), Choice(matching="org/")).notes[0]
    assert (board.meta["choice"]["label"], board.meta["choice"]["said"]) == (LABEL, message)
    assert {row["choice"] for row in board.records()} == {message}


def test_a_method_without_weights_says_so() -> None:
    """Geometric means relative to a baseline weigh every task alike."""
    with pytest.raises(FieldRejected, match="does not have") as refused:
        explored(benchmark("skill_score"), Choice(weights={"odd": 2.0}))
    assert "takes no weights" in refused.value.problems[0].message


def test_components_of_weighted_ranks_take_weights() -> None:
    """With one component left the order is that of its values, whatever the board declares."""
    manifest = declare("series_metrics", "{catalog: lrdbench, use: [mae, rmse]}",
                       "method: weighted_rank, weights: {mae: 0.5, rmse: 0.5}", "mode: ground_truth")  # fmt: skip
    rows = scores()
    both = np.hstack([rows.values, -rows.values + 9.0])
    rows = replace(rows, columns=("mae", "rmse"), values=both, item=rows.task, task=Coded(("s",), rows.task.codes * 0))
    ranks = {
        name: row["rank"] for name, row in by_entrant(explored(manifest, Choice(weights={"mae": 0.0}), rows)).items()
    }
    means = {name: -scores([name]).values.mean() for name in NAMES}

    assert sorted(ranks, key=ranks.__getitem__) == sorted(means, key=means.__getitem__)


UNEQUAL = "weights: {mae: 0.35, rmse: 0.45, bias: 0.2}"


def components(weights: str) -> tuple[Manifest, ScoreTable]:
    """Return a board of three components of one stratum, and its rows."""
    manifest = declare("series_metrics", "{catalog: lrdbench, use: [mae, rmse, bias]}",
                       f"method: weighted_rank, {weights}", "mode: ground_truth")  # fmt: skip
    rows = scores()
    values = np.hstack([rows.values, -rows.values + 9.0, rows.values**2 - 3.0 * rows.values])
    strata, columns = Coded(("s",), rows.task.codes * 0), ("mae", "rmse", "bias")
    return manifest, replace(rows, columns=columns, values=values, item=rows.task, task=strata)


@pytest.mark.parametrize(
    ("weight", "left"),
    [
        (0.5, {"mae": 0.175 / 0.825, "rmse": 0.45 / 0.825, "bias": 0.2 / 0.825}),
        (2.0, {"mae": 0.7 / 1.35, "rmse": 0.45 / 1.35, "bias": 0.2 / 1.35}),
        (0.0, {"rmse": 0.45 / 0.65, "bias": 0.2 / 0.65}),
    ],
)
def test_a_readers_weight_multiplies_what_the_board_declares(weight: float, left: dict[str, float]) -> None:
    """The menu says "mae × 0.5"; as the weight itself, 0.5 beside 0.35 raised it."""
    manifest, rows = components(UNEQUAL)
    board = explored(manifest, Choice(weights={"mae": weight}), rows)

    assert board.meta["weights"] == pytest.approx(left)
    listed = ", ".join(f"{name} {100 * share:.3g} %" for name, share in left.items())
    assert f"Components, with what each counts: {listed}." in board.notes


@pytest.mark.parametrize("weights", [{"mae": 1.0}, {"mae": 2.0, "rmse": 2.0, "bias": 2.0}])
def test_one_factor_for_all_components_is_the_board_as_declared(weights: dict[str, float]) -> None:
    """To the last digit."""
    manifest, rows = components(UNEQUAL)
    board = explored(manifest, Choice(weights=weights), rows)

    assert by_entrant(board) == published(manifest, rows)
    assert board.meta["weights"] == {"mae": 0.35, "rmse": 0.45, "bias": 0.2}


def test_a_choice_that_leaves_no_component_says_so() -> None:
    """A board without components has no score."""
    manifest, rows = components(UNEQUAL)
    with pytest.raises(FieldRejected, match="leaves no component"):
        explored(manifest, Choice(weights=dict.fromkeys(("mae", "rmse", "bias"), 0.0)), rows)


def test_groups_of_strata_are_neither_offered_nor_taken_as_weights_of_components() -> None:
    """Strata count the same in every component: a weight of "n:128" became a component of that stratum's name."""
    manifest, rows = components(UNEQUAL)
    strata = [Task(id=task, where={"n": 128 if task in "st" else 512}) for task in "stuv"]
    spec, choice = manifest.leaderboards[0], Choice(weights={"n:128": 2.0})
    with pytest.raises(FieldRejected, match="does not have") as refused:
        explored(manifest, choice, rows, strata)

    assert [problem.column for problem in refused.value.problems] == ["weight"]
    form = explore_form(manifest, spec, explored(manifest, Choice(), rows, strata), "", Choice(), strata)
    assert [name for name, _ in form.weights] == ["mae", "rmse", "bias"]


def test_very_many_entrants_are_drawn_less_often_and_their_board_says_so() -> None:
    """An answer is to come within a second: fewer resamples, no step-down, and a note."""
    names = [f"e{at}" for at in range(QUICK_FROM + 1)]
    one = scores(["org/Alpha"])
    at = np.arange(len(names) * len(TASKS))
    values = np.random.default_rng(1).uniform(size=(len(at), 1))
    many = replace(one, entrant=Coded(tuple(names), at // len(TASKS)), task=Coded(TASKS, at % len(TASKS)),
                   values=values, leaked=at < 0, file=at * 0, row=at)  # fmt: skip
    board = explored(benchmark("mean"), Choice(tasks=TASKS[:3]), many)

    assert board.meta["n_resamples"] == 200
    assert QUICK in board.notes


def test_strata_that_a_manifest_leaves_open_can_be_chosen() -> None:
    """By name or by what they mean; the board is what a benchmark of those strata alone would have."""
    manifest = declare("series_metrics", "{catalog: lrdbench, use: [mae]}",
                       "method: weighted_rank, weights: {mae: 1.0}", "mode: ground_truth")  # fmt: skip
    rows = replace(scores(), columns=("mae",), item=scores().task)
    strata = [Task(id=task, where={"n": 128 if task.startswith("easy") else 512}) for task in TASKS]
    alone = rows.take(np.isin(rows.task.codes, (0, 1)))
    expected = by_entrant(board_of(BoardEvidence.of_rows(manifest, alone), manifest.leaderboards[0]).leaderboard)

    for choice in (Choice(groups=("n:128",)), Choice(tasks=("easy1", "easy2"))):
        chosen = explored(manifest, choice, rows, strata)
        shared = {"rank", "rank_low", "rank_high", "score", "covered"} & expected["org/Alpha"].keys()
        assert {"rank", "score"} <= shared
        assert [{key: row[key] for key in shared} for row in by_entrant(chosen).values()] == [
            {key: row[key] for key in shared} for row in expected.values()
        ]
    assert "2 of 6 tasks (n 128)" in explored(manifest, Choice(groups=("n:128",)), rows, strata).notes[0]


@pytest.mark.parametrize("named", ["level:easy", "easy"])
def test_the_form_has_what_was_chosen_under_either_name(named: str) -> None:
    """A menu names a group without its column: the form that did not tick it lost the choice with the next one."""
    manifest, choice = benchmark("mean"), Choice(groups=(named,))
    table = explored(manifest, choice)
    form = explore_form(manifest, manifest.leaderboards[0], table, "", choice)

    assert [tick.value for _, ticks in form.groups for tick in ticks if tick.is_chosen] == ["level:easy"]


def test_weights_of_groups_weigh_the_mean_over_groups() -> None:
    """By hand: three quarters of the easy, one of the hard."""
    row = by_entrant(explored(benchmark("group_mean"), Choice(weights={"easy": 3.0})))["org/Alpha"]
    easy, hard = (scores(["org/Alpha"], part).values.mean() for part in (TASKS[:2], TASKS[2:5]))

    assert row["group_mean_x"] == pytest.approx(0.75 * easy + 0.25 * hard)
