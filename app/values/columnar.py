"""The rows of a table that were made column by column, as arrays: what a square of entrants has too many of as rows.

Made by `app.boards.tables`, stored as they are by `app.store.snapshots`. Whoever looks at the rows has them as rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Value = str | int | float | bool | None
Row = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one column: positions among `words`, or numbers where there are none, NaN being None."""

    values: NDArray[Any]
    words: tuple[Value, ...] | None = None

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.floating[Any]]) -> "CellColumn":
        """Return a column of numbers of any shape, one after the other; what is not finite has no place in a table."""
        flat = np.asarray(numbers, dtype=np.float64).ravel()
        return cls(np.where(np.isfinite(flat), flat, np.nan))

    @property
    def is_finite(self) -> bool:
        """Say whether no cell is infinite."""
        if self.words is None:
            return not np.isinf(self.values).any()
        return all(np.isfinite(word) for word in self.words if isinstance(word, float))

    def cells(self) -> list[Value]:
        """Return the cells as plain values."""
        if self.words is not None:
            return [self.words[code] for code in self.values.tolist()]
        cells: list[Any] = self.values.tolist()
        for at in np.flatnonzero(np.isnan(self.values)).tolist():
            cells[at] = None
        return cells


@dataclass(frozen=True, eq=False)
class ColumnarRows(Sequence[Row]):
    """Rows, from columns of the same length."""

    columns: tuple[CellColumn, ...]

    def fits(self, n_columns: int) -> bool:
        """Say whether there are so many columns, and no cell is infinite."""
        return len(self.columns) == n_columns and all(column.is_finite for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        """Return a row, or some of them."""
        return self._rows[at]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == (other._rows if isinstance(other, ColumnarRows) else other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return repr(self._rows)

    @cached_property
    def _rows(self) -> tuple[Row, ...]:
        return tuple(zip(*(column.cells() for column in self.columns), strict=True))
