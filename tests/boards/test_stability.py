"""How stable the first place is: what is said of other boards is what those boards, computed anew, would say."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.boards.example import benchmark, rows
from app.boards.measured import EntrantEvidence, Estimate, Measurement
from app.boards.methods.borda import Borda
from app.boards.methods.estimate import EstimateBoard, assemble_board
from app.boards.methods.group_mean import GroupMean
from app.boards.methods.mean import Mean
from app.boards.methods.skill_score import SkillScore
from app.boards.methods.weighted_rank.records import WeightedRank
from app.boards.registry import compute_board
from app.boards.stability import (
    MOST_BOARDS,
    PointsByTask,
    among_others,
    means_elsewhere,
    other_owners,
    stability,
)
from app.kinds.registry import measured_kind
from app.manifest.model import Explored, Leaderboard, Manifest, Task
from app.names import first_few
from app.stats.arrays import FloatArray
from app.stats.pairs import borda_points
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from tests.cases.boards import declare

NAMES = tuple("ABCDEFG")
TASKS = tuple(f"t{at}" for at in range(12))
BOARDS: tuple[Leaderboard, ...] = (
    Mean(name="main", method="mean", metric="error"),
    Borda(name="main", method="borda", metric="error"),
    SkillScore(name="main", method="skill_score", metric="error", baseline="G"),
    SkillScore(name="main", method="skill_score", metric="error", baseline="G", rank_by="win_rate"),
    GroupMean(name="main", method="group_mean", metric="error", groups={"x": list(TASKS[:9]), "y": list(TASKS[9:])}),
)


def errors_of(seed: int) -> FloatArray:
    """Return errors [n_tasks, n_names] of entrants that are nearly alike."""
    rng = np.random.default_rng(seed)
    return np.exp(0.3 * rng.normal(size=(len(TASKS), 1)) + 0.2 * rng.normal(size=(len(TASKS), len(NAMES))))


def scores_of(errors: FloatArray) -> ScoreTable:
    """Return them as rows."""
    table = rows(dict(zip(NAMES, errors.T.tolist(), strict=True)))
    tasks = Coded(TASKS, table.task.codes)
    return ScoreTable(**{**vars(table), "task": tasks, "item": tasks})


STRATA = ("long", "mid", "short")


def series_of(seed: int, names: Sequence[str] = NAMES) -> ScoreTable:
    """Return three records in each stratum for each estimator: nearly alike in three metrics."""
    rng = np.random.default_rng([31, seed])
    values = np.exp(0.3 * rng.normal(size=(len(NAMES), 9, 3)))
    values[:, :, 2] = rng.random((len(NAMES), 9)) < 0.8
    kept = [NAMES.index(name) for name in names]
    entrant, record = np.divmod(np.arange(9 * len(kept)), 9)
    records = tuple(f"{stratum}{at}" for stratum in STRATA for at in range(3))
    return ScoreTable(
        entrant=Coded(tuple(names), entrant), task=Coded(STRATA, record // 3), item=Coded(records, record),
        columns=("mae", "runtime", "validity_rate"), values=values[kept].reshape(-1, 3),
        leaked=np.zeros(len(entrant), dtype=np.bool_), file=np.zeros(len(entrant), dtype=np.int64),
        row=np.arange(len(entrant)),
    )  # fmt: skip


def of_tasks(spec: Leaderboard) -> Manifest:
    """Return the benchmark of the twelve tasks with one board."""
    return benchmark(spec).model_copy(update={"tasks": [Task(id=task) for task in TASKS]})


def firsts_of(board: Table) -> set[object]:
    """Return who has the score of rank 1: a tie-break makes nobody better."""
    score = str(board.meta["rank_by"])
    best = next(row[score] for row in board.records() if row["rank"] == 1)
    return {row["entrant"] for row in board.records() if row[score] == pytest.approx(best, abs=1e-12)}


def episodes_of(entrant: int, parts: Sequence[str], tasks: str) -> EntrantEvidence:
    """Return five seeds of four episodes in each part: a task, or a condition of the only task."""
    rng = np.random.default_rng([77, entrant])
    values = rng.normal(size=(3, 20, 2))[["abc".index(part) for part in parts]].reshape(-1, 2)
    part, episode = np.divmod(np.arange(len(values)), 20)
    are_tasks = tasks.count("id") > 1
    named, alone = Coded(tuple(parts), part), Coded(("a",), np.zeros(len(values), dtype=np.int64))
    return EntrantEvidence("ABC"[entrant], ScoreTable(
        entrant=Coded(("ABC"[entrant],), np.zeros(len(values), dtype=np.int64)), columns=("x", "y"), values=values,
        task=named if are_tasks else alone, condition=None if are_tasks else named,
        leaked=np.zeros(len(values), dtype=np.bool_), file=np.zeros(len(values), dtype=np.int64),
        row=np.arange(len(values)), seed=episode // 4, item=Coded(tuple("0123"), episode % 4),
    ))  # fmt: skip


@pytest.mark.parametrize("spec", BOARDS, ids=lambda spec: f"{spec.method}-{getattr(spec, 'rank_by', '')}")
@pytest.mark.parametrize("seed", range(2))
def test_each_board_without_a_task_is_the_board_that_a_reader_would_choose(spec: Leaderboard, seed: int) -> None:
    """By the method itself, over all tasks but one."""
    declared, scores = of_tasks(spec), scores_of(errors_of(seed))
    board = compute_board(declared, spec, scores).leaderboard
    found, leader = board.meta["stability"], board.rows[0][board.index("entrant")]
    others, shared = {}, set()
    for task in TASKS:
        table = compute_board(declared, spec.over([each for each in TASKS if each != task]), scores).leaderboard
        first = [row["entrant"] for row in table.records() if row["rank"] == 1]
        if leader not in first:
            others[f"without {task}"] = first[0]
        elif len(first) > 1:
            shared.add(f"without {task}")

    listed = {one["what"]: one["first"] for one in found["without"]}
    assert set(found["shared"]) == shared
    assert {what: first for what, first in listed.items() if what in {f"without {task}" for task in TASKS}} == others
    n_first, n_boards = found["n_first"], found["n_boards"]
    of_all = f"all {n_boards}" if n_first == n_boards else f"{n_first} of {n_boards}"
    said = f"It is first alone in {of_all}" if shared else f"It stays first in {of_all}"
    assert board.meta["statement"][0] == f"{leader} leads."
    assert board.meta["statement"][1].startswith(f"{said} variants of this board")


@pytest.mark.parametrize(
    ("scores", "how"),
    [((0.0, 0.0), "shares the first place"), ((1.0, 0.0), "stays first"), ((0.0, 1.0), "is not first")],
)
def test_a_single_variant_is_told_without_counts(scores: tuple[float, float], how: str) -> None:
    """ "First alone in 0 of 1, beside others in 1" reads like a contradiction of "all others are ruled out"."""
    found = among_others("AB", 0, [("by mse", np.array(scores))])
    assert found is not None
    assert found["clause"] == f"{how} in the only variant of this board that was computed"
    assert found["n_shared"] == (scores == (0.0, 0.0))


def test_of_many_variants_two_hundred_are_asked_and_twenty_are_listed() -> None:
    """By whom the place is lost, and by what it is shared; however many there are."""
    lost, tied = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    found = among_others("AB", 0, [(f"{at}", (lost, tied)[at % 2]) for at in range(MOST_BOARDS + 1)])
    assert found is not None

    assert (found["n_boards"], found["n_first"], found["n_shared"]) == (MOST_BOARDS, 0, MOST_BOARDS // 2)
    assert [one["what"] for one in found["without"]] == [f"{at}" for at in range(0, 40, 2)]
    assert found["shared"] == [f"{at}" for at in range(1, 40, 2)]
    assert found["clause"] == "is first alone in 0 of 200 variants of this board, beside others in 100"


@pytest.mark.parametrize(("n", "how"), [(2, "both"), (3, "all 3")])
def test_who_shares_the_place_everywhere_shares_it_in_all_variants(n: int, how: str) -> None:
    """Two are both."""
    found = among_others("AB", 0, [(f"{at}", np.array([1.0, 1.0])) for at in range(n)])
    assert found is not None
    assert found["clause"] == f"shares the first place in {how} variants of this board"


@pytest.mark.parametrize(
    ("weights", "families", "expected"),
    [
        ({"a": 1.0, "b": 1.0, "c": 1.0}, {}, {"without a": 3.5, "without b": 3.0, "without c": 1.5}),
        ({"a": 1.0, "b": 3.0, "c": 1.0}, {},
         {"without a": 2.75, "without b": 3.0, "without c": 1.75, "with every task the same weight": 8.0 / 3.0}),
        ({"a": 1.0, "b": 3.0, "c": 1.0}, {"a": "f", "b": "f"},
         {"without f (2 tasks)": 5.0, "without c": 1.75, "with every task the same weight": 8.0 / 3.0}),
        # All of one family: there is no board without it.
        ({"a": 1.0, "b": 3.0, "c": 1.0}, dict.fromkeys("abc", "f"), {}),
    ],
)  # fmt: skip
def test_means_on_other_boards_are_weighted_and_without_whole_families(
    weights: dict[str, float], families: dict[str, str], expected: dict[str, float]
) -> None:
    """And with equal weights, where they are not and there is another board at all."""
    assert means_elsewhere({"a": 1.0, "b": 2.0, "c": 5.0}, weights, families) == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_the_fewest_tasks_are_few_enough_and_fewer_are_not(seed: int) -> None:
    """Without those that are named the first is behind, and without any fewer it is not."""
    points = -errors_of(seed)
    by = PointsByTask(NAMES, TASKS, points)
    leader = int(points.sum(axis=0).argmax())
    found = stability(by, {}) or {}
    fewest = [one for one in found["without"] if " task" in one["what"]]
    alone = {one["what"].removeprefix("without ") for one in found["without"]} & set(TASKS)
    ahead = points[:, [leader]] - points
    needed = [
        next((n for n in range(1, len(TASKS)) if np.sort(own)[: len(TASKS) - n].sum() < 0.0), len(TASKS))
        for at, own in enumerate(ahead.T)
        if at != leader
    ]
    expected = min(needed)

    assert bool(fewest or (expected == 1 and alone)) == (2 * expected < len(TASKS))
    assert not fewest or fewest[0]["what"].startswith(f"without {expected} task")
    assert f"if {expected} particular task" in found["clause"] or 2 * expected >= len(TASKS)
    assert not fewest or fewest[0]["what"].partition("(")[2].rstrip(")") not in alone


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_who_is_first_without_an_owner_is_who_has_most_points_of_the_rest(seed: int) -> None:
    """Computed anew without that owner's entrants, of its own without the others; the leader itself is not left out."""
    rng, better = np.random.default_rng(seed), -errors_of(seed)
    owners = [str(at) for at in rng.integers(0, 3, size=len(NAMES))]
    points = borda_points(better)
    leader = int(points.sum(axis=0).argmax())
    found = stability(PointsByTask(NAMES, TASKS, points, better=better, owners=owners), {}) or {}
    lost = sum(
        points_without[0] < points_without[1]
        for owner in set(owners)
        for kept in [[at for at, other in enumerate(owners) if other != owner or at == leader]]
        if 1 < len(kept) < len(owners)
        for totals in [borda_points(better[:, kept]).sum(axis=0)]
        for points_without in [(totals[kept.index(leader)], totals.max())]
    )

    assert sum("entrant" in one["what"] for one in found["without"]) == lost


