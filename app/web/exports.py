"""Exports: rows, tables named as in lrdbench's output contract, evaluations, the inputs of a snapshot.

Why: docs/adr/038-exports.md.
"""

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, Annotated, Any

import yaml
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from app.db.engine import EXPORTS, allow
from app.db.models import Snapshot
from app.errors import NotFound
from app.kinds.registry import KINDS, kind_of
from app.names import clip_for_message
from app.render.csv_and_json import csv_bytes, scores_to_csv, table_to_csv
from app.render.syndication import SnapshotBoards, every_eval_ever, hub_benchmark, hub_results, model_index
from app.render.text import name_in_path
from app.store import benchmarks, snapshots
from app.store.publication import replay_members
from app.store.row_exports import find_counted, read_counted
from app.store.series import raw_rows
from app.values.table import Table
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import TABLE, described
from app.web.documents import TableDocument
from app.web.state import SessionDep, State, StateDep
from app.web.views import (
    NO_STORE,
    SnapshotNumber,
    WantedDep,
    around,
    find_shown,
    name_links,
    narrowed,
    split_format,
    table_answer,
    view_of,
)

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["exports"])

PREFIX = "tables/"

ZIP_TIME = (1980, 1, 1, 0, 0, 0)

SPOOLED_BYTES = 8 * 1024 * 1024

BLOCK_BYTES = 256 * 1024

# The cache of pages keeps whole answers in memory, which these are not made for.


@router.get(
    "/benchmarks/{slug}/tables.zip",
    summary="Every table of the output contract (zip)",
    responses=described(404, also=("zip",)),
)
def download_all(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return every table of the output contract in one zip, in the folders of a run."""
    kind = kind_of(benchmarks.find_declared(session, slug).manifest)
    if not kind.pages.has_contract_tables:
        having = " or ".join(name for name, other in KINDS.items() if other.pages.has_contract_tables)
        raise NotFound(f"{slug} is a benchmark of {kind.name}; only one of {having} has lrdbench's contract tables.")
    _, shown = find_shown(session, slug, snapshot)
    tables = ((f"{name}.csv", table_to_csv(_load(session, slug, shown, name))) for name in _names(session, shown))
    raw = (
        (f"raw/{name}", map(csv_bytes, raw_rows(state.sessions, shown.id, file)))
        for name, file in kind.rows.raw.items()
    )
    return _zip_answer(f"{slug}-{shown.number}.zip", chain(tables, raw))


@router.get("/benchmarks/{slug}/raw/{file}", summary="A file of what was sent", responses=described(404, also=("csv",)))
def download_raw(
    slug: str, file: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None
) -> Response:
    """Return one of the files that the kind of evidence declares: of series `metrics.csv`, which is per-series rows,
    aggregates and uncertainty, and `estimates.csv`, estimates with the estimator's own intervals, as lrdbench does.
    """
    kind = kind_of(benchmarks.find_declared(session, slug).manifest)
    if file not in kind.rows.raw:
        having = " and ".join(f"raw/{each}" for each in kind.rows.raw)
        which = f"only {having}" if having else "nothing below raw/"
        raise NotFound(f"{slug} is a benchmark of {kind.name}; it has {which}, not raw/{clip_for_message(file)}.")
    _, shown = find_shown(session, slug, snapshot)
    rows = map(csv_bytes, raw_rows(state.sessions, shown.id, kind.rows.raw[file]))
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=NO_STORE)


@router.get(
    "/benchmarks/{slug}/rows.csv",
    summary="Every row of the current submissions",
    responses=described(404, also=("csv",)),
)
def download_counted(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return every row that a snapshot was computed from, by entrant and task; of series see `raw/metrics.csv`."""
    declared, shown = find_shown(session, slug, snapshot)
    counted = find_counted(session, declared, shown.id)
    rows = scores_to_csv(counted.columns, read_counted(state.sessions, counted))
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{shown.number}-rows.csv"'} | NO_STORE
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=headers)


