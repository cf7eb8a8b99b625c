"""/benchmarks/{slug}/submissions and /submissions/{id}: take an upload, answer it, show and withdraw it, the report of
a task's predictions, and disputes: somebody says what is wrong with it, and a steward answers in public.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from app import errors
from app.admission.case import SubmissionFields, TokenHolder
from app.admission.rules import is_admitted
from app.boards.entrant_fields import MOST_TEXT, expected, read_values
from app.config import Settings
from app.db.engine import LONG_REQUESTS, allow
from app.db.models import Submission, SubmissionEvent
from app.errors import Busy, FieldRejected, NotFound, Problem
from app.files.tables import BadJson, strict_decoder
from app.files.uploads import Limits
from app.kinds.contract import Pages
from app.kinds.reader import Evidence
from app.kinds.registry import kind_of
from app.manifest.build import problems_from
from app.manifest.model import COMMON_FIELDS, EntrantField, FieldType, Manifest, units_of
from app.names import clip_for_message
from app.reading import LATER
from app.receiving.impact import as_it_would_stand, impact_of
from app.receiving.upload import Received, Upload, check_claims, not_asked, reading_of, receive, upload_to
from app.render.columns import ShownColumn, shown_columns
from app.render.csv_and_json import parts_to_csv, table_to_json
from app.render.drawings import build_drawings
from app.render.pages import ReportSection, checks_table
from app.render.table_page import Panel, legend, narrow_table
from app.render.text import name_in_path, path_of_name
from app.rights import roles, tokens
from app.rights.policy import refuse_elsewhere, refuse_other_entrants
from app.store import audit, benchmark_rows, benchmarks, current, disputes, submissions, web_processes
from app.store.audit import Change
from app.store.benchmarks import Declared, Sizes
from app.store.disputes import shown_disputes
from app.store.row_exports import read_sent
from app.store.submissions import list_flags
from app.store.tries import keep_try
from app.telemetry import CHECKS_FAILED, current_request, event
from app.turns import Turn
from app.values.table import Cell, Table
from app.web.caller import PUBLIC, READ_SOON, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described
from app.web.documents import DryRunDocument, SubmissionDocument, SubmissionTableDocument
from app.web.problems import refusal_document
from app.web.requests import (
    MAX_FIELDS,
    Body,
    Finite,
    Flag,
    Line,
    Number,
    Reason,
    SubmissionNumber,
    Text,
    copy_files,
    gone,
    received_files,
    refuse_unknown,
)
from app.web.state import SessionDep, State, StateDep
from app.web.views import DIGITS, NO_STORE, WantedDep, csv_answer, json_answer, page, refuse_other_formats, split_format

Claims = dict[Line, dict[Line, Finite]]


logger = logging.getLogger(__name__)

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
        dependencies=READ_SOON,
        max_body_size=settings.max_body_mib * 1024 * 1024,
        form_limits={"max_fields": MAX_FIELDS},
    )
    router.include_router(views_router)
    router.include_router(reports_router)
    return router


async def submit(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("submit")],
    files: Annotated[
        list[UploadFile],
        File(description="what the kind of evidence reads, such as .csv, .json or .parquet, each also .gz, or .zip"),
    ],
    prereg: Annotated[UploadFile | None, File(description="the registered YAML file itself")] = None,
    prereg_sha256: Annotated[str | None, Form(pattern="^[0-9a-f]{64}$")] = None,
    entrant: Annotated[str | None, Form(description="if the rows do not name it")] = None,
    metadata: Annotated[str | None, Form(description="JSON: version, organisation, url, …")] = None,
    claims: Annotated[str | None, Form(description="JSON: {entrant: {metric: mean}}")] = None,
    dry_run: Annotated[bool, Query(description="check everything, store nothing")] = False,
    impact: Annotated[bool, Query(description="in a dry run: also report its ranks and whom it would move")] = True,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Submit evidence: 202 with its checks once all of it is stored. Nothing of a malformed upload is stored."""
    refuse_unknown(await request.form(), FORM_FIELDS, "form field")
    sent = partial(
        fields_of,
        state.settings,
        prereg=prereg,
        prereg_sha256=prereg_sha256,
        entrant=entrant,
        metadata=metadata,
        claims=claims,
        idempotency_key=idempotency_key,
    )
    answer = await take(request, state, caller, slug, files, sent, is_dry=dry_run, with_impact=impact)
    return json_answer(answer) if dry_run else json_answer(answer, 202, {"Location": answer["url"]})


