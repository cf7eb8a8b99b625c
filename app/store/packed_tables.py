"""A published table as bytes: its rows as JSON, or as columns; a board, or a table of all pairs, as what is new in it.

What was packed is read for ever, also by later versions: a format is never changed, only another one added.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic_core import PydanticSerializationError, to_json
from scipy.special import stdtrit

from app.stats.arrays import FloatArray, IntArray
from app.store.row_blocks import pack, unpack
from app.values.table import CellColumn, ColumnarRows, Table

# The quickest level takes a quarter of the time for a fifth more bytes.
PACKED_AT = 1

COLUMNAR = b"columns:"
"""The first bytes of a table stored as arrays; one stored by rows begins with a zlib header."""

SQUARE, SQUARE_BY_LAW = b"square1:", b"square2:"
"""The first bytes of a table of all pairs; the second may predict by POINTS and by Student's t."""

RESTED = b"rested1:"
"""The first bytes of rows that are stored as what differs from those of another table."""

_LENGTH = struct.Struct("<q")

CELLS = frozenset({str, int, float, bool, type(None)})

Places = tuple[IntArray, ...]


def refuse_unstorable(table: Table) -> None:
    """Raise TypeError or ValueError for a table that `pack_table` would not pack, in a tenth of its time."""
    _refuse_foreign(table)
    pack_table(replace(table, rows=()))


def pack_table(table: Table, base: Table | None = None) -> bytes:
    """Return a table as it is stored. Raises ValueError or TypeError when something in it cannot be.

    A table of all pairs, or with a row for each entrant, may be stored as what differs from a `base`, which is then
    needed to read it.
    """
    _refuse_foreign(table)
    if base is not None and not isinstance(table.rows, ColumnarRows) and table.rows:
        return _pack_rested(table, base)
    if isinstance(table.rows, ColumnarRows):
        names = _names_of(table.rows)
        return _pack_columns(table, table.rows) if names is None else _pack_square(table, table.rows, names, base)
    about = json.dumps(replace(table, rows=()).to_json() | {"rows": None}, separators=(",", ":"), allow_nan=False)
    head, tail = about.split('"rows":null', 1)
    return zlib.compress(b"".join([head.encode(), b'"rows":', _rows_json(table), tail.encode()]), PACKED_AT)


def _refuse_foreign(table: Table) -> None:
    cells: Iterable[Any] = chain.from_iterable(
        (column.words or () for column in table.rows.columns) if isinstance(table.rows, ColumnarRows) else table.rows
    )
    foreign = set(map(type, cells)) - CELLS
    if foreign:
        raise TypeError(f"{table.name} holds a {', '.join(sorted(kind.__name__ for kind in foreign))}")


def _rows_json(table: Table) -> bytes:
    """Return the rows as JSON; the shortest digits that give the same number take a seventh of the time this way."""
    try:
        return to_json(table.rows)
    except PydanticSerializationError:  # half of a surrogate pair, which is no UTF-8
        return json.dumps(table.rows, separators=(",", ":"), allow_nan=False).encode()


def _pack_columns(table: Table, rows: ColumnarRows) -> bytes:
    about = replace(table, rows=()).to_json() | {"words": [column.words for column in rows.columns]}
    return _compressed(COLUMNAR, pack(about, {str(at): column.values for at, column in enumerate(rows.columns)}))


def _compressed(mark: bytes, content: bytes) -> bytes:
    return b"".join([mark, _LENGTH.pack(len(content)), _codec().compress(content, asbytes=True)])


def _decompressed(mark: bytes, content: bytes) -> bytes:
    (length,) = _LENGTH.unpack_from(content, len(mark))
    plain: bytes = _codec().decompress(content[len(mark) + _LENGTH.size :], length, asbytes=True)
    return plain


@cache
def _codec() -> pa.Codec:
    return pa.Codec("zstd", compression_level=1)


