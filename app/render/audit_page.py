"""The record of who did what, as a table and as a page of it. Called by `app.web.audit`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.render.base_page import Page
from app.render.columns import ShownColumn, shown_columns
from app.store.audit import Listed
from app.values.table import Cell, Column, Table

COLUMNS = (
    Column("id", "No.", "integer"),
    Column("at", "At", "time"),
    Column("action", "Action", "text"),
    Column("subject", "Of", "text"),
    Column("benchmark", "Benchmark", "text"),
    Column("token", "Token", "integer"),
    Column("name", "Name", "text"),
    Column("session", "Session", "integer"),
    Column("address", "From", "text"),
    Column("status", "Status", "integer"),
    Column("refusal", "Refused because", "text"),
    Column("before", "Before", "text"),
    Column("after", "After", "text"),
    Column("reason", "Reason", "text"),
)


@dataclass(frozen=True, kw_only=True)
class AuditPage(Page):
    """One page of the record: its `table`, what was `asked`, and where the CSV, the JSON and the `older` events are.

    `seal` is the newest seal of the record, None before the first.
    """

    template = "audit.html"
    table: Table
    asked: Mapping[str, str]
    csv: str
    json: str
    older: str | None
    seal: Mapping[str, Any] | None

    @property
    def columns(self) -> Sequence[ShownColumn]:
        """Return the columns that are shown."""
        return shown_columns(self.table, detail=False)

    @property
    def caption(self) -> str:
        """Return how many events there are on this page."""
        return f"{len(self.table.rows):,} event{'' if len(self.table.rows) == 1 else 's'}"


def audit_table(listed: Sequence[Listed], *, with_addresses: bool) -> Table:
    """Return the events as a table; addresses are for admins alone."""
    notes = () if with_addresses else ("Addresses are shown to admins alone.",)
    return Table("audit", "Audit", COLUMNS, tuple(_row(each, with_addresses) for each in listed), notes)


def _row(listed: Listed, with_addresses: bool) -> tuple[Cell, ...]:
    event = listed.event
    return (
        event.id,
        event.at.isoformat(),
        event.action,
        event.subject,
        event.benchmark,
        event.token_id,
        listed.holder,
        event.session_id,
        event.address if with_addresses else None,
        event.status,
        event.refusal,
        _written(event.before),
        _written(event.after),
        event.reason,
    )


def _written(values: Mapping[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False, sort_keys=True)