def _zip_answer(name: str, members: Iterable[tuple[str, bytes | Iterable[bytes]]]) -> Response:
    """Return files as a zip of this name, each as a whole or in parts; all are made before the answer begins."""
    with ExitStack() as if_refused:
        packed = if_refused.enter_context(tempfile.SpooledTemporaryFile(SPOOLED_BYTES))
        with zipfile.ZipFile(packed, "w") as archive:
            for path, content in members:
                member = zipfile.ZipInfo(path, ZIP_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                if isinstance(content, bytes):
                    archive.writestr(member, content)
                    continue
                with archive.open(member, "w", force_zip64=True) as file:
                    file.writelines(content)
        if_refused.pop_all()
    headers = {"Content-Disposition": f'attachment; filename="{name}"'} | NO_STORE
    return StreamingResponse(blocks_of(packed), media_type="application/zip", headers=headers)


def blocks_of(packed: IO[bytes]) -> Iterator[bytes]:
    """Yield a file from its start, and close it also when the reader goes away."""
    with packed:
        packed.seek(0)
        while block := packed.read(BLOCK_BYTES):
            yield block


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
    """Return one of the benchmark's own tables, such as failures or strata, or some of its rows (.csv, .json)."""
    stem, fmt = split_format(table)
    declared, shown = find_shown(session, slug, snapshot)
    names = _names(session, shown)
    loaded = _load(session, slug, shown, stem if stem in EXTRA else f"{PREFIX}{stem}")
    links = [(_title(name), f"/benchmarks/{slug}/tables/{name.removeprefix(PREFIX)}") for name in names]
    links += [(_title(name), f"/benchmarks/{slug}/tables/{name}") for name in EXTRA if name != stem]
    kind = kind_of(declared.manifest)
    if kind.pages.has_contract_tables:
        links.append(("All contract tables as a zip", f"/benchmarks/{slug}/tables.zip"))
    links += [(raw.title, f"/benchmarks/{slug}/raw/{file}") for file, raw in kind.rows.raw.items()]
    view = narrowed(view_of(session, declared, loaded, shown), wanted)
    view = around(view, f"/benchmarks/{slug}/tables/{stem}", links, name_links(declared))
    return table_answer(request, view, fmt)


EXTRA = ("failed_records", "records")


def _names(session: Session, snapshot: Snapshot) -> list[str]:
    return [name for name in snapshots.table_names(session, snapshot.id) if name.startswith(PREFIX)]


def _load(session: Session, slug: str, snapshot: Snapshot, name: str) -> Table:
    table = snapshots.load_table(session, snapshot.id, name)
    if table is None:
        raise NotFound(f"{slug} has no table {name.removeprefix(PREFIX)}.")
    return table


def _title(name: str) -> str:
    return name.removeprefix(PREFIX).replace("_", " ").capitalize()


# Boards in the formats of other sites: /benchmarks/{slug}/every-eval-ever.zip, /eval.yaml and /eval-results/…

evaluations_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["exports"])

YAML = "application/yaml"

Dataset = Annotated[
    str | None,
    Query(
        description="the benchmark's repository on the Hub",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$",
    ),
]


@evaluations_router.get(
    "/benchmarks/{slug}/every-eval-ever.zip",
    summary="Every board in the format of Every Eval Ever (zip)",
    responses=described(404, 422, also=("zip",)),
)
def download(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return a file for each entrant with its scores on every board, valid against the schema of Every Eval Ever."""
    source = _source(session, state, slug, snapshot)
    members = (
        (name, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode())
        for name, document in every_eval_ever(source)
    )
    return _zip_answer(f"{slug}-{source.snapshot}-eee.zip", members)


@evaluations_router.get(
    "/benchmarks/{slug}/eval.yaml", summary="A benchmark for the Hub", responses=described(404, 422, also=("yaml",))
)
def show_benchmark(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return the file that makes a repository on the Hub a benchmark, whose tasks are the boards."""
    return _yaml(hub_benchmark(_source(session, state, slug, snapshot)))


@evaluations_router.get(
    "/benchmarks/{slug}/eval-results/{entrant:path}",
    summary="An entrant's scores for the Hub",
    responses=described(404, 422, also=("yaml",)),
)
def show_results(
    slug: str,
    entrant: str,
    session: SessionDep,
    state: StateDep,
    dataset: Dataset = None,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Return `.eval_results/*.yaml` of a model, or `model-index` of its card where no `dataset` is named."""
    if not entrant.endswith(".yaml"):
        raise NotFound("An entrant's scores for the Hub are YAML; their address ends in .yaml.")
    name = name_in_path(entrant.removesuffix(".yaml"))
    source = _source(session, state, slug, snapshot)
    if name not in source.entrants():
        raise NotFound(f"{slug} has no entrant {name} on its boards.")
    return _yaml(model_index(source, name) if dataset is None else hub_results(source, name, dataset))


def _yaml(document: Any) -> Response:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return Response(text, media_type=f"{YAML}; charset=utf-8")


def _source(session: Session, state: State, slug: str, number: int | None) -> SnapshotBoards:
    declared, shown = find_shown(session, slug, number)
    under = benchmarks.load_declared(session, declared.benchmark, shown.manifest_version_id)
    tables = {b.name: snapshots.load_table(session, shown.id, f"leaderboard/{b.name}")
              for b in under.manifest.leaderboards}  # fmt: skip
    boards = {name: table for name, table in tables.items() if table is not None}
    home = f"{state.settings.own_address}/benchmarks/{slug}"
    return SnapshotBoards(under.manifest, boards, shown.number, shown.published_at, shown.code_version, home)


# GET /benchmarks/{slug}/replay.zip: what a snapshot was computed from, for `plumbline replay`.


@router.get(
    "/benchmarks/{slug}/replay.zip",
    summary="All inputs of a snapshot (zip)",
    responses=described(404, 409, also=("zip",)),
)
def download_replay(slug: str, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Return manifest, rows and published tables of a snapshot, for `plumbline replay` to recompute."""
    declared, shown = find_shown(session, slug, snapshot)
    allow(session, EXPORTS)
    return _zip_answer(f"{slug}-{shown.number}-replay.zip", replay_members(session, declared.benchmark, shown))
