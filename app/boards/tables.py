"""What a ranking method returns, and the pairwise tables that all of them share. Called by the ranking methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.boards.contrasts import Contrasts, Verdict, squares_in_rows
from app.manifest.manifest import Leaderboard
from app.stats.pairs import PairStatistics
from app.values.frame import Ends, Field, Frame, with_interval
from app.values.table import Column, Table

SHOWN = 6


@dataclass(frozen=True)
class BoardTables:
    """A board's tables; `pairwise` is None where there is nobody to compare.

    `extra` are the method's further tables, each named `<kind>/<board>` and shown under the board's address.
    """

    leaderboard: Table
    pairwise: Table | None
    extra: tuple[Table, ...] = ()


def sentences(names: Sequence[str]) -> str:
    """Return names as a list for a sentence, the first few by name."""
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def elsewhere_notes(names: Sequence[str]) -> tuple[str, ...]:
    """Say who has rows, and none on the board's tasks: they did not fail on them."""
    return (f"Not on this board, without a row on its tasks: {sentences(names)}.",) if names else ()


MAX_COMPARED = 200
"""Above it the square of all pairs is larger than anyone reads; the best-ranked ones are compared."""

NO_ENDS: Ends = (None, None, None)


@dataclass(frozen=True)
class Pair:
    """Two entrants compared: the verdict of the board, and an effect that is a method's own, None where unknown."""

    a: str
    b: str
    verdict: Verdict
    effect: Ends = NO_ENDS
    win_rate: Ends = NO_ENDS


PAIR: tuple[Field[Pair], ...] = (
    Field(Column("entrant_a", "A", "text"), lambda pair: pair.a),
    Field(Column("entrant_b", "B", "text"), lambda pair: pair.b),
)
VERDICT: tuple[Field[Pair], ...] = (
    Field(Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2), lambda pair: pair.verdict.beats),
    Field(Column("p_value", "p", glossary="contrast", digits=4), lambda pair: pair.verdict.p_value),
    Field(Column("separable", "Separable", "flag", glossary="separable"), lambda pair: pair.verdict.separable),
)


def pairwise_table(
    spec: Leaderboard,
    fields: Sequence[Field[Pair]],
    pairs: Iterable[Pair],
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    """Return the table of pairs: who they are, the method's own fields, and how sure it is that they differ.

    `meta` names the column of the board's contrast as `contrast`; `test` and `contrast_interval` say in words how it
    was tested and where its interval is from, and `score` of what it is the difference where that is not a metric.
    """
    title = f"{spec.title or spec.name}, pair by pair"
    how = {"test": TEST, "contrast_interval": f"Student's t of {RESAMPLED}"}
    return Frame([*PAIR, *fields, *VERDICT]).table(f"pairwise/{spec.name}", title, pairs, notes, {**how, **meta})


RESAMPLED = "resampled differences, drawn by name"
TEST = "t test of the difference over resamples"


def contrast_field(column: Column, *, ends_title: str | None = None) -> tuple[Field[Pair], ...]:
    """Return the columns of the board's contrast and its interval."""
    return with_interval(column, lambda pair: pair.verdict.contrast, ends_title=ends_title)


@dataclass(frozen=True)
class TaskPairs:
    """Entrants that were compared task by task, in their order, with the contrasts of the board they are on."""

    names: Sequence[str]
    statistics: PairStatistics
    contrasts: Contrasts

    def pairs(self) -> Iterator[Pair]:
        """Yield every ordered pair, row after row."""
        found = self.statistics
        effects = squares_in_rows(found.skill, found.skill_low, found.skill_high)
        wins = squares_in_rows(found.win_rate, found.win_rate_low, found.win_rate_high)
        who = ((a, b) for a in self.names for b in self.names)
        for (a, b), verdict, effect, won in zip(who, self.contrasts.verdicts(), effects, wins, strict=True):
            yield Pair(a, b, verdict, effect, won)

    def advantages(self, spec: Leaderboard, notes: Iterable[str], meta: Mapping[str, Any]) -> Table:
        """Return the table of pairs of a board whose score is a mean over tasks: the contrast is A's advantage."""
        column = Column("advantage", "Advantage of A over B", direction="maximize", glossary="advantage", digits=3)
        fields = (*win_rate_field(), *contrast_field(column))
        return pairwise_table(spec, fields, self.pairs(), notes, {**meta, "contrast": "advantage"})


def win_rate_field() -> tuple[Field[Pair], ...]:
    """Return the columns of the share of tasks that A wins, and its interval."""
    column = Column("win_rate", "Win rate of A", direction="maximize", glossary="pair_win_rate", digits=3)
    return with_interval(column, lambda pair: pair.win_rate)


def pairwise_notes(n_shown: int, n_entrants: int) -> tuple[str, ...]:
    """Say when not every entrant is compared: the square of all pairs is larger than anyone reads."""
    return (f"The {n_shown} best of {n_entrants} entrants are compared.",) if n_shown < n_entrants else ()