async def take(
    request: Request,
    state: State,
    caller: Caller,
    slug: str,
    files: Sequence[UploadFile],
    fields: Callable[[Manifest], SubmissionFields],
    *,
    is_dry: bool,
    with_impact: bool = True,
) -> dict[str, Any]:
    """Take an upload, by the API or the page that submits, and return what is answered: copied, read, then stored.

    Where it is refused its sender can read why at an address of its own: `request.state.try_number` says where.
    """
    try:
        with received_files() as folder:
            beside, owner = state.readers.beside, caller.owner
            async with beside.taken(Turn.of(owner, LATER)):
                upload, read = await run_in_threadpool(_upload, state, caller, slug, files, fields, folder, is_dry)
            with beside.ending(Turn.of(owner)) as storing:
                evidence = await state.readers.read(read, folder, caller.id, gone(request), storing)
                refuse_other_entrants(caller, evidence.scores.entrant.words)
                return await run_in_threadpool(_receive, state, caller, upload, evidence, with_impact=with_impact)
    except KEPT_REFUSALS as error:
        # What is kept names nobody: a name can be erased.
        answered = {**refusal_document(error), "detail": error.recorded}
        request.state.try_number = await run_in_threadpool(_keep_try, state, caller, slug, answered, is_dry)
        raise


def _upload(
    state: State,
    caller: Caller,
    slug: str,
    files: Sequence[UploadFile],
    fields: Callable[[Manifest], SubmissionFields],
    folder: Path,
    is_dry: bool,
) -> tuple[Upload, Callable[[], Evidence]]:
    """Copy the files to disk, and return the upload and what reads it."""
    # Files are copied without a connection in hand.
    copied, by = copy_files(files, folder), TokenHolder(caller.id, caller.name)
    with state.sessions() as session:
        upload = upload_to(session, slug, copied, fields, by, is_dry=is_dry, request_id=current_request())
        return upload, reading_of(session, upload, Limits.from_settings(state.settings))


def _receive(state: State, caller: Caller, upload: Upload, evidence: Evidence, *, with_impact: bool) -> dict[str, Any]:
    """Store an upload that was read and return its document; of a dry run, which is rolled back, what it would say."""
    settings = state.settings
    most = Sizes(settings.max_entrants, settings.max_entrants_of_submitter, settings.max_cells)

    def receive_once(session: Session) -> tuple[Received, dict[str, Any], Declared]:
        allow(session, LONG_REQUESTS)
        received = receive(session, upload, evidence, most, state.jobs.defer_refresh)
        submission = received.submission
        document, declared = describe(session, submission), upload.versions[0]
        if upload.is_dry:
            if with_impact and received.is_new and document["admitted"]:
                declared = as_it_would_stand(session, declared, submission)
            session.rollback()
        else:
            after = {
                "submission": submission.id,
                "is_new": received.is_new,
                "status": submission.status,
                "n_rows": submission.n_rows,
            }
            audit.record(session, caller.act, 202, Change(after=after))
        return received, document, declared

    received, document, newest = state.transact(receive_once)
    is_new, declared = received.is_new, received.declared
    noticed = (*not_asked(upload, declared), *_of_several(upload, evidence), *evidence.warnings)
    warnings = [problem.as_dict() for problem in noticed]
    if upload.is_dry:
        answer = _dry_run(upload, declared, evidence, document, is_new=is_new)
        impact = {"impact": _impact(caller, state, newest, evidence, answer)} if with_impact else {}
        return {**answer, "warnings": warnings, **impact}
    if is_new:
        for check in document["checks"]:
            if check["outcome"] == "failed":
                CHECKS_FAILED.labels(check["rule"]).inc()
    event(logger, "submission stored", benchmark=declared.benchmark.slug, address=document["url"], token=caller.id)
    return {**document, **({"warnings": warnings} if is_new else {})}


