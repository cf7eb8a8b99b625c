"""Signing in and out: by a token or an identity provider, with a session from then on."""

import hmac
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.db.models import Token
from app.errors import NotFound, Unauthenticated
from app.names import ROLE_NAMES
from app.rights import oidc, roles, sessions, tokens, visibility
from app.rights.oidc import CALLBACK, LoginAttempt, Provider
from app.store import audit, benchmarks
from app.store.audit import Change
from app.store.benchmarks import BenchmarkNames
from app.web.audit_notes import act_of, note_refusal
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.cookies import (
    FORM,
    SESSION,
    SIGNED_IN,
    drop_cookie,
    form_key_of,
    local_path,
    new_form_value,
    refuse_unasked,
    session_secret,
    set_cookie,
    tell_page,
)
from app.web.description import described
from app.web.limits import count_guess, limit_nobody, refuse_guesses
from app.web.state import SessionDep, State, StateDep
from app.web.views import NO_STORE, page

router = APIRouter(route_class=CheckedFirst, tags=["sessions"], include_in_schema=False)


ACCOUNT = "/account"

MOST_NAMED = 200

Next = Annotated[str | None, Query(alias="next", max_length=500)]


@router.get("/login", summary="Sign in", responses=described(also=("html",)), dependencies=[may("sign in")])
def show_login(state: StateDep, next_: Next = None, *, again: bool = False, left: bool = False) -> Response:
    """Show the form by which somebody signs in with a token, and the way through the provider where there is one.

    `left`: who just signed out here and is still signed in at the provider; the way out of there.
    """
    value, leads_to = new_form_value(), local_path(next_, ACCOUNT)
    own = state.provider
    name, way_out = (None, None) if own is None else (own.settings.name, own.logout_address() if left else None)
    shown = page("login.html", title="Sign in", form=value, leads_to=leads_to, provider=name, again=again,
                 left=left, way_out=way_out)  # fmt: skip
    set_cookie(shown, FORM, value)
    shown.headers.update(NO_STORE)
    return shown


@router.post(
    "/login",
    summary="Sign in",
    responses=described(403, also=("html",)),
    dependencies=[may("sign in"), Depends(limit_nobody)],
)
def login(
    request: Request,
    session: SessionDep,
    token: Annotated[str, Form(max_length=200)],
    form: Annotated[str, Form(max_length=100)],
    next_: Annotated[str | None, Form(alias="next", max_length=500)] = None,
) -> Response:
    """Begin a session with a secret of its own, whatever cookie came; lead to a page of this server and no other."""
    refuse_unasked(request, form)
    refuse_guesses(session, request)
    holder = tokens.find_token(session, token.strip())
    request.state.token_id = None if holder is None else holder.id
    if holder is None or (ended := tokens.why_ended(holder)) is not None:
        count_guess(request)
        why = "is not known here" if holder is None else ended
        raise Unauthenticated(f"This token {why}.")
    tokens.note_use(session, holder)
    begun, secret = sessions.begin(session, holder)
    audit.record(session, act_of(request, holder.id), 303, Change(after={"session": begun.id}))
    answer = RedirectResponse(local_path(next_, ACCOUNT), 303, NO_STORE)
    set_cookie(answer, SESSION, secret)
    tell_page(answer, holder)
    drop_cookie(answer, FORM)
    return answer


@router.get(ACCOUNT, summary="Who is signed in", responses=described(401, also=("html",)))
def show_account(
    request: Request, session: SessionDep, caller: Annotated[Caller, may("see one's own account")]
) -> Response:
    """Show who is signed in, their roles and their sessions, with the forms to end them."""
    token = tokens.get_token(session, caller.id)
    shown = page(
        "account.html",
        title="Account",
        token=token,
        held=_held(session, caller),
        sessions=sessions.list_open(session, caller.id),
        session_id=caller.act.session_id,
        form_key=form_key_of(request),
        longest_overlap_h=tokens.LONGEST_OVERLAP_H,
    )
    if session_secret(request) is not None:
        # A role may have changed since the login.
        tell_page(shown, token)
    return shown


def _held(session: Session, caller: Caller) -> dict[str, list[BenchmarkNames]]:
    """Return the benchmarks in which somebody has a role, by role."""
    names = benchmarks.list_names(session)
    slugs = {role: set(roles.benchmarks_of(session, caller.id, role)) for role in ROLE_NAMES}
    held = {role: [each for each in names if each.slug in slugs[role]] for role in slugs}
    if roles.stewarded_slugs(session, caller) is None:
        held["steward"] = names[:MOST_NAMED]
    return {role: named for role, named in held.items() if named}


