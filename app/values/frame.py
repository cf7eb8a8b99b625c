"""Columns declared together with the function that gives their cells, and tables built from such fields. A table is a
frame and one value for each row, so a column and its cells cannot come apart, and what each column holds is written
once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from app.values.table import Cell, Column, Table

R = TypeVar("R")
S = TypeVar("S")

Ends = tuple[Cell, Cell, Cell]
"""A number and the low and high end of its interval; None where there is none."""


@dataclass(frozen=True)
class FrameField(Generic[R]):
    """A column, and the function that gives its cell from the value (of type R) of a row."""

    column: Column
    cell: Callable[[R], Cell]

    def of(self, part: Callable[[S], R]) -> "FrameField[S]":
        """Return the same column for rows of which R is a part."""
        return FrameField(self.column, lambda row: self.cell(part(row)))


@dataclass(frozen=True)
class Frame(Generic[R]):
    """The fields of a table, from left to right."""

    fields: Sequence[FrameField[R]]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns of the table."""
        return tuple(field.column for field in self.fields)

    def cells(self, row: R) -> tuple[Cell, ...]:
        """Return the cells of one row."""
        return tuple(field.cell(row) for field in self.fields)

    def columnwise(self, rows: Sequence[R]) -> Iterator[Iterator[Cell]]:
        """Yield the cells of each column, from the first row to the last.

        With many rows, a call for each would cost as much as its cells.
        """
        return (map(field.cell, rows) for field in self.fields)

    def table(
        self, name: str, title: str, rows: Iterable[R], notes: Iterable[str] = (), meta: Mapping[str, Any] | None = None
    ) -> Table:
        """Return the table with a row for each value, in their order."""
        cells = zip(*self.columnwise(tuple(rows)), strict=True)
        return Table(name, title, self.columns, tuple(cells), tuple(notes), dict(meta or {}))


def with_interval(
    column: Column, ends: Callable[[R], Ends], *, ends_title: str | None = None
) -> tuple[FrameField[R], FrameField[R], FrameField[R]]:
    """Return a number's column and the `detail` columns of its interval, with the number's glossary entry and digits.

    `ends_title` says what the ends are of where that is not the column's own title.
    """
    low, high = f"{column.name}_lower", f"{column.name}_upper"
    title = ends_title or column.title
    detail = Column(low, f"{title}, low", detail=True, glossary=column.glossary, digits=column.digits)
    return (
        FrameField(replace(column, interval=(low, high)), lambda row: ends(row)[0]),
        FrameField(detail, lambda row: ends(row)[1]),
        FrameField(replace(detail, name=high, title=f"{title}, high"), lambda row: ends(row)[2]),
    )


@dataclass(frozen=True)
class CalibratedCells:
    """The calibrated interval of a number as cells: its ends, its method or why there is none, and its units."""

    low: Cell = None
    high: Cell = None
    how: Cell = None
    n_units: Cell = None


def with_calibrated(
    column: Column, ends: Callable[[R], Ends], calibrated: Callable[[R], CalibratedCells]
) -> tuple[FrameField[R], ...]:
    """Return a number's column with its system's interval and with the calibrated one, which is plotted."""
    number, *compatible = with_interval(column, ends, ends_title=f"{column.title}, compatible interval")
    low, high = f"{column.name}_calibrated_low", f"{column.name}_calibrated_high"
    detail = Column(low, f"{column.title}, calibrated, low", detail=True, glossary="calibrated", digits=column.digits)
    how = Column(
        f"{column.name}_calibrated_how", f"{column.title}, calibrated how", "text", detail=True, glossary="calibrated"
    )
    units = Column(
        f"{column.name}_calibrated_units", f"{column.title}, units", detail=True, glossary="calibrated", digits=1
    )
    return (
        FrameField(replace(column, interval=(low, high)), number.cell),
        *compatible,
        FrameField(detail, lambda row: calibrated(row).low),
        FrameField(
            replace(detail, name=high, title=f"{column.title}, calibrated, high"), lambda row: calibrated(row).high
        ),
        FrameField(how, lambda row: calibrated(row).how),
        FrameField(units, lambda row: calibrated(row).n_units),
    )


def with_own_interval(
    column: Column, point: Callable[[R], Cell], calibrated: Callable[[R], CalibratedCells]
) -> tuple[FrameField[R], ...]:
    """Return a number's column with its calibrated interval alone, for which its system has none."""
    return tuple(
        field
        for field in with_calibrated(column, lambda row: (point(row), None, None), calibrated)
        if not field.column.name.endswith(("_lower", "_upper"))
    )
