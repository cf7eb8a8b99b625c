"""Count the episodes of a submission once: by entrant, task, condition and seed.

Called by `app.kinds.episodes.rules`: registrations declare numbers for these cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, IntArray
from app.values.scores import Coded, ScoreTable


@dataclass(frozen=True)
class Cell:
    """The episodes of one entrant in one task, condition and seed; `n_scored` of them have every ranking score."""

    entrant: str
    task: str
    condition: str | None
    seed: int
    n_episodes: int
    n_scored: int

    def __str__(self) -> str:
        parts = [self.entrant, self.task, self.condition, f"seed {self.seed}"]
        return ", ".join(part for part in parts if part is not None)


Runs = Mapping[str, Sequence[Cell]]
"""The cells by (entrant, task); no list is empty."""


def count_runs(scores: ScoreTable, scored: BoolArray) -> Runs:
    """Return the cells of every entrant and task; none where the rows carry no seeds. `scored` is [n_rows]."""
    runs: dict[str, list[Cell]] = {}
    for cell in _cells(scores, scored):
        runs.setdefault(f"{cell.entrant} on {cell.task}", []).append(cell)
    return runs


def seeds_of(cells: Sequence[Cell]) -> set[int]:
    """Return the distinct seeds of cells."""
    return {cell.seed for cell in cells}


def scored_seeds(cells: Sequence[Cell]) -> set[int]:
    """Return the distinct seeds with at least one scored episode."""
    return {cell.seed for cell in cells if cell.n_scored}


def number_rows(*columns: IntArray) -> IntArray:
    """Number the distinct rows of several columns from 0; equal rows get equal numbers."""
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        position = np.unique(column, return_inverse=True)[1]
        # Renumbered after every column: the product of many columns would not fit into 64 bits.
        numbers = np.unique(numbers * (position.max(initial=0) + 1) + position, return_inverse=True)[1]
    return numbers


def codes_of(column: Coded | None, n_rows: int) -> IntArray:
    """Return a column's codes; all equal without a column."""
    return np.zeros(n_rows, dtype=np.int64) if column is None else column.codes


def _cells(scores: ScoreTable, scored: BoolArray) -> Iterator[Cell]:
    if scores.seed is None:
        return
    condition = codes_of(scores.condition, len(scores))
    cell = number_rows(scores.entrant.codes, scores.task.codes, condition, scores.seed)
    _, rows, counts = np.unique(cell, return_index=True, return_counts=True)
    n_scored = np.bincount(cell[scored], minlength=len(counts)).tolist()
    for row, n_episodes, n_with_score in zip(rows.tolist(), counts.tolist(), n_scored, strict=True):
        entrant, task = scores.entrant.at(row) or "", scores.task.at(row) or ""
        word = None if scores.condition is None else scores.condition.at(row)
        yield Cell(entrant, task, word, int(scores.seed[row]), n_episodes, n_with_score)
