"""How stable the first place is: who would be first on a fixed list of other boards, each one step from this one.

Without each family of tasks (else each task), without each other owner's entrants where scores are about who is
compared, by each metric of the benchmark's other boards, and with other weights. All come from sums that are kept by
task and by owner, so none of these boards is computed anew.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.cells import build_cells
from app.boards.opponents import MOST_ROWS, wins_by_owner
from app.manifest.model import Leaderboard, Manifest, OpenTasks
from app.names import count, first_few, in_words
from app.stats.arrays import BoolArray, FloatArray
from app.stats.resample import TIE
from app.values.scores import ScoreTable

MOST_BOARDS = 200
MOST_LISTED = 20
NAMED = 3
"""So many tasks or entrants are named in a line; of more it says how many."""


def family_of(manifest: Manifest) -> dict[str, str]:
    """Return the family of each declared task, or the task itself where none is declared.

    >>> from app.boards.example import benchmark
    >>> from app.boards.methods.mean import Mean
    >>> family_of(benchmark(Mean(name="main", method="mean", metric="error")))
    {'a': 'a', 'b': 'b', 'c': 'c'}
    """
    declared = () if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    return {task.id: task.family or task.id for task in declared}


@dataclass(frozen=True)
class ByTask:
    """The points of the ranked, [n_tasks, n_names], larger being better; a score is their mean over tasks.

    `groups` [n_tasks] are those of tasks that are averaged first, as are then the groups; empty where tasks all weigh
    the same. `equal` [n_tasks, n_names] are the points with every task weighing the same, where a board has weights.
    `points_of` gives the points of another metric's values, larger being better. `better` [n_tasks, n_names] and
    `owners` [n_names] are given where points count opponents. `noun` is what tasks are called.
    """

    names: Sequence[str]
    tasks: Sequence[str]
    points: FloatArray
    points_of: Callable[[FloatArray], FloatArray] | None = None
    groups: Sequence[str] = ()
    equal: FloatArray | None = None
    better: FloatArray | None = None
    owners: Sequence[Hashable] = ()
    noun: str = "task"


def better_by_metric(manifest: Manifest, spec: Leaderboard, scores: ScoreTable, by: ByTask) -> dict[str, FloatArray]:
    """Return the values of each metric of the other boards, [n_tasks, n_names], larger being better, NaN for none.

    Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> better_by_metric(benchmark(board), board, rows(), ByTask(("Good",), ("a",), np.ones((1, 1))))
    {}
    """
    own, found = set(spec.required_metrics()), {}
    for metric in dict.fromkeys(name for other in manifest.leaderboards for name in other.required_metrics()):
        if metric in own or metric not in scores.columns or metric not in manifest.metrics:
            continue
        cells = build_cells(manifest, spec, scores, metric)
        if set(by.tasks) <= set(cells.tasks) and set(by.names) <= set(cells.entrants):
            sign = 1.0 if manifest.metrics[metric].direction == "maximize" else -1.0
            found[metric] = sign * cells.only(by.names).values[[cells.tasks.index(task) for task in by.tasks]]
    return found


def no_others(_by: ByTask) -> dict[str, FloatArray]:
    """Return no values [n_tasks, n_names], not even NaN: the default where other metrics are not looked up.

    Source: none; a constant.

    >>> no_others(ByTask(("A",), ("a",), np.ones((1, 1))))
    {}
    """
    return {}


def stability_meta(
    by: ByTask, families: Mapping[str, str], others: Callable[[ByTask], Mapping[str, FloatArray]]
) -> dict[str, Any]:
    """Return the stability of the first place for a board's `meta`; empty where there is none.

    `others` gives values [n_tasks, n_names] by metric, larger being better, NaN for none. Source: `stability`.

    >>> stability_meta(ByTask(("A",), ("a",), np.ones((1, 1))), {}, no_others)
    {}
    """
    found = stability(by, families, others(by) if len(by.names) > 1 else {})
    return {} if found is None else {"stability": found}


def stability(
    by: ByTask, families: Mapping[str, str], others: Mapping[str, FloatArray] | None = None
) -> dict[str, Any] | None:
    """Return on how many other boards the first is first, for a table's `meta`; None where there is no other board.

    `n_boards` boards are asked, on `n_first` of which it is first, alone or not; `without` are the others with who is
    first there, at most MOST_LISTED. The first of these lines is the fewest tasks without which somebody else is; it
    is no board of the list. `clause` says it in words. `families` are by task, `others` as of `better_by_metric`.
    Source: Steegen et al. 2016, Increasing transparency through a multiverse analysis.

    >>> by = ByTask(("A", "B"), ("a", "b", "c"), np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> found = stability(by, {})
    >>> found["n_boards"], found["n_first"], found["without"]
    (3, 2, [{'what': 'without 1 task (a)', 'first': 'B'}, {'what': 'without a', 'first': 'B'}])
    """
    if len(by.names) < 2 or len(by.tasks) < 2:
        return None
    leader = int(_scores(by, np.ones(len(by.tasks))).argmax())
    boards = [
        (what, scores)
        for each in (_without_tasks(by, families), _by_metrics(by, others or {}, leader), _by_weights(by, families),
                     _without_owners(by, leader))
        for what, scores in each
    ][:MOST_BOARDS]  # fmt: skip
    if not boards:
        return None
    is_first = [bool(scores[leader] >= scores.max() - TIE) for _, scores in boards]
    lost = [
        {"what": what, "first": by.names[int(scores.argmax())]}
        for (what, scores), is_it in zip(boards, is_first, strict=True)
        if not is_it
    ]
    fewest = _fewest_tasks(by, leader)
    found = {"n_boards": len(boards), "n_first": sum(is_first), "without": [*fewest, *lost][:MOST_LISTED]}
    return {**found, "clause": _clause(found, fewest)}


def _clause(found: Mapping[str, Any], fewest: Sequence[Mapping[str, str]]) -> str:
    text = f"first on {found['n_first']} of {count(found['n_boards'], 'other board')}"
    return f"{text}; {fewest[0]['what']} second to {in_words(fewest[0]['first'])}" if fewest else text


def _scores(by: ByTask, kept: FloatArray) -> FloatArray:
    """Return the scores with tasks weighed by `kept` [n_tasks]; -inf for everybody where nothing is left."""
    if not by.groups:
        return np.asarray(kept @ by.points)
    totals = [
        (weights @ by.points) / weights.sum()
        for group in dict.fromkeys(by.groups)
        if (weights := kept * (np.array(by.groups) == group)).sum() > 0.0
    ]
    return np.asarray(sum(totals))


def _without_tasks(by: ByTask, families: Mapping[str, str]) -> Iterator[tuple[str, FloatArray]]:
    of = np.array([families.get(task, task) for task in by.tasks])
    names = list(dict.fromkeys(of.tolist()))
    for name in names[:MOST_BOARDS] if len(names) > 1 else ():
        n = int((of == name).sum())
        what = f"without {name}" if n == 1 else f"without {name} ({count(n, by.noun)})"
        yield what, _scores(by, (of != name).astype(np.float64))


def _by_metrics(by: ByTask, others: Mapping[str, FloatArray], leader: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield a board for each metric that the first has on every task; who lacks some is not first by it."""
    for metric, better in others.items() if by.points_of is not None else ():
        lacks: BoolArray = np.asarray(np.isnan(better).any(axis=0))
        if not lacks[leader] and (~lacks).sum() > 1 and by.points_of is not None:
            points = np.full(better.shape, -np.inf)
            points[:, ~lacks] = by.points_of(better[:, ~lacks])
            means = np.where(lacks, -np.inf, np.where(lacks, 0.0, points).sum(axis=0))
            yield f"by {metric}", means


def _by_weights(by: ByTask, families: Mapping[str, str]) -> Iterator[tuple[str, FloatArray]]:
    if by.equal is not None:
        yield f"with every {by.noun} the same weight", np.asarray(by.equal.sum(axis=0))
    of = [families.get(task, task) for task in by.tasks]
    if 1 < len(set(of)) < len(of):
        weights = np.array([1.0 / of.count(name) for name in of])
        yield "with every family the same weight", np.asarray(weights @ by.points)


def _without_owners(by: ByTask, leader: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield a board without each other owner's entrants, those with most of them first, where opponents count."""
    if by.better is None:
        return
    rows = np.argsort(-by.points.sum(axis=0), kind="stable")[:MOST_ROWS]
    all_owners, wins = wins_by_owner(by.better, rows, by.owners)
    n_entrants = Counter(by.owners)
    for owner in sorted(all_owners, key=lambda each: (-n_entrants[each], str(each))):
        places = [at for at, name in enumerate(by.owners) if name == owner]
        theirs = [by.names[at] for at in places]
        if owner == by.owners[leader] or not isinstance(owner, str) or len(theirs) > len(by.names) - 2:
            continue
        scores = np.full(len(by.names), -np.inf)
        scores[rows] = wins.sum(axis=1) - wins[:, all_owners.index(owner)]
        scores[places] = -np.inf
        who = f"{count(len(theirs), 'entrant')} of one owner" if len(theirs) > 1 else "one entrant"
        yield f"without {who} ({first_few(theirs, NAMED)})", scores


def _fewest_tasks(by: ByTask, leader: int) -> list[dict[str, str]]:
    """Return the fewest tasks without which another is ahead; none where that takes half of them, or in groups.

    Of one rival that is exact: the tasks on which the first gains most on it.
    """
    if by.groups:
        return []
    ahead = by.points[:, [leader]] - by.points
    order = np.argsort(-ahead, axis=0, kind="stable")
    left = ahead.sum(axis=0) - np.cumsum(np.take_along_axis(ahead, order, axis=0), axis=0)
    left[:, leader] = np.inf
    is_behind = left < -TIE
    n_needed = np.where(is_behind.any(axis=0), is_behind.argmax(axis=0) + 1, len(by.tasks))
    rival = int(n_needed.argmin())
    n = int(n_needed[rival])
    if 2 * n >= len(by.tasks):
        return []
    names = [by.tasks[at] for at in order[:n, rival].tolist()]
    return [{"what": f"without {count(n, by.noun)} ({first_few(names, NAMED)})", "first": by.names[rival]}]
