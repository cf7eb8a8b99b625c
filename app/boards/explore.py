"""A board as chosen by a reader: some entrants, some tasks, and the reader's own weights and baseline. It is computed
by the board's own method, and labelled wherever it is shown as a reader's choice and not a board of the benchmark.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.boards.evidence import BoardEvidence, board_without_gaps
from app.boards.nouns import in_nouns
from app.boards.statement import with_statement
from app.errors import FieldRejected, Problem
from app.manifest.model import Explored, Leaderboard, Manifest, OpenTasks, Task
from app.names import clip_for_message, first_few, group_in_words, nearest, sentences
from app.values.table import Column, Table

LABEL = "Your selection, not an official board"

AFTERWARDS = (
    "The level holds if you chose before seeing the results. Try many choices, and some will show a difference that is "
    "not there."
)
"""What a level is worth to who has looked first: nothing is corrected for choices that nobody counts."""

QUICK_FROM, QUICK_RESAMPLES = 600, 200
"""Above this many entrants fewer resamples are drawn, so that the answer comes within a second."""

QUICK = f"Among more than {QUICK_FROM} entrants intervals are drawn from {QUICK_RESAMPLES} resamples at most."


@dataclass(frozen=True)
class Choice:
    """A reader's choice; empty parts leave the board as declared.

    `entrants` are chosen by name, and then nobody else is; otherwise `matching` is text in the names of those who are.
    `within` are those to whom the filter described in words by `described` applies; None: everybody. `tasks` are chosen
    by name, `groups` are those of `Leaderboard.groups_of_tasks`: a task counts if named, or if it is in a chosen group
    for every column with chosen groups. `weights` multiply the declared ones, by task, group or component, 0 leaving
    it out. Scores are relative to `baseline`.
    """

    entrants: tuple[str, ...] = ()
    matching: str = ""
    tasks: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    baseline: str | None = None
    within: frozenset[str] | None = None
    described: str = ""

    @property
    def is_made(self) -> bool:
        """Say whether anything is chosen."""
        return any((self.entrants, self.matching, self.described, self.tasks, self.groups, self.weights, self.baseline))

    def names(self, known: Sequence[str]) -> list[str]:
        """Return the chosen ones of the known entrants."""
        if self.entrants:
            named = set(self.entrants)
            return [name for name in known if name in named]
        text = self.matching.casefold()
        return [name for name in known if text in name.casefold() and (self.within is None or name in self.within)]


def chosen_board(spec: Leaderboard, evidence: BoardEvidence, choice: Choice) -> Table:
    """Return the board of a choice, labelled as one. Raises FieldRejected, and BoardUnavailable as the method does.

    Numbers have the units and directions of the board itself; null is None, as there. Source: the board's own method.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> evidence = BoardEvidence.of_rows(benchmark(board), rows())
    >>> [row[:2] for row in chosen_board(board, evidence, Choice(matching="o")).rows]
    [(1, 'Good'), (2, 'Poor')]
    """
    entrants = evidence.entrants()
    chosen = understand(evidence.manifest, spec, entrants, choice, evidence.open_tasks())
    if not choice.names(entrants):
        value = clip_for_message(choice.matching or choice.described)
        message = "no entrant has it in its name" if choice.matching else "no entrant has all of this"
        raise FieldRejected("The choice leaves nobody.", [Problem(message, column="q", value=value)])
    board = _compute(chosen, evidence)
    words = list(_words(spec, evidence, choice, chosen))
    labelled = _labelled(board, spec, choice, words)
    return in_nouns(with_statement(labelled), evidence.manifest.nouns)


def draft_board(spec: Leaderboard, evidence: BoardEvidence, label: str) -> Table:
    """Return a board that is in no published manifest yet; its first note, `label`, says so.

    Raises FieldRejected, and BoardUnavailable.

    Numbers have the units and directions of the board itself; null is None, as there. Source: the board's own method.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="later", method="mean", metric="error")
    >>> draft = draft_board(board, BoardEvidence.of_rows(benchmark(board), rows()), "A draft.")
    >>> draft.name, [row[:2] for row in draft.rows]
    ('draft/later', [(1, 'Good'), (2, 'Fair'), (3, 'Poor')])
    """
    chosen = understand(evidence.manifest, spec, evidence.entrants(), Choice(), evidence.open_tasks())
    board = _compute(chosen, evidence)
    return replace(board, name=f"draft/{spec.name}", notes=(label, *board.notes))


@dataclass(frozen=True)
class Chosen:
    """A validated choice: the board to compute, from which entrants, over which tasks (None: as declared).

    Entrants that a choice by name did not name are there for what scores are relative to: `Explored.beside`.
    """

    spec: Leaderboard
    entrants: Sequence[str]
    tasks: Sequence[str] | None


def _compute(chosen: Chosen, evidence: BoardEvidence) -> Table:
    board = board_without_gaps(evidence.among(chosen.entrants), chosen.spec).leaderboard
    is_quick = chosen.spec.explored is not None and chosen.spec.explored.is_quick
    return replace(board, notes=(QUICK, *board.notes)) if is_quick else board


def _words(spec: Leaderboard, evidence: BoardEvidence, choice: Choice, chosen: Chosen) -> Iterator[str]:
    entrants = evidence.entrants()
    n_known, asked = len(entrants), set(choice.names(entrants))
    needed = " and ".join(name for name in chosen.entrants if name not in asked)
    if choice.entrants:
        without = f"; computed beside {needed}, not ranked here" if needed else ""
        yield f"{len(asked):,} of {n_known:,} entrants ({len(choice.entrants)} named{without})"
    elif choice.matching or choice.described:
        why = [f"“{choice.matching}” in the name"] if choice.matching else []
        why += [choice.described] if choice.described else []
        why += [f"computed beside {needed}, not ranked here"] if needed else []
        yield f"{len(asked):,} of {n_known:,} entrants ({', '.join(why)})"
    if chosen.tasks is not None:
        named = sentences([*map(group_in_words, choice.groups), *choice.tasks] or list(chosen.tasks))
        n_tasks = len(listed_tasks(evidence.manifest, spec, evidence.open_tasks()))
        yield f"{len(chosen.tasks):,} of {n_tasks:,} tasks ({named})"
    if choice.weights:
        weights = [f"{group_in_words(name)} × {weight:g}" for name, weight in choice.weights.items()]
        yield f"weights {sentences(weights)}"
    if choice.baseline:
        yield f"relative to {choice.baseline}"


def _labelled(board: Table, spec: Leaderboard, choice: Choice, words: Sequence[str]) -> Table:
    """Return the board with the choice in its title, its notes, its meta and, for the CSV, in every row."""
    in_words = "; ".join(words)
    has_ranges = any(row.get("rank_low") is not None for row in board.records())
    what = "Ranks, rank intervals and scores" if has_ranges else "Ranks and scores, without rank intervals,"
    note = f"{LABEL}: {in_words}. {what} are computed anew for it."
    meta = {**board.meta, "choice": _as_json(choice, in_words)}
    if choice.baseline:
        note += (
            " Who can be told apart depends on it only where it decides what counts: the tasks on which it has a "
            "result, and clipped and missing errors."
        )
    if has_ranges and (choice.entrants or choice.matching or choice.described):
        note += f" {FEWER}"
    note += f" {AFTERWARDS}" if choice.is_made and has_ranges else ""
    column = Column("choice", "A reader's choice", "text", detail=True)
    return replace(
        board,
        name=f"explore/{spec.name}",
        title=f"{board.title}, a reader's choice",
        columns=(*board.columns, column),
        rows=tuple((*row, in_words) for row in board.rows),
        notes=(note, *board.notes),
        meta=meta,
    )


FEWER = "Among fewer entrants fewer pairs are tested at once, so more of them can be told apart."


def _as_json(choice: Choice, in_words: str) -> dict[str, Any]:
    return {
        "label": LABEL,
        "is_made": choice.is_made,
        "said": in_words,
        "entrants": list(choice.entrants),
        "matching": choice.matching or None,
        **({"described": choice.described} if choice.described else {}),
        "tasks": list(choice.tasks),
        "groups": list(choice.groups),
        "weights": dict(choice.weights),
        "baseline": choice.baseline,
    }


# A reader's choice of entrants, tasks, weights and baseline, and the board it describes.

MOST_WEIGHT = 1000.0

SHOWN = 8


def listed_tasks(manifest: Manifest, spec: Leaderboard, open_tasks: Sequence[Task] = ()) -> list[Task]:
    """Return the tasks of a board that the manifest lists; where tasks are open, `open_tasks`.

    >>> from app.boards.example import benchmark
    >>> board = Leaderboard(name="main", method="mean", tasks=["b"], uncertainty={"n_resamples": 100})
    >>> [task.id for task in listed_tasks(benchmark(board), board)]
    ['b']
    """
    declared = open_tasks if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    own = spec.ranked_tasks()
    return list(declared) if own is None else [task for task in declared if task.id in own]


def understand(
    manifest: Manifest, spec: Leaderboard, known: Sequence[str], choice: Choice, open_tasks: Sequence[Task] = ()
) -> Chosen:
    """Return the board of a choice.

    Raises FieldRejected, naming everything in the choice that the board does not have.

    `open_tasks` are the tasks that count where the manifest leaves them open.

    >>> from app.boards.example import benchmark
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> chosen = understand(benchmark(board), board, ["Good", "Fair"], Choice(entrants=("Fair",), tasks=("a",)))
    >>> chosen.entrants, chosen.tasks
    (['Fair'], ['a'])
    """
    tasks = listed_tasks(manifest, spec, open_tasks)
    choice = replace(choice, groups=groups_named(choice.groups, spec.groups_of_tasks(tasks)))
    if problems := list(_problems(spec, tasks, known, choice)):
        raise FieldRejected(f"The choice asks for what the board {spec.name} does not have.", problems)
    left = _tasks(spec, tasks, choice)
    weights = _task_weights(spec, tasks, choice.weights)
    zero = {name for name, weight in weights.items() if not weight}
    if zero & {task.id for task in tasks}:
        left = [name for name in left or [task.id for task in tasks] if name not in zero]
    elif zero and (groups := spec.groups_of_tasks(tasks)).keys() >= zero:
        gone = {task for name in zero for task in groups[name]}
        left = [name for name in left or [task.id for task in tasks] if name not in gone]
    if left is not None and not left:
        raise FieldRejected(
            "The choice leaves no task.", [Problem("no task is left; choose one at least", column="task")]
        )
    board = spec.against(choice.baseline) or spec if choice.baseline else spec
    asked, required = set(choice.names(known)), set(board.required_entrants())
    among = [name for name in known if name in asked or name in required]
    is_quick = len(among) > QUICK_FROM
    # Whom scores are relative to is ranked where it was asked for, or where nobody was.
    beside = tuple(name for name in among if name not in asked)
    chosen = board.as_chosen(left, Explored(weights, is_quick, beside))
    return Chosen(_drawn_quickly(chosen) if is_quick else chosen, among, left)


def groups_named(asked: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Return groups under the names that a board has for them: with their column or without, as on any other board.

    >>> groups_named(["Retrieval", "task_type:STS"], ["task_type:Retrieval", "STS"])
    ('task_type:Retrieval', 'STS')
    """
    short = {name.rpartition(":")[2]: name for name in known}
    return tuple(name if name in known else short.get(name.rpartition(":")[2], name) for name in asked)


