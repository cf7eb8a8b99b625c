"""/benchmarks/{slug}/drafts: boards that are in no manifest yet, for the stewards and reviewers of a benchmark.

A manifest is public, so a draft is kept beside it. It is computed of the current snapshot when somebody looks at it,
and one act makes it a board: a version of the manifest with one board more.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.evidence import BoardEvidence
from app.boards.explore import draft_board
from app.db.engine import LONG_REQUESTS, allow
from app.db.models import Benchmark, DraftBoard
from app.errors import BoardUnavailable, FieldRejected, Forbidden, NotFound, Problem
from app.jobs.evidence import for_a_reader, snapshot_evidence
from app.kinds.parse import parse_manifest
from app.manifest.build import with_board
from app.manifest.model import Leaderboard
from app.store import audit, benchmark_rows, benchmarks, draft_boards, roles, snapshots, tokens
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.values.table import Table
from app.web.answers import json_answer, split_format, table_answer
from app.web.bodies import YAML_REQUEST, yaml_body
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.description import TABLE, described
from app.web.documents import DraftDocument, PublishedDraftDocument, RemovedDraftDocument, TableDocument
from app.web.state import Holder, SessionDep, StateDep, StewardHere, is_steward_of
from app.web.views import around, name_links, view_of
from app.yaml import read_yaml

router = APIRouter(route_class=CheckedFirst, prefix="/benchmarks/{slug}/drafts", tags=["leaderboards"])
PRIVATE = {"Cache-Control": "no-store"}
MOST_BYTES = 64 * 1024
BoardName = Annotated[str, Path(max_length=200, description="the name of the board")]


def get_reviewer_here(slug: str, caller: Holder, state: StateDep) -> Caller:
    """Return the caller if it is steward or reviewer of the benchmark of the address. Raises Forbidden and NotFound."""
    with state.sessions() as session:
        benchmark = benchmark_rows.find_benchmark(session, slug)
        reads = caller.has_scope("read") and roles.has_role(session, benchmark.id, caller.id, "reviewer")
        if not (reads or is_steward_of(session, caller, benchmark.id)):
            raise Forbidden(f"Only stewards and reviewers of {slug} may see this.")
    return caller


ReviewerHere = Annotated[Caller, Depends(get_reviewer_here)]


@router.get("", summary="The draft boards", responses=described(403, 404, answer=list[DraftDocument]))
def list_all(slug: str, session: SessionDep, caller: ReviewerHere) -> Response:
    """List the boards that are in no manifest yet (stewards and reviewers of the benchmark only)."""
    del caller  # the dependency has refused everyone else
    benchmark = benchmark_rows.find_benchmark(session, slug)
    listed = draft_boards.list_drafts(session, benchmark.id)
    return json_answer([_about(session, slug, each) for each in listed], headers=PRIVATE)


@router.put(
    "/{board}",
    summary="Save a draft board",
    responses=described(403, 404, 409, 415, answer=DraftDocument),
    openapi_extra=YAML_REQUEST,
)
async def put(slug: str, board: BoardName, request: Request, state: StateDep, caller: StewardHere) -> Response:
    """Save a board as a draft, in YAML as in a manifest; it is checked like a manifest that contains it."""
    yaml = await yaml_body(request, MOST_BYTES, "board")

    def keep(session: Session) -> Response:
        benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
        declared = benchmarks.load_declared(session, benchmark)
        spec = _read(declared.version.yaml, yaml, board)[0]
        is_new = draft_boards.put(session, benchmark.id, board, yaml, caller.id)
        audit.record(session, caller.act, 200, Change(after={"draft": board, "method": spec.method, "is_new": is_new}))
        return json_answer(_about(session, slug, draft_boards.get_draft(session, benchmark.id, board)), headers=PRIVATE)

    return await state.run(keep)


@router.delete("/{board}", summary="Remove a draft board", responses=described(403, 404, answer=RemovedDraftDocument))
def remove(slug: str, board: BoardName, session: SessionDep, caller: StewardHere) -> Response:
    """Remove a draft board."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    draft_boards.remove(session, draft_boards.get_draft(session, benchmark.id, board))
    audit.record(session, caller.act, 200, Change({"draft": board}))
    return json_answer({"name": board, "removed": True}, headers=PRIVATE)


