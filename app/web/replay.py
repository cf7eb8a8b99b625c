"""GET /benchmarks/{slug}/replay.zip: what a snapshot was computed from, for `plumbline replay`."""

import tempfile
import zipfile
from contextlib import ExitStack

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from app.db.engine import EXPORTS, allow
from app.errors import NotFound
from app.store import benchmark_rows, snapshots
from app.store.replay import replay_members
from app.web.checked_first import CheckedFirst
from app.web.endpoint_answers import described
from app.web.exports import NOT_KEPT, SPOOLED_BYTES, ZIP_TIME, blocks_of
from app.web.state import SessionDep
from app.web.views import SnapshotNumber

router = APIRouter(route_class=CheckedFirst, tags=["exports"])


@router.get(
    "/benchmarks/{slug}/replay.zip",
    summary="All inputs of a snapshot (zip)",
    responses=described(404, 409, also=("zip",)),
)
def download_replay(slug: str, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Return manifest, rows and published tables of a snapshot, for `plumbline replay` to recompute."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    shown = snapshots.find_snapshot(session, benchmark, snapshot)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet.")
    allow(session, EXPORTS)
    with ExitStack() as if_refused:
        packed = if_refused.enter_context(tempfile.SpooledTemporaryFile(SPOOLED_BYTES))
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in replay_members(session, benchmark, shown):
                member = zipfile.ZipInfo(name, ZIP_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, content)
        if_refused.pop_all()
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{shown.number}-replay.zip"'} | NOT_KEPT
    return StreamingResponse(blocks_of(packed), media_type="application/zip", headers=headers)
