"""/benchmarks/{slug}/submissions and /submissions/{id}: take an upload, answer it, show and withdraw it."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from app import errors
from app.admission.case import Check, Fields, TokenHolder
from app.admission.rules import is_admitted
from app.config import Settings
from app.db.engine import LONG_REQUESTS, allow
from app.db.models import Submission, SubmissionEvent
from app.errors import Busy, FieldRejected, Forbidden, NotFound
from app.files.uploads import Limits
from app.kinds.reader import Evidence, reader_of
from app.kinds.registry import kind_of
from app.manifest.build import problems_from
from app.manifest.model import KNOWN, DescribedBy, units_of
from app.reading import LATER
from app.receiving.impact import impact_of
from app.receiving.receive import (
    Run,
    Sent,
    check_claims,
    not_asked,
    open_versions,
    receive,
    rehearse,
    version_written_for,
)
from app.render.exports import parts_to_csv, table_to_json
from app.render.pages import ShownTable, checks_table
from app.render.table_page import narrow_table
from app.store import audit, benchmark_rows, benchmarks, current, disclosure, sql, submissions, web_processes
from app.store.arrivals import Parts, read_parts
from app.store.audit import Act, Change
from app.store.benchmarks import Declared
from app.store.disputes import shown_disputes
from app.store.row_exports import read_sent
from app.store.sizes import Sizes
from app.store.tries import keep_try
from app.telemetry import CHECKS_FAILED, current_request, event
from app.turns import Turn
from app.web import reports
from app.web.answers import csv_answer, json_answer, page, refuse_other_formats, split_format
from app.web.bodies import MAX_FIELDS, SubmitterHere, gone, received_files, refuse_other_entrants, spool
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.documents import DryRunDocument, SubmissionDocument, SubmissionTableDocument
from app.web.exports import NOT_KEPT
from app.web.fields import Body, Finite, Flag, Line, Reason, Text
from app.web.problems import refusal_document
from app.web.queries import refuse_unknown
from app.web.reports import is_report, report_links
from app.web.state import SessionDep, State, StateDep, Submitter, Uploader, is_steward_of
from app.web.views import WantedDep

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
    read: Callable[[], Evidence]
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
    router.include_router(views_router)
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
            evidence = await state.readers.read(spooled.read, folder, caller.id, gone(request), storing)
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


class Metadata(BaseModel):
    """What a submitter says about a run; all of it optional and shown."""

    model_config = ConfigDict(extra="forbid")

    version: Line | None = Field(None, max_length=200)
    organization: Line | None = Field(None, max_length=200)
    url: Line | None = Field(None, max_length=500, pattern=r"^https?://")
    licence: Line | None = Field(None, max_length=100, description="an SPDX name, or proprietary")
    n_parameters: Annotated[Finite, Field(gt=0, le=1e18)] | None = None
    open_weights: Flag | None = None
    released: date | None = None
    purpose: Line | None = Field(None, max_length=100)
    code_commit: Line | None = Field(None, max_length=64, pattern=r"^[0-9a-fA-F]{7,64}$")
    dirty: Flag | None = None
    started_at: AwareDatetime | None = None
    notes: Text | None = Field(None, max_length=5000)


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
        truth = disclosure.labels_to_match(session, declared)
        versions = open_versions(session, declared, submitter, fields)
        received_at = sql.now(session)
    limits = Limits.from_settings(state.settings)
    manifests = [each.manifest for each in versions]
    read = partial(reader_of(manifests[0]).read_as_asked, manifests, files, fields.entrant, limits, truth)
    return Spooled(submitter, fields, versions, read, received_at)


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


# What is done with an upload that was read: stored with its checks, or only checked, and what is answered.

logger = logging.getLogger(__name__)


def store_upload(act: Act, state: State, sent: Sent) -> tuple[str, dict[str, Any]]:
    """Store an upload, and return its address and what is answered."""

    def store(session: Session) -> tuple[bool, dict[str, Any]]:
        allow(session, LONG_REQUESTS)
        stored = receive(session, sent, state.jobs.defer_refresh)
        is_new, kept = stored.is_new, stored.submission
        after = {"submission": kept.id, "is_new": is_new, "status": kept.status, "n_rows": kept.n_rows}
        audit.record(session, act, 202, Change(after=after))
        shown = describe(session, stored.submission, stored.parts)
        warnings = {"warnings": _warnings(sent)} if is_new else {}
        return is_new, {**shown, **warnings}

    is_new, document = state.transact(store)
    address: str = document["url"]
    if is_new:
        _count_failed(document["checks"])
    event(logger, "submission stored", benchmark=sent.declared.benchmark.slug, address=address, token=act.token_id)
    return address, document


def _count_failed(checks: Sequence[Mapping[str, str]]) -> None:
    for check in checks:
        if check["outcome"] == "failed":
            CHECKS_FAILED.labels(check["rule"]).inc()


def check_upload(owner: str, state: State, sent: Sent, *, with_impact: bool = True) -> dict[str, Any]:
    """Check an upload and store nothing; return what is answered, with what it would change where that is asked."""
    # Before the transaction: it may draw for a second.
    claimed = check_claims(sent.run, is_request=True)
    checks = [*state.transact(lambda session: _rehearsed(session, sent)), *claimed]
    scores = sent.run.evidence.scores
    return {
        "dry_run": True,
        "admitted": is_admitted(checks),
        "checks": [check_document(check) for check in checks],
        "n_rows": len(scores),
        "entrants": list(scores.entrant.words),
        "warnings": _warnings(sent),
        **({"impact": _impact(owner, state, sent, admitted=is_admitted(checks))} if with_impact else {}),
    }


def _rehearsed(session: Session, sent: Sent) -> list[Check]:
    allow(session, LONG_REQUESTS)
    return rehearse(session, sent)


def _impact(owner: str, state: State, sent: Sent, *, admitted: bool) -> dict[str, Any]:
    if not admitted:
        return {"reason": "It would not be admitted, so no board would change.", "boards": []}
    try:
        with state.computing.taken_in_thread(owner), state.sessions() as session:
            allow(session, LONG_REQUESTS)
            return impact_of(session, sent, state.rows)
    except Busy as error:
        return {"reason": str(error), "boards": []}


def _warnings(sent: Sent) -> list[dict[str, Any]]:
    return [problem.as_dict() for problem in sent.run.evidence.warnings]


# /submissions/{id}: the status of a submission, its rows and its own tables; withdrawing it.

views_router = APIRouter(route_class=CheckedFirst)

WAITING_FOR = {"received": "evaluation", "evaluated": "publication"}
"""The states that a submission leaves without action by anybody, and what it waits for in each."""


def check_document(check: Any) -> dict[str, str]:
    """Return what is shown of a check."""
    return {"rule": check.rule, "outcome": check.outcome, "reason": check.reason}


def describe(session: Session, submission: Submission, just_stored: Parts | None = None) -> dict[str, Any]:
    """Return everything that is shown of a submission; nothing is read again of one that was just stored."""
    parts = just_stored or read_parts(session, submission)
    status, events = _said(session, submission, parts.events)
    return {
        "id": submission.id,
        "url": f"/submissions/{submission.id}",
        "benchmark": parts.slug,
        "status": status,
        "reason": events[-1].reason,
        "admitted": all(event.status != "not_admitted" for event in events),
        "waiting_for": WAITING_FOR.get(status),
        "run_purpose": submission.run_purpose,
        "prereg_sha256": submission.prereg_sha256,
        "received_at": submission.received_at.isoformat(),
        "n_rows": submission.n_rows,
        "metadata": submission.description,
        "claims": submission.claims,
        "checks": [check_document(check) for check in parts.checks],
        "flags": dict(parts.flags),
        "identity": [
            {"bundle": bundle["name"], "entrant": bundle["entrant"], **dict(sorted(bundle.get("identity", {}).items()))}
            for bundle in submission.facts.get("bundles", ())
        ],
        "entrants": [
            {
                "name": e.name,
                "n_rows": entry.n_rows,
                "state": entry.state,
                "tasks": current.tasks_of(session, entry),
                "superseded_by": entry.superseded_by,
            }
            for e, entry in parts.entries
        ],
        "files": [{"name": f.name, "sha256": f.sha256, "n_bytes": f.n_bytes, "n_rows": f.n_rows} for f in parts.files],
        **({} if just_stored else shown_disputes(session, submission.id)),
        "history": [{"status": e.status, "at": e.at.isoformat(), "reason": e.reason} for e in events],
    }


def _said(
    session: Session, submission: Submission, events: Sequence[SubmissionEvent]
) -> tuple[str, Sequence[SubmissionEvent]]:
    """Return the status and the history of a submission as they are said: published once every web process shows it."""
    status = submission.status
    if status != "published" or not web_processes.unshown(session, [submission.id]):
        return status, events
    before = events[:-1] if events[-1].status == status else events
    return web_processes.status_said(status, is_unshown=True), before


@views_router.get(
    "/submissions/{submission}",
    summary="A submission (.csv: its checks; .json)",
    responses=described(404, answer=SubmissionDocument, also=("html", "csv")),
)
def show(submission: str, session: SessionDep) -> Response:
    """Return a submission: status, checks, history, files, and averages of its own rows."""
    name, fmt = split_format(submission)
    refuse_other_formats(fmt, "csv", "json")
    stored = submissions.find_submission(session, _number(name))
    if fmt == "json":
        return json_answer(describe(session, stored), headers={"Cache-Control": "no-store"})
    if fmt == "csv":
        answer = csv_answer(checks_table(describe(session, stored)))
        answer.headers["Cache-Control"] = "no-store"
        return answer
    kept = submissions.read_tables(session, stored.id)
    manifest = benchmarks.find_declared(session, submissions.slug_of(session, stored)).manifest
    pages = kind_of(manifest).pages
    described_now = describe(session, stored)
    return page(
        "submission.html",
        title=f"Submission {stored.id}",
        s=described_now,
        waiting=described_now["waiting_for"] is not None,
        tables=[ShownTable(table) for table in kept if not is_report(pages, table)],
        reports=report_links(pages, stored.id, kept),
        facts=pages.facts(manifest),
        units=units_of(manifest.metadata),
    )


@views_router.get(
    "/submissions/{submission}/tables/{name:path}",
    summary="A table of a submission",
    responses=described(404, answer=SubmissionTableDocument, also=("csv",)),
)
def show_table(submission: int, name: str, session: SessionDep, wanted: WantedDep) -> Response:
    """Return one of a submission's own tables (.csv, .json): all of it, or some of its rows."""
    stored = submissions.find_submission(session, submission)
    stem, fmt = split_format(name)
    table = submissions.read_table(session, stored.id, stem)
    if table is None:
        raise NotFound(f"Submission {stored.id} has no table {stem[:40]}.")
    table = narrow_table(table, wanted)
    if fmt == "json":
        return Response(table_to_json(table, {"submission": stored.id}), media_type="application/json")
    if fmt != "csv":
        raise NotFound("This table has no page of its own; there are .csv and .json.")
    return csv_answer(table)


