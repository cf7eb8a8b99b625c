"""How large a benchmark may become: its boards compare every two entrants, on every task that any of them has. Only
admitted evidence counts: other names and tasks are on no board, and would let anybody exhaust a benchmark's limits.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Entry, Score, StoredTask
from app.errors import Conflict
from app.store.sql import one_of


@dataclass(frozen=True)
class Sizes:
    """Most entrants of a benchmark, of one submitter in it, and most cells: its entrants times its tasks."""

    entrants: int = 5_000
    entrants_of_submitter: int = 2_500
    cells: int = 20_000_000


@dataclass(frozen=True)
class _Counts:
    entrants: int
    own: int
    tasks: int


def refuse_larger(
    session: Session, benchmark_id: int, submitter_id: int, names: Collection[str], tasks: Collection[str], most: Sizes
) -> None:
    """Raise Conflict where a submission with these entrants and tasks would make a benchmark larger than it may be."""
    known = _count(session, benchmark_id, submitter_id)
    bound = _Counts(known.entrants + len(names), known.own + len(names), known.tasks + len(tasks))
    if _is_within(bound, most):
        return
    # Existing names and tasks are looked up only where they matter.
    n_new = len(names) - _count_known(session, benchmark_id, names)
    after = _Counts(known.entrants + n_new, known.own + n_new, _count_tasks(session, benchmark_id, tasks))
    if not _is_within(after, most):
        raise Conflict(_reason(after, n_new, most))


def _is_within(counts: _Counts, most: Sizes) -> bool:
    return (
        counts.entrants <= most.entrants
        and counts.own <= most.entrants_of_submitter
        and counts.entrants * counts.tasks <= most.cells
    )


def _reason(after: _Counts, n_new: int, most: Sizes) -> str:
    if after.entrants > most.entrants:
        return (f"With the {n_new:,} new entrants of this submission the benchmark would have {after.entrants:,}; "
                f"this server compares at most {most.entrants:,}.")  # fmt: skip
    if after.own > most.entrants_of_submitter:
        return (f"With the {n_new:,} new entrants of this submission {after.own:,} in this benchmark would be yours; "
                f"at most {most.entrants_of_submitter:,} may be.")  # fmt: skip
    return (f"With this submission the benchmark would have {after.entrants:,} entrants and {after.tasks:,} tasks; "
            f"entrants times tasks may be at most {most.cells:,} on this server.")  # fmt: skip


def _count(session: Session, benchmark_id: int, submitter_id: int) -> _Counts:
    of_entrants = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id.is_not(None))
    of_submitter = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id == submitter_id)
    counts = (
        select(func.count()).select_from(Entrant).where(*of_entrants).scalar_subquery(),
        select(func.count()).select_from(Entrant).where(*of_submitter).scalar_subquery(),
        select(func.count()).select_from(StoredTask).where(StoredTask.benchmark_id == benchmark_id).scalar_subquery(),
    )
    return _Counts(*session.execute(select(*counts)).one())


def _count_known(session: Session, benchmark_id: int, names: Collection[str]) -> int:
    """Return how many of the entrants were admitted before."""
    known = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id.is_not(None), one_of(Entrant.name, names))
    return session.scalars(select(func.count()).select_from(Entrant).where(*known)).one()


def _count_tasks(session: Session, benchmark_id: int, names: Collection[str]) -> int:
    """Return how many tasks the evidence that counts, or soon will, has together with these."""
    counts = (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id)
    numbers = select(Score.task_id).join(Entry, counts).join(Entrant, Entrant.id == Entry.entrant_id)
    shown = numbers.where(Entrant.benchmark_id == benchmark_id, Entry.state.in_(("pending", "current")))
    query = select(StoredTask.name).where(StoredTask.benchmark_id == benchmark_id, StoredTask.id.in_(shown))
    return len(set(session.scalars(query)) | set(names))
