"""/benchmarks/{slug}/snapshots: what was published when, and what changed from one snapshot to another."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Benchmark
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.changes import list_changes, load_state
from app.kinds.known import kind_of
from app.render.page_tables import changes_table
from app.store import benchmarks, snapshots
from app.web.answers import csv_answer, json_answer, page, split_format
from app.web.checked_first import CheckedFirst
from app.web.documents.benchmarks import (
    ChangesDocument,
    SnapshotDocument,
)
from app.web.endpoint_answers import described
from app.web.state import SessionDep
from app.web.views import SnapshotNumber

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])

SNAPSHOTS = "/benchmarks/{slug}/snapshots"
LISTED = list[SnapshotDocument] | ChangesDocument


@router.get(SNAPSHOTS, summary="Every snapshot", responses=described(404, 422, also=("html",)))
@router.get(f"{SNAPSHOTS}.csv", summary="The changes between snapshots", responses=described(404, 422, also=("csv",)))
@router.get(f"{SNAPSHOTS}.json", summary="Every snapshot", responses=described(404, 422, answer=LISTED))
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
