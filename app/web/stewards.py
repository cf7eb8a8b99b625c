"""/benchmarks/{slug}/stewards: an admin gives a benchmark to a steward and takes it back; stewards see the history."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Benchmark
from app.store import audit, benchmarks, stewards, tokens
from app.store.audit import Change
from app.web.answers import json_answer
from app.web.documents.people import StewardsDocument
from app.web.early import CheckedFirst
from app.web.fields import Body, Line
from app.web.problems import described
from app.web.state import Admin, SessionDep, Steward
from app.web.tokens import TokenNumber

router = APIRouter(route_class=CheckedFirst, prefix="/benchmarks/{slug}/stewards", tags=["stewards"])

TokenAsked = Annotated[str, Path(description="the number or the name of a token", max_length=100)]
# Kept by no cache, ours included: only stewards see the numbers of tokens.
PRIVATE = {"Cache-Control": "no-store"}


@router.get(
    "",
    summary="Its stewards and how they came to be (stewards only)",
    responses=described(403, 404, answer=StewardsDocument),
)
def list_all(slug: str, session: SessionDep, caller: Steward) -> Response:
    """List the stewards of a benchmark, and who was given it or lost it, when and by whom."""
    del caller  # the dependency has refused everyone else
    return _answer(session, benchmarks.find_benchmark(session, slug))


class NewSteward(Body):
    """To whom a benchmark is given: the number or the name of a token."""

    token: TokenNumber | Line


@router.post("", summary="Give it to a steward", responses=described(403, 404, 409, answer=StewardsDocument))
def grant(slug: str, wanted: NewSteward, session: SessionDep, caller: Admin) -> Response:
    """Make a token steward of a benchmark (an admin only); one that is it already stays so."""
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, str(wanted.token))
    is_new = stewards.grant(session, benchmark, holder, caller.id)
    audit.record(session, caller.act, 200, Change({"is_new": is_new}, {"steward": holder.id}))
    benchmarks.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


@router.delete("/{token}", summary="Take it from a steward", responses=described(403, 404, answer=StewardsDocument))
def revoke(slug: str, token: TokenAsked, session: SessionDep, caller: Admin) -> Response:
    """End a token's stewardship of a benchmark (an admin only); what it did there stays."""
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, token)
    stewards.revoke(session, benchmark, holder, caller.id)
    audit.record(session, caller.act, 200, Change({"steward": holder.id}))
    benchmarks.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


def _lock(session: Session, slug: str) -> Benchmark:
    return benchmarks.lock_benchmark(session, benchmarks.find_benchmark(session, slug).id)


def _answer(session: Session, benchmark: Benchmark) -> Response:
    about: dict[str, Any] = {
        "benchmark": benchmark.slug,
        "stewards": [{"token": t.id, "name": t.name} for t in stewards.list_stewards(session, benchmark.id)],
        "history": [
            {
                "at": each.at.isoformat(),
                "token": each.token.id,
                "name": each.token.name,
                "change": "granted" if each.granted else "revoked",
                "by": each.by.name,
            }
            for each in stewards.list_grants(session, benchmark.id)
        ],
    }
    return json_answer(about, headers=PRIVATE)
