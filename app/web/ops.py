"""Operations: liveness, readiness, the glossary and the stylesheet."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.errors import NotFound
from app.names import clip_for_message
from app.program.version import code_version
from app.render.api_page import list_operations
from app.render.assets import assets
from app.render.exports import table_to_json
from app.render.glossary import glossary_entries
from app.render.page_tables import glossary_table
from app.web.answers import csv_answer, json_answer, page
from app.web.checked_first import CheckedFirst
from app.web.documents.health import HealthDocument, ReadyDocument
from app.web.documents.tables import PlainTableDocument
from app.web.endpoint_answers import described
from app.web.front import HEALTHY
from app.web.observed import look_soon
from app.web.problems import RETRY_AFTER_S, answer
from app.web.state import StateDep

router = APIRouter(route_class=CheckedFirst, tags=["operations"])


@router.get("/healthz", summary="Whether the process answers", responses=described(answer=HealthDocument))
def healthz() -> Response:
    """Return the version of the process that answers."""
    # `app.web.front` answers with the same bytes, before the framework.
    return Response(HEALTHY, media_type="application/json")


@router.get("/readyz", summary="Whether the server is ready", responses=described(answer=ReadyDocument))
def readyz(request: Request, state: StateDep) -> Response:
    """Return whether the database answers and is migrated; 503 says what is wrong, `warnings` what soon will be."""
    readiness = look_soon(state)
    if readiness.problems:
        return answer(request, 503, " ".join(readiness.problems), headers={"Retry-After": str(RETRY_AFTER_S)})
    return json_answer({"status": "ready", "code_version": code_version(), "warnings": list(readiness.warnings)})


@router.get("/glossary", include_in_schema=False)
def glossary() -> Response:
    """Explain every number, interval and rule."""
    return page("glossary.html", title="Glossary", entries=glossary_entries())


@router.get("/glossary.csv", summary="The glossary as CSV", responses=described(also=("csv",)))
def glossary_csv() -> Response:
    """Explain every number, interval and rule, as CSV with a row for each."""
    return csv_answer(glossary_table(glossary_entries()))


@router.get("/glossary.json", summary="The glossary as JSON", responses=described(answer=PlainTableDocument))
def glossary_json() -> Response:
    """Explain every number, interval and rule, as JSON."""
    return Response(table_to_json(glossary_table(glossary_entries()), {}), media_type="application/json")


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> Response:
    """Show every operation of the API; without scripts, so that it is there in a closed network too."""
    return page("api.html", title="API", operations=list_operations(request.app.openapi()))


@router.get("/static/{name}", include_in_schema=False)
def static(name: str) -> Response:
    """Return a file of the pages; its address changes with its content, so it may be kept for ever."""
    asset = assets().get(f"/static/{name}")
    if asset is None:
        raise NotFound(f"There is no file {clip_for_message(name)} here, or no longer.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(asset[0], media_type=asset[1], headers=headers)
