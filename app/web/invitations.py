"""/invitations: a code that makes one token; /benchmarks/{slug}/join: a token for whoever asks, where it may."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Invitation, Token
from app.errors import Forbidden
from app.store import audit, benchmark_rows, benchmarks, invitations, tokens, visibility
from app.store.audit import Change
from app.store.invitations import Terms
from app.web.answers import json_answer
from app.web.audit_notes import ActDep
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.people import InvitationDocument, ListedInvitation, TokenDocument
from app.web.endpoint_answers import described
from app.web.fields import Body, Line
from app.web.state import SessionDep, Steward, is_steward_of
from app.web.tokens import UNCACHED, about_token
from app.web.visible_benchmarks import stewarded_slugs

router = APIRouter(route_class=CheckedFirst, tags=["invitations"])
LONGEST_DAYS = 90
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class NewInvitation(Body):
    """Whom to invite: to which role, in which benchmark; for how many days the code works, and then the token.

    Without `benchmark` the token is one of the server, which only an admin invites.
    """

    role: Literal["submitter", "reviewer", "steward"]
    benchmark: Line | None = None
    token_days: int | None = Field(None, strict=True, ge=1, le=36_500)
    days: int = Field(14, strict=True, ge=1, le=LONGEST_DAYS)


class Redemption(Body):
    """The code of an invitation, and the name that the token is to have."""

    code: Line = Field(max_length=200)
    name: Line


class Joining(Body):
    """The name that the token is to have."""

    name: Line


@router.post(
    "/invitations",
    status_code=201,
    summary="Create an invitation",
    responses=described(403, 404, answer=InvitationDocument, status=201),
)
def invite(wanted: NewInvitation, session: SessionDep, caller: Steward) -> Response:
    """Create an invitation; only this answer contains its code. Only an admin invites stewards."""
    benchmark = None if wanted.benchmark is None else benchmark_rows.find_benchmark(session, wanted.benchmark)
    if wanted.role == "steward" or benchmark is None:
        _refuse_unless_admin(caller)
    elif not is_steward_of(session, caller, benchmark.id):
        raise Forbidden(f"Only a steward of {benchmark.slug} may invite to it.")
    terms = Terms(wanted.role, benchmark, wanted.token_days, wanted.days)
    invitation, code = invitations.invite(session, terms, caller.id)
    after = {"invitation": invitation.id, "role": invitation.role}
    audit.record(session, caller.act, 201, Change(after=after, benchmark=wanted.benchmark))
    return json_answer({**_about(invitation, wanted.benchmark, caller.name), "code": code}, 201, UNCACHED)


@router.get("/invitations", summary="The invitations", responses=described(403, answer=list[ListedInvitation]))
def list_all(session: SessionDep, caller: Steward) -> Response:
    """List the invitations without their codes: an admin all of them, a steward those to their benchmarks."""
    listed = [_about(*each) for each in invitations.list_invitations(session, stewarded_slugs(session, caller))]
    return json_answer(listed, headers=UNCACHED)


@router.delete(
    "/invitations/{invitation}",
    summary="Revoke an invitation",
    responses=described(403, 404, 409, answer=ListedInvitation),
)
def revoke(invitation: Number, session: SessionDep, caller: Steward) -> Response:
    """Revoke an invitation (an admin, or a steward of its benchmark); the token of one that was used remains."""
    revoked = invitations.get_invitation(session, invitation)
    if caller.role != "admin" and not _is_of_theirs(session, revoked, caller):
        raise Forbidden("Only an admin, or a steward of its benchmark, may revoke an invitation.")
    before = {"state": invitations.state_of(revoked)}
    invitations.revoke(revoked)
    slug = None if revoked.benchmark_id is None else benchmark_rows.get_benchmark(session, revoked.benchmark_id).slug
    audit.record(session, caller.act, 200, Change(before, {"state": "revoked"}, benchmark=slug))
    return json_answer(_about(revoked, slug, tokens.get_token(session, revoked.made_by).name), headers=UNCACHED)


@router.post(
    "/invitations/redeem",
    status_code=201,
    summary="Use an invitation",
    responses=described(404, 409, answer=TokenDocument, status=201),
)
def redeem(order: Redemption, session: SessionDep, act: ActDep) -> Response:
    """Create the token of an invitation, once; only this answer contains its text."""
    # Its code is what lets somebody see that there is such a benchmark.
    with visibility.reading_all():
        used, token, text = invitations.redeem(session, order.code, order.name)
        slug = None if used.benchmark_id is None else benchmark_rows.get_benchmark(session, used.benchmark_id).slug
    after = {**tokens.in_short(token), "invitation": used.id, "granted": used.role}
    audit.record(session, act, 201, Change(after=after, benchmark=slug))
    return _with_text(token, text)


@router.post(
    "/benchmarks/{slug}/join",
    status_code=201,
    summary="Get a submitter's token",
    responses=described(404, 409, 429, answer=TokenDocument, status=201),
)
def join(slug: str, order: Joining, session: SessionDep, act: ActDep) -> Response:
    """Create a submitter's token for anyone, if the manifest's `registration` allows it, up to its number a day."""
    token, text = invitations.join(session, benchmarks.find_declared(session, slug), order.name)
    audit.record(session, act, 201, Change(after=tokens.in_short(token)))
    return _with_text(token, text)


def _with_text(token: Token, text: str) -> Response:
    return json_answer({**about_token(token), "token": text}, 201, UNCACHED)


def _is_of_theirs(session: Session, invitation: Invitation, caller: Caller) -> bool:
    return invitation.benchmark_id is not None and is_steward_of(session, caller, invitation.benchmark_id)


def _refuse_unless_admin(caller: Caller) -> None:
    if caller.role != "admin":
        raise Forbidden("Only an admin may invite stewards, or submitters to the whole server.")


def _about(invitation: Invitation, slug: str | None, by: str) -> dict[str, Any]:
    return {
        "id": invitation.id,
        "role": invitation.role,
        "benchmark": slug,
        "token_days": invitation.token_days,
        "made_by": by,
        "made_at": _shown(invitation.made_at),
        "expires_at": _shown(invitation.expires_at),
        "state": invitations.state_of(invitation),
        "token": invitation.token_id,
    }


def _shown(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