def weighed_groups(spec: Leaderboard, tasks: Sequence[Task]) -> list[str]:
    """Return the groups that a reader can weigh: a board's own, or those of tasks where it weighs tasks.

    >>> board = Leaderboard(name="main", method="mean")
    >>> weighed_groups(board, [Task(id="a", where={"level": "easy"}), Task(id="b", where={"level": "hard"})])
    []
    """
    own = set(spec.weighable(tasks) or ())
    return [name for name, of in spec.groups_of_tasks(tasks).items() if name in own or own.issuperset(of)]


def _drawn_quickly(board: Leaderboard) -> Leaderboard:
    """Return the board with few enough resamples for very many entrants."""
    drawn = board.uncertainty
    fewer = drawn.model_copy(update={"n_resamples": min(drawn.n_resamples, QUICK_RESAMPLES)})
    return board.model_copy(update={"uncertainty": fewer})


def _problems(spec: Leaderboard, tasks: Sequence[Task], known: Sequence[str], choice: Choice) -> Iterator[Problem]:
    groups = spec.groups_of_tasks(tasks)
    yield from _unknown("entrant", choice.entrants, known)
    yield from _unknown("task", choice.tasks, [task.id for task in tasks])
    yield from _unknown("group", choice.groups, list(groups))
    weighable = spec.weighable(tasks)
    if weighable is None:
        if choice.weights:
            yield Problem(f"a board of method {spec.method} takes no weights", column="weight")
    else:
        yield from _unknown("weight", choice.weights, [*weighable, *weighed_groups(spec, tasks)])
    for name, weight in choice.weights.items():
        if not 0.0 <= weight <= MOST_WEIGHT:
            yield Problem(f"expected a weight from 0 to {MOST_WEIGHT:g}", column="weight", value=f"{name}={weight:g}")
    if choice.baseline:
        if spec.against(choice.baseline) is None:
            yield Problem(f"scores of method {spec.method} are relative to nobody", column="baseline")
        else:
            yield from _unknown("baseline", (choice.baseline,), known)


