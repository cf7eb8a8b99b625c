"""/tokens and /whoami: an admin makes and revokes tokens, their holders renew them, a steward sees whose they are."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, Field
from starlette.responses import Response

from app.db.models import SCOPES, Token
from app.rights import roles, sessions, tokens
from app.rights.policy import STEWARD, allows
from app.rights.tokens import Bounds, in_short
from app.store import audit
from app.store.audit import Change
from app.web.caller import Caller, may, presented_text
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.documents import ListedToken, RevokedDocument, RotatedDocument, TokenDocument, WhoamiDocument
from app.web.requests import Body, Line, Number
from app.web.state import SessionDep
from app.web.views import json_answer, time_shown

router = APIRouter(route_class=CheckedFirst, tags=["tokens"])

# What is answered about tokens is for who asks, and kept by no cache.
MAX_BENCHMARKS = 1000


class NewToken(Body):
    """Whom a token is for, what it may do, where, and for how long; without limits: everywhere and for ever."""

    name: Line
    role: Line
    expires_at: AwareDatetime | None = None
    benchmarks: list[Line] | None = Field(None, max_length=MAX_BENCHMARKS)
    scopes: list[Line] | None = Field(None, max_length=len(SCOPES))
    entrants: list[Line] | None = Field(None, max_length=MAX_BENCHMARKS)


class Rotation(Body):
    """How many hours the former text works beside the new one, so that nothing that uses it stops."""

    overlap_h: int = Field(24, strict=True, ge=0, le=tokens.LONGEST_OVERLAP_H)


@router.post(
    "/tokens",
    status_code=201,
    summary="Create a token",
    responses=described(403, 409, answer=TokenDocument, status=201),
)
def create(wanted: NewToken, session: SessionDep, caller: Annotated[Caller, may("create a token")]) -> Response:
    """Create a token; only this answer contains its text. A name is used once, even if its token is revoked."""
    bounds = Bounds(wanted.expires_at, wanted.benchmarks, wanted.scopes, wanted.entrants)
    token, text = tokens.create_token(session, wanted.name, wanted.role, bounds)
    audit.record(session, caller.act, 201, Change(after=in_short(token)))
    return json_answer({**about_token(token), "token": text}, 201)


@router.get("/tokens", summary="The tokens", responses=described(403, answer=list[ListedToken]))
def list_all(session: SessionDep, caller: Annotated[Caller, may("see the tokens")]) -> Response:
    """List the tokens without their texts, the oldest first: to whom a steward can move an entrant.

    Tokens for benchmarks that the caller may not read are left out; only an admin sees for which entrants each is.
    """
    sees_all = allows("see all of the tokens and of the audit", caller)
    listed = [
        {
            **about_token(token),
            "benchmarks": slugs,
            "entrants": token.entrants if sees_all else None,
            "created_at": time_shown(token.created_at),
            "used_at": time_shown(token.used_at),
            "revoked_at": time_shown(token.revoked_at),
        }
        for token, slugs in tokens.list_shown(session)
    ]
    return json_answer(listed)


@router.post(
    "/tokens/{token_id}/rotate",
    summary="Rotate a token",
    responses=described(403, 404, 409, answer=RotatedDocument),
)
def rotate(
    token_id: Number,
    order: Rotation,
    request: Request,
    session: SessionDep,
    caller: Annotated[Caller, may("renew a token")],
) -> Response:
    """Replace a token's text (its holder, or an admin); the former text works for some more hours.

    Not with a token that is limited to scopes or entrants, which may be in more hands.

    What the token owns, and when it expires, stays. To end a text at once, give 0 hours: then the browser sessions that
    began with it end as well, but for the one that asks.
    """
    roles.require(session, "renew a token", caller, None, owner_id=token_id)
    token, text = tokens.renew_with_overlap(session, token_id, order.overlap_h, presented_text(request))
    if order.overlap_h == 0:
        sessions.end_all(session, token.id, but=caller.act.session_id)
    audit.record(session, caller.act, 200, Change(after={"token": token.id, "overlap_h": order.overlap_h}))
    answer = {**about_token(token), "token": text, "former_until": time_shown(token.former_until)}
    return json_answer(answer)


@router.delete(
    "/tokens/{token_id}", summary="Revoke a token", responses=described(403, 404, 409, answer=RevokedDocument)
)
def revoke(token_id: Number, session: SessionDep, caller: Annotated[Caller, may("revoke a token")]) -> Response:
    """Revoke a token: from now on it is refused."""
    before = {"token": token_id, "revoked": tokens.get_token(session, token_id).revoked_at is not None}
    token = tokens.revoke_token(session, token_id)
    audit.record(session, caller.act, 200, Change(before, {"token": token_id, "revoked": True}))
    return json_answer({"id": token.id, "name": token.name, "role": token.role, "revoked": True})


@router.get("/whoami", summary="What this token may do", responses=described(401, answer=WhoamiDocument))
def whoami(session: SessionDep, caller: Annotated[Caller, may("see one's own account")]) -> Response:
    """Return whose token this is, what it may do, and where."""
    token = tokens.get_token(session, caller.id)
    steward_of = roles.stewarded_slugs(session, caller) if caller.has(STEWARD) else []
    return json_answer({**about_token(token), "steward_of": steward_of})


def about_token(token: Token) -> dict[str, Any]:
    """Return what is shown of a token everywhere; never its text."""
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "expires_at": time_shown(token.expires_at),
        "benchmarks": token.benchmarks,
        "scopes": token.scopes,
        "entrants": token.entrants,
    }
