"""/preregs/{sha256}/attestations: a steward's word that a preregistration existed before the server saw it."""

from datetime import UTC

from fastapi import APIRouter
from pydantic import AwareDatetime, Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.errors import FieldRejected, Forbidden, Problem
from app.store import audit, clock, preregs, roles
from app.store.audit import Change
from app.store.preregs import Word
from app.web.answers import json_answer
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.preregs import AttestedDocument
from app.web.endpoint_answers import described
from app.web.fields import Body, Text
from app.web.state import SessionDep, Steward

router = APIRouter(route_class=CheckedFirst, prefix="/preregs", tags=["preregistrations"])


class Attestation(Body):
    """A steward's word that a preregistration existed before the server saw it."""

    registered_at: AwareDatetime
    evidence: Text = Field(min_length=1, max_length=2000)


@router.post(
    "/{sha256}/attestations",
    status_code=201,
    summary="Attest an earlier registration",
    responses=described(403, 404, answer=AttestedDocument, status=201),
)
def attest(sha256: str, attestation: Attestation, session: SessionDep, caller: Steward) -> Response:
    """Record an earlier registration time with its evidence (a signed tag, a DOI, an archive address).

    A steward's attestation counts in those of their benchmarks that it was registered for, an admin's everywhere.
    """
    at = attestation.registered_at.astimezone(UTC)
    if at > clock.now(session):
        problem = Problem("expected a time in the past", column="registered_at", value=at.isoformat())
        raise FieldRejected("The attestation cannot be recorded.", [problem])
    slugs = None if caller.role == "admin" else _stewarded(session, sha256, caller)
    for slug in [None] if slugs is None else slugs:
        preregs.attest(session, sha256, Word(at, attestation.evidence, caller.id, slug))
        attested = {"sha256": sha256, "registered_at": at.isoformat()}
        audit.record(session, caller.act, 201, Change(None, attested, attestation.evidence, slug))
    return json_answer({"sha256": sha256, "registered_at": at.isoformat(), "benchmarks": slugs}, 201)


def _stewarded(session: Session, sha256: str, caller: Caller) -> list[str]:
    """Return the benchmarks of a steward that a registration is for. Raises Forbidden when there are none."""
    bound = [
        binding.benchmark for binding in preregs.list_bindings(session, preregs.find_prereg(session, sha256).sha256)
    ]
    slugs = roles.stewarded(session, caller.id, [slug for slug in bound if caller.may_write_to(slug)])
    if not slugs:
        raise Forbidden("Only a steward of a benchmark that it was registered for, or an admin, may attest it.")
    return slugs
