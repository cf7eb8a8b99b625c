"""What the holder of a token has sent: submissions, the newest first. Called by `app.web.mine`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Entrant, Entry, Submission
from app.store.web_processes import is_unshown, status_said

MOST = 200


@dataclass(frozen=True)
class OwnSubmission:
    """One submission of a token, with the entrants that it brought."""

    id: int
    benchmark: str
    status: str
    received_at: datetime
    n_rows: int
    entrants: Sequence[str]


def own_submissions(session: Session, token_id: int, benchmark: str | None) -> list[OwnSubmission]:
    """Return the newest submissions of a token, to all benchmarks or to one."""
    brought = (
        select(func.array_agg(aggregate_order_by(Entrant.name, Entrant.name)))
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(Entry.submission_id == Submission.id)
    )
    query = (
        select(Submission.id, Benchmark.slug, Submission.status, Submission.received_at, Submission.n_rows,
               brought.scalar_subquery(), is_unshown(Submission.id))
        .join(Benchmark, Benchmark.id == Submission.benchmark_id)
        .where(Submission.token_id == token_id)
        .order_by(Submission.id.desc())
        .limit(MOST)
    )  # fmt: skip
    if benchmark is not None:
        query = query.where(Benchmark.slug == benchmark)
    return [
        OwnSubmission(number, slug, status_said(status, is_unshown=hidden), at, n_rows, names or ())
        for number, slug, status, at, n_rows, names, hidden in session.execute(query)
    ]