def _of_several(upload: Upload, evidence: Evidence) -> Iterator[Problem]:
    """Yield that what is stated of an entrant is shown of none, where an upload has several."""
    stated = [name for name in upload.fields.description if name not in RunDescription.model_fields]
    if stated and (n := len(evidence.scores.entrant.words)) > 1:
        message = f"stated of {n:,} entrants at once, so boards show it of none: send each alone, or set their fields"
        yield Problem(message, column=f"metadata.{stated[0]}")


def _dry_run(
    upload: Upload, declared: Declared, evidence: Evidence, document: Mapping[str, Any], *, is_new: bool
) -> dict[str, Any]:
    """Return what is answered of a submission that was rolled back, with the checks of claims that its evaluation adds.

    `repeat_of` is the earlier submission that would be answered with instead.
    """
    claimed = check_claims(declared.manifest, evidence, upload.fields, is_request=True) if is_new else []
    return {
        "dry_run": True,
        "admitted": document["admitted"] and is_admitted(claimed),
        "checks": [*document["checks"], *map(check_document, claimed)],
        "n_rows": document["n_rows"],
        "entrants": list(evidence.scores.entrant.words),
        **({} if is_new else {"repeat_of": document["id"]}),
    }


def _impact(
    caller: Caller, state: State, declared: Declared, evidence: Evidence, answer: Mapping[str, Any]
) -> dict[str, Any]:
    if "repeat_of" in answer:
        return {"reason": f"It is submission {answer['repeat_of']} again, so no board would change.", "boards": []}
    if not answer["admitted"]:
        return {"reason": "It would not be admitted, so no board would change.", "boards": []}
    try:
        with state.sessions() as session:
            turn = partial(state.computing_turn, caller.owner, session)
            return impact_of(session, declared, evidence, state.rows, turn)
    except Busy as error:
        return {"reason": str(error), "boards": []}


def _keep_try(state: State, caller: Caller, slug: str, answered: Mapping[str, Any], is_dry: bool) -> str:
    def keep(session: Session) -> str:
        benchmark = benchmark_rows.find_benchmark(session, slug)
        # In one transaction: what is kept of a refusal is in the audit.
        audit.record_refusal(session, caller.act, answered["status"], answered["detail"])
        return keep_try(session, benchmark.id, caller.id, answered["status"], answered, is_dry=is_dry)

    return state.transact(keep)


# The fields of an upload, as they are sent and read.


MOST_OF_RUN: Mapping[str, int] = {"code_commit": 64, "notes": 5000}
"""The longest texts about a run; one of these that a manifest declares has the limit of every such field, too."""


class RunDescription(BaseModel):
    """What a submitter says about a run; all of it optional and shown."""

    model_config = ConfigDict(extra="forbid")

    code_commit: Line | None = Field(None, max_length=MOST_OF_RUN["code_commit"], pattern=r"^[0-9a-fA-F]{7,64}$")
    dirty: Flag | None = None
    started_at: AwareDatetime | None = None
    notes: Text | None = Field(None, max_length=MOST_OF_RUN["notes"])


def fields_of(
    settings: Settings,
    manifest: Manifest,
    *,
    prereg: UploadFile | None,
    prereg_sha256: str | None,
    entrant: str | None,
    metadata: str | None,
    claims: str | None = None,
    idempotency_key: str | None = None,
) -> SubmissionFields:
    """Return the fields of an upload to a benchmark. Raises FieldRejected."""
    run, entrant_values = _described(manifest.entrant_fields, metadata or "{}")
    return SubmissionFields(
        # One byte beyond the limit is enough for the reader to refuse it.
        prereg=None if prereg is None else prereg.file.read(settings.max_yaml_kib * 1024 + 1),
        prereg_sha256=prereg_sha256,
        entrant=entrant or None,
        description={**run.model_dump(mode="json", exclude_none=True), **entrant_values},
        started_at=run.started_at,
        dirty=run.dirty,
        claims=None if claims is None else _parse(Claims, claims, "claims"),
        idempotency_key=idempotency_key or None,
    )