@router.post(
    "/{board}/publish",
    summary="Publish a draft board",
    responses=described(403, 404, 409, answer=PublishedDraftDocument),
)
def publish(slug: str, board: BoardName, session: SessionDep, state: StateDep, caller: StewardHere) -> Response:
    """Publish a draft: add a version of the manifest that ends with this board, and remove the draft."""
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    draft = draft_boards.get_draft(session, benchmark.id, board)
    now = benchmarks.load_declared(session, benchmark)
    yaml = _read(now.version.yaml, draft.yaml, board)[1]
    declared = benchmarks.update_benchmark(session, slug, parse_manifest(yaml), yaml, caller.id)
    draft_boards.remove(session, draft)
    after = {"version": declared.version.version, "sha256": declared.version.sha256, "board": board}
    audit.record(session, caller.act, 200, Change({"draft": board, "version": now.version.version}, after))
    state.jobs.defer_refresh(session, benchmark.id)
    address = f"/benchmarks/{slug}/leaderboards/{board}"
    return json_answer({"slug": slug, "version": declared.version.version, "board": board, "url": address})


@router.get(
    "/{board}", summary="A draft board (.csv, .json)", responses=described(403, 404, answer=TableDocument, also=TABLE)
)
def show(
    slug: str, board: BoardName, request: Request, session: SessionDep, state: StateDep, caller: ReviewerHere
) -> Response:
    """Compute a draft of the current snapshot (stewards and reviewers of the benchmark only)."""
    del caller  # the dependency has refused everyone else
    benchmark = benchmark_rows.find_benchmark(session, slug)
    name, fmt = split_format(board)
    draft = draft_boards.get_draft(session, benchmark.id, name)
    shown = snapshots.find_snapshot(session, benchmark, None)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there is nothing to compute the draft of.")
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, benchmark, shown, state.rows)
    declared = benchmarks.load_declared(session, benchmark, shown.manifest_version_id)
    view = view_of(session, benchmarks.load_declared(session, benchmark), _table(declared, evidence, draft), shown)
    view = around(view, f"/benchmarks/{slug}/drafts/{name}", (), name_links(declared))
    answer = table_answer(request, view, fmt)
    answer.headers.update(PRIVATE)
    return answer


def _table(declared: Declared, evidence: BoardEvidence, draft: DraftBoard) -> Table:
    spec = _read(declared.version.yaml, draft.yaml, draft.name)[0]
    try:
        return draft_board(spec, for_a_reader(evidence, spec))
    except BoardUnavailable as error:
        return Table(f"draft/{spec.name}", spec.title or spec.name, (), (), (str(error),), {"unavailable": str(error)})


def _read(manifest: bytes, board: bytes, name: str) -> tuple[Leaderboard, bytes]:
    """Return the board as the manifest with it understands it, and that manifest. Raises Rejected."""
    document = read_yaml(board, max_bytes=MOST_BYTES, what="board")
    if not isinstance(document, dict) or document.get("name") != name:
        problem = Problem(f"expected a board with the name in its address, {name}", column="name")
        raise FieldRejected("This is not the board of this address.", [problem])
    text = with_board(manifest.decode("utf-8-sig"), document)
    return parse_manifest(text.encode()).leaderboard(name), text.encode()


def _about(session: Session, slug: str, draft: DraftBoard) -> dict[str, Any]:
    benchmark = session.get_one(Benchmark, draft.benchmark_id)
    spec = _read(benchmarks.load_declared(session, benchmark).version.yaml, draft.yaml, draft.name)[0]
    return {
        "name": draft.name,
        "title": spec.title,
        "method": spec.method,
        "put_by": tokens.get_token(session, draft.put_by).name,
        "put_at": draft.put_at.isoformat(),
        "url": f"/benchmarks/{slug}/drafts/{draft.name}",
    }
