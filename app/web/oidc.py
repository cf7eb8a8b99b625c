"""/login/oidc: a browser signs in through the identity provider of this server, and has a session from then on.

What a login is about (state, nonce, verifier) is in a cookie of the browser that began it and nowhere else: an answer
of the provider that comes in another browser, or a second time, begins nothing.
"""

import hmac
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.errors import NotFound, Unauthenticated
from app.store import audit, identities, sessions, visibility
from app.store.audit import Change
from app.web.audit_notes import act_of, note_refusal
from app.web.checked_first import CheckedFirst
from app.web.cookies import SESSION, drop_cookie, local_path, set_cookie
from app.web.endpoint_answers import described
from app.web.limits import count_guess, refuse_guesses
from app.web.provider import CALLBACK, Attempt, Provider
from app.web.state import State, StateDep

router = APIRouter(route_class=CheckedFirst, tags=["sessions"], include_in_schema=False)
PRIVATE = {"Cache-Control": "no-store"}
COOKIE = "__Host-plumbline-oidc"
ACCOUNT = "/account"
LOGIN_LASTS_S = 600
Short = Annotated[str, Query(max_length=4000)]


@router.get(
    "/login/oidc", summary="Sign in through the identity provider", responses=described(404, 503, also=("html",))
)
def begin(
    request: Request,
    state: StateDep,
    next_: Annotated[str | None, Query(alias="next", max_length=500)] = None,
    *,
    again: bool = False,
) -> Response:
    """Lead to the provider; with `again` it asks who somebody is even if it knows."""
    provider = _provider(state)
    state.transact(lambda session: refuse_guesses(session, request))
    state_text, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    attempt = Attempt(state_text, nonce, verifier, again)
    answer = RedirectResponse(provider.login_address(attempt), 303, PRIVATE)
    kept = [attempt.state, attempt.nonce, attempt.verifier, again, local_path(next_, ACCOUNT)]
    set_cookie(answer, COOKIE, json.dumps(kept).encode().hex(), LOGIN_LASTS_S)
    return answer


@router.get(
    CALLBACK, summary="Callback of the identity provider", responses=described(401, 403, 404, 503, also=("html",))
)
async def come_back(
    request: Request, state: StateDep, given: Annotated[str, Query(alias="state", max_length=200)] = "",
    code: Short = "", error: Short = "", error_description: Short = "",
) -> Response:  # fmt: skip
    """Begin a session for who the provider says that somebody is; whoever is refused is in the audit."""
    try:
        return await run_in_threadpool(_finish, request, state, given, code, error or error_description)
    except Exception as refused:
        await note_refusal(request, refused)
        raise


def _finish(request: Request, state: State, given: str, code: str, error: str) -> Response:
    provider = _provider(state)
    state.transact(lambda session: refuse_guesses(session, request))
    attempt, leads_to = _begun(request, given)
    if error or not code:
        raise Unauthenticated("The identity provider did not sign you in; start the login again.")
    try:
        claimed, proved_at = provider.identify(code, attempt)
    except Unauthenticated:
        count_guess(request)
        raise
    secret = state.transact(lambda session: _signed_in(session, request, state, claimed, proved_at))
    answer = RedirectResponse(leads_to, 303, PRIVATE)
    set_cookie(answer, SESSION, secret)
    drop_cookie(answer, COOKIE)
    return answer


def _signed_in(
    session: Session, request: Request, state: State, claimed: identities.Claimed, proved_at: float | None
) -> str:
    """Return the secret of a new session of somebody's token, with what it changed in the audit."""
    own = state.settings.oidc
    if own is None:
        raise NotFound("This server has no identity provider.")
    # A group may have a role in a benchmark that strangers do not see.
    with visibility.reading_all():
        token = identities.sign_in(session, claimed, own.roles, timedelta(days=own.days))
    request.state.token_id = token.id
    proved = None if proved_at is None else datetime.fromtimestamp(proved_at, UTC)
    begun, secret = sessions.begin(session, token, proved)
    after = {"session": begun.id, "token": token.id, "role": token.role}
    audit.record(session, act_of(request, token.id), 303, Change(after=after))
    return secret


def _begun(request: Request, given: str) -> tuple[Attempt, str]:
    """Return the login that this browser began. Raises Unauthenticated for an answer to another one."""
    try:
        kept = json.loads(bytes.fromhex(request.cookies.get(COOKIE, "")))
        state, nonce, verifier, again, leads_to = kept
        if hmac.compare_digest(str(state).encode(), given.encode()):
            return Attempt(str(state), str(nonce), str(verifier), bool(again)), local_path(str(leads_to), ACCOUNT)
    except (ValueError, TypeError):
        pass
    raise Unauthenticated("This login was not started in this browser, or it has expired; start again.")


def _provider(state: State) -> Provider:
    if state.provider is None:
        raise NotFound("This server has no identity provider; sign in with a token.")
    return state.provider