def _described(declared: Sequence[EntrantField], text: str) -> tuple[RunDescription, dict[str, Cell]]:
    """Return what metadata says of the run and of the entrant, everything that is wrong with them at once.

    A field of entrants is read as everywhere, so that none is taken here that the boards would not show.
    """
    given = _parse(dict[str, Any], text, "metadata")
    of_run = RunDescription.model_fields.keys()
    fields = {name: EntrantField(name=name, type=of) for name, of in COMMON_FIELDS.items() if name not in of_run}
    fields |= {each.name: each for each in declared}
    of_entrant = {name: value for name, value in given.items() if name in fields or name not in of_run}
    problems: list[Problem] = []
    values = read_values(list(fields.values()), of_entrant, problems, Problem(""), beside=of_run)
    problems += [
        Problem(f"this key is missing; expected {expected(each)}", column=name)
        for name, each in fields.items()
        if each.required and values.get(name) is None and (name in values or name not in given)
    ]
    problems = [replace(problem, column=f"metadata.{problem.column}") for problem in problems]
    refused = {problem.column for problem in problems}
    try:
        run = RunDescription.model_validate_json(json.dumps({name: given[name] for name in given if name in of_run}))
    except ValidationError as error:
        problems += [each for each in problems_from(error, within="metadata") if each.column not in refused]
    if problems:
        raise FieldRejected("The field metadata is invalid.", problems)
    return run, {name: value for name, value in values.items() if value is not None}


TWICE = strict_decoder(str, str)
"""Refuses a key twice, of which pydantic takes the last."""


def _parse(kind: Any, text: str, field: str) -> Any:
    try:
        read = TypeAdapter(kind).validate_json(text)
        TWICE.decode(text)
    except BadJson as error:
        raise FieldRejected(f"The field {field} is invalid.", [Problem(str(error), column=field)]) from None
    except ValidationError as error:
        problems = problems_from(error, within=field)
        raise FieldRejected(f"The field {field} is invalid.", problems) from None
    return read


METADATA_FIELDS: Mapping[str, str] = {
    "version": "Version",
    "organisation": "Organisation",
    "url": "Address (https://…)",
    "licence": "Licence (SPDX name, such as Apache-2.0)",
    "n_parameters": "Parameters, how many",
    "open_weights": "Open weights (yes or no)",
    "released": "Released (YYYY-MM-DD)",
    "purpose": "Made for (such as general, baseline, research)",
    "code_commit": "Commit of the code",
    "started_at": "The run began (such as 2026-03-02T08:00:00Z)",
    "notes": "Notes",
}
"""The words of what every form asks for, by the name of the field."""


class FormField(NamedTuple):
    """A field of the form: its name in `metadata`, its words and type, and how many characters it may have."""

    name: str
    words: str
    type: FieldType
    most: int

    @property
    def sent_as(self) -> str:
        """Return its name in the form, which has fields of its own, such as `files`; as a problem with it is placed."""
        return f"metadata.{self.name}"

    @property
    def has_lines(self) -> bool:
        """Say whether there is room for several lines."""
        return self.most > MOST_TEXT


def form_fields(declared: Sequence[EntrantField]) -> list[FormField]:
    """Return what the form asks for: of everybody, then what a manifest declares.

    >>> notes = form_fields([])[-1]
    >>> notes.sent_as, notes.most, form_fields([EntrantField(name="notes", type="text")])[-1].most
    ('metadata.notes', 5000, 500)
    """
    names = {each.name for each in declared}
    most = {name: min(most, MOST_TEXT) if name in names else most for name, most in MOST_OF_RUN.items()}
    return [
        *(
            FormField(name, words, COMMON_FIELDS.get(name, "text"), most.get(name, MOST_TEXT))
            for name, words in METADATA_FIELDS.items()
        ),
        *(
            FormField(each.name, each.words, each.type, MOST_TEXT)
            for each in declared
            if each.name not in COMMON_FIELDS
        ),
    ]