def unpack_table(content: bytes, base: Callable[[], Table] | None = None) -> Table:
    """Return the table that `pack_table` packed, with the base that it was given."""
    if content.startswith((SQUARE, SQUARE_BY_LAW)):
        return _unpack_square(content, None if base is None else base())
    if content.startswith(RESTED):
        if base is None:
            raise ValueError("what rests on another table is not read without it")
        return _unpack_rested(content, base())
    if not content.startswith(COLUMNAR):
        return Table.from_json(json.loads(zlib.decompress(content)))
    about, arrays = unpack(_decompressed(COLUMNAR, content))
    words = [None if known is None else tuple(known) for known in about.pop("words")]
    columns = tuple(CellColumn(arrays[str(at)], known) for at, known in enumerate(words))
    return replace(Table.from_json(about), rows=ColumnarRows(columns))


# A table of all pairs, [n, n] cells a column: nearly all that a snapshot of many entrants takes. One half follows from
# the other (B is below A by as much as A is above B), and much of it from an earlier snapshot. So each number is
# predicted, and what is stored is by how much its bits differ from the prediction: mostly nothing. A wrong prediction
# costs bytes, never a bit of the number, and predictions add and subtract only: the same bits on every machine.

NOTHING, BASE, MIDDLE, POINTS = "nothing", "base", "middle", "points"
"""What predicts a number: zero, its cell of the base, of an interval's upper end the point and the lower end, or of a
difference of scores how far each of the two is from the first entrant."""

SIDES: Sequence[Callable[[FloatArray], FloatArray]] = (lambda x: x, lambda x: 0.0 - x, lambda x: 1.0 - x)
"""How B beside A may follow from A beside B: the same, its negative, or the rest to 1."""

WIDTH = 8
"""Bytes of a number."""

SAMPLE, TRIED = 512, 2048
"""On so many cells of a column the ways are compared, and on so many how their bytes compress better."""

Way = str | list[Any]
"""What a half of a column is predicted by; of the lower half also which of SIDES, and of which column. Of a p-value: in
which column the difference is and in which its lower end, the degrees of freedom, and the quantile of the interval."""


def _names_of(rows: ColumnarRows) -> tuple[Any, ...] | None:
    """Return whose pairs the rows are, each with each, row after row; None where they are something else."""
    if len(rows.columns) < 3 or not len(rows):
        return None
    first, second = rows.columns[:2]
    names, n = first.words, round(len(rows) ** 0.5)
    if names is None or names != second.words or len(names) != n or n * n != len(rows):
        return None
    at = np.arange(n)
    is_square = np.array_equal(first.values, np.repeat(at, n)) and np.array_equal(second.values, np.tile(at, n))
    return names if is_square else None


def _pack_square(table: Table, rows: ColumnarRows, names: Sequence[Any], base: Table | None) -> bytes:
    earlier = _EarlierPairs(base, names)
    upper, lower = _halves(len(names))
    squares = {at: _square_of(cells) for at, cells in enumerate(rows.columns) if _is_real(cells)}
    arrays = {str(at): cells.values for at, cells in enumerate(rows.columns) if at > 1 and at not in squares}
    ways: list[tuple[int, Way, Way]] = []
    mirrors: list[Way] = [[side, of] for of in squares for side in range(len(SIDES))]
    for at, square in squares.items():
        predict = partial(_predicted, at, table.columns[at].name, squares, earlier)
        old: list[Way] = [BASE] if earlier.has(table.columns[at].name) else []
        middle: list[Way] = [MIDDLE] if {at - 1, at - 2} <= squares.keys() else []
        above, arrays[f"upper{at}"] = _closest(
            square, upper, [NOTHING, *old, *middle, POINTS, *_of_tests(table, at, squares)], predict
        )
        if above == POINTS:
            arrays[f"{POINTS}{at}"] = square[0]
        below, arrays[f"lower{at}"] = _closest(square, lower, [*old, *mirrors], predict)
        ways.append((at, above, below))
    about = replace(table, rows=()).to_json() | {
        "names": earlier.pointed(names),
        "words": [None if at < 2 else cells.words for at, cells in enumerate(rows.columns)],
        "ways": ways,
    }
    is_by_law = any(above == POINTS or isinstance(above, list) for _, above, _ in ways)
    return _compressed(SQUARE_BY_LAW if is_by_law else SQUARE, pack(about, arrays))


def _halves(n: int) -> tuple[Places, Places]:
    """Return the places of the upper half with the diagonal, and those of the lower half."""
    return np.triu_indices(n), np.triu_indices(n, 1)[::-1]


