"""/ and /benchmarks: the list, one benchmark, making and changing one."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.kinds.grid_rules import grid_rules
from app.kinds.known import kind_of
from app.kinds.parse import manifest_document, manifest_json_schema, parse_manifest
from app.manifest.manifest import Manifest
from app.render.page_tables import benchmarks_table, boards_table
from app.render.paging import Paged, page_of
from app.render.submit_example import submit_example
from app.store import audit, benchmark_list, benchmarks, disclosure, grids, news, roles, snapshots, submissions
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.life import find_retirement, shown_retirement
from app.web.answers import csv_answer, json_answer, page, refuse_other_formats, split_format
from app.web.bodies import YAML_REQUEST, yaml_body
from app.web.checked_first import CheckedFirst
from app.web.documents.benchmarks import (
    BenchmarkDocument,
    ListedBenchmark,
    MadeDocument,
)
from app.web.endpoint_answers import described
from app.web.state import SessionDep, StateDep, Steward, StewardHere, refuse_elsewhere
from app.web.views import facts_of, first_places

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])

BENCHMARKS = Paged("benchmarks", 50, every=False)

DryRun = Annotated[bool, Query(description="only report problems, or the version it would become; store nothing")]


@router.get("/", summary="The benchmarks", include_in_schema=False)
def list_benchmarks(
    session: SessionDep, page_number: Annotated[str, Query(alias="page", max_length=9)] = "1"
) -> Response:
    """List the benchmarks, page by page."""
    count = benchmark_list.count_benchmarks(session)
    paging = page_of([("page", page_number)], count, BENCHMARKS)
    first = 0 if paging is None else paging.first - 1
    return page(
        "benchmarks.html",
        title="Benchmarks",
        benchmarks=benchmark_list.list_benchmarks(session, first, BENCHMARKS.of_page),
        paging=paging,
        news=news.list_news(session, limit=12),
        text="",
    )


@router.get("/benchmarks", summary="Redirects to the benchmarks", status_code=307, response_class=RedirectResponse)
def lead_to_benchmarks() -> Response:
    """Redirect to the page that lists every benchmark."""
    return RedirectResponse("/")


@router.get("/benchmarks.csv", summary="The benchmarks as CSV", responses=described(also=("csv",)))
def list_benchmarks_csv(session: SessionDep) -> Response:
    """List every benchmark as CSV."""
    return csv_answer(benchmarks_table(benchmark_list.list_benchmarks(session)))


@router.get("/benchmarks.json", summary="The benchmarks as JSON", responses=described(answer=list[ListedBenchmark]))
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
                "published_at": b.published_at.isoformat() if b.published_at else None,
                "leaderboards": [board["name"] for board in b.names.leaderboards],
                **shown_retirement(b.retired),
            }
            for b in benchmark_list.list_benchmarks(session)
        ]
    )


@router.post(
    "/benchmarks",
    status_code=201,
    summary="Create a benchmark",
    responses=described(403, 409, 415, answer=MadeDocument, status=201) | described(answer=MadeDocument),
    openapi_extra=YAML_REQUEST,
)
async def create_benchmark(
    request: Request,
    state: StateDep,
    caller: Steward,
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
        manifest = parse_manifest(yaml)
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
    slug: str, request: Request, state: StateDep, caller: StewardHere, *, dry_run: DryRun = False
) -> Response:
    """Add a version of a benchmark's manifest (YAML); the boards are computed anew."""
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def update(session: Session) -> Response:
        now = benchmarks.find_declared(session, slug)
        if dry_run:
            manifest = parse_manifest(yaml)
            is_new = benchmarks.check_update(session, slug, manifest, yaml)
            return json_answer(_would_be(manifest, now.version.version + is_new, is_new=is_new))
        before = _version(now)
        declared = benchmarks.update_benchmark(session, slug, parse_manifest(yaml), yaml, caller.id)
        audit.record(session, caller.act, 200, Change(before, _version(declared)))
        state.jobs.defer_refresh(session, declared.benchmark.id)
        updated = {"slug": slug, "version": declared.version.version, "url": f"/benchmarks/{slug}"}
        return json_answer(updated)

    return await state.run(update)


def _would_be(manifest: Manifest, version: int, *, is_new: bool) -> dict[str, Any]:
    """Return what a dry run says: the version that the same request would make, and nothing is stored."""
    address = f"/benchmarks/{manifest.slug}"
    return {"slug": manifest.slug, "version": version, "url": address, "dry_run": True, "is_new": is_new}


def _version(declared: Declared) -> dict[str, Any]:
    return {"version": declared.version.version, "sha256": declared.version.sha256}


@router.get("/schemas/manifest.json", summary="JSON Schema of a manifest", responses=described(answer=dict[str, Any]))
def manifest_schema() -> Response:
    """Return the JSON Schema of a benchmark manifest."""
    return json_answer(manifest_json_schema())


@router.get(
    "/benchmarks/{slug}",
    summary="One benchmark (.csv: its boards; .json, .yaml)",
    responses=described(404, answer=BenchmarkDocument, also=("html", "csv", "yaml")),
)
def show_benchmark(slug: str, session: SessionDep, state: StateDep) -> Response:
    """Show a benchmark: boards, rules, how to submit."""
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
    committed = disclosure.find_commitment(session, declared.benchmark.id)
    return page(
        "benchmark.html",
        title=declared.manifest.title,
        manifest=declared.manifest,
        version=declared.version.version,
        snapshot=snapshot,
        publish_error=declared.benchmark.publish_error,
        stewards=stewarding,
        publish_tries=declared.benchmark.publish_tries,
        commitment=committed and committed.commitment,
        base=(state.settings.base_url or "").rstrip("/"),
        facts=facts_of(session, declared),
        rules=(*grid_rules(declared.manifest, _items_put(session, declared)), *pages.rules(declared.manifest)),
        links=pages.links if snapshot else (),
        example=submit_example(declared.manifest),
        submissions=submissions.list_with_names(session, declared.benchmark.id, limit=50),
        first=first_places(session, declared, snapshot),
    )


def _items_put(session: Session, declared: Declared) -> int:
    """Return how many items the steward has uploaded, of all tasks."""
    has_file = declared.manifest.grid is not None and declared.manifest.grid.has_file
    return sum(each.n_items for each in grids.describe_items(session, declared)) if has_file else 0
