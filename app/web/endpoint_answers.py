"""What an endpoint answers, for the description of the API: its problems, its document, and the formats of a table.

Called by the endpoints of `app.web`; `app.web.description` adds what every address may answer.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.responses import Response

from app.render.columnar import MEDIA_TYPES
from app.web.answers import PICTURES

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
            router.add_api_route(path + ending, endpoint, summary=summary, responses=described(*statuses, **given))
        return endpoint

    return decorate
