"""The columns of a table as HTML shows them: text, interval, whisker, matrix of decisions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from app.names import count
from app.render.against import effect_column, is_before, is_by_rule
from app.render.plot import SHADES, LinearScale, Whisker, WhiskerMark, column_scale, whisker
from app.render.text import DASH, decimals_of, format_cell, format_number
from app.values.table import Cell, Column, Table

# The value of a score that means "no difference": equal to the baseline, as many wins as losses.
REFERENCES = {"win_rate": 0.5, "skill_score": 0.0}


@dataclass(frozen=True)
class WhiskerAxis:
    """The head of a column that is drawn: (position, text) of its ticks, and where the value lies that means no
    difference.
    """

    ticks: Sequence[tuple[float, str]]
    reference: float | None = None


class CoverageColumns(NamedTuple):
    """The positions of a board's coverage columns."""

    covered: int
    n_included: int
    n_attempted: int


@dataclass(frozen=True)
class ShownColumn:
    """A column as HTML shows it: its position, its interval's positions and the scale of its whiskers."""

    column: Column
    at: int
    low_at: int | None = None
    high_at: int | None = None
    scale: LinearScale | None = None
    axis: WhiskerAxis | None = None
    shown_as: Mapping[str, str] | None = None
    coverage: CoverageColumns | None = None

    def gap(self, row: Sequence[Cell]) -> Cell:
        """Return "n of N" for an incomplete row; shown only in the column of names."""
        if self.coverage is None or row[self.coverage.n_included] == row[self.coverage.n_attempted]:
            return None
        return row[self.coverage.covered]

    def text(self, row: Sequence[Cell]) -> str:
        """Return the cell's text; ranks carry their interval."""
        shown = format_cell(self.column, row[self.at])
        if self.shown_as is not None:
            return self.shown_as.get(shown, shown)
        if self.column.kind == "number" and self.scale is None:
            ends = self.interval_text(row)
            return shown if ends is None else f"{shown} ({ends})"
        is_rank = self.column.name.partition(":")[0] == "rank"
        if not is_rank or self.low_at is None or self.high_at is None or row[self.low_at] is None:
            return shown
        low, high = row[self.low_at], row[self.high_at]
        return f"{shown} ({low})" if low == high else f"{shown} ({low}{DASH}{high})"

    def interval_text(self, row: Sequence[Cell]) -> str | None:
        """Return the interval as text, where there is one; of one without width only the ends in the data say so.

        Every resample gave the same then, or the number is what it is by definition: "0 to 0" would read as certain.
        """
        mark = self.mark(row)
        if mark is None or self.low_at is None or self.high_at is None or row[self.low_at] == row[self.high_at]:
            return None
        return f"{format_cell(self.column, row[self.low_at])} to {format_cell(self.column, row[self.high_at])}"

    def whisker(self, row: Sequence[Cell]) -> Whisker | None:
        """Return the drawing of the cell, or None without an interval."""
        mark = self.mark(row)
        return None if mark is None or self.scale is None else whisker(self.scale, *mark)

    def mark(self, row: Sequence[Cell]) -> WhiskerMark | None:
        """Return point, low and high of the cell, where it has an interval."""
        return _mark(row, self.at, self.low_at, self.high_at)


EARLY = frozenset({"rank", "first_p", "threshold", "place", "among", "a", "b", "effect"})
"""Numeric columns that keep their place among texts: a claim's threshold is meaningless far from its sides."""


FOR_PROGRAMS = frozenset({"first_resamples_share"})
"""Columns that are in exports and on no page: a share of resamples reads as a probability, which it is not."""


def shown_columns(table: Table, *, detail: bool, shown_elsewhere: Collection[str] = ()) -> list[ShownColumn]:
    """Return the columns that HTML shows; interval ends are inside the column of their point.

    What decides the ranks comes first, and scores before counts, so that a narrow screen shows first what a board is
    about. `shown_elsewhere` are columns that something else on the page says.
    """
    if detail:
        untold = {*FOR_PROGRAMS, *(["group"] if _is_one_group(table) else [])}
        return [_shown(table, column) for column in table.columns if column.name not in untold]
    ends = {name for column in table.columns for name in column.interval or ()}
    left_out = ends | set(_empty(table)) | set(shown_elsewhere)
    chosen = [column for column in table.columns if not column.detail and column.name not in left_out]
    return [_shown(table, column) for column in sorted(chosen, key=partial(_place, table))]


def _is_one_group(table: Table) -> bool:
    """Say whether all with a group are in the first, so that it tells nobody from anybody."""
    if not {"rank", "group"} <= set(table.column_names()):
        return False
    at = table.index("group")
    return {row[at] for row in table.rows} <= {None, 1}


def _empty(table: Table) -> Iterator[str]:
    """Yield the optional columns in which no row has a value, or of counts every one is 0."""
    for at, column in enumerate(table.columns):
        nothing = (None, 0) if column.kind == "integer" else (None,)
        if column.optional and all(row[at] in nothing for row in table.rows):
            yield column.name


