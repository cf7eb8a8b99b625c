"""/benchmarks/{slug}/visibility: who may read a benchmark, what becomes visible when more may; deleting a draft."""

from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter
from starlette.responses import Response

from app.db.models import Benchmark
from app.store import audit, benchmark_rows, publishing
from app.store.audit import Change
from app.store.publishing import Contents
from app.web.answers import json_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.benchmarks import DeletedDocument, VisibilityDocument
from app.web.endpoint_answers import described
from app.web.fields import Body
from app.web.state import SessionDep, StewardHere

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])
ADDRESS = "/benchmarks/{slug}/visibility"
PRIVATE = {"Cache-Control": "no-store"}


class Widening(Body):
    """Who may read a benchmark from now on."""

    visibility: Literal["private", "public"]


@router.get(
    ADDRESS,
    summary="Who may read a benchmark, and what it contains",
    responses=described(403, 404, answer=VisibilityDocument),
)
def show(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """Return who may read a benchmark, and what would become visible if more people might (its stewards only)."""
    del caller  # the dependency has refused everyone else
    benchmark = benchmark_rows.find_benchmark(session, slug)
    return json_answer(_about(benchmark, publishing.contents_of(session, benchmark)), headers=PRIVATE)


@router.post(
    ADDRESS, summary="Let more people read a benchmark", responses=described(403, 404, 409, answer=VisibilityDocument)
)
def widen(slug: str, order: Widening, session: SessionDep, caller: StewardHere) -> Response:
    """Open a draft to those with a role in it, or a benchmark to everyone; the answer lists what is now visible.

    This cannot be undone: what was read is known.
    """
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    before, contents = benchmark.visibility, publishing.contents_of(session, benchmark)
    publishing.widen(session, benchmark, order.visibility)
    after = {"visibility": order.visibility, **asdict(contents), "entrants": len(contents.entrants)}
    audit.record(session, caller.act, 200, Change({"visibility": before}, after))
    return json_answer(_about(benchmark, contents), headers=PRIVATE)


@router.delete(
    "/benchmarks/{slug}", summary="Delete a draft", responses=described(403, 404, 409, answer=DeletedDocument)
)
def delete(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """Delete a draft with its manifests, roles and invitations; a published benchmark cannot be deleted."""
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    before = {"visibility": benchmark.visibility}
    publishing.delete_draft(session, benchmark)
    audit.record(session, caller.act, 200, Change(before, {"deleted": True}))
    return json_answer({"benchmark": slug, "deleted": True}, headers=PRIVATE)


def _about(benchmark: Benchmark, contents: Contents) -> dict[str, Any]:
    return {"benchmark": benchmark.slug, "visibility": benchmark.visibility, "contents": asdict(contents)}
