"""/tokens: an admin makes and revokes tokens."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from app.store import tokens
from app.web.answers import json_answer
from app.web.documents import RevokedDocument, TokenDocument
from app.web.problems import described
from app.web.state import Admin, SessionDep

router = APIRouter(prefix="/tokens", tags=["tokens"])


class NewToken(BaseModel):
    """Whom a token is for, and what it may do."""

    name: str
    role: str


@router.post(
    "", status_code=201, summary="Make a token", responses=described(401, 403, 422, answer=TokenDocument, status=201)
)
def create(wanted: NewToken, session: SessionDep, caller: Admin) -> Response:
    """Make a token; its text is in this answer and nowhere else."""
    token, text = tokens.create_token(session, wanted.name, wanted.role)
    return json_answer({"id": token.id, "name": token.name, "role": token.role, "token": text}, 201)


@router.delete("/{token_id}", summary="Revoke a token", responses=described(401, 403, 404, 409, answer=RevokedDocument))
def revoke(token_id: int, session: SessionDep, caller: Admin) -> Response:
    """Make a token useless from now on."""
    token = tokens.revoke_token(session, token_id)
    return json_answer({"id": token.id, "name": token.name, "role": token.role, "revoked": True})
