"""What a request is about to do, for the record of who did what; and the note of a write that was refused.

`act_of` is called by `app.web.state` for who writes, `note_refusal` by `app.web.early` for every route that writes.
"""

import logging
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import text
from starlette.concurrency import run_in_threadpool

from app.store import audit, submissions
from app.store.audit import Act
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
    """Return what somebody without a token is about to do."""
    return act_of(request)


ActDep = Annotated[Act, Depends(get_act)]


async def note_refusal(request: Request, error: Exception) -> None:
    """Note a write that was refused, in a transaction of its own; without the database there is no note.

    What is kept of a refused upload was noted with it.
    """
    if getattr(request.state, "try_number", None) is not None:
        return
    known = getattr(request.state, "caller", None)
    act = act_of(request, getattr(request.state, "token_id", None)) if known is None else known.act
    try:
        await run_in_threadpool(_note, request, act, status_of(error), str(error))
    except Exception:
        logger.exception("a refused %s could not be noted", act.action)


def _note(request: Request, act: Act, status: int, refusal: str) -> None:
    with request.app.state.plumbline.sessions.begin() as session:
        # What was refused may still hold its locks: it must not wait for its own note.
        session.execute(PATIENCE)
        number = request.path_params.get("submission")
        if act.benchmark is None and number is not None:
            act = replace(act, benchmark=submissions.slug_of_number(session, number))
        audit.record_refusal(session, act, status, refusal)
