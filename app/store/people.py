"""Personal data: exporting all of it to the person, and erasing their name without changing records. Records name
people by the numbers of their tokens, so that a name is in one place.

Why: docs/adr/026-privacy.md.
"""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import CompoundSelect, Select, delete, func, select, union, update
from sqlalchemy.orm import Session

from app.db.models import (
    AuditEvent,
    Benchmark,
    BrowserSession,
    Dispute,
    Entrant,
    EntrantReservation,
    Notification,
    PreregBinding,
    RoleGrant,
    StoredEntrantField,
    StoredPrereg,
    Submission,
    Token,
    Try,
)
from app.names import ROLE_NAMES
from app.rights import oidc, roles, visibility
from app.store import benchmark_rows

# What a submitter says of themselves beside the evidence, see `app.web.submissions.Metadata`.
OF_PEOPLE = frozenset({"organisation", "url", "notes"})
ERASED = re.compile("erased-[0-9a-f]{12}")
MOST_EVENTS = 10_000
OF_SESSIONS = ("id", "begun_at", "proved_at", "used_at", "expires_at", "ended_at")
# Addresses for notifications are erased, and nothing more is sent there.
FORGOTTEN = {"address": "", "ended_at": func.clock_timestamp(), "ended_because": "erased"}


@visibility.reading_all()
def pseudonymise(session: Session, token: Token) -> str:
    """Replace a token's name by a meaningless one and return that.

    What its submissions say of an organisation, an address or in notes is emptied, also where the caller may no longer
    read; rows, checks, registrations, digests and ranks stay as they are. Their checks and refused uploads, which
    nothing rests on, are deleted.
    """
    is_erased = ERASED.fullmatch(token.name) is not None
    if not is_erased:
        token.name = f"erased-{secrets.token_hex(6)}"
    session.execute(delete(Try).where(Try.token_id == token.id))
    oidc.forget(session, token.id)
    for submission in session.scalars(
        select(Submission).where(Submission.token_id == token.id).order_by(Submission.id)
    ):
        if not OF_PEOPLE.isdisjoint(submission.description):
            submission.description = {k: v for k, v in submission.description.items() if k not in OF_PEOPLE}
            is_erased = False
    of_people = StoredEntrantField.field.in_(OF_PEOPLE)
    emptied = update(StoredEntrantField).where(
        StoredEntrantField.by_id == token.id, of_people, StoredEntrantField.value.is_not(None)
    )
    if session.execute(emptied.values(value=None).returning(StoredEntrantField.id)).first() is not None:
        is_erased = False
    session.execute(update(Notification).where(Notification.token_id == token.id).values(FORGOTTEN))
    session.flush()
    if not is_erased:
        for benchmark_id in session.scalars(_where_named(token.id)).all():
            benchmark_rows.mark_boards_changed(session, benchmark_id)
    return token.name


def _where_named(token_id: int) -> Select[int]:
    """Select the benchmarks whose pages may name somebody: what they sent, own, registered, hold, or did there."""
    registered = select(PreregBinding.benchmark).join(StoredPrereg, StoredPrereg.sha256 == PreregBinding.prereg_sha256)
    slugs: CompoundSelect[Any] = union(
        select(AuditEvent.benchmark).where(AuditEvent.token_id == token_id),
        registered.where(StoredPrereg.registered_by == token_id),
        select(EntrantReservation.benchmark).where(EntrantReservation.token_id == token_id),
    )
    ids = union(
        select(Submission.benchmark_id).where(Submission.token_id == token_id),
        select(Entrant.benchmark_id).where(Entrant.owner_id == token_id),
        select(RoleGrant.benchmark_id).where(RoleGrant.token_id == token_id),
    )
    named = Benchmark.id.in_(ids) | Benchmark.slug.in_(slugs)
    return select(Benchmark.id).where(named | (Benchmark.created_by == token_id)).order_by(Benchmark.id)


@visibility.reading_all()
def everything_about(session: Session, token: Token) -> Mapping[str, Any]:
    """Return the stored data about the holder of a token, by subject, newest events first.

    Also of benchmarks that they may no longer read: what they sent is theirs.
    """
    known_as = oidc.find_identity(session, token.id)
    return {
        "identity": None if known_as is None else _plain(known_as, "issuer", "subject"),
        "sessions": [_plain(each, *OF_SESSIONS) for each in session.scalars(
            select(BrowserSession).where(BrowserSession.token_id == token.id).order_by(BrowserSession.id))],
        "roles": {name: roles.benchmarks_of(session, token.id, name) for name in ROLE_NAMES},
        "entrants": list(session.scalars(
            select(Entrant.name).where(Entrant.owner_id == token.id).order_by(Entrant.id))),
        "registrations": [_plain(each, "sha256", "registered_at") for each in session.scalars(
            select(StoredPrereg).where(StoredPrereg.registered_by == token.id).order_by(StoredPrereg.registered_at))],
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
