"""/benchmarks/{slug}/items: the items of a benchmark's grid, put by its steward."""

from typing import Annotated

from fastapi import APIRouter, File, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.config import MIB, Settings
from app.files.uploads import Limits
from app.kinds.items import ItemsReading
from app.reading.jobs import ItemsJob
from app.store import benchmarks, grids
from app.store.benchmarks import Declared
from app.web.answers import json_answer
from app.web.bodies import MAX_FIELDS, gone, received_files, spool
from app.web.documents import ItemsDocument
from app.web.early import CheckedFirst
from app.web.problems import described
from app.web.state import Caller, SessionDep, State, StateDep, StewardHere, Uploader

PRIVATE = {"Cache-Control": "no-store"}


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["items"])
    router.add_api_route(
        "/benchmarks/{slug}/items",
        put_items,
        methods=["PUT"],
        status_code=201,
        summary="Put the items of the grid",
        responses={**described(403, 404, 409, answer=ItemsDocument, status=201), **described(answer=ItemsDocument)},
        max_body_size=settings.max_body_mib * MIB,
        form_limits={"max_fields": MAX_FIELDS},
    )
    router.add_api_route(
        "/benchmarks/{slug}/items",
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
    """Put the items for the newest version of the manifest, which says `items: file`. 200 for the same bytes again."""
    declared = await run_in_threadpool(_find, state, slug)
    with received_files() as folder:
        uploads = await run_in_threadpool(spool, [file], folder)
        job = ItemsJob(declared.manifest, uploads, Limits.from_settings(state.settings))
        reading = await state.readers.read(job, folder, uploader.id, gone(request))
        return await run_in_threadpool(_store, state, declared, reading, caller)


def _find(state: State, slug: str) -> Declared:
    with state.sessions() as session:
        return benchmarks.find_declared(session, slug)


def _store(state: State, declared: Declared, reading: ItemsReading, caller: Caller) -> Response:
    def store(session: Session) -> Response:
        is_new = grids.put_items(session, declared, reading.items, reading.sha256, caller.id)
        if is_new:
            state.jobs.defer_publish(session, declared.benchmark.id)
        document = {**_describe(session, declared), "warnings": [w.as_dict() for w in reading.warnings]}
        return json_answer(document, 201 if is_new else 200, PRIVATE)

    return state.transact(store)


def show_items(slug: str, session: SessionDep) -> Response:
    """Say how many items each task of the grid has, since when, and of which file."""
    return json_answer(_describe(session, benchmarks.find_declared(session, slug)), headers=PRIVATE)


def _describe(session: Session, declared: Declared) -> dict[str, object]:
    known = grids.describe_items(session, declared)
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    about = {"benchmark": declared.manifest.slug, "version": declared.version.version}
    return {**about, "sha256": known[0].sha256 if known else None, "tasks": tasks}
