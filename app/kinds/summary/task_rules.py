"""The columns of a row that must repeat its task's definition, checked a block at a time.

Called by `app.kinds.summary.read`. Rows of unknown tasks are left out here: with a task that the benchmark
does not have there is no value to compare with.
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.files.blocks import Texts
from app.files.vocabulary import local_codes
from app.kinds.summary import old_fev
from app.kinds.summary.manifest_part import SummaryPart
from app.kinds.summary.task_values import says, show
from app.manifest.manifest import Manifest, part_of
from app.manifest.tasks import OpenTasks
from app.names import clip_for_message
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE

ROUNDED = "quantile_levels"
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 2000
_SHOWN = 60


@dataclass(frozen=True)
class Expected:
    """One column of the task definitions: the distinct values, and which of them each task has (NONE: any)."""

    column: str
    values: tuple[Any, ...]
    of_task: IntArray


class TaskRules:
    """What the columns of a closed task list must say; of an open list, nothing."""

    def __init__(self, manifest: Manifest) -> None:
        tasks = () if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
        self._is_fev = part_of(manifest, SummaryPart).preset == "fev"
        self._rounded = ROUNDED if self._is_fev else None
        self._wheres = [task.where for task in tasks]
        self._answers: dict[tuple[str, int, str | None], bool] = {}
        names = dict.fromkeys(name for task in tasks for name in task.where)
        self.expected = {name: _expected(name, [task.where for task in tasks]) for name in names}

    def differing(self, column: str, texts: Texts, tasks: IntArray) -> BoolArray:
        """Say which rows of known tasks differ from their task in one column."""
        expected = self.expected[column]
        wanted = np.where(tasks == NONE, NONE, expected.of_task[tasks])
        words, codes = local_codes(texts)
        # Each pair of a wanted and a found value is judged once, however many rows have it.
        pairs, inverse = np.unique(wanted * (len(words) + 1) + codes + 1, return_inverse=True)
        texts_of_codes: list[str | None] = [None, *words]
        verdicts = [
            value != NONE and not self._says(expected, value, texts_of_codes[code])
            for value, code in (divmod(pair, len(texts_of_codes)) for pair in pairs.tolist())
        ]
        return np.array(verdicts, dtype=np.bool_)[inverse]

    def missing_matters(self, column: str, tasks: IntArray) -> bool:
        """Say whether a file without this column contradicts any of its tasks."""
        wheres = (self._wheres[task] for task in np.unique(tasks[tasks != NONE]).tolist())
        return any(where.get(column) is not None and not self._implies_value(column, where) for where in wheres)

    def _implies_value(self, column: str, where: Mapping[str, Any]) -> bool:
        return self._is_fev and old_fev.implies_value(column, where)

    def find(self, cells: Mapping[str, Texts], n_rows: int) -> IntArray:
        """Return the one task that each row of a file without task names defines, NONE where none or several do so."""
        columns = [name for name in self.expected if name in cells]
        task_of_row: dict[tuple[str | None, ...], int] = {}
        rows = list(zip(*(cells[name].to_pylist() for name in columns), strict=True)) or [()] * n_rows
        for row in rows:
            if row not in task_of_row:
                task_of_row[row] = self._the_task(dict(zip(columns, row, strict=True)))
        return np.array([task_of_row[row] for row in rows], dtype=np.int64)

    def _the_task(self, row: Mapping[str, str | None]) -> int:
        fitting = [task for task, where in enumerate(self._wheres) if self._fits(task, where, row)]
        return fitting[0] if len(fitting) == 1 else NONE

    def _fits(self, task: int, where: Mapping[str, Any], row: Mapping[str, str | None]) -> bool:
        for column, expected in self.expected.items():
            value = int(expected.of_task[task])
            if value == NONE or (column not in row and (where[column] is None or self._implies_value(column, where))):
                continue
            if column not in row or not self._says(expected, value, row[column]):
                return False
        return True

    def show(self, column: str, task: int) -> str:
        """Return the value that a task has, as text for a message."""
        expected = self.expected[column]
        return clip_for_message(show(expected.values[expected.of_task[task]]), 200)

    def foreign(self, cells: Mapping[str, str | None]) -> Iterator[str]:
        """Yield each column, with the cell of a row of an unknown task, that no task has so."""
        for column, text in cells.items():
            expected = self.expected[column]
            if not any(self._says(expected, value, text) for value in range(len(expected.values))):
                yield f"{column} {clip_for_message(text or 'empty', _SHOWN)}"

    def _says(self, expected: Expected, value: int, text: str | None) -> bool:
        wanted, rounded = expected.values[value], expected.column == self._rounded
        if rounded and text is None:
            # fev reads no levels as an empty list.
            return bool(wanted == [])
        if text is not None and len(text) > _LONGEST_REMEMBERED:
            return says(text, wanted, rounded=rounded)
        key = (expected.column, value, text)
        if key not in self._answers:
            if len(self._answers) >= _MOST_REMEMBERED:
                self._answers.clear()
            self._answers[key] = says(text, wanted, rounded=rounded)
        return self._answers[key]


def _expected(column: str, wheres: list[dict[str, Any]]) -> Expected:
    numbers: dict[Hashable, int] = {}
    values: list[Any] = []
    of_task = np.full(len(wheres), NONE, dtype=np.int64)
    for task, where in enumerate(wheres):
        if column in where:
            key = _key_of(where[column])
            if key not in numbers:
                numbers[key] = len(values)
                values.append(where[column])
            of_task[task] = numbers[key]
    return Expected(column, tuple(values), of_task)


def _key_of(value: Any) -> Hashable:
    """Return what only equal values of one type share: 1, 1.0, true and "1" are four values."""
    if value is None or isinstance(value, str | bool | int | float):
        return type(value), value
    return json.dumps(value, sort_keys=True, default=str)
