"""How much of a benchmark's grid an entrant delivered, and what that means for its rank: one place for every board. A
cell is a task, or an item of a task in a condition and seed. A cell of the grid without a row counts as attempted
and absent; one with a row but no value counts as absent, too, and separately as failed.

Why: docs/adr/007-absence-and-failures.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from app.manifest.model import Leaderboard, Manifest
from app.names import in_words, sentences
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.resample import TIE
from app.values.frame import FrameField
from app.values.scores import ScoreTable
from app.values.table import Cell, Column

R = TypeVar("R")

PARTIAL, NOT_ASKED, NOT_COUNTED = "partial", "not asked", "more than asked"

LABEL_HOLDER = "label holder"


@dataclass(frozen=True)
class Coverage:
    """Cell counts of one entrant: in the grid, with a value, without a row, and with a row but no value.

    `n_not_asked` counts cells of today's grid that were not in it when the entrant was admitted, and `n_over` cells
    beyond the number in the grid or, without a declared grid, beyond what is commonly held. `is_filled` means that
    missing cells were given the worst value. `is_counted` means that the board declares what they count as, so that the
    entrant is ranked with its gaps. `is_reference` means that whoever sent the entrant can read the private
    labels, so that it is shown for comparison, however much it delivered.
    """

    n_attempted: int
    n_included: int
    n_absent: int = 0
    n_failed: int = 0
    n_not_asked: int = 0
    n_over: int = 0
    is_filled: bool = False
    is_counted: bool = False
    is_reference: bool = False

    @property
    def n_lacking(self) -> int:
        """Return how many cells have no value, for whatever reason."""
        return self.n_absent + self.n_failed

    @property
    def why_unranked(self) -> str | None:
        """Return, in a word or two, why the entrant is not ranked; None if it is."""
        if self.is_reference:
            return LABEL_HOLDER
        if self.n_over:
            return NOT_COUNTED
        if self.n_not_asked:
            return NOT_ASKED
        return PARTIAL if self.n_lacking and not (self.is_filled or self.is_counted) else None

    @property
    def is_whole(self) -> bool:
        """Say whether the entrant is ranked with the others."""
        return self.why_unranked is None

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(
            self.n_attempted + other.n_attempted,
            self.n_included + other.n_included,
            self.n_absent + other.n_absent,
            self.n_failed + other.n_failed,
            self.n_not_asked + other.n_not_asked,
            self.n_over + other.n_over,
            self.is_filled and other.is_filled,
            self.is_counted and other.is_counted,
            self.is_reference or other.is_reference,
        )


NOTHING_ASKED = Coverage(0, 0)


@dataclass(frozen=True)
class RankStatus:
    """What a row shows about coverage: the counts, and where the entrant could rank if it lacked nothing.

    `why` says why it is not ranked. `if_worst` and `if_best` are its ranks among the ranked if all missing cells had
    the worst or the best possible value. `is_provisional` means that no grid is declared, so that a rank has no
    interval and nobody is called first.
    """

    coverage: Coverage | None = None
    why: str | None = None
    if_worst: int | None = None
    if_best: int | None = None
    is_provisional: bool = False


NO_REMARKS = RankStatus()


def _count(name: str, title: str, of: Callable[[Coverage], int], *, is_rare: bool = False) -> FrameField[RankStatus]:
    """Return a column of counts: among the details, or where anybody has some of what `is_rare`."""
    column = Column(name, title, "integer", detail=not is_rare, optional=is_rare, glossary=name)
    return FrameField(column, lambda s: None if s.coverage is None else of(s.coverage))


def covered(coverage: Coverage | None) -> Cell:
    """Return "n of N" as shown in a row; None without a coverage.

    >>> covered(Coverage(1200, 3)), covered(None)
    ('3 of 1,200', None)
    """
    return None if coverage is None else f"{coverage.n_included:,} of {coverage.n_attempted:,}"


FIELDS: tuple[FrameField[RankStatus], ...] = (
    FrameField(Column("covered", "Covered", "text", glossary="coverage"), lambda s: covered(s.coverage)),
    _count("n_attempted", "Attempted", lambda c: c.n_attempted),
    _count("n_included", "Included", lambda c: c.n_included),
    _count("n_absent", "Absent", lambda c: c.n_absent),
    _count("n_failed", "Without a value", lambda c: c.n_failed),
    _count("n_not_asked", "Not asked", lambda c: c.n_not_asked, is_rare=True),
    FrameField(
        Column("unranked_because", "No rank because", "text", optional=True, glossary="unranked_because"),
        lambda s: s.why,
    ),
    FrameField(
        Column("rank_if_worst", "Rank if worst", "integer", optional=True, glossary="rank_if"),
        lambda s: s.if_worst,
    ),
    FrameField(
        Column("rank_if_best", "Rank if best", "integer", optional=True, glossary="rank_if"),
        lambda s: s.if_best,
    ),
)
"""The coverage columns of every board, for every kind of evidence."""


@dataclass(frozen=True)
class Roster:
    """Who is ranked and who is not, by the coverage of each entrant.

    `ranked` entrants may be first, those with gaps by the rule of `app.boards.standing`. `behind` entrants lack
    something on a board without a declared grid: groups by how much, each of which ranks behind all groups before it.
    `apart` entrants are listed separately, without a rank. With a declared grid `behind` is empty.
    """

    ranked: tuple[str, ...]
    behind: tuple[tuple[str, ...], ...]
    apart: tuple[str, ...]
    coverages: Mapping[str, Coverage]
    is_provisional: bool

    def rank_status(self, entrant: str, bounds: tuple[int, int] | None = None) -> RankStatus:
        """Return the rank status of an entrant, with `bounds`, its ranks if the missing cells were worst and best."""
        coverage = self.coverages.get(entrant)
        why = coverage.why_unranked if coverage is not None and entrant in self.apart else None
        if_worst, if_best = bounds or (None, None)
        return RankStatus(coverage, why, if_worst, if_best, self.is_provisional)

    def not_asked(self, entrants: Iterable[str]) -> IntArray:
        """Return how many cells were not asked of each entrant: it has none of them, and failed at none."""
        known = (self.coverages.get(name) for name in entrants)
        return np.array([0 if coverage is None else coverage.n_not_asked for coverage in known], dtype=np.int64)

    def behind_ranks(self, points: Mapping[str, float]) -> dict[str, int]:
        """Return the ranks of those behind, larger points being better; an entrant without a point has none."""
        ranks: dict[str, int] = {}
        n_before = len(self.ranked)
        for group in self.behind:
            own = {name: points[name] for name in group if name in points}
            for name, point in own.items():
                ranks[name] = 1 + n_before + sum(other > point for other in own.values())
            n_before += len(own)
        return ranks

    def notes(self, cells: str) -> Iterator[str]:
        """Yield notes on who lacks what; `cells` is the noun for what is counted."""
        if self.is_provisional:
            yield (
                f"Provisional: nobody has declared which {cells} there are, so ranks are about those that at least "
                "half of the submitters have, and half of those who came first; who lacks some of them ranks behind "
                "who lacks fewer. No rank has an interval, and nobody is said to be possibly first, until a steward "
                "declares a grid."
            )
        behind = [name for group in self.behind for name in group]
        if lacking := [self._gap(name) for name in behind if self.coverages[name].n_lacking]:
            yield f"Ranked behind the others, because something is absent: {sentences(lacking)}."
        n_over = {name: self.coverages[name].n_over for name in behind}
        if over := [f"{in_words(name)} ({n:,})" for name, n in n_over.items() if n]:
            yield f"Ranked behind the others, because of {cells} that most submitters do not have: {sentences(over)}."
        for why, text in _WHY.items():
            named = [self._gap(name) for name in self.apart if self.coverages[name].why_unranked == why]
            if named:
                yield f"{text}: {sentences(named)}."
        newer = [name for name in self.apart if self.coverages[name].why_unranked == NOT_ASKED]
        if lacking_too := [self._gap(name) for name in newer if self.coverages[name].n_lacking]:
            yield f"These also lack results that were asked of them: {sentences(lacking_too)}."
        yield from self.filled_notes()
        if counted := [self._gap(name) for name in self._ranked_with_gaps() if self.coverages[name].is_counted]:
            yield (
                f"Ranked although results are missing, by the board's rule for gaps: {sentences(counted)}. Such an "
                "entrant may not be first if, with the worst value in each of its gaps, it would be behind the best of "
                "those who have more results."
            )

    def filled_notes(self) -> Iterator[str]:
        """Yield a note on the ranked whose gaps were given the worst value, if there are any."""
        filled = [self._gap(name) for name in self._ranked_with_gaps() if not self.coverages[name].is_counted]
        if filled and not self.is_provisional:
            yield (
                f"What is absent counts as the worst there is: {sentences(filled)}. Such an entrant may not be first "
                "if it is behind the best of those who have more results."
            )

    def _ranked_with_gaps(self) -> list[str]:
        return [name for name in self.ranked if name in self.coverages and self.coverages[name].n_lacking]

    def _gap(self, name: str) -> str:
        return f"{in_words(name)} ({covered(self.coverages[name])} {_CELLS})"


_CELLS = "included"

_WHY = {
    LABEL_HOLDER: "Sent by who can read the private labels, so listed for comparison, without a rank",
    PARTIAL: "Partial, so listed separately, without a rank",
    NOT_ASKED: "Admitted before the grid had all of its cells, which were not asked; no rank until it runs them",
    NOT_COUNTED: "More than the grid asks for, so no rank",
}


def call_roster(coverages: Mapping[str, Coverage], *, is_declared: bool) -> Roster:
    """Return who is ranked. Without a declared grid those come first whose cells differ least from the common ones.

    What an entrant lacks and what it has beyond the others count alike there, since either way its score is over
    different cells. An entrant admitted before a cell or metric was added is listed separately, with or without a grid,
    and so is one of who can read the private labels.
    Source: our rule, docs/adr/006-grids-and-provisional-boards.md.

    >>> full, few = Coverage(3, 3), Coverage(3, 1, n_absent=2)
    >>> call_roster({"A": full, "B": few}, is_declared=True).apart
    ('B',)
    >>> call_roster({"A": full, "B": few}, is_declared=False).behind
    (('B',),)
    """
    if is_declared:
        ranked = tuple(name for name, c in coverages.items() if c.is_whole)
        apart = tuple(name for name, c in coverages.items() if not c.is_whole)
        return Roster(ranked, (), apart, coverages, False)
    groups: dict[int, list[str]] = {}
    apart = tuple(name for name, c in coverages.items() if c.n_not_asked or c.is_reference)
    for name, coverage in coverages.items():
        if name not in apart:
            groups.setdefault(coverage.n_lacking + coverage.n_over, []).append(name)
    ordered = [tuple(groups[n_differing]) for n_differing in sorted(groups)]
    return Roster(ordered[0] if ordered else (), tuple(ordered[1:]), apart, coverages, True)


def rank_among(point: float | None, ranked: Sequence[float] | FloatArray) -> int:
    """Return the rank that a score would have among ranked ones [n_ranked], larger being better; None is below all.

    NaN counts as None.
    Source: `app.stats.resample.competition_ranks`, 1 + the number of scores that are better by more than rounding.

    >>> rank_among(0.5, [0.9, 0.5, 0.1]), rank_among(None, [0.9])
    (2, 2)
    """
    if point is None or np.isnan(point):
        return len(ranked) + 1
    return 1 + int(np.count_nonzero(np.asarray(ranked, dtype=np.float64) > point + TIE))


# The cells that a board without a declared grid is about: those that at least half of the owners have, and of the half
# of them who came first at least half. Nobody leads by bringing more, since items of a single owner are not expected of
# others and do not count in scores, nor by coming later with as many tokens as there are others. Two owners who differ
# form no majority: then what the earlier one has counts, because leaving cells out must not pay either.


def commonly_held(counts: IntArray, arrivals: Sequence[int]) -> IntArray:
    """Return, for each cell, the number that at least half of the owners have, [n_cells], from [n_entrants, n_cells].

    `arrivals` numbers the owner of each entrant, the first to come being the least; an owner's number of a cell is the
    largest of its entrants'. At least half of the earlier half of the owners have it, too. Where that leaves no cell,
    those count that the earlier half would have without the later one.
    Source: our rule, the upper median over owners.

    >>> commonly_held(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 9]]), [0, 1, 2]).tolist()
    [1, 1, 0]
    >>> commonly_held(np.array([[1, 0], [1, 9]]), [1, 0]).tolist()
    [1, 9]
    >>> commonly_held(np.array([[1, 0], [1, 9]]), [0, 1]).tolist()
    [1, 0]
    """
    if not len(arrivals):
        return np.zeros(counts.shape[1], dtype=np.int64)
    most = _most_by_owner(counts, arrivals)
    while not (common := _held_by_half(most)).any() and len(most) > 1:
        most = _earlier(most)
    return common


def _most_by_owner(counts: IntArray, arrivals: Sequence[int]) -> IntArray:
    """Return the largest number of each owner's entrants, [n_owners, n_cells], the first to come first."""
    owners = np.array(arrivals, dtype=np.int64)
    return np.stack([counts[owners == owner].max(axis=0) for owner in np.unique(owners)])