# /submissions/{id}: the status of a submission, its rows and its own tables; withdrawing it.

views_router = APIRouter(route_class=CheckedFirst)

WAITING_FOR = {"received": "evaluation", "evaluated": "publication"}
"""The states that a submission leaves without action by anybody, and what it waits for in each."""


def check_document(check: Any) -> dict[str, str]:
    """Return what is shown of a check."""
    return {"rule": check.rule, "outcome": check.outcome, "reason": check.reason}


def describe(session: Session, submission: Submission) -> dict[str, Any]:
    """Return everything that is shown of a submission."""
    number = submission.id
    status, events = _said(session, submission, submissions.list_events(session, number))
    return {
        "id": number,
        "url": f"/submissions/{number}",
        "benchmark": submissions.slug_of(session, submission),
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
        "checks": [check_document(check) for check in submissions.list_checks(session, number)],
        "flags": list_flags(session, number),
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
            for e, entry in submissions.list_entries(session, [number])
        ],
        "files": [
            {"name": f.name, "sha256": f.sha256, "n_bytes": f.n_bytes, "n_rows": f.n_rows}
            for f in submissions.list_files(session, number)
        ],
        **shown_disputes(session, number),
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
    dependencies=PUBLIC,
)
def show(submission: str, session: SessionDep) -> Response:
    """Return a submission: status, checks, history, files, and averages of its own rows."""
    name, fmt = split_format(submission)
    refuse_other_formats(fmt, "csv", "json")
    stored = submissions.find_submission(session, _number(name))
    if fmt == "json":
        return json_answer(describe(session, stored), headers=NO_STORE)
    if fmt == "csv":
        answer = csv_answer(checks_table(describe(session, stored)))
        answer.headers.update(NO_STORE)
        return answer
    kept = submissions.read_tables(session, stored.id)
    manifest = benchmarks.find_declared(session, submissions.slug_of(session, stored)).manifest
    pages = kind_of(manifest).pages
    described_now = describe(session, stored)
    submitter = tokens.get_token(session, stored.token_id).name
    return page(
        "submission.html",
        title=f"Submission {stored.id}",
        s=described_now,
        benchmark=manifest.title,
        checks=[_naming(check, submitter) for check in described_now["checks"]],
        waiting=described_now["waiting_for"] is not None,
        tables=[Panel(table.title, table) for table in kept if not is_report(pages, table)],
        reports=report_links(pages, stored.id, kept),
        facts=pages.facts(manifest),
        units=units_of(manifest.entrant_fields),
    )


def _naming(check: Mapping[str, Any], submitter: str) -> Mapping[str, Any]:
    """Return a check that names who sent the submission where the stored one has the number of a token."""
    if check["rule"] == "registered_by" and check["outcome"] == "passed":
        return {**check, "reason": f"Sent by {submitter}, who also registered it."}
    return check


@views_router.get(
    "/submissions/{submission}/tables/{name:path}",
    summary="A table of a submission",
    responses=described(404, answer=SubmissionTableDocument, also=("csv",)),
    dependencies=PUBLIC,
)
def show_table(submission: SubmissionNumber, name: str, session: SessionDep, wanted: WantedDep) -> Response:
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
    "/submissions/{submission}/scores.csv",
    summary="The rows of a submission",
    responses=described(404, also=("csv",)),
    dependencies=PUBLIC,
)
def scores(submission: SubmissionNumber, session: SessionDep, state: StateDep) -> Response:
    """Return every row of a submission as it was stored, as CSV."""
    stored = submissions.find_submission(session, submission)
    rows = parts_to_csv(read_sent(state.sessions, stored.id))
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=NO_STORE)


class Withdrawal(Body):
    """Why a submission is withdrawn; shown for ever."""

    reason: Reason


