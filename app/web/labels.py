"""/benchmarks/{slug}/labels: what a benchmark's predictions are held against, put once by its steward.

No address of the server gives labels back, not even to a steward, who has the file.
"""

import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from starlette.responses import Response

from app.config import MIB, Settings
from app.evidence.prediction_labels import read_labels
from app.evidence.uploads import Limits
from app.store import benchmarks, labels
from app.store.labels import LabelsPut
from app.web.answers import json_answer
from app.web.bodies import spool
from app.web.documents import LabelsDocument
from app.web.problems import described
from app.web.state import SessionDep, StateDep, StewardHere

# Kept by no cache, ours included: nothing about labels is for everyone.
PRIVATE = {"Cache-Control": "no-store"}


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(tags=["labels"])
    router.add_api_route(
        "/benchmarks/{slug}/labels",
        put_labels,
        methods=["PUT"],
        status_code=201,
        summary="Put the labels, once",
        responses={
            **described(403, 404, 409, answer=LabelsDocument, status=201),
            **described(answer=LabelsDocument),
        },
        max_body_size=settings.max_body_mib * MIB,
    )
    router.add_api_route(
        "/benchmarks/{slug}/labels",
        show_labels,
        methods=["GET"],
        summary="Which tasks have labels (stewards only; never the labels)",
        responses=described(403, 404, 409, answer=LabelsDocument),
    )
    return router


def put_labels(
    slug: str,
    state: StateDep,
    caller: StewardHere,
    file: Annotated[UploadFile, File(description="columns item, label, weight?, group?, task?; as for results")],
) -> Response:
    """Put the labels of every task. 201, or 200 for the same bytes again; other bytes are refused."""
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
    part = labels.private_part(declared.manifest)
    with tempfile.TemporaryDirectory(prefix="plumbline-received-") as folder:
        uploads = spool([file], Path(folder))
        reading = read_labels(declared.manifest, part, uploads, Limits.from_settings(state.settings))
    with state.sessions.begin() as session:
        is_new = labels.put_labels(session, declared, reading.labels, reading.sha256, caller.id)
        known = labels.describe_labels(session, declared.benchmark.id)
    warnings = [warning.as_dict() for warning in reading.warnings]
    return json_answer({**_describe(slug, known), "warnings": warnings}, 201 if is_new else 200, PRIVATE)


def show_labels(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """Say which tasks have labels, of how many items, since when."""
    del caller  # the dependency has refused everyone else
    declared = benchmarks.find_declared(session, slug)
    labels.private_part(declared.manifest)
    return json_answer(_describe(slug, labels.describe_labels(session, declared.benchmark.id)), headers=PRIVATE)


def _describe(slug: str, known: list[LabelsPut]) -> dict[str, object]:
    tasks = [{"task": put.task, "n_items": put.n_items, "put_at": put.put_at.isoformat()} for put in known]
    return {"benchmark": slug, "sha256": known[0].sha256 if known else None, "tasks": tasks}
