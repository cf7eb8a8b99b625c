"""A board as its page shows it: where it stands among the other boards, what can be taken from it, and its rows, each
with a bar of the ranks that it may have and a whisker on an axis fitted to the rows shown.

Drawn by `templates/board.html`. Positions are percent of
a column's width, so that a wide screen shows wide pictures.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.boards.statement import flags_in_words
from app.manifest.model import Nouns
from app.names import count, first_few, in_words
from app.render.columns import REFERENCES, ShownColumn, WhiskerAxis, shown_columns
from app.render.html import Links
from app.render.plot import SHADES, WHISKER_WIDTH, LinearScale, WhiskerMark, column_scale
from app.render.text import decimals_of, format_cell, format_number, path_of_name
from app.values.table import Cell, Column, Table

Row = Sequence[Cell]

FITTED = 24
"""The first rows decide the axis of the scores: those that a reader compares. What is beyond is an arrow."""

TICKS_APART = 15.0

MANY_RANKS = 40
"""Of more ranks the axis is logarithmic: the first places are what differs."""

OWN_PLACE = ("rank", "entrant", "first_resamples_share", "may_be_first")
"""Columns that the row shows in a way of its own, and those that are read in the export alone."""

REMARKED = ("covered", "n_attempted", "n_included", "n_absent", "n_failed", "num_failures", "n_imputed", "n_leaked",
            "n_not_asked", "unranked_because", "rank_if_worst", "rank_if_best", "attempt", "owner_submissions",
            "flags", "label")  # fmt: skip
"""Columns whose few telling cells are words at the end of their row."""

MOST_FLAGGED = 40
"""So many are named that have a flag."""

TAB_LETTERS = 60
"""So much of the name of the benchmark and of its tabs stands in one line; the other boards are in a menu."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where a reader is: the benchmark, its boards, the views of this one, its further tables; as (text, address).

    `board` and `view` are the addresses of the current ones. `measures` says what the board's numbers are, `origin` is
    the address of this server, `cite` the BibTeX entry of the snapshot. `news` are its steward's, each a line. With
    `has_weights` a reader can weigh its tasks, groups or components.
    """

    title: str
    home: str
    boards: Links
    board: str
    views: Links
    view: str
    more: Links = ()
    measures: str = ""
    origin: str = ""
    cite: str = ""
    news: Sequence[str] = ()
    has_weights: bool = False

    @property
    def board_title(self) -> str:
        """Return what the current board is called."""
        return next((text for text, address in self.boards if address == self.board), "")

    @cached_property
    def tabs(self) -> Links:
        """Return the boards that stand beside the name: as many as there is room for, and the current one."""
        shown, letters = [], len(self.title)
        for text, address in self.boards:
            letters += len(text) + 3
            if letters <= TAB_LETTERS or address == self.board:
                shown.append((text, address))
        return shown

    @property
    def other_boards(self) -> Links:
        """Return the boards that there is no room for."""
        return [each for each in self.boards if each not in self.tabs]


@dataclass(frozen=True)
class Extent:
    """A bar or whisker: its ends and its point in percent, None for a point that is beyond; `beyond` are the arrows."""

    low: float
    high: float
    point: float | None
    beyond: str = ""


@dataclass(frozen=True)
class BoardRows:
    """The rows of a board that are shown: `start_apart` is the first without a rank, and `says_why` whether it says so.

    In any other order than that of the ranks the axis of the scores is fitted to all rows shown. `chosen` are the
    columns that a reader asked for beside rank, name and score, if any. `nouns` are what the field calls its tasks.
    """

    table: Table
    rows: Sequence[Row]
    start_apart: int | None = None
    is_by_rank: bool = True
    says_why: bool = True
    chosen: frozenset[str] = frozenset()
    nouns: Nouns = field(default_factory=Nouns)

    @cached_property
    def _at(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.table.column_names())}

    def _cell(self, row: Row, name: str) -> Cell:
        return row[self._at[name]] if name in self._at else None

    @property
    def noun(self) -> str:
        """Return what the table calls those whom it ranks."""
        return self.table.columns[self._at["entrant"]].title

    @property
    def level(self) -> str:
        """Return the level of the intervals."""
        level = self.table.meta.get("level")
        return f"{100 * level:g} %" if isinstance(level, float) else "Interval"

    def text(self, shown: ShownColumn, row: Row) -> str:
        """Return a cell as text, without its interval: that is drawn, or in its title."""
        return format_cell(shown.column, row[shown.at])

    def rank(self, row: Row) -> str:
        """Return the rank of a row as text."""
        return format_cell(self.table.columns[self._at["rank"]], row[self._at["rank"]])

    # Who it is.

    def name(self, row: Row) -> str:
        """Return whose row it is."""
        return str(self._cell(row, "entrant"))

    def anchor(self, row: Row) -> str:
        """Return the anchor of the row."""
        return anchor_of(self.name(row))

    def may_be_first(self, row: Row) -> bool:
        """Say whether the entrant is in the set that may be first."""
        return self._cell(row, "may_be_first") is True

    def flags(self, row: Row) -> str:
        """Return what the evidence of the row is flagged for, in words."""
        return flags_in_words(str(self._cell(row, "flags") or ""))

    # Which ranks it may have.

    @cached_property
    def _ends(self) -> tuple[str, str]:
        return ("alike_low", "alike_high") if "alike_low" in self._at else ("rank_low", "rank_high")

    @property
    def bar_title(self) -> tuple[str, str]:
        """Return what the bars are of, and the glossary's anchor for it."""
        return ("Not told from", "n_alike") if "alike_low" in self._at else ("Rank interval", "rank_interval")

    @cached_property
    def has_bars(self) -> bool:
        """Say whether any row shown has a set of ranks."""
        return any(self._cell(row, self._ends[0]) is not None for row in self.rows)

    @cached_property
    def _last_rank(self) -> int:
        ranks = [cell for row in self.table.rows for name in ("rank", self._ends[1])
                 if isinstance(cell := self._cell(row, name), int)]  # fmt: skip
        return max(ranks, default=1)

    def _rank_at(self, rank: float) -> float:
        last = self._last_rank
        share = math.log(rank) / math.log(last) if last > MANY_RANKS else (rank - 1) / max(last - 1, 1)
        return round(4 + 92 * share, 1)

    @cached_property
    def rank_axis(self) -> WhiskerAxis:
        """Return the axis of the ranks: every fifth, or of many 1, 3, 10, 30, ….

        >>> columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"))
        >>> table = Table("leaderboard/b", "B", columns, tuple((rank, str(rank)) for rank in range(1, 101)))
        >>> [text for _, text in BoardRows(table, table.rows).rank_axis.ticks]
        ['1', '3', '10', '30', '100']
        """
        last = self._last_rank
        if last > MANY_RANKS:
            steps = [factor * 10**power for power in range(5) for factor in (1, 3)]
        else:
            step = next(step for step in (1, 2, 5, 10) if last <= 4 * step or step == 10)
            steps = [1, *range(step, last + 1, step)] if step > 1 else list(range(1, last + 1))
        ticks: list[tuple[float, str]] = []
        for rank in steps:
            at = self._rank_at(rank)
            if rank <= last and (not ticks or at - ticks[-1][0] >= TICKS_APART):
                ticks.append((at, f"{rank:,}"))
        return WhiskerAxis(ticks)

    def bar(self, row: Row) -> Extent | None:
        """Return the bar of the ranks that the entrant may have."""
        rank, low, high = (self._cell(row, name) for name in ("rank", *self._ends))
        if not isinstance(rank, int) or not isinstance(low, int) or not isinstance(high, int):
            return None
        return Extent(self._rank_at(low), self._rank_at(high), self._rank_at(rank))

    def bar_words(self, row: Row) -> str:
        """Return the ranks that the entrant may have, in words."""
        low, high = (self._cell(row, name) for name in self._ends)
        if low is None or high is None:
            return ""
        if "alike_low" in self._at:
            return "told from all others" if low == high else f"not told from ranks {low:,} to {high:,}"
        rank = self._cell(row, "rank")
        if isinstance(rank, int) and isinstance(low, int) and rank < low:
            return f"not rank {rank:,}, by the rule for missing results"
        return f"rank {low:,} alone" if low == high else f"ranks {low:,} to {high:,}"

    # Its score.

    @cached_property
    def score(self) -> ShownColumn | None:
        """Return the column by which the board ranks, or the first number of a board that names none."""
        name = self.table.meta.get("rank_by")
        listed = shown_columns(self.table, detail=False)
        return next((each for each in listed if each.column.name == name), None)

    @cached_property
    def _scale(self) -> LinearScale | None:
        fitted = self.rows[: max(FITTED, sum(map(self.may_be_first, self.rows)))] if self.is_by_rank else self.rows
        marks = [mark for row in fitted if (mark := self._mark(row)) is not None]
        return column_scale(marks)

    def _mark(self, row: Row) -> WhiskerMark | None:
        score = self.score
        return None if score is None else score.mark(row)

    @cached_property
    def axis(self) -> WhiskerAxis | None:
        """Return the axis of the scores, fitted to the rows shown; None where none has an interval."""
        scale, score = self._scale, self.score
        if scale is None or score is None:
            return None
        values = scale.ticks()
        digits = max((decimals_of(value) for value in values), default=0)
        none = REFERENCES.get(score.column.glossary or "", 0.0)
        ticks = [
            (_percent(scale, value), format_number(value, digits)) for value in values[:: max(len(values) // 5, 1)]
        ]
        return WhiskerAxis(ticks, _percent(scale, none) if scale.low < none < scale.high else None)

    def whisker(self, row: Row) -> Extent | None:
        """Return the interval of the score; what is beyond the axis is an arrow."""
        mark, scale = self._mark(row), self._scale
        if mark is None or scale is None:
            return None
        point, low, high = mark
        beyond = ("left" if low < scale.low else "") + ("right" if high > scale.high else "")
        at = _percent(scale, point) if scale.holds(point) else None
        return Extent(_percent(scale, low), _percent(scale, high), at, beyond)

    # Its groups of tasks: the darker, the better its place.

    @cached_property
    def groups(self) -> Sequence[ShownColumn]:
        """Return the columns of the groups of tasks that some row has a value in."""
        listed = {each.column.name: each for each in shown_columns(self.table, detail=True)}
        found = [listed[name] for group in self.table.meta.get("groups", ()) if (name := f"mean:{group}") in listed]
        filled = [each for each in found if self._in_order[each.column.name]]
        return [each for each in filled if each.column.name in self.chosen] if self.chosen else filled

    @cached_property
    def _in_order(self) -> Mapping[str, Sequence[float]]:
        """Return everybody's values in each group, the worst first, as numbers that grow as they get better."""
        names = [f"mean:{group}" for group in self.table.meta.get("groups", ())]
        return {name: sorted(_turned(self.table.columns[self._at[name]], cell) for row in self.table.rows
                             if (cell := row[self._at[name]]) is not None)
                for name in names if name in self._at}  # fmt: skip

    def group_cell(self, shown: ShownColumn, row: Row) -> tuple[int, str]:
        """Return the shade of a cell, from 0 to 8, and its interval and place in words."""
        cell, values = row[shown.at], self._in_order[shown.column.name]
        if cell is None:
            return 0, ""
        own = _turned(shown.column, cell)
        beaten, place = bisect_left(values, own), 1 + len(values) - bisect_right(values, own)
        ends = shown.interval_text(row)
        words = f"{ends}, {place:,} of {len(values):,}" if ends else f"{place:,} of {len(values):,}"
        return round(SHADES * beaten / max(len(values) - 1, 1)), words

    def group_words(self, shown: ShownColumn) -> str:
        """Return what a group is, in words."""
        n_tasks = self.table.meta["groups"][shown.column.title]
        tasks = self.nouns.say(count(n_tasks, "task"))
        return f"{shown.column.title}: over {tasks}; a cell has its interval and its place"

    # The other columns, and the words at the end.

    @cached_property
    def others(self) -> Sequence[ShownColumn]:
        """Return the further columns: those whose cells differ between the rows of the board, or those chosen."""
        score = self.score
        if self.chosen:
            shown = {"rank", "entrant", *([score.column.name] if score else []), *(g.column.name for g in self.groups)}
            listed = [each for each in shown_columns(self.table, detail=True) if each.column.name in self.chosen]
            return [each for each in listed if each.column.name not in shown]
        left_out = {*OWN_PLACE, *REMARKED, *([score.column.name] if score else [])}
        listed = [each for each in shown_columns(self.table, detail=False) if each.column.name not in left_out]
        return [each for each in listed if self._varies(each.column.name)]

    def _varies(self, name: str) -> bool:
        cells = {row[self._at[name]] for row in self.table.rows}
        return len(cells) > 1 or len(self.table.rows) == 1

    @cached_property
    def constants(self) -> Sequence[tuple[str, str]]:
        """Return title and value of the columns that say the same of every entrant."""
        listed = (each.column for each in shown_columns(self.table, detail=False))
        left_out = {*OWN_PLACE, "owner_submissions", "attempt", "flags", "rank_if_worst", "rank_if_best"}
        same = [each for each in listed if each.name not in left_out and len(self.table.rows) > 1
                and not self._varies(each.name) and self.table.rows[0][self._at[each.name]] is not None]  # fmt: skip
        return [(column.title, format_cell(column, self.table.rows[0][self._at[column.name]])) for column in same]

    @cached_property
    def has_remarks(self) -> bool:
        """Say whether any row shown has words at its end."""
        return any(self.remarks(row) for row in self.rows)

    def remarks(self, row: Row) -> Sequence[tuple[str, str]]:
        """Return what is unusual about a row: a word or two, and the sentence behind them."""
        return list(self._remarks(row))

    def _remarks(self, row: Row) -> Iterator[tuple[str, str]]:
        if not self._is_apart(row) and (gap := self.gap(row)):
            yield gap, self._if_filled(row)
        missing = self._number(row, "n_failed")
        if failed := self._number(row, "num_failures"):
            missing = max(failed, missing + self._number(row, "n_absent"))
        if missing:
            yield f"{missing:,} missing", f"{count(missing, 'result')} missing or without a value"
        elif imputed := self._number(row, "n_imputed"):
            yield f"{imputed:,} imputed", f"{count(imputed, 'result')} filled in by the board's rule"
        if leaked := self._number(row, "n_leaked"):
            seen = self.nouns.say(count(leaked, "task"))
            yield f"{leaked:,} leaked", f"declared to have seen the data of {seen}"
        if self._is_apart(row):
            told = [self._cell(row, name) for name in ("unranked_because", "label")] if self.says_why else []
            why = [str(cell) for cell in told if cell]
            if words := ", ".join([*why, *([self.gap(row)] if self.gap(row) else [])]):
                yield words, "Why it has no rank" if why else "Results delivered, of those asked for"
        if (attempt := self._number(row, "attempt")) > 1:
            earlier = count(attempt - 1, "earlier submission")
            yield f"try {attempt:,}", f"{earlier} under this name, refused ones included"

    def gap(self, row: Row) -> str:
        """Return how many results of how many a row has, where it lacks some."""
        lacks = self._cell(row, "n_included") != self._cell(row, "n_attempted")
        return str(self._cell(row, "covered") or "") if lacks else ""

    def _is_apart(self, row: Row) -> bool:
        return self._cell(row, "rank") is None

    def _number(self, row: Row, name: str) -> int:
        cell = self._cell(row, name)
        return cell if isinstance(cell, int) else 0

    def _if_filled(self, row: Row) -> str:
        worst, best = self._cell(row, "rank_if_worst"), self._cell(row, "rank_if_best")
        if worst is None and best is None:
            return "Results delivered, of those asked for"
        ends = [f"{cell:,} if every missing result were the {word} possible"
                for cell, word in ((best, "best"), (worst, "worst")) if isinstance(cell, int)]  # fmt: skip
        # Of snapshots of before, whose boards ranked who lacks something among more entrants.
        among = " among those who lack nothing:" if self.table.meta.get("rank_if") == "complete" else ""
        return f"Results delivered, of those asked for; rank{among} " + ", ".join(ends)


def _turned(column: Column, cell: Cell) -> float:
    return float(cell or 0.0) * (-1.0 if column.direction == "minimize" else 1.0)


def anchor_of(name: str) -> str:
    """Return the anchor of an entrant's row.

    >>> anchor_of("Qwen/Qwen3 8B")
    'row-Qwen/Qwen3%208B'
    """
    return f"row-{path_of_name(name)}"


def flagged_entrants(table: Table) -> Sequence[tuple[str, str]]:
    """Return the flags of a board's entrants in words, each with the names of those who have it."""
    if not {"flags", "entrant"} <= set(table.column_names()):
        return ()
    names: dict[str, list[str]] = {}
    for record in table.records():
        for flag in str(record["flags"] or "").split():
            names.setdefault(flags_in_words(flag), []).append(str(record["entrant"]))
    return [(words, first_few(listed, MOST_FLAGGED, in_words)) for words, listed in names.items()]


def _percent(scale: LinearScale, value: float) -> float:
    return round(100 * scale.at(value) / WHISKER_WIDTH, 1)
