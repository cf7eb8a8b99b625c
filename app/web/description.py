"""The description of the API at /openapi.json: FastAPI's own description of each address, completed in one place.

What every address can answer (a fault, a database that is away, a missing token) is added here, so that no endpoint
can forget it; what only some answer is declared at the endpoint, by `app.web.problems.described`.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from app.program.version import API_VERSION
from app.web.checked_first import OF_RESOURCES
from app.web.documents.problems import ProblemDocument
from app.web.endpoint_answers import REFERENCE
from app.web.problems import PROBLEM_JSON

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
