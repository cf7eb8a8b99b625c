"""Tables: typed columns with cells, how they are packed by column, and how two of them are joined.

The one table value from which a published page, its CSV and its JSON are all rendered.

Created by `boards` and `store`, stored in snapshots by `jobs`, shown by `render`. Because the three formats come from
the same value they cannot disagree.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from app.errors import TableRejected
from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import NONE, Coded, ScoreTable

Kind = Literal["text", "integer", "number", "flag", "time"]

Cell = str | int | float | bool | None


# The rows of a table stored column by column, as arrays: a table of all pairs has too many for Python tuples.
#
# `app.store.snapshots` stores them as they are. Reading them by row still gives tuples.

Value = str | int | float | bool | None

Row = tuple[Value, ...]


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
        numeric = [each for each in numbers if each is not None]
        if len(numeric) == len(parts) and len({each.dtype.kind for each in numeric}) == 1:
            return cls(np.concatenate(numeric))
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


Rows = tuple[tuple[Cell, ...], ...] | ColumnarRows


@dataclass(frozen=True)
class Column:
    """One column: its stable CSV name, how to read it, and which columns are its interval.

    `name` is the CSV and JSON key and never changes. `interval` names the columns with the low and high
    end; those are drawn as a whisker beside the point in HTML and stay plain columns in CSV.
    `direction` says which way is better (None: neither). `detail` columns are in CSV and JSON, and in
    HTML only on request; `optional` ones are left out of HTML where no row has a value, or where they count and
    every count is 0. `glossary` is the anchor of the glossary entry that explains the column.
    """

    name: str
    title: str
    kind: Kind = "number"
    unit: str | None = None
    direction: Literal["minimize", "maximize"] | None = None
    interval: tuple[str, str] | None = None
    detail: bool = False
    optional: bool = False
    glossary: str | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Table:
    """Columns, rows, and what a reader must know to trust them.

    `notes` are sentences shown above the table (failures, gaps, imputation, why a board is empty). `meta` holds
    JSON-ready facts about how the table was computed (method, n_resamples, level, rng_seed, …), how it may be plotted
    (`plot`), and by column what pages show in place of a text that is for programs (`shown_as`).
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    notes: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.column_names()
        if len(set(names)) < len(names):
            repeated = next(name for at, name in enumerate(names) if name in names[:at])
            raise TableRejected(f"{self.name} has two columns {repeated}")
        if not _are_sound(self.rows, len(names)):
            self._refuse_rows(names)
        if not _is_finite(self.meta):
            raise TableRejected(f"what {self.name} says of how it was made holds a number that is not finite")

    def _refuse_rows(self, names: Sequence[str]) -> None:
        """Name the first row of a different length, or the first number that is not finite."""
        for at, row in enumerate(self.rows):
            if len(row) != len(names):
                raise TableRejected(f"row {at + 1} of {self.name} has {len(row)} cells for {len(names)} columns")
            for name, cell in zip(names, row, strict=True):
                if isinstance(cell, float) and not math.isfinite(cell):
                    raise TableRejected(f"row {at + 1} of {self.name} has {cell} in column {name}")

    def column_names(self) -> tuple[str, ...]:
        """Return the CSV header."""
        return tuple(column.name for column in self.columns)

    def index(self, name: str) -> int:
        """Return the position of the named column. Raises KeyError when there is none."""
        for position, column in enumerate(self.columns):
            if column.name == name:
                return position
        raise KeyError(name)

    def records(self) -> Iterator[dict[str, Cell]]:
        """Yield each row as a mapping from column name to value."""
        names = self.column_names()
        return (dict(zip(names, row, strict=True)) for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the whole value as JSON-ready data (how snapshots store it)."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": [
                {
                    "name": c.name,
                    "title": c.title,
                    "kind": c.kind,
                    "unit": c.unit,
                    "direction": c.direction,
                    "interval": list(c.interval) if c.interval else None,
                    "detail": c.detail,
                    "optional": c.optional,
                    "glossary": c.glossary,
                    "digits": c.digits,
                }
                for c in self.columns
            ],
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "meta": dict(self.meta),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuild the value that `to_json` wrote."""
        columns = tuple(
            Column(**{**c, "interval": tuple(c["interval"]) if c["interval"] else None}) for c in stored["columns"]
        )
        return cls(
            name=stored["name"],
            title=stored["title"],
            columns=columns,
            rows=tuple(tuple(row) for row in stored["rows"]),
            notes=tuple(stored["notes"]),
            meta=dict(stored["meta"]),
        )


def finite(number: float) -> float | None:
    """Return a number as a cell; what is not finite becomes None."""
    return number if math.isfinite(number) else None


def _are_sound(rows: Rows, n_columns: int) -> bool:
    if isinstance(rows, ColumnarRows):
        return rows.fits(n_columns)
    return not set(map(len, rows)) - {n_columns} and _all_finite(rows)


def _all_finite(rows: Iterable[Sequence[Cell]]) -> bool:
    return all(map(_finite_cells, zip(*rows, strict=True)))


def _finite_cells(cells: Sequence[Cell]) -> bool:
    kinds = set(map(type, cells))
    if not any(issubclass(kind, float) for kind in kinds):
        return True
    numbers = cells if kinds == {float} else [cell for cell in cells if isinstance(cell, float)]
    # Any non-finite number makes the sum non-finite, which takes a third of the time; but finite ones may overflow.
    return math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers))  # type: ignore[arg-type]


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_is_finite, value))


def rows_from_columns(columns: Sequence[Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """Turn equally long columns of plain Python values into rows."""
    return tuple(zip(*columns, strict=True))


LARGEST = 2**53
"""Integers up to this are stored as an array."""


def _coded(parts: Iterable[tuple[NDArray[Any], Sequence[Value]]]) -> tuple[NDArray[np.int64], tuple[Value, ...]]:
    """Return the positions in each part's words as positions in one list of distinct words of the same type."""
    # 1, 1.0 and True are kept apart, and so are 0.0 and -0.0.
    places_by_word: dict[tuple[type, str], tuple[int, Value]] = {}
    codes = []
    for values, words in parts:
        places = [places_by_word.setdefault((type(word), repr(word)), (len(places_by_word), word))[0] for word in words]
        codes.append(np.array(places, dtype=np.int64)[values])
    return np.concatenate(codes), tuple(word for _, word in places_by_word.values())


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


# Rows of a board, with an upload's rows replacing those of the same entrants.


def with_rows(
    stored: ScoreTable, sent: ScoreTable, *, by_task: bool = False, extra_columns: Collection[str] = ()
) -> ScoreTable:
    """Return the stored rows with all of the sent entrants' replaced by the sent ones, or those of the sent tasks.

    Columns are those of the stored rows, and of the sent ones those in `extra_columns`; where rows lack one it is null.
    """
    remaining = stored.take(~_replaced(stored, sent, by_task=by_task))
    columns = (
        *stored.columns,
        *(name for name in sent.columns if name in extra_columns and name not in stored.columns),
    )
    recorded = dict.fromkeys((*remaining.recorded, *sent.recorded))
    return ScoreTable(
        entrant=_joined(remaining.entrant, sent.entrant).used(),
        task=_joined(remaining.task, sent.task),
        columns=columns,
        values=np.vstack([np.column_stack([_value(rows, column) for column in columns]) for rows in (remaining, sent)]),
        leaked=np.concatenate([remaining.leaked, sent.leaked]),
        file=np.concatenate([remaining.file, sent.file]),
        row=np.concatenate([remaining.row, sent.row]),
        condition=_either(remaining, sent, remaining.condition, sent.condition),
        seed=None if remaining.seed is None or sent.seed is None else np.concatenate([remaining.seed, sent.seed]),
        item=_either(remaining, sent, remaining.item, sent.item),
        reason=_either(remaining, sent, remaining.reason, sent.reason),
        recorded={
            name: coded
            for name in recorded
            if (coded := _either(remaining, sent, remaining.recorded.get(name), sent.recorded.get(name))) is not None
        },
    )


def _replaced(stored: ScoreTable, sent: ScoreTable, *, by_task: bool) -> BoolArray:
    tasks: dict[str | None, set[str | None]] = {}
    for entrant, task in set(zip(sent.entrant.to_list(), sent.task.to_list(), strict=True)):
        tasks.setdefault(entrant, set()).add(task)
    table = np.array(
        [[word in tasks and (not by_task or task in tasks[word]) for task in stored.task.words]
         for word in stored.entrant.words], dtype=np.bool_,
    ).reshape(len(stored.entrant.words), len(stored.task.words))  # fmt: skip
    replaced: BoolArray = table[stored.entrant.codes, stored.task.codes]
    return replaced


def _value(rows: ScoreTable, column: str) -> FloatArray:
    return rows.value(column) if column in rows.columns else np.full(len(rows), np.nan)


def _joined(one: Coded, other: Coded) -> Coded:
    words = tuple(dict.fromkeys([*one.words, *other.words]))
    place = {word: at for at, word in enumerate(words)}
    moved = np.array([*(place[word] for word in other.words), NONE], dtype=np.int64)
    return Coded(words, np.concatenate([one.codes, moved[other.codes]]))


def _either(one: ScoreTable, other: ScoreTable, own: Coded | None, sent: Coded | None) -> Coded | None:
    if own is None and sent is None:
        return None
    nothing = (Coded((), np.full(len(table), NONE, dtype=np.int64)) for table in (one, other))
    first, second = (given or empty for given, empty in zip((own, sent), nothing, strict=True))
    return _joined(first, second)
