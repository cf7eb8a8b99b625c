"""One episode after another into the columns of a ScoreTable. Called by `app.kinds.episodes.read`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from app.files.findings import Findings
from app.kinds.episodes.cells import EpisodeCells, Source
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.episodes.traits import traits_of
from app.manifest.manifest import Manifest, part_of
from app.manifest.metric import Metric
from app.values.scores import NONE, Coded, ScoreTable

# Of the columns of episodes, for a message about one that they lack.
MAX_SHOWN_COLUMNS = 100


@dataclass
class _Columns:
    entrant: list[str] = field(default_factory=list)
    task: list[str] = field(default_factory=list)
    condition: list[str | None] = field(default_factory=list)
    seed: list[int] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    traits: list[int] = field(default_factory=list)

    def add(
        self,
        names: tuple[str, str, str | None],
        repetition: tuple[int, str],
        values: list[float],
        origin: tuple[int, int],
        traits: int,
    ) -> None:
        """Append one episode: (entrant, task, condition), (seed, item), scores, (file, row), its many digits."""
        self.entrant.append(names[0])
        self.task.append(names[1])
        self.condition.append(names[2])
        self.seed.append(repetition[0])
        self.item.append(repetition[1])
        self.values.append(values)
        self.file.append(origin[0])
        self.row.append(origin[1])
        self.traits.append(traits)


class EpisodeRows:
    """The episodes of one submission. Repeats are found over all files."""

    def __init__(self, manifest: Manifest, findings: Findings) -> None:
        self._metrics = manifest.metrics
        self._where = part_of(manifest, EpisodesPart).where
        self._tasks = manifest.task_ids()
        self._findings = findings
        self._columns = _Columns()
        self._seen: dict[tuple[Any, ...], tuple[str, int]] = {}
        self.measured_columns: set[str] = set()
        self.columns: set[str] = set()

    def __len__(self) -> int:
        return len(self._columns.row)

    def add(self, source: Source, row: int, cells: Mapping[str, Any]) -> None:
        """Take one episode, or note every reason why it cannot be taken."""
        if len(self.columns) < MAX_SHOWN_COLUMNS:
            self.columns.update(islice(cells, MAX_SHOWN_COLUMNS))
        cell = EpisodeCells(source, row, cells, self._findings)
        names = self._names(cell)
        seed = cell.seed(self._where.seed)
        item = cell.item(self._where.item)
        values = [self._value(cell, name, metric) for name, metric in self._metrics.items()]
        if names is None or seed is None or item is None:
            return
        key = (*names, seed, item)
        if (earlier := self._seen.get(key)) is not None:
            cell.refuse(f"the episode is there already: row {earlier[1]} of {earlier[0]}", "seed", f"{seed}, {item}")
            return
        self._seen[key] = (source.file, row)
        traits = traits_of(cells, is_text=source.is_text)
        self._columns.add(names, (seed, item), values, (source.position, row), traits)

    def unmeasured(self) -> list[str]:
        """Return the metrics whose column no episode has."""
        return [name for name, metric in self._metrics.items() if (metric.source or name) not in self.measured_columns]

    def table(self) -> ScoreTable:
        """Return the episodes."""
        columns = self._columns
        values = np.array(columns.values, dtype=np.float64).reshape(len(columns.row), len(self._metrics))
        return ScoreTable(
            entrant=_code(columns.entrant),
            task=_code(columns.task),
            columns=tuple(self._metrics),
            values=values,
            leaked=np.zeros(len(columns.row), dtype=np.bool_),
            file=np.array(columns.file, dtype=np.int64),
            row=np.array(columns.row, dtype=np.int64),
            condition=_code(columns.condition) if any(columns.condition) else None,
            seed=np.array(columns.seed, dtype=np.int64),
            item=_code(columns.item),
            traits=np.array(columns.traits, dtype=np.int64),
        )

    def _names(self, cell: "EpisodeCells") -> tuple[str, str, str | None] | None:
        entrant = cell.entrant(self._where.entrant)
        task = cell.task(self._where.task, self._tasks)
        condition = cell.condition(self._where.condition_paths, self._where.conditions)
        return None if entrant is None or task is None or condition is None else (entrant, task, condition or None)

    def _value(self, cell: "EpisodeCells", name: str, metric: Metric) -> float:
        column = metric.source or name
        if cell.has(column):
            self.measured_columns.add(column)
        return cell.score(column, metric, is_boolean=column in cell.boolean or name in self._where.boolean)


def _code(words: Sequence[str | None]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [NONE if word is None else numbers.setdefault(word, len(numbers)) for word in words]
    return Coded(tuple(numbers), np.array(codes, dtype=np.int64))
