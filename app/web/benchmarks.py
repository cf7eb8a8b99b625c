"""/ and /benchmarks: the list, one benchmark with its life, readers and snapshots, making and changing one; search."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.boards.all_boards import ranks_table
from app.db.models import Benchmark, Snapshot, Status
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.publish import list_changes, load_state
from app.kinds.grid_sentences import grid_rules
from app.kinds.parse import manifest_document, manifest_json_schema, parse_new_manifest
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.names import clip_for_message
from app.render.help import help_on, help_pages
from app.render.html import institution
from app.render.pages import BenchmarkPage, benchmarks_table, boards_table, changes_table, submit_example
from app.render.table_page import Paged, page_of
from app.rights import roles
from app.rights.policy import refuse_elsewhere
from app.store import audit, benchmark_rows, benchmarks, grids, labels, news, snapshots, submissions
from app.store import search as find
from app.store.audit import Change
from app.store.benchmarks import Contents, Declared, find_retirement, shown_retirement
from app.values.table import Table
from app.web import new_benchmark
from app.web.caller import PUBLIC, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described, table_routes
from app.web.documents import (
    BenchmarkDocument,
    ChangesDocument,
    DeletedDocument,
    LifeDocument,
    ListedBenchmark,
    MadeDocument,
    SnapshotDocument,
    TableDocument,
    VisibilityDocument,
)
from app.web.kept_forms import keeping
from app.web.requests import YAML_REQUEST, Body, Line, Reason, Text, yaml_body
from app.web.state import SessionDep, State, StateDep
from app.web.views import (
    SnapshotNumber,
    around,
    csv_answer,
    facts_of,
    first_places,
    json_answer,
    name_links,
    page,
    page_answer,
    refuse_other_formats,
    split_format,
    table_answer,
    time_shown,
    view_of,
)

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])

BENCHMARKS = Paged("benchmarks", 50, every=False)

DryRun = Annotated[bool, Query(description="only report problems, or the version it would become; store nothing")]


@router.get("/", summary="The benchmarks", include_in_schema=False, dependencies=PUBLIC)
def list_benchmarks(
    session: SessionDep, page_number: Annotated[str, Query(alias="page", max_length=9)] = "1"
) -> Response:
    """List the benchmarks, page by page."""
    count = benchmarks.count_benchmarks(session)
    paging = page_of([("page", page_number)], count, BENCHMARKS)
    first = 0 if paging is None else paging.first - 1
    return page(
        "benchmarks.html",
        title="Benchmarks",
        benchmarks=benchmarks.list_benchmarks(session, first, BENCHMARKS.of_page),
        paging=paging,
        news=news.list_news(session, limit=12),
    )


@router.get(
    "/benchmarks",
    summary="Redirects to the benchmarks",
    status_code=307,
    response_class=RedirectResponse,
    dependencies=PUBLIC,
)
def lead_to_benchmarks() -> Response:
    """Redirect to the page that lists every benchmark."""
    return RedirectResponse("/")


@router.get("/benchmarks.csv", summary="The benchmarks as CSV", responses=described(also=("csv",)), dependencies=PUBLIC)
def list_benchmarks_csv(session: SessionDep) -> Response:
    """List every benchmark as CSV."""
    return csv_answer(benchmarks_table(benchmarks.list_benchmarks(session)))


@router.get(
    "/benchmarks.json",
    summary="The benchmarks as JSON",
    responses=described(answer=list[ListedBenchmark]),
    dependencies=PUBLIC,
)
def list_benchmarks_json(session: SessionDep) -> Response:
    """List every benchmark as JSON."""
    return json_answer(
        [
            {
                "slug": b.names.slug,
                "title": b.names.title,
                "n_entrants": b.n_entrants,
                "n_submissions": b.n_submissions,
                "snapshot": b.snapshot_number,
                "published_at": time_shown(b.published_at),
                "leaderboards": [board["name"] for board in b.names.leaderboards],
                **shown_retirement(b.retired),
            }
            for b in benchmarks.list_benchmarks(session)
        ]
    )


making_router = APIRouter(route_class=keeping(new_benchmark.show_again), tags=["benchmarks"])


@making_router.post(
    "/benchmarks",
    status_code=201,
    summary="Create a benchmark",
    responses=described(403, 409, 415, answer=MadeDocument, status=201) | described(answer=MadeDocument),
    openapi_extra=YAML_REQUEST,
)
async def create_benchmark(
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("create a benchmark")],
    visibility: Literal["public", "private", "draft"] = "public",
    *,
    dry_run: DryRun = False,
) -> Response:
    """Create a benchmark from its manifest (YAML). Whoever creates it is its first steward.

    A private benchmark is visible only to those with a role in it; a draft only to its stewards and reviewers, and it
    takes no submissions and can be deleted. `POST /benchmarks/{slug}/visibility` widens who may read it.
    """
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def create(session: Session) -> Response:
        manifest = parse_new_manifest(yaml)
        refuse_elsewhere(caller, manifest.slug)
        if dry_run:
            benchmarks.refuse_taken(session, manifest.slug)
            return json_answer(_would_be(manifest, 1, is_new=True))
        declared = benchmarks.create_benchmark(session, manifest, yaml, caller.id, visibility)
        state.jobs.defer_refresh(session, declared.benchmark.id)
        after = {**_version(declared), "visibility": visibility}
        audit.record(session, caller.act, 201, Change(after=after, benchmark=manifest.slug))
        address = f"/benchmarks/{manifest.slug}"
        created = {"slug": manifest.slug, "version": declared.version.version, "url": address}
        return json_answer(created, 201, {"Location": address})

    return await state.run(create)


@router.put(
    "/benchmarks/{slug}",
    summary="Add a version of the manifest",
    responses=described(403, 404, 409, 415, answer=MadeDocument),
    openapi_extra=YAML_REQUEST,
)
async def update_benchmark(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("change the manifest")],
    *,
    dry_run: DryRun = False,
) -> Response:
    """Add a version of a benchmark's manifest (YAML); the boards are computed anew."""
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def update(session: Session) -> Response:
        if dry_run:
            now, manifest = benchmarks.find_declared(session, slug), parse_new_manifest(yaml)
            is_new = benchmarks.check_update(session, slug, manifest, yaml)
            return json_answer(_would_be(manifest, now.version.version + is_new, is_new=is_new))
        declared = add_version(session, state, caller, slug, yaml, 200)
        updated = {"slug": slug, "version": declared.version.version, "url": f"/benchmarks/{slug}"}
        return json_answer(updated)

    return await state.run(update)


