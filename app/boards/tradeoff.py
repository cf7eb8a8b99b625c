"""Score against cost: the entrants that nobody beats in both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.standing import caveats_of, separable_pairs
from app.manifest.model import Direction
from app.names import names_in_words
from app.values.table import Cell, Column, Table

COUNTS = ("rank", "rank_low", "rank_high", "group", "first_p", "first_resamples_share", "n_units")
COUNTED = ("counts", "coverage", "attempts", "rank_if", "n_attempted", "n_included", "n_absent", "n_failed",
           "n_not_asked")  # fmt: skip
"""Glossary entries of columns that count what was delivered or tried: less of it is not a saving."""
COSTS = ("time", "cost", "size", "parameters", "energy", "memory", "params", "latency", "duration", "price")
READ = (
    "An entrant is on the front if no rival is at least as good in both and better in one. It may belong there if "
    "no rival that costs no more is shown to be better{how}. Costs are compared as stated, without uncertainty."
)
BY_PAIRS, BY_INTERVALS = ", with all pairs of the board tested at once", ": its interval reaches above every such rival"
NOTHING = "The board has no cost to compare the score with: no time, size, price or energy."


@dataclass(frozen=True)
class TradeoffColumns:
    """Which columns are compared: the cost across, the score up."""

    x: Column
    y: Column


def offered(board: Table) -> list[Column]:
    """Return the columns that can be an axis: numbers that vary and are neither counts nor ends of intervals.

    >>> columns = (Column("rank", "Rank", "integer"), Column("s", "S"))
    >>> [column.name for column in offered(Table("leaderboard/b", "B", columns, ((1, 2.0), (2, 1.0))))]
    ['s']
    """
    ends = {name for column in board.columns for name in column.interval or ()}
    return [
        column
        for at, column in enumerate(board.columns)
        if column.kind in ("number", "integer")
        and column.name not in (*COUNTS, *ends)
        and column.glossary not in COUNTED
        and not column.name.endswith(("_calibrated_low", "_calibrated_high", "_n_units"))
        and len({row[at] for row in board.rows} - {None}) > 1
    ]


def with_years(board: Table) -> Table:
    """Return the board with days, such as that of an entrant's release, as years with their fraction, earlier first.

    With days across, the front is who was the best when. `shown_as` has the day of each year that stands in its place.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("released", "Released", "text"))
    >>> about = {"entrant_fields": {"released": "date"}}
    >>> board = Table("leaderboard/b", "B", columns, (("A", "2025-07-02"),), (), about)
    >>> with_years(board).rows
    (('A', 2025.499),)
    """
    days = [name for name, kind in board.meta.get("entrant_fields", {}).items() if kind == "date"]
    at = {board.index(name) for name in days}
    columns = tuple(
        replace(column, kind="number", direction="minimize", digits=3) if place in at else column
        for place, column in enumerate(board.columns)
    )
    rows = tuple(tuple(_year(cell) if place in at else cell for place, cell in enumerate(row)) for row in board.rows)
    spelt = {f"{_year(row[place]):,.3f}": str(row[place]) for row in board.rows for place in at if row[place]}
    return replace(board, columns=columns, rows=rows, meta={**board.meta, "days": spelt}) if at else board


def _year(day: Cell) -> float | None:
    if day is None:
        return None
    begins = np.datetime64(str(day), "Y")
    length = (begins + 1).astype("M8[D]") - begins.astype("M8[D]")
    passed = np.datetime64(str(day), "D") - begins.astype("M8[D]")
    return round(1970 + int(begins.astype(int)) + float(passed / length), 3)


def axes_of(board: Table, x: str | None, y: str | None) -> TradeoffColumns | None:
    """Return the requested columns, by default the board's score and its first cost.

    Null (None) where there are no two: another score is no cost, unless it is asked for.
    Raises KeyError for a name that is not offered.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("s", "S"), Column("time", "Time"))
    >>> board = Table("leaderboard/b", "B", columns, (("A", 3.0, 2.0), ("B", 1.0, 1.0)), (), {"rank_by": "s"})
    >>> axes = axes_of(board, None, None)
    >>> axes.x.name, axes.y.name
    ('time', 's')
    """
    known = {column.name: column for column in offered(board)}
    score = known[y] if y else known.get(str(board.meta.get("rank_by"))) or next(iter(known.values()), None)
    others = sorted((column for column in known.values() if column is not score), key=lambda column: column.detail)
    costs = [column for column in others if _is_named_a_cost(column)]
    across = known[x] if x else next(iter(costs), None)
    return None if score is None or across is None else TradeoffColumns(across, score)


def is_cost(board: Table, column: Column) -> bool:
    """Say whether a column is something that one pays, or is what an entrant is: a time, a price, a size, a date.

    >>> board = Table("leaderboard/b", "B", (), (), (), {"entrant_fields": {"released": "date"}})
    >>> is_cost(board, Column("released", "Released")), is_cost(board, Column("win_rate", "Win rate"))
    (True, False)
    """
    return _is_named_a_cost(column) or column.name in board.meta.get("entrant_fields", {})


def _is_named_a_cost(column: Column) -> bool:
    return any(word in column.name.lower() for word in COSTS)


def tradeoff_table(board: Table, axes: TradeoffColumns | None, pairs: Table | None = None) -> Table:
    """Return the entrants with both numbers, by cost, and whether each is, or may be, on the front, null if left out.

    Costs and scores are in the units of their columns; a column without a direction is a cost, less being better. An
    end of an interval is null where the board has none. Who may be on the front follows from the board's `pairs` where
    these are given, as they are where the score is that of the ranks; else from the intervals.
    Raises KeyError for a table without entrants.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("s", "S", direction="maximize"), Column("time", "T"))
    >>> rows = (("good", 3.0, 2.0), ("cheap", 1.0, 1.0), ("beaten", 1.0, 2.0))
    >>> board = Table("leaderboard/b", "B", columns, rows, (), {"rank_by": "s"})
    >>> [(row[0], row[-2]) for row in tradeoff_table(board, axes_of(board, None, None)).rows]
    [('cheap', True), ('good', True), ('beaten', False)]
    """
    name = board.name.partition("/")[2]
    title = f"{board.title}: score against cost"
    if axes is None:
        return Table(f"tradeoff/{name}", title, (), (), (NOTHING,), {"unavailable": NOTHING})
    complete = [
        record for record in board.records() if record[axes.x.name] is not None and record[axes.y.name] is not None
    ]
    decided = _decided(board, pairs)
    spots = [_spot(record, axes) for record in complete if is_compared(record)]
    others = [_spot(record, axes) for record in complete if not is_compared(record)]
    rows = sorted(
        [
            *(
                (*spot, is_on, may_be)
                for spot, is_on, may_be in zip(spots, *_fronts(spots, axes, decided), strict=True)
            ),
            *((*spot, None, None) for spot in others),
        ],
        key=lambda row: (float(str(row[1])), not row[5], str(row[0])),
    )
    plot = {"kind": "tradeoff", "label": "entrant", "x": "x", "y": "y", "low": "y_low", "high": "y_high",
            "front": "on_front"}  # fmt: skip
    notes = [
        READ.format(how=BY_PAIRS if decided else BY_INTERVALS),
        f"{sum(bool(row[5]) for row in rows)} of {len(spots):,} are on the front.",
    ]
    notes += [f"Left out of the front, {why}: {names_in_words(names)}." for why, names in _apart(complete).items()]
    notes += caveats_of(pairs) if decided else ()
    is_day = board.meta.get("entrant_fields", {}).get(axes.x.name) == "date"
    meta = {"plot": plot, "x": axes.x.name, "y": axes.y.name}
    columns = tuple(_columns(axes))
    if is_day:
        # Earlier is no merit of its own: it says against whom somebody was the best.
        columns = (columns[0], replace(columns[1], direction=None), *columns[2:])
        title = f"{board.title}: the best by date ({axes.x.title.lower()})"
        notes[0] = "An entrant is on the front if nobody of its day or an earlier one is as good."
        meta |= {"shown_as": {"x": board.meta["days"]}}
    return Table(f"tradeoff/{name}", title, columns, tuple(rows), tuple(notes), meta)


def is_compared(record: Mapping[str, Cell]) -> bool:
    """Say whether an entrant may be on the front, or keep others off it: it has a rank beside the others.

    An entrant without one, or ranked behind on a provisional board for what it lacks, has scores and costs over
    different cells.
    Source: `app.boards.coverage.Roster`.

    >>> is_compared({"rank": 1, "n_attempted": 9, "n_included": 9}), is_compared({"rank": None})
    (True, False)
    >>> lacking = {"rank": 3, "n_attempted": 9, "n_included": 5}
    >>> is_compared({**lacking, "rank_low": None}), is_compared({**lacking, "rank_low": 2, "rank_if_worst": 4})
    (False, False)
    >>> is_compared({**lacking, "rank_low": 2, "n_imputed": 4}), is_compared({**lacking, "rank_low": 2, "n_imputed": 0})
    (False, True)
    """
    lacks = record.get("n_included") != record.get("n_attempted")
    # Who is ranked by a rule for what it lacks has costs of the other tasks alone.
    is_by_rule = bool(record.get("n_imputed")) or record.get("rank_if_worst") is not None
    is_behind = lacks and "rank_low" in record and (record["rank_low"] is None or is_by_rule)
    return record.get("rank", 1) is not None and not is_behind


def _apart(records: Sequence[Mapping[str, Cell]]) -> Mapping[str, Sequence[str]]:
    """Return who is left out of the front, by the reason."""
    apart: dict[str, list[str]] = {}
    for record in records:
        if not is_compared(record):
            why = "without a rank" if record.get("rank", 1) is None else "because results are missing"
            apart.setdefault(why, []).append(str(record["entrant"]))
    return apart


def _spot(record: Mapping[str, Cell], axes: TradeoffColumns) -> tuple[Cell, ...]:
    """Return the name, the cost and the score of a row, with the ends of the score's interval."""
    ends = (record[name] if name else None for name in axes.y.interval or (None, None))
    return (record["entrant"], record[axes.x.name], record[axes.y.name], *ends)