def _unknown(column: str, asked: Collection[str], known: Sequence[str]) -> Iterator[Problem]:
    allowed = set(known)
    few = first_few(known, SHOWN)
    for name in asked:
        if name not in allowed:
            near = nearest(name, known)
            hint = f"; did you mean {near}?" if near else ""
            listed = f"there are {few}" if known else "it has none to choose"
            yield Problem(f"not on this board{hint}; {listed}", column=column, value=clip_for_message(name))


def _tasks(spec: Leaderboard, tasks: Sequence[Task], choice: Choice) -> list[str] | None:
    """Return the chosen tasks, or None; with groups from several columns, a task must be in one of each."""
    if not choice.tasks and not choice.groups:
        return None
    groups = spec.groups_of_tasks(tasks)
    by_column: dict[str, set[str]] = {}
    for name in choice.groups:
        by_column.setdefault(name.partition(":")[0] if ":" in name else "", set()).update(groups[name])
    grouped = set.intersection(*by_column.values()) if by_column else set()
    return [task.id for task in tasks if task.id in grouped or task.id in choice.tasks]


def _task_weights(spec: Leaderboard, tasks: Sequence[Task], asked: Mapping[str, float]) -> dict[str, float]:
    """Return the weights by task, with a group's weight given to its tasks, where the board weighs tasks."""
    own = set(spec.weighable(tasks) or ())
    groups = spec.groups_of_tasks(tasks)
    weights: dict[str, float] = {}
    for name, weight in asked.items():
        for each in [name] if name in own else groups[name]:
            weights[each] = weight if name in own else weights.get(each, 1.0) * weight
    return weights