@views_router.get(
    "/submissions/{submission}/scores.csv", summary="The rows of a submission", responses=described(404, also=("csv",))
)
def scores(submission: int, session: SessionDep, state: StateDep) -> Response:
    """Return every row of a submission as it was stored, as CSV."""
    stored = submissions.find_submission(session, submission)
    rows = parts_to_csv(read_sent(state.sessions, stored.id))
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=NOT_KEPT)


class Withdrawal(Body):
    """Why a submission is withdrawn; shown for ever."""

    reason: Reason


@views_router.post(
    "/submissions/{submission}/withdraw",
    summary="Withdraw a submission",
    responses=described(403, 404, 409, answer=SubmissionDocument),
)
def withdraw(submission: int, order: Withdrawal, state: StateDep, caller: Submitter) -> Response:
    """Withdraw a submission from the boards (its submitter, or a steward of its benchmark)."""

    def take_off(session: Session) -> dict[str, Any]:
        stored = submissions.lock_submission(session, submission)
        if stored.token_id != caller.id and not is_steward_of(session, caller, stored.benchmark_id):
            raise Forbidden("Only its submitter or a steward of its benchmark may withdraw a submission.")
        before = {"status": stored.status}
        current.withdraw(session, stored, order.reason)
        change = Change(before, {"status": stored.status}, order.reason, submissions.slug_of(session, stored))
        audit.record(session, caller.act, 200, change)
        described_now = describe(session, stored)
        if current.was_current(session, stored.id):
            benchmark_rows.mark_data_changed(session, stored.benchmark_id)
            state.jobs.defer_refresh(session, stored.benchmark_id)
        else:
            benchmark_rows.mark_pages_changed(session, stored.benchmark_id)
        return described_now

    return json_answer(state.transact(take_off))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NotFound(f"There is no submission {text[:40]}.")
    return int(text)


