"""/whoami/data and /tokens/{token_id}/erase: what is kept about oneself, and one's name taken out of it."""

from fastapi import APIRouter
from starlette.responses import Response

from app.errors import Forbidden
from app.store import audit, people, tokens
from app.store.audit import Change
from app.web.answers import json_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.people import ErasedDocument, OwnDataDocument
from app.web.endpoint_answers import described
from app.web.fields import Body, Reason
from app.web.state import Holder, SessionDep, WholeHolder, is_admin
from app.web.tokens import UNCACHED, TokenNumber, about_token

router = APIRouter(route_class=CheckedFirst, tags=["tokens"])


class Erasure(Body):
    """Why a name is erased; kept in the audit, so it should not name the person."""

    reason: Reason


@router.get("/whoami/data", summary="Your data", responses=described(401, answer=OwnDataDocument))
def own_data(session: SessionDep, caller: Holder) -> Response:
    """Return all that is stored about the holder of this token: roles, sessions, submissions, and their actions."""
    token = tokens.get_token(session, caller.id)
    return json_answer({"token": about_token(token), **people.everything_about(session, token)}, headers=UNCACHED)


@router.post("/tokens/{token_id}/erase", summary="Erase a name", responses=described(403, 404, answer=ErasedDocument))
def erase(token_id: TokenNumber, order: Erasure, session: SessionDep, caller: WholeHolder) -> Response:
    """Replace a token's name by one that says nothing (its holder, or an admin); this cannot be undone.

    Not with a token that is limited to scopes, benchmarks or entrants. Erasing again changes nothing.

    What its submissions say of an organisation, an address or in notes is emptied. Rows, registrations, digests and
    ranks stay, and so does the token.
    """
    if caller.id != token_id and not is_admin(caller):
        raise Forbidden("Only its holder, or an admin, may erase the name of a token.")
    name = people.pseudonymise(session, tokens.get_token(session, token_id))
    audit.record(session, caller.act, 200, Change(after={"token": token_id, "erased": True}, reason=order.reason))
    return json_answer({"id": token_id, "name": name}, headers=UNCACHED)
