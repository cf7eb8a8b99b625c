"""What boards are computed from, and one board of it: for publications, readers, dry runs, previews and replays alike.

Of what a database has (`app.jobs.evidence`), or of rows in memory.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from app.boards.far_beyond import with_far_beyond
from app.boards.groups import with_groups
from app.boards.measured import MeasuredKind, Measurement
from app.boards.nouns import in_nouns
from app.boards.registry import compute_board, measured_method
from app.boards.relatives import by_unit, with_nearest
from app.boards.tables import BoardTables, provisionally
from app.errors import BoardUnavailable
from app.manifest.model import Leaderboard, Manifest, Task
from app.names import in_words, sentences
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""

LeftOut = frozenset[Pair]
NOBODY: LeftOut = frozenset()


@dataclass(frozen=True)
class Standing:
    """An entrant and a submission that is its evidence, 0 of none; `pair` is what is shown of it, and left out by."""

    entrant: str
    submission: int
    pair: Pair

    def __str__(self) -> str:
        number = f" (submission {self.submission})" if self.submission else ""
        return f"{in_words(self.entrant)}{number}"


@dataclass(frozen=True, kw_only=True)
class BoardEvidence:
    """The evidence of the entrants of a benchmark. What takes long to read is a function: few boards need all of it."""

    manifest: Manifest
    """The manifest, with its grid as it is filled."""
    standings: Sequence[Standing]
    """What stands, by entrant."""
    scores: Callable[[LeftOut], ScoreTable]
    """The rows of everybody, but of what is left out."""
    measurements: Callable[[Leaderboard, LeftOut], Sequence[Measurement]]
    """The entrants measured for a board, by name, but what is left out."""
    measured: MeasuredKind | None = None
    """How the kind of evidence is measured; None where only methods that compute from all rows can read it."""
    described: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    """Facts stated in submissions' files, by entrant."""
    open_tasks: Callable[[], Sequence[Task]] = tuple
    """The tasks that count where the manifest leaves them open; otherwise none."""
    n_rows: Callable[[], int] = int
    """How many rows there are, of everybody."""

    @classmethod
    def of_rows(cls, manifest: Manifest, rows: ScoreTable) -> Self:
        """Return rows as the evidence of their entrants, none of whom can be measured.

        >>> from app.boards.example import benchmark, rows
        >>> from app.boards.methods.mean import Mean
        >>> evidence = BoardEvidence.of_rows(benchmark(Mean(name="main", method="mean", metric="error")), rows())
        >>> evidence.among({"Good", "Poor"}).entrants()
        ['Good', 'Poor']
        """
        standings = [Standing(name, 0, (0, at)) for at, name in enumerate(rows.entrant.words)]

        def kept(left_out: LeftOut) -> ScoreTable:
            return rows_of(rows, {s.entrant for s in standings if s.pair not in left_out})

        return cls(
            manifest=manifest, standings=standings, scores=kept, measurements=lambda *_: [], n_rows=lambda: len(rows)
        )

    def entrants(self) -> list[str]:
        """Return the entrants that have evidence, by name."""
        return sorted({s.entrant for s in self.standings})

    def of_submissions(self, numbers: Collection[int]) -> LeftOut:
        """Return the evidence of some submissions."""
        return frozenset(s.pair for s in self.standings if s.submission in numbers)

    def of_entrants(self, names: Collection[str]) -> LeftOut:
        """Return the evidence of some entrants."""
        return frozenset(s.pair for s in self.standings if s.entrant in names)

    def not_in(self, evidence: frozenset[Pair]) -> LeftOut:
        """Return all evidence but some."""
        return frozenset(s.pair for s in self.standings if s.pair not in evidence)

    def among(self, names: Collection[str]) -> Self:
        """Return the evidence of some entrants alone; the rows of everybody are read all the same."""
        kept = set(names)
        others = self.of_entrants({s.entrant for s in self.standings} - kept)
        return replace(
            self,
            standings=[s for s in self.standings if s.entrant in kept],
            scores=lambda left_out: rows_of(self.scores(left_out), kept),
            measurements=lambda spec, left_out: self.measurements(spec, left_out | others),
        )

    def with_newer(
        self,
        names: Sequence[str],
        scores: Callable[[ScoreTable], ScoreTable],
        measurements: Callable[[Leaderboard], Sequence[Measurement]],
    ) -> Self:
        """Return the evidence with newer rows of some entrants, new ones or ones that are there.

        `scores` adds them to the rows that stand, `measurements` are theirs alone.
        """
        others = self.among(set(self.entrants()) - set(names))

        def measured(spec: Leaderboard, left_out: LeftOut) -> list[Measurement]:
            both = [*others.measurements(spec, left_out), *measurements(spec)]
            return sorted(both, key=lambda each: each.entrant)

        newer = [Standing(name, 0, (0, at)) for at, name in enumerate(names)]
        return replace(
            self,
            standings=sorted([*others.standings, *newer], key=lambda s: s.entrant),
            scores=lambda left_out: scores(self.scores(left_out)),
            measurements=measured,
        )


