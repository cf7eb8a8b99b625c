"""Names that registrations reserve: what a registration's answers say of them, and giving one free.

`describe` and `reserve_names` are called by `app.web.preregs`.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import StoredPrereg
from app.prereg.fields import Prereg as ParsedPrereg
from app.render.text import name_in_path
from app.rights import roles
from app.store import audit, benchmark_rows, benchmarks, reservations, sql
from app.store.audit import Change
from app.store.registrations import count_unbound, list_registrations, registrations_table, submitters_table
from app.store.reservations import Reserved
from app.web.answers import json_answer, split_format, table_answer
from app.web.caller import PUBLIC, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described, table_routes
from app.web.documents import ReleasedDocument, TableDocument
from app.web.fields import Body, Reason
from app.web.state import SessionDep
from app.web.views import around, name_links, view_of

router = APIRouter(route_class=CheckedFirst, tags=["preregistrations"])


def reserve_names(
    session: Session, stored: StoredPrereg, parsed: ParsedPrereg, slug: str | None, token_id: int
) -> list[dict[str, str]]:
    """Reserve the entrants that a registration lists for its registrant; return which are not reserved, and why.

    Power and debug runs are never ranked, so they need no names.
    """
    if slug is None or stored.registered_by != token_id or parsed.run_purpose != "leaderboard":
        return []
    refused = reservations.reserve(session, slug, stored.sha256, parsed.entrants or (), token_id)
    return [{"benchmark": slug, "entrant": name, "reason": reason} for name, reason in refused.items()]


def describe(session: Session, sha256: str) -> list[dict[str, Any]]:
    """Return the names that a registration reserved, until when, and what came of each."""
    return [_about(reserved) for reserved in reservations.list_of_prereg(session, sha256)]


def _about(reserved: Reserved) -> dict[str, Any]:
    released = reserved.release
    return {
        "benchmark": reserved.reservation.benchmark,
        "entrant": reserved.reservation.name,
        "until": reserved.reservation.until.isoformat(),
        "state": reserved.state,
        "released_at": None if released is None else released.at.isoformat(),
        "released_by": None if reserved.released_by is None else reserved.released_by.name,
        "reason": None if released is None else released.reason,
    }


class Release(Body):
    """Why a reserved name is released; shown with the registration."""

    reason: Reason


@router.post(
    "/benchmarks/{slug}/reservations/{entrant:path}/release",
    summary="Release a reserved name",
    responses=described(403, 404, answer=ReleasedDocument),
)
def release(
    slug: str,
    entrant: str,
    order: Release,
    session: SessionDep,
    caller: Annotated[Caller, may("release a reserved name")],
) -> Response:
    """Release a reserved name (a steward of the benchmark, or its registrant); the reason is stored and shown."""
    held = reservations.find_open_or_raise(session, slug, name_in_path(entrant))
    benchmark = benchmark_rows.find_benchmark(session, slug)
    roles.require(session, "release a reserved name", caller, benchmark, held.holder.id)
    reservations.release(session, held, caller.id, order.reason)
    audit.record(session, caller.act, 200, Change({"reserved_for": held.holder.id}, reason=order.reason))
    return json_answer({"benchmark": slug, "entrant": held.reservation.name, "reserved_for": held.holder.name})


# /benchmarks/{slug}/registrations and /submitters: everything that was registered, also what was never reported.

registrations_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["preregistrations"])


@table_routes(registrations_router, "/benchmarks/{slug}/registrations", "Every registration", 404, answer=TableDocument)
def show_registrations(slug: str, request: Request, session: SessionDep) -> Response:
    """List every registration of a benchmark with its outcome (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    listed = list_registrations(session, declared)
    table = registrations_table(declared, listed, sql.now(session), count_unbound(session, listed))
    address = f"/benchmarks/{slug}/registrations"
    links = [("By submitter", f"/benchmarks/{slug}/submitters")]
    view = around(view_of(session, declared, table, None), address, links, name_links(declared))
    return _fresh(table_answer(request, view, split_format(request.url.path)[1]))


@table_routes(
    registrations_router, "/benchmarks/{slug}/submitters", "Registered and reported", 404, answer=TableDocument
)
def show_submitters(slug: str, request: Request, session: SessionDep) -> Response:
    """Show how many runs each submitter registered, and how many of them were reported (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    table = submitters_table(declared, list_registrations(session, declared), sql.now(session))
    address = f"/benchmarks/{slug}/submitters"
    links = [("Registrations", f"/benchmarks/{slug}/registrations")]
    view = around(view_of(session, declared, table, None), address, links, name_links(declared))
    return _fresh(table_answer(request, view, split_format(request.url.path)[1]))


def _fresh(answer: Response) -> Response:
    # What is overdue depends on today, so these pages are never kept.
    answer.headers["Cache-Control"] = "no-store"
    return answer
