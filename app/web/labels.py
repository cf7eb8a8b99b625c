"""/benchmarks/{slug}/labels, /items, /disclosed and /exact: what a steward puts beside evidence, what was disclosed of
it, and the final boards with exact scores once it is closed.

No address of the server gives labels back, not even to a steward, who has the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, File, Path, Query, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.boards.evidence import board_of
from app.config import MIB, Settings
from app.db.engine import LONG_REQUESTS, allow
from app.db.models import OwnerLink
from app.errors import BoardUnavailable, Conflict, NotFound, Problem
from app.files.uploads import Limits, SentFile
from app.jobs.evidence import current_evidence
from app.jobs.publish import finished, read_everything
from app.kinds.items import ItemsReading, read_items
from app.kinds.labels import LabelReading
from app.manifest.model import Leaderboard
from app.reading import LATER
from app.rights import tokens
from app.store import audit, benchmark_rows, benchmarks, grids, labels
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.disclosed import disclosed_table
from app.store.labels import Commitment, ItemsPut
from app.store.publication import Inputs
from app.store.snapshots import with_names
from app.turns import Turn
from app.values.table import Cell, Column, Table
from app.web.caller import PUBLIC, READ_SOON, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described, table_routes
from app.web.documents import Document, ItemsDocument, LabelsDocument, OwnerLinkDocument, TableDocument
from app.web.requests import MAX_FIELDS, Body, Line, Number, Reason, copy_files, gone, received_files, refuse_unknown
from app.web.state import SessionDep, State, StateDep
from app.web.views import NO_STORE, around, json_answer, name_links, split_format, table_answer, view_of

T = TypeVar("T")


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
        dependencies=[may("see what labels there are")],
    )
    return router


async def put_labels(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("upload labels")],
    file: Annotated[UploadFile, File(description="columns item, label, weight?, group?, task?; as for results")],
) -> Response:
    """Upload the labels of every task. 201, or 200 for the same bytes again; other bytes are refused."""
    declared = await find_declared(request, state, slug)
    read = partial(labels.labels_of(declared.manifest).read, declared.manifest)
    return await read_and_store(request, state, caller, file, read, partial(_store, state, declared, caller))


def _store(state: State, declared: Declared, caller: Caller, reading: LabelReading) -> Response:
    with state.sessions.begin() as session:
        allow(session, LONG_REQUESTS)
        divided = labels.put_labels(session, declared, reading.labels, reading.sha256, caller.id)
        known = labels.describe_labels(session, declared.benchmark.id)
        is_new = divided is not None
        after = {"sha256": reading.sha256, "n_tasks": len(known), "is_new": is_new}
        audit.record(session, caller.act, 201 if is_new else 200, Change(after=after))
    kind = labels.labels_of(declared.manifest)
    of_parts = [Problem(text) for each in divided or () for text in kind.warn_of_parts(declared.manifest, each)]
    warnings = [warning.as_dict() for warning in (*reading.warnings, *of_parts)]
    document = {**_describe(declared.manifest.slug, known), "warnings": warnings}
    return json_answer(document, 201 if is_new else 200)


def show_labels(slug: str, session: SessionDep) -> Response:
    """Return which tasks have labels, of how many items, since when."""
    declared = benchmarks.find_declared(session, slug)
    labels.labels_of(declared.manifest)
    return json_answer(_describe(slug, labels.describe_labels(session, declared.benchmark.id)))


def _describe(slug: str, known: list[ItemsPut]) -> dict[str, object]:
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    return {"benchmark": slug, "sha256": known[0].sha256 if known else None, "tasks": tasks}


# /benchmarks/{slug}/items: the items of a benchmark's grid, put by its steward.


def make_items_router(settings: Settings) -> APIRouter:
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
        dependencies=PUBLIC,
    )
    return router


async def put_items(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("upload items")],
    file: Annotated[UploadFile, File(description="columns item, task?; CSV or JSON")],
) -> Response:
    """Upload the grid's items for the newest version of a manifest with `items: file`. 200 for the same bytes again."""
    declared = await find_declared(request, state, slug)
    read = partial(read_items, declared.manifest)
    return await read_and_store(request, state, caller, file, read, partial(_store_items, state, declared, caller))


