"""A table in the words of its field: what its manifest calls entrants and tasks (`nouns`). Keys of the data stay."""

from dataclasses import replace
from functools import partial

from app.manifest.model import Nouns
from app.values.table import Table

NAMES = frozenset({"entrant", "task", "entrant_a", "entrant_b"})


def in_nouns(table: Table, nouns: Nouns) -> Table:
    """Return a table whose title, titles of columns, notes and statement have the field's nouns.

    Names of its entrants and tasks stay as they are, and so do titles that are the name of a column: those of entrants
    side by side.
    Source: none; it replaces words.

    >>> from app.values.table import Column
    >>> who = Column("entrant", "Entrant", "text")
    >>> table = Table("t", "Entrants by tasks", (who,), (("Task A",),), ("Task A: 1 task.",))
    >>> shown = in_nouns(table, Nouns(entrant="model", task="data set"))
    >>> shown.title, shown.columns[0].name, shown.columns[0].title, shown.notes
    ('Models by data sets', 'entrant', 'Model', ('Task A: 1 data set.',))
    """
    if nouns == Nouns():
        return table
    at = [n for n, column in enumerate(table.columns) if column.name in NAMES]
    names = {str(row[n]) for row in table.rows for n in at} if len(table.rows) <= MOST_ROWS else set()
    say = partial(nouns.say, names=names)
    columns = tuple(
        column if column.title == column.name else replace(column, title=say(column.title)) for column in table.columns
    )
    meta = dict(table.meta)
    for name in ("statement", "caveats"):
        if name in meta:
            meta[name] = [say(sentence) for sentence in meta[name]]
    return replace(table, title=say(table.title), columns=columns, notes=tuple(map(say, table.notes)), meta=meta)


MOST_ROWS = 50_000
"""A table of all pairs has as many rows, and its notes name nobody that the board beside it does not."""
