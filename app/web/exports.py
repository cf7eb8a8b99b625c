"""/benchmarks/{slug}/tables and /raw: the tables of a benchmark itself, named as in lrdbench's output contract."""

import io
import zipfile
from dataclasses import replace

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from app.db.models import Snapshot
from app.errors import NotFound
from app.render.exports import table_to_csv
from app.store import benchmarks, snapshots
from app.store.benchmarks import Declared
from app.store.series_rows import metric_rows
from app.table import Table
from app.web.answers import split_format, table_answer
from app.web.documents import TableDocument
from app.web.problems import TABLE, described
from app.web.state import SessionDep
from app.web.views import SnapshotNumber, WantedDep, around, name_links, narrowed, view_of

router = APIRouter(tags=["exports"])
PREFIX = "tables/"
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@router.get("/benchmarks/{slug}/tables.zip", summary="Every contract table", responses=described(404, also=("zip",)))
def download_all(slug: str, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Return every table of the output contract in one zip, in the folders of a run."""
    _, shown = _snapshot(session, slug, snapshot)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _names(session, shown):
            table = _load(session, slug, shown, name)
            archive.writestr(zipfile.ZipInfo(f"{name}.csv", ZIP_TIME), table_to_csv(table))
        rows = "".join(metric_rows(session, shown))
        archive.writestr(zipfile.ZipInfo("raw/metrics.csv", ZIP_TIME), rows)
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{shown.number}.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.get("/benchmarks/{slug}/raw/metrics.csv", summary="Every metric row", responses=described(404, also=("csv",)))
def download_rows(slug: str, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Return per-series rows, aggregates and uncertainty in one file, as lrdbench writes them."""
    _, shown = _snapshot(session, slug, snapshot)
    # Read before the answer begins: the session ends with the endpoint.
    rows = iter(list(metric_rows(session, shown)))
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8")


@router.get(
    "/benchmarks/{slug}/tables/{table}",
    summary="A table of the benchmark",
    responses=described(404, 422, answer=TableDocument, also=TABLE),
)
def show_table(
    slug: str,
    table: str,
    request: Request,
    session: SessionDep,
    wanted: WantedDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show one of the benchmark's own tables (.csv, .json), or some of its rows: failures, strata, uncertainty."""
    stem, fmt = split_format(table)
    declared, shown = _snapshot(session, slug, snapshot)
    names = _names(session, shown)
    found = _load(session, slug, shown, stem if stem in EXTRA else f"{PREFIX}{stem}")
    links = [(_title(name), f"/benchmarks/{slug}/tables/{name.removeprefix(PREFIX)}") for name in names]
    links += [(_title(name), f"/benchmarks/{slug}/tables/{name}") for name in EXTRA if name != stem]
    links += [("All as a zip", f"/benchmarks/{slug}/tables.zip"), ("Every row", f"/benchmarks/{slug}/raw/metrics.csv")]
    view = narrowed(view_of(session, slug, found, shown), wanted)
    view = around(view, f"/benchmarks/{slug}/tables/{stem}", links, name_links(declared))
    drawn = _load(session, slug, shown, DRAWN[stem]) if stem in DRAWN else None
    return table_answer(request, replace(view, drawn=drawn), fmt)


EXTRA = ("failed_records", "records")
DRAWN = {"failure_map": "tables/failures"}
"""Tables that show the drawing of another one: where values are missing, above the values."""


def _snapshot(session: Session, slug: str, number: int | None) -> tuple[Declared, Snapshot]:
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, number)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet.")
    return declared, shown


def _names(session: Session, snapshot: Snapshot) -> list[str]:
    return [name for name in snapshots.table_names(session, snapshot.id) if name.startswith(PREFIX)]


def _load(session: Session, slug: str, snapshot: Snapshot, name: str) -> Table:
    table = snapshots.load_table(session, snapshot.id, name)
    if table is None:
        raise NotFound(f"{slug} has no table {name.removeprefix(PREFIX)}.")
    return table


def _title(name: str) -> str:
    return name.removeprefix(PREFIX).replace("_", " ").capitalize()