def add_version(session: Session, state: State, caller: Caller, slug: str, yaml: bytes, status: int) -> Declared:
    """Add a version of a manifest for a caller who may, answered with `status`; boards are computed anew.

    By this address and by the desk's. Raises what `parse_new_manifest` and `benchmarks.update_benchmark` raise.
    """
    before = _version(benchmarks.find_declared(session, slug))
    declared = benchmarks.update_benchmark(session, slug, parse_new_manifest(yaml), yaml, caller.id)
    audit.record(session, caller.act, status, Change(before, _version(declared)))
    state.jobs.defer_refresh(session, declared.benchmark.id)
    return declared


def _would_be(manifest: Manifest, version: int, *, is_new: bool) -> dict[str, Any]:
    """Return what a dry run says: the version that the same request would make, and nothing is stored."""
    address = f"/benchmarks/{manifest.slug}"
    return {"slug": manifest.slug, "version": version, "url": address, "dry_run": True, "is_new": is_new}


def _version(declared: Declared) -> dict[str, Any]:
    return {"version": declared.version.version, "sha256": declared.version.sha256}


@router.get(
    "/schemas/manifest.json",
    summary="JSON Schema of a manifest",
    responses=described(answer=dict[str, Any]),
    dependencies=PUBLIC,
)
def manifest_schema() -> Response:
    """Return the JSON Schema of a benchmark manifest."""
    return json_answer(manifest_json_schema())


