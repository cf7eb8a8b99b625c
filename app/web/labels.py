"""/benchmarks/{slug}/labels: what a benchmark's predictions are held against, put once by its steward.

No address of the server gives labels back, not even to a steward, who has the file.
"""

from typing import Annotated

from fastapi import APIRouter, File, Request, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.config import MIB, Settings
from app.files.uploads import Limits
from app.kinds.predictions.labels import LabelReading
from app.reading.jobs import LabelsJob
from app.store import benchmarks, labels
from app.store.benchmarks import Declared
from app.store.labels import LabelsPut
from app.web.answers import json_answer
from app.web.bodies import MAX_FIELDS, gone, received_files, spool
from app.web.documents import LabelsDocument
from app.web.early import CheckedFirst
from app.web.problems import described
from app.web.queries import refuse_unknown
from app.web.state import Caller, SessionDep, State, StateDep, StewardHere, Uploader

# Kept by no cache, ours included: nothing about labels is for everyone.
PRIVATE = {"Cache-Control": "no-store"}


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["labels"])
    router.add_api_route(
        "/benchmarks/{slug}/labels",
        put_labels,
        methods=["PUT"],
        status_code=201,
        summary="Put the labels, once",
        responses={
            **described(403, 404, 409, answer=LabelsDocument, status=201),
            **described(answer=LabelsDocument),
        },
        max_body_size=settings.max_body_mib * MIB,
        form_limits={"max_fields": MAX_FIELDS},
    )
    router.add_api_route(
        "/benchmarks/{slug}/labels",
        show_labels,
        methods=["GET"],
        summary="Which tasks have labels (stewards only; never the labels)",
        responses=described(403, 404, 409, answer=LabelsDocument),
    )
    return router


async def put_labels(
    slug: str,
    request: Request,
    state: StateDep,
    caller: StewardHere,
    uploader: Uploader,
    file: Annotated[UploadFile, File(description="columns item, label, weight?, group?, task?; as for results")],
) -> Response:
    """Put the labels of every task. 201, or 200 for the same bytes again; other bytes are refused."""
    refuse_unknown(await request.form(), ("file",), "form field")
    declared = await run_in_threadpool(_find, state, slug)
    part = labels.private_part(declared.manifest)
    with received_files() as folder:
        uploads = await run_in_threadpool(spool, [file], folder)
        job = LabelsJob(declared.manifest, part, uploads, Limits.from_settings(state.settings))
        reading = await state.readers.read(job, folder, uploader.id, gone(request))
        return await run_in_threadpool(_store, state, declared, reading, caller)


def _find(state: State, slug: str) -> Declared:
    with state.sessions() as session:
        return benchmarks.find_declared(session, slug)


def _store(state: State, declared: Declared, reading: LabelReading, caller: Caller) -> Response:
    with state.sessions.begin() as session:
        is_new = labels.put_labels(session, declared, reading.labels, reading.sha256, caller.id)
        known = labels.describe_labels(session, declared.benchmark.id)
    warnings = [warning.as_dict() for warning in reading.warnings]
    document = {**_describe(declared.manifest.slug, known), "warnings": warnings}
    return json_answer(document, 201 if is_new else 200, PRIVATE)


def show_labels(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """Say which tasks have labels, of how many items, since when."""
    del caller  # the dependency has refused everyone else
    declared = benchmarks.find_declared(session, slug)
    labels.private_part(declared.manifest)
    return json_answer(_describe(slug, labels.describe_labels(session, declared.benchmark.id)), headers=PRIVATE)


def _describe(slug: str, known: list[LabelsPut]) -> dict[str, object]:
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    return {"benchmark": slug, "sha256": known[0].sha256 if known else None, "tasks": tasks}