@pytest.mark.parametrize("seed", range(6))
def test_each_board_of_weighted_ranks_is_the_one_that_a_reader_would_choose(seed: int) -> None:
    """Without each stratum and each component, with equal weights, and without the estimators of either owner."""
    weights = "weights: {mae: 0.5, runtime: 0.3, validity_rate: 0.2}"
    items = ", ".join(f"{stratum}: {{items: [{stratum}0, {stratum}1, {stratum}2]}}" for stratum in STRATA)
    declared = declare(
        "series_metrics", "{catalog: lrdbench, use: [mae, runtime, validity_rate]}",
        f"method: weighted_rank, {weights}", f"mode: ground_truth\ngrid: {{tasks: {{{items}}}}}",
    )  # fmt: skip
    owners = {name: ("eve" if at % 2 else "ann") for at, name in enumerate(NAMES)}
    declared = declared.with_grid_facts(replace(declared.asked.facts, owners=owners))
    spec, scores = declared.leaderboards[0], series_of(seed)
    assert isinstance(spec, WeightedRank)
    board = compute_board(declared, spec, scores).leaderboard
    leaders = [row["entrant"] for row in board.records() if row["rank"] == 1]
    others = {f"without {stratum}": spec.over([each for each in STRATA if each != stratum]) for stratum in STRATA}
    others |= {f"without {name}": spec.as_chosen(None, Explored({name: 0.0})) for name in spec.weights}
    others["with every component the same weight"] = spec.weighing(dict.fromkeys(spec.weights, 1.0))
    firsts = {what: firsts_of(compute_board(declared, other, scores).leaderboard) for what, other in others.items()}
    theirs = [name for name in NAMES if owners[name] != owners[str(leaders[0])]]
    own = [name for name in NAMES if name not in (*theirs, leaders[0])]
    for whose, kind, owned in (("one owner", "", theirs), ("its owner", "other ", own)):
        left = series_of(seed, [name for name in NAMES if name not in owned])
        what = f"without {len(owned)} {kind}entrants of {whose} ({first_few(owned, 3)})"
        firsts[what] = firsts_of(compute_board(declared, spec, left).leaderboard)

    found = board.meta["stability"]
    assert found["n_boards"] == len(firsts)
    # Ranks tie now and then: a shared first place is none of those on which it is first alone.
    assert found["n_first"] == sum(first == {leaders[0]} for first in firsts.values())
    assert set(found["shared"]) == {w for w, first in firsts.items() if leaders[0] in first and len(first) > 1}
    assert {line["what"] for line in found["without"]} == {w for w, first in firsts.items() if leaders[0] not in first}
    assert all(line["first"] in firsts[line["what"]] for line in found["without"])