def _store_items(state: State, declared: Declared, caller: Caller, reading: ItemsReading) -> Response:
    def store(session: Session) -> Response:
        allow(session, LONG_REQUESTS)
        is_new = grids.put_items(session, declared, reading.items, reading.sha256, caller.id)
        if is_new:
            state.jobs.defer_refresh(session, declared.benchmark.id)
        after = {"sha256": reading.sha256, "version": declared.version.version, "is_new": is_new}
        audit.record(session, caller.act, 201 if is_new else 200, Change(after=after))
        document = {**_describe_items(session, declared), "warnings": [w.as_dict() for w in reading.warnings]}
        return json_answer(document, 201 if is_new else 200)

    return state.transact(store)


def show_items(slug: str, session: SessionDep) -> Response:
    """Return how many items each task of the grid has, since when, and from which file."""
    return json_answer(_describe_items(session, benchmarks.find_declared(session, slug)), headers=NO_STORE)


def _describe_items(session: Session, declared: Declared) -> dict[str, object]:
    known = grids.describe_items(session, declared)
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    about = {"benchmark": declared.manifest.slug, "version": declared.version.version}
    return {**about, "sha256": known[0].sha256 if known else None, "tasks": tasks}


# Tables that a steward uploads for a benchmark: what labels and items have in common.


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
        dependencies=READ_SOON,
        max_body_size=settings.max_body_mib * MIB,
        form_limits={"max_fields": MAX_FIELDS},
    )


async def find_declared(request: Request, state: State, slug: str) -> Declared:
    """Return the benchmark and its newest manifest, once the form is known to hold the table alone.

    Raises FieldRejected and NotFound.
    """
    refuse_unknown(await request.form(), ("file",), "form field")
    return await state.run(benchmarks.find_declared, slug)


async def read_and_store(
    request: Request,
    state: State,
    caller: Caller,
    file: UploadFile,
    read: Callable[[Sequence[SentFile], Limits], T],
    store: Callable[[T], Response],
) -> Response:
    """Read the table in a reader process, then store the result; the client may disconnect meanwhile."""
    with received_files() as folder:
        beside, owner = state.readers.beside, caller.owner
        async with beside.taken(Turn.of(owner, LATER)):
            uploads = await run_in_threadpool(copy_files, [file], folder)
        work = partial(read, uploads, Limits.from_settings(state.settings))
        with beside.ending(Turn.of(owner)) as storing:
            reading = await state.readers.read(work, folder, caller.id, gone(request), storing)
            return await run_in_threadpool(store, reading)


# What binds the steward of private labels, closing a benchmark, and what each owner learned.

disclosure_router = APIRouter(route_class=CheckedFirst, tags=["labels"])

ABOUT = (Column("what", "What", "text"), Column("value", "Value", "text", glossary="label_commitment"))


