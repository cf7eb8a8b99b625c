"""POST /benchmarks/{slug}/submissions: parse the fields, have the files read, hand both to `app.receiving`, answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from pydantic import TypeAdapter, ValidationError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app import errors
from app.admission.check import TokenHolder
from app.admission.fields import Fields
from app.config.settings import Settings
from app.errors import FieldRejected
from app.files.uploads import Limits
from app.kinds.reader import Evidence, reader_of
from app.manifest.problems import problems_from
from app.reading.jobs import SubmissionJob
from app.reading.readers import LATER
from app.reading.turns import Turn
from app.receiving.receive import Run, Sent
from app.receiving.written_for import not_asked, open_versions, version_written_for
from app.store import audit, benchmark_rows, benchmarks, clock, labels
from app.store.benchmarks import Declared
from app.store.sizes import Sizes
from app.store.tries import keep_try
from app.telemetry.logs import current_request
from app.web import reports, submission_views
from app.web.answers import json_answer
from app.web.bodies import MAX_FIELDS, gone, received_files, spool
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.submissions import DryRunDocument, SubmissionDocument
from app.web.endpoint_answers import described
from app.web.fields import Finite, Line
from app.web.metadata import Metadata, metadata_of
from app.web.problems import refusal_document
from app.web.queries import refuse_unknown
from app.web.state import State, StateDep, Uploader
from app.web.submitting import SubmitterHere, refuse_other_entrants
from app.web.upload_outcomes import check_upload, store_upload

T = TypeVar("T")
Claims = dict[Line, dict[Line, Finite]]


@dataclass(frozen=True)
class SentForm:
    """The fields of one request as they were sent, but for its files."""

    prereg: UploadFile | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: str | None
    claims: str | None
    idempotency_key: str | None


@dataclass(frozen=True)
class SentUpload:
    """One upload as it was sent: to which benchmark, by whom, and whether only to be checked."""

    slug: str
    form: SentForm
    files: Sequence[UploadFile]
    caller: Caller
    is_dry: bool


@dataclass(frozen=True)
class Spooled:
    """An upload whose body has come, its files on disk, with what is looked up before they are read."""

    submitter: TokenHolder
    fields: Fields
    versions: Sequence[Declared]
    job: SubmissionJob
    received_at: datetime


KEPT_REFUSALS = (errors.Rejected, errors.Conflict, errors.Forbidden, errors.TooLarge, errors.TooManyRequests)
"""What a sender can do something about, and so reads again."""
FORM_FIELDS = ("files", "prereg", "prereg_sha256", "entrant", "metadata", "claims")


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
    router.add_api_route(
        "/benchmarks/{slug}/submissions",
        submit,
        methods=["POST"],
        status_code=202,
        summary="Submit evidence",
        responses={
            **described(403, 404, 409, answer=SubmissionDocument, status=202),
            **described(answer=DryRunDocument),
        },
        max_body_size=settings.max_body_mib * 1024 * 1024,
        form_limits={"max_fields": MAX_FIELDS},
    )
    router.include_router(submission_views.router)
    router.include_router(reports.router)
    return router


async def submit(
    slug: str,
    request: Request,
    state: StateDep,
    caller: SubmitterHere,
    uploader: Uploader,
    files: Annotated[
        list[UploadFile], File(description=".csv, .json, .jsonl, for predictions .parquet, each also .gz, or .zip")
    ],
    prereg: Annotated[UploadFile | None, File(description="the registered YAML file itself")] = None,
    prereg_sha256: Annotated[str | None, Form(pattern="^[0-9a-f]{64}$")] = None,
    entrant: Annotated[str | None, Form(description="if the rows do not name it")] = None,
    metadata: Annotated[str | None, Form(description="JSON: version, organization, url, …")] = None,
    claims: Annotated[str | None, Form(description="JSON: {entrant: {metric: mean}}")] = None,
    dry_run: Annotated[bool, Query(description="check everything, store nothing")] = False,
    impact: Annotated[bool, Query(description="in a dry run: also report its ranks and whom it would move")] = True,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Submit evidence: 202 with its checks once all of it is stored. Nothing of a malformed upload is stored."""
    refuse_unknown(await request.form(), FORM_FIELDS, "form field")
    del uploader  # asked whether an upload could be read soon
    form = SentForm(prereg, prereg_sha256, entrant, metadata, claims, idempotency_key)
    upload = SentUpload(slug, form, files, caller, is_dry=dry_run)
    if dry_run:
        return json_answer(await take(request, state, upload, partial(check_upload, caller.owner, with_impact=impact)))
    stored, document = await take(request, state, upload, partial(store_upload, caller.act))
    return json_answer(document, 202, {"Location": stored})


