"""/benchmarks/{slug}/draft: a draft of the next version of a manifest, for the stewards of a benchmark alone.

A manifest is public, so a draft is kept beside its versions. Its boards are computed of the published evidence when
somebody looks at them, and one act makes it the newest version.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.evidence import BoardEvidence
from app.boards.explore import draft_board
from app.db.engine import LONG_REQUESTS, allow
from app.errors import BoardUnavailable, Conflict, NotFound
from app.jobs.evidence import for_a_reader, snapshot_evidence
from app.kinds.parse import parse_new_manifest
from app.manifest.build import manifest_digest
from app.manifest.model import Leaderboard, Manifest
from app.names import clip_for_message
from app.rights import tokens
from app.store import audit, benchmark_rows, benchmarks, snapshots
from app.store.audit import Change
from app.values.table import Column, Table
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import TABLE, described, table_routes
from app.web.documents import MadeDocument, RemovedDraftDocument, TableDocument
from app.web.requests import YAML_REQUEST, yaml_body
from app.web.state import SessionDep, StateDep
from app.web.views import around, json_answer, name_links, split_format, table_answer, view_of

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])
ADDRESS = "/benchmarks/{slug}/draft"
NOT_PUBLISHED = "It is not published: stewards of this benchmark alone see it."
LABEL = "A draft, which the stewards of this benchmark alone see; it is no board of it yet."
COLUMNS = (Column("board", "Board", "text"), Column("title", "Title", "text"), Column("method", "Method", "text"))
Changing = Annotated[Caller, may("change the draft of a manifest")]
Seeing = Annotated[Caller, may("see the draft of a manifest")]
SEEING = [may("see the draft of a manifest")]
BoardName = Annotated[str, Path(max_length=200, description="the name of the board")]


@router.put(
    ADDRESS,
    summary="Save a draft of the next version",
    responses=described(403, 404, 409, 415, answer=MadeDocument),
    openapi_extra=YAML_REQUEST,
)
async def keep_draft(slug: str, request: Request, state: StateDep, caller: Changing) -> Response:
    """Save a manifest (YAML) as the draft of the next version, in place of the one that is there.

    It is checked as a new version is, and nothing is published.
    """
    yaml = await yaml_body(request, state.settings.max_manifest_kib * 1024, "manifest")

    def keep(session: Session) -> Response:
        benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
        if not benchmarks.check_update(session, slug, parse_new_manifest(yaml), yaml):
            raise Conflict(f"These are the bytes of the newest version of {slug}, so there is nothing to draft.")
        benchmarks.keep_draft(session, benchmark, yaml, caller.id)
        version = benchmarks.load_draft(session, benchmark).declared.version
        audit.record(session, caller.act, 200, Change(after={"draft": version.sha256}))
        document = {"slug": slug, "version": version.version, "url": ADDRESS.format(slug=slug)}
        return json_answer(document)

    return await state.run(keep)


@router.delete(ADDRESS, summary="Drop the draft", responses=described(403, 404, answer=RemovedDraftDocument))
def drop_draft(slug: str, session: SessionDep, caller: Changing) -> Response:
    """Remove the draft of the next version; nobody but stewards was shown it."""
    draft = benchmarks.load_draft(session, benchmark_rows.find_benchmark(session, slug))
    benchmarks.remove_draft(session, draft)
    audit.record(session, caller.act, 200, Change({"draft": draft.declared.version.sha256}))
    return json_answer({"slug": slug, "removed": True})


@router.post(f"{ADDRESS}/publish", summary="Publish the draft", responses=described(403, 404, 409, answer=MadeDocument))
def publish_draft(slug: str, session: SessionDep, state: StateDep, caller: Changing) -> Response:
    """Publish the draft as the newest version of the manifest; it is checked again, and boards are computed anew."""
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    draft, now = benchmarks.load_draft(session, benchmark), benchmarks.load_declared(session, benchmark).version
    yaml = draft.declared.version.yaml
    benchmarks.remove_draft(session, draft)
    version = benchmarks.update_benchmark(session, slug, draft.declared.manifest, yaml, caller.id).version
    after = {"version": version.version, "sha256": version.sha256}
    audit.record(session, caller.act, 200, Change({"draft": manifest_digest(yaml), "version": now.version}, after))
    state.jobs.defer_refresh(session, benchmark.id)
    return json_answer({"slug": slug, "version": version.version, "url": f"/benchmarks/{slug}"})


@router.get(
    f"{ADDRESS}.yaml",
    summary="The draft's YAML (stewards)",
    responses=described(403, 404, also=("yaml",)),
    dependencies=SEEING,
)
def show_yaml(slug: str, session: SessionDep) -> Response:
    """Return the draft as it was sent (stewards of the benchmark only)."""
    draft = benchmarks.load_draft(session, benchmark_rows.find_benchmark(session, slug))
    return Response(draft.declared.version.yaml, media_type="application/yaml")


@table_routes(
    router, ADDRESS, "The draft of the next version (stewards)", 403, 404, answer=TableDocument, dependencies=SEEING
)
def show_draft(slug: str, request: Request, session: SessionDep) -> Response:
    """List the boards of the draft (stewards of the benchmark only)."""
    now = benchmarks.find_declared(session, slug)
    draft = benchmarks.load_draft(session, now.benchmark)
    by, version = tokens.get_token(session, draft.kept.put_by).name, draft.declared.version
    about = {"version": version.version, "put_by": by, "put_at": draft.kept.put_at.isoformat()}
    boards = tuple((spec.name, spec.title, spec.method) for spec in draft.declared.manifest.leaderboards)
    table = Table("draft", f"Draft of version {version.version}", COLUMNS, boards, (NOT_PUBLISHED,), about)
    address, fmt = split_format(request.url.path)
    links = [("YAML", f"{address}.yaml")]
    to_board = {"board": lambda name: f"{ADDRESS.format(slug=slug)}/{name}"}
    return table_answer(request, around(view_of(session, now, table, None), address, links, to_board), fmt)


@router.get(
    f"{ADDRESS}/{{board}}",
    summary="A board of the draft (.csv, .json; stewards)",
    responses=described(403, 404, answer=TableDocument, also=TABLE),
)
def show_board(
    slug: str, board: BoardName, request: Request, session: SessionDep, state: StateDep, caller: Seeing
) -> Response:
    """Compute a board of the draft of the published evidence (stewards of the benchmark only)."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    declared = benchmarks.load_draft(session, benchmark).declared
    name, fmt = split_format(board)
    spec = _board(declared.manifest, name)
    shown = snapshots.find_snapshot(session, benchmark, None)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there is nothing to compute the draft of.")
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, benchmark, shown, under=declared)
    with state.computing.taken_in_thread(caller.owner):
        table = _table(spec, evidence)
    view = view_of(session, benchmarks.load_declared(session, benchmark), table, shown)
    links = [("The draft", ADDRESS.format(slug=slug))]
    return table_answer(request, around(view, f"{links[0][1]}/{name}", links, name_links(declared)), fmt)


def _board(manifest: Manifest, name: str) -> Leaderboard:
    try:
        return manifest.leaderboard(name)
    except KeyError:
        raise NotFound(f"The draft of {manifest.slug} has no leaderboard {clip_for_message(name)}.") from None


def _table(spec: Leaderboard, evidence: BoardEvidence) -> Table:
    try:
        return draft_board(spec, for_a_reader(evidence, spec), LABEL)
    except BoardUnavailable as error:
        return Table(f"draft/{spec.name}", spec.title or spec.name, (), (), (str(error),), {"unavailable": str(error)})
