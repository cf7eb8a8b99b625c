"""The roles of a table's columns: entrant, task, seed, item, and which numbers are metrics.

Called by `app.cli.drafting.draft`; pure. By the names of columns, then by what their cells can be: a seed is a
whole number, and rows that share every name must differ somewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.cli.drafting import words
from app.cli.drafting.sheet import Sheet, SheetColumn
from app.names import is_name

MAX_TASKS = 5_000


@dataclass(frozen=True)
class Roles:
    """Columns by role; None where there is none. `unknown` are the roles to ask about, each with the reason."""

    entrant: str | None = None
    task: str | None = None
    condition: str | None = None
    seed: str | None = None
    item: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    n_repeated: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns that identify a row, from entrant to item."""
        one = (self.entrant, self.task, self.condition, self.seed)
        return (*(name for name in one if name is not None), *self.item)

    @property
    def has_items(self) -> bool:
        """Say whether there are rows below the task."""
        return bool(self.item) or self.seed is not None


def guess_roles(sheet: Sheet, given: Roles) -> Roles:
    """Return the role of each column; given ones are kept, and a role that fits no column is None."""
    free = dict(sheet.columns)

    def take(asked: str | None, known: Sequence[str], *, whole: bool = False) -> str | None:
        name = asked or _first(free, known, whole=whole)
        free.pop(name or "", None)
        return name

    for name in (*given.metrics, *given.item, given.seed, given.condition, given.task):
        free.pop(name or "", None)
    entrant = take(given.entrant, words.ENTRANT)
    task = take(given.task, words.TASK)
    roles = replace(given, entrant=entrant, task=task)
    if _repeats(sheet, roles):
        roles = replace(roles, condition=take(given.condition, words.CONDITION))
    if given.seed or _repeats(sheet, roles):
        roles = replace(roles, seed=take(given.seed, words.SEED, whole=True))
    if not given.item and _repeats(sheet, roles):
        roles = replace(roles, item=_item(sheet, roles, free))
    for name in roles.item:
        free.pop(name, None)
    return _with_rest(sheet, roles, free)


def _first(columns: dict[str, SheetColumn], known: Sequence[str], *, whole: bool) -> str | None:
    by_name = {words.plain(name): name for name in reversed(columns)}
    for word in known:
        name = by_name.get(word)
        if name is not None and _fits(columns[name], whole=whole):
            return name
    return None


def _fits(column: SheetColumn, *, whole: bool) -> bool:
    if whole:
        return column.is_whole and not column.n_empty and len(column.words) > 1
    return not column.n_empty and all(is_name(word) for word in column.words[:1000])


def _repeats(sheet: Sheet, roles: Roles) -> bool:
    return sheet.n_distinct(roles.names) < sheet.n_rows


def _item(sheet: Sheet, roles: Roles, free: dict[str, SheetColumn]) -> tuple[str, ...]:
    """Return the column, or the two, that distinguish rows which are otherwise alike."""
    by_name = {words.plain(name): name for name in reversed(free)}
    known = [by_name[word] for word in words.ITEM if word in by_name]
    candidates = [name for name in known if _fits(free[name], whole=False)]
    for name in candidates:
        if not _repeats(sheet, replace(roles, item=(name,))):
            return (name,)
    for at, first in enumerate(candidates):
        for second in candidates[at + 1 :]:
            if not _repeats(sheet, replace(roles, item=(first, second))):
                return (first, second)
    return tuple(candidates[:1])


def _with_rest(sheet: Sheet, roles: Roles, free: dict[str, SheetColumn]) -> Roles:
    metrics = roles.metrics or tuple(name for name, column in free.items() if _is_metric(column))
    others = [name for name, column in free.items() if name not in metrics and column.numbers is None]
    groups = tuple(name for name in others if _is_group(sheet, roles, name))
    recorded = tuple(name for name in others if name not in groups and len(sheet.columns[name].words) <= MAX_TASKS)
    n_repeated = sheet.n_rows - sheet.n_distinct(roles.names)
    return replace(roles, metrics=metrics, groups=groups, recorded=recorded, n_repeated=n_repeated)


def _is_metric(column: SheetColumn) -> bool:
    if column.is_flag:
        return True
    if not len(column.finite):
        return False
    name = words.plain(column.name)
    if name in words.NO_METRIC or name.startswith(words.NO_METRIC_BEGINS) or name.endswith(words.NO_METRIC_ENDS):
        return False
    return bool({*words.tokens(column.name)} & (words.MAXIMIZE | words.MINIMIZE)) or name not in words.SEED + words.ITEM


def _is_group(sheet: Sheet, roles: Roles, name: str) -> bool:
    """Say whether a column is a property of the task: each task has one value of it, and several share one."""
    if roles.task is None or sheet.columns[name].n_empty:
        return False
    n_values, n_tasks = len(sheet.columns[name].words), len(sheet.columns[roles.task].words)
    return 1 < n_values < n_tasks and sheet.n_distinct((roles.task, name)) == n_tasks


def task_groups(sheet: Sheet, roles: Roles) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each column that groups tasks, with the group of each task."""
    if roles.task is None:
        return
    task = sheet.columns[roles.task]
    for name in roles.groups:
        column = sheet.columns[name]
        pairs = dict(zip(task.codes.tolist(), column.codes.tolist(), strict=True))
        yield name, {task.words[code]: column.words[value] for code, value in pairs.items()}
