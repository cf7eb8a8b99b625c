"""/health: what is stuck, failing, set aside or overdue; an admin reads of all benchmarks, a steward of their own."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.render.exports import table_to_json
from app.render.health_page import health_table
from app.store import health
from app.web.answers import csv_answer, page, split_format
from app.web.checked_first import CheckedFirst
from app.web.documents.tables import PlainTableDocument
from app.web.endpoint_answers import table_routes
from app.web.observed import look_soon
from app.web.state import SessionDep, StateDep, Steward
from app.web.visible_benchmarks import stewarded_slugs

router = APIRouter(route_class=CheckedFirst, tags=["operations"])
PRIVATE = {"Cache-Control": "no-store"}


@table_routes(router, "/health", "What needs a steward", 403, answer=PlainTableDocument, is_columnar=False)
def show(request: Request, session: SessionDep, state: StateDep, caller: Steward) -> Response:
    """List what is stuck, failing, set aside or overdue (.csv, .json), with since when and why."""
    readiness = look_soon(state)
    # With a table that something holds, the rest would wait for it too.
    troubles = health.list_troubles(session, stewarded_slugs(session, caller)) if readiness.database_up else []
    table = health_table(troubles, (*readiness.problems, *readiness.warnings))
    fmt = split_format(request.url.path)[1]
    if fmt == "json":
        answer = Response(table_to_json(table, {}), media_type="application/json")
    else:
        answer = csv_answer(table) if fmt == "csv" else page("health.html", title="Health", table=table)
    answer.headers.update(PRIVATE)
    return answer
