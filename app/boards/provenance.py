"""Where the rows of a board come from: the number of the attempt, and how often their owner tried."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.boards.opponents import WITHOUT_OWNER, owner_note
from app.boards.registry import Method, methods
from app.boards.statement import with_statement
from app.names import count
from app.values.facts import EXACT_BEST, FAR_BEYOND, LEAK_SERVES
from app.values.frame import Frame, FrameField
from app.values.table import Cell, Column, Table


@dataclass(frozen=True)
class Provenance:
    """What is known of an entrant beside its rows; counts are within one benchmark, whatever the outcome.

    `attempt` numbers its submissions, `attempt_of_prereg` those under the registration that its newest one cites. The
    owner's registrations, entrants and submissions are counted at publication. `flags` are those of its evidence.
    """

    attempt: int
    attempt_of_prereg: int | None
    owner: int | None
    n_registrations: int
    n_entrants: int
    n_submissions: int
    flags: tuple[str, ...] = ()


FRAME: Frame[Provenance] = Frame(
    [
        FrameField(Column("attempt", "Attempt", "integer", glossary="attempts"), lambda known: known.attempt),
        FrameField(
            Column("attempt_of_prereg", "Attempt under its registration", "integer", detail=True, glossary="attempts"),
            lambda known: known.attempt_of_prereg,
        ),
        FrameField(
            Column("owner", "Owner", "text", detail=True, glossary="attempts"),
            lambda known: None if known.owner is None else str(known.owner),
        ),
        FrameField(
            Column("owner_registrations", "Owner's registrations", "integer", detail=True, glossary="attempts"),
            lambda known: known.n_registrations,
        ),
        FrameField(
            Column("owner_entrants", "Owner's entrants", "integer", detail=True, glossary="attempts"),
            lambda known: known.n_entrants,
        ),
        FrameField(
            Column("owner_submissions", "Owner's submissions", "integer", glossary="attempts"),
            lambda known: known.n_submissions,
        ),
        FrameField(
            Column("flags", "Flags", "text", optional=True, glossary="flags"),
            lambda known: " ".join(known.flags) or None,
        ),
    ]
)
"""The columns appended to a board's own."""
NOTHING = Provenance(0, None, None, 0, 0, 0)
WITHOUT: tuple[Cell, ...] = (None,) * len(FRAME.fields)
"""The cells of an entrant without provenance."""
MOST_NAMED = 5
MANY_ENTRANTS = 5
"""The best of five equal entrants looks 1.2 standard errors too good, the expected maximum of five normal numbers."""
MANY_TESTED, SHARE_TESTED, MANY_OF_EACH = 3, 3, 10
"""From so many entrants of one owner, or of each of several, if they are a third of all: what they cost is told."""
SERVED_BY_LEAKS = "served_by_leaks"
"""The key of a board's meta that names entrants who would rank lower without their declared leakage."""
NO_ENDS: Mapping[str, float] = {}
COMPARED = "n_compared"
"""The key of a board's meta that counts who is compared, where scores depend on it."""
OWNER = "owner"
COUNTED = ("owner_registrations", "owner_entrants", "owner_submissions")


COPIED = frozenset({"same_rows", "near_rows", "same_results"})


def with_provenance(table: Table, known: Mapping[str, Provenance], best: Mapping[str, float] = NO_ENDS) -> Table:
    """Return a board with the columns of FRAME appended; other tables, and a board without rows, are unchanged.

    Unknown cells are None. The owner is stored as the number of a token: a published table is permanent but a name can
    be erased, so `with_owners` inserts names when it is read. `best` holds the best possible value of metrics, by name:
    an entrant whose score equals it gets the flag `exact_best`, one named in the meta under SERVED_BY_LEAKS
    `leak_serves`, one named there under FAR_BEYOND that one.

    >>> board = Table("leaderboard/main", "Main", (Column("entrant", "Entrant", "text"),), (("A",), ("B",)))
    >>> with_provenance(board, {"A": Provenance(2, 1, 7, 1, 1, 2)}).rows[0][:4]
    ('A', 2, 1, '7')
    """
    if not table.name.startswith("leaderboard/") or "entrant" not in table.column_names():
        return table
    at = table.index("entrant")
    seen = {
        EXACT_BEST: _exactly_best(table, best), FAR_BEYOND: _far_beyond(table), LEAK_SERVES: _served_by_leaks(table),
    }  # fmt: skip
    of_each = [
        _flagged(known.get(str(row[at])), [flag for flag, rows in seen.items() if rows[place]])
        for place, row in enumerate(table.rows)
    ]
    cells = list(zip(*FRAME.columnwise([NOTHING if one is None else one for one in of_each]), strict=True))
    told = replace(
        table,
        columns=(*table.columns, *FRAME.columns),
        rows=tuple(
            (*row, *(WITHOUT if one is None else more))
            for row, one, more in zip(table.rows, of_each, cells, strict=True)
        ),
    )
    told = replace(told, notes=(*told.notes, *_of_many(told)))
    if not _is_of_opponents(told):
        return with_statement(told)
    compared = [row for row in told.rows if row[told.index("rank")] is not None]
    n_repeated = _n_repeated(told, compared)
    repeat = f"{'repeats' if n_repeated == 1 else 'repeat'} another one of them"
    notes = (*told.notes, *_of_copies(n_repeated, len(compared), f"{len(compared)} entrants that are compared", repeat))
    return with_statement(replace(told, notes=notes, meta={**told.meta, COMPARED: len(compared)}))


