"""Every entrant's value on every task, as boards use it: the matrix behind a board, and two entrants compared. Values
are means over an entrant's rows on a task.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from app.boards.coverage import PARTIAL
from app.boards.measured import EntrantEvidence
from app.boards.methods.weighted_rank.records import BY_SIZE, RULES, WeightedRank, split_identity
from app.boards.standing import caveats_of, ruled_pairs, separable_pairs
from app.manifest.model import Leaderboard, Manifest, Metric
from app.names import count, first_few, in_words, names_in_words
from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, Column, Table, finite

MOST_CELLS = 60_000

TOO_MANY = "{n_entrants:,} entrants on {n_tasks:,} tasks are more than one picture shows ({most:,} cells at most)."

STATES = "The darker a cell, the better its place on its task. × failed, □ no result, ╱ imputed, • leaked."

COUNTED_INSTEAD = "A leaked cell shows the entrant's own value; the board counts that of {model} there."

NOT_COUNTED = "A leaked cell shows the entrant's own value; the board does not count it."

NO_PLACE = "Without a place, for their values may be of a part of a task: {names}."

Counted = Callable[[EntrantEvidence], ScoreTable]


@dataclass(frozen=True)
class TaskValues:
    """One metric as tasks × entrants: arrays are [n_tasks, n_entrants], NaN is no value.

    `present` marks a cell with a row, `leaked` one of these on leaked data.
    """

    metric: str
    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    values: FloatArray
    present: BoolArray
    leaked: BoolArray

    def with_results_of(self, entrant: str) -> "TaskValues":
        """Return the tasks on which an entrant has a value, as `CellMatrix.with_results_of`."""
        at = np.flatnonzero(~np.isnan(self.values[:, self.entrants.index(entrant)]))
        if len(at) == len(self.tasks):
            return self
        tasks = tuple(self.tasks[place] for place in at.tolist())
        return replace(self, tasks=tasks, values=self.values[at], present=self.present[at], leaked=self.leaked[at])

    def as_counted(self, spec: Leaderboard) -> FloatArray:
        """Return the values [n_tasks, n_entrants] with what a board counts in place of leaked ones, or NaN.

        What an entrant is said to have seen may not better its place in a group of tasks either.
        """
        model = spec.counts_for_leaks()
        if model is None:
            return self.values
        instead = self.values[:, self.entrants.index(model)] if model in self.entrants else np.nan
        return np.where(self.leaked, np.reshape(instead, (-1, 1)), self.values)


def task_values(
    manifest: Manifest, spec: Leaderboard, scores: ScoreTable, counted: Counted | None = None
) -> TaskValues:
    """Return the mean of the board's first metric by task and entrant, in the unit of the metric.

    Tasks are those of the board that are declared or have a row; where its scores are relative to an entrant that is
    here, those on which it has a value. Rows without a value are left out of the mean; if there are no others, it is
    NaN. `counted` returns an entrant's rows as the board counts them, where missing values count.
    Raises KeyError where the rows lack the metric.
    Source: the mean over rows.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> by_task = task_values(benchmark(board), board, rows())
    >>> by_task.tasks, by_task.values[0].tolist()
    (('a', 'b', 'c'), [0.1, 0.2, 0.8])
    """
    metric = next(name for name in (*metrics_of_means(manifest, [spec]), *manifest.metrics) if name in scores.columns)
    own = spec.ranked_tasks()
    tasks = tuple(task for task in (manifest.task_ids() or sorted(scores.task.words)) if own is None or task in own)
    names = scores.entrant.words
    if counted is None:
        found = TaskValues(metric, tasks, names, *_means(scores, metric, tasks))
        base = spec.relative_to()
        return found.with_results_of(base) if base in names else found
    columns = [_means(counted(_evidence_of(scores, at)), metric, tasks) for at in range(len(names))]
    return TaskValues(metric, tasks, names, *(np.hstack(parts) for parts in zip(*columns, strict=True)))


def _evidence_of(scores: ScoreTable, at: int) -> EntrantEvidence:
    """Return the evidence of the entrant at a position, with its rows alone."""
    rows = scores.take(scores.entrant.codes == at)
    name = scores.entrant.words[at]
    return EntrantEvidence(name, replace(rows, entrant=Coded((name,), np.zeros(len(rows), dtype=np.int64))))


def _means(scores: ScoreTable, metric: str, tasks: Sequence[str]) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return means, whether there are rows, and whether one is on leaked data, each [n_tasks, n_entrants]."""
    place = {task: at for at, task in enumerate(tasks)}
    shape = (len(tasks), len(scores.entrant.words))
    row = np.array([place.get(word, -1) for word in scores.task.words], dtype=np.int64)[scores.task.codes]
    known = row >= 0
    at = np.ravel_multi_index((row[known], scores.entrant.codes[known]), shape) if known.any() else row[:0]
    value, leaked = scores.value(metric)[known], scores.leaked[known]
    has_value = ~np.isnan(value)
    n_cells = shape[0] * shape[1]
    total = np.bincount(at[has_value], value[has_value], n_cells)
    count = np.bincount(at[has_value], minlength=n_cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(count > 0, total / count, np.nan)
    present = np.bincount(at, minlength=n_cells) > 0
    spoiled = np.bincount(at[leaked], minlength=n_cells) > 0
    return means.reshape(shape), present.reshape(shape), spoiled.reshape(shape)


def matrix_table(
    spec: Leaderboard, metric: Metric, by_task: TaskValues, order: Sequence[str], partial: Collection[str] = ()
) -> Table:
    """Return a row for each entrant and task: the value, the share of the others that it beats, and its state.

    `order` is the board's; entrants not in it follow by name. The share is 1 for the best and 0 for the worst of those
    with a value, null without one or alone; the value is in the unit of the metric. `partial` entrants' values may be
    means over a part of a task: they beat nobody and nobody beats them. Raises nothing: a matrix too large to draw is
    empty and says so.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> by_task = task_values(benchmark(board), board, rows())
    >>> matrix_table(board, benchmark(board).metrics["error"], by_task, ["Good"]).rows[0]
    ('Good', 'a', 0.1, 1.0, 'value')
    """
    title = f"{spec.title or spec.name}: entrants by tasks"
    if len(by_task.tasks) * len(by_task.entrants) > MOST_CELLS:
        why = TOO_MANY.format(n_entrants=len(by_task.entrants), n_tasks=len(by_task.tasks), most=MOST_CELLS)
        return Table(f"matrix/{spec.name}", title, (), (), (why,), {"unavailable": why})
    is_partial = np.isin(by_task.entrants, list(partial))
    shares, states = _shares(by_task, metric, is_partial), _states(by_task, is_partial, imputes=spec.imputes())
    place = {name: at for at, name in enumerate(by_task.entrants)}
    first = [name for name in order if name in place]
    rows = tuple(
        (name, task, finite(float(by_task.values[at, place[name]])), finite(float(shares[at, place[name]])),
         states[at][place[name]])
        for name in (*first, *sorted(set(by_task.entrants) - set(first)))
        for at, task in enumerate(by_task.tasks)
    )  # fmt: skip
    columns = (
        Column("entrant", "Entrant", "text"),
        Column("task", "Task", "text"),
        Column("value", metric.title or by_task.metric, unit=metric.unit, direction=metric.direction, digits=4),
        Column("beats", "Share beaten", direction="maximize", glossary="share_beaten", digits=2),
        Column("state", "State", "text"),
    )
    plot = {"kind": "squares", "y": "entrant", "x": "task", "share": "beats", "state": "state"}
    apart = [name for name, is_apart in zip(by_task.entrants, is_partial.tolist(), strict=True) if is_apart]
    notes = (STATES, *_leaks(spec, by_task), *([NO_PLACE.format(names=names_in_words(apart))] if apart else []))
    return Table(f"matrix/{spec.name}", title, columns, rows, notes, {"plot": plot, "metric": by_task.metric})


def _leaks(spec: Leaderboard, by_task: TaskValues) -> Iterator[str]:
    """Yield what the board counts in place of a leaked value, which the picture shows as it was sent."""
    model = spec.counts_for_leaks()
    if model is not None and by_task.leaked.any():
        yield COUNTED_INSTEAD.format(model=in_words(model)) if model in by_task.entrants else NOT_COUNTED


def _shares(by_task: TaskValues, metric: Metric, is_partial: BoolArray) -> FloatArray:
    sign = 1.0 if metric.direction == "maximize" else -1.0
    shares = np.full(by_task.values.shape, np.nan)
    for at, row in enumerate(by_task.values):
        known = ~np.isnan(row) & ~is_partial
        if known.sum() > 1:
            shares[at, known] = (scipy.stats.rankdata(sign * row[known]) - 1.0) / (known.sum() - 1.0)
    return shares


def _states(by_task: TaskValues, is_partial: BoolArray, *, imputes: bool) -> list[list[str]]:
    lost = "imputed" if imputes else "no value"
    gone = "imputed" if imputes else "absent"
    states = np.where(
        np.isnan(by_task.values), np.where(by_task.present, lost, gone), np.where(is_partial, PARTIAL, "value")
    )
    named: list[list[str]] = np.where(by_task.leaked, "leaked", states).tolist()
    return named


def differences_table(
    spec: Leaderboard, metric: Metric, by_task: TaskValues, pair: tuple[str, str], on_board: float | None = None
) -> Table:
    """Return the tasks that both entrants have, largest difference first, and which of them are decisive.

    The effect is in favour of A where it is positive: the difference of the values in the unit of the metric or, where
    the board compares errors as ratios, the natural logarithm of B's over A's. `without` is the mean effect over the
    other tasks, null where there is none; a task is decisive if without it the mean would favour the other entrant.
    These two are there only where the board compares by that mean, of all tasks and of values as they were sent:
    `on_board` is by how much A is ahead there, in the unit of the effect, None where that is not known.
    Raises ValueError for an entrant without rows.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> by_task = task_values(benchmark(board), board, rows())
    >>> differences_table(board, benchmark(board).metrics["error"], by_task, ("Good", "Poor")).notes[0]
    'Good is ahead on 3 of 3 tasks, Poor on 0.'
    """
    a, b = (by_task.values[:, by_task.entrants.index(name)] for name in pair)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = (
            np.log(b / a) if spec.compares_ratios() else (a - b) * (1.0 if metric.direction == "maximize" else -1.0)
        )
    at_pair = [by_task.entrants.index(name) for name in pair]
    # What has seen a task's data says nothing there of who is better.
    seen = by_task.leaked[:, at_pair].any(axis=1) & np.isfinite(effect) & (spec.counts_for_leaks() is not None)
    kept = np.flatnonzero(np.isfinite(effect) & ~seen)
    kept = kept[np.argsort(-np.abs(effect[kept]), kind="stable")]
    own = effect[kept]
    mean = float(own.mean()) if len(own) else 0.0
    without = (own.sum() - own) / (len(own) - 1) if len(own) > 1 else np.full(len(own), np.nan)
    decides = mean * without < 0.0
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (by_task.tasks[at], float(a[at]), float(b[at]), float(own[n]), finite(float(without[n])), bool(decides[n]))
        for n, at in enumerate(kept.tolist())
    )
    is_same = on_board is not None and math.isclose(mean, on_board, rel_tol=1e-6, abs_tol=1e-9)
    n_known = int(np.isfinite(by_task.values).any(axis=1).sum())
    is_score = spec.is_mean_over_tasks() and len(own) == n_known and is_same
    ratios = "log ratio of errors" if spec.compares_ratios() else f"difference of {metric.title or by_task.metric}"
    columns: tuple[Column, ...] = (
        Column("task", "Task", "text"),
        Column("a", pair[0], digits=4),
        Column("b", pair[1], digits=4),
        Column("effect", f"In favour of {pair[0]}", unit=ratios, digits=3),
        Column("without", "Mean without this task", unit=ratios, digits=3),
        Column("decides", "Decides who leads", "flag"),
    )
    plot = {"kind": "bars_by_name", "label": "task", "x": "effect"}
    name = metric.title or by_task.metric
    notes = [f"Here {name} alone is compared, one component of the score."] if spec.combines_metrics() else []
    notes += _ahead(pair, own, len(by_task.tasks) - int(seen.sum()))
    notes += [f"Tasks whose data one of them is said to have seen are left out: {seen.sum()}."] if seen.any() else []
    if is_score:
        plot["marked"] = "decides"
        notes += _deciding(pair, mean, [str(row[0]) for row in rows if row[-1]], len(own))
    else:
        columns, rows = columns[:-2], tuple(row[:-2] for row in rows)
        if len(own) and len(by_task.tasks) > 1 and not spec.combines_metrics():
            notes.append(f"Here {name} is compared as it was sent; the score of the board is not the mean of these.")
    return Table(f"differences/{spec.name}", "Task by task", columns, rows, tuple(notes), {"plot": plot})


