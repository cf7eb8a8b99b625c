"""Tables that a steward uploads for a benchmark: the common part of `app.web.labels` and `app.web.items`."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Request, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.config.settings import MIB, Settings
from app.files.uploads import Limits, Upload
from app.reading.jobs import Job
from app.reading.readers import LATER
from app.reading.turns import Turn
from app.store import benchmarks
from app.store.benchmarks import Declared
from app.web.bodies import MAX_FIELDS, gone, received_files, spool
from app.web.caller import Caller
from app.web.documents.base import Document
from app.web.endpoint_answers import described
from app.web.queries import refuse_unknown
from app.web.state import State

# Kept by no cache, ours included.
PRIVATE = {"Cache-Control": "no-store"}
FIELD = "file"


def add_put_route(
    router: APIRouter, path: str, put: Callable[..., Any], *, summary: str, answer: type[Document], settings: Settings
) -> None:
    """Add the route of the PUT: 201 for a new table, 200 for the same bytes again; its size is a setting."""
    router.add_api_route(
        path,
        put,
        methods=["PUT"],
        status_code=201,
        summary=summary,
        responses={**described(403, 404, 409, answer=answer, status=201), **described(answer=answer)},
        max_body_size=settings.max_body_mib * MIB,
        form_limits={"max_fields": MAX_FIELDS},
    )


async def find_declared(request: Request, state: State, slug: str) -> Declared:
    """Return the benchmark and its newest manifest, once the form is known to hold the table alone.

    Raises FieldRejected and NotFound.
    """
    refuse_unknown(await request.form(), (FIELD,), "form field")
    return await run_in_threadpool(_find, state, slug)


def _find(state: State, slug: str) -> Declared:
    with state.sessions() as session:
        return benchmarks.find_declared(session, slug)


async def read_and_store(
    request: Request,
    state: State,
    uploader: Caller,
    file: UploadFile,
    job: Callable[[Sequence[Upload], Limits], Job],
    store: Callable[[Any], Response],
) -> Response:
    """Read the table in a reader process, then store the result; the client may disconnect meanwhile."""
    with received_files() as folder:
        beside, owner = state.readers.beside, uploader.owner
        async with beside.taken(Turn.of(owner, LATER)):
            uploads = await run_in_threadpool(spool, [file], folder)
        reading_job = job(uploads, Limits.from_settings(state.settings))
        with beside.ending(Turn.of(owner)) as storing:
            reading = await state.readers.read(reading_job, folder, uploader.id, gone(request), storing)
            return await run_in_threadpool(store, reading)
