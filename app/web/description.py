"""The description of the API at /openapi.json: FastAPI's own description of each address, completed in one place.

What every address can answer (a fault, a database that is away, a missing token) is added here, so that no endpoint
can forget it; what only some answer is declared at the endpoint, by `described`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from pydantic import TypeAdapter
from starlette.responses import Response

from app.program.version import API_VERSION
from app.render.csv_and_json import MEDIA_TYPES
from app.web.checked_first import OF_RESOURCES
from app.web.documents import ProblemDocument
from app.web.problems import PROBLEM_JSON
from app.web.views import PICTURES

Json = dict[str, Any]

SUMMARY = (
    "Evidence is submitted over HTTP and checked against what was registered before the run; ranks with intervals are "
    "computed from it and published as HTML, CSV and JSON. Public benchmarks are read without a token; every write "
    "needs one, as `Authorization: Bearer …`. Errors are problem documents (RFC 9457)."
)

# FastAPI describes its own form of a 422, which no address of ours answers.
FOREIGN_SCHEMAS = ("HTTPValidationError", "ValidationError")

EVERYWHERE = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)

WITH_TOKEN = (HTTPStatus.UNAUTHORIZED,)

WITH_BODY = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.INSUFFICIENT_STORAGE,
)

CACHED = ("/benchmarks/", "/benchmarks.", "/glossary")


class DescribedApi(FastAPI):
    """An app whose description names every answer of every address."""

    def openapi(self) -> Json:
        """Return the description, built once."""
        if self.openapi_schema is None:
            self.openapi_schema = complete(super().openapi())
        return self.openapi_schema


NUMBERED = frozenset({"snapshot", "from", "to"})
"""Parameters that name a snapshot by its number."""


def operations(description: Mapping[str, Any]) -> Iterator[tuple[str, str, Json]]:
    """Yield the path, the method and the description of every operation."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def complete(description: Json) -> Json:
    """Return FastAPI's description with every answer in it, and every shared type in its place."""
    schemas: Json = description.setdefault("components", {}).setdefault("schemas", {})
    description["info"]["x-api-version"] = API_VERSION
    schemas["ProblemDocument"] = ProblemDocument.model_json_schema(ref_template=REFERENCE)
    for path, method, operation in operations(description):
        answers: Json = operation["responses"]
        for status in _common(path, method, operation):
            answers.setdefault(str(status.value), {"description": status.phrase})
        for status_text, answer in answers.items():
            if int(status_text) >= HTTPStatus.BAD_REQUEST:
                answer["content"] = _problem_content(method)
        operation["responses"] = dict(sorted(answers.items()))
    _move_definitions(description, schemas)
    for name in FOREIGN_SCHEMAS:
        schemas.pop(name, None)
    return description


def _common(path: str, method: str, operation: Json) -> Iterator[HTTPStatus]:
    yield from EVERYWHERE
    if path.startswith(OF_RESOURCES):
        # A parameter that the address does not know.
        yield HTTPStatus.UNPROCESSABLE_ENTITY
    if NUMBERED.intersection(parameter["name"] for parameter in operation.get("parameters", ())):
        # A snapshot that is no longer kept.
        yield HTTPStatus.GONE
    if "security" in operation:
        yield from WITH_TOKEN
    elif method == "get" and path.startswith(CACHED):
        yield HTTPStatus.NOT_MODIFIED
    if "requestBody" in operation:
        yield from WITH_BODY


def _problem_content(method: str) -> Json:
    content: Json = {PROBLEM_JSON: {"schema": {"$ref": REFERENCE.format(model="ProblemDocument")}}}
    # A browser that reads gets the same problem as a page.
    return content | {"text/html": {"schema": {"type": "string"}}} if method == "get" else content


def _move_definitions(part: Any, schemas: Json) -> None:
    """Move the types that an inline schema defines to the components, where its references look for them."""
    if isinstance(part, dict):
        schemas.update(part.pop("$defs", {}))
    children = list(part.values()) if isinstance(part, dict) else part if isinstance(part, list) else ()
    for child in children:
        _move_definitions(child, schemas)


# What an endpoint answers, for the description of the API: its problems, its document, and the formats of a table.

Endpoint = TypeVar("Endpoint", bound=Callable[..., Response])

TEXTS = {
    "html": "text/html",
    "csv": "text/csv",
    "yaml": "application/yaml",
    "zip": "application/zip",
    "text": "text/plain",
    "svg": "image/svg+xml",
    "png": "image/png",
    "bib": "application/x-bibtex",
    "atom": "application/atom+xml",
    **MEDIA_TYPES,
}

TABLE = ("html", "csv", *PICTURES, *MEDIA_TYPES)

REFERENCE = "#/components/schemas/{model}"


def described(
    *statuses: int, answer: Any = None, also: Sequence[str] = (), status: int = 200
) -> dict[int | str, dict[str, Any]]:
    """Return the answers of an endpoint for the description of the API: its own problems, and what it gives.

    `answer` is the type of the JSON document, `also` the other formats of the same address. What an error looks like,
    and which every address may have, `app.web.description` adds.
    """
    by_status: dict[int | str, dict[str, Any]] = {
        failed: {"description": HTTPStatus(failed).phrase} for failed in statuses
    }
    given: dict[str, Any] = {TEXTS[name]: {"schema": {"type": "string"}} for name in also}
    if answer is not None:
        given["application/json"] = {"schema": deepcopy(_schema(answer))}
    if given:
        by_status[status] = {"description": HTTPStatus(status).phrase, "content": given}
    return by_status


@cache
def _schema(answer: Any) -> dict[str, Any]:
    """Return the schema of a type. Three routers are made anew for every app, and their schemas take most of that."""
    return TypeAdapter(answer).json_schema(ref_template=REFERENCE)


def table_routes(
    router: APIRouter,
    path: str,
    summary: str,
    *statuses: int,
    answer: Any,
    is_columnar: bool = True,
    is_drawn: bool = False,
    dependencies: Sequence[Depends] = (),
) -> Callable[[Endpoint], Endpoint]:
    """Decorate the endpoint of a table that is a page at `path` and data at the same address with .csv and .json.

    With `is_columnar` also as NDJSON, Arrow and Parquet, with `is_drawn` its picture as SVG and PNG.
    """
    formats: dict[str, dict[str, Any]] = {
        "": {"also": ("html",)},
        ".csv": {"also": ("csv",)},
        ".json": {"answer": answer},
        **{f".{name}": {"also": (name,)} for name in MEDIA_TYPES if is_columnar},
        **({f".{name}": {"also": (name,)} for name in PICTURES} if is_drawn else {}),
    }

    def decorate(endpoint: Endpoint) -> Endpoint:
        for ending, given in formats.items():
            described_by = described(*statuses, **given)
            router.add_api_route(
                path + ending, endpoint, summary=summary, responses=described_by, dependencies=dependencies
            )
        return endpoint

    return decorate