@pytest.mark.parametrize(
    ("weights", "others"),
    [
        ({"mae": 0.75, "runtime": 0.25}, ["without mae", "without runtime", "with every component the same weight"]),
        ({"mae": 1.0}, []),
    ],
)
def test_a_suite_of_one_stratum_is_not_asked_without_it(weights: dict[str, float], others: list[str]) -> None:
    """A board of no records has no first; only components and their weights may differ there, if there are several."""
    listed = ", ".join(f"{name}: {weight}" for name, weight in weights.items())
    declared = declare(
        "series_metrics", f"{{catalog: lrdbench, use: [{', '.join(weights)}]}}",
        f"method: weighted_rank, weights: {{{listed}}}", "mode: ground_truth\ngrid: {items: [long0, long1, long2]}",
    )  # fmt: skip
    every = series_of(0)
    of_one = every.take(every.task.codes == STRATA.index("long"))
    found = compute_board(declared, declared.leaderboards[0], of_one).leaderboard.meta.get("stability")

    assert (found["n_boards"] if found else 0) == len(others)
    assert {*found["shared"], *(line["what"] for line in found["without"])} <= set(others) if found else not others


def test_measured_boards_without_a_task_or_a_condition_are_those_measured_without_its_rows() -> None:
    """Of episodes, by either statistic; and by each other metric, where who lacks it is not first."""
    for tasks, statistic in (("[{id: a}, {id: b}, {id: c}]", "mean"), ("[{id: a}]", "iqm")):
        metrics = "{x: {direction: minimize}, y: {direction: maximize}}"
        declared = declare(
            "episodes", metrics, f"method: estimate, metrics: [x, y], statistic: {statistic}", "", tasks
        )  # fmt: skip
        spec, kind = declared.leaderboards[0], measured_kind(declared)
        assert isinstance(spec, EstimateBoard)
        parts = ("a", "b", "c")
        measured = {name: kind.measure(declared, spec, episodes_of(at, parts, tasks)) for at, name in enumerate("ABC")}
        for at, name in enumerate("ABC"):
            for part in parts:
                left = episodes_of(at, [each for each in parts if each != part], tasks)
                alone = kind.measure(declared, spec, left)
                assert measured[name].elsewhere[f"without {part}"] == pytest.approx(alone.estimates["x"].point)
        found = assemble_board(declared, spec, list(measured.values()), kind).leaderboard.meta["stability"]
        assert found["n_boards"] == len(parts) + 2


