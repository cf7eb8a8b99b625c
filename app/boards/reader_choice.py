"""A reader's choice of entrants, tasks, weights and baseline, and the board it describes.

Called by `app.boards.explore`, and by the pages that offer a choice; pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.errors import FieldRejected, Problem
from app.manifest.explored import Explored
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.tasks import OpenTasks, Task
from app.names import clip_for_message, first_few
from app.prereg.fields import nearest

MOST_WEIGHT = 1000.0


SHOWN = 8


QUICK_FROM, QUICK_RESAMPLES = 600, 200
"""Above this many entrants fewer resamples are drawn, so that the answer comes within a second."""


@dataclass(frozen=True)
class Choice:
    """A reader's choice; empty parts leave the board as declared.

    `entrants` are chosen by name, and then nobody else is; otherwise `matching` is text in the names of those who are.
    `within` are those to whom the filter described in words by `described` applies; None: everybody. `tasks` are chosen
    by name, `groups` are those of `Leaderboard.groups_of_tasks`: a task counts if named, or if it is in a chosen group
    for every column with chosen groups. `weights` are by task, group or component, 0 leaving it out. Scores are
    relative to `baseline`.
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


@dataclass(frozen=True)
class Chosen:
    """A validated choice: the board to compute, from which entrants, over which tasks (None: as declared).

    Entrants that a choice by name did not name are there for what scores are relative to: `Explored.beside`.
    """

    spec: Leaderboard
    entrants: Sequence[str]
    tasks: Sequence[str] | None


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
    beside = tuple(name for name in among if name not in asked) if choice.entrants else ()
    chosen = board.as_chosen(left, Explored(weights, is_quick, beside))
    return Chosen(_drawn_quickly(chosen) if is_quick else chosen, among, left)


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
        yield from _unknown("weight", choice.weights, [*weighable, *groups])
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
