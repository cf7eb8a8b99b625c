"""Personal data: exporting all of it to the person, and erasing their name without changing records.

Called by `app.web.people`. Records name people by the numbers of their tokens, so that a name is in one place.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.db.models import (
    AuditEvent,
    Benchmark,
    BrowserSession,
    Dispute,
    Entrant,
    Notification,
    Prereg,
    Submission,
    Token,
    Try,
)
from app.store import benchmark_rows, identities, roles, visibility

# What a submitter says of themselves beside the evidence, see `app.web.submissions.Metadata`.
OF_PEOPLE = ("organization", "url", "notes")
MOST_EVENTS = 10_000
OF_SESSIONS = ("id", "begun_at", "proved_at", "used_at", "expires_at", "ended_at")
# Addresses for notifications are erased, and nothing more is sent there.
FORGOTTEN = {"address": "", "ended_at": func.clock_timestamp(), "ended_because": "erased"}


def pseudonymise(session: Session, token: Token) -> str:
    """Replace a token's name by a meaningless one and return that.

    What its submissions say of an organisation, an address or in notes is emptied, also where the caller may no longer
    read; rows, checks, registrations, digests and ranks stay as they are. Their checks and refused uploads, which
    nothing rests on, are deleted.
    """
    with visibility.reading_all():
        return _pseudonymise(session, token)


def _pseudonymise(session: Session, token: Token) -> str:
    token.name = f"erased-{secrets.token_hex(6)}"
    session.execute(delete(Try).where(Try.token_id == token.id))
    identities.forget(session, token.id)
    for submission in session.scalars(
        select(Submission).where(Submission.token_id == token.id).order_by(Submission.id)
    ):
        submission.description = {k: v for k, v in submission.description.items() if k not in OF_PEOPLE}
    session.execute(update(Notification).where(Notification.token_id == token.id).values(FORGOTTEN))
    session.flush()
    # A name is on pages of what somebody owns, registered, decided or moved; that is not worth distinguishing.
    for benchmark_id in session.scalars(select(Benchmark.id).order_by(Benchmark.id)).all():
        benchmark_rows.mark_boards_changed(session, benchmark_id)
    return token.name


def everything_about(session: Session, token: Token) -> Mapping[str, Any]:
    """Return the stored data about the holder of a token, by subject, newest events first.

    Also of benchmarks that they may no longer read: what they sent is theirs.
    """
    with visibility.reading_all():
        return _everything_about(session, token)


def _everything_about(session: Session, token: Token) -> Mapping[str, Any]:
    known_as = identities.find_identity(session, token.id)
    return {
        "identity": None if known_as is None else _plain(known_as, "issuer", "subject"),
        "sessions": [_plain(each, *OF_SESSIONS) for each in session.scalars(
            select(BrowserSession).where(BrowserSession.token_id == token.id).order_by(BrowserSession.id))],
        "roles": {name: roles.benchmarks_of(session, token.id, name) for name in ("steward", "reviewer", "submitter")},
        "entrants": list(session.scalars(
            select(Entrant.name).where(Entrant.owner_id == token.id).order_by(Entrant.id))),
        "registrations": [_plain(each, "sha256", "registered_at") for each in session.scalars(
            select(Prereg).where(Prereg.registered_by == token.id).order_by(Prereg.registered_at))],
        "submissions": [_plain(each, "id", "received_at", "status", "description") for each in session.scalars(
            select(Submission).where(Submission.token_id == token.id).order_by(Submission.id))],
        "tries": [_plain(each, "id", "at", "is_dry", "status", "detail") for each in session.scalars(
            select(Try).where(Try.token_id == token.id).order_by(Try.at))],
        "disputes": [_plain(each, "submission_id", "at", "text") for each in session.scalars(
            select(Dispute).where(Dispute.by_id == token.id).order_by(Dispute.id))],
        "notifications": [_plain(each, "id", "address", "made_at", "ended_at") for each in session.scalars(
            select(Notification).where(Notification.token_id == token.id).order_by(Notification.id))],
        "events": [_plain(each, "id", "at", "action", "subject", "benchmark", "address", "status") for each in
                   session.scalars(select(AuditEvent).where(AuditEvent.token_id == token.id)
                                   .order_by(AuditEvent.id.desc()).limit(MOST_EVENTS))],
    }  # fmt: skip


def _plain(row: Any, *names: str) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in names}
    return {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}
