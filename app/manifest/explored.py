"""A reader's settings for a board, beyond what a manifest can declare, and the groups of tasks to choose from.

Called by `app.manifest.manifest` and `app.boards`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_VALUES = 24
"""A column with more values than this does not define groups: nobody would choose among them."""


@dataclass(frozen=True)
class Explored:
    """A reader's settings for a board, which is then computed without its pairs.

    `weights` override the board's weights of tasks, groups or components, by name; 0 leaves one out. `is_quick`: rank
    intervals may be wider than necessary, so that very many entrants are compared within a second. `beside` are
    entrants whom scores are relative to and who are not on the board, because the reader named others.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    is_quick: bool = False
    beside: tuple[str, ...] = ()


def common_values(tasks: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Return the tasks with the same value in a column, by `column:value`, for columns that define groups.

    Each task is given as its name and its value in each column.
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
