"""Every row of the current submissions in a snapshot, some entrants at a time, so that no more than that is in memory.

Called by `app.web.exports` and `app.store.tables`. Each part of an export is read in a session of its own: a reader who
is slow holds no connection, and rows are never rewritten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from app.db.engine import SessionFactory, read_for_export
from app.db.models import Entry, SnapshotEntry, Submission
from app.errors import NotFound
from app.kinds.known import kind_of
from app.store import snapshots
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


def read_counted(sessions: SessionFactory, counted: CountedRows) -> Iterator[ScoreTable]:
    """Yield the rows, by entrant and task."""
    for tasks_of in counted.parts:
        yield read_for_export(sessions, partial(_read_part, columns=counted.columns, tasks_of=tasks_of))


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
    is_own = and_(SnapshotEntry.submission_id == Entry.submission_id, SnapshotEntry.entrant_id == Entry.entrant_id)
    query = select(Entry.submission_id, Entry.entrant_id, Entry.n_rows).join(SnapshotEntry, is_own)
    counted = session.execute(query.where(SnapshotEntry.snapshot_id == snapshot_id))
    sizes = {(number, whose): n_rows for number, whose, n_rows in counted}
    parts: list[dict[Pair, Sequence[int] | None]] = []
    room, last = 0, None
    for stood in snapshots.load_pieces(session, snapshot_id, entrant):
        if room <= 0 and stood.entrant != last:
            parts.append({})
            room = part_rows
        parts[-1][stood.piece.pair] = stood.piece.task_ids
        room, last = room - sizes[stood.piece.pair], stood.entrant
    return parts
