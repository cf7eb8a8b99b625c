"""Who on a board shares a letter: entrants that its pairwise comparisons do not separate.

Called by `app.web.pictures` with a snapshot's tables; pure.
"""

from collections.abc import Mapping

import numpy as np

from app.stats.letters import letter_groups
from app.values.table import Cell, Column, Table

MOST = 60
"""At most this many entrants, the best-ranked, get letters; more would not be readable."""
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
READ = "Entrants that share a letter are not separable, all pairs tested simultaneously; those that share none are."
TOO_MANY = "The comparisons make more groups than there are letters: see the table pair by pair."
NOBODY = "Nobody is ranked and compared pair by pair yet."


def letters_table(board: Table, pairwise: Table | None) -> Table:
    """Return the ranked entrants of a board, best first; two that are not separable share a letter.

    The score is the column that ranks, in its unit and with its interval; letters are null where there would be too
    many groups. Raises nothing: without ranks or pairs the table is empty and says why.

    >>> columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("s", "Score"))
    >>> board = Table("leaderboard/b", "B", columns, ((1, "A", 2.0), (2, "B", 1.0)), (), {"rank_by": "s"})
    >>> pair = (Column("entrant_a", "A"), Column("entrant_b", "B"), Column("separable", "Separable"))
    >>> rows = (("A", "B", True), ("B", "A", True))
    >>> [row[-1] for row in letters_table(board, Table("pairwise/b", "B", pair, rows)).rows]
    ['a', 'b']
    """
    name = board.name.partition("/")[2]
    title = f"{board.title}: who cannot be told apart"
    ranked, score = _ranked(board), _score(board)
    compared = {} if pairwise is None else _separable(pairwise)
    rows = [record for record in ranked if any((record["entrant"], other["entrant"]) in compared for other in ranked)]
    if score is None or len(rows) < 2:
        return Table(f"letters/{name}", title, (), (), (NOBODY,), {"unavailable": NOBODY})
    rows = rows[:MOST]
    letters = _letters([str(row["entrant"]) for row in rows], compared)
    low, high = score.interval or ("", "")
    cells: list[tuple[Cell, ...]] = [
        (
            row["rank"],
            row["entrant"],
            row[score.name],
            row.get(low),
            row.get(high),
            None if letters is None else letters[at],
        )
        for at, row in enumerate(rows)
    ]
    notes = [READ if letters is not None else TOO_MANY]
    notes += [f"The best {MOST} of {len(ranked):,} ranked."] if len(ranked) > MOST else []
    plot = {"kind": "ranks", "label": "entrant", "x": "score", "low": "score_low", "high": "score_high",
            "groups": "letters"}  # fmt: skip
    return Table(f"letters/{name}", title, _columns(score), tuple(cells), tuple(notes), {"plot": plot})


def _columns(score: Column) -> tuple[Column, ...]:
    ends = (f"{score.title}, {end}" for end in ("low", "high"))
    return (
        Column("rank", "Rank", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("score", score.title, unit=score.unit, direction=score.direction, interval=("score_low", "score_high"),
               glossary=score.glossary, digits=score.digits),
        *(Column(f"score_{end}", title, detail=True, digits=score.digits)
          for end, title in zip(("low", "high"), ends, strict=True)),
        Column("letters", "Letters", "text", glossary="letters"),
    )  # fmt: skip


def _ranked(board: Table) -> list[dict[str, Cell]]:
    if not {"rank", "entrant"} <= set(board.column_names()):
        return []
    known = [record for record in board.records() if isinstance(record["rank"], int)]
    return sorted(known, key=lambda record: (int(record["rank"] or 0), str(record["entrant"])))


def _score(board: Table) -> Column | None:
    named = [column for column in board.columns if column.name == board.meta.get("rank_by")]
    scored = [column for column in board.columns if column.kind == "number" and column.interval is not None]
    return next(iter([*named, *scored]), None)


def _separable(pairwise: Table) -> Mapping[tuple[Cell, Cell], bool]:
    if not {"entrant_a", "entrant_b", "separable"} <= set(pairwise.column_names()):
        return {}
    a, b, known = (pairwise.index(name) for name in ("entrant_a", "entrant_b", "separable"))
    return {(row[a], row[b]): row[known] is True for row in pairwise.rows if row[known] is not None}


def _letters(names: list[str], compared: Mapping[tuple[Cell, Cell], bool]) -> list[str] | None:
    apart = np.array([[compared.get((a, b), False) for b in names] for a in names], dtype=np.bool_)
    groups = letter_groups(apart)
    if groups is None or len(groups) > len(ALPHABET):
        return None
    return ["".join(ALPHABET[g] for g, group in enumerate(groups) if at in group) for at in range(len(names))]