@router.post("/logout", summary="Sign out", responses=described(403, also=("html",)))
def logout(request: Request, session: SessionDep, caller: Annotated[Caller, may("sign out")]) -> Response:
    """End this session."""
    sessions.end(session, session_secret(request) or "")
    audit.record(session, caller.act, 303)
    return _leave(session, caller)


@router.post("/logout/everywhere", summary="Sign out everywhere", responses=described(403, also=("html",)))
def logout_everywhere(session: SessionDep, caller: Annotated[Caller, may("sign out")]) -> Response:
    """End every session of this token, in whatever browser; the token itself works on."""
    n_ended = sessions.end_all(session, caller.id)
    audit.record(session, caller.act, 303, Change(after={"ended": n_ended}))
    return _leave(session, caller)


def _leave(session: Session, caller: Caller) -> Response:
    # A form leads to this server alone, so the way out of the provider is a link of the page that follows.
    is_known_elsewhere = oidc.find_identity(session, caller.id) is not None
    answer = RedirectResponse("/login?left=1" if is_known_elsewhere else "/login", 303)
    drop_cookie(answer, SESSION)
    drop_cookie(answer, SIGNED_IN)
    return answer


# /login/oidc: a browser signs in through the identity provider of this server, and has a session from then on.
#
# What a login is about (state, nonce, verifier) is in a cookie of the browser that began it and nowhere else: an
# answer of the provider that comes in another browser, or a second time, begins nothing.

oidc_router = APIRouter(route_class=CheckedFirst, tags=["sessions"], include_in_schema=False)

COOKIE = "__Host-plumbline-oidc"

LOGIN_LASTS_S = 600

Short = Annotated[str, Query(max_length=4000)]


@oidc_router.get(
    "/login/oidc",
    summary="Sign in through the identity provider",
    responses=described(404, 503, also=("html",)),
    dependencies=[may("sign in")],
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
    attempt = LoginAttempt(state_text, nonce, verifier, again)
    answer = RedirectResponse(provider.login_address(attempt), 303, NO_STORE)
    kept = [attempt.state, attempt.nonce, attempt.verifier, again, local_path(next_, ACCOUNT)]
    set_cookie(answer, COOKIE, json.dumps(kept).encode().hex(), LOGIN_LASTS_S)
    return answer


@oidc_router.get(
    CALLBACK,
    summary="Callback of the identity provider",
    responses=described(401, 403, 404, 503, also=("html",)),
    dependencies=[may("sign in")],
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
    token, secret = state.transact(lambda session: _signed_in(session, request, state, claimed, proved_at))
    answer = RedirectResponse(leads_to, 303, NO_STORE)
    set_cookie(answer, SESSION, secret)
    tell_page(answer, token)
    drop_cookie(answer, COOKIE)
    return answer


def _signed_in(
    session: Session, request: Request, state: State, claimed: oidc.ProviderClaims, proved_at: float | None
) -> tuple[Token, str]:
    """Return somebody's token and the secret of a new session of it, with what it changed in the audit."""
    own = state.settings.oidc
    if own is None:
        raise NotFound("This server has no identity provider.")
    # A group may have a role in a benchmark that strangers do not see.
    with visibility.reading_all():
        token = oidc.sign_in(session, claimed, own.roles, timedelta(days=own.days))
    request.state.token_id = token.id
    proved = None if proved_at is None else datetime.fromtimestamp(proved_at, UTC)
    begun, secret = sessions.begin(session, token, proved)
    after = {"session": begun.id, "token": token.id, "role": token.role}
    audit.record(session, act_of(request, token.id), 303, Change(after=after))
    return token, secret


def _begun(request: Request, given: str) -> tuple[LoginAttempt, str]:
    """Return the login that this browser began. Raises Unauthenticated for an answer to another one."""
    try:
        kept = json.loads(bytes.fromhex(request.cookies.get(COOKIE, "")))
        state, nonce, verifier, again, leads_to = kept
        if hmac.compare_digest(str(state).encode(), given.encode()):
            return LoginAttempt(str(state), str(nonce), str(verifier), bool(again)), local_path(str(leads_to), ACCOUNT)
    except (ValueError, TypeError):
        pass
    raise Unauthenticated("This login was not started in this browser, or it has expired; start again.")


def _provider(state: State) -> Provider:
    if state.provider is None:
        raise NotFound("This server has no identity provider; sign in with a token.")
    return state.provider
