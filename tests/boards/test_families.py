"""Families of tasks: a family is one unit of ranks and intervals, whatever its name; what is undeclared is said."""

import numpy as np
import pytest
from scipy.special import stdtrit

from app.boards.calibrated import draw_named_tasks, stratified_means
from app.boards.registry import compute_board
from app.boards.tables import BoardTables
from app.boards.units import TaskUnits, count_alike
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest, Uncertainty
from app.stats.arrays import FloatArray
from app.stats.spreads import variance_factors, weigh
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

METHODS = ("mean", "borda", "mean_rank", "mean_win_rate", "group_mean")

TASKS = tuple(f"t{at:02}" for at in range(12))


def manifest_of(families: dict[str, str], method: str = "mean", tasks: tuple[str, ...] = TASKS) -> Manifest:
    """Return a benchmark of these tasks, in two groups."""
    listed = ", ".join(f"{{id: {t}{f', family: {families[t]}' if t in families else ''}}}" for t in tasks)
    half = len(tasks) // 2
    groups = f", groups: {{x: [{', '.join(tasks[:half])}], y: [{', '.join(tasks[half:])}]}}"
    return parse_manifest(
        f"""
schema_version: 1
slug: families
title: Families
evidence: evaluation_summary
metrics: {{score: {{direction: maximize, min: 0, max: 1}}}}
tasks: [{listed}]
leaderboards: [{{name: main, method: {method}, metric: score{groups if method == "group_mean" else ""}}}]
""".encode()
    )


def board_of(manifest: Manifest, values: FloatArray, tasks: tuple[str, ...] = TASKS) -> Table:
    """Return the board of values [n_tasks, n_entrants]."""
    return tables_of(manifest, values, tasks).leaderboard


def tables_of(manifest: Manifest, values: FloatArray, tasks: tuple[str, ...] = TASKS) -> BoardTables:
    """Return the board of values [n_tasks, n_entrants], with its pairs."""
    n_tasks, n_entrants = values.shape
    scores = ScoreTable(
        entrant=Coded(tuple(f"E{at}" for at in range(n_entrants)), np.tile(np.arange(n_entrants), n_tasks)),
        task=Coded(tasks, np.repeat(np.arange(n_tasks), n_entrants)),
        columns=("score",),
        values=values.reshape(-1, 1),
        leaked=np.zeros(values.size, dtype=np.bool_),
        file=np.zeros(values.size, dtype=np.int64),
        row=np.arange(values.size),
    )
    return compute_board(manifest, manifest.leaderboards[0], scores)


def sets_of(board: Table) -> list[tuple[object, ...]]:
    """Return everybody's rank, rank interval and calibrated interval, rounded where sums may be in another order."""
    ends = [column.name for column in board.columns if column.name.endswith(("calibrated_low", "calibrated_high"))][:2]
    return [
        (*(row[name] for name in ("entrant", "rank", "rank_low", "rank_high", "may_be_first")),
         *(round(float(str(row[name])), 9) for name in ends))
        for row in board.records()
    ]  # fmt: skip


@pytest.fixture
def values() -> FloatArray:
    """Return three tasks of each of four families, alike within them: one entrant is the best of three by little."""
    rng = np.random.default_rng(5)
    of_family = np.repeat(rng.normal(size=(4, 3)), 3, axis=0)
    return np.clip(0.5 + 0.03 * of_family + 0.002 * rng.normal(size=(12, 3)) + [0.06, 0.03, 0.0], 0.0, 1.0)


FAMILIES = {task: f"f{at // 3}" for at, task in enumerate(TASKS)}


@pytest.mark.parametrize("method", METHODS)
def test_copies_of_a_task_in_its_family_tell_nothing_new(method: str, values: FloatArray) -> None:
    """Three copies of each task in a family give the rank intervals of the tasks themselves."""
    ones, thrice = values[::3], np.repeat(values[::3], 3, axis=0)
    by_family = board_of(manifest_of(FAMILIES, method), thrice)
    # The name of a task of its own is that of the family: the draws are the same ones.
    alone = tuple(f"f{at}" for at in range(4))
    assert sets_of(board_of(manifest_of({}, method, alone), ones, alone))[0][:5] == sets_of(by_family)[0][:5]
    assert sets_of(by_family) != sets_of(board_of(manifest_of({}, method), thrice))


