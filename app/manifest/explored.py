"""What a reader asks of a board beside what a manifest can declare, and the groups of tasks that can be chosen.

Called by `app.manifest.manifest` and `app.boards`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_VALUES = 24
"""More values of a column than anybody chooses among are no groups."""


@dataclass(frozen=True)
class Explored:
    """What a reader asks of a board; such a board is computed without its pairs.

    `weights` are what tasks, groups or components count, by name, where that is not what the board has them count; what
    counts 0 is out. `is_quick`: rank intervals may be wider than need be, so that very many entrants are compared in a
    second.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    is_quick: bool = False


def common_values(tasks: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Return the tasks that say the same in a column, by `column:value`: of the columns that put tasks in groups.

    Each task is its name and the value that it has in each column.
    """
    columns: dict[str, dict[str, list[str]]] = {}
    for name, where in tasks:
        for column, value in where.items():
            if isinstance(value, str | int | float) and value != "":
                columns.setdefault(column, {}).setdefault(str(value), []).append(name)
    return {
        f"{column}:{value}": members
        for column, values in columns.items()
        if 1 < len(values) <= MOST_VALUES and len(values) < sum(map(len, values.values()))
        for value, members in values.items()
    }