async def take(request: Request, state: State, upload: "SentUpload", finish: Callable[[State, Sent], T]) -> T:
    """Read an upload and finish with it; where it is refused its sender can read why at an address of its own.

    Used by the API and by the page that submits. `request.state.try_number` says where it was kept.
    """
    try:
        return await _taken(request, state, upload, finish)
    except KEPT_REFUSALS as error:
        # What is kept names nobody: a name can be erased.
        answered = {**refusal_document(error), "detail": error.recorded}
        request.state.try_number = await run_in_threadpool(_keep_try, state, upload, answered)
        raise


async def _taken(request: Request, state: State, upload: "SentUpload", finish: Callable[[State, Sent], T]) -> T:
    caller = upload.caller
    with received_files() as folder:
        beside, owner = state.readers.beside, caller.owner
        async with beside.taken(Turn.of(owner, LATER)):
            spooled = await run_in_threadpool(_spooled, state, upload, folder)
        with beside.ending(Turn.of(owner)) as storing:
            evidence = await state.readers.read(spooled.job, folder, caller.id, gone(request), storing)
            refuse_other_entrants(caller, evidence.scores.entrant.words)
            request_id = current_request()
            return await run_in_threadpool(lambda: finish(state, _sent(state, spooled, evidence, request_id)))


def _keep_try(state: State, upload: "SentUpload", answered: Mapping[str, Any]) -> str:
    def keep(session: Session) -> str:
        benchmark = benchmark_rows.find_benchmark(session, upload.slug)
        # In one transaction: what is kept of a refusal is in the audit.
        audit.record_refusal(session, upload.caller.act, answered["status"], answered["detail"])
        return keep_try(session, benchmark.id, upload.caller.id, answered["status"], answered, is_dry=upload.is_dry)

    return state.transact(keep)


def _fields_of(form: SentForm, settings: Settings, asked: type[Metadata]) -> Fields:
    metadata = _parse(asked, form.metadata or "{}", "metadata")
    return Fields(
        prereg=None if form.prereg is None else _read_prereg(form.prereg, settings),
        prereg_sha256=form.prereg_sha256,
        entrant=form.entrant or None,
        description=metadata.model_dump(mode="json", exclude_none=True),
        started_at=metadata.started_at,
        dirty=metadata.dirty,
        claims=None if form.claims is None else _parse(Claims, form.claims, "claims"),
        idempotency_key=form.idempotency_key or None,
    )


def _spooled(state: State, upload: SentUpload, folder: Path) -> Spooled:
    # Files are copied without a connection in hand.
    files = spool(upload.files, folder)
    submitter = TokenHolder(upload.caller.id, upload.caller.name)
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, upload.slug)
        fields = _fields_of(upload.form, state.settings, metadata_of(declared.manifest.metadata))
        truth = labels.labels_to_match(session, declared)
        versions = open_versions(session, declared, submitter, fields)
        received_at = clock.now(session)
    limits = Limits.from_settings(state.settings)
    newest, *earlier = [each.manifest for each in versions]
    job = SubmissionJob(reader_of(newest), newest, files, fields.entrant, limits, truth, earlier)
    return Spooled(submitter, fields, versions, job, received_at)


def _sent(state: State, spooled: Spooled, evidence: Evidence, request_id: str | None) -> Sent:
    """Return the run, checked against the version of the manifest that it was written for."""
    version = spooled.versions[0]
    if len(spooled.versions) > 1:
        with state.sessions() as session:
            version = version_written_for(session, spooled.versions, evidence)
    warned = replace(evidence, warnings=(*not_asked(spooled.versions, version), *evidence.warnings))
    run = Run(version.manifest, warned, spooled.fields, spooled.received_at)
    settings = state.settings
    sizes = Sizes(settings.max_entrants, settings.max_entrants_of_submitter, settings.max_cells)
    return Sent(version, spooled.submitter, run, request_id, sizes)


def _read_prereg(prereg: UploadFile, settings: Settings) -> bytes:
    # One byte beyond the limit is enough for the reader to refuse it.
    return prereg.file.read(settings.max_yaml_kib * 1024 + 1)


def _parse(kind: Any, text: str, field: str) -> Any:
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = problems_from(error, prefix=f"{field}.")
        raise FieldRejected(f"The field {field} is invalid.", problems) from None
