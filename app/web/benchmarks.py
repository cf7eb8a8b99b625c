"""/ and /benchmarks: the list, one benchmark, making and changing one, snapshots, tasks and entrants."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Snapshot
from app.errors import NotFound
from app.leaderboards.registry import manifest_json_schema, parse_manifest
from app.store import benchmarks, entrants, snapshots, submissions, tables, tokens
from app.web.answers import TableView, json_answer, page, split_format, table_answer
from app.web.bodies import yaml_body
from app.web.problems import described
from app.web.state import SessionDep, StateDep, Steward

router = APIRouter(tags=["benchmarks"])
SnapshotNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@router.get("/", summary="The benchmarks", include_in_schema=False)
def list_benchmarks(session: SessionDep) -> Response:
    """List every benchmark."""
    return page("benchmarks.html", title="Benchmarks", benchmarks=benchmarks.list_benchmarks(session))


@router.get("/benchmarks.json", summary="The benchmarks as JSON", responses=described())
def list_benchmarks_json(session: SessionDep) -> Response:
    """List every benchmark as JSON."""
    return json_answer(
        [
            {
                "slug": b.slug,
                "title": b.manifest.title,
                "n_entrants": b.n_entrants,
                "n_submissions": b.n_submissions,
                "snapshot": b.snapshot_number,
                "published_at": b.published_at.isoformat() if b.published_at else None,
                "leaderboards": [board.name for board in b.manifest.leaderboards],
            }
            for b in benchmarks.list_benchmarks(session)
        ]
    )


@router.post("/benchmarks", status_code=201, summary="Make a benchmark", responses=described(401, 403, 409, 413, 422))
async def create_benchmark(request: Request, state: StateDep, caller: Steward) -> Response:
    """Make a benchmark from its manifest (YAML)."""
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def create(session: Session) -> Response:
        manifest = parse_manifest(yaml)
        declared = benchmarks.create_benchmark(session, manifest, yaml, caller.id)
        state.jobs.defer_publish(session, declared.benchmark.id)
        address = f"/benchmarks/{manifest.slug}"
        made = {"slug": manifest.slug, "version": declared.version.version, "url": address}
        return json_answer(made, 201, {"Location": address})

    return await state.run(create)


@router.put("/benchmarks/{slug}", summary="Add a version of the manifest", responses=described(401, 403, 404, 409, 422))
async def update_benchmark(slug: str, request: Request, state: StateDep, caller: Steward) -> Response:
    """Add a version of a benchmark's manifest (YAML); the boards are computed anew."""
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def update(session: Session) -> Response:
        declared = benchmarks.update_benchmark(session, slug, parse_manifest(yaml), yaml, caller.id)
        state.jobs.defer_publish(session, declared.benchmark.id)
        made = {"slug": slug, "version": declared.version.version, "url": f"/benchmarks/{slug}"}
        return json_answer(made)

    return await state.run(update)


@router.get("/schemas/manifest.json", summary="JSON Schema of a manifest")
def manifest_schema() -> Response:
    """Return the JSON Schema of a benchmark manifest."""
    return json_answer(manifest_json_schema())


@router.get("/benchmarks/{slug}", summary="One benchmark (.json, .yaml)", responses=described(404))
def show_benchmark(slug: str, request: Request, session: SessionDep) -> Response:
    """Show a benchmark: boards, rules, how to submit."""
    name, fmt = split_format(slug)
    declared = benchmarks.find_declared(session, name)
    if fmt == "yaml":
        return Response(declared.version.yaml, media_type="application/yaml")
    snapshot = snapshots.find_snapshot(session, declared.benchmark)
    if fmt == "json":
        about = {
            "slug": name,
            "version": declared.version.version,
            "sha256": declared.version.sha256,
            "snapshot": snapshot.number if snapshot else None,
            "stale": declared.benchmark.data_version > declared.benchmark.published_version,
            "manifest": declared.manifest.model_dump(mode="json", by_alias=True),
        }
        return json_answer(about)
    return page(
        "benchmark.html",
        title=declared.manifest.title,
        manifest=declared.manifest,
        version=declared.version.version,
        snapshot=snapshot,
        publish_error=declared.benchmark.publish_error,
        base=str(request.base_url).rstrip("/"),
        submissions=submissions.list_submissions(session, declared.benchmark.id, limit=50),
    )


@router.get("/benchmarks/{slug}/leaderboards/{board}", summary="A board (.csv, .json)", responses=described(404, 422))
def show_board(
    slug: str, board: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show a leaderboard of the current snapshot, or of the one asked for."""
    name, fmt = split_format(board)
    view = _published(session, slug, snapshot, f"leaderboard/{name}")
    address = f"/benchmarks/{slug}/leaderboards/{name}"
    return table_answer(
        request,
        _around(
            view,
            address,
            [("Pair by pair", f"{address}/pairwise")],
            {"entrant": lambda entrant: f"/benchmarks/{slug}/entrants/{quote(entrant)}"},
        ),
        fmt,
    )


@router.get("/benchmarks/{slug}/leaderboards/{board}/{kind}", summary="Pair by pair", responses=described(404, 422))
def show_pairwise(
    slug: str, board: str, kind: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show every ordered pair of a board's entrants (`pairwise`, .csv, .json)."""
    name, fmt = split_format(kind)
    if name != "pairwise":
        raise NotFound(f"A board has no {name}; there is pairwise.")
    view = _published(session, slug, snapshot, f"pairwise/{board}")
    address = f"/benchmarks/{slug}/leaderboards/{board}/pairwise"
    return table_answer(request, _around(view, address, [("Board", address.removesuffix("/pairwise"))], {}), fmt)


def _published(session: Session, slug: str, number: int | None, name: str) -> TableView:
    benchmark = benchmarks.find_benchmark(session, slug)
    snapshot = snapshots.find_snapshot(session, benchmark, number)
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, name)
    if snapshot is None or table is None:
        declared = benchmarks.load_declared(session, benchmark)
        table = tables.explain_absence(declared.manifest, snapshot, name)
    return TableView(slug, "", table, "", snapshot, _version(session, snapshot))


