"""Boards in the formats of other sites: /benchmarks/{slug}/every-eval-ever.zip, /eval.yaml and /eval-results/…"""

import json
import tempfile
import zipfile
from contextlib import ExitStack
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Query
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from app.errors import NotFound
from app.render.addresses import name_in_path
from app.render.evaluations import Source, every_eval_ever, hub_benchmark, hub_results, model_index
from app.store import benchmarks, snapshots
from app.web.checked_first import CheckedFirst
from app.web.endpoint_answers import described
from app.web.exports import NOT_KEPT, SPOOLED_BYTES, ZIP_TIME, blocks_of
from app.web.state import SessionDep, State, StateDep
from app.web.views import SnapshotNumber

router = APIRouter(route_class=CheckedFirst, tags=["exports"])
YAML = "application/yaml"
Dataset = Annotated[
    str | None,
    Query(
        description="the benchmark's repository on the Hub",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$",
    ),
]


@router.get(
    "/benchmarks/{slug}/every-eval-ever.zip",
    summary="Every board in the format of Every Eval Ever (zip)",
    responses=described(404, 422, also=("zip",)),
)
def download(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return a file for each entrant with its scores on every board, valid against the schema of Every Eval Ever."""
    source = _source(session, state, slug, snapshot)
    with ExitStack() as if_refused:
        packed = if_refused.enter_context(tempfile.SpooledTemporaryFile(SPOOLED_BYTES))
        with zipfile.ZipFile(packed, "w") as archive:
            for name, document in every_eval_ever(source):
                member = zipfile.ZipInfo(name, ZIP_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))
        if_refused.pop_all()
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{source.snapshot}-eee.zip"'} | NOT_KEPT
    return StreamingResponse(blocks_of(packed), media_type="application/zip", headers=headers)


@router.get(
    "/benchmarks/{slug}/eval.yaml", summary="A benchmark for the Hub", responses=described(404, 422, also=("yaml",))
)
def show_benchmark(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return the file that makes a repository on the Hub a benchmark, whose tasks are the boards."""
    return _yaml(hub_benchmark(_source(session, state, slug, snapshot)))


@router.get(
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


def _source(session: Session, state: State, slug: str, number: int | None) -> Source:
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, number)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet.")
    under = benchmarks.load_declared(session, declared.benchmark, shown.manifest_version_id)
    tables = {b.name: snapshots.load_table(session, shown.id, f"leaderboard/{b.name}")
              for b in under.manifest.leaderboards}  # fmt: skip
    boards = {name: table for name, table in tables.items() if table is not None}
    home = f"{(state.settings.base_url or '').rstrip('/')}/benchmarks/{slug}"
    return Source(under.manifest, boards, shown.number, shown.published_at, shown.code_version, home)
