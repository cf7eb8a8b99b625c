"""What faults of the server cost, for the health page, /metrics and its alerts. Called by `app.jobs`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, ServerFault
from app.db.models.server_faults import FAULTS, OF_BOARDS


@dataclass(frozen=True)
class Fault:
    """A fault by its short number, what it cost (`app.db.models.server_faults`), where and whom; `error` is not public.

    `place` is the name of a board or table.
    """

    number: str
    what: str
    error: str
    place: str | None = None
    submission_id: int | None = None


def keep_faults(session: Session, benchmark_id: int, faults: Iterable[Fault]) -> None:
    """Record faults of a benchmark."""
    rows = [{"benchmark_id": benchmark_id, **vars(fault)} for fault in faults]
    if rows:
        session.execute(insert(ServerFault), rows)


def forget_board_faults(session: Session, benchmark_id: int, *whats: str) -> None:
    """Remove what held until the boards were published anew, or only some of it."""
    here = ServerFault.benchmark_id == benchmark_id
    session.execute(delete(ServerFault).where(here, ServerFault.what.in_(whats or OF_BOARDS)))


def count_faults(session: Session) -> dict[str, int]:
    """Return how many things each kind of fault costs now, of the benchmarks that the reader may see."""
    query = select(ServerFault.what, func.count()).join(Benchmark, Benchmark.id == ServerFault.benchmark_id)
    counted = dict(session.execute(query.group_by(ServerFault.what)).all())
    return {what: counted.get(what, 0) for what in FAULTS}


def list_faults(session: Session, most: int) -> Sequence[tuple[str, ServerFault]]:
    """Return the newest faults that the reader may see, each with the slug of its benchmark."""
    query = select(Benchmark.slug, ServerFault).join(ServerFault, Benchmark.id == ServerFault.benchmark_id)
    return [(slug, fault) for slug, fault in session.execute(query.order_by(ServerFault.id.desc()).limit(most))]
