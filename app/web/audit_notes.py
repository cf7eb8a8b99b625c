"""Describes what a request is about to do, for the audit, and records writes that were refused."""

import logging
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import text
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from app.db.engine import is_transient
from app.errors import Busy, PlumblineError, TooManyRequests
from app.store import audit, rates, submissions
from app.store.audit import Act
from app.web.limits import limit_nobody, network_of
from app.web.problems import status_of

logger = logging.getLogger(__name__)
# A benchmark has a field of its own, and a token may be named here by its holder's name, which no record keeps.
UNNAMED = frozenset({"slug", "token"})
PATIENCE = text("SET LOCAL lock_timeout = '2s'")


def act_of(request: Request, token_id: int | None = None) -> Act:
    """Return who is about to do what, from which address."""
    settings = request.app.state.plumbline.settings
    route = request.scope["route"]
    return Act(
        action=f"{request.method} {route.path_format}",
        subject=" ".join(f"{name} {value}" for name, value in request.path_params.items() if name not in UNNAMED),
        benchmark=request.path_params.get("slug"),
        token_id=token_id,
        address=None if request.client is None else request.client.host,
        kept_days=settings.audit_address_days,
    )


def get_act(request: Request) -> Act:
    """Return what somebody without a token is about to do. Raises TooManyRequests."""
    limit_nobody(request)
    return act_of(request)


ActDep = Annotated[Act, Depends(get_act)]


async def note_refusal(request: Request, error: Exception) -> None:
    """Record a refused write, in a transaction of its own; without the database nothing is recorded.

    What is kept of a refused upload was noted with it.
    """
    if getattr(request.state, "try_number", None) is not None:
        return
    known = getattr(request.state, "caller", None)
    act = act_of(request, getattr(request.state, "token_id", None)) if known is None else known.act
    try:
        await run_in_threadpool(_note, request, act, error)
    except Exception as failure:
        if is_transient(failure):
            logger.warning("a refused %s could not be noted: %s", act.action, type(failure).__name__)
        else:
            logger.exception("a refused %s could not be noted", act.action)


def refusal_of(error: Exception) -> str:
    """Return the audit's text of a refusal: without names, and without any of the input, which may be secret."""
    if isinstance(error, PlumblineError):
        return error.recorded
    if isinstance(error, RequestValidationError):
        problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return f"Not in the form that this address expects: {'; '.join(problems)}."
    return error.detail if isinstance(error, HTTPException) else "By a fault of this server."


def _note(request: Request, act: Act, error: Exception) -> None:
    with request.app.state.plumbline.sessions.begin() as session:
        # The refused transaction may still hold locks: recording must not wait for them.
        session.execute(PATIENCE)
        if isinstance(error, TooManyRequests | Busy) and not _is_worth_noting(session, request, act):
            return
        number = request.path_params.get("submission")
        if act.benchmark is None and number is not None:
            act = replace(act, benchmark=submissions.slug_of_number(session, number))
        audit.record_refusal(session, act, status_of(error), refusal_of(error))


def _is_worth_noting(session: Session, request: Request, act: Act) -> bool:
    """Say whether a client's refusal was last recorded over a minute ago, so that refusals do not fill the audit."""
    who = f"token {act.token_id}"
    if act.token_id is None:
        who = "somebody" if request.client is None else network_of(request.client.host)
    return rates.take(session, f"noted {who}", 1) == 0
