"""Who reads: of every request its credentials, so that it sees what its sender may and nothing else.

Used by `app.web.checked_first` around every route. Whoever has no credentials, or none that work, is a stranger: what
is for everyone says the same to them, and what is not is not there.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from app.db.models import Token
from app.store import sessions, tokens, visibility
from app.store.visibility import STRANGER, Reader
from app.web.cookies import session_secret
from app.web.limits import count_guess, is_guessing, limit_reader

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
SCHEME = "bearer "


def reading_as_asked(handle: Handler) -> Handler:
    """Return the handler of a route that selects what the sender of each request may see.

    An answer to somebody with credentials is theirs alone, so that no cache keeps it.
    """

    async def reading(request: Request) -> Response:
        has_any = presented_text(request) is not None or session_secret(request) is not None
        reader = await run_in_threadpool(_find_reader, request) if has_any else STRANGER
        visibility.read_as(reader)
        if request.method in ("GET", "HEAD"):
            limit_reader(request.app.state.plumbline.reads, reader.token_id)
        answer = await handle(request)
        if reader != STRANGER:
            answer.headers.setdefault("Cache-Control", "no-store")
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


def _find_reader(request: Request) -> Reader:
    with request.app.state.plumbline.sessions() as session:
        token = None if is_guessing(session, request) else _find_token(session, request)
        if token is None:
            return STRANGER
        is_reading = request.method in ("GET", "HEAD")
        if is_reading and token.scopes is not None and "read" not in token.scopes:
            return STRANGER
        return visibility.reader_of(session, token)


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