def _columns(axes: TradeoffColumns) -> Iterator[Column]:
    yield Column("entrant", "Entrant", "text")
    yield replace(axes.x, name="x", direction=_direction(axes.x, "minimize"), interval=None, detail=False)
    yield replace(axes.y, name="y", direction=_direction(axes.y, "maximize"), interval=("y_low", "y_high"),
                  detail=False)  # fmt: skip
    yield Column("y_low", f"{axes.y.title}, low", detail=True, digits=axes.y.digits)
    yield Column("y_high", f"{axes.y.title}, high", detail=True, digits=axes.y.digits)
    yield Column("on_front", "On the front", "flag", glossary="front")
    yield Column("may_be_on_front", "May be on the front", "flag", glossary="front")


def _direction(column: Column, otherwise: Direction) -> Direction:
    return column.direction or otherwise


Decided = Mapping[tuple[Cell, Cell], bool]
"""Whether the first of two entrants is shown to be better than the second."""


def _decided(board: Table, pairs: Table | None) -> Decided:
    """Return what is decided of the pairs of a board that were tested, or whose order a rule gives.

    Of two that are separable the better one has the lower first rank: whoever is better than it is better than both.
    """
    known = {} if pairs is None else separable_pairs(pairs)
    lows = {row["entrant"]: float(str(row.get("rank_low") or "inf")) for row in board.records()}
    return {(a, b): is_apart and lows[a] < lows[b] for (a, b), is_apart in known.items() if a in lows and b in lows}


