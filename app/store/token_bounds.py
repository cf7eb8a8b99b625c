"""The limits of a token besides its role, and their validation: expiry, benchmarks, scopes and entrants.

Called by `app.store.tokens` before a token is made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.db.models import ROLES
from app.db.models.tokens import SCOPES
from app.errors import FieldRejected, Problem
from app.names import HOLDER_RULE, clip_for_message, is_holder
from app.store import benchmark_rows, clock


@dataclass(frozen=True)
class Bounds:
    """What limits a token beside its role: when it ends, and what it is for; None for no limit.

    `scopes` are some of read, submit and steward; `entrants` the names that it may submit.
    """

    expires_at: datetime | None = None
    benchmarks: Sequence[str] | None = None
    scopes: Sequence[str] | None = None
    entrants: Sequence[str] | None = None


UNBOUNDED = Bounds()


def check_bounds(session: Session, name: str, role: str, bounds: Bounds) -> None:
    """Raise FieldRejected, naming all that is wrong, unless a token of this name, role and limits may be made."""
    problems = []
    if not is_holder(name):
        problems.append(Problem(f"expected {HOLDER_RULE}", column="name", value=clip_for_message(name)))
    if role not in ROLES:
        problems.append(Problem(f"expected one of {', '.join(ROLES)}", column="role", value=clip_for_message(role)))
    problems += [*_of_end(session, bounds), *_of_benchmarks(session, role, bounds), *_of_scopes(role, bounds)]
    if problems:
        raise FieldRejected("The token cannot be made.", problems)


def _of_end(session: Session, bounds: Bounds) -> Iterator[Problem]:
    if bounds.expires_at is not None and bounds.expires_at <= clock.now(session):
        given = bounds.expires_at.isoformat()
        yield Problem("expected a time in the future", column="expires_at", value=given)


def _of_scopes(role: str, bounds: Bounds) -> Iterator[Problem]:
    known = SCOPES if role != "submitter" else SCOPES[:2]
    for scope in sorted(set(bounds.scopes or ()) - set(known)):
        message = f"expected some of {', '.join(known)} for a token of role {role}"
        yield Problem(message, column="scopes", value=clip_for_message(scope))
    for column, given in (("scopes", bounds.scopes), ("entrants", bounds.entrants)):
        if given is not None and not given:
            yield Problem("expected at least one; leave it out for a token without this limit", column=column)


def _of_benchmarks(session: Session, role: str, bounds: Bounds) -> Iterator[Problem]:
    if bounds.benchmarks is None:
        return
    if role == "admin":
        yield Problem("an admin's token is for every benchmark", column="benchmarks")
    if not bounds.benchmarks:
        yield Problem("expected at least one benchmark; leave it out for a token that is for all", column="benchmarks")
    for slug in sorted(set(bounds.benchmarks) - benchmark_rows.known_slugs(session, bounds.benchmarks)):
        yield Problem("there is no benchmark of this name", column="benchmarks", value=clip_for_message(slug))
