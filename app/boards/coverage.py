"""How much of a benchmark's grid an entrant delivered, and what that means for its rank: one place for every board.

Called by the ranking methods and by the kinds that measure entrants one at a time; pure. A cell is a task, or an item
of a task in a condition and seed. A cell of the grid without a row counts as attempted and absent; one with a row but
no value counts as absent, too, and separately as failed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from app.boards.wording import sentences
from app.names import in_words
from app.stats.arrays import FloatArray, IntArray
from app.values.frame import FrameField
from app.values.table import Cell, Column

R = TypeVar("R")

PARTIAL, NOT_ASKED, NOT_COUNTED = "partial", "not asked", "more than asked"
LABEL_HOLDER = "label holder"


@dataclass(frozen=True)
class Coverage:
    """Cell counts of one entrant: in the grid, with a value, without a row, and with a row but no value.

    `n_not_asked` counts cells of today's grid that were not in it when the entrant was admitted, and `n_over` cells
    beyond the number in the grid or, without a declared grid, beyond what at least half of the owners have. `is_filled`
    means that missing cells were given the worst value. `is_counted` means that the board declares what they count as,
    so that the entrant is ranked with its gaps. `is_reference` means that whoever sent the entrant can read the private
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
    the worst or the best possible value. `is_provisional` means that no grid is declared, so that nobody is called
    first.
    """

    coverage: Coverage | None = None
    why: str | None = None
    if_worst: int | None = None
    if_best: int | None = None
    is_provisional: bool = False


NO_REMARKS = RankStatus()


def _count(name: str, title: str, of: Callable[[Coverage], int], *, is_rare: bool = False) -> FrameField[RankStatus]:
    """Return a column of counts: among the details, or where anybody has some of what `is_rare`."""
    column = Column(name, title, "integer", detail=not is_rare, optional=is_rare, glossary="coverage")
    return FrameField(column, lambda s: None if s.coverage is None else of(s.coverage))


FIELDS: tuple[FrameField[RankStatus], ...] = (
    FrameField(Column("covered", "Covered", "text", glossary="coverage"), lambda s: covered(s.coverage)),
    _count("n_attempted", "Attempted", lambda c: c.n_attempted),
    _count("n_included", "Included", lambda c: c.n_included),
    _count("n_absent", "Absent", lambda c: c.n_absent),
    _count("n_failed", "Without a value", lambda c: c.n_failed),
    _count("n_not_asked", "Not asked", lambda c: c.n_not_asked, is_rare=True),
    FrameField(
        Column("unranked_because", "No rank because", "text", optional=True, glossary="coverage"), lambda s: s.why
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


def covered(coverage: Coverage | None) -> Cell:
    """Return "n of N" as shown in a row; None without a coverage.

    >>> covered(Coverage(1200, 3)), covered(None)
    ('3 of 1,200', None)
    """
    return None if coverage is None else f"{coverage.n_included:,} of {coverage.n_attempted:,}"


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

    def standing(self, entrant: str, bounds: tuple[int, int] | None = None) -> RankStatus:
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
                "half of the submitters have, and who lacks some of them ranks behind who lacks fewer. Nobody is said "
                "to be possibly first, and P(best) is withheld, until a steward declares a grid."
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
        lacking = [name for name in self.ranked if name in self.coverages and self.coverages[name].n_lacking]
        if filled := [self._gap(name) for name in lacking if not self.coverages[name].is_counted]:
            yield f"What is absent counts as the worst there is: {sentences(filled)}."
        if counted := [self._gap(name) for name in lacking if self.coverages[name].is_counted]:
            yield (
                "Ranked with gaps, by the board's rule for what is missing, and possibly first only who, with the "
                f"worst value in each of its gaps, is not behind the best of those with more: {sentences(counted)}."
            )

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
    Source: our rule, docs/architecture.md, "coverage".

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
    Source: `app.stats.interval.competition_ranks`, 1 + the number of better scores.

    >>> rank_among(0.5, [0.9, 0.5, 0.1]), rank_among(None, [0.9])
    (2, 2)
    """
    if point is None or np.isnan(point):
        return len(ranked) + 1
    return 1 + int(np.count_nonzero(np.asarray(ranked, dtype=np.float64) > point))