@table_routes(
    disclosure_router,
    "/benchmarks/{slug}/commitment",
    "The commitment to private labels",
    404,
    answer=TableDocument,
    dependencies=PUBLIC,
)
def show_commitment(slug: str, request: Request, session: SessionDep) -> Response:
    """Show the commitment published when the labels were uploaded; after the close also its parts (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    return _shown(request, session, declared, _commitment_table(_find_closed(session, declared)))


def _find_closed(session: Session, declared: Declared) -> Commitment:
    commitment = labels.find_commitment(session, declared.benchmark.id)
    if commitment is None:
        raise NotFound(f"{declared.manifest.slug} has no private labels, so there is no commitment to them.")
    return commitment


def _commitment_table(published: Commitment) -> Table:
    notes = ["The SHA-256 of four lines, each ending in a line feed; after the close they are shown below."]
    rows: list[tuple[Cell, ...]] = [
        ("commitment", published.commitment),
        ("committed at", _time(published.committed_at)),
    ]
    if published.close is not None:
        rows += [("closed at", _time(published.close.at)), ("closed by", published.closed_by or "its time"),
                 ("reason", published.close.reason)]  # fmt: skip
    if published.opening is not None:
        rows += [(f"line {at}", line) for at, line in enumerate(published.opening.text().splitlines(), 1)]
    if published.close is not None and not published.close.labels_match:
        notes.append("At the close the stored labels did NOT match the commitment.")
    return Table("commitment", "Commitment to the labels", ABOUT, tuple(rows), tuple(notes))


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _shown(
    request: Request, session: Session, declared: Declared, table: Table, links: Sequence[tuple[str, str]] = ()
) -> Response:
    address, fmt = split_format(request.url.path)
    view = around(view_of(session, declared, table, None), address, links, {})
    answer = table_answer(request, view, fmt)
    answer.headers.update(NO_STORE)
    return answer


class Close(Body):
    """Why a benchmark closes; shown for ever."""

    reason: Reason


@disclosure_router.post(
    "/benchmarks/{slug}/close",
    summary="Close the benchmark: score the private part",
    responses=described(403, 404, 409, answer=TableDocument),
)
def close(slug: str, order: Close, state: StateDep, caller: Annotated[Caller, may("close a benchmark")]) -> Response:
    """Close a benchmark of private labels for ever (its steward): no more is scored, and the private part decides."""
    return state.transact(lambda session: _close(session, state, slug, order, caller))


def _close(session: Session, state: State, slug: str, order: Close, caller: Caller) -> Response:
    allow(session, LONG_REQUESTS)
    declared = benchmarks.find_declared(session, slug)
    labels.close(session, declared, caller.id, order.reason)
    audit.record(session, caller.act, 200, Change(after={"closed": True}, reason=order.reason))
    state.jobs.defer_refresh(session, declared.benchmark.id)
    table = _commitment_table(_find_closed(session, declared))
    return json_answer({"benchmark": slug, "snapshot": None, **_document(table)})


def _document(table: Table) -> dict[str, object]:
    return {**table.to_json(), "rows": list(table.records())}


DISCLOSED = "/benchmarks/{slug}/disclosed"


@table_routes(
    disclosure_router,
    DISCLOSED,
    "What was disclosed of the labels (stewards)",
    403,
    404,
    answer=TableDocument,
    dependencies=[may("see what is disclosed of labels")],
)
def show_disclosed(slug: str, request: Request, session: SessionDep) -> Response:
    """Show how much each owner asked of private labels and learned: answers, numbers, and bits at most."""
    declared = benchmarks.find_declared(session, slug)
    if labels.scoring_of(declared.manifest) is None:
        raise NotFound(f"{slug} has no private labels, so nothing is disclosed of them.")
    closed = labels.find_close(session, declared.benchmark.id)
    links = [] if closed is None else [("Exact scores", f"/benchmarks/{slug}/exact")]
    return _shown(request, session, declared, disclosed_table(session, declared), links)


class Link(Body):
    """The token (number or name) as whose a token's submissions are counted, and why."""

    counted_as: Number | Line
    reason: Reason


