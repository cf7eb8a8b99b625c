"""The pairwise table as a square: rows beat columns. Called by the page of a pairwise table.

The square shows one number per pair; intervals and the other numbers are in the long table under it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.render.text import format_number
from app.values.table import Cell, Table

MAX_ENTRANTS = 40
# What fills the square: how probably A is better by the board's score; how often A wins where nothing was drawn.
VALUES = ("p_a_beats_b", "win_rate")
ONE_PERCENT = 0.01
# With these a pair has several rows, which one square cannot show.
SEVERAL = ("metric", "task")


@dataclass(frozen=True)
class MatrixCell:
    """How often, or how probably, a row's entrant beats a column's: text and shade from 0 (loses) to 8 (wins).

    `is_settled` is the verdict of the board: the two are separable.
    """

    text: str
    shade: int
    is_settled: bool


@dataclass(frozen=True)
class Matrix:
    """Entrants from most to fewest wins; `cells[row][column]`, None on the diagonal."""

    entrants: tuple[str, ...]
    cells: tuple[tuple[MatrixCell | None, ...], ...]
    title: str


def is_pairwise(table: Table) -> bool:
    """Say whether the rows of a table are ordered pairs of entrants, each pair in one row."""
    names = set(table.column_names())
    return names >= {"entrant_a", "entrant_b"} and not names.isdisjoint(VALUES) and names.isdisjoint(SEVERAL)


def build_matrix(table: Table) -> Matrix | None:
    """Return the square of a pairwise table; None for another table, or where it would be too large to read."""
    if not is_pairwise(table):
        return None
    pairs = {(str(record["entrant_a"]), str(record["entrant_b"])): record for record in table.records()}
    entrants = order_by_wins(table)
    if not 2 <= len(entrants) <= MAX_ENTRANTS:
        return None
    value = _value(table)
    cells = tuple(tuple(_cell(pairs.get((a, b)), a, b, value) for b in entrants) for a in entrants)
    return Matrix(entrants, cells, table.columns[table.index(value)].title)


def _value(table: Table) -> str:
    present = [name for name in VALUES if name in table.column_names()]
    filled = (name for name in present if any(isinstance(row[table.index(name)], float) for row in table.rows))
    return next(filled, present[0])


def order_by_wins(table: Table) -> tuple[str, ...]:
    """Return the entrants of a pairwise table by their mean value, however its rows are sorted."""
    a, b, rate = (table.index(name) for name in ("entrant_a", "entrant_b", _value(table)))
    wins: dict[str, list[float]] = {}
    for row in table.rows:
        value = row[rate]
        rates = wins.setdefault(str(row[a]), [])
        if row[a] != row[b] and isinstance(value, float):
            rates.append(value)
    return tuple(sorted(wins, key=lambda name: (-sum(wins[name]) / max(len(wins[name]), 1), name)))


def each_pair_once(table: Table) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows whose A wins more than their B over all: the other half says the same the other way round."""
    place = {name: position for position, name in enumerate(order_by_wins(table))}
    a, b = table.index("entrant_a"), table.index("entrant_b")
    # An entrant without rows as A, where the table was narrowed to one pair, comes last.
    last = len(place)
    return tuple(row for row in table.rows if place.get(str(row[a]), last) < place.get(str(row[b]), last))


def _cell(pair: Mapping[str, Cell] | None, a: str, b: str, value: str) -> MatrixCell | None:
    rate = None if pair is None or a == b else pair[value]
    if pair is None or not isinstance(rate, float):
        return None
    text = format_number(100 * rate, 0) if value == "win_rate" else _percent(rate)
    return MatrixCell(text, min(int(rate * 9), 8), pair.get("separable") is True)


def _percent(share: float) -> str:
    """Return a probability in hundredths; what is beyond the first and the last is marked so."""
    return "<1" if share < ONE_PERCENT else ">99" if share > 1.0 - ONE_PERCENT else format_number(100 * share, 0)


def entrant_numbers(entrants: Sequence[str]) -> list[tuple[int, str]]:
    """Return the entrants with the numbers used for them in the head of the square."""
    return list(enumerate(entrants, start=1))