@views_router.post(
    "/submissions/{submission}/withdraw",
    summary="Withdraw a submission",
    responses=described(403, 404, 409, answer=SubmissionDocument),
)
def withdraw(
    submission: SubmissionNumber,
    order: Withdrawal,
    state: StateDep,
    caller: Annotated[Caller, may("withdraw a submission")],
) -> Response:
    """Withdraw a submission from the boards (its submitter, or a steward of its benchmark)."""

    def take_off(session: Session) -> dict[str, Any]:
        return describe(session, withdraw_as(session, state, caller, submission, order.reason, 200))

    return json_answer(state.transact(take_off))


def withdraw_as(
    session: Session, state: State, caller: Caller, submission: int, reason: str, status: int
) -> Submission:
    """Withdraw a submission for a caller who is answered with `status`; boards follow if it was on one.

    By this address and by the desk's. Raises NotFound, Forbidden, SignedInLongAgo, Conflict.
    """
    stored = submissions.lock_submission(session, submission)
    benchmark = benchmark_rows.get_benchmark(session, stored.benchmark_id)
    roles.require(session, "withdraw a submission", caller, benchmark, stored.token_id)
    before = {"status": stored.status}
    current.withdraw(session, stored, reason)
    change = Change(before, {"status": stored.status}, reason, benchmark.slug)
    audit.record(session, caller.act, status, change)
    if current.was_current(session, stored.id):
        benchmark_rows.mark_data_changed(session, stored.benchmark_id)
        state.jobs.defer_refresh(session, stored.benchmark_id)
    else:
        benchmark_rows.mark_pages_changed(session, stored.benchmark_id)
    return stored


def _number(text: str) -> int:
    if not DIGITS.fullmatch(text) or len(text) > 18:
        raise NotFound(f"There is no submission {text[:40]}.")
    return int(text)


reports_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

NAMED = ("entrant", "task")


def is_report(pages: Pages, table: Table) -> bool:
    """Say whether a submission's table is shown task by task on pages of its own."""
    return table.name in pages.reports and "task" in table.column_names()


def report_links(pages: Pages, submission: int, tables: Sequence[Table]) -> list[tuple[str, str]]:
    """Return a link to the report of each task that a submission's tables name."""
    return [(task, _address(submission, task)) for task in _tasks(pages, tables)]


def _tasks(pages: Pages, tables: Sequence[Table]) -> list[str]:
    report_tables = [table for table in tables if is_report(pages, table)]
    return sorted({str(row[table.index("task")]) for table in report_tables for row in table.rows})


def _address(submission: int, task: str) -> str:
    return f"/submissions/{submission}/reports/{path_of_name(task)}"


@reports_router.get(
    "/submissions/{submission}/reports/{task:path}",
    summary="A submission's report on one task",
    responses=described(404, 422, also=("html",)),
)
def show_report(submission: SubmissionNumber, task: str, session: SessionDep) -> Response:
    """Return the tables of a submission's report on one task: intervals, curves, confusion, calibration, errors."""
    task = name_in_path(task)
    stored = submissions.find_submission(session, submission)
    tables = submissions.read_tables(session, stored.id)
    slug = submissions.slug_of(session, stored)
    manifest = benchmarks.find_declared(session, slug).manifest
    pages = kind_of(manifest).pages
    if task not in _tasks(pages, tables):
        raise NotFound(f"Submission {stored.id} has no report on a task {clip_for_message(task)}.")
    reports = [table for table in tables if is_report(pages, table)]
    ordered = sorted(reports, key=lambda table: pages.reports.index(table.name))
    sections = [_section(stored.id, narrow_table(table, {"task": [task]}), task) for table in ordered]
    filled = [section for section in sections if section.table.rows]
    return page(
        "report.html",
        title=f"{task}, submission {stored.id}",
        task=task,
        entrants=_entrants(section.table for section in sections),
        facts=pages.facts(manifest),
        trail=[(manifest.title, f"/benchmarks/{slug}"), (f"Submission {stored.id}", f"/submissions/{stored.id}")],
        others=[link for link in report_links(pages, stored.id, tables) if link[0] != task],
        sections=filled,
        legend=legend([each.column for section in filled for each in section.columns]),
    )