def board_of(evidence: BoardEvidence, spec: Leaderboard, left_out: LeftOut = NOBODY) -> BoardTables:
    """Compute one board; shapes, units and directions are the method's, null is None.

    Raises BoardUnavailable as the method does, and TypeError where the method reads measurements of single entrants and
    the kind of evidence has none.
    Source: the method's own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> tables = board_of(BoardEvidence.of_rows(benchmark(board), rows()), board)
    >>> [row[1] for row in tables.leaderboard.rows]
    ['Good', 'Fair', 'Poor']
    """
    method, said = measured_method(spec), partial(in_nouns, nouns=evidence.manifest.nouns)
    if method is None:
        scores = evidence.scores(left_out)
        computed = compute_board(evidence.manifest, spec, scores)
        grouped = with_groups(computed.leaderboard, evidence.manifest, spec, scores)
        compared = _beside_others(grouped, evidence.manifest, spec, scores)
        return provisionally(replace(computed, leaderboard=compared)).each(said)
    if evidence.measured is None:
        kind = evidence.manifest.evidence
        raise TypeError(f"evidence of kind {kind} is not measured one entrant at a time")
    computed = method.assemble(evidence.manifest, spec, evidence.measurements(spec, left_out), evidence.measured)
    compared = _beside_others(computed.leaderboard, evidence.manifest, spec, None)
    return provisionally(replace(computed, leaderboard=compared)).each(said)


MOST_ROUNDS = 10
"""How often entrants are set aside: without some, which tasks an open list has may be others."""


def board_without_gaps(evidence: BoardEvidence, spec: Leaderboard, left_out: LeftOut = NOBODY) -> BoardTables:
    """Compute one board as it is published: the entrants whose gaps prevent it are set aside, which it says.

    However many they are: one owner can send any number. Raises BoardUnavailable where it cannot be computed without
    them either. Source: the method's own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> len(board_without_gaps(BoardEvidence.of_rows(benchmark(board), rows()), board).leaderboard.rows)
    3
    """
    gone, reason, n_rounds = NOBODY, "", 0
    while True:
        try:
            computed = board_of(evidence, spec, left_out | gone)
            return computed.each(partial(setting_aside, evidence=evidence, left_out=gone, reason=reason))
        except BoardUnavailable as error:
            more, n_rounds = gone | evidence.of_entrants(error.entrants), n_rounds + 1
            if more == gone or n_rounds > MOST_ROUNDS:
                raise
            gone, reason = more, str(error)


def setting_aside(table: Table, evidence: BoardEvidence, left_out: LeftOut, reason: str, **about: str) -> Table:
    """Return a table that was computed without some evidence with whose it is, and why, in words and in `set_aside`.

    Source: none; it adds words.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> evidence = BoardEvidence.of_rows(benchmark(Mean(name="main", method="mean", metric="error")), rows())
    >>> setting_aside(Table("a", "A", (), ()), evidence, evidence.of_entrants(["Poor"]), "It has gaps.").notes
    ('Set aside on this board: Poor. It has gaps.',)
    """
    excluded = [s for s in evidence.standings if s.pair in left_out]
    if not excluded:
        return table
    note = f"Set aside on this board: {sentences(list(map(str, excluded)))}. {reason}"
    facts = [{"entrant": s.entrant, "submission": s.submission, "reason": reason, **about} for s in excluded]
    set_aside = [*table.meta.get("set_aside", ()), *facts]
    return replace(table, notes=(*table.notes, note), meta={**table.meta, "set_aside": set_aside})


def _beside_others(board: Table, manifest: Manifest, spec: Leaderboard, scores: ScoreTable | None) -> Table:
    """Return a board with what is seen of its entrants beside the values of the others."""
    if "entrant" not in board.column_names():
        return board
    if scores is None:
        return with_nearest(board, None)
    values = by_unit(spec, scores)
    return with_far_beyond(with_nearest(board, values), manifest, spec, values)


def rows_of(scores: ScoreTable, entrants: Collection[str]) -> ScoreTable:
    """Return a table of the rows of some entrants, and of no others.

    Source: none; it selects rows.

    >>> from app.boards.example import rows
    >>> few = rows_of(rows(), {"Poor"})
    >>> few.entrant.words, len(few)
    (('Poor',), 3)
    """
    kept = [at for at, name in enumerate(scores.entrant.words) if name in entrants]
    if len(kept) == len(scores.entrant.words):
        return scores
    place = np.full(len(scores.entrant.words), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    codes = place[scores.entrant.codes]
    rows = np.flatnonzero(codes >= 0)
    entrant = Coded(tuple(scores.entrant.words[at] for at in kept), codes[rows])
    return replace(scores.take(rows), entrant=entrant)
