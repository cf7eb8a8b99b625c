"""Registrations that name an entrant but were never reported. Called by `app.web.rows` for the page of an entrant."""

from collections.abc import Iterator
from contextlib import suppress

from sqlalchemy.orm import Session

from app.db.models import Entrant, Prereg
from app.errors import PreregRejected
from app.prereg.prereg import parse_prereg
from app.store.benchmarks import Declared
from app.store.registrations import Registered, list_registrations
from app.values.table import Column, Table

MOST_READ = 100
"""The newest silent registrations of a benchmark are looked through; the page of registrations has all of them."""
COLUMNS = (
    Column("prereg", "Preregistration", "text", glossary="prereg"),
    Column("registered_by", "Registered by", "text"),
    Column("registered_at", "Registered", "time"),
    Column("due_at", "Due", "time", glossary="registration_outcome"),
    Column("run_purpose", "Run purpose", "text", glossary="run_purpose"),
)


def unreported_table(session: Session, declared: Declared, entrant: Entrant) -> Table:
    """Return the registrations that name an entrant and under which nobody has submitted anything, the newest first.

    Whether one is overdue depends on the clock, and a page is kept: it shows when the report was due.
    """
    silent = [each for each in list_registrations(session, declared) if not each.submissions][:MOST_READ]
    rows = tuple(
        (
            each.prereg.sha256,
            each.registrant,
            each.prereg.registered_at.isoformat(),
            _due(each),
            each.prereg.run_purpose,
        )
        for each in silent
        if entrant.name in _entrants(each.prereg)
    )
    return Table("unreported", f"Registrations of {entrant.name} without a report", COLUMNS, rows)


def _due(registered: Registered) -> str | None:
    return None if registered.due_at is None else registered.due_at.isoformat()


def _entrants(prereg: Prereg) -> Iterator[str]:
    # What was registered could be read then; a later version of the program may read less.
    with suppress(PreregRejected):
        yield from parse_prereg(prereg.yaml).entrants or ()