@router.get(
    "/benchmarks/{slug}",
    summary="One benchmark (.csv: its boards; .json, .yaml)",
    responses=described(404, answer=BenchmarkDocument, also=("html", "csv", "yaml")),
    dependencies=PUBLIC,
)
def show_benchmark(
    slug: str,
    session: SessionDep,
    state: StateDep,
    status: Annotated[
        Status | Literal[""], Query(description="on the page only the submissions in this state, with the reason")
    ] = "",
) -> Response:
    """Show a benchmark: boards, rules, how to submit, and its submissions."""
    name, fmt = split_format(slug)
    refuse_other_formats(fmt, "csv", "json", "yaml")
    declared = benchmarks.find_declared(session, name)
    if fmt == "yaml":
        return Response(declared.version.yaml, media_type="application/yaml")
    if fmt == "csv":
        return csv_answer(boards_table(declared.manifest))
    snapshot = snapshots.find_snapshot(session, declared.benchmark)
    stewarding = [token.name for token in roles.list_stewards(session, declared.benchmark.id)]
    if fmt == "json":
        about = {
            "slug": name,
            "version": declared.version.version,
            "sha256": declared.version.sha256,
            "snapshot": snapshot.number if snapshot else None,
            "stale": declared.benchmark.data_version > declared.benchmark.published_version,
            "stewards": stewarding,
            "publish_error": declared.benchmark.publish_error,
            "publish_tries": declared.benchmark.publish_tries,
            "manifest": manifest_document(declared.manifest),
            **shown_retirement(find_retirement(session, declared.benchmark.id)),
        }
        return json_answer(about)
    pages = kind_of(declared.manifest).pages
    committed = labels.find_commitment(session, declared.benchmark.id)
    shown = BenchmarkPage(
        title=declared.manifest.title,
        manifest=declared.manifest,
        version=declared.version.version,
        snapshot=snapshot,
        publish_error=declared.benchmark.publish_error,
        stewards=stewarding,
        publish_tries=declared.benchmark.publish_tries,
        commitment=None if committed is None else committed.commitment,
        base=state.settings.own_address,
        facts=facts_of(session, declared),
        rules=(*grid_rules(declared.manifest, _items_put(session, declared)), *pages.rules(declared.manifest)),
        links=pages.links if snapshot else (),
        example=submit_example(declared.manifest),
        submissions=submissions.list_with_names(session, declared.benchmark.id, limit=50, status=status or None),
        status=status,
        by_status=submissions.count_by_status(session, declared.benchmark.id),
        first=first_places(session, declared, snapshot),
        ranks=_ranks(session, declared, snapshot),
    )
    return page_answer(shown)


def _ranks(session: Session, declared: Declared, snapshot: Snapshot | None) -> Table:
    """Return every board and every entrant of a snapshot in one table."""
    names = [f"leaderboard/{board.name}" for board in declared.manifest.leaderboards]
    found = [] if snapshot is None else [snapshots.load_table(session, snapshot.id, name) for name in names]
    return ranks_table([table for table in found if table is not None])


@table_routes(
    router, "/benchmarks/{slug}/ranks", "All boards and entrants", 404, answer=TableDocument, dependencies=PUBLIC
)
def show_ranks(slug: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Show where every entrant ranks on every board of the current snapshot, or of the one asked for (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    view = view_of(session, declared, _ranks(session, declared, shown), shown)
    view = around(view, f"/benchmarks/{slug}/ranks", (), name_links(declared))
    return table_answer(request, view, split_format(request.url.path)[1])


def _items_put(session: Session, declared: Declared) -> int:
    """Return how many items the steward has uploaded, of all tasks."""
    has_file = declared.manifest.grid is not None and declared.manifest.grid.has_file
    return sum(each.n_items for each in grids.describe_items(session, declared)) if has_file else 0


# /benchmarks/{slug}/retire and /benchmarks/{slug}/title: what a steward changes without another manifest.

life_router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])


class Retiring(Body):
    """Why a benchmark takes no more submissions; shown for ever."""

    reason: Reason


class Renaming(Body):
    """The new title or description of a benchmark; what is left out stays."""

    title: Line | None = None
    description: Annotated[Text, Field(max_length=50_000)] | None = None


@life_router.post(
    "/benchmarks/{slug}/retire", summary="Retire a benchmark", responses=described(403, 404, 409, answer=LifeDocument)
)
def retire(
    slug: str, order: Retiring, session: SessionDep, caller: Annotated[Caller, may("retire a benchmark")]
) -> Response:
    """Retire a benchmark: it takes no more submissions, for ever. Its pages remain, and each shows the reason."""
    declared = _locked(session, slug)
    benchmarks.retire(session, declared.version, slug, order.reason, caller.id)
    audit.record(session, caller.act, 200, Change(None, {"retired": True}, order.reason, slug))
    benchmark_rows.mark_boards_changed(session, declared.benchmark.id)
    return _answer(session, slug)