def _version(session: Session, snapshot: Snapshot | None) -> int | None:
    return None if snapshot is None else snapshots.manifest_version_number(session, snapshot)


def _around(
    view: TableView,
    address: str,
    links: Sequence[tuple[str, str]],
    row_links: Mapping[str, Callable[[str], str]],
) -> TableView:
    caption = f"{len(view.table.rows)} rows; whiskers are intervals on one scale per column"
    return TableView(
        view.slug,
        address,
        view.table,
        caption,
        view.snapshot,
        view.version,
        trail=[(view.slug, f"/benchmarks/{view.slug}")],
        links=links,
        row_links=row_links,
    )


@router.get("/benchmarks/{slug}/tasks", summary="The tasks", responses=described(404))
@router.get("/benchmarks/{slug}/tasks.csv", summary="The tasks", responses=described(404))
@router.get("/benchmarks/{slug}/tasks.json", summary="The tasks", responses=described(404))
def list_tasks(slug: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """List the tasks with how many entrants have a result (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = tables.tasks_table(session, declared.manifest, declared.benchmark.id, shown)
    view = TableView(slug, "", table, "", shown, _version(session, shown))
    links = {"task": lambda task: f"/benchmarks/{slug}/tasks/{quote(task)}"}
    return table_answer(
        request, _around(view, f"/benchmarks/{slug}/tasks", [], links), split_format(request.url.path)[1]
    )


@router.get("/benchmarks/{slug}/tasks/{task:path}", summary="One task", responses=described(404, 422))
def show_task(slug: str, task: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Show every entrant's scores on one task (.csv, .json)."""
    name, fmt = split_format(task)
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = tables.task_table(session, declared.manifest, declared.benchmark.id, shown, name)
    view = TableView(slug, "", table, "", shown, _version(session, shown))
    links = {"entrant": lambda entrant: f"/benchmarks/{slug}/entrants/{quote(entrant)}"}
    address = f"/benchmarks/{slug}/tasks/{quote(name)}"
    return table_answer(request, _around(view, address, [("Tasks", f"/benchmarks/{slug}/tasks")], links), fmt)


@router.get("/benchmarks/{slug}/entrants/{entrant}", summary="One entrant", responses=described(404, 422))
def show_entrant(
    slug: str, entrant: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show one entrant's scores on every task, and its submissions (.csv, .json)."""
    name, fmt = split_format(entrant)
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = tables.entrant_table(session, declared.manifest, declared.benchmark.id, shown, name)
    view = TableView(slug, "", table, "", shown, _version(session, shown))
    links = {"task": lambda task: f"/benchmarks/{slug}/tasks/{quote(task)}"}
    found = entrants.find_entrant(session, declared.benchmark.id, name)
    history = [
        (f"Submission {e.submission_id} ({e.state.replace('_', ' ')})", f"/submissions/{e.submission_id}")
        for e in entrants.entries_of(session, found.id)
    ]
    return table_answer(request, _around(view, f"/benchmarks/{slug}/entrants/{quote(name)}", history, links), fmt)


@router.get("/benchmarks/{slug}/snapshots", summary="Every snapshot", responses=described(404))
@router.get("/benchmarks/{slug}/snapshots.json", summary="Every snapshot", responses=described(404))
def list_snapshots(slug: str, request: Request, session: SessionDep) -> Response:
    """List the snapshots, the newest first, and what changed from one to the next (.json)."""
    declared = benchmarks.find_declared(session, slug)
    listed = [
        {
            "number": s.number,
            "published_at": s.published_at.isoformat(),
            "input_digest": s.input_digest,
            "manifest_digest": s.manifest_digest,
            "code_version": s.code_version,
            "rng_seeds": s.rng_seeds,
            "changes": s.changes,
            "withdrawals": s.withdrawals,
        }
        for s in snapshots.list_snapshots(session, declared.benchmark.id)
    ]
    if split_format(request.url.path)[1] == "json":
        return json_answer(listed)
    board = declared.manifest.leaderboards[0].name
    return page("snapshots.html", title=f"Snapshots of {slug}", slug=slug, board=board, snapshots=listed)


class Transfer(BaseModel):
    """A steward's order to move an entrant to another owner."""

    token_id: int
    reason: str = Field(min_length=1, max_length=2000)


@router.put("/benchmarks/{slug}/entrants/{entrant}/owner", summary="Move ownership", responses=described(401, 403, 404))
def move_owner(slug: str, entrant: str, order: Transfer, session: SessionDep, caller: Steward) -> Response:
    """Make another token the owner of an entrant, with the reason kept."""
    benchmark = benchmarks.find_benchmark(session, slug)
    found = entrants.find_entrant(session, benchmark.id, entrant)
    to, by = tokens.get_token(session, order.token_id), tokens.get_token(session, caller.id)
    entrants.transfer(session, found, to, by, order.reason)
    benchmarks.mark_pages_changed(session, benchmark.id)
    return json_answer({"entrant": entrant, "owner": to.id})
