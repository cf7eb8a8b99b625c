"""Submissions that wait to be evaluated, and which of them go together. Called by `app.jobs.refresh` and its sweep."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from app.db.models import Entry, Submission, SubmissionTable
from app.store.retries import is_due
from app.store.sql_arrays import one_of

MOST_TOGETHER, MOST_ROWS_TOGETHER = 100, 150_000
"""Most submissions, and most rows, per transaction, so that a fault or another benchmark never has to wait long."""


def benchmarks_waiting(session: Session, older_than_s: float) -> Sequence[int]:
    """Return the benchmarks with a submission that has waited too long, power and debug runs among them."""
    age = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    # Younger than nothing is what came before the database's clock was set back: how long it has waited is not known.
    waits_long = or_(age > older_than_s, age < 0)
    query = select(Submission.benchmark_id).where(_waits(), waits_long).distinct()
    return session.scalars(query.order_by(Submission.benchmark_id)).all()


def next_together(session: Session, benchmark_id: int, tried: Collection[int] = ()) -> list[int]:
    """Return the submissions of a benchmark that can be evaluated together, the oldest that waits first.

    They were made under one version of its manifest, all to be ranked or all only to be shown, and no entrant is in two
    of them. Those `tried` before are left out.
    """
    together: list[int] = []
    alike, n_rows, entrants = None, 0, set[int]()
    for number, version, status, rows, named in session.execute(_oldest(benchmark_id, tried)):
        n_rows += rows
        if together and (alike != (version, status) or n_rows > MOST_ROWS_TOGETHER or entrants & set(named)):
            break
        alike, entrants = (version, status), entrants | set(named)
        together.append(number)
    return together


def _oldest(benchmark_id: int, tried: Collection[int]) -> Select[int, int, str, int, Any]:
    entrants = select(func.coalesce(func.array_agg(Entry.entrant_id), [])).where(Entry.submission_id == Submission.id)
    columns = (Submission.id, Submission.manifest_version_id, Submission.status, Submission.n_rows)
    of_benchmark = and_(Submission.benchmark_id == benchmark_id, ~one_of(Submission.id, tried))
    query = select(*columns, entrants.scalar_subquery()).where(of_benchmark, _waits())
    return query.order_by(Submission.id).limit(MOST_TOGETHER)


def _waits() -> ColumnElement[bool]:
    has_summary = select(SubmissionTable.name).where(
        SubmissionTable.submission_id == Submission.id, SubmissionTable.name == "summary"
    )
    shown_only = and_(
        Submission.status == "not_admitted", Submission.run_purpose != "leaderboard", ~has_summary.exists()
    )
    return and_(or_(Submission.status == "received", shown_only), is_due(Submission.evaluation_retry_at))