def test_both_numbers_of_a_board_of_skill_scores_are_of_as_many_families(values: FloatArray) -> None:
    """The win rate is shown beside the skill; of families its interval has their number of units, too."""
    listed = ", ".join(f"{{id: {task}, family: {FAMILIES[task]}}}" for task in TASKS)
    declared = parse_manifest(
        f"""
schema_version: 1
slug: skills
title: Skills
evidence: evaluation_summary
metrics: {{score: {{direction: minimize}}}}
tasks: [{listed}]
leaderboards: [{{name: main, method: skill_score, metric: score, baseline: E2}}]
""".encode()
    )
    rows = list(board_of(declared, 1.1 - values).records())

    assert {row[f"{name}_calibrated_units"] for row in rows for name in ("win_rate", "skill_score")} == {4.0}


@pytest.mark.parametrize("method", METHODS)
def test_families_of_one_are_tasks(method: str, values: FloatArray) -> None:
    """A family with the name of its only task changes nothing."""
    assert sets_of(board_of(manifest_of({t: t for t in TASKS}, method), values)) == sets_of(
        board_of(manifest_of({}, method), values)
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_tasks_changes_no_rank(method: str, values: FloatArray) -> None:
    """Draws are by the names of families, so the order of tasks does not matter."""
    turned = {"mean": TASKS[::-1]}.get(method, TASKS)
    at = [TASKS.index(task) for task in turned]
    assert sets_of(board_of(manifest_of(FAMILIES, method, turned), values[at], turned)) == sets_of(
        board_of(manifest_of(FAMILIES, method), values)
    )


def test_the_board_says_its_units_and_design_effect(values: FloatArray) -> None:
    """`dependence` has the units, what is declared and the design effect; undeclared, a note says so."""
    board = board_of(manifest_of(FAMILIES), values)
    said = board.meta["dependence"]
    assert (said["unit"], said["n_units"], said["n_tasks"], said["declared"]) == ("family", 4, 12, ["tasks.family"])
    assert said["design_effect"] > 2.0
    (noted,) = (note for note in board.notes if note.startswith("The 12 tasks are of 4 families"))
    assert f"{said['design_effect']:.2f} times that of independent tasks (design effect)" in noted
    undeclared = board_of(manifest_of({}), values)
    assert undeclared.meta["dependence"]["design_effect"] is None
    assert any("treated as independent" in note for note in undeclared.notes)


def test_a_design_effect_is_that_of_its_definition(values: FloatArray) -> None:
    """It is the median over pairs of the clustered over the plain variance of their difference."""
    units, apart = TaskUnits(tuple(FAMILIES[task] for task in TASKS), True), values - values.mean(axis=0)
    ratios = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        d = apart[:, a] - apart[:, b]
        ratios.append((4 / 3 * (d.reshape(4, 3).sum(axis=1) ** 2).sum()) / (12 / 11 * (d**2).sum()))
    assert units.design_effect(apart) == pytest.approx(np.median(ratios))


def test_tasks_that_look_alike_are_counted() -> None:
    """Names that begin with the same word are counted."""
    manifest = manifest_of({}, tasks=("ETT_1H", "ETT_1D", "m5", "favorita"))
    assert count_alike(manifest, ["ETT_1H", "ETT_1D", "m5", "favorita"]) == 2


def test_units_are_drawn_in_families_even_where_a_family_lies_in_two_groups(values: FloatArray) -> None:
    """A family over two groups stays one unit."""
    across = {task: f"f{at % 3}" for at, task in enumerate(TASKS)}
    board = board_of(manifest_of(across, "group_mean"), np.repeat(values[:3], 4, axis=0)[np.argsort(np.arange(12) % 3)])
    assert board.meta["dependence"]["n_units"] == 3


@pytest.mark.parametrize("method", METHODS)
def test_families_worth_less_than_two_units_have_no_rank_intervals(method: str, values: FloatArray) -> None:
    """Also where a group alone has two: that stopped the board, and with it every publication."""
    board = board_of(
        manifest_of({"t00": "a", "t01": "b", "t02": "a", "t03": "a"}, method, TASKS[:4]), values[:4], TASKS[:4]
    )

    assert {row["rank_low"] for row in board.records()} == {None}
    assert len(board.rows) == 3


@pytest.mark.parametrize(
    ("families", "key", "message"),
    [
        (dict.fromkeys(TASKS, "one"), "tasks", "nothing to draw"),
        ({"t00": "t01"}, "tasks", "has the name of a task outside of it"),
        ({"t00": "[a, b]"}, "tasks.0.family", "text"),
        ({"t00": "''"}, "tasks.0.family", ""),
    ],
)
def test_families_that_say_nothing_are_refused(families: dict[str, str], key: str, message: str) -> None:
    """Each contradiction is refused with its key."""
    with pytest.raises(ManifestRejected) as refused:
        manifest_of(families)
    assert any(problem.column == key and message in problem.message for problem in refused.value.problems)


def test_a_task_in_two_families_is_refused() -> None:
    """A task that is listed twice would be in two families."""
    with pytest.raises(ManifestRejected) as refused:
        manifest_of({"t00": "a"}, tasks=("t00", "t00", "t01"))
    assert any("one family" in problem.message for problem in refused.value.problems)


def test_groups_of_one_family_vary_as_the_units_of_the_others_do() -> None:
    """Four groups of one family beside one of ten tasks: two equals are told apart in 71 % if those count as exact."""
    rng = np.random.default_rng(7)
    units, shares = [1.0, 1.0, 1.0, 1.0, 10.0], [0.2] * 5
    drawn = draw_named_tasks(Uncertainty(n_resamples=2000), [*("abcd"), *map(str, range(10))])
    assert drawn is not None
    values = rng.normal(size=(14, 400)) * np.repeat([14 * 0.2, 14 * 0.02], [4, 10])[:, None]
    means = stratified_means(drawn, [1, 1, 1, 1, 10], values, units, shares)

    # Four units at a fifth each, and one group's mean of ten: variances in units of one task's.
    assert means.var(axis=0).mean() == pytest.approx(4 * 0.04 + 0.04 / 10, rel=0.1)
    assert variance_factors(units, shares)[-1] == pytest.approx(41.0)
    assert variance_factors([1.0, 1.0], [0.5, 0.5]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "off"), [(None, 1e-12), (np.ones(7), 1e-12), (np.array([2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.5]), 0.01)]
)
def test_a_family_counts_by_what_the_mean_would_change_without_it(weights: FloatArray | None, off: float) -> None:
    """As a task with much weight does: by `weigh` of the families' means; nearly so where tasks have weights, too."""
    units, values = TaskUnits(tuple("aabbbbc"), True, weights=weights), np.random.default_rng(1).normal(size=(7, 2))
    of_tasks = np.ones(7) if weights is None else weights
    held = np.bincount(units.place, of_tasks)
    means = np.stack([np.bincount(units.place, of_tasks * column) / held for column in values.T], axis=1)
    by_family = weigh(means, held)

    given = values if weights is None else weigh(values, weights)
    apart = units.jackknifed(given)

    assert apart.mean(axis=0) == pytest.approx(given.mean(axis=0))
    added = units.sums(apart - apart.mean(axis=0)) / 7
    assert added == pytest.approx((by_family - by_family.mean(axis=0)) / 3, abs=off)