def _closest(
    square: FloatArray, places: Places, ways: Sequence[Way], predict: Callable[[Way, Places], FloatArray]
) -> tuple[Way, NDArray[np.uint8]]:
    """Return the way that leaves the fewest bytes at some places of a column, and what it leaves."""
    step = max(1, len(places[0]) // SAMPLE)
    some = (places[0][::step], places[1][::step])
    cells = square[some]
    way = min(ways, key=lambda each: int(np.count_nonzero(_left(cells, predict(each, some)))))
    left = _left(square[places], predict(way, places))
    # Numbers without structure compress better byte by byte, and those of which there are few as they are.
    is_plain = _n_bytes(left[:TRIED]) <= _n_bytes(left[:TRIED].T)
    return way, left if is_plain else np.ascontiguousarray(left.T)


def _predicted(
    at: int, name: str, squares: Mapping[int, FloatArray], earlier: "_EarlierPairs", way: Way, places: Places
) -> FloatArray:
    """Return what a way predicts for a column: from what is read before it: upper halves first."""
    if way == NOTHING:
        return np.zeros(len(places[0]))
    if way == BASE:
        return earlier.cells(name, places)
    if way == POINTS:
        points = squares[at][0]
        return np.asarray(points[places[1]] - points[places[0]])
    if way == MIDDLE:
        point, low = squares[at - 2][places], squares[at - 1][places]
        return point + (point - low)
    if len(way) == len(TEST):
        return _of_test(squares, way, places)
    side, of = (int(each) for each in way)
    return SIDES[side](squares[of][places[::-1]])


# A p-value of Student's t follows from a difference and its interval, which has the same standard error.

TEST = ("difference", "low", "freedom", "quantile")

P_VALUE, MOST_FREEDOM, FEWEST_TESTS, ALIKE = "p_value", 30, 16, 1e-9


def _of_tests(table: Table, at: int, squares: Mapping[int, FloatArray]) -> Iterator[Way]:
    """Yield how a column of p-values follows from a difference and its lower end, if it does."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    if table.columns[at].name != P_VALUE:
        return
    for point, column in enumerate(table.columns[:at]):
        low = places.get(column.interval[0], at) if column.interval else at
        if {point, low} <= squares.keys() and low < at:
            yield from _tested(point, low, *(_some(squares[each]) for each in (point, low, at)))


def _of_test(squares: Mapping[int, FloatArray], test: Way, places: Places) -> FloatArray:
    at, below, freedom, quantile = (float(each) for each in test)
    differences, lows = (squares[int(each)][places] for each in (at, below))
    with np.errstate(all="ignore"):
        return p_values(np.abs(differences) * quantile / (differences - lows), int(freedom))


def _some(square: FloatArray) -> FloatArray:
    cells = square[np.triu_indices(len(square), 1)]
    return cells[:: max(1, len(cells) // SAMPLE)]


def _tested(point: int, low: int, differences: FloatArray, lows: FloatArray, values: FloatArray) -> Iterator[Way]:
    with np.errstate(invalid="ignore"):
        known = (differences != 0.0) & (lows < differences) & (values > 0.0) & (values < 1.0)
    if known.sum() < FEWEST_TESTS:
        return
    margins = (differences[known] - lows[known]) / np.abs(differences[known])
    for freedom in range(1, MOST_FREEDOM):
        quantiles = -stdtrit(freedom, values[known] / 2.0) * margins
        middle = float(np.median(quantiles))
        if np.mean(np.abs(quantiles - middle) < ALIKE * middle) > 0.5:
            yield [point, low, freedom, middle]


TERMS = 60
"""Of the continued fraction: more change no bit."""


def p_values(sizes: FloatArray, freedom: int) -> FloatArray:
    """Return two-sided p-values of differences in standard errors, by a whole number of degrees of freedom.

    Steps that every machine rounds alike, and so never another function: what was packed is read by these bits.
    Source: Press et al. 2007, section 6.4, the continued fraction of the incomplete beta function.

    >>> p_values(np.array([0.0, 2.131449545559323, np.nan]), 15).round(9).tolist()
    [1.0, 0.05, nan]
    """
    a, b, squares = freedom / 2.0, 0.5, sizes * sizes
    x, y = freedom / (freedom + squares), squares / (freedom + squares)
    whole, at = (np.pi, 0.5) if freedom % 2 else (2.0, 1.0)
    while at < a:
        whole, at = whole * at / (at + 0.5), at + 1.0
    front = np.sqrt(y) / whole
    for _ in range(freedom):
        front = front * np.sqrt(x)
    near = x < (a + 1.0) / (a + b + 2.0)
    with np.errstate(all="ignore"):
        return np.where(near, front * _fraction(x, a, b), 1.0 - front * _fraction(y, b, a))


def _fraction(x: FloatArray, a: float, b: float) -> FloatArray:
    fraction = np.ones_like(x)
    for m in range(TERMS, 0, -1):
        even = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1.0 + odd * x / (1.0 + even * x / fraction)
    return 1.0 / (a * fraction)


def _left(cells: FloatArray, predicted: FloatArray) -> NDArray[np.uint8]:
    return (_bits(cells) - _bits(predicted)).view(np.uint8).reshape(-1, WIDTH)


def _n_bytes(left: NDArray[np.uint8]) -> int:
    return len(_codec().compress(left.tobytes(), asbytes=True))


def _bits(numbers: FloatArray) -> NDArray[np.int64]:
    """Return the bits of numbers as integers; every NaN has the same, whatever was computed of it."""
    return np.ascontiguousarray(np.where(np.isnan(numbers), np.nan, numbers)).astype("<f8", copy=False).view("<i8")


def _is_real(cells: CellColumn) -> bool:
    return cells.words is None and cells.values.dtype.kind == "f"


def _square_of(cells: CellColumn) -> FloatArray:
    n = round(len(cells.values) ** 0.5)
    return cells.values.astype(np.float64, copy=False).reshape(n, n)


class _EarlierPairs:
    """The cells of an earlier table of pairs, in the order of these names; those of new names are 0."""

    def __init__(self, base: Table | None, names: Sequence[Any]) -> None:
        rows = None if base is None or not isinstance(base.rows, ColumnarRows) else base.rows
        known = None if rows is None else _names_of(rows)
        self.names: Sequence[Any] = known or ()
        self._columns: dict[str, FloatArray] = {}
        if base is not None and rows is not None and known is not None:
            each = zip(base.column_names(), rows.columns, strict=True)
            self._columns = {name: _square_of(cells) for name, cells in each if _is_real(cells)}
        self._place = {(type(name), name): at for at, name in enumerate(self.names)}
        self._at = np.array([self._place.get((type(name), name), -1) for name in names], dtype=np.int64)

    def has(self, name: str) -> bool:
        """Say whether the base has such a column of numbers."""
        return name in self._columns

    def cells(self, name: str, places: Places) -> FloatArray:
        """Return the cells of a column at these places of the new table."""
        first, second = (self._at[place] for place in places)
        return np.where((first >= 0) & (second >= 0), self._columns[name][first, second], 0.0)

    def pointed(self, names: Sequence[Any]) -> list[Any]:
        """Return names as their places in the base, or in a list of their own where they are new."""
        return [int(at) if at >= 0 else [name] for at, name in zip(self._at, names, strict=True)]


def _unpack_square(content: bytes, base: Table | None) -> Table:
    about, arrays = unpack(_decompressed(content[: len(SQUARE)], content))
    old = _EarlierPairs(base, ()).names
    names = tuple(old[each] if isinstance(each, int) else each[0] for each in about.pop("names"))
    words, ways = about.pop("words"), about.pop("ways")
    earlier, n = _EarlierPairs(base, names), len(names)
    squares = {at: np.empty((n, n)) for at, _, _ in ways}
    for at in squares:
        if f"{POINTS}{at}" in arrays:
            squares[at][0] = arrays[f"{POINTS}{at}"]
    for half, places in enumerate(_halves(n)):
        for at, *each in ways:
            predicted = _predicted(at, about["columns"][at]["name"], squares, earlier, each[half], places)
            squares[at][places] = _restored(arrays[f"{('upper', 'lower')[half]}{at}"], predicted)
    place = np.arange(n)
    cells = [CellColumn(np.repeat(place, n), names), CellColumn(np.tile(place, n), names)]
    for at, known in enumerate(words[2:], start=2):
        values = squares[at].ravel() if at in squares else arrays[str(at)]
        cells.append(CellColumn(values, None if known is None else tuple(known)))
    return replace(Table.from_json(about | {"rows": []}), rows=ColumnarRows(tuple(cells)))


def _restored(left: NDArray[np.uint8], predicted: FloatArray) -> FloatArray:
    # No half of a square has WIDTH cells, so that the shape says which way the bytes lie.
    return _with_left(left if left.shape[1] == WIDTH else left.T, predicted)


def _with_left(left: NDArray[np.uint8], predicted: FloatArray) -> FloatArray:
    bits = np.ascontiguousarray(left).view("<i8").reshape(-1) + _bits(predicted)
    restored: FloatArray = bits.view("<f8")
    return restored


# Rows of entrants, of which a publication changes some columns: each cell beside that of the same entrant in the base.
# Numbers are stored as by how much their bits differ, of other columns only the cells that changed.

KEY = "entrant"


def _pack_rested(table: Table, base: Table) -> bytes:
    at = _rows_in(base, table)
    arrays: dict[str, NDArray[Any]] = {"rows": np.array(at, dtype=np.int64)}
    changed: dict[str, list[Any]] = {}
    for place, (column, cells) in enumerate(zip(table.columns, zip(*table.rows, strict=True), strict=True)):
        was = _cells_of(base, column.name, at)
        if set(map(type, cells)) <= NUMBERS:
            arrays[f"left{place}"] = np.ascontiguousarray(_left(_numbers(cells), _numbers(was)).T)
            continue
        new = [row for row, (cell, old) in enumerate(zip(cells, was, strict=True)) if not _is_same(cell, old)]
        arrays[f"changed{place}"] = np.array(new, dtype=np.int64)
        changed[str(place)] = [cells[row] for row in new]
    about = replace(table, rows=()).to_json() | {"changed": changed}
    if table.columns == base.columns:
        about["columns"] = None
    return _compressed(RESTED, pack(about, arrays))


def _unpack_rested(content: bytes, base: Table) -> Table:
    about, arrays = unpack(_decompressed(RESTED, content))
    changed, at = about.pop("changed"), arrays["rows"].tolist()
    is_alike = about["columns"] is None
    table = Table.from_json(about | {"rows": []} | ({"columns": []} if is_alike else {}))
    columns = base.columns if is_alike else table.columns
    each = []
    for place, column in enumerate(columns):
        cells = _cells_of(base, column.name, at)
        if f"left{place}" in arrays:
            cells = CellColumn(_with_left(arrays[f"left{place}"].T, _numbers(cells))).cells()
        else:
            for row, cell in zip(arrays[f"changed{place}"].tolist(), changed[str(place)], strict=True):
                cells[row] = cell
        each.append(cells)
    return replace(table, columns=columns, rows=tuple(zip(*each, strict=True)))


NUMBERS = frozenset({float, type(None)})


def _rows_in(base: Table, table: Table) -> list[int]:
    """Return in which row of the base each entrant stands; −1 for one that is new, or where a row is nobody's."""
    if not {KEY} <= {*base.column_names()} & {*table.column_names()}:
        return [-1] * len(table.rows)
    in_base, own = base.index(KEY), table.index(KEY)
    place = {row[in_base]: at for at, row in enumerate(base.rows)}
    return [place.get(row[own], -1) for row in table.rows]


def _cells_of(base: Table, name: str, rows: Sequence[int]) -> list[Any]:
    """Return the cells of a column in some rows of the base; None where it has no such row or column."""
    if name not in base.column_names():
        return [None] * len(rows)
    at = base.index(name)
    return [base.rows[row][at] if row >= 0 else None for row in rows]


def _numbers(cells: Sequence[Any]) -> FloatArray:
    """Return what predicts numbers: what is no number predicts nothing."""
    return np.array([cell if isinstance(cell, float) else np.nan for cell in cells])


def _is_same(cell: Any, old: Any) -> bool:
    # 1, 1.0 and True are three things, and so are 0.0 and -0.0.
    return type(cell) is type(old) and (repr(cell) == repr(old) if isinstance(cell, float) else cell == old)
