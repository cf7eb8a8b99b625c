"""/benchmarks/{slug}/retire and /benchmarks/{slug}/title: what a steward changes without another manifest."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.errors import FieldRejected, Problem
from app.store import audit, benchmark_rows, benchmarks, life
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.web.answers import json_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.benchmarks import LifeDocument
from app.web.endpoint_answers import described
from app.web.fields import Body, Line, Reason
from app.web.state import SessionDep, StewardHere

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])


class Retiring(Body):
    """Why a benchmark takes no more submissions; shown for ever."""

    reason: Reason


class Renaming(Body):
    """The new title or description of a benchmark; what is left out stays."""

    title: Line | None = None
    description: Annotated[str, Field(max_length=50_000)] | None = None


@router.post(
    "/benchmarks/{slug}/retire", summary="Retire a benchmark", responses=described(403, 404, 409, answer=LifeDocument)
)
def retire(slug: str, order: Retiring, session: SessionDep, caller: StewardHere) -> Response:
    """Retire a benchmark: it takes no more submissions, for ever. Its pages remain, and each shows the reason."""
    declared = _locked(session, slug)
    life.retire(session, declared.version, slug, order.reason, caller.id)
    audit.record(session, caller.act, 200, Change(None, {"retired": True}, order.reason, slug))
    benchmark_rows.mark_boards_changed(session, declared.benchmark.id)
    return _answer(session, slug)


@router.put(
    "/benchmarks/{slug}/title",
    summary="Change the title or description",
    responses=described(403, 404, answer=LifeDocument),
)
def rename(slug: str, order: Renaming, session: SessionDep, caller: StewardHere) -> Response:
    """Change the title or description of a benchmark, without another version of its manifest."""
    if order.title is None and order.description is None:
        problem = Problem("give a title, a description, or both", column="title")
        raise FieldRejected("There is nothing to change.", [problem])
    declared = _locked(session, slug)
    before = {"title": declared.manifest.title, "description": declared.manifest.description}
    life.rename(session, declared.version, order.title, order.description, caller.id)
    after = {"title": order.title, "description": order.description}
    audit.record(session, caller.act, 200, Change(before, after, None, slug))
    benchmark_rows.mark_boards_changed(session, declared.benchmark.id)
    return _answer(session, slug)


def _locked(session: Session, slug: str) -> Declared:
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    return benchmarks.load_declared(session, benchmark)


def _answer(session: Session, slug: str) -> Response:
    declared = benchmarks.find_declared(session, slug)
    retirement = life.find_retirement(session, declared.benchmark.id)
    retired = None if retirement is None else {"at": retirement.at.isoformat(), "reason": retirement.reason}
    manifest = declared.manifest
    return json_answer({"slug": slug, "title": manifest.title, "description": manifest.description, "retired": retired})