def test_who_has_no_value_of_another_metric_of_episodes_is_not_first_by_it() -> None:
    """B lacks y: C is first by y, before A, which is the first by x."""
    declared = declare(
        "episodes", "{x: {direction: minimize}, y: {direction: maximize}}", "method: estimate, metrics: [x, y]", "",
        "[{id: a}]",
    )  # fmt: skip
    spec = declared.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    points = {"A": (0.1, 0.3), "B": (0.2, None), "C": (0.3, 0.4)}
    measured = [Measurement(name, {"x": Estimate(x), "y": Estimate(y)}) for name, (x, y) in points.items()]
    found = assemble_board(declared, spec, measured, measured_kind(declared)).leaderboard.meta["stability"]

    assert (found["n_boards"], found["n_first"]) == (1, 0)
    assert [(line["what"], line["first"]) for line in found["without"]] == [("by y", "C")]


@pytest.mark.parametrize("of_y", [(0.0, 0.0, 0.0), (0.0, None, 0.0)])
def test_a_metric_of_episodes_by_which_all_are_equal_is_no_variant(of_y: tuple[float | None, ...]) -> None:
    """No violation of anybody says nothing of who is first; "beside others in 1 of 2" read like a doubt."""
    declared = declare(
        "episodes", "{x: {direction: minimize}, y: {direction: minimize}, z: {direction: minimize}}",
        "method: estimate, metrics: [x, y, z]", "", "[{id: a}]",
    )  # fmt: skip
    spec = declared.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    measured = [Measurement(name, {"x": Estimate(x), "y": Estimate(y), "z": Estimate(x)})
                for name, x, y in zip("ABC", (0.1, 0.2, 0.3), of_y, strict=True)]  # fmt: skip
    found = assemble_board(declared, spec, measured, measured_kind(declared)).leaderboard.meta["stability"]

    assert (found["n_boards"], found["n_first"], found["variants"]) == (1, 1, ["by z"])