def _ahead(pair: tuple[str, str], own: FloatArray, n_tasks: int) -> Iterator[str]:
    if not len(own):
        yield "The two have no task in common."
        return
    ahead = int((own > 0).sum())
    behind = int((own < 0).sum())
    yield f"{in_words(pair[0])} is ahead on {ahead} of {count(len(own), 'task')}, {in_words(pair[1])} on {behind}."
    if len(own) < n_tasks:
        yield f"Tasks that one or both lack are left out: {n_tasks - len(own)}."


def _deciding(pair: tuple[str, str], mean: float, deciding: Sequence[str], n_tasks: int) -> Iterator[str]:
    leader, other = map(in_words, pair if mean > 0 else pair[::-1])
    if deciding:
        each = "" if len(deciding) == 1 else "any one of "
        yield f"One task decides: without {each}{first_few(deciding, 5)} {other} would lead on average."
    elif n_tasks > 1 and mean:
        yield f"Without any single task {leader} would still lead on average."


# Who is best on one task, and how the scores on it are distributed.

SHOWN = 3


def places_table(
    spec: Leaderboard,
    metric: Metric,
    by_task: TaskValues,
    parts: Mapping[str, Collection[str]],
    entrant: str,
    beside: Mapping[str, str] | None = None,
    title: str = "Task",
) -> Table:
    """Return an entrant's place in each part of the tasks, the best first, beside the values of some others.

    `title` is what a part is called, `beside` says by name what the column of another one is called.

    A part's value is the mean over its tasks, of errors compared as ratios the geometric mean, in the unit of the
    metric. Places are counted from 1 among those who have every task of the part; without one of them the value is
    null. Raises ValueError for an entrant without rows.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> by_task = task_values(benchmark(board), board, rows())
    >>> places_table(board, benchmark(board).metrics["error"], by_task, {"a": ["a"]}, "Fair").rows[0][:4]
    ('a', 0.2, 2, 3)
    """
    at = by_task.entrants.index(entrant)
    beside = beside or {}
    others = [by_task.entrants.index(name) for name in beside if name in by_task.entrants]
    sign = -1.0 if metric.direction == "maximize" else 1.0
    found = []
    for name, tasks in parts.items():
        places = [by_task.tasks.index(task) for task in tasks if task in by_task.tasks]
        if not places:
            continue
        values = by_task.values[places]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.exp(np.log(values).mean(axis=0)) if spec.compares_ratios() else values.mean(axis=0)
        whole = np.isfinite(means)
        if not whole[at]:
            continue
        place = 1 + int((sign * means[whole] < sign * means[at]).sum())
        best = by_task.entrants[int(np.nanargmin(np.where(whole, sign * means, np.nan)))]
        share = 1.0 if whole.sum() == 1 else 1.0 - (place - 1) / (int(whole.sum()) - 1)
        found.append((share, (name, float(means[at]), place, int(whole.sum()), best, *(finite(float(means[o]))
                                                                                        for o in others))))  # fmt: skip
    rows = tuple(row for _, row in sorted(found, key=lambda each: (-each[0], each[1][0])))
    unit, digits = metric.unit, 4
    columns = (
        Column("part", title, "text"),
        Column("value", metric.title or by_task.metric, unit=unit, direction=metric.direction, digits=digits),
        Column("place", "Place", "integer"),
        Column("among", "Among", "integer"),
        Column("best", "Best", "text"),
        *(Column(f"beside_{n}", beside[by_task.entrants[o]], unit=unit, digits=digits) for n, o in enumerate(others)),
    )
    has = "a result on the task" if title == "Task" else "all tasks of the group"
    note = f"Places count only entrants with {has}. They are not tested."
    return Table("places", f"Places of {entrant}", columns, rows, (note,))


