"""How stable the first place is: what is said of other boards is what those boards, computed anew, would say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.boards.example import benchmark, rows
from app.boards.methods.borda import Borda
from app.boards.methods.group_mean import GroupMean
from app.boards.methods.mean import Mean
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.boards.stability import MOST_BOARDS, ByTask, stability
from app.manifest.model import Leaderboard, Task
from app.stats.arrays import FloatArray
from app.stats.pairs import borda_points
from app.values.scores import Coded, ScoreTable

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


@pytest.mark.parametrize("spec", BOARDS, ids=lambda spec: f"{spec.method}-{getattr(spec, 'rank_by', '')}")
@pytest.mark.parametrize("seed", range(4))
def test_each_board_without_a_task_is_the_board_that_a_reader_would_choose(spec: Leaderboard, seed: int) -> None:
    """By the method itself, over all tasks but one."""
    declared = benchmark(spec).model_copy(update={"tasks": [Task(id=task) for task in TASKS]})
    scores = scores_of(errors_of(seed))
    board = compute_board(declared, spec, scores).leaderboard
    found, leader = board.meta["stability"], board.rows[0][board.index("entrant")]
    others = {}
    for task in TASKS:
        table = compute_board(declared, spec.over([each for each in TASKS if each != task]), scores).leaderboard
        first = [row["entrant"] for row in table.records() if row["rank"] == 1]
        if leader not in first:
            others[f"without {task}"] = first[0]

    listed = {one["what"]: one["first"] for one in found["without"]}
    assert {what: first for what, first in listed.items() if what in {f"without {task}" for task in TASKS}} == others
    assert found["clause"].startswith(f"first on {found['n_first']} of {found['n_boards']} other boards")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_the_fewest_tasks_are_few_enough_and_fewer_are_not(seed: int) -> None:
    """Without those that are named the first is behind, and without any fewer it is not."""
    points = -errors_of(seed)
    by = ByTask(NAMES, TASKS, points)
    leader = int(points.sum(axis=0).argmax())
    found = stability(by, {}) or {}
    fewest = [one for one in found["without"] if " task" in one["what"]]
    ahead = points[:, [leader]] - points
    needed = [
        next((n for n in range(1, len(TASKS)) if np.sort(own)[: len(TASKS) - n].sum() < 0.0), len(TASKS))
        for at, own in enumerate(ahead.T)
        if at != leader
    ]
    expected = min(needed)

    assert bool(fewest) == (2 * expected < len(TASKS))
    assert not fewest or fewest[0]["what"].startswith(f"without {expected} task")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_who_is_first_without_an_owner_is_who_has_most_points_of_the_rest(seed: int) -> None:
    """Computed anew without that owner's entrants; nobody's own leader is left out."""
    rng, better = np.random.default_rng(seed), -errors_of(seed)
    owners = [str(at) for at in rng.integers(0, 3, size=len(NAMES))]
    points = borda_points(better)
    leader = int(points.sum(axis=0).argmax())
    found = stability(ByTask(NAMES, TASKS, points, better=better, owners=owners), {}) or {}
    lost = sum(
        points_without[0] < points_without[1]
        for owner in set(owners) - {owners[leader]}
        if (kept := [at for at, other in enumerate(owners) if other != owner]) and len(kept) > 1
        for totals in [borda_points(better[:, kept]).sum(axis=0)]
        for points_without in [(totals[kept.index(leader)], totals.max())]
    )

    assert sum("entrant" in one["what"] for one in found["without"]) == lost


def test_families_are_left_out_whole_and_before_anything_else() -> None:
    """Twelve tasks in two families are two boards, and one in which each family weighs the same."""
    by = ByTask(NAMES, TASKS, -errors_of(1))
    found = stability(by, {task: "one" if at < 8 else "other" for at, task in enumerate(TASKS)}) or {}
    many = ByTask(NAMES, tuple(map(str, range(500))), np.random.default_rng(1).normal(size=(500, 7)))

    assert found["n_boards"] == 3
    assert (stability(many, {}) or {})["n_boards"] == MOST_BOARDS
    assert stability(ByTask(("A",), TASKS, -errors_of(1)[:, :1]), {}) is None


def test_another_metric_is_one_board_and_who_lacks_it_is_not_first_there() -> None:
    """The first by the other metric of those who have it; none where the leader itself lacks it."""
    points, other = -errors_of(3), -errors_of(4)
    by = ByTask(NAMES, TASKS, points, points_of=np.asarray)
    leader = int(points.sum(axis=0).argmax())
    other[0, int(leader == 0)] = np.nan
    other[:, leader] -= 9.0
    found = stability(by, {}, {"mae": other}) or {}
    lacking = np.where(np.arange(len(NAMES)) == leader, np.nan, other)

    assert [one["first"] for one in found["without"] if one["what"] == "by mae"] == [
        NAMES[int(np.where(np.isnan(other).any(axis=0), -np.inf, other.sum(axis=0)).argmax())]
    ]
    assert (stability(by, {}, {"mae": lacking}) or {})["n_boards"] == len(TASKS)