def test_families_are_left_out_whole_and_before_anything_else() -> None:
    """Twelve tasks in two families are two boards, and one in which each family weighs the same."""
    by = PointsByTask(NAMES, TASKS, -errors_of(1))
    found = stability(by, {task: "one" if at < 8 else "other" for at, task in enumerate(TASKS)}) or {}
    many = PointsByTask(NAMES, tuple(map(str, range(500))), np.random.default_rng(1).normal(size=(500, 7)))

    assert found["n_boards"] == 3
    assert (stability(many, {}) or {})["n_boards"] == MOST_BOARDS
    weighed = stability(replace(many, equal=many.points), {}) or {}
    assert (weighed["n_boards"], weighed["variants"][-1]) == (MOST_BOARDS, "with every task the same weight")
    assert stability(PointsByTask(("A",), TASKS, -errors_of(1)[:, :1]), {}) is None


def test_another_metric_is_one_board_and_who_lacks_it_is_not_first_there() -> None:
    """The first by the other metric of those who have it; none where the leader itself lacks it."""
    points, other = -errors_of(3), -errors_of(4)
    by = PointsByTask(NAMES, TASKS, points, points_of=np.asarray)
    leader = int(points.sum(axis=0).argmax())
    other[0, int(leader == 0)] = np.nan
    other[:, leader] -= 9.0
    found = stability(by, {}, {"mae": other}) or {}
    lacking = np.where(np.arange(len(NAMES)) == leader, np.nan, other)

    assert [one["first"] for one in found["without"] if one["what"] == "by mae"] == [
        NAMES[int(np.where(np.isnan(other).any(axis=0), -np.inf, other.sum(axis=0)).argmax())]
    ]
    assert (stability(by, {}, {"mae": lacking}) or {})["n_boards"] == len(TASKS)
    assert (stability(by, {}, {"failures": np.zeros_like(other)}) or {})["n_boards"] == len(TASKS)


