"""/benchmarks/{slug}/labels: what a benchmark's predictions are scored against, put once by its steward.

No address of the server gives labels back, not even to a steward, who has the file.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, File, Request, UploadFile
from starlette.responses import Response

from app.config.settings import Settings
from app.db.engine import LONG_REQUESTS, allow
from app.errors import Problem
from app.files.uploads import Limits, Upload
from app.kinds.predictions.label_parts import warn_of_parts
from app.kinds.predictions.labels import LabelReading
from app.reading.jobs import LabelsJob
from app.store import audit, benchmarks, labels
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.labels import LabelsPut
from app.web.answers import json_answer
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.put_tables import LabelsDocument
from app.web.endpoint_answers import described
from app.web.put_tables import PRIVATE, add_put_route, find_declared, read_and_store
from app.web.state import SessionDep, State, StateDep, StewardHere, Uploader


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["labels"])
    path = "/benchmarks/{slug}/labels"
    add_put_route(router, path, put_labels, summary="Upload the labels, once", answer=LabelsDocument, settings=settings)
    router.add_api_route(
        path,
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
    """Upload the labels of every task. 201, or 200 for the same bytes again; other bytes are refused."""
    declared = await find_declared(request, state, slug)
    part = labels.private_part(declared.manifest)

    def job(uploads: Sequence[Upload], limits: Limits) -> LabelsJob:
        return LabelsJob(declared.manifest, part, uploads, limits)

    return await read_and_store(request, state, uploader, file, job, partial(_store, state, declared, caller))


def _store(state: State, declared: Declared, caller: Caller, reading: LabelReading) -> Response:
    with state.sessions.begin() as session:
        allow(session, LONG_REQUESTS)
        divided = labels.put_labels(session, declared, reading.labels, reading.sha256, caller.id)
        known = labels.describe_labels(session, declared.benchmark.id)
        is_new = divided is not None
        after = {"sha256": reading.sha256, "n_tasks": len(known), "is_new": is_new}
        audit.record(session, caller.act, 201 if is_new else 200, Change(after=after))
    part = labels.private_part(declared.manifest)
    of_parts = [Problem(text) for each in divided or () for text in warn_of_parts(each, part)]
    warnings = [warning.as_dict() for warning in (*reading.warnings, *of_parts)]
    document = {**_describe(declared.manifest.slug, known), "warnings": warnings}
    return json_answer(document, 201 if is_new else 200, PRIVATE)


def show_labels(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """Return which tasks have labels, of how many items, since when."""
    del caller  # the dependency has refused everyone else
    declared = benchmarks.find_declared(session, slug)
    labels.private_part(declared.manifest)
    return json_answer(_describe(slug, labels.describe_labels(session, declared.benchmark.id)), headers=PRIVATE)


def _describe(slug: str, known: list[LabelsPut]) -> dict[str, object]:
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    return {"benchmark": slug, "sha256": known[0].sha256 if known else None, "tasks": tasks}
