"""/benchmarks/{slug}/registrations and /submitters: everything that was registered, also what was never reported."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.store import benchmarks, clock
from app.store.registrations import count_unbound, list_registrations, registrations_table, submitters_table
from app.web.answers import split_format, table_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.tables import TableDocument
from app.web.endpoint_answers import table_routes
from app.web.state import SessionDep
from app.web.views import around, name_links, view_of

router = APIRouter(route_class=CheckedFirst, tags=["preregistrations"])


@table_routes(router, "/benchmarks/{slug}/registrations", "Every registration", 404, answer=TableDocument)
def show_registrations(slug: str, request: Request, session: SessionDep) -> Response:
    """List every registration of a benchmark with its outcome (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    listed = list_registrations(session, declared)
    table = registrations_table(declared, listed, clock.now(session), count_unbound(session, listed))
    address = f"/benchmarks/{slug}/registrations"
    links = [("By submitter", f"/benchmarks/{slug}/submitters")]
    view = around(view_of(session, declared, table, None), address, links, name_links(declared))
    return _fresh(table_answer(request, view, split_format(request.url.path)[1]))


@table_routes(router, "/benchmarks/{slug}/submitters", "Registered and reported", 404, answer=TableDocument)
def show_submitters(slug: str, request: Request, session: SessionDep) -> Response:
    """Show how many runs each submitter registered, and how many of them were reported (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    table = submitters_table(declared, list_registrations(session, declared), clock.now(session))
    address = f"/benchmarks/{slug}/submitters"
    links = [("Registrations", f"/benchmarks/{slug}/registrations")]
    view = around(view_of(session, declared, table, None), address, links, name_links(declared))
    return _fresh(table_answer(request, view, split_format(request.url.path)[1]))


def _fresh(answer: Response) -> Response:
    # What is overdue depends on today, so these pages are never kept.
    answer.headers["Cache-Control"] = "no-store"
    return answer
