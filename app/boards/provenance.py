"""What every board says of where its rows come from: which attempt they are, and how often their owner tried.

Called by `app.jobs.publish` when the tables are made, so that no ranking method needs to know of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.boards.tables import sentences
from app.values.frame import Field, Frame
from app.values.table import Cell, Column, Table


@dataclass(frozen=True)
class Provenance:
    """What is known of an entrant beside its rows; counts are of one benchmark, whatever came of what they count.

    `attempt` numbers its submissions, `attempt_of_prereg` those under the registration that its newest one cites. The
    owner's registrations, entrants and submissions are as of the publication. `flags` are what its evidence raised.
    """

    attempt: int
    attempt_of_prereg: int | None
    owner: str | None
    n_registrations: int
    n_entrants: int
    n_submissions: int
    flags: tuple[str, ...] = ()


FRAME: Frame[Provenance] = Frame(
    [
        Field(Column("attempt", "Attempt", "integer", glossary="attempts"), lambda known: known.attempt),
        Field(
            Column("attempt_of_prereg", "Attempt under its registration", "integer", detail=True, glossary="attempts"),
            lambda known: known.attempt_of_prereg,
        ),
        Field(Column("owner", "Owner", "text", detail=True, glossary="attempts"), lambda known: known.owner),
        Field(
            Column("owner_registrations", "Owner's registrations", "integer", detail=True, glossary="attempts"),
            lambda known: known.n_registrations,
        ),
        Field(
            Column("owner_entrants", "Owner's entrants", "integer", detail=True, glossary="attempts"),
            lambda known: known.n_entrants,
        ),
        Field(
            Column("owner_submissions", "Owner's submissions", "integer", glossary="attempts"),
            lambda known: known.n_submissions,
        ),
        Field(
            Column("flags", "Flags", "text", optional=True, glossary="flags"),
            lambda known: " ".join(known.flags) or None,
        ),
    ]
)
"""The columns that stand behind a board's own."""
MOST_NAMED = 5


def with_provenance(table: Table, known: Mapping[str, Provenance]) -> Table:
    """Return a board with the columns of FRAME behind its own; another table, and a board without rows, as it is.

    What is not known of an entrant is None.

    >>> board = Table("leaderboard/main", "Main", (Column("entrant", "Entrant", "text"),), (("A",), ("B",)))
    >>> with_provenance(board, {"A": Provenance(2, 1, "alice", 1, 1, 2)}).rows[0][:4]
    ('A', 2, 1, 'alice')
    """
    if not table.name.startswith("leaderboard/") or "entrant" not in table.column_names():
        return table
    at = table.index("entrant")
    nothing: tuple[Cell, ...] = (None,) * len(FRAME.fields)
    of_each = [known.get(str(row[at])) for row in table.rows]
    cells = [nothing if one is None else FRAME.cells(one) for one in of_each]
    return replace(
        table,
        columns=(*table.columns, *FRAME.columns),
        rows=tuple((*row, *more) for row, more in zip(table.rows, cells, strict=True)),
        notes=(*table.notes, *_notes([one for one in of_each if one is not None])),
    )


def _notes(known: Sequence[Provenance]) -> tuple[str, ...]:
    """Say which owners' rows are the best of several."""
    several = {one.owner: one for one in known if max(one.n_submissions, one.n_registrations) > one.n_entrants}
    most = sorted(several.values(), key=lambda one: (-one.n_submissions, one.owner or ""))[:MOST_NAMED]
    if not most:
        return ()
    tried = [f"{one.owner}: {_counted(one)}" for one in most]
    return (f"Read a row as the best of what its owner tried here: {sentences(tried)}.",)


def _counted(one: Provenance) -> str:
    counts = (
        (one.n_registrations, "registration"), (one.n_entrants, "entrant"), (one.n_submissions, "submission")
    )  # fmt: skip
    return ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
