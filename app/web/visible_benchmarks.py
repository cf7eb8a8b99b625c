"""Of which benchmarks somebody sees the affairs: what was done there, invitations, health. Used by their addresses."""

from sqlalchemy.orm import Session

from app.store import roles
from app.web.caller import Caller


def stewarded_slugs(session: Session, caller: Caller) -> list[str] | None:
    """Return the benchmarks of which a token is a steward's, within its limits; None for an admin: all."""
    slugs = roles.benchmarks_of(session, caller.id, "steward")
    return None if caller.role == "admin" else [slug for slug in slugs if caller.may_write_to(slug)]