def test_what_is_equal_without_a_task_is_a_variant() -> None:
    """The first place hangs on that task: unlike a metric of which everybody has 0 it says something."""
    by = PointsByTask("AB", "abc", np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]))
    found = stability(by, {}) or {}

    assert (found["n_boards"], found["n_first"], found["shared"]) == (3, 2, ["without a"])


@pytest.mark.parametrize("seed", range(6))
def test_the_first_among_the_best_three_is_that_of_their_own_board(seed: int) -> None:
    """Who leads by beating those far behind need not lead among its rivals: Borda points say so, a mean never does."""
    errors = errors_of(seed)
    boards = [BOARDS[0], BOARDS[1]]
    of_means, of_points = (compute_board(of_tasks(spec), spec, scores_of(errors)).leaderboard for spec in boards)
    best = [row["entrant"] for row in of_points.records()][:3]
    alone = scores_of(errors)
    kept = np.isin(np.array(alone.entrant.words)[alone.entrant.codes], best)
    first = firsts_of(compute_board(of_tasks(boards[1]), boards[1], alone.take(np.flatnonzero(kept))).leaderboard)
    found = of_points.meta["stability"]
    lost = {one["what"]: one["first"] for one in found["without"]}

    assert "among the best 3" in found["variants"]
    assert not any("among" in variant for variant in of_means.meta["stability"]["variants"])
    if of_points.rows[0][of_points.index("entrant")] in first:
        assert ("among the best 3" in found["shared"]) == (len(first) > 1)
    else:
        assert lost["among the best 3"] in first


def test_two_tasks_together_are_named_where_no_single_one_decides() -> None:
    """Without either of both the two would be equal; of one task there is no other board, by no metric."""
    ahead = np.array([2.0, 2.0, 1.0, *[-0.5] * 6])
    tasks = [f"t{at}" for at in range(9)]
    by = PointsByTask(("A", "B"), tasks, np.column_stack([ahead, np.zeros(9)]))
    found = stability(by, {})

    assert found is not None
    assert found["clause"].endswith("; another would lead if 2 particular tasks of 9 were left out")
    assert found["without"] == [{"what": "without 2 tasks together (t0, t1)", "first": "B"}]
    assert found["shared"] == ["without t0", "without t1"]
    alone = replace(by, tasks=tasks[:1], points=by.points[:1], points_of=lambda own: own)
    assert stability(alone, {}, {"mse": alone.points}) is None


def test_what_rounding_leaves_between_two_is_a_shared_place() -> None:
    """In either direction."""
    boards = [("more", np.array([1.0, 1.0 - 1e-13])), ("less", np.array([1.0 - 1e-13, 1.0]))]
    found = among_others("AB", 0, boards)

    assert found is not None
    assert (found["n_first"], found["shared"], found["without"]) == (0, ["more", "less"], [])


def test_of_many_tasks_half_of_the_places_are_for_boards_that_differ_in_more() -> None:
    """Beside 300 tasks with as many other metrics: a hundred boards of each."""
    rng = np.random.default_rng(2)
    by = PointsByTask(("A", "B"), [f"t{at}" for at in range(300)], rng.random((300, 2)), points_of=lambda own: own)
    found = stability(by, {}, {f"m{at}": rng.random((300, 2)) for at in range(300)})

    assert found is not None
    assert [sum(what.startswith(way) for what in found["variants"]) for way in ("without", "by")] == [100, 100]


def test_half_of_the_tasks_are_not_few_and_one_entrant_is_no_board() -> None:
    """Two of four tasks decide any comparison; owners of as many entrants are left out in the order of their names."""
    by = PointsByTask(("A", "B"), ("a", "b", "c", "d"), np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    owners = ["a", "c", "c", "b", "b"]

    assert "another would lead" not in (stability(by, {}) or {})["clause"]
    assert list(other_owners("ABC", owners[:3], 0)) == []
    assert [places for _, places in other_owners("ABCDE", owners, 0)] == [[3, 4], [1, 2]]
