"""Who may submit to a benchmark: whom its manifest lets, within the scopes of their token.

Used by `app.web.submissions` before the body is read, and by `app.web.preregs`, whose registrations reserve names.
"""

from collections.abc import Iterable
from typing import Annotated

from fastapi import Depends
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.errors import Conflict, Forbidden
from app.names import clip_for_message
from app.store import benchmarks, roles
from app.store.benchmarks import Declared
from app.store.visibility import DRAFT
from app.web.caller import Caller
from app.web.state import State, StateDep, Submitter

MOST_NAMED = 10


async def get_submitter_here(slug: str, request: Request, caller: Submitter, state: StateDep) -> Caller:
    """Return the caller if it may submit to the benchmark of the address. Raises Forbidden and NotFound.

    Asked before the body is read and again for the endpoint, as `get_caller` is, and looked up once.
    """
    if not hasattr(request.state, "submits_here"):
        await run_in_threadpool(_refuse_here, slug, caller, state)
        request.state.submits_here = True
    return caller


def _refuse_here(slug: str, caller: Caller, state: State) -> None:
    with state.sessions() as session:
        refuse_uninvited(session, benchmarks.find_declared(session, slug), caller)


SubmitterHere = Annotated[Caller, Depends(get_submitter_here)]


def refuse_uninvited(session: Session, declared: Declared, caller: Caller) -> None:
    """Refuse who may not submit or register here: a token without the scope, a reviewer, the uninvited.

    Raises Forbidden.
    """
    refuse_other_scopes(caller)
    slug, number = declared.benchmark.slug, declared.benchmark.id
    if declared.benchmark.visibility == DRAFT:
        raise Conflict(f"{slug} is a draft, which accepts no submissions; its stewards must publish it first.")
    held = {"steward"} if caller.role == "admin" else roles.roles_in(session, number, caller.id)
    if held & {"steward", "submitter"}:
        return
    if "reviewer" in held:
        raise Forbidden(
            f"You are a reviewer of {slug}, and reviewers cannot submit; a steward can make you a submitter."
        )
    if declared.manifest.admission.submissions == "invited":
        why = f"{slug} accepts submissions from invited submitters only"
        raise Forbidden(f"{why}; ask {_stewards(session, number)}.", recorded=f"{why}.")


def refuse_other_scopes(caller: Caller) -> None:
    """Refuse a token that is not for submitting. Raises Forbidden."""
    if not caller.has_scope("submit"):
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.scopes or ()))}, not for submitting.")


def refuse_other_entrants(caller: Caller, names: Iterable[str]) -> None:
    """Refuse entrants that the token is not for. Raises Forbidden."""
    others = sorted(set(names) - caller.entrants) if caller.entrants is not None else []
    if others:
        shown = ", ".join(clip_for_message(name) for name in others[:MOST_NAMED])
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.entrants or ()))}, not for {shown}.")


def _stewards(session: Session, benchmark_id: int) -> str:
    names = [steward.name for steward in roles.list_stewards(session, benchmark_id)]
    return f"its stewards ({', '.join(names)})" if names else "an admin"
