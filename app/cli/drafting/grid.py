"""The grid of a drafted benchmark of items: which seeds, conditions and items every entrant is asked for.

Called by `app.cli.drafting.writers`; pure. Items are listed by name: a mere count would let one choose easy ones.
"""

from collections.abc import Iterator

import numpy as np

from app.cli.drafting.roles import Roles
from app.cli.drafting.sheet import Sheet
from app.cli.drafting.written import commented, flow_list, scalar

MAX_NAMED = 20_000
MAX_SEEDS = 1_000


def grid_lines(sheet: Sheet, roles: Roles) -> list[str]:
    """Return the lines of the grid, with a comment on who lacks some of it; none for an empty grid."""
    lines = [*_seeds(sheet, roles), *_conditions(sheet, roles), *_items(sheet, roles)]
    if not lines:
        return []
    return ["", "grid:", *lines, commented("  absent: unranked", "or worst: what is missing counts as the worst")]


def _seeds(sheet: Sheet, roles: Roles) -> Iterator[str]:
    if roles.seed is None:
        yield commented("  seeds: [0]", "there are none: every row is of seed 0")
        return
    column = sheet.columns[roles.seed]
    seeds = sorted({int(float(word)) for word in column.words})
    if len(seeds) > MAX_SEEDS or seeds[0] < 0 or not _shared(sheet, roles, (roles.seed,)):
        yield "  # Entrants have different seeds, so none are asked for; `seeds: 5` asks each for five of its own."
    else:
        yield commented(f"  seeds: {flow_list(seeds, '    ')}", "every entrant has these")


def _conditions(sheet: Sheet, roles: Roles) -> Iterator[str]:
    if roles.condition is not None:
        yield f"  conditions: {flow_list(sheet.columns[roles.condition].words, '    ')}"


def _shared(sheet: Sheet, roles: Roles, names: tuple[str, ...]) -> bool:
    """Say whether most entrants have the same of some columns."""
    if roles.entrant is None:
        return True
    n_all = sheet.n_distinct(names)
    n_entrants = len(sheet.columns[roles.entrant].words)
    return 2 * sheet.n_distinct((roles.entrant, *names)) > n_all * n_entrants


def _items(sheet: Sheet, roles: Roles) -> Iterator[str]:
    if len(roles.item) != 1 or roles.n_repeated:
        return
    by_task = _items_by_task(sheet, roles)
    if sum(map(len, by_task.values())) > MAX_NAMED:
        yield "  # Too many items to list here: put them with `plumbline benchmark items`, columns task and item."
        yield "  items: file"
        return
    lists = list(by_task.values())
    if all(items == lists[0] for items in lists):
        yield commented(f"  items: {flow_list(lists[0], '    ')}", f"{len(lists[0]):,} in each task and seed")
        return
    yield "  tasks:"
    for task, items in by_task.items():
        yield commented(f"    {scalar(task)}: {{items: {flow_list(items, '      ')}}}", f"{len(items):,}")


def _items_by_task(sheet: Sheet, roles: Roles) -> dict[str, list[str]]:
    item = sheet.columns[roles.item[0]]
    if roles.task is None:
        return {"all": _in_order(item.words)}
    task = sheet.columns[roles.task]
    pairs = np.unique(np.stack([task.codes, item.codes]), axis=1)
    by_task: dict[str, list[str]] = {name: [] for name in sorted(task.words)}
    for of_task, of_item in pairs.T.tolist():
        by_task[task.words[of_task]].append(item.words[of_item])
    return {name: _in_order(items) for name, items in by_task.items()}


def _in_order(items: list[str]) -> list[str]:
    """Return items in the order of their numbers where all are whole ones, else of the alphabet."""
    whole = all(item.isascii() and item.isdigit() and len(item) < 19 for item in items)
    return sorted(items, key=int) if whole else sorted(items)
