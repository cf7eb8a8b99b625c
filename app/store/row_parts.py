"""Every row of the current submissions in a snapshot, some entrants at a time, so that no more than that is in memory.

Called by `app.web.exports` and `app.store.tables`. Each part of an export is read in a session of its own: a reader who
is slow holds no connection, and rows are never rewritten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Entry, SnapshotEntry, Submission
from app.db.replica import Source
from app.errors import NotFound
from app.kinds.known import kind_of
from app.store.benchmarks import Declared
from app.store.evidence import Pair
from app.store.rows import TasksOf, read_each
from app.values.scores import ScoreTable

PART_ROWS = 200_000


@dataclass(frozen=True)
class CountedRows:
    """The rows of a snapshot: their value columns, and their entrants in parts."""

    columns: tuple[str, ...]
    parts: Sequence[TasksOf]


def find_counted(session: Session, declared: Declared, snapshot_id: int, part_rows: int = PART_ROWS) -> CountedRows:
    """Return what a snapshot counts, in parts of about so many rows.

    Raises NotFound where rows are kept otherwise: predictions are not published, and a series has its own file.
    """
    form = kind_of(declared.manifest).rows.form
    slug = declared.benchmark.slug
    if form == "packed":
        raise NotFound(f"{slug} is scored against labels, and the single predictions are nobody else's.")
    if form == "records":
        raise NotFound(f"The rows of {slug} are at /benchmarks/{slug}/raw/metrics.csv.")
    known = [*declared.manifest.metrics, *kind_of(declared.manifest).rows.beside]
    sent = _columns(session, snapshot_id)
    return CountedRows(tuple(name for name in known if name in sent), parts_of(session, snapshot_id, part_rows))


def read_counted(source: Source, counted: CountedRows) -> Iterator[ScoreTable]:
    """Yield the rows, by entrant and task."""
    for tasks_of in counted.parts:
        yield source.read(partial(_read_part, columns=counted.columns, tasks_of=tasks_of))


def _read_part(session: Session, columns: tuple[str, ...], tasks_of: TasksOf) -> ScoreTable:
    return read_each(session, {None: (list(tasks_of), columns)}, tasks_of=tasks_of)[None]


def _columns(session: Session, snapshot_id: int) -> set[str]:
    own = select(SnapshotEntry.submission_id).where(SnapshotEntry.snapshot_id == snapshot_id)
    return {
        name for names in session.scalars(select(Submission.columns).where(Submission.id.in_(own))) for name in names
    }


def parts_of(
    session: Session, snapshot_id: int, part_rows: int = PART_ROWS, *, entrant: int | None = None
) -> Sequence[TasksOf]:
    """Return what a snapshot counts, of one entrant or of all, in parts of about so many rows.

    All that an entrant brought stays together, so that its rows are in the order of its tasks.
    """
    parts: list[dict[Pair, Sequence[int] | None]] = []
    room, last = 0, None
    for pair, tasks, n_rows in _stood(session, snapshot_id, entrant):
        if room <= 0 and pair[1] != last:
            parts.append({})
            room = part_rows
        parts[-1][pair] = tasks
        room, last = room - n_rows, pair[1]
    return parts


def _stood(
    session: Session, snapshot_id: int, entrant: int | None
) -> Sequence[tuple[Pair, tuple[int, ...] | None, int]]:
    """Return each (submission, entrant) of a snapshot, the tasks that it counts for and its rows, by entrant."""
    is_own = and_(SnapshotEntry.submission_id == Entry.submission_id, SnapshotEntry.entrant_id == Entry.entrant_id)
    query = (
        select(SnapshotEntry.submission_id, SnapshotEntry.entrant_id, SnapshotEntry.task_ids, Entry.n_rows)
        .join(Entry, is_own)
        .join(Entrant, Entrant.id == SnapshotEntry.entrant_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Entrant.name, SnapshotEntry.submission_id)
    )
    if entrant is not None:
        query = query.where(SnapshotEntry.entrant_id == entrant)
    return [
        ((submission, number), None if tasks is None else tuple(tasks), n_rows)
        for submission, number, tasks, n_rows in session.execute(query)
    ]