def _place(table: Table, column: Column) -> int:
    """Return the place of a column; those of the same place keep their order."""
    names = ("rank", "entrant", table.meta["rank_by"], "first_p", "covered") if "rank_by" in table.meta else ()
    if column.name in names:
        return names.index(column.name)
    is_early = column.kind == "text" or column.interval is not None or column.name in EARLY
    return len(names) if is_early else len(names) + 1


def _shown(table: Table, column: Column) -> ShownColumn:
    at = table.index(column.name)
    if column.interval is None:
        shown_as = table.meta.get("shown_as", {}).get(column.name)
        return ShownColumn(column, at, shown_as=shown_as, coverage=_coverage(table, column))
    low_at, high_at = (table.index(name) for name in column.interval)
    if column.kind == "integer":
        return ShownColumn(column, at, low_at, high_at)
    # The other order of each pair would only stretch the scale: it is not shown.
    rows = each_pair_once(table) if is_pairwise(table) else table.rows
    if _mixes_metrics(table):
        return ShownColumn(column, at, low_at, high_at)
    marks = [mark for row in rows if (mark := _mark(row, at, low_at, high_at)) is not None]
    scale = column_scale(marks)
    axis = None if scale is None else _axis(column, scale)
    return ShownColumn(column, at, low_at, high_at, scale, axis)


def _coverage(table: Table, column: Column) -> CoverageColumns | None:
    if column.name != "entrant" or not set(CoverageColumns._fields) <= set(table.column_names()):
        return None
    return CoverageColumns(*map(table.index, CoverageColumns._fields))


def _mixes_metrics(table: Table) -> bool:
    """Say whether a column holds numbers of several metrics: no one scale fits them all."""
    if "metric" not in table.column_names():
        return False
    at = table.index("metric")
    return len({row[at] for row in table.rows}) > 1


def _mark(row: Sequence[Cell], at: int, low_at: int | None, high_at: int | None) -> WhiskerMark | None:
    if low_at is None or high_at is None:
        return None
    point, low, high = row[at], row[low_at], row[high_at]
    if isinstance(point, (int, float)) and isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return (point, low, high)
    return None


def _axis(column: Column, scale: LinearScale) -> WhiskerAxis:
    named = scale.ticks()
    shown = named if len(named) <= 3 else [named[0], named[-1]]
    digits = max((decimals_of(value) for value in shown), default=0)
    none = REFERENCES.get(column.glossary or "", 0.0)
    return WhiskerAxis(
        ticks=[(scale.at(value), format_number(value, digits)) for value in shown],
        reference=scale.at(none) if scale.low < none < scale.high else None,
    )


# The pairwise table as a square: rows beat columns.
#
# The square shows one number per pair; intervals and the other numbers are in the long table under it.

MAX_ENTRANTS = 40

# What fills the square: how probably A is better by the board's score; how often A wins where nothing was drawn.
VALUES = ("p_a_beats_b", "win_rate")

ONE_PERCENT, ABOVE, RULED = 0.01, ">99", (">", "<")

# With these a pair has several rows, which one square cannot show.
SEVERAL = ("metric", "task")


