"""/login, /logout and /account: a browser signs in with a token and has a session from then on."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.errors import Unauthenticated
from app.store import audit, identities, roles, sessions, tokens
from app.store.audit import Change
from app.web.answers import page
from app.web.audit_notes import ActDep, act_of
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.cookies import (
    FORM,
    SESSION,
    drop_cookie,
    form_key_of,
    local_path,
    new_form_value,
    refuse_unasked,
    session_secret,
    set_cookie,
)
from app.web.endpoint_answers import described
from app.web.limits import count_guess, refuse_guesses
from app.web.state import Holder, SessionDep, StateDep

router = APIRouter(route_class=CheckedFirst, tags=["sessions"], include_in_schema=False)
PRIVATE = {"Cache-Control": "no-store"}
ACCOUNT = "/account"
Next = Annotated[str | None, Query(alias="next", max_length=500)]


@router.get("/login", summary="Sign in", responses=described(also=("html",)))
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
    shown.headers.update(PRIVATE)
    return shown


@router.post("/login", summary="Sign in", responses=described(403, also=("html",)))
def login(
    request: Request,
    session: SessionDep,
    act: ActDep,
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
    del act
    audit.record(session, act_of(request, holder.id), 303, Change(after={"session": begun.id}))
    answer = RedirectResponse(local_path(next_, ACCOUNT), 303, PRIVATE)
    set_cookie(answer, SESSION, secret)
    drop_cookie(answer, FORM)
    return answer


@router.get(ACCOUNT, summary="Who is signed in", responses=described(401, also=("html",)))
def show_account(request: Request, session: SessionDep, caller: Holder) -> Response:
    """Show who is signed in, their roles and their sessions, with the forms to end them."""
    held = {name: roles.benchmarks_of(session, caller.id, name) for name in ("steward", "reviewer", "submitter")}
    shown = page(
        "account.html",
        title="Account",
        token=tokens.get_token(session, caller.id),
        held={name: slugs for name, slugs in held.items() if slugs},
        sessions=sessions.list_open(session, caller.id),
        session_id=caller.act.session_id,
        form_key=form_key_of(request),
        longest_overlap_h=tokens.LONGEST_OVERLAP_H,
    )
    shown.headers.update(PRIVATE)
    return shown


@router.post("/logout", summary="Sign out", responses=described(403, also=("html",)))
def logout(request: Request, session: SessionDep, caller: Holder) -> Response:
    """End this session."""
    sessions.end(session, session_secret(request) or "")
    audit.record(session, caller.act, 303)
    return _leave(session, caller)


@router.post("/logout/everywhere", summary="Sign out everywhere", responses=described(403, also=("html",)))
def logout_everywhere(session: SessionDep, caller: Holder) -> Response:
    """End every session of this token, in whatever browser; the token itself works on."""
    n_ended = sessions.end_all(session, caller.id)
    audit.record(session, caller.act, 303, Change(after={"ended": n_ended}))
    return _leave(session, caller)


def _leave(session: Session, caller: Caller) -> Response:
    # A form leads to this server alone, so the way out of the provider is a link of the page that follows.
    is_known_elsewhere = identities.find_identity(session, caller.id) is not None
    answer = RedirectResponse("/login?left=1" if is_known_elsewhere else "/login", 303, PRIVATE)
    drop_cookie(answer, SESSION)
    return answer
