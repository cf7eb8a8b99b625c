"""What a ranking method returns, and the pairwise tables that all methods share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from app.boards.standing import BY_BOTH, BY_TEST, CAVEATS, Contrasts, Verdict
from app.manifest.model import Leaderboard, Manifest
from app.names import count
from app.stats.arrays import FloatArray
from app.stats.pairs import PairStatistics
from app.values.frame import Ends, Frame, FrameField, with_interval
from app.values.scores import ScoreTable
from app.values.table import CellColumn, Column, ColumnarRows, Rows, Table

PAIRWISE = "pairwise/"


@dataclass(frozen=True)
class Beside:
    """A further table of a board, named `<kind>/<board>` and shown under the board's address; None: nothing to show.

    It is computed apart, when it is asked for, so that a fault in it takes nobody's rank.
    """

    name: str
    compute: Callable[[], Table | None]


@dataclass(frozen=True)
class BoardTables:
    """A board's ranks, and its further tables, which are computed only when they are asked for."""

    leaderboard: Table
    beside: tuple[Beside, ...] = ()

    @cached_property
    def pairwise(self) -> Table | None:
        """Compute the table of pairs; None where there is no pair to compare."""
        return next((each for each in self._computed if each.name.startswith(PAIRWISE)), None)

    @property
    def extra(self) -> tuple[Table, ...]:
        """Compute the other further tables."""
        return tuple(each for each in self._computed if not each.name.startswith(PAIRWISE))

    @cached_property
    def _computed(self) -> tuple[Table, ...]:
        return tuple(table for each in self.beside if (table := each.compute()) is not None)

    def each(self, change: Callable[[Table], Table]) -> "BoardTables":
        """Return the same with every table changed."""

        def changed(compute: Callable[[], Table | None]) -> Table | None:
            table = compute()
            return None if table is None else change(table)

        beside = tuple(Beside(each.name, partial(changed, each.compute)) for each in self.beside)
        return BoardTables(change(self.leaderboard), beside)


def pairs_beside(spec: Leaderboard, compute: Callable[[], Table | None]) -> tuple[Beside, ...]:
    """Return the table of pairs as the only further one of a board.

    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> pairs_beside(board, lambda: None)[0].name
    'pairwise/main'
    """
    return (Beside(f"{PAIRWISE}{spec.name}", compute),)


ON_COMMON_CELLS = (
    "Provisional: nobody has declared what an entrant is asked for. Who is told apart here is so on what at least half "
    "of the submitters have, which others may still change by what they send; so nobody is said to be first."
)


def provisionally(tables: BoardTables) -> BoardTables:
    """Return a board, where it is provisional, with pairs that say so wherever they are read.

    A difference of two over the same results is one, so it is still tested; a rank is about all that is asked.
    Source: docs/adr/006-grids-and-provisional-boards.md.

    >>> board = Table("leaderboard/b", "B", (), (), (), {"provisional": True})
    >>> beside = (Beside("pairwise/b", lambda: Table("pairwise/b", "Pairs", (), ())),)
    >>> provisionally(BoardTables(board, beside)).pairwise.meta["caveats"][0][:12]
    'Provisional:'
    """
    return tables.each(_provisional) if tables.leaderboard.meta.get("provisional") else tables


def _provisional(table: Table) -> Table:
    if not table.name.startswith(PAIRWISE):
        return table
    caveats = [ON_COMMON_CELLS, *table.meta.get(CAVEATS, ())]
    return replace(table, notes=(ON_COMMON_CELLS, *table.notes), meta={**table.meta, CAVEATS: caveats})


Compute = Callable[[Manifest, Any, ScoreTable], BoardTables]


class TableMethod(NamedTuple):
    """A ranking method that computes from all rows together, and the class of its boards in a manifest."""

    spec: type[Leaderboard]
    compute: Compute


MAX_COMPARED = 200
"""Above this number of entrants only the best-ranked are compared: nobody reads that many pairs."""

NO_ENDS: Ends = (None, None, None)


@dataclass(frozen=True)
class ComparedPair:
    """Two entrants, and the board's verdict on them."""

    a: str
    b: str
    verdict: Verdict


PAIR: tuple[FrameField[ComparedPair], ...] = (
    FrameField(Column("entrant_a", "A", "text"), lambda pair: pair.a),
    FrameField(Column("entrant_b", "B", "text"), lambda pair: pair.b),
)
VERDICT: tuple[FrameField[ComparedPair], ...] = (
    FrameField(
        Column("p_a_beats_b", "A ahead in resamples", glossary="p_a_beats_b", digits=2), lambda pair: pair.verdict.beats
    ),
    FrameField(Column("p_value", "p", glossary="contrast", digits=4), lambda pair: pair.verdict.p_value),
    FrameField(Column("separable", "Separable", "flag", glossary="separable"), lambda pair: pair.verdict.separable),
)
WORD = FrameField[ComparedPair](
    Column("verdict", "A compared with B", "text", glossary="equivalent"), lambda pair: pair.verdict.word
)
WITHIN = FrameField[ComparedPair](
    Column("within", "By less than matters", "flag", glossary="within"), lambda pair: pair.verdict.within
)
DECIDED = FrameField[ComparedPair](
    Column("decided_by", "Decided by", "text", glossary="decided_by"),
    lambda pair: None if pair.verdict.separable is None else pair.verdict.by,
)


