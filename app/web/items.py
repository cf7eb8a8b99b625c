"""/benchmarks/{slug}/items: the items of a benchmark's grid, put by its steward."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, File, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.config.settings import Settings
from app.db.engine import LONG_REQUESTS, allow
from app.files.uploads import Limits, Upload
from app.kinds.items import ItemsReading
from app.reading.jobs import ItemsJob
from app.store import audit, benchmarks, grids
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.web.answers import json_answer
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.put_tables import ItemsDocument
from app.web.endpoint_answers import described
from app.web.put_tables import PRIVATE, add_put_route, find_declared, read_and_store
from app.web.state import SessionDep, State, StateDep, StewardHere, Uploader


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["items"])
    path = "/benchmarks/{slug}/items"
    add_put_route(
        router, path, put_items, summary="Upload the items of the grid", answer=ItemsDocument, settings=settings
    )
    router.add_api_route(
        path,
        show_items,
        methods=["GET"],
        summary="How many items the grid has, by task",
        responses=described(404, answer=ItemsDocument),
    )
    return router


async def put_items(
    slug: str,
    request: Request,
    state: StateDep,
    caller: StewardHere,
    uploader: Uploader,
    file: Annotated[UploadFile, File(description="columns item, task?; CSV or JSON")],
) -> Response:
    """Upload the grid's items for the newest version of a manifest with `items: file`. 200 for the same bytes again."""
    declared = await find_declared(request, state, slug)

    def job(uploads: Sequence[Upload], limits: Limits) -> ItemsJob:
        return ItemsJob(declared.manifest, uploads, limits)

    return await read_and_store(request, state, uploader, file, job, partial(_store, state, declared, caller))


def _store(state: State, declared: Declared, caller: Caller, reading: ItemsReading) -> Response:
    def store(session: Session) -> Response:
        allow(session, LONG_REQUESTS)
        is_new = grids.put_items(session, declared, reading.items, reading.sha256, caller.id)
        if is_new:
            state.jobs.defer_refresh(session, declared.benchmark.id)
        after = {"sha256": reading.sha256, "version": declared.version.version, "is_new": is_new}
        audit.record(session, caller.act, 201 if is_new else 200, Change(after=after))
        document = {**_describe(session, declared), "warnings": [w.as_dict() for w in reading.warnings]}
        return json_answer(document, 201 if is_new else 200, PRIVATE)

    return state.transact(store)


def show_items(slug: str, session: SessionDep) -> Response:
    """Return how many items each task of the grid has, since when, and from which file."""
    return json_answer(_describe(session, benchmarks.find_declared(session, slug)), headers=PRIVATE)


def _describe(session: Session, declared: Declared) -> dict[str, object]:
    known = grids.describe_items(session, declared)
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    about = {"benchmark": declared.manifest.slug, "version": declared.version.version}
    return {**about, "sha256": known[0].sha256 if known else None, "tasks": tasks}
