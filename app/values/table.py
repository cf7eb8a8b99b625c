"""The one table value from which a published page, its CSV and its JSON are all rendered.

Created by `boards` and `store`, stored in snapshots by `jobs`, shown by `render`. Because the three formats come from
the same value they cannot disagree.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from app.errors import TableRejected
from app.values.columnar import ColumnarRows

Kind = Literal["text", "integer", "number", "flag", "time"]
Cell = str | int | float | bool | None
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
