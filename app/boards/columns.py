"""The columns of every board, whatever its method, with their cells: add a column to every board here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.boards import coverage
from app.boards.coverage import NO_REMARKS, RankStatus
from app.boards.statement import with_statement
from app.manifest.model import Leaderboard
from app.names import count, names_in_words
from app.stats.arrays import FloatArray
from app.values.frame import Ends, Frame, FrameField
from app.values.table import Cell, Column, Table, finite

R = TypeVar("R")

LikeFirst = Literal["alike", "worse"]


@dataclass(frozen=True)
class BoardRow:
    """Where one entrant is on a board; None without a rank, and for what needs replicates where there are none."""

    entrant: str
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    may_be_first: bool | None = None
    first_p: float | None = None
    first_resamples_share: float | None = None
    group: int | None = None
    like_first: LikeFirst | None = None
    """Of who is shown to differ from the first by less than matters: whether it is shown to be worse all the same."""
    rank_status: RankStatus = NO_REMARKS


FIRST: tuple[FrameField[BoardRow], ...] = (
    FrameField(
        Column("rank", "Rank", "integer", interval=("rank_low", "rank_high"), glossary="rank_interval"),
        lambda place: place.rank,
    ),
    FrameField(Column("entrant", "Entrant", "text"), lambda place: place.entrant),
)
"""The first columns of every board."""


def _known(*fields: FrameField[BoardRow]) -> dict[str, FrameField[BoardRow]]:
    return {field.column.name: field for field in fields}


COLUMNS = _known(
    FrameField(
        Column("rank_low", "Rank, low", "integer", detail=True, glossary="rank_interval"),
        lambda place: place.rank_low,
    ),
    FrameField(
        Column("rank_high", "Rank, high", "integer", detail=True, glossary="rank_interval"),
        lambda place: place.rank_high,
    ),
    FrameField(
        Column("may_be_first", "May be first", "flag", detail=True, glossary="may_be_first"),
        lambda place: place.may_be_first,
    ),
    FrameField(
        Column("first_p", "p (first)", glossary="first_p", digits=3),
        lambda place: place.first_p,
    ),
    FrameField(
        Column("first_resamples_share", "First in resamples", detail=True, glossary="first_resamples_share"),
        lambda place: place.first_resamples_share,
    ),
    FrameField(Column("group", "Group", "integer", detail=True, glossary="group"), lambda place: place.group),
    *(field.of(lambda place: place.rank_status) for field in coverage.FIELDS),
)
"""The last columns of every board, whatever its method: add a column to every board here."""


def board_table(
    spec: Leaderboard,
    fields: Sequence[FrameField[R]],
    rows: Iterable[tuple[BoardRow, R]],
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    """Return the table of a board: the common columns, with the method's own fields in between.

    Where no grid is declared a rank has no interval, and nobody is said to be possibly first. `meta.statement` says who
    is (`app.boards.statement`).

    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> table = board_table(board, [], [(BoardRow("A", 1), None)], [], {})
    >>> table.name, table.rows[0][:2]
    ('leaderboard/main', (1, 'A'))
    """
    placed = list(rows)
    places, own = [_but_provisional(place) for place, _ in placed], [row for _, row in placed]
    first, between, last = Frame(FIRST), Frame(fields), Frame(tuple(COLUMNS.values()))
    columns = (*first.columns, *between.columns, *last.columns)
    cells = (*first.columnwise(places), *between.columnwise(own), *last.columnwise(places))
    rows_of_cells = tuple(zip(*cells, strict=True))
    title = spec.title or spec.name
    said = {**meta, **_decisions(spec, places)}
    noted = (*notes, *_excluded(places))
    return with_statement(Table(f"leaderboard/{spec.name}", title, columns, rows_of_cells, noted, said))


def _but_provisional(place: BoardRow) -> BoardRow:
    """Return a place with a rank alone where the grid is open: whoever sends tasks would decide who may be first."""
    status = place.rank_status
    return BoardRow(place.entrant, place.rank, rank_status=status) if status.is_provisional else place


def _excluded(places: Sequence[BoardRow]) -> Iterator[str]:
    """Yield who may not be first by the rule for gaps, and so has no p-value."""
    ruled = [each.entrant for each in places if each.may_be_first is False and each.first_p is None]
    if ruled:
        who = f"{count(len(ruled), 'entrant')} ({names_in_words(ruled)})"
        yield f"Excluded as first by the rule for gaps, whatever a test says, and so without a p: {who}."


def _decisions(spec: Leaderboard, places: Sequence[BoardRow]) -> dict[str, Any]:
    """Return what a board's decisions hold for, where its manifest says so, for `meta`."""
    found: dict[str, Any] = {"over_snapshots": True} if spec.over_snapshots else {}
    if any(place.rank_status.is_provisional for place in places):
        found["provisional"] = True
    if spec.smallest_difference is not None:
        alike, worse = ([each.entrant for each in places if each.like_first == how] for how in ("alike", "worse"))
        found["equivalence"] = {
            "smallest_difference": spec.smallest_difference, "to_first": alike, "worse_by_less": worse,
        }  # fmt: skip
    return found


def cell_at(values: NDArray[Any] | None) -> Callable[[int], Cell]:
    """Return a function from position to cell of an array [n_entrants]; None for what is not finite, or without one.

    Source: none; it converts types.

    >>> import numpy as np
    >>> at = cell_at(np.array([0.5, np.nan]))
    >>> at(0), at(1), cell_at(None)(0)
    (0.5, None, None)
    """
    return _nothing_at if values is None else _cells(values).__getitem__


def _cells(values: NDArray[Any]) -> list[Cell]:
    cells: list[Cell] = values.tolist()
    return cells if np.isfinite(values).all() else [finite(cell) for cell in values.tolist()]


def _nothing_at(_at: int) -> Cell:
    return None


def ends_at(points: FloatArray, ends: FloatArray | None) -> Callable[[int], Ends]:
    """Return a function from position to (point, low, high), from `ends` [2, n_entrants]; without `ends` they are None.

    Points are [n_entrants], all in one unit; what is not finite is None.
    Source: none; it converts types.

    >>> import numpy as np
    >>> ends_at(np.array([2.0]), np.array([[1.0], [np.inf]]))(0)
    (2.0, 1.0, None)
    """
    low, high = (None, None) if ends is None else ends
    nothing: list[Cell] = [None] * len(points)
    each = (nothing if values is None else _cells(values) for values in (points, low, high))
    return list(zip(*each, strict=True)).__getitem__