def verdict_fields(spec: Leaderboard, *, has_ruled: bool = False) -> tuple[FrameField[ComparedPair], ...]:
    """Return how certain it is that two differ, and what A is, and whether by less, where the board says what matters.

    `has_ruled` adds what A is and what decides, where that is the rule for gaps for some: scores do not say it then.

    >>> board = Leaderboard(name="main", method="mean", smallest_difference=0.01)
    >>> [field.column.name for field in verdict_fields(board)][-2:]
    ['verdict', 'within']
    """
    has_least = spec.smallest_difference is not None
    more = ((WORD, has_least or has_ruled), (WITHIN, has_least), (DECIDED, has_ruled))
    return (*VERDICT, *(each for each, is_there in more if is_there))


def pairwise_table(
    spec: Leaderboard,
    fields: Sequence[FrameField[ComparedPair]],
    pairs: Iterable[ComparedPair],
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    """Return the table of pairs: the two names, the method's own fields, and how certain it is that they differ.

    In `meta`, `contrast` names the column of the board's contrast; `test` and `contrast_interval` say in words how it
    was tested and where its interval comes from, and `score` what is subtracted where that is not a metric. Unknown
    cells are None.

    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> pairwise_table(board, [], [ComparedPair("A", "B", Verdict((0.1, None, None), separable=True))], [], {}).rows
    (('A', 'B', None, None, True),)
    """
    each = tuple(pairs)
    n_ruled = sum(pair.verdict.by != BY_TEST for pair in each) // 2
    frame: Frame[ComparedPair] = Frame([*PAIR, *fields, *verdict_fields(spec, has_ruled=n_ruled > 0)])
    n_tested = sum(pair.verdict.separable is not None for pair in each) // 2 - n_ruled
    n_both = sum(pair.verdict.by == BY_BOTH for pair in each) // 2
    said = (*notes, *ruled_notes(n_tested, n_ruled, n_both))
    return _pairwise(spec, frame.columns, tuple(map(frame.cells, each)), said, meta)


def ruled_notes(n_tested: int, n_ruled: int, n_both: int) -> tuple[str, ...]:
    """Say how many pairs are decided by the rule for gaps, and of how many of these a test says so, too.

    >>> ruled_notes(3, 0, 0), ruled_notes(3, 2, 1)[0][-51:]
    ((), 'missing results; of 1 of these a test says so, too.')
    """
    if not n_ruled:
        return ()
    are = "is" if n_ruled == 1 else "are"
    of_whom = "none" if not n_both else f"{n_both:,}"
    said = f"{n_ruled:,} of {count(n_tested + n_ruled, 'pair')} {are} decided by the rule for missing results"
    return (f"{said}; of {of_whom} of these a test says so, too.",)


def _pairwise(
    spec: Leaderboard,
    columns: Sequence[Column],
    rows: Rows,
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    title = f"{spec.title or spec.name}, pair by pair"
    how: dict[str, Any] = {"test": TEST, "contrast_interval": f"Student's t of {RESAMPLED}"}
    if spec.smallest_difference is not None:
        how["smallest_difference"] = spec.smallest_difference
        said = f"A difference of less than {spec.smallest_difference:g} does not matter here, says the manifest: "
        notes = (
            *notes,
            f"{said}who is shown to differ by less, all pairs tested simultaneously, is equivalent if not separable.",
        )
    noted = (*notes, *meta.get(CAVEATS, ()))
    return Table(f"{PAIRWISE}{spec.name}", title, tuple(columns), rows, noted, {**how, **meta})


RESAMPLED = "resampled differences, drawn by name"
TEST = "t test of the difference over resamples, or a sign test where it is the same in all"
TEST_OF_RANKS = f"{TEST}, and no less than a sign test of few units"


def contrast_field(column: Column, *, ends_title: str | None = None) -> tuple[FrameField[ComparedPair], ...]:
    """Return the columns of the board's contrast and its interval.

    >>> [field.column.name for field in contrast_field(Column("difference", "A minus B"))]
    ['difference', 'difference_lower', 'difference_upper']
    """
    return with_interval(column, lambda pair: pair.verdict.contrast, ends_title=ends_title)


ColumnOfCells = tuple[Column, CellColumn]
"""A column and its cells, from the first row to the last."""


@dataclass(frozen=True)
class TaskPairs:
    """Entrants that were compared task by task, in their order, with the board's contrasts."""

    names: Sequence[str]
    statistics: PairStatistics
    contrasts: Contrasts

    def advantages(self, spec: Leaderboard, notes: Iterable[str], meta: Mapping[str, Any]) -> Table:
        """Return the table of pairs of a board whose score is a mean over tasks: the contrast is A's advantage."""
        column = Column("advantage", "Advantage of A over B", direction="maximize", glossary="advantage", digits=3)
        return self.table(spec, (), column, notes, {**meta, "contrast": "advantage"})

    def effect(self, column: Column) -> tuple[ColumnOfCells, ...]:
        """Return the columns of the method's own effect and its interval."""
        pairs = self.statistics
        return _interval_at(column, pairs.skill, pairs.skill_low, pairs.skill_high)

    def table(
        self,
        spec: Leaderboard,
        effect: Sequence[ColumnOfCells],
        contrast: Column,
        notes: Iterable[str],
        meta: Mapping[str, Any],
    ) -> Table:
        """Return the table of every ordered pair, row after row.

        It is built column by column, because creating an object for each row would cost more than all of its cells.
        """
        verdict, said = _verdicts(spec, contrast, self.contrasts)
        return _square(spec, self.names, [*self._win_rate(), *effect, *verdict], (*notes, *said), meta)

    def _win_rate(self) -> tuple[ColumnOfCells, ...]:
        title = "Win rate of A (compatible interval)"
        column = Column("win_rate", title, direction="maximize", glossary="pair_win_rate", digits=3)
        pairs = self.statistics
        return _interval_at(column, pairs.win_rate, pairs.win_rate_low, pairs.win_rate_high)


def contrast_table(
    spec: Leaderboard,
    names: Sequence[str],
    contrast: Column,
    contrasts: Contrasts,
    notes: Iterable[str],
    meta: Mapping[str, Any],
    *,
    is_turned: bool = False,
) -> Table:
    """Return the table of every ordered pair of names, row after row, from the board's contrasts.

    `is_turned` as for `Contrasts.cells`; the rest is as in `pairwise_table`, of which this is the fast version.

    >>> from app.boards.standing import without_spread
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> points = without_spread(np.array([3.0, 1.0]))
    >>> contrast_table(board, "AB", Column("difference", "A minus B"), points, [], {}).rows[1]
    ('A', 'B', 2.0, None, None, None, None, None)
    """
    verdict, said = _verdicts(spec, contrast, contrasts, is_turned=is_turned)
    return _square(spec, names, verdict, (*notes, *said), meta)


def _verdicts(
    spec: Leaderboard, contrast: Column, contrasts: Contrasts, *, is_turned: bool = False
) -> tuple[tuple[ColumnOfCells, ...], tuple[str, ...]]:
    """Return the columns of the contrast and of what is decided, and notes on who has no interval or is ruled."""
    ruled, both = contrasts.ruled, contrasts.both
    fields = [*contrast_field(contrast), *verdict_fields(spec, has_ruled=ruled is not None)]
    columns = _with(fields, contrasts.cells(smallest=spec.smallest_difference, is_turned=is_turned))
    n_both = 0 if both is None else int(both.sum()) // 2
    said = (NO_MARGIN,) if (np.isnan(contrasts.margins) & contrasts.tested).any() else ()
    if ruled is None:
        return columns, said
    return columns, (*said, *ruled_notes(int(contrasts.tested.sum()) // 2, int(ruled.sum()) // 2, n_both))


NO_MARGIN = (
    "A pair without an interval differs by the same in every resample, so that no error is known, or on so few tasks "
    "that even the same sign on each would be no more than chance."
)


def _square(
    spec: Leaderboard,
    names: Sequence[str],
    beside: Sequence[ColumnOfCells],
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    """Return the table of every ordered pair of names, with columns computed before."""
    at, words = np.arange(len(names)), tuple(names)
    who = [CellColumn(np.repeat(at, len(at)), words), CellColumn(np.tile(at, len(at)), words)]
    columns = [*_with(PAIR, who), *beside]
    rows = ColumnarRows(tuple(cells for _, cells in columns))
    return _pairwise(spec, [column for column, _ in columns], rows, notes, meta)


def _interval_at(column: Column, *squares: FloatArray) -> tuple[ColumnOfCells, ...]:
    return _with(with_interval(column, lambda pair: NO_ENDS), list(map(CellColumn.of_numbers, squares)))


def _with(fields: Sequence[FrameField[Any]], cells: Sequence[CellColumn]) -> tuple[ColumnOfCells, ...]:
    """Return the columns of fields, each with cells computed before."""
    return tuple((field.column, column) for field, column in zip(fields, cells, strict=True))


def pairwise_notes(n_shown: int, n_entrants: int) -> tuple[str, ...]:
    """Say when not every entrant is in a table of pairs.

    >>> pairwise_notes(200, 300), pairwise_notes(3, 3)
    (('Pairs are listed of the 200 best of 300 entrants; all are tested.',), ())
    """
    is_all = n_shown >= n_entrants
    return () if is_all else (f"Pairs are listed of the {n_shown} best of {n_entrants} entrants; all are tested.",)