def with_flags_of(table: Table, published: Table) -> Table:
    """Return a board that a reader chose with the flags of who is on it, as the published board has them.

    What was noticed of evidence does not vanish by another choice of tasks. Whether leaks serve a rank is asked anew,
    and who is far beyond the others among those whom a reader chose is flagged too.

    >>> columns = (Column("entrant", "Entrant", "text"), Column("flags", "Flags", "text"))
    >>> published = Table("leaderboard/b", "B", columns, (("A", "same_rows leak_serves"), ("B", None)))
    >>> with_flags_of(Table("explore/b", "B", columns[:1], (("A",), ("B",))), published).rows
    (('A', 'same_rows'), ('B', None))
    """
    if not {"entrant", "flags"} <= set(published.column_names()) or "entrant" not in table.column_names():
        return table
    known = {row["entrant"]: str(row["flags"] or "").split() for row in published.records()}
    at, seen = table.index("entrant"), {FAR_BEYOND: _far_beyond(table), LEAK_SERVES: _served_by_leaks(table)}
    flags = []
    for place, row in enumerate(table.rows):
        stays = [flag for flag in known.get(row[at], ()) if flag != LEAK_SERVES]
        anew = [flag for flag, rows in seen.items() if rows[place]]
        flags.append(" ".join(dict.fromkeys([*stays, *anew])) or None)
    rows = tuple((*row, said) for row, said in zip(table.rows, flags, strict=True))
    columns = (*table.columns, published.columns[published.index("flags")])
    return with_statement(replace(table, columns=columns, rows=rows))


def _exactly_best(table: Table, best: Mapping[str, float]) -> list[bool]:
    """Say, for each row, whether its ranking score is exactly the best possible value."""
    rank_by, method = str(table.meta.get("rank_by")), _method(table)
    # A mean is the best possible value where every task is.
    ranked = str(table.meta.get("metric")) if method is not None and method.spec.is_mean else rank_by
    if ranked not in best or rank_by not in table.column_names():
        return [False] * len(table.rows)
    at, rank = table.index(rank_by), table.index("rank")
    return [row[at] == best[ranked] and row[rank] is not None for row in table.rows]


def _served_by_leaks(table: Table) -> list[bool]:
    named, at = table.meta.get(SERVED_BY_LEAKS, ()), table.index("entrant")
    return [isinstance(named, list) and row[at] in named for row in table.rows]


def _far_beyond(table: Table) -> list[bool]:
    named, at = {one["entrant"] for one in table.meta.get(FAR_BEYOND, ())}, table.index("entrant")
    return [row[at] in named for row in table.rows]


def _flagged(one: Provenance | None, more: Sequence[str]) -> Provenance | None:
    if one is None or not more:
        return one
    return replace(one, flags=(*one.flags, *(flag for flag in more if flag not in one.flags)))


def _of_many(table: Table) -> Iterator[str]:
    """Say where much of the caution of a board's tests is for the entrants of one owner among several, or of a few.

    Without a name, so that it can be stored: what was published before has the notes of its publication.
    """
    if "rank_low" not in table.column_names() or all(row[table.index("rank_low")] is None for row in table.rows):
        return
    owner, rank = table.index(OWNER), table.index("rank")
    n_of = Counter(row[owner] for row in table.rows if row[rank] is not None)
    n_ranked, each = n_of.total(), sorted((n for of, n in n_of.items() if of is not None), reverse=True)
    one, several = each[:1], [n for n in each if n >= MANY_OF_EACH]
    for many in (one, several):
        n_own = sum(many)
        if n_own >= MANY_TESTED and SHARE_TESTED * n_own >= n_ranked > n_own:
            of_whom = "have the same owner" if len(many) == 1 else f"are of {len(many)} owners with ten or more each"
            scored = ", and they are opponents in everybody's score" if _is_of_opponents(table) else ""
            yield (
                f"{n_own:,} of the {n_ranked:,} entrants with a rank {of_whom}. All pairs are tested at once, so these "
                f"make the tests of everybody more cautious{scored}; a reader's choice of the other entrants leaves "
                "them out."
            )
            return


def _moved(table: Table, names: Mapping[int, str]) -> Table:
    """Return a table whose meta names owners, of neighbours that one of them alone keeps in order, by their names."""
    moved = table.meta.get(WITHOUT_OWNER)
    if not moved:
        return table
    named = [{**one, "owner": names[int(one["owner"])]} for one in moved]
    return replace(table, notes=(*table.notes, owner_note(named)), meta={**table.meta, WITHOUT_OWNER: named})