@life_router.put(
    "/benchmarks/{slug}/title",
    summary="Change the title or description",
    responses=described(403, 404, answer=LifeDocument),
)
def rename(
    slug: str, order: Renaming, session: SessionDep, caller: Annotated[Caller, may("change the title")]
) -> Response:
    """Change the title or description of a benchmark, without another version of its manifest."""
    if order.title is None and order.description is None:
        problem = Problem("give a title, a description, or both", column="title")
        raise FieldRejected("There is nothing to change.", [problem])
    declared = _locked(session, slug)
    before = {"title": declared.manifest.title, "description": declared.manifest.description}
    benchmarks.rename(session, declared.version, order.title, order.description, caller.id)
    after = {"title": order.title, "description": order.description}
    audit.record(session, caller.act, 200, Change(before, after, None, slug))
    benchmark_rows.mark_boards_changed(session, declared.benchmark.id)
    return _answer(session, slug)


def _locked(session: Session, slug: str) -> Declared:
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    return benchmarks.load_declared(session, benchmark)


def _answer(session: Session, slug: str) -> Response:
    declared = benchmarks.find_declared(session, slug)
    about = {"slug": slug, "title": declared.manifest.title, "description": declared.manifest.description}
    return json_answer({**about, "retired": None, **shown_retirement(find_retirement(session, declared.benchmark.id))})


# /benchmarks/{slug}/visibility: who may read a benchmark, what becomes visible when more may; deleting a draft.

VISIBILITY = "/benchmarks/{slug}/visibility"


class Widening(Body):
    """Who may read a benchmark from now on."""

    visibility: Literal["private", "public"]


@life_router.get(
    VISIBILITY,
    summary="Who may read a benchmark, and what it contains",
    responses=described(403, 404, answer=VisibilityDocument),
    dependencies=[may("see who may read a benchmark")],
)
def show_visibility(slug: str, session: SessionDep) -> Response:
    """Return who may read a benchmark, and what would become visible if more people might (its stewards only)."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    return json_answer(_visible(benchmark, benchmarks.contents_of(session, benchmark)))


@life_router.post(
    VISIBILITY,
    summary="Let more people read a benchmark",
    responses=described(403, 404, 409, answer=VisibilityDocument),
)
def widen(
    slug: str, order: Widening, session: SessionDep, caller: Annotated[Caller, may("let more people read a benchmark")]
) -> Response:
    """Open a draft to those with a role in it, or a benchmark to everyone; the answer lists what is now visible.

    This cannot be undone: what was read is known.
    """
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    before, contents = benchmark.visibility, benchmarks.contents_of(session, benchmark)
    benchmarks.widen(session, benchmark, order.visibility)
    after = {"visibility": order.visibility, **asdict(contents), "entrants": len(contents.entrants)}
    audit.record(session, caller.act, 200, Change({"visibility": before}, after))
    return json_answer(_visible(benchmark, contents))


@life_router.delete(
    "/benchmarks/{slug}", summary="Delete a draft", responses=described(403, 404, 409, answer=DeletedDocument)
)
def delete(slug: str, session: SessionDep, caller: Annotated[Caller, may("delete a draft")]) -> Response:
    """Delete a draft with its manifests, roles and invitations; a published benchmark cannot be deleted."""
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    before = {"visibility": benchmark.visibility}
    benchmarks.delete_draft(session, benchmark)
    audit.record(session, caller.act, 200, Change(before, {"deleted": True}))
    return json_answer({"benchmark": slug, "deleted": True})


def _visible(benchmark: Benchmark, contents: Contents) -> dict[str, Any]:
    return {"benchmark": benchmark.slug, "visibility": benchmark.visibility, "contents": asdict(contents)}


# /search and /help: what is in the whole of the site.

front_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["benchmarks"])


@front_router.get("/search", include_in_schema=False)
def search(session: SessionDep, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the benchmarks, boards, groups, fields, entrants and tasks that have the words of a text, and the help."""
    text = q.strip()
    found = find.search(session, text) if text else []
    most = find.MOST_MATCHES if find.may_be_more(found) else None
    asked = text.casefold().split()
    own = [(title, f"/about#{anchor}") for anchor, title, content in institution().sections
           if asked and all(word in f"{title} {content.striptags()}".casefold() for word in asked)]  # fmt: skip
    return page("search.html", title="Search", text=text, matches=found, help=[*own, *help_on(text)], most=most)