@dataclass(frozen=True)
class MatrixCell:
    """How often, or how probably, a row's entrant beats a column's: text and shade from 0 (loses) to 8 (wins).

    `is_settled` is the verdict of the board: the two are separable. Where the rule for gaps alone decides that, the
    text says which of the two is before the other.
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
    n_entrants: int

    @property
    def has_sure_but_open(self) -> bool:
        """Say whether some cell is beyond 99 % although its pair is not separable."""
        return any(cell.text == ABOVE and not cell.is_settled for row in self.cells for cell in row if cell)

    @property
    def has_ruled(self) -> bool:
        """Say whether the rule for gaps alone decides some cell."""
        return any(cell.text in RULED for row in self.cells for cell in row if cell)


def is_pairwise(table: Table) -> bool:
    """Say whether the rows of a table are ordered pairs of entrants, each pair in one row."""
    names = set(table.column_names())
    return names >= {"entrant_a", "entrant_b"} and not names.isdisjoint(VALUES) and names.isdisjoint(SEVERAL)


def build_matrix(table: Table) -> Matrix | None:
    """Return the square of a pairwise table, of many entrants that of the first; None for another table."""
    if not is_pairwise(table):
        return None
    pairs = {(str(record["entrant_a"]), str(record["entrant_b"])): record for record in table.records()}
    entrants = order_by_wins(table)[:MAX_ENTRANTS]
    if len(entrants) < 2:
        return None
    value, effect = _value(table), effect_column(table)
    cells = tuple(tuple(_cell(pairs.get((a, b)), a, b, value, effect) for b in entrants) for a in entrants)
    return Matrix(entrants, cells, table.columns[table.index(value)].title, len(order_by_wins(table)))


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


def _cell(pair: Mapping[str, Cell] | None, a: str, b: str, value: str, effect: Column | None) -> MatrixCell | None:
    if pair is None or a == b:
        return None
    rate = pair[value]
    if is_by_rule(pair):
        is_better = is_before(pair, effect)
        return MatrixCell(RULED[0] if is_better else RULED[1], SHADES if is_better else 0, is_settled=True)
    if not isinstance(rate, float):
        return None
    text = format_number(100 * rate, 0) if value == "win_rate" else _percent(rate)
    return MatrixCell(text, min(int(rate * 9), 8), pair.get("separable") is True)


def _percent(share: float) -> str:
    """Return a probability in hundredths; what is beyond the first and the last is marked so."""
    return "<1" if share < ONE_PERCENT else ABOVE if share > 1.0 - ONE_PERCENT else format_number(100 * share, 0)


def entrant_numbers(entrants: Sequence[str]) -> list[tuple[int, str]]:
    """Return the entrants with the numbers used for them in the head of the square."""
    return list(enumerate(entrants, start=1))


# Entrants by tasks as a table of numbers, shaded by place.

MOST_ACROSS, UPRIGHT_FROM = 60, 8
"""More tasks than these are down and not across: a sheet of paper, too, is longer than it is wide."""

SIGNS = {"no value": "×", "absent": "□", "imputed": "╱"}


@dataclass(frozen=True)
class TaskMap:
    """What the columns are and, for each row, its cells as (text, shade from 0, no or the worst place, to 8).

    `across` and `down` are the tables' columns whose values they are.
    """

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, int]]]]
    caption: str
    across: str = "task"
    down: str = "entrant"

    @property
    def is_upright(self) -> bool:
        """Say whether the names of the columns are turned: there are too many of them to stand side by side."""
        return self.across == "task" or len(self.columns) > UPRIGHT_FROM


def build_task_map(table: Table, entrants: Sequence[str], caption: str) -> TaskMap:
    """Return some entrants of the table of a matrix, with what they have on every task of it."""
    tasks = list(dict.fromkeys(str(row[table.index("task")]) for row in table.rows))
    cells = {(str(each["entrant"]), str(each["task"])): each for each in table.records()}
    if len(tasks) > max(MOST_ACROSS, len(entrants)):
        turned = [(task, [_map_cell(cells.get((name, task))) for name in entrants]) for task in tasks]
        return TaskMap(list(entrants), turned, caption, across="entrant", down="task")
    rows = [(name, [_map_cell(cells.get((name, task))) for task in tasks]) for name in entrants]
    return TaskMap(tasks, rows, caption)


def _map_cell(cell: Mapping[str, Cell] | None) -> tuple[str, int]:
    if cell is None:
        return "", 0
    value, share, state = cell["value"], cell["beats"], str(cell["state"])
    if not isinstance(value, float):
        return SIGNS.get(state, DASH), 0
    mark = "•" if state == "leaked" else ""
    return f"{_short(value, 2)}{mark}", round(SHADES * share) if isinstance(share, float) else 0


def _short(value: float, digits: int) -> str:
    return format_number(value, max(digits - (2 if abs(value) >= 100 else 1 if abs(value) >= 10 else 0), 0))


def build_ranks_map(table: Table, most: int) -> TaskMap:
    """Return the first entrants of the table of all boards with their rank on each, the darker the better."""
    boards = [at for at, column in enumerate(table.columns) if column.name.startswith("rank:") and not column.detail]
    last = {at: max(rank for row in table.rows if isinstance(rank := row[at] or 1, int)) for at in boards}
    rows = [(str(row[0]), [_rank_cell(row[at], last[at]) for at in boards]) for row in table.rows[:most]]
    names = [table.columns[at].title for at in boards]
    n_all = len(table.rows)
    caption = f"Ranks; the first {most:,} of {n_all:,} by the first board" if n_all > most else "Ranks"
    return TaskMap(names, rows, caption, across="board")


def _rank_cell(rank: Cell, last: int) -> tuple[str, int]:
    if not isinstance(rank, int):
        return DASH, 0
    return f"{rank:,}", round(SHADES * (last - rank) / max(last - 1, 1))


def build_side_by_side(table: Table) -> TaskMap:
    """Return tasks with the values of some entrants, the more colour the better among them."""
    names = [column.title for column in table.columns[1:]]
    sign = -1.0 if table.columns[-1].direction == "minimize" else 1.0
    rows = [(str(row[0]), _beside([cell if isinstance(cell, float) else None for cell in row[1:]], sign))
            for row in table.rows]  # fmt: skip
    return TaskMap(names, rows, f"{table.title}, {count(len(rows), 'task')}", across="entrant", down="task")


def _beside(values: Sequence[float | None], sign: float) -> list[tuple[str, int]]:
    known = [sign * value for value in values if value is not None]
    beaten = {value: sum(other < value for other in known) for value in known}
    most = max(len(known) - 1, 1)
    return [(DASH, 0) if value is None else (_short(value, 3), round(SHADES * beaten[sign * value] / most))
            for value in values]  # fmt: skip
