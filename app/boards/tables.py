"""What a ranking method returns, and the pairwise table that all of them share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.manifest.manifest import Leaderboard
from app.stats.arrays import FloatArray
from app.stats.pairs import PairStatistics
from app.values.table import Cell, Column, Table, finite

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


def pairwise_table(
    spec: Leaderboard,
    names: Sequence[str],
    pairs: PairStatistics,
    beats: FloatArray | None,
    *,
    notes: Sequence[str] = (),
    meta: Mapping[str, Any],
    effect: tuple[str, str, float] = ("skill_score", "Skill", 0.0),
) -> Table:
    """Return the table of every ordered pair; `separable` says that the effect's interval excludes no effect.

    Without `beats`, which come from resamples, there are no intervals either. `effect` is the column name, its title
    and the value that means no difference.
    """
    stem, title, none = effect
    arrays = [pairs.win_rate, pairs.win_rate_low, pairs.win_rate_high, pairs.skill, pairs.skill_low, pairs.skill_high]
    lists = [array.tolist() for array in arrays]
    rows: list[tuple[Cell, ...]] = []
    for a, name_a in enumerate(names):
        for b, name_b in enumerate(names):
            cells: list[Cell] = [finite(table[a][b]) for table in lists]
            if beats is None:
                cells[1:3] = cells[4:6] = (None, None)
            low, high = pairs.skill_low[a, b], pairs.skill_high[a, b]
            separable = None if beats is None or a == b else bool(low > none or high < none)
            chance = None if beats is None or a == b else float(beats[a, b])
            rows.append((name_a, name_b, *cells, chance, separable))
    return Table(
        name=f"pairwise/{spec.name}",
        title=f"{spec.title or spec.name}, pair by pair",
        columns=_columns(stem, title),
        rows=tuple(rows),
        notes=tuple(notes),
        meta=dict(meta),
    )


def pairwise_notes(n_shown: int, n_entrants: int) -> tuple[str, ...]:
    """Say when not every entrant is compared: the square of all pairs is larger than anyone reads."""
    return (f"The {n_shown} best of {n_entrants} entrants are compared.",) if n_shown < n_entrants else ()


def _columns(stem: str, title: str) -> tuple[Column, ...]:
    measured = [
        column
        for name, heading in (("win_rate", "Win rate of A"), (stem, f"{title} of A over B"))
        for column in (
            Column(name, heading, direction="maximize", interval=(f"{name}_lower", f"{name}_upper"),
                   glossary=name, digits=3),
            Column(f"{name}_lower", f"{heading}, low", detail=True, glossary=name, digits=3),
            Column(f"{name}_upper", f"{heading}, high", detail=True, glossary=name, digits=3),
        )
    ]  # fmt: skip
    return (
        Column("entrant_a", "A", "text"),
        Column("entrant_b", "B", "text"),
        *measured,
        Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2),
        Column("separable", "Separable", "flag", glossary="separable"),
    )
