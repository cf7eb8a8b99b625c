"""What a ranking method returns, and the pairwise tables that all of them share. Called by the ranking methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.manifest.manifest import Leaderboard
from app.stats.arrays import FloatArray
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
    effects, wins = [pairs.skill], [pairs.win_rate]
    chance = is_separable = [None] * pairs.skill.size
    if beats is not None:
        effects += [pairs.skill_low, pairs.skill_high]
        wins += [pairs.win_rate_low, pairs.win_rate_high]
        chance = _of_others(beats)
        is_separable = _of_others((pairs.skill_low > 0.0) | (pairs.skill_high < 0.0))
    who = ((a, b) for a in names for b in names)
    for (a, b), effect, p, differs, win_rate in zip(
        who, _ends(effects), chance, is_separable, _ends(wins), strict=True
    ):
        yield Pair(a, b, effect, p, differs, win_rate)


def _of_others(square: NDArray[Any]) -> list[Any]:
    """Return what is in a square, row after row, with None for everybody beside themselves."""
    cells = square.astype(object)
    np.fill_diagonal(cells, None)
    found: list[Any] = cells.ravel().tolist()
    return found


def _ends(values: Sequence[FloatArray]) -> Iterator[Ends]:
    """Return each point with the ends of its interval, None for what is not finite and where there are no ends."""
    found = []
    for each in values:
        cells = each.astype(object)
        cells[~np.isfinite(each)] = None
        found.append(cells.ravel().tolist())
    nothing = [None] * values[0].size
    return zip(*found, *[nothing] * (3 - len(found)), strict=True)


def pairwise_notes(n_shown: int, n_entrants: int) -> tuple[str, ...]:
    """Say when not every entrant is compared: the square of all pairs is larger than anyone reads."""
    return (f"The {n_shown} best of {n_entrants} entrants are compared.",) if n_shown < n_entrants else ()
