"""Who sends a request, and whether they may: what a route says that it is, `app.rights.policy` says who may do.

A write is of the holder of the token that it presents, or of the session that its cookie names. A read shows its sender
what they may see and nothing else: whoever has no credentials, or none that work, is a stranger.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from app.db.models import Token
from app.errors import Conflict, TooManyRequests, Unauthenticated
from app.rights import policy, roles, sessions, tokens, visibility
from app.rights.policy import ANYWHERE, READ, RIGHTS, Holder
from app.rights.visibility import DRAFT, STRANGER, ReadingRights
from app.store import benchmark_rows, benchmarks, rates
from app.store.audit import Act
from app.turns import owner_of_token
from app.web.audit_notes import act_of
from app.web.cached_answer import READING
from app.web.cookies import refuse_forged, session_secret
from app.web.limits import count_guess, is_guessing, limit_nobody, limit_reader, refuse_guesses
from app.web.state import State, StateDep

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
SCHEME = "bearer "


@dataclass(frozen=True, kw_only=True)
class Caller(Holder):
    """The caller of a write: the holder of a token, and the act.

    `owner_id` is the token that a steward of the benchmark of the address has linked this one to, else itself.
    """

    act: Act
    owner_id: int

    @property
    def owner(self) -> str:
        """Return whose turn it is where something waits (`app.turns`)."""
        return owner_of_token(self.owner_id)


bearer = HTTPBearer(auto_error=False, scheme_name="token", description="a token of this server; reading needs none")
Presented = Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]


ACTIONS: dict[Callable[..., Any], str] = {}
"""Which action a dependency of a route declares."""


@cache
def may(action: str) -> Any:
    """Return the dependency by which a route says which action of `app.rights.policy` it is: its caller, who may do it.

    It is asked before the body is read. Where the benchmark of the address is all that matters that is decided here;
    where it matters whose a thing is, or the address names no benchmark, the endpoint asks again, by
    `app.rights.roles.require`, once it knows. Raises Unauthenticated, Forbidden, NotFound, TooManyRequests.
    """
    is_open = RIGHTS[action].anybody is not None

    async def anybody() -> None:
        """Ask for nothing."""

    async def allowed(request: Request, presented: Presented, state: StateDep) -> Caller:
        caller = await get_caller(request, presented, state)
        if not hasattr(request.state, "may"):
            slug = _slug_of(request)
            policy.require(action, caller, replace(ANYWHERE, slug=slug))
            if slug is not None:
                await run_in_threadpool(_refuse_here, state, action, caller, slug)
            request.state.may = action
        return caller

    asking = anybody if is_open else allowed
    ACTIONS[asking] = action
    return Depends(asking)


def _refuse_here(state: State, action: str, caller: Caller, slug: str) -> None:
    with state.sessions() as session:
        if RIGHTS[action].submitter is not None:
            refuse_uninvited(session, action, caller, slug)
        elif RIGHTS[action].owner is not None:
            benchmark_rows.find_benchmark(session, slug)
        else:
            roles.require(session, action, caller, benchmark_rows.find_benchmark(session, slug))


def refuse_uninvited(session: Session, action: str, caller: Caller, slug: str) -> None:
    """Refuse who may not submit to a benchmark, or register for it. Raises Forbidden, NotFound, Conflict (draft)."""
    declared = benchmarks.find_declared(session, slug)
    if declared.benchmark.visibility == DRAFT:
        raise Conflict(f"{slug} is a draft, which accepts no submissions; its stewards must publish it first.")
    is_open = declared.manifest.admission.submissions != "invited"
    roles.require(session, action, caller, declared.benchmark, is_open=is_open)


PUBLIC = [may("read what is public")]
"""The dependencies of a route, or of all of a router, that everybody may read."""


async def get_caller(request: Request, presented: Presented, state: StateDep) -> Caller:
    """Return the sender of the request.

    Raises Unauthenticated, or TooManyRequests.

    Asked before the body is read and again for the endpoint; a request is one write all the same.
    """
    known: Caller | None = getattr(request.state, "caller", None)
    return await run_in_threadpool(find_caller, request, presented, state) if known is None else known


def find_caller(request: Request, presented: HTTPAuthorizationCredentials | None, state: State) -> Caller:
    """Look up the sender of the request and count its write. Raises what `get_caller` raises."""
    request.state.caller = caller = _identify(request, presented, state)
    return caller


def signed_in(request: Request, state: State) -> Caller | None:
    """Return whose session a browser has, None where it has none that goes on."""
    if session_secret(request) is None:
        return None
    try:
        return find_caller(request, None, state)
    except Unauthenticated:
        return None


def _identify(request: Request, presented: HTTPAuthorizationCredentials | None, state: State) -> Caller:
    text = "" if presented is None else presented.credentials.strip()
    secret = session_secret(request)
    per_minute = state.settings.max_requests_per_minute

    def identify(session: Session) -> tuple[Caller, int]:
        caller = caller_of_token(session, text, request) if text else caller_of_session(session, secret or "", request)
        return caller, rates.take(session, f"token {caller.id}", per_minute)

    if not text and secret is None:
        limit_nobody(request)
        raise Unauthenticated("Writing needs a token: send the header Authorization: Bearer <token>, or sign in.")
    caller, wait_s = state.transact(identify)
    if wait_s > 0:
        raise TooManyRequests(f"More than {per_minute} writes in a minute.", wait_s)
    return caller


async def refuse_if_full(request: Request, presented: Presented, state: StateDep) -> None:
    """Refuse a caller of whom no upload could be read soon. Raises Busy, and what `get_caller` raises."""
    caller = await get_caller(request, presented, state)
    state.readers.turns.refuse_if_full(caller.owner)


READ_SOON = [Depends(refuse_if_full)]
"""The dependencies of a route that reads an upload."""


NOT_KNOWN = "This token is unknown, or it was revoked."


def caller_of_token(session: Session, text: str, request: Request) -> Caller:
    """Return the holder of the token with this text.

    Raises Unauthenticated where it does not work.
    """
    shown: Token | None = getattr(request.state, "token_shown", None)
    linked = None
    if shown is None and hasattr(request.state, "token_shown"):
        # Nobody has it, and so it was counted when it was looked up for who reads.
        request.state.token_id = None
        raise Unauthenticated(NOT_KNOWN)
    if shown is None:
        refuse_guesses(session, request)
        token, linked = tokens.find_linked_token(session, text, _slug_of(request))
    else:
        token = session.merge(shown, load=False)
    # For recording refusals: whose token it was.
    request.state.token_id = None if token is None else token.id
    if token is None or token.revoked_at is not None:
        count_guess(request)
        raise Unauthenticated(NOT_KNOWN)
    if (ended := tokens.why_ended(token)) is not None:
        raise Unauthenticated(f"This token {ended}.")
    return _working(session, token, request, linked)


def caller_of_session(session: Session, secret: str, request: Request) -> Caller:
    """Return the holder of a browser session.

    Raises Unauthenticated where it has ended, or a write is forged.
    """
    known = sessions.find(session, secret)
    if known is None:
        raise Unauthenticated("This session has expired or was ended; sign in again.")
    is_read = _is_read(request)
    if not is_read:
        refuse_forged(request, secret)
    begun, token = known
    sessions.note_use(session, begun)
    linked = None if is_read else tokens.find_linked(session, _slug_of(request), token.id)
    caller = _working(session, token, request, linked)
    act = replace(caller.act, session_id=begun.id)
    return replace(caller, act=act, is_fresh=is_read or sessions.is_fresh(begun))


def _slug_of(request: Request) -> str | None:
    """Return the benchmark that a request is about, if its address says it."""
    slug: str | None = request.path_params.get("slug")
    return slug


def _working(session: Session, token: Token, request: Request, linked: int | None) -> Caller:
    tokens.note_use(session, token)
    return Caller(**vars(Holder.of(token)), act=act_of(request, token.id), owner_id=linked or token.id)


def _is_read(request: Request) -> bool:
    return request.method in READING


# Who reads: of every request its credentials, so that it sees what its sender may and nothing else. What is for
# everyone says the same to all of them, and what is not is not there.


def visible_to_sender(handle: Handler) -> Handler:
    """Return the handler of a route that selects what the sender of each request may see.

    What is answered to somebody who is known, and what a caller was asked for, is theirs alone: no cache keeps it.
    """

    async def reading(request: Request) -> Response:
        has_any = presented_text(request) is not None or session_secret(request) is not None
        reader = await run_in_threadpool(_find_reader, request) if has_any else STRANGER
        visibility.read_as(reader)
        if _is_read(request):
            limit_reader(request.app.state.plumbline.reads, reader.token_id)
        answer = await handle(request)
        if reader != STRANGER or hasattr(request.state, "caller"):
            answer.headers.setdefault("Cache-Control", "no-store")
        elif _is_read(request):
            # Of what is for everybody a status or a name may change: whoever keeps it asks again.
            answer.headers.setdefault("Cache-Control", "no-cache")
        return answer

    return reading


async def sees_more(app: ASGIApp, scope: Scope) -> bool:
    """Say whether the sender of a request may see anything beside what is public; for `app.web.page_cache`.

    Who shows credentials that are worth nothing more is given the pages that are kept for everybody.
    """
    reader = await run_in_threadpool(_find_reader, Request({**scope, "app": app}))
    return reader.sees_all or bool(reader.benchmark_ids)


def presented_text(request: Request) -> str | None:
    """Return the text of the token that a request presents, None without one."""
    given = request.headers.get("authorization", "")
    return given[len(SCHEME) :].strip() or None if given.lower().startswith(SCHEME) else None


def _find_reader(request: Request) -> ReadingRights:
    with request.app.state.plumbline.sessions() as session:
        token = None if is_guessing(session, request) else _find_token(session, request)
        if token is None:
            return STRANGER
        if _is_read(request) and not Holder.of(token).has(READ):
            return STRANGER
        return visibility.viewer_of(session, token)


def _find_token(session: Session, request: Request) -> Token | None:
    """Return the token that works of a request: the one that it presents, else that of its session."""
    text = presented_text(request)
    if text is not None:
        # Kept for whoever asks who writes: it is looked up once for a request.
        request.state.token_shown = token = tokens.find_token(session, text)
        if token is None:
            count_guess(request)
        return None if token is None or tokens.why_ended(token) is not None else token
    working = sessions.find(session, session_secret(request) or "")
    return None if working is None else working[1]