def _fronts(
    spots: Sequence[tuple[Cell, ...]], axes: TradeoffColumns, decided: Decided
) -> tuple[list[bool], list[bool]]:
    """Return, for each entrant, whether it is on the front by points, and whether it may be.

    Not where a rival that costs no more is better: by what is decided, else by the better end of the own interval.
    """
    x_sign = 1.0 if _direction(axes.x, "minimize") == "minimize" else -1.0
    is_up = _direction(axes.y, "maximize") == "maximize"
    points = [(x_sign * float(str(spot[1])), (1.0 if is_up else -1.0) * float(str(spot[2]))) for spot in spots]
    bests = [_best(spot, is_up=is_up) for spot in spots]
    on, may = [], []
    for at, (x, y) in enumerate(points):
        rivals = [(spots[place][0], *other) for place, other in enumerate(points) if place != at and other[0] <= x]
        on.append(not any(oy >= y and (ox, oy) != (x, y) for _, ox, oy in rivals))
        own = spots[at][0]
        may.append(on[-1] or not any(decided.get((name, own), oy > bests[at]) for name, _, oy in rivals))
    return on, may


def _best(spot: tuple[Cell, ...], *, is_up: bool) -> float:
    """Return the better end of the interval of a score, or the score where there is none."""
    end = spot[4] if is_up else spot[3]
    value = float(str(spot[2] if end is None else end))
    return value if is_up else -value