@front_router.get("/help", summary="The documentation", responses=described(also=("html",)))
@front_router.get("/help/{name:path}", summary="A page of the documentation", responses=described(404, also=("html",)))
def show_help(name: str = "") -> Response:
    """Show the documentation of this version, as it is in `docs/`."""
    known = help_pages().get(name)
    if known is None:
        raise NotFound(f"There is no help on {clip_for_message(name)}; /help lists all of it.")
    return page("help.html", title=known.title, name=name, content=known.content)


# /benchmarks/{slug}/snapshots: what was published when, and what changed from one snapshot to another.

snapshots_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["benchmarks"])

SNAPSHOTS = "/benchmarks/{slug}/snapshots"

LISTED = list[SnapshotDocument] | ChangesDocument


@snapshots_router.get(SNAPSHOTS, summary="Every snapshot", responses=described(404, 422, also=("html",)))
@snapshots_router.get(
    f"{SNAPSHOTS}.csv", summary="The changes between snapshots", responses=described(404, 422, also=("csv",))
)
@snapshots_router.get(f"{SNAPSHOTS}.json", summary="Every snapshot", responses=described(404, 422, answer=LISTED))
def list_snapshots(
    slug: str,
    request: Request,
    session: SessionDep,
    from_: Annotated[int | None, Query(alias="from", ge=1, le=2**31 - 1)] = None,
    to: SnapshotNumber = None,
) -> Response:
    """List the snapshots, newest first, with what changed from each to the next, or between any two.

    .csv has a row for each change; .json has everything.
    """
    declared = benchmarks.find_declared(session, slug)
    between = _changes_between(session, declared.benchmark, from_, to)
    listed = _describe_snapshots(session, declared.benchmark)
    fmt = split_format(request.url.path)[1]
    if fmt == "json":
        return json_answer(listed if between is None else between)
    if fmt == "csv":
        return csv_answer(changes_table(slug, listed, between))
    board = declared.manifest.leaderboards[0].name
    return page(
        "snapshots.html",
        title=f"Snapshots of {slug}",
        slug=slug,
        board=board,
        snapshots=listed,
        facts=kind_of(declared.manifest).pages.facts(declared.manifest),
        between=between,
    )


def _changes_between(
    session: Session, benchmark: Benchmark, first: int | None, last: int | None
) -> dict[str, Any] | None:
    """Return what differs between two snapshots, or None when nobody asked; without `to` it is the current one."""
    if first is None and last is None:
        return None
    if first is None:
        problem = Problem("expected the number of a snapshot to compare with", column="from")
        raise FieldRejected("Changes are between two snapshots: ?from=1&to=2.", [problem])
    old, new = (snapshots.find_snapshot(session, benchmark, number) for number in (first, last))
    if old is None or new is None:
        raise NotFound(f"Nothing of {benchmark.slug} is published yet.")
    changes = list_changes(load_state(session, old), load_state(session, new))
    return {"benchmark": benchmark.slug, "from": old.number, "to": new.number, "changes": changes}


def _describe_snapshots(session: Session, benchmark: Benchmark) -> list[dict[str, Any]]:
    versions = snapshots.manifest_numbers(session, benchmark.id)
    return [
        {
            "number": s.number,
            "current": s.id == benchmark.snapshot_id,
            "before": s.before,
            "published_at": s.published_at.isoformat(),
            "manifest_version": versions[s.manifest_version_id],
            "input_digest": s.input_digest,
            "manifest_digest": s.manifest_digest,
            "code_version": s.code_version,
            "rng_seeds": s.rng_seeds,
            "changes": s.changes,
            "withdrawals": s.withdrawals,
        }
        for s in snapshots.list_snapshots(session, benchmark.id)
    ]
