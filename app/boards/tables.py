"""What a ranking method returns, and the pairwise tables that all of them share. Called by the ranking methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.manifest.manifest import Leaderboard
from app.stats.arrays import FloatArray
from app.stats.pairs import PairStatistics
from app.values.frame import Ends, Field, Frame, with_interval
from app.values.table import Column, Table, finite

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
    """Two entrants compared; `separable` says that the effect's interval excludes no effect. None where unknown."""

    a: str
    b: str
    effect: Ends
    beats: float | None = None
    separable: bool | None = None
    win_rate: Ends = NO_ENDS


PAIR: tuple[Field[Pair], ...] = (
    Field(Column("entrant_a", "A", "text"), lambda pair: pair.a),
    Field(Column("entrant_b", "B", "text"), lambda pair: pair.b),
)
VERDICT: tuple[Field[Pair], ...] = (
    Field(Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2), lambda pair: pair.beats),
    Field(Column("separable", "Separable", "flag", glossary="separable"), lambda pair: pair.separable),
)


def pairwise_table(
    spec: Leaderboard,
    fields: Sequence[Field[Pair]],
    pairs: Iterable[Pair],
    notes: Iterable[str],
    meta: Mapping[str, Any],
) -> Table:
    """Return the table of pairs: who they are, the method's own fields, and how sure it is that they differ."""
    title = f"{spec.title or spec.name}, pair by pair"
    return Frame([*PAIR, *fields, *VERDICT]).table(f"pairwise/{spec.name}", title, pairs, notes, meta)


def effect_field(column: Column, *, ends_title: str | None = None) -> tuple[Field[Pair], ...]:
    """Return the columns of the effect and its interval."""
    return with_interval(column, lambda pair: pair.effect, ends_title=ends_title)


def task_pairs_table(
    spec: Leaderboard,
    names: Sequence[str],
    pairs: PairStatistics,
    beats: FloatArray | None,
    *,
    notes: Sequence[str] = (),
    meta: Mapping[str, Any],
    effect: tuple[str, str],
) -> Table:
    """Return the table of every ordered pair that was compared task by task.

    Without `beats`, which come from resamples, there are no intervals either. `effect` is the column name and its
    title; an effect of 0 means no difference.
    """
    win_rate = Column("win_rate", "Win rate of A", direction="maximize", glossary="win_rate", digits=3)
    column = Column(effect[0], f"{effect[1]} of A over B", direction="maximize", glossary=effect[0], digits=3)
    fields = (*with_interval(win_rate, _win_rate), *effect_field(column))
    return pairwise_table(spec, fields, _task_pairs(names, pairs, beats), notes, meta)


def _win_rate(pair: Pair) -> Ends:
    return pair.win_rate


def _task_pairs(names: Sequence[str], pairs: PairStatistics, beats: FloatArray | None) -> Iterator[Pair]:
    effects = [pairs.skill.tolist(), pairs.skill_low.tolist(), pairs.skill_high.tolist()]
    wins = [pairs.win_rate.tolist(), pairs.win_rate_low.tolist(), pairs.win_rate_high.tolist()]
    for a, name_a in enumerate(names):
        for b, name_b in enumerate(names):
            effect, won = ([finite(table[a][b]) for table in tables] for tables in (effects, wins))
            if beats is None:
                yield Pair(name_a, name_b, (effect[0], None, None), win_rate=(won[0], None, None))
                continue
            low, high = effects[1][a][b], effects[2][a][b]
            separable = None if a == b else bool(low > 0.0 or high < 0.0)
            chance = None if a == b else float(beats[a, b])
            ends, win_rate = (effect[0], effect[1], effect[2]), (won[0], won[1], won[2])
            yield Pair(name_a, name_b, ends, chance, separable, win_rate)


def pairwise_notes(n_shown: int, n_entrants: int) -> tuple[str, ...]:
    """Say when not every entrant is compared: the square of all pairs is larger than anyone reads."""
    return (f"The {n_shown} best of {n_entrants} entrants are compared.",) if n_shown < n_entrants else ()