def _earlier(most: IntArray) -> IntArray:
    return most[: max(1, len(most) // 2)]


def _held_by_half(most: IntArray) -> IntArray:
    halves = [np.sort(own, axis=0)[len(own) // 2] for own in (most, _earlier(most))]
    return np.asarray(np.minimum(*halves))


def are_usual(has: BoolArray, arrivals: Sequence[int]) -> bool:
    """Say whether at least half of the owners have it, and half of those who came first, from who has it, [n_entrants].

    Source: as for `commonly_held`.

    >>> are_usual(np.array([True, False, False]), [0, 1, 2]), are_usual(np.array([False, True, True]), [0, 1, 2])
    (False, False)
    """
    return bool(_held_by_half(_most_by_owner(has[:, None].astype(np.int64), arrivals))[0])


def common_tasks(scores: ScoreTable, entrants: Sequence[str], arrivals: Sequence[int]) -> list[str]:
    """Return the tasks that an open board of these entrants is about, by name: who has a value of one has the task.

    Source: as for `commonly_held`.

    >>> from app.boards.example import rows
    >>> common_tasks(rows({"A": [0.1], "B": [0.1, 0.2], "C": [0.3]}), ["A", "B", "C"], [0, 1, 2])
    ['a']
    """
    has = np.zeros((len(scores.entrant.words), len(scores.task.words)), dtype=np.bool_)
    valued = ~np.isnan(scores.values).all(axis=1)
    has[scores.entrant.codes[valued], scores.task.codes[valued]] = True
    place = {name: at for at, name in enumerate(scores.entrant.words)}
    known = [(place[name], arrival) for name, arrival in zip(entrants, arrivals, strict=True) if name in place]
    common = are_common(has[[at for at, _ in known]], [arrival for _, arrival in known])
    return sorted(scores.task.words[at] for at in np.flatnonzero(common).tolist())


def are_common(has: BoolArray, arrivals: Sequence[int]) -> BoolArray:
    """Return which cells count, [n_cells], from who has them, [n_entrants, n_cells].

    Source: as for `commonly_held`.

    >>> are_common(np.array([[True, False], [True, False], [True, True]]), [0, 1, 2]).tolist()
    [True, False]
    """
    return np.asarray(commonly_held(has.astype(np.int64), arrivals) > 0)


# Episodes without a score of a metric that ranks: where they are, and what they count as. An empty score is never
# left out of a ranking, since otherwise leaving out one's failures would win.


def missing_rankings(manifest: Manifest, scores: ScoreTable) -> Mapping[str, BoolArray]:
    """Return, for each ranking metric of a board, which rows [n_rows] on that board's tasks lack it.

    NaN means lacking.
    Raises KeyError for a metric without a column in the rows.
    Source: none; it selects cells.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> missing_rankings(declared, rows({"A": [0.1, np.nan]}))["error"].tolist()
    [False, True]
    """
    lacking: dict[str, BoolArray] = {}
    for board in manifest.leaderboards:
        for metric in board.required_metrics():
            missing = _of_board(board, scores) & np.isnan(scores.value(metric))
            lacking[metric] = lacking.get(metric, np.zeros(len(scores), dtype=np.bool_)) | missing
    return lacking


def has_rankings(manifest: Manifest, scores: ScoreTable) -> BoolArray:
    """Return which rows [n_rows] have every score that a board ranks them by. Source: none; it selects cells.

    Raises KeyError for a metric without a column in the rows; NaN means lacking.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> has_rankings(declared, rows({"A": [0.1, np.nan]})).tolist()
    [True, False]
    """
    missing = np.zeros(len(scores), dtype=np.bool_)
    for rows in missing_rankings(manifest, scores).values():
        missing |= rows
    return ~missing


def with_worst(manifest: Manifest, scores: ScoreTable) -> ScoreTable:
    """Return the scores with missing ranking scores replaced by the metric's worst value, in its unit.

    Under `absent: worst` so are missing scores of a board's other metrics, so that leaving values out improves no
    column. A score stays NaN where the metric has no worst value, and for an entrant without any value of the metric,
    who has nothing to rank.
    Raises KeyError as `missing_rankings` does.
    Source: none; it selects cells.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> declared = benchmark(Mean(name="main", method="mean", metric="error"))
    >>> with_worst(declared, rows({"A": [0.1, np.nan], "B": [np.nan, np.nan]})).values[:, 0].tolist()
    [0.1, 1.0, nan, nan]
    """
    values = scores.values.copy()
    for metric, missing in {**missing_rankings(manifest, scores), **_missing_of_grid(manifest, scores)}.items():
        worst = manifest.metrics[metric].worst
        if worst is None:
            continue
        measured = np.unique(scores.entrant.codes[~np.isnan(scores.value(metric))])
        values[missing & np.isin(scores.entrant.codes, measured), scores.columns.index(metric)] = worst
    return replace(scores, values=values)


def _missing_of_grid(manifest: Manifest, scores: ScoreTable) -> Mapping[str, BoolArray]:
    if manifest.absent != "worst":
        return {}
    lacking: dict[str, BoolArray] = {}
    for board in manifest.leaderboards:
        of_board = _of_board(board, scores)
        for metric in board.metric_names():
            missing = of_board & np.isnan(scores.value(metric))
            lacking[metric] = lacking.get(metric, np.zeros(len(scores), dtype=np.bool_)) | missing
    return lacking


def _of_board(board: Leaderboard, scores: ScoreTable) -> BoolArray:
    tasks = board.ranked_tasks()
    if tasks is None:
        return np.ones(len(scores), dtype=np.bool_)
    rows: BoolArray = np.isin(scores.task.codes, [at for at, word in enumerate(scores.task.words) if word in tasks])
    return rows