def metrics_of_means(manifest: Manifest, boards: Sequence[Leaderboard]) -> dict[str, Metric]:
    """Return the metrics whose mean over an entrant's rows on a task compares entrants, ranking metrics first.

    Excluded are metrics that rank by absolute value, such as a bias, and those that are not aggregated by a mean.
    Source: the boards' own declarations.

    >>> from app.boards.example import benchmark
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> list(metrics_of_means(benchmark(board), [board]))
    ['error', 'success', 'mae']
    """
    ranking = dict.fromkeys(name for board in boards for name in board.required_metrics())
    is_weighed = any(isinstance(board, WeightedRank) for board in boards)
    others = {*BY_SIZE, *RULES} if is_weighed else set()
    names = [name for name in dict.fromkeys([*ranking, *manifest.metrics]) if name in manifest.metrics]
    return {name: manifest.metrics[name] for name in names if split_identity(name)[0] not in others}


def standing_on_task(table: Table, metrics: Mapping[str, Metric], *, without_leaks: bool = False) -> Table | None:
    """Return the entrants of a task from best to worst by its first metric, with the mean of each one's values.

    Values are in the unit of the metric; ties share a place, counted from 1. An entrant with fewer values than at least
    half of the entrants has a value but no place, null (None), because the missing items may be the hard ones; so has,
    `without_leaks`, one that is said to have seen the task's data. The result is None without such a metric or with
    fewer than two placed entrants. Raises nothing.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("acc", "Accuracy"))
    >>> table = Table("task/t", "t", columns, (("A", 0.5), ("B", 0.75)))
    >>> standing = standing_on_task(table, {"acc": Metric(direction="maximize")})
    >>> [row[:3] for row in standing.rows]
    [(1, 'B', 0.75), (2, 'A', 0.5)]
    """
    name = next((name for name in metrics if name in table.column_names()), None)
    if name is None or "entrant" not in table.column_names():
        return None
    known = _values(table, name)
    if len(known) < 2:
        return None
    counts = sorted(map(len, known.values()), reverse=True)
    means = {entrant: float(np.mean(own)) for entrant, own in known.items()}
    seen = {str(row["entrant"]) for row in table.records() if without_leaks and row.get("leaked")}
    least = counts[(len(counts) - 1) // 2]
    whole = [entrant for entrant, own in known.items() if len(own) >= least and entrant not in seen]
    if len(whole) < 2:
        return None
    sign = -1.0 if metrics[name].direction == "maximize" else 1.0
    ordered = sorted(whole, key=lambda entrant: (sign * means[entrant], entrant))
    values = [means[entrant] for entrant in ordered]
    placed = [(values.index(value) + 1, entrant, value) for entrant, value in zip(ordered, values, strict=True)]
    apart = [(None, entrant, means[entrant]) for entrant in sorted(set(means) - set(whole))]
    columns = (
        Column("place", "Place", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("value", metrics[name].title or name, unit=metrics[name].unit, direction=metrics[name].direction,
               digits=4),
    )  # fmt: skip
    plot = {"kind": "points", "x": "place", "y": "value"}
    lacking = [entrant for _, entrant, _ in apart if entrant not in seen]
    notes = tuple(_task_sentences(placed, values, lacking, sorted(seen & set(known))))
    return Table("standing", "Who wins", columns, (*placed, *apart), notes, {"plot": plot, "metric": name})


def _values(table: Table, name: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    entrant, at = table.index("entrant"), table.index(name)
    for row in table.rows:
        value = row[at]
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(str(row[entrant]), []).append(float(value))
    return values


def _task_sentences(
    rows: Sequence[tuple[Cell, ...]], values: Sequence[float], apart: Sequence[str], seen: Sequence[str]
) -> Iterator[str]:
    first = [in_words(str(row[1])) for row in rows if row[0] == 1]
    shown = first_few(first, SHOWN)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    yield f"First: {shown} with {values[0]:.4g}."
    yield f"The median of {len(values):,} entrants is {middle:.4g}; the middle half lies from {low:.4g} to {high:.4g}."
    if apart:
        yield f"Without a place, with fewer values here than most: {names_in_words(apart)}."
    if seen:
        yield f"Without a place, said to have seen the data of this task: {names_in_words(seen)}."


def side_by_side(matrix: Table, entrants: Sequence[str], pairwise: Table | None) -> Table:
    """Return a row for each task and a column for each of some entrants, best first, from the table of everybody.

    Values are in the unit of the metric, null where there is none; notes say of each pair whether it is separable.
    Raises nothing: a matrix that is not there says why. Source: none; it turns a table.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> values = task_values(benchmark(board), board, rows())
    >>> matrix = matrix_table(board, benchmark(board).metrics["error"], values, [])
    >>> side_by_side(matrix, ["Poor", "Good"], None).rows[0]
    ('a', 0.8, 0.1)
    """
    name = matrix.name.partition("/")[2]
    title = matrix.title.replace("entrants by tasks", "side by side")
    told = tuple(_told_apart(entrants, pairwise))
    if not matrix.columns:
        return replace(matrix, name=f"compare/{name}", title=title, notes=(*told, *matrix.notes))
    cells = {(str(each["entrant"]), str(each["task"])): each["value"] for each in matrix.records()}
    tasks = dict.fromkeys(str(row[matrix.index("task")]) for row in matrix.rows)
    value = matrix.columns[matrix.index("value")]
    columns = (Column("task", "Task", "text"), *(replace(value, name=each, title=each) for each in entrants))
    rows = tuple((task, *(cells.get((each, task)) for each in entrants)) for task in tasks)
    leaked = [
        str(each["entrant"]) for each in matrix.records() if each["state"] == "leaked" and each["entrant"] in entrants
    ]
    if leaked:
        of_each = [f"{in_words(each)} {leaked.count(each)}" for each in dict.fromkeys(leaked)]
        told = (
            *told,
            f"Values of tasks whose data an entrant has seen are shown as they were sent: {', '.join(of_each)}.",
        )
    return Table(f"compare/{name}", title, columns, rows, told, {"metric": matrix.meta["metric"]})


def _told_apart(entrants: Sequence[str], pairwise: Table | None) -> Iterator[str]:
    """Yield whom the data tell apart of some entrants, best first, and whom they do not."""
    if pairwise is None:
        return
    known, ruled = separable_pairs(pairwise), ruled_pairs(pairwise)
    compared = {name for pair in known for name in pair}
    for at, better in enumerate(entrants[:-1]):
        later = entrants[at + 1 :]
        behind = [name for name in later if (better, name) in ruled]
        before = [name for name in later if (name, better) in ruled and name not in behind]
        apart = [name for name in later if known.get((better, name)) is True and name not in (*behind, *before)]
        alike = [name for name in later if known.get((better, name)) is False]
        if apart:
            yield f"{in_words(better)} is better than {names_in_words(apart)}, all pairs of the board tested at once."
        for first, then in ((better, behind), *((name, [better]) for name in before)):
            if then:
                yield f"{in_words(first)} is before {names_in_words(then)} by the rule for missing results alone."
        if alike:
            named = names_in_words(alike, "or")
            yield f"The data do not tell {in_words(better)} from {named}, all pairs of the board tested at once."
    if lone := [name for name in entrants if name not in compared]:
        whose = "its row says" if len(lone) == 1 else "their rows say"
        yield f"No pair with {names_in_words(lone, 'or')} is listed: what is known is what {whose}."
    yield from caveats_of(pairwise)
