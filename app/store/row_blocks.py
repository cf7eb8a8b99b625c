"""The rows of one entrant in one submission as one value, and as bytes: what publications read in place of rows.

`app.store.rows` makes them, from an upload and from stored rows alike, and tables of them.
"""

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Coded

FORMAT = 1
"""Blocks of another format are ignored and rebuilt from the rows."""

NUMBERS = ("position", "file", "row", "task", "leaked")

TEXTS = ("condition", "item", "reason")

RECORDED = "recorded."

SMALL_BYTES, MOST_REMEMBERED = 8 << 10, 2048
"""Unpacked blocks are cached: those up to this many bytes, and up to this many of them, at most 16 MiB."""


@dataclass(frozen=True, kw_only=True)
class RowBlock:
    """Rows in the order of their upload; every array has n_rows entries, `values` [n_rows, len(columns)].

    `task` holds numbers of tasks. Texts list their words in the order of the alphabet, and only those that occur; None
    where there are none. `recorded` lists every column, in the order in which JSONB keeps its keys.
    """

    columns: tuple[str, ...]
    values: FloatArray
    position: IntArray
    file: IntArray
    row: IntArray
    task: IntArray
    leaked: BoolArray
    condition: Coded | None = None
    seed: IntArray | None = None
    item: Coded | None = None
    reason: Coded | None = None
    recorded: Mapping[str, Coded] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.position)

    def take(self, at: IntArray) -> "RowBlock":
        """Return some of the rows, in this order."""
        return RowBlock(
            columns=self.columns,
            values=self.values[at],
            position=self.position[at],
            file=self.file[at],
            row=self.row[at],
            task=self.task[at],
            leaked=self.leaked[at],
            condition=take_words(self.condition, at),
            seed=None if self.seed is None else self.seed[at],
            item=take_words(self.item, at),
            reason=take_words(self.reason, at),
            recorded={name: _words_at(coded, at) for name, coded in in_jsonb_order(self.recorded).items()},
        )

    def of_tasks(self, tasks: Sequence[int] | None) -> "RowBlock":
        """Return the rows of some tasks; all of them where None are named."""
        return self if tasks is None else self.take(np.flatnonzero(np.isin(self.task, tasks)))


def split_by_entrant(rows: RowBlock, entrants: IntArray) -> Iterator[tuple[int, RowBlock]]:
    """Yield the rows of each entrant by its number; `entrants` holds the number of each row's."""
    order = np.argsort(entrants, kind="stable")
    numbers, starts = np.unique(entrants[order], return_index=True)
    for number, at in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
        yield number, rows.take(at)


def in_jsonb_order(recorded: Mapping[str, Coded]) -> dict[str, Coded]:
    """Return columns in the order in which Postgres keeps the keys of JSONB: shorter ones first."""
    return {name: recorded[name] for name in sorted(recorded, key=lambda name: (len(name.encode()), name.encode()))}


def take_words(coded: Coded | None, at: IntArray) -> Coded | None:
    """Return the texts of some rows with the words that occur there; None where none does."""
    if coded is None:
        return None
    taken = _words_at(coded, at)
    return taken if taken.words else None


def _words_at(coded: Coded, at: IntArray) -> Coded:
    taken = coded.take(at)
    used = np.unique(taken.codes[taken.codes != NONE]).tolist()
    return taken.with_words(sorted(used, key=lambda code: coded.words[code]))


def pack_block(block: RowBlock) -> bytes:
    """Return a block as bytes; the same rows give the same bytes."""
    texts = {name: coded for name in TEXTS if (coded := getattr(block, name)) is not None}
    texts |= {f"{RECORDED}{name}": coded for name, coded in block.recorded.items()}
    document = {
        "format": FORMAT,
        "columns": list(block.columns),
        "words": {name: list(coded.words) for name, coded in texts.items()},
    }
    arrays: dict[str, Any] = {name: getattr(block, name) for name in NUMBERS}
    arrays |= {} if block.seed is None else {"seed": block.seed}
    arrays |= {name: coded.codes for name, coded in texts.items()}
    arrays |= {f"value{at}": block.values[:, at] for at in range(len(block.columns))}
    return pack(document, arrays)


