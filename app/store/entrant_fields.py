"""What entrants are said to be: written all or nothing, every change kept with who and when, read as of a moment.

A page that shows no numbered snapshot has the newest values. One of a numbered snapshot has those that held when that
was published, or those up to the change that its address names: what was cited keeps its bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, insert, select, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, aliased

from app.boards.entrant_fields import Values, read_value
from app.db.models import Benchmark, Entrant, Snapshot, SnapshotEntry, StoredEntrantField, Submission, Token
from app.errors import Conflict, NotFound
from app.manifest.model import EntrantField
from app.names import clip_for_message, first_few
from app.store import benchmark_rows
from app.store.sql import one_of
from app.values.table import Cell, Column, Table

MOST_HISTORY = 500


@dataclass(frozen=True)
class AsOf:
    """Up to which change values count: all of them, those up to a number, or those before a publication."""

    change: int | None = None
    snapshot: Snapshot | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        """Return the condition on a change."""
        if self.change is not None:
            return StoredEntrantField.id <= self.change
        # Who writes a value holds the benchmark's row, which a publication changes too before it is committed: no value
        # of an earlier time is committed after it.
        return true() if self.snapshot is None else StoredEntrantField.at <= self.snapshot.published_at


NOW = AsOf()


def as_of(session: Session, benchmark: Benchmark, snapshot: Snapshot | None, change: int | None) -> AsOf:
    """Return up to where an address asks for values. Raises NotFound for a change that there is not yet.

    What an address says of a change to come would not be the same for ever.
    """
    if change is not None and change > (last := last_change(session, benchmark.id)):
        raise NotFound(f"There is no change {change} of what entrants of {benchmark.slug} are; the last is {last}.")
    return AsOf(change, snapshot)


def write(
    session: Session,
    benchmark: Benchmark,
    changes: Values,
    source: str,
    by_id: int,
    seen: int | None = None,
) -> tuple[dict[str, dict[str, Cell]], dict[str, dict[str, Cell]]]:
    """Store the values of entrants that are new; return those, and all before, by entrant and field.

    None takes a value back.

    With `seen`, the number of the last change that its writer has read, what somebody else changed since is refused:
    raises Conflict with who, when and what. Without it both are kept, and the later one holds.
    """
    benchmark_rows.lock_benchmark(session, benchmark.id)
    entrants = session.execute(
        select(Entrant.name, Entrant.id).where(Entrant.benchmark_id == benchmark.id, one_of(Entrant.name, changes))
    )
    numbers = dict(entrants.all())
    if seen is not None:
        _refuse_changed(session, benchmark.id, changes, seen)
    before = stated(session, benchmark.id)
    new = {
        name: changed
        for name, values in changes.items()
        if (changed := {f: value for f, value in values.items() if not _is_same(before.get(name, {}).get(f), value)})
    }
    rows = [
        {"entrant_id": numbers[name], "field": field, "value": value, "source": source, "by_id": by_id}
        for name, values in new.items()
        for field, value in values.items()
    ]
    if rows:
        session.execute(insert(StoredEntrantField), rows)
        # Pages of boards have these values as columns.
        benchmark_rows.mark_boards_changed(session, benchmark.id)
    return new, before


def _is_same(stored: Cell, value: Cell) -> bool:
    return stored == value and isinstance(stored, bool) is isinstance(value, bool)


def _refuse_changed(session: Session, benchmark_id: int, changes: Values, seen: int) -> None:
    query = (
        select(Entrant.name, StoredEntrantField, Token.name)
        .join(Entrant, Entrant.id == StoredEntrantField.entrant_id)
        .join(Token, Token.id == StoredEntrantField.by_id)
        .where(Entrant.benchmark_id == benchmark_id, StoredEntrantField.id > seen)
        .order_by(StoredEntrantField.id.desc())
    )
    later = [
        f"{name}, {change.field}: {_shown(change.value)} by {by}, {change.at:%Y-%m-%d %H:%M} UTC"
        for name, change, by in session.execute(query)
        if change.field in changes.get(name, {}) and not _is_same(change.value, changes[name][change.field])
    ]
    if later:
        said = first_few(later, 5, between="; ")
        raise Conflict(f"Changed since you read it: {said}. Read it again, and send what shall hold.",
                       recorded="Changed by somebody else since it was read.")  # fmt: skip


def _shown(value: Any) -> str:
    return "taken back" if value is None else clip_for_message(str(value))


def stated(session: Session, benchmark_id: int, at: AsOf = NOW) -> dict[str, dict[str, Cell]]:
    """Return what somebody wrote of each entrant of a benchmark, by its name and the field."""
    newest = (
        select(Entrant.name, StoredEntrantField.field, StoredEntrantField.value)
        .join(Entrant, Entrant.id == StoredEntrantField.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, at.condition)
        .ext(distinct_on(StoredEntrantField.entrant_id, StoredEntrantField.field))
        .order_by(StoredEntrantField.entrant_id, StoredEntrantField.field, StoredEntrantField.id.desc())
    )
    values: dict[str, dict[str, Cell]] = {}
    for name, field, value in session.execute(newest):
        if value is not None:
            values.setdefault(name, {})[field] = value
    return values


def values_of(
    session: Session, benchmark: Benchmark, fields: Sequence[EntrantField], snapshot: Snapshot | None, at: AsOf = NOW
) -> dict[str, dict[str, Cell]]:
    """Return the values of entrants: what somebody wrote of them, else what the submission of one alone stated of it.

    Of the submissions of a snapshot; of one of several entrants nothing is taken, which is of none of them. What is no
    value of the field as it is declared now is left out.
    """
    declared = {field.name: field for field in fields}
    if not declared:
        return {}
    values: dict[str, dict[str, Cell]] = {}
    for name, description in _described(session, snapshot):
        values.setdefault(name, {}).update(_readable(declared, description))
    for name, own in stated(session, benchmark.id, at).items():
        values.setdefault(name, {}).update(_readable(declared, own))
    return values


def _described(session: Session, snapshot: Snapshot | None) -> Sequence[Any]:
    if snapshot is None:
        return ()
    other = aliased(SnapshotEntry)
    is_of_several = select(other.entrant_id).where(
        and_(
            other.snapshot_id == SnapshotEntry.snapshot_id,
            other.submission_id == SnapshotEntry.submission_id,
            other.entrant_id != SnapshotEntry.entrant_id,
        )
    )
    query = (
        select(Entrant.name, Submission.description)
        .join(SnapshotEntry, SnapshotEntry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == SnapshotEntry.submission_id)
        .where(SnapshotEntry.snapshot_id == snapshot.id, ~is_of_several.exists())
        .order_by(Submission.id)
    )
    return session.execute(query).all()


def _readable(declared: Mapping[str, EntrantField], given: Mapping[str, Any]) -> dict[str, Cell]:
    values: dict[str, Cell] = {}
    for name in given.keys() & declared.keys():
        try:
            value = read_value(declared[name], given[name])
        except ValueError:
            continue
        values |= {} if value is None else {name: value}
    return values


def last_change(session: Session, benchmark_id: int) -> int:
    """Return the number of the last change in a benchmark; 0 before the first."""
    query = select(func.max(StoredEntrantField.id)).join(Entrant, Entrant.id == StoredEntrantField.entrant_id)
    return session.scalar(query.where(Entrant.benchmark_id == benchmark_id)) or 0


def history_table(session: Session, entrant: Entrant, fields: Sequence[EntrantField]) -> Table:
    """Return every change of what an entrant is said to be, the newest first."""
    titles = {field.name: field.label for field in fields}
    changes = (
        select(StoredEntrantField, Token.name)
        .join(Token, Token.id == StoredEntrantField.by_id)
        .where(StoredEntrantField.entrant_id == entrant.id)
        .order_by(StoredEntrantField.id.desc())
        .limit(MOST_HISTORY)
    )
    columns = (
        Column("at", "When", "time"),
        Column("field", "Field", "text"),
        Column("value", "Value", "text"),
        Column("by", "By", "text"),
        Column("source", "From", "text"),
    )
    rows = tuple(
        (change.at.isoformat(), titles.get(change.field, change.field), _in_cell(change.value), by,
         SOURCES[change.source])
        for change, by in session.execute(changes)
    )  # fmt: skip
    return Table("fields", "Changes", columns, rows)


SOURCES = {"file": "a file of entrants", "value": "one by one", "card": "its model card"}


def _in_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "taken back" if value is None else str(value)