@disclosure_router.put(
    "/benchmarks/{slug}/owners/{token}",
    summary="Link a token to an owner",
    responses=described(403, 404, 409, answer=OwnerLinkDocument),
)
def link_owner(
    slug: str,
    token: Annotated[str, Path(description="the number or the name of a token", max_length=100)],
    order: Link,
    session: SessionDep,
    caller: Annotated[Caller, may("link tokens as one owner")],
) -> Response:
    """Count two tokens as one owner, with one quota and one best (a steward); naming the token itself undoes it."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    one, owner = tokens.find_named(session, token), tokens.find_named(session, str(order.counted_as))
    owner_link = OwnerLink(
        benchmark_id=benchmark.id, token_id=one.id, owner_id=owner.id, by_id=caller.id, reason=order.reason
    )
    tokens.link(session, owner_link)
    after = {"token": one.id, "counted_as": owner.id}
    audit.record(session, caller.act, 200, Change(after=after, reason=order.reason))
    return json_answer({"benchmark": slug, **after})


exact_router = APIRouter(route_class=CheckedFirst, tags=["labels"])
ADDRESS = "/benchmarks/{slug}/exact"
DIGITS = 10
"""Decimals on the page; CSV and JSON have all that a number has."""
NOTE = (
    "Exact: nothing here is rounded, so it is for stewards alone. Ranks are of the private part, as on the published "
    "board; the columns of the public part and of all items stand beside."
)
BoardName = Annotated[str | None, Query(max_length=200, description="the name of the board; by default the first")]


@table_routes(exact_router, ADDRESS, "Exact final scores (stewards)", 403, 404, 409, answer=TableDocument)
def show_exact(
    slug: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    caller: Annotated[Caller, may("see exact scores")],
    board: BoardName = None,
) -> Response:
    """Show a final board of private labels without rounding, on either part and on all items (its steward).

    409 before the close.
    """
    declared = benchmarks.find_declared(session, slug)
    _refuse_unless_closed(session, declared)
    boards = {spec.name: spec for spec in declared.manifest.leaderboards}
    spec = _board(declared, boards, board)
    address, fmt = split_format(request.url.path)
    allow(session, LONG_REQUESTS)
    with state.computing.taken_in_thread(caller.owner):
        table = exact_board(session, declared.benchmark.id, spec)
    view = view_of(session, declared, _in_full(table) if fmt == "html" else table, None)
    links = [("The published board", f"/benchmarks/{slug}/leaderboards/{spec.name}")]
    links += [("Disclosed", f"/benchmarks/{slug}/disclosed")]
    links += [(each.title or name, f"{ADDRESS.format(slug=slug)}?board={name}") for name, each in boards.items()
              if name != spec.name]  # fmt: skip
    return table_answer(request, around(view, address, links, name_links(declared)), fmt)


def _refuse_unless_closed(session: Session, declared: Declared) -> None:
    slug = declared.manifest.slug
    if labels.scoring_of(declared.manifest) is None:
        raise NotFound(f"{slug} has no private labels, so its boards are exact as they are.")
    if labels.find_close(session, declared.benchmark.id) is None:
        raise Conflict(f"{slug} must be closed first: until then exact scores would give private labels away.")


def _board(declared: Declared, boards: dict[str, Leaderboard], name: str | None) -> Leaderboard:
    if name is None:
        return declared.manifest.leaderboards[0]
    if name not in boards:
        raise NotFound(f"{declared.manifest.slug} has no leaderboard {name}.")
    return boards[name]


def _in_full(table: Table) -> Table:
    """Return a table whose scores are shown in full on a page; p-values and counts stay as they are."""
    shown = [
        replace(column, digits=DIGITS) if column.kind == "number" and column.name != "first_p" else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(shown))


# The board is the published computation, from the same current evidence: only the precision of its scores differs.


def exact_board(session: Session, benchmark_id: int, spec: Leaderboard) -> Table:
    """Return a board of a closed benchmark with exact scores: of the private part, the public part and all items.

    What was measured for it is kept, so that the next look at it is quick.
    """
    inputs = _exactly(read_everything(session, benchmark_id))
    try:
        board = _computed(session, inputs, spec)
    except BoardUnavailable as error:
        meta = {"method": spec.method, "unavailable": str(error), "unavailable_reason": error.reason.value}
        board = Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (str(error),), meta)
    title, notes = f"{spec.title or spec.name}, exact", (NOTE, *board.notes)
    return replace(board, name=f"exact/{spec.name}", title=title, notes=notes)


def _exactly(inputs: Inputs) -> Inputs:
    manifest = inputs.declared.manifest
    exact = manifest.with_grid_facts(replace(manifest.asked.facts, is_exact=True))
    return replace(inputs, declared=replace(inputs.declared, manifest=exact))


def _computed(session: Session, inputs: Inputs, spec: Leaderboard) -> Table:
    evidence, measuring = current_evidence(session, inputs)
    board = board_of(evidence, spec).leaderboard
    measuring.keep(session)
    return with_names(session, finished(inputs, board))
