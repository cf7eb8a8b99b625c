"""The rows of a table stored column by column, as arrays: a table of all pairs has too many for Python tuples.

Made by `app.boards.tables` and, of curves, by `app.store.measurement_bytes`; stored as they are by
`app.store.snapshots`. Reading them by row still gives tuples.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Value = str | int | float | bool | None
Row = tuple[Value, ...]
LARGEST = 2**53
"""Integers up to this are stored as an array."""


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one column: positions in `words` or, without words, numbers, NaN meaning None.

    Either all numbers are integers or none is: 1 and 1.0 are written differently.
    """

    values: NDArray[Any]
    words: tuple[Value, ...] | None = None

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.floating[Any]]) -> "CellColumn":
        """Return a column from an array of any shape, flattened; what is not finite becomes None."""
        flat = np.asarray(numbers, dtype=np.float64).ravel()
        return cls(np.where(np.isfinite(flat), flat, np.nan))

    @classmethod
    def of_cells(cls, cells: Sequence[Value]) -> "CellColumn":
        """Return a column of any cells. Raises ValueError for a number that is not finite."""
        kinds = set(map(type, cells))
        if kinds == {int} and max(map(abs, cells)) <= LARGEST:  # type: ignore[arg-type]
            return cls(np.array(cells, dtype=np.int64))
        if float not in kinds or not kinds <= {float, type(None)}:
            return cls._of_words(cells)
        numbers = np.array(cells, dtype=np.float64)
        if not all(map(math.isfinite, (cell for cell in cells if isinstance(cell, float)))):
            raise ValueError("a column holds a number that is not finite")
        return cls(numbers)

    @classmethod
    def _of_words(cls, cells: Sequence[Value]) -> "CellColumn":
        return cls(*_coded([(np.arange(len(cells)), cells)]))

    @classmethod
    def joined(cls, parts: Sequence["CellColumn"]) -> "CellColumn":
        """Return the cells of some columns, one column after the other."""
        numbers = [part.numbers for part in parts]
        known = [each for each in numbers if each is not None]
        if len(known) == len(parts) and len({each.dtype.kind for each in known}) == 1:
            return cls(np.concatenate(known))
        return cls(*_coded([part.coded for part in parts]))

    @property
    def coded(self) -> tuple[NDArray[Any], Sequence[Value]]:
        """Return the cells as positions in a list of words."""
        return (np.arange(len(self.values)), self.cells()) if self.words is None else (self.values, self.words)

    @property
    def numbers(self) -> NDArray[Any] | None:
        """Return the cells as numbers; None where some are not numbers."""
        if self.words is None:
            return self.values
        return np.full(len(self.values), np.nan) if set(self.words) == {None} else None

    @property
    def is_finite(self) -> bool:
        """Say whether no cell is infinite."""
        if self.words is None:
            return not np.isinf(self.values).any()
        return all(np.isfinite(word) for word in self.words if isinstance(word, float))

    def part(self, start: int, stop: int) -> "CellColumn":
        """Return the cells of some rows."""
        return CellColumn(self.values[start:stop], self.words)

    def cells(self) -> list[Value]:
        """Return the cells as plain values."""
        if self.words is not None:
            return [self.words[code] for code in self.values.tolist()]
        cells: list[Any] = self.values.tolist()
        for at in np.flatnonzero(np.isnan(self.values)).tolist():
            cells[at] = None
        return cells


def _coded(parts: Iterable[tuple[NDArray[Any], Sequence[Value]]]) -> tuple[NDArray[np.int64], tuple[Value, ...]]:
    """Return the positions in each part's words as positions in one list of distinct words of the same type."""
    # 1, 1.0 and True are kept apart, and so are 0.0 and -0.0.
    known: dict[tuple[type, str], tuple[int, Value]] = {}
    codes = []
    for values, words in parts:
        places = [known.setdefault((type(word), repr(word)), (len(known), word))[0] for word in words]
        codes.append(np.array(places, dtype=np.int64)[values])
    return np.concatenate(codes), tuple(word for _, word in known.values())


@dataclass(frozen=True, eq=False)
class ColumnarRows(Sequence[Row]):
    """Rows, from columns of the same length."""

    columns: tuple[CellColumn, ...]

    @classmethod
    def of_rows(cls, rows: Sequence[Row]) -> "ColumnarRows":
        """Return rows of plain cells as columns. Raises ValueError for a number that is not finite."""
        return cls(tuple(map(CellColumn.of_cells, zip(*rows, strict=True))))

    @classmethod
    def joined(cls, parts: Sequence["ColumnarRows"]) -> "ColumnarRows":
        """Return the rows of some parts, one part after the other; they have the same columns."""
        return cls(tuple(map(CellColumn.joined, zip(*(part.columns for part in parts), strict=True))))

    @classmethod
    def of_parts(cls, names: Sequence[str], parts: Sequence[Sequence[Row]]) -> "ColumnarRows":
        """Return the rows of some parts, one part after the other, each row preceded by the name of its part."""
        filled = [(name, part) for name, part in zip(names, parts, strict=True) if len(part)]
        rows = cls.joined([part if isinstance(part, ColumnarRows) else cls.of_rows(part) for _, part in filled])
        places = np.repeat(np.arange(len(filled)), [len(part) for _, part in filled])
        return cls((CellColumn(places, tuple(name for name, _ in filled)), *rows.columns))

    def fits(self, n_columns: int) -> bool:
        """Say whether there are `n_columns` columns and no infinite cell."""
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


def row_blocks(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """Yield the rows, `size` at a time; rows of columns are created on the way and not kept.

    >>> [list(block) for block in row_blocks(((1,), (2,), (3,)), 2)]
    [[(1,), (2,)], [(3,)]]
    """
    for start in range(0, len(rows), size):
        if isinstance(rows, ColumnarRows):
            yield tuple(ColumnarRows(tuple(each.part(start, start + size) for each in rows.columns)))
        else:
            yield rows[start : start + size]


def rows_without(rows: Sequence[Row], column: int) -> Iterator[Row]:
    """Yield the rows that have None in a column.

    >>> list(rows_without(((1, None), (2, 0.5)), 1))
    [(1, None)]
    >>> list(rows_without(ColumnarRows(()), 1))
    []
    """
    if not isinstance(rows, ColumnarRows):
        yield from (row for row in rows if row[column] is None)
        return
    if not len(rows):  # without columns too: an entrant of one class has no curve
        return
    cells = rows.columns[column]
    missing = (
        np.isnan(cells.values) if cells.words is None else [cells.words[at] is None for at in cells.values.tolist()]
    )
    for at in np.flatnonzero(missing).tolist():
        yield tuple(CellColumn(each.values[at : at + 1], each.words).cells()[0] for each in rows.columns)