@pytest.mark.parametrize("names", ["abcdefg", "aabbccdd", "aaaa"])
def test_families_of_one_size_stay_as_they_are(names: str) -> None:
    """To the bit: nothing of them is in another's mean more than in its own."""
    values = np.random.default_rng(1).normal(size=(len(names), 2))

    assert np.array_equal(TaskUnits(tuple(names), True).jackknifed(values), values)


@pytest.mark.parametrize("icc", [0.5, 1.0])
@pytest.mark.parametrize(("n_large", "size", "n_single"), [(3, 15, 60), (3, 12, 30), (2, 20, 38), (5, 20, 50)])
def test_few_large_families_tell_two_equals_apart_no_more_often(
    n_large: int, size: int, n_single: int, icc: float
) -> None:
    """Beside many families of one: 7.7 to 9.3 % of pairs had a p below 0.05 by what each family's mean is apart."""
    families = [*(f"f{at // size}" for at in range(n_large * size)), *(f"s{at}" for at in range(n_single))]
    units, rng = TaskUnits(tuple(families), True), np.random.default_rng(9)
    n_units = units.number()
    shared = rng.normal(size=(n_large + n_single, 20_000))[units.place]
    apart = units.jackknifed(np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * rng.normal(size=shared.shape))

    added = units.sums(apart - apart.mean(axis=0)) / len(families)
    errors = np.sqrt((added**2).sum(axis=0) * n_units / (n_units - 1.0))
    assert (np.abs(apart.mean(axis=0)) > -stdtrit(n_units - 1.0, 0.025) * errors).mean() <= 0.06


@pytest.mark.parametrize("method", METHODS)
def test_pairs_say_what_their_board_says_of_its_units(method: str, values: FloatArray) -> None:
    """Whoever reads the pairs alone is told of independence, of few units, and of opponents, as on the board."""
    manifest, alone = manifest_of({}, method, TASKS[:6]), values[:6]
    tables = tables_of(manifest, alone, TASKS[:6])
    assert tables.pairwise is not None
    said = [str(note) for note in tables.pairwise.meta["caveats"]]

    assert "Tasks are treated as independent: no family of tasks is declared." in " ".join(said)
    assert any("worth fewer than eight independent" in note for note in said)
    assert any("With other opponents" in note for note in said) is (method not in ("mean", "group_mean"))
    assert set(said[:2]) <= set(tables.leaderboard.notes)
