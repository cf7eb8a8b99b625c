"""How often equals whose tasks are of families, or of groups, are called separable: `python -m bench.families`.

Families of 4 tasks, where half of the variance of an entrant on a task is its family's (ICC 0.5). With the families
declared they are drawn as boards draw them (`app.boards.units`); undeclared, tasks are. Of families as unequal as those
of examples it is said at several ICCs, and how often the interval of one pair by itself holds. Boards of means over
groups are computed whole, of normal scores as noisy in every group. Last come scores that nobody simulated: those of an
example, moved so that all entrants are equal, whose families are drawn with replacement. Its tables stand in
docs/statistics.md. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from app.boards.calibrated import DrawnSpread
from app.boards.registry import compute_board
from app.boards.standing import BoardStanding, stand
from app.boards.units import TaskUnits
from app.kinds.parse import parse_manifest
from app.manifest.model import Leaderboard, Manifest, Uncertainty
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable

ROOT = Path(__file__).parent.parent
N_DATASETS, N_EACH, ICC, LEVEL, FIRST_SEED = 2_000, 4, 0.5, 0.95, 20_500_000
SIZES = ((5, 20), (5, 40), (5, 100), (20, 20), (20, 32), (20, 40), (50, 40))
"""Entrants and tasks."""
EXAMPLES, ICCS = ("fev-bench", "mteb-eng-v2"), (0.25, 0.5, 0.75, 1.0)
FEW_LARGE = ((3, 15, 60), (2, 20, 38), (5, 20, 50), (1, 30, 60))
"""So many families of so many tasks, and so many of one task."""
GROUP_SIZES = ((8, 8, 3, 2, 10, 9, 1), (2, 2, 2, 12), (10, 10, 10), (1, 2, 2, 3, 4), (1, 1, 2, 2, 2, 2, 2))
NOISY: Sequence[Sequence[str]] = (
    (), ("PairClassification",), ("PairClassification", "STS", "Summarization"), ("Summarization",)
)  # fmt: skip
"""Groups of MTEB's mean over task types that vary twice as much as the others."""
OWN_SCORES = (("fev-bench", "model_name", "task_name", "SQL"), ("mteb-eng-v2", "model", "task", "main_score"))
"""An example, and the columns of its rows with entrant, task and score."""
GROUPS = """
schema_version: 1
slug: groups
title: Groups
evidence: evaluation_summary
metrics: {{x: {{direction: maximize}}}}
tasks: [{tasks}]
leaderboards: [{{name: b, metric: x, method: group_mean, groups: {{{groups}}}, uncertainty: {{n_resamples: 1000}}}}]
"""
DRAWN = Uncertainty(n_resamples=1_000)


