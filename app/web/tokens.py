"""/tokens: an admin makes and revokes tokens; a steward sees whose they are."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from app.store import tokens
from app.web.answers import json_answer
from app.web.documents import ListedToken, RevokedDocument, TokenDocument
from app.web.early import CheckedFirst
from app.web.fields import Body, Line
from app.web.problems import described
from app.web.state import Admin, SessionDep, Steward

router = APIRouter(route_class=CheckedFirst, prefix="/tokens", tags=["tokens"])


TokenNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class NewToken(Body):
    """Whom a token is for, and what it may do."""

    name: Line
    role: Line


@router.post(
    "", status_code=201, summary="Make a token", responses=described(403, 409, answer=TokenDocument, status=201)
)
def create(wanted: NewToken, session: SessionDep, caller: Admin) -> Response:
    """Make a token; its text is in this answer and nowhere else. Each name is given once, also after a revocation."""
    token, text = tokens.create_token(session, wanted.name, wanted.role)
    return json_answer({"id": token.id, "name": token.name, "role": token.role, "token": text}, 201)


@router.get("", summary="The tokens", responses=described(403, answer=list[ListedToken]))
def list_all(session: SessionDep, caller: Steward) -> Response:
    """List every token without its text, the oldest first: to whom a steward can move an entrant."""
    listed = [
        {
            "id": token.id,
            "name": token.name,
            "role": token.role,
            "created_at": token.created_at.isoformat(),
            "revoked_at": None if token.revoked_at is None else token.revoked_at.isoformat(),
        }
        for token in tokens.list_tokens(session)
    ]
    return json_answer(listed, headers={"Cache-Control": "no-store"})


@router.delete("/{token_id}", summary="Revoke a token", responses=described(403, 404, 409, answer=RevokedDocument))
def revoke(token_id: TokenNumber, session: SessionDep, caller: Admin) -> Response:
    """Make a token useless from now on."""
    token = tokens.revoke_token(session, token_id)
    return json_answer({"id": token.id, "name": token.name, "role": token.role, "revoked": True})