def unpack_block(content: bytes) -> RowBlock | None:
    """Return the block that `pack_block` packed; None where it was another format. Nobody may write to its arrays.

    For few rows, unpacking takes longer than reading from the database, and the next publication needs nearly all of
    the same blocks, so they are cached.
    """
    return _remembered(content) if len(content) <= SMALL_BYTES else _unpack_block(content)


@lru_cache(maxsize=MOST_REMEMBERED)
def _remembered(content: bytes) -> RowBlock | None:
    return _unpack_block(content)


def _unpack_block(content: bytes) -> RowBlock | None:
    document, arrays = unpack(content)
    if document["format"] != FORMAT:
        return None
    texts = {name: Coded(tuple(words), arrays[name]) for name, words in document["words"].items()}
    columns = tuple(document["columns"])
    each = [arrays[f"value{at}"] for at in range(len(columns))]
    values = np.stack(each, axis=1) if len(each) > 1 else _one_column(each, len(arrays["position"]))
    values.setflags(write=False)
    return RowBlock(
        columns=columns,
        values=values,
        position=arrays["position"],
        file=arrays["file"],
        row=arrays["row"],
        task=arrays["task"],
        leaked=arrays["leaked"],
        condition=texts.get("condition"),
        seed=arrays.get("seed"),
        item=texts.get("item"),
        reason=texts.get("reason"),
        recorded={name.removeprefix(RECORDED): coded for name, coded in texts.items() if name.startswith(RECORDED)},
    )


def _one_column(each: Sequence[FloatArray], n_rows: int) -> FloatArray:
    """Return one column of values, or none, as they lie in the block."""
    return each[0][:, None] if each else np.empty((n_rows, 0))


# Arrays with their description as one string of bytes: a JSON header, then each array as it lies in memory. Reading
# costs no copy, and nothing here is code.

Arrays = Mapping[str, NDArray[Any]]

_LENGTH = struct.Struct("<q")

SMALL_PACKED_BYTES, MOST_PACKED_REMEMBERED = 1 << 10, 256
"""Parsed headers are cached: those up to this many bytes, and up to this many of them."""


def pack(document: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return a JSON-ready document and arrays as bytes; equal values give equal bytes.

    Integers take the fewest bytes that hold all of an array, and an array of one value is that value.
    """
    narrowed = {name: _narrow(np.asarray(array)) for name, array in arrays.items()}
    described = [
        [name, array.dtype.str, list(np.shape(arrays[name])), array.size != np.size(arrays[name])]
        for name, array in narrowed.items()
    ]
    header = json.dumps([document, described], separators=(",", ":"), allow_nan=False).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *(array.tobytes() for array in narrowed.values())])


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the document and the arrays that `pack` packed; the arrays cannot be written to."""
    (length,) = _LENGTH.unpack_from(content)
    at = _LENGTH.size + length
    header = content[_LENGTH.size : at]
    document, described = (_small_header if length <= SMALL_PACKED_BYTES else _header)(header)
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, shape, is_one in described:
        arrays[name] = np.ndarray(shape, dtype, content, at, (0,) * len(shape) if is_one else None)
        at += dtype.itemsize * (1 if is_one else math.prod(shape))
    return dict(document), arrays


def _header(header: bytes) -> tuple[dict[str, Any], list[tuple[str, np.dtype[Any], tuple[int, ...], bool]]]:
    document, described = json.loads(header)
    return document, [(name, np.dtype(dtype), tuple(shape), is_one) for name, dtype, shape, is_one in described]


_small_header = lru_cache(maxsize=MOST_PACKED_REMEMBERED)(_header)
"""Cached, because thousands of blocks have the same header, which took longer to parse than finding the arrays."""


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.size > 1 and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
        array = array.reshape(-1)[:1]
    if array.dtype.kind == "i" and array.size:
        kinds = ("<i1", "<i2", "<i4", "<i8")
        low, high = int(array.min()), int(array.max())
        return array.astype(next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))
    return array.astype(array.dtype.newbyteorder("<"))