def _entrants(tables: Iterable[Table]) -> list[str]:
    return list(dict.fromkeys(str(row[table.index("entrant")]) for table in tables for row in table.rows))


def _section(submission: int, table: Table, task: str) -> ReportSection:
    address = f"/submissions/{submission}/tables/{table.name}"
    query = urlencode({"task": task})
    return ReportSection(
        table,
        _distinguishing_columns(table),
        build_drawings(table),
        f"{address}.csv?{query}",
        f"{address}.json?{query}",
    )


def _distinguishing_columns(table: Table) -> Sequence[ShownColumn]:
    """Return the columns without those with the same name in every row, which is in the heading."""
    shown = shown_columns(table, detail=False)
    return [each for each in shown if each.column.name not in NAMED or len({row[each.at] for row in table.rows}) > 1]


disputes_router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
ADDRESS = "/submissions/{submission}/disputes"


class Saying(Body):
    """What is wrong with a submission; public, without a name, once it is answered."""

    text: Reason


class Answering(Body):
    """A steward's answer; public for ever, together with the dispute."""

    answer: Reason


@disputes_router.get(
    "/disputes/{submission}",
    summary="Disputes of a submission",
    responses=described(401, 404, also=("html",)),
    include_in_schema=False,
)
def show_disputes(
    submission: SubmissionNumber,
    request: Request,
    session: SessionDep,
    caller: Annotated[Caller, may("see the disputes of a submission")],
) -> Response:
    """Show a submission's disputes with their answers, one's own open one, and the form."""
    stored = submissions.find_submission(session, submission)
    benchmark = benchmark_rows.get_benchmark(session, stored.benchmark_id)
    is_steward = roles.allows(session, "answer a dispute", caller, benchmark)
    readable = [
        each
        for each in disputes.of_submission(session, stored.id)
        if is_steward or each.answer is not None or each.by_id == caller.id
    ]
    return page("disputes.html", title=f"Disputes of submission {stored.id}", submission=stored.id,
                 slug=submissions.slug_of(session, stored), disputes=readable, is_steward=is_steward,
                 form_key=form_key_of(request))  # fmt: skip


@disputes_router.post(
    ADDRESS,
    summary="Dispute a submission",
    status_code=201,
    responses=described(403, 404, 409, answer=SubmissionDocument, status=201),
)
def say(
    submission: SubmissionNumber,
    saying: Saying,
    session: SessionDep,
    caller: Annotated[Caller, may("dispute a submission")],
) -> Response:
    """Store a dispute for the stewards; everybody sees at once that there is one, and reads it with its answer."""
    stored, slug = _stored(session, submission)
    refuse_elsewhere(caller, slug)
    new = disputes.dispute(session, stored, caller.id, saying.text)
    audit.record(session, caller.act, 201, Change(None, {"dispute": new.id}, None, slug))
    return _changed(session, stored, 201)


@disputes_router.post(
    f"{ADDRESS}/{{dispute}}/answer",
    summary="Answer a dispute",
    responses=described(403, 404, 409, answer=SubmissionDocument),
)
def answer(
    submission: SubmissionNumber,
    dispute: Number,
    answering: Answering,
    session: SessionDep,
    caller: Annotated[Caller, may("answer a dispute")],
) -> Response:
    """Answer a dispute, once (a steward of the benchmark); from then on both are public."""
    stored, slug = _stored(session, submission)
    benchmark = benchmark_rows.get_benchmark(session, stored.benchmark_id)
    roles.require(session, "answer a dispute", caller, benchmark)
    disputes.answer(session, stored, dispute, caller.id, answering.answer)
    audit.record(session, caller.act, 200, Change({"dispute": dispute}, {"answered": True}, answering.answer, slug))
    return _changed(session, stored, 200)


def _stored(session: Session, number: int) -> tuple[Submission, str]:
    stored = submissions.find_submission(session, number)
    return stored, submissions.slug_of(session, stored)


def _changed(session: Session, stored: Submission, status: int) -> Response:
    benchmark_rows.mark_pages_changed(session, stored.benchmark_id)
    return json_answer(describe(session, stored), status=status)
