"""What a submitter sent and tried: own submissions, dry runs and refused uploads, kept for whoever sent them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Submission, Token, Try
from app.errors import NotFound
from app.store.entrants import names_brought
from app.store.web_processes import is_unshown, status_said

MOST_KEPT = 100

MOST_LISTED = 50


def keep_try(
    session: Session, benchmark_id: int, token_id: int, status: int, document: Mapping[str, Any], *, is_dry: bool
) -> str:
    """Keep what was answered, instead of the oldest of the token where there are many; return its number."""
    number = secrets.token_urlsafe(12)
    session.add(
        Try(id=number, benchmark_id=benchmark_id, token_id=token_id, is_dry=is_dry, status=status,
            detail=str(document.get("detail", "")), document=dict(document))
    )  # fmt: skip
    session.flush()
    newest = select(Try.id).where(Try.token_id == token_id).order_by(Try.at.desc(), Try.id).limit(MOST_KEPT)
    session.execute(delete(Try).where(Try.token_id == token_id, Try.id.not_in(newest)))
    return number


def find_try(session: Session, number: str) -> tuple[Try, str]:
    """Return a try with the slug of its benchmark. Raises NotFound."""
    query = select(Try, Benchmark.slug).join(Benchmark, Benchmark.id == Try.benchmark_id).where(Try.id == number)
    row = session.execute(query).one_or_none()
    if row is None:
        raise NotFound("There is no such try; only the latest of each token are kept.")
    return row[0], row[1]


def own_tries(session: Session, token_id: int, benchmark_id: int | None = None) -> Sequence[tuple[Try, str]]:
    """Return the newest tries of a token, with the slugs of their benchmarks."""
    query = select(Try, Benchmark.slug).join(Benchmark, Benchmark.id == Try.benchmark_id)
    query = query.where(Try.token_id == token_id)
    if benchmark_id is not None:
        query = query.where(Try.benchmark_id == benchmark_id)
    return [(each, slug) for each, slug in session.execute(query.order_by(Try.at.desc()).limit(MOST_LISTED))]


def refused_here(session: Session, benchmark_id: int) -> Sequence[tuple[Try, str]]:
    """Return the newest refused uploads to a benchmark, with the names of who sent them."""
    query = select(Try, Token.name).join(Token, Token.id == Try.token_id)
    query = query.where(Try.benchmark_id == benchmark_id, ~Try.is_dry)
    return [(each, name) for each, name in session.execute(query.order_by(Try.at.desc()).limit(MOST_LISTED))]


# What the holder of a token has sent: submissions, the newest first.

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
    query = (
        select(Submission.id, Benchmark.slug, Submission.status, Submission.received_at, Submission.n_rows,
               names_brought(), is_unshown(Submission.id))
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
