"""How stable the first place is: who would be first on a fixed list of other boards, each one step from this one.

Without each family of tasks (else each task), without each other owner's entrants where scores are about who is
compared, by each metric of the benchmark's other boards, and with other weights. All come from sums that are kept by
task and by owner, so none of these boards is computed anew. A method whose scores are no means over tasks gives the
scores of its other boards itself (`among_others`).
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from app.boards.cells import build_cells
from app.boards.opponents import MOST_ROWS, wins_by_owner
from app.manifest.model import Leaderboard, Manifest, OpenTasks
from app.names import count, first_few
from app.stats.arrays import BoolArray, FloatArray
from app.stats.resample import TIE
from app.values.scores import ScoreTable

MOST_BOARDS = 200
MOST_LISTED = 20
AMONG_BEST = (3, 10, 30, 100)
"""So many of the best make a board of their own where a score is about who is compared: about threefold each time."""
NAMED = 3
"""So many tasks or entrants are named in a line; of more it says how many."""

Elsewhere = tuple[str, FloatArray]
"""Another board: by what it differs, and the scores [n_names] on it, larger being better."""


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
class PointsByTask:
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


def better_by_metric(
    manifest: Manifest, spec: Leaderboard, scores: ScoreTable, by: PointsByTask
) -> dict[str, FloatArray]:
    """Return the values of each metric of the other boards, [n_tasks, n_names], larger being better, NaN for none.

    Leaked ones are replaced as on this board, so that the metric is all that differs. Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> better_by_metric(benchmark(board), board, rows(), PointsByTask(("Good",), ("a",), np.ones((1, 1))))
    {}
    """
    own, found = set(spec.required_metrics()), {}
    for metric in dict.fromkeys(name for other in manifest.leaderboards for name in other.required_metrics()):
        if metric in own or metric not in scores.columns or metric not in manifest.metrics:
            continue
        cells = build_cells(manifest, spec, scores, metric)
        if set(by.tasks) <= set(cells.tasks) and set(by.names) <= set(cells.entrants):
            sign = 1.0 if manifest.metrics[metric].direction == "maximize" else -1.0
            values = cells.without_leaks(cells.values, spec.counts_for_leaks())
            places = ([cells.tasks.index(task) for task in by.tasks], [cells.column(name) for name in by.names])
            found[metric] = sign * values[np.ix_(*places)]
    return found


def no_others(_by: PointsByTask) -> dict[str, FloatArray]:
    """Return no values [n_tasks, n_names], not even NaN: the default where other metrics are not looked up.

    Source: none; a constant.

    >>> no_others(PointsByTask(("A",), ("a",), np.ones((1, 1))))
    {}
    """
    return {}


def stability_meta(
    by: PointsByTask, families: Mapping[str, str], others: Callable[[PointsByTask], Mapping[str, FloatArray]]
) -> dict[str, Any]:
    """Return the stability of the first place for a board's `meta`; empty where there is none.

    `others` gives values [n_tasks, n_names] by metric, larger being better, NaN for none. Source: `stability`.

    >>> stability_meta(PointsByTask(("A",), ("a",), np.ones((1, 1))), {}, no_others)
    {}
    """
    found = stability(by, families, others(by) if len(by.names) > 1 else {})
    return {} if found is None else {"stability": found}


def stability(
    by: PointsByTask, families: Mapping[str, str], others: Mapping[str, FloatArray] | None = None
) -> dict[str, Any] | None:
    """Return on how many other boards the first is first, for a table's `meta`; None where there is no other board.

    `families` are by task, `others` as of `better_by_metric`. Source: `among_others`.

    >>> by = PointsByTask(("A", "B"), ("a", "b", "c"), np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> found = stability(by, {})
    >>> found["n_boards"], found["n_first"], found["without"]
    (3, 2, [{'what': 'without a', 'first': 'B'}])
    """
    if len(by.names) < 2 or len(by.tasks) < 2:
        return None
    leader = int(_scores(by, np.ones(len(by.tasks))).argmax())
    besides = chain(_by_metrics(by, others or {}, leader), _by_weights(by, families), _among_the_best(by),
                    _without_owners(by, leader))  # fmt: skip
    # Of many tasks the boards without each leave half of the places to those that differ in more.
    kept = list(islice(besides, MOST_BOARDS // 2))
    without_tasks = islice(_without_tasks(by, families), MOST_BOARDS - len(kept))
    found = among_others(by.names, leader, chain(without_tasks, kept))
    fewest = None if found is None else _fewest_tasks(by, leader)
    if found is None or fewest is None:
        return found
    names, first = fewest
    n, together = len(names), " together" if len(names) > 1 else ""
    left_out = f"{count(n, f'particular {by.noun}')} of {len(by.tasks):,} {'was' if n == 1 else 'were'}"
    clause = f"{found['clause']}; another would lead if {left_out} left out"
    if n == 1 and any(each["what"] == _without(names[0], 1, by.noun) for each in found["without"]):
        return {**found, "clause": clause}
    line = {"what": f"without {count(n, by.noun)}{together} ({first_few(names, NAMED)})", "first": first}
    return {**found, "n_fewest": n, "without": [line, *found["without"]][:MOST_LISTED], "clause": clause}


def among_others(names: Sequence[str], leader: int, boards: Iterable[Elsewhere], by: str = "") -> dict[str, Any] | None:
    """Return on how many other boards the one at position `leader` of `names` [n_names] is first; None without any.

    `n_boards` boards are asked, at most MOST_BOARDS: `variants` says by what each differs. On `n_first` of them it is
    first alone, on `n_shared` with others of the same score: `shared` says by what these differ. `without` are the rest
    with who is first there. These two hold at most MOST_LISTED. Of a board of means over tasks (`stability`) the first
    line of `without` are the `n_fewest` tasks without which somebody else is, chosen after the fact, if these are no
    board of the list. `clause` says it in words, which end with `by` where all of the boards differ by the same.
    Source: Steegen et al. 2016, Increasing transparency through a multiverse analysis.

    >>> found = among_others("AB", 0, [("by mae", np.array([2.0, 1.0])), ("without a", np.array([0.0, 1.0]))])
    >>> found["clause"], found["without"]
    ('stays first in 1 of 2 variants of this board', [{'what': 'without a', 'first': 'B'}])
    >>> among_others("AB", 0, [("by mae", np.array([2.0, 1.0])), ("by mse", np.array([0.0, 0.0]))])["clause"]
    'is first alone in 1 of 2 variants of this board, beside others in 1'
    >>> boards = [("by mae", np.array([2.0, 1.0])), ("by mse", np.array([1.0, 0.0]))]
    >>> among_others("AB", 0, boards, by=" by other metrics")["clause"]
    'stays first in all 2 variants of this board by other metrics'
    >>> among_others("AB", 0, [("by mse", np.array([0.0, 0.0]))])["clause"]
    'shares the first place in the only variant of this board that was computed'
    """
    variants, lost, shared = [], [], []
    for what, scores in islice(boards, MOST_BOARDS):
        variants.append(what)
        if scores[leader] < scores.max() - TIE:
            lost.append({"what": what, "first": names[int(scores.argmax())]})
        elif (scores >= scores.max() - TIE).sum() > 1:
            shared.append(what)
    if not variants:
        return None
    n_boards = len(variants)
    n_first, n_shared = n_boards - len(lost) - len(shared), len(shared)
    of_how_many = f"{n_first:,} of {n_boards:,}" if n_first < n_boards else f"all {n_boards:,}"
    of_board = f"variants of this board{by}"
    clause = f"stays first in {of_how_many} {of_board}"
    if n_boards == 1:
        how = "shares the first place" if shared else f"{'stays' if n_first else 'is not'} first"
        clause = f"{how} in the only variant of this board that was computed"
    elif n_shared == n_boards:
        clause = f"shares the first place in {'both' if n_boards == 2 else f'all {n_boards:,}'} {of_board}"
    elif shared:
        clause = f"is first alone in {of_how_many} {of_board}, beside others in {n_shared:,}"
    return {"n_boards": n_boards, "n_first": n_first, "n_shared": n_shared, "shared": shared[:MOST_LISTED],
            "variants": variants, "without": lost[:MOST_LISTED], "clause": clause}  # fmt: skip


def prefers_some(scores: FloatArray) -> bool:
    """Say whether not all scores by another metric [n_names] are equal; −inf is none.

    By one of which everybody has 0 nobody is first or is not. What is left without a task may be equal, and says that
    the first place hangs on it. Source: none; it compares.

    >>> prefers_some(np.array([0.0, 0.0, -np.inf])), prefers_some(np.array([0.0, 0.1]))
    (False, True)
    """
    known = scores[~np.isneginf(scores)]
    return bool(len(known)) and float(np.ptp(known)) > TIE


def means_elsewhere(
    points: Mapping[str, float], weights: Mapping[str, float], families: Mapping[str, str]
) -> dict[str, float]:
    """Return the weighted mean of points by task on other boards, by what differs: what is left out, equal weights.

    One without each family, or each task; empty for a single one. Points keep their unit; each has a weight.
    Source: leave one out.

    >>> means_elsewhere({"a": 1.0, "b": 3.0}, {"a": 1.0, "b": 1.0}, {})
    {'without a': 3.0, 'without b': 1.0}
    """
    of = {task: families.get(task, task) for task in points}
    names = list(of.values())
    found = {}
    for name in dict.fromkeys(names):
        if left := [task for task in points if of[task] != name]:
            total = sum(weights[task] for task in left)
            found[_without(name, names.count(name), "task")] = sum(weights[t] * points[t] for t in left) / total
    if found and len({weights[task] for task in points}) > 1:
        found["with every task the same weight"] = sum(points.values()) / len(points)
    return found


def _without(name: str, n: int, noun: str) -> str:
    return f"without {name}" if n == 1 else f"without {name} ({count(n, noun)})"


def _scores(by: PointsByTask, kept: FloatArray) -> FloatArray:
    """Return the scores with tasks weighed by `kept` [n_tasks]; -inf for everybody where nothing is left."""
    if not by.groups:
        return np.asarray(kept @ by.points)
    totals = [
        (weights @ by.points) / weights.sum()
        for group in dict.fromkeys(by.groups)
        if (weights := kept * (np.array(by.groups) == group)).sum() > 0.0
    ]
    return np.asarray(sum(totals))


def _without_tasks(by: PointsByTask, families: Mapping[str, str]) -> Iterator[Elsewhere]:
    of = np.array([families.get(task, task) for task in by.tasks])
    names = list(dict.fromkeys(of.tolist()))
    for name in names if len(names) > 1 else ():
        yield _without(name, int((of == name).sum()), by.noun), _scores(by, (of != name).astype(np.float64))


def _by_metrics(by: PointsByTask, others: Mapping[str, FloatArray], leader: int) -> Iterator[Elsewhere]:
    """Yield a board for each metric that the first has on every task; who lacks some is not first by it.

    None of a metric by which all are equal: it says nothing of who is first.
    """
    for metric, better in others.items() if by.points_of is not None else ():
        lacks: BoolArray = np.asarray(np.isnan(better).any(axis=0))
        if not lacks[leader] and (~lacks).sum() > 1 and by.points_of is not None:
            points = np.zeros(better.shape)
            points[:, ~lacks] = by.points_of(better[:, ~lacks])
            means = np.where(lacks, -np.inf, _scores(replace(by, points=points), np.ones(len(by.tasks))))
            if prefers_some(means):
                yield f"by {metric}", means


def _by_weights(by: PointsByTask, families: Mapping[str, str]) -> Iterator[Elsewhere]:
    if by.equal is not None:
        yield f"with every {by.noun} the same weight", np.asarray(by.equal.sum(axis=0))
    of = [families.get(task, task) for task in by.tasks]
    if 1 < len(set(of)) < len(of):
        weights = np.array([1.0 / of.count(name) for name in of])
        yield "with every family the same weight", np.asarray(weights @ by.points)


def _among_the_best(by: PointsByTask) -> Iterator[Elsewhere]:
    """Yield a board of the best alone, a few and more of them, where opponents count."""
    if by.better is None or by.points_of is None:
        return
    order = np.argsort(-_scores(by, np.ones(len(by.tasks))), kind="stable")
    for n in AMONG_BEST:
        if n < len(order):
            scores = np.full(len(order), -np.inf)
            best = order[:n]
            scores[best] = _scores(replace(by, points=by.points_of(by.better[:, best])), np.ones(len(by.tasks)))
            yield f"among the best {n}", scores


def _without_owners(by: PointsByTask, leader: int) -> Iterator[Elsewhere]:
    """Yield a board without each owner's other entrants, those with most of them first, where opponents count."""
    if by.better is None:
        return
    rows = np.argsort(-by.points.sum(axis=0), kind="stable")[:MOST_ROWS]
    # The leader stays, so it is apart from the others of its owner.
    owners = [("leader",) if at == leader else owner for at, owner in enumerate(by.owners)]
    all_owners, wins = wins_by_owner(by.better, rows, owners)
    for what, places in other_owners(by.names, by.owners, leader):
        scores = np.full(len(by.names), -np.inf)
        scores[rows] = wins.sum(axis=1) - wins[:, all_owners.index(owners[places[0]])]
        scores[places] = -np.inf
        yield what, scores


def other_owners(names: Sequence[str], owners: Sequence[Hashable], leader: int) -> Iterator[tuple[str, list[int]]]:
    """Yield what is left out without the entrants of each owner, but for the leader, and their positions, most first.

    Only owners that are known, text, and leave two entrants or more. Source: leave one out.

    >>> list(other_owners("ABCDE", ["a", "b", "b", ("unknown",), "a"], 0))
    [('without 2 entrants of one owner (B, C)', [1, 2]), ('without one other entrant of its owner (E)', [4])]
    """
    owned: dict[str, list[int]] = {}
    for at, owner in enumerate(owners):
        if at != leader and isinstance(owner, str):
            owned.setdefault(owner, []).append(at)
    for owner, places in sorted(owned.items(), key=lambda each: (-len(each[1]), each[0])):
        n, is_own = len(places), owner == owners[leader]
        what = "other entrant" if is_own else "entrant"
        who = f"one {what}" if n == 1 else count(n, what)
        whose = " of its owner" if is_own else " of one owner" if n > 1 else ""
        if n <= len(names) - 2:
            yield f"without {who}{whose} ({first_few([names[at] for at in places], NAMED)})", places


def _single_task(by: PointsByTask, leader: int) -> tuple[Sequence[str], str] | None:
    for at, task in enumerate(by.tasks):
        scores = _scores(by, (np.arange(len(by.tasks)) != at).astype(np.float64))
        if len(by.tasks) > 2 and scores[leader] < scores.max() - TIE:
            return [task], by.names[int(scores.argmax())]
    return None


def _fewest_tasks(by: PointsByTask, leader: int) -> tuple[Sequence[str], str] | None:
    """Return the fewest tasks without which another is ahead, and who; None where it takes half of them.

    Of one rival that is exact: the tasks on which the first gains most on it. In groups only single tasks are tried.
    """
    if by.groups:
        return _single_task(by, leader)
    ahead = by.points[:, [leader]] - by.points
    order = np.argsort(-ahead, axis=0, kind="stable")
    left = ahead.sum(axis=0) - np.cumsum(np.take_along_axis(ahead, order, axis=0), axis=0)
    left[:, leader] = np.inf
    is_behind = left < -TIE
    n_needed = np.where(is_behind.any(axis=0), is_behind.argmax(axis=0) + 1, len(by.tasks))
    rival = int(n_needed.argmin())
    n = int(n_needed[rival])
    if 2 * n >= len(by.tasks):
        return None
    return [by.tasks[at] for at in order[:n, rival].tolist()], by.names[rival]