def _of_copies(n_copies: int, n_compared: int, whom: str, what: str) -> Iterator[str]:
    """Say how far so many near copies among those who are compared can move the rest.

    Tokens are not people: someone with several can submit copies that beat one opponent and lose to another.
    """
    if n_copies:
        yield (
            f"{n_copies} of the {whom} {what}, or nearly. Scores here are about who is compared, so this can move the "
            f"difference of two others by up to {_most_moved(n_copies, n_compared - 1):.2f} of the range of a score."
        )


def _copies(table: Table, rows: Sequence[Sequence[Cell]]) -> list[Sequence[Cell]]:
    at = table.index("flags")
    return [row for row in rows if not COPIED.isdisjoint(str(row[at] or "").split())]


def _n_repeated(table: Table, rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many of some rows repeat another of them: of two that are each other's copy one does."""
    copies, entrant = _copies(table, rows), table.index("entrant")
    if "nearest" not in table.column_names():
        return len(copies)
    nearest, among = table.index("nearest"), {row[entrant] for row in rows}
    known = {frozenset((row[entrant], row[nearest])) for row in copies if row[nearest] in among}
    return len(known) + sum(row[nearest] is None for row in copies)


def _most_moved(n_own: int, n_opponents: int) -> float:
    return min(1.0, 2 * n_own / n_opponents)


def _is_of_opponents(table: Table) -> bool:
    """Say whether scores depend on who is compared: by the method, or where its board ranks by win rates."""
    method = _method(table)
    return table.meta.get("rank_by") == "win_rate" or (method is not None and method.spec.is_of_opponents)


def _method(table: Table) -> Method | None:
    return methods().get(str(table.meta.get("method")))


def owners_in(table: Table) -> set[int]:
    """Return the numbers of the tokens that a stored table names as owners; empty if it names none.

    >>> owners_in(Table("leaderboard/main", "Main", (Column("entrant", "Entrant", "text"), *FRAME.columns),
    ...                 (("A", 2, 1, "7", 1, 1, 2, None), ("B", 1, 1, None, 0, 0, 0, None))))
    {7}
    """
    if OWNER not in table.column_names() or not table.name.startswith("leaderboard/"):
        return set()
    at = table.index(OWNER)
    moved = {int(one["owner"]) for one in table.meta.get(WITHOUT_OWNER, ())}
    return moved | {int(str(row[at])) for row in table.rows if row[at] is not None}


def with_owners(table: Table, names: Mapping[int, str]) -> Table:
    """Return a stored table with its owners' current names, and the note on who tried often.

    >>> stored = Table("leaderboard/main", "Main", (Column("entrant", "Entrant", "text"), *FRAME.columns),
    ...                (("A", 2, 1, "7", 1, 1, 2, None),))
    >>> with_owners(stored, {7: "ann"}).rows[0][3], with_owners(stored, {7: "ann"}).notes
    ('ann', ('Read a row as the best of what its owner tried here: ann: 1 registration, 1 entrant, 2 submissions.',))
    """
    if not owners_in(table):
        return table
    at = table.index(OWNER)
    rows = tuple(
        row if row[at] is None else (*row[:at], names[int(str(row[at]))], *row[at + 1 :]) for row in table.rows
    )
    named = replace(table, rows=rows)
    notes = (*table.notes, *_notes(named))
    if _is_of_opponents(named) and COMPARED not in named.meta:
        # Of an earlier version: its data answer the bytes of their publication, so its words are not to be changed.
        n_copies = len(_copies(named, rows))
        have = f"{'has' if n_copies == 1 else 'have'} the rows of another one"
        notes = (*notes, *_of_copies(n_copies, len(rows), f"{len(rows)} entrants", have))
    return _moved(replace(named, notes=notes), names)


def _notes(table: Table) -> tuple[str, ...]:
    """Say which owners' rows are the best of several tries."""
    n_shown = Counter(str(row[table.index(OWNER)]) for row in table.rows)
    is_shared = len(set(n_shown) - {"None"}) > 1
    places = [table.index(name) for name in (OWNER, *COUNTED)]
    known = {tuple(row[place] for place in places) for row in table.rows}
    several = {(str(owner or None), int(n or 0), int(m or 0), int(k or 0)) for owner, n, m, k in known}
    most = (
        (-max(m, k), owner, (n, m, k))
        for owner, n, m, k in several
        if max(n, k) > m or min(m, k) > n_shown[owner] or (is_shared and m >= MANY_ENTRANTS)
    )
    tried = sorted(most)[:MOST_NAMED]
    if not tried:
        return ()
    counted = [f"{owner}: {_counted(counts)}" for _, owner, counts in tried]
    return (f"Read a row as the best of what its owner tried here: {'; '.join(counted)}.",)


def _counted(numbers: tuple[int, int, int]) -> str:
    counts = zip(numbers, ("registration", "entrant", "submission"), strict=True)
    return ", ".join(count(n, noun) for n, noun in counts)