def equals(rng: np.random.Generator, n_entrants: int, n_tasks: int) -> FloatArray:
    """Return scores [n_tasks, n_entrants] of equal entrants; how hard a task is, is the same for all of them."""
    of_family = np.repeat(rng.normal(size=(n_tasks // N_EACH, n_entrants)), N_EACH, axis=0)
    own = rng.normal(size=(n_tasks, n_entrants))
    return np.asarray(rng.normal(size=(n_tasks, 1)) + np.sqrt(ICC) * of_family + np.sqrt(1.0 - ICC) * own)


def standing_of(values: FloatArray, units: TaskUnits) -> BoardStanding:
    """Return the standing of entrants with these scores [n_tasks, n_entrants], as a board of means has it."""
    return stand(values.mean(axis=0), DrawnSpread.of_means(DRAWN, units, values), LEVEL)


def is_told(standing: BoardStanding) -> bool:
    """Say whether any two are separable."""
    return standing.sets is not None and bool(standing.sets.separated.any())


def share_separated(n_entrants: int, n_tasks: int, n_datasets: int = N_DATASETS) -> tuple[float, float]:
    """Return the share of data sets with a false separation, families declared and undeclared."""
    tasks: Sequence[str] = [f"t{at}" for at in range(n_tasks)]
    declared = TaskUnits(tuple(f"f{at // N_EACH}" for at in range(n_tasks)), are_declared=True)
    found = np.zeros((n_datasets, 2), dtype=np.bool_)
    for at in range(n_datasets):
        values = equals(np.random.default_rng([FIRST_SEED, n_entrants, n_tasks, at]), n_entrants, n_tasks)
        found[at] = [is_told(standing_of(values, units)) for units in (declared, TaskUnits(tuple(tasks)))]
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def families_of(example: str) -> TaskUnits:
    """Return the families of the tasks of an example."""
    manifest = parse_manifest((ROOT / "examples" / example / "manifest.yaml").read_bytes())
    return TaskUnits.of(manifest, manifest.task_ids() or ())


def shares_of_unequal(units: TaskUnits, icc: float, n_entrants: int, n_datasets: int) -> tuple[float, float]:
    """Return how often the 95 % interval of the first two equals holds, and any two are separable."""
    families, of = np.unique(units.names, return_inverse=True)
    found = np.zeros((n_datasets, 2), dtype=np.bool_)
    for at in range(n_datasets):
        rng = np.random.default_rng([FIRST_SEED, n_entrants, len(of), int(100 * icc), at])
        shared, own = (rng.normal(size=(n, n_entrants)) for n in (len(families), len(of)))
        values = np.sqrt(icc) * shared[of] + np.sqrt(1.0 - icc) * own
        standing = standing_of(values, units)
        found[at] = standing.contrasts([0, 1]).p_values[0, 1] >= 1.0 - LEVEL, is_told(standing)
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def share_of_groups(sizes: Sequence[int], n_entrants: int, n_datasets: int = N_DATASETS) -> float:
    """Return the share of boards of means over groups of such sizes on which any two equals are separable."""
    tasks = [f"t{at}" for at in range(sum(sizes))]
    groups = [f"g{at}: [{', '.join(part)}]" for at, part in enumerate(np.split(tasks, np.cumsum(sizes)[:-1]))]
    declared = ", ".join(f"{{id: {task}}}" for task in tasks)
    manifest = parse_manifest(GROUPS.format(tasks=declared, groups=", ".join(groups)).encode())

    def draw(at: int) -> FloatArray:
        return np.random.default_rng([FIRST_SEED, n_entrants, *sizes, at]).normal(size=(n_entrants, len(tasks)))

    return _share_told(manifest, manifest.leaderboards[0], tasks, n_datasets, draw)


def _share_told(
    manifest: Manifest, board: Leaderboard, tasks: Sequence[str], n_datasets: int, draw: Callable[[int], FloatArray]
) -> float:
    """Return the share of data sets, [n_entrants, n_tasks] each, on whose board any two are separable."""
    n_entrants, n_tasks = draw(0).shape
    entrant = np.repeat(np.arange(n_entrants), n_tasks)
    nothing, names = np.zeros(len(entrant), dtype=np.int64), tuple(f"e{at}" for at in range(n_entrants))
    empty = ScoreTable(Coded(names, entrant), Coded(tuple(tasks), np.tile(np.arange(n_tasks), n_entrants)),
                       board.metric_names(), np.zeros((len(entrant), 1)),
                       nothing.astype(bool), nothing, nothing)  # fmt: skip
    n_found = 0
    for at in range(n_datasets):
        rows = compute_board(manifest, board, replace(empty, values=draw(at).reshape(-1, 1))).leaderboard.records()
        n_found += any(row["rank_low"] > 1 for row in rows)
    return n_found / n_datasets


def share_of_noisy(noisy: Sequence[str], icc: float, n_entrants: int, n_datasets: int) -> float:
    """Return the share for MTEB's mean over task types, with its families, where some groups vary twice as much."""
    manifest = parse_manifest((ROOT / "examples" / "mteb-eng-v2" / "manifest.yaml").read_bytes())
    board = manifest.leaderboard("mean-task-type")
    of_task = {task: group for group, tasks in board.groups_of_tasks(()).items() for task in tasks}
    tasks = list(of_task)
    place, apart = TaskUnits.of(manifest, tasks).place, [2.0 if of_task[task] in noisy else 1.0 for task in tasks]

    def draw(at: int) -> FloatArray:
        rng = np.random.default_rng([FIRST_SEED, n_entrants, len(noisy), round(100 * icc), at])
        of_family = rng.normal(size=(n_entrants, int(place.max()) + 1))[:, place]
        own = rng.normal(size=(n_entrants, len(tasks)))
        # Small, so that every score lies within the range that the metric has.
        return np.asarray(0.5 + 0.01 * np.array(apart) * (np.sqrt(icc) * of_family + np.sqrt(1.0 - icc) * own))

    return _share_told(manifest, board, tasks, n_datasets, draw)


def own_scores(example: str, entrant: str, task: str, score: str) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the scores [n_tasks, n_entrants] of an example's first 25 complete entrants, their means all 0; its tasks.

    Errors are taken as logarithms, as boards compare them.
    """
    rows = pd.concat(pd.read_csv(path) for path in sorted((ROOT / "examples" / example / "results").glob("*.csv")))
    complete = rows.pivot_table(index=task, columns=entrant, values=score).dropna(axis=1).iloc[:, :25]
    held = complete.to_numpy(dtype=np.float64)
    values = np.log(held) if score == "SQL" else held
    return values - values.mean(axis=0), tuple(complete.index)


def draws_of_own_scores(example: str, columns: Sequence[str], n_datasets: int) -> FloatArray:
    """Return for each draw of families [n_datasets, 3]: is the largest in it, are any two told apart, are one pair."""
    values, tasks = own_scores(example, *columns)
    manifest = parse_manifest((ROOT / "examples" / example / "manifest.yaml").read_bytes())
    place = TaskUnits.of(manifest, tasks).place
    of_family = [np.flatnonzero(place == at) for at in range(int(place.max()) + 1)]
    largest = int(np.argmax([len(each) for each in of_family]))
    found = np.zeros((n_datasets, 3))
    for at in range(n_datasets):
        rng = np.random.default_rng([FIRST_SEED, values.shape[1], at])
        drawn = rng.integers(0, len(of_family), len(of_family))
        names = tuple(f"f{n}" for n, family in enumerate(drawn) for _ in of_family[family])
        standing = standing_of(values[np.concatenate([of_family[family] for family in drawn])],
                               TaskUnits(names, are_declared=True))  # fmt: skip
        pair = standing.contrasts(rng.choice(values.shape[1], 2, replace=False).tolist())
        found[at] = largest in drawn, is_told(standing), pair.p_values[0, 1] < 1.0 - LEVEL
    return found


def print_own_scores(n_datasets: int) -> None:
    """Print the table of scores that nobody simulated."""
    print("\n| equals with scores of | largest family | of all draws | any two of 25 separable | one pair |")
    print("|---|---|---|---|---|")
    for example, *columns in OWN_SCORES:
        found = draws_of_own_scores(example, columns, n_datasets)
        for named, chosen in (("drawn", found[:, 0] == 1), ("not drawn", found[:, 0] == 0)):
            told, pair = 100 * found[chosen, 1:].mean(axis=0)
            print(f"| {example} | {named} | {100 * chosen.mean():.0f} % | {told:.1f} % | {pair:.1f} % |", flush=True)


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    print("| equal entrants | tasks | families of 4 | families declared | undeclared |\n|---|---|---|---|---|")
    for n_entrants, n_tasks in SIZES:
        shares = (f"{100 * share:.1f} %" for share in share_separated(n_entrants, n_tasks, n_datasets))
        print(f"| {n_entrants} | {n_tasks} | {n_tasks // N_EACH} | {' | '.join(shares)} |", flush=True)
    print(
        "\n| 20 equal entrants, families of | ICC | interval of a pair holds | any two separable |\n|---|---|---|---|"
    )
    unequal = {example: families_of(example) for example in EXAMPLES}
    for n_large, size, n_single in FEW_LARGE:
        names = [f"f{at // size}" for at in range(n_large * size)] + [f"s{at}" for at in range(n_single)]
        unequal[f"{n_large} of {size} tasks, {n_single} of one"] = TaskUnits(tuple(names), are_declared=True)
    for named, units in unequal.items():
        for icc in ICCS:
            holds, told = shares_of_unequal(units, icc, 20, n_datasets)
            print(f"| {named} | {icc:g} | {100 * holds:.1f} % | {100 * told:.1f} % |", flush=True)
    print("\n| equal entrants | tasks of each group | any two separable |\n|---|---|---|")
    for sizes in GROUP_SIZES:
        for n_entrants in (2, 20):
            share = share_of_groups(sizes, n_entrants, n_datasets // 2)
            print(f"| {n_entrants} | {', '.join(map(str, sizes))} | {100 * share:.1f} % |", flush=True)
    print("\n| equal entrants | groups that vary twice as much | ICC | any two separable |\n|---|---|---|---|")
    for noisy in NOISY:
        for icc in (0.5, 1.0):
            for n_entrants in (2, 20):
                share = share_of_noisy(noisy, icc, n_entrants, n_datasets // 2)
                named = ", ".join(noisy) or "none"
                print(f"| {n_entrants} | {named} | {icc:g} | {100 * share:.1f} % |", flush=True)
    print_own_scores(n_datasets)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
