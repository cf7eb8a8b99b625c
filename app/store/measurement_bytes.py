"""A measurement as bytes: its numbers and, separately, the parts that are shown only for the best of a board.

Called by `app.store.measured`. Rows are packed column by column, so that reading them needs no parsing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, Measurement
from app.boards.spread import Precision
from app.stats.arrays import FloatArray
from app.store.packing import pack, unpack
from app.values.columnar import CellColumn, ColumnarRows
from app.values.table import Cell

V = TypeVar("V")
NOTHING_APART: frozenset[str] = frozenset()


class Kept(Mapping[str, V]):
    """Values by name, some of them in memory; the others are read together when one is first accessed.

    Losses and curves are as large as the evidence, but are shown only for the few best of a thousand entrants.
    """

    def __init__(self, at_hand: Mapping[str, V], names: Sequence[str], read: Callable[[], Mapping[str, V]]) -> None:
        self._at_hand = at_hand
        self._apart = tuple(names)
        self._read = read

    def __getitem__(self, name: str) -> V:
        """Return one value."""
        if name not in self._apart:
            return self._at_hand[name]
        return self._read_apart[name]

    def __contains__(self, name: object) -> bool:
        """Say whether there is one, without reading it."""
        return name in self._at_hand or name in self._apart

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter((*self._at_hand, *self._apart))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._at_hand) + len(self._apart)

    @cached_property
    def _read_apart(self) -> Mapping[str, V]:
        return self._read()


@dataclass(frozen=True)
class Apart:
    """What is kept apart of a measurement: its losses by task, and its rows of the tables that few are shown in."""

    losses: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    rows: Mapping[str, Sequence[tuple[Cell, ...]]] = field(default_factory=dict)


def pack_measurement(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes:
    """Return a measurement as bytes; its losses, and its rows of some tables, are only named."""
    document = {
        "entrant": measurement.entrant,
        "estimates": {name: asdict(estimate) for name, estimate in measurement.estimates.items()},
        "rows": {name: list(map(list, rows)) for name, rows in measurement.rows.items() if name not in apart},
        "rows_apart": [name for name in measurement.rows if name in apart],
        "facts": dict(measurement.facts),
        "replicates": list(measurement.replicates),
        "precision": {name: asdict(precision) for name, precision in measurement.precision.items()},
        "losses": list(measurement.losses),
        "coverage": asdict(measurement.coverage),
        "held": None if measurement.held is None else [list(each) for each in measurement.held],
        "bounds": None if measurement.bounds is None else list(measurement.bounds),
        "items": measurement.items,
    }
    arrays = {f"replicates{at}": values for at, values in enumerate(measurement.replicates.values())}
    return pack(document, arrays)


def pack_apart(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes | None:
    """Return what `pack_measurement` leaves out, None where that is nothing. Zeros and ones take a byte each."""
    tables = {name: ColumnarRows.of_rows(rows) for name, rows in measurement.rows.items() if name in apart}
    if not measurement.losses and not tables:
        return None
    arrays = {f"{at}": _fewest_bytes(values) for at, values in enumerate(measurement.losses.values())}
    words = {name: [column.words for column in rows.columns] for name, rows in tables.items()}
    columns = {f"{name}:{at}": column.values for name, rows in tables.items() for at, column in enumerate(rows.columns)}
    return pack({"tasks": list(measurement.losses), "words": words}, arrays | columns)


def _fewest_bytes(values: FloatArray) -> NDArray[Any]:
    are_flags = bool(np.isin(values, (0.0, 1.0)).all()) and not np.signbit(values).any()
    return values.astype(np.int8) if are_flags else values


def unpack_apart(content: bytes) -> Apart:
    """Return what `pack_apart` packed."""
    document, arrays = unpack(content)
    losses = {task: arrays[f"{at}"] for at, task in enumerate(document["tasks"])}
    tables = {
        name: ColumnarRows(tuple(CellColumn(arrays[f"{name}:{at}"], None if known is None else tuple(known))
                                 for at, known in enumerate(words)))
        for name, words in document["words"].items()
    }  # fmt: skip
    return Apart(losses, tables)


@dataclass(frozen=True)
class Unread:
    """A measurement without what is apart, and the names of that: the tasks of its losses, and tables."""

    measurement: Measurement
    losses: Sequence[str]
    rows: Sequence[str]
    n_bytes: int

    def with_apart(self, read_apart: Callable[[], Apart] = Apart) -> Measurement:
        """Return the measurement; what is apart is read once, when it is asked for."""
        if not self.losses and not self.rows:
            return self.measurement
        apart = cache(read_apart)
        losses: Kept[NDArray[Any]] = Kept({}, self.losses, lambda: apart().losses)
        return replace(
            self.measurement, rows=Kept(self.measurement.rows, self.rows, lambda: apart().rows), losses=losses
        )


def unpack_measurement(content: bytes) -> Unread:
    """Return the measurement that `pack_measurement` packed."""
    document, arrays = unpack(content)
    measurement = Measurement(
        entrant=document["entrant"],
        estimates={name: Estimate.from_stored(estimate) for name, estimate in document["estimates"].items()},
        replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
        precision={name: Precision(**kept) for name, kept in document["precision"].items()},
        rows={name: tuple(map(tuple, rows)) for name, rows in document["rows"].items()},
        facts=document["facts"],
        coverage=Coverage(**document["coverage"]),
        held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
        bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        items=document["items"],
    )
    return Unread(measurement, document["losses"], document["rows_apart"], len(content))