# What a submitter states about an entrant and a run besides the rows: all optional, typed and shown.
#
# Read by `app.web.submissions`; the same fields stand in the form of `app.web.submit_page`, and boards are filtered
# by those of `app.boards.explore`.

Kind = Literal["text", "number", "flag", "date"]

METADATA_FIELDS: tuple[tuple[str, str, Kind], ...] = (
    ("version", "Version", "text"),
    ("organization", "Organisation", "text"),
    ("url", "Address (https://…)", "text"),
    ("licence", "Licence (SPDX name, such as Apache-2.0)", "text"),
    ("n_parameters", "Parameters, how many", "number"),
    ("open_weights", "Open weights (yes or no)", "flag"),
    ("released", "Released (YYYY-MM-DD)", "date"),
    ("purpose", "Made for (such as general, baseline, research)", "text"),
    ("code_commit", "Commit of the code", "text"),
    ("started_at", "The run began (such as 2026-03-02T08:00:00Z)", "text"),
    ("notes", "Notes", "text"),
)
"""The fields of the form: name, words, kind."""

TYPES: Mapping[str, Any] = {
    "text": Annotated[Line, Field(max_length=500)],
    "number": Finite,
    "flag": Flag,
    "date": date,
}


def metadata_of(declared: Sequence[DescribedBy]) -> type[Metadata]:
    """Return the model of a submission's metadata: the common fields and those that a manifest declares."""
    if not declared:
        return Metadata
    return create_model("Metadata", __base__=Metadata, **{each.name: _field(each) for each in declared})


def form_fields(declared: Sequence[DescribedBy]) -> list[tuple[str, str, Kind]]:
    """Return the fields of the form: everybody's, then those that a manifest declares."""
    return [*METADATA_FIELDS, *((each.name, each.words, each.type) for each in declared if each.name not in KNOWN)]


def _field(each: DescribedBy) -> Any:
    known = Metadata.model_fields.get(each.name)
    kind: Any = TYPES[each.type] if known is None else Annotated[known.annotation, *known.metadata]
    if each.values is not None:
        kind = Literal[tuple(each.values)]
    return (kind, ...) if each.required else (kind | None, None)
