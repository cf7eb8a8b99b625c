"""/audit: who did what and who was refused; an admin reads all of it, a steward what is of their own benchmarks."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime
from starlette.responses import Response

from app.db.models import AuditSeal
from app.names import count
from app.render.columns import shown_columns
from app.render.csv_and_json import table_to_json
from app.render.pages import audit_table
from app.rights import roles, tokens
from app.rights.policy import allows
from app.store import audit
from app.store.audit import EventQuery
from app.values.table import Table
from app.web.caller import PUBLIC, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described, table_routes
from app.web.documents import AuditDocument, SealsDocument
from app.web.state import SessionDep
from app.web.views import csv_answer, json_answer, page, split_format

router = APIRouter(route_class=CheckedFirst, tags=["audit"])
ADDRESS = "/audit"
SEALS = "/audit/seals.json"


@table_routes(router, ADDRESS, "Who did what, and who was refused", 403, 404, answer=AuditDocument, is_columnar=False)
def show(
    request: Request,
    session: SessionDep,
    caller: Annotated[Caller, may("see the audit")],
    benchmark: Annotated[str | None, Query(max_length=63)] = None,
    token: Annotated[str | None, Query(description="number or name of a token", max_length=100)] = None,
    action: Annotated[str | None, Query(description="part of a route or command", max_length=100)] = None,
    outcome: Literal["", "done", "refused"] = "",
    since: AwareDatetime | Literal[""] = "",
    until: AwareDatetime | Literal[""] = "",
    before: Annotated[int | None, Query(description="only events before this number", ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=audit.MOST_LISTED)] = 100,
) -> Response:
    """List every write and every refused write, the newest first; `older` leads on (.csv, .json).

    A steward sees what was done in their benchmarks. Nothing of it can be changed or removed.
    """
    # An empty field of the form asks for nothing.
    wanted = EventQuery(
        within=roles.stewarded_slugs(session, caller),
        benchmark=benchmark or None,
        token_id=tokens.find_named(session, token).id if token else None,
        action=action or None,
        refused=outcome == "refused" if outcome else None,
        since=since or None,
        until=until or None,
        before=before,
        limit=limit,
    )
    listed = audit.list_events(session, wanted)
    table = audit_table(listed, with_addresses=allows("see all of the tokens and of the audit", caller))
    query = {name: text for name, text in request.query_params.items() if text}
    last = listed[-1].event.id if len(listed) == limit else None
    return _answer(table, split_format(request.url.path)[1], query, last, audit.newest(session))


@router.get(SEALS, summary="Seals of the audit record", responses=described(answer=SealsDocument), dependencies=PUBLIC)
def show_seals(
    session: SessionDep,
    before: Annotated[int | None, Query(description="only seals before this number", ge=1, le=2**31 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=audit.MOST_LISTED)] = 100,
) -> Response:
    """List the seals of the audit record, the newest first: whoever keeps one can see that the record was rewritten.

    `digest` is SHA-256 over the seal's other fields as JSON, with sorted keys and no spaces; `previous` is the digest
    of the seal before, `events` that of the salted events.
    """
    listed = [audit.shown(seal) for seal in audit.list_seals(session, before, limit)]
    return json_answer({"seals": listed})


def _answer(table: Table, fmt: str, query: Mapping[str, str], last: int | None, seal: AuditSeal | None) -> Response:
    if fmt == "json":
        older = None if last is None else _address(".json", {**query, "before": str(last)})
        content = table_to_json(table, {"older": older})
        return Response(content, media_type="application/json")
    if fmt == "csv":
        return csv_answer(table)
    older = None if last is None else _address("", {**query, "before": str(last)})
    ways = {"csv": _address(".csv", query), "json": _address(".json", query), "older": older}
    return page("audit.html", title="Audit", table=table, columns=shown_columns(table, detail=False), asked=query,
                caption=count(len(table.rows), "event"), seal=seal and audit.shown(seal), **ways)  # fmt: skip


def _address(ending: str, query: Mapping[str, str]) -> str:
    return f"{ADDRESS}{ending}" + (f"?{urlencode(query)}" if query else "")
