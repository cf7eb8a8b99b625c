"""/submissions: receive an upload, check it, store it whole or not at all; show where it stands."""

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Header, Query, UploadFile
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.admission import Case, check_admission, is_admitted, reason_not_admitted
from app.admission_check import Check, Registered, TokenHolder
from app.admission_deviations import deviations_table, predicted_metrics
from app.admission_records import StandingRecord
from app.config import Settings
from app.db.models import Submission
from app.errors import FieldRejected, Forbidden, NotFound, Problem
from app.evidence.reader import Evidence, read_evidence
from app.evidence.uploads import Limits, Upload
from app.jobs.claimed import check_own_claims
from app.manifest import problems_from
from app.prereg import parse_prereg, sha256_hex
from app.render.exports import table_to_json
from app.render.narrow import narrow_table
from app.render.page_tables import checks_table
from app.render.pages import ShownTable
from app.render.reading_guide import guide_of
from app.store import benchmarks, entrants, labels, preregs, series, standing, submissions, tables
from app.store.benchmarks import Declared
from app.store.submissions import Arrival
from app.web import reports
from app.web.answers import csv_answer, json_answer, page, refuse_other_formats, split_format
from app.web.bodies import spool
from app.web.documents import DryRunDocument, SubmissionDocument, SubmissionTableDocument
from app.web.fields import Finite, Flag, Line, Reason, Text
from app.web.problems import described
from app.web.reports import is_report, report_links
from app.web.state import RANK, Caller, SessionDep, State, StateDep, Submitter
from app.web.views import WantedDep

Claims = dict[Line, dict[Line, Finite]]


class Metadata(BaseModel):
    """What a submitter says about a run; all of it optional and shown."""

    model_config = ConfigDict(extra="forbid")

    version: Line | None = Field(None, max_length=200)
    organization: Line | None = Field(None, max_length=200)
    url: Line | None = Field(None, max_length=500, pattern=r"^https?://")
    code_commit: Line | None = Field(None, max_length=64, pattern=r"^[0-9a-fA-F]{7,64}$")
    dirty: Flag | None = None
    started_at: AwareDatetime | None = None
    notes: Text | None = Field(None, max_length=5000)


@dataclass(frozen=True)
class Package:
    """The fields of one request, parsed."""

    files: Sequence[UploadFile]
    prereg: bytes | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: Metadata
    claims: Claims | None
    idempotency_key: str | None


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(tags=["submissions"])
    router.add_api_route(
        "/benchmarks/{slug}/submissions",
        submit,
        methods=["POST"],
        status_code=202,
        summary="Submit results",
        responses={
            **described(403, 404, 409, answer=SubmissionDocument, status=202),
            **described(answer=DryRunDocument),
        },
        max_body_size=settings.max_body_mib * 1024 * 1024,
    )
    router.add_api_route(
        "/submissions/{submission}",
        show,
        summary="A submission (.csv: its checks; .json)",
        responses=described(404, answer=SubmissionDocument, also=("html", "csv")),
    )
    router.add_api_route(
        "/submissions/{submission}/scores.csv", scores, summary="Its rows", responses=described(404, also=("csv",))
    )
    router.add_api_route(
        "/submissions/{submission}/tables/{name:path}",
        show_table,
        summary="One of its tables",
        responses=described(404, answer=SubmissionTableDocument, also=("csv",)),
    )
    router.include_router(reports.router)
    router.add_api_route(
        "/submissions/{submission}/withdraw",
        withdraw,
        methods=["POST"],
        summary="Withdraw",
        responses=described(403, 404, 409, answer=SubmissionDocument),
    )
    return router


def submit(
    slug: str,
    state: StateDep,
    caller: Submitter,
    files: Annotated[
        list[UploadFile], File(description=".csv, .json, .jsonl, for predictions .parquet, each also .gz, or .zip")
    ],
    prereg: Annotated[UploadFile | None, File(description="the registered YAML itself")] = None,
    prereg_sha256: Annotated[str | None, Form(pattern="^[0-9a-f]{64}$")] = None,
    entrant: Annotated[str | None, Form(description="where the rows do not name it")] = None,
    metadata: Annotated[str | None, Form(description="JSON: version, organization, url, …")] = None,
    claims: Annotated[str | None, Form(description="JSON: {entrant: {metric: mean}}")] = None,
    dry_run: Annotated[bool, Query(description="check everything, store nothing")] = False,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Send results. 202: stored whole, with its checks; nothing of a malformed upload is stored."""
    package = Package(
        files=files,
        prereg=None if prereg is None else _read_prereg(prereg, state.settings),
        prereg_sha256=prereg_sha256,
        entrant=entrant or None,
        metadata=_parse(Metadata, metadata or "{}", "metadata"),
        claims=None if claims is None else _parse(Claims, claims, "claims"),
        idempotency_key=idempotency_key or None,
    )
    with tempfile.TemporaryDirectory(prefix="plumbline-received-") as folder:
        uploads = spool(package.files, Path(folder))
        return _receive(state, slug, caller, package, uploads, dry_run=dry_run)


def _read_prereg(prereg: UploadFile, settings: Settings) -> bytes:
    # One byte beyond the limit is enough for the reader to refuse it.
    return prereg.file.read(settings.max_yaml_kib * 1024 + 1)


def _parse(kind: Any, text: str, field: str) -> Any:
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = problems_from(error, prefix=f"{field}.")
        raise FieldRejected(f"The field {field} is not what it must be.", problems) from None


def _receive(
    state: State, slug: str, caller: Caller, package: Package, uploads: Sequence[Upload], *, dry_run: bool
) -> Response:
    received_at = datetime.now(UTC)
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        truth = labels.labels_to_match(session, declared)
    limits = Limits.from_settings(state.settings)
    read = read_evidence(declared.manifest, uploads, package.entrant, limits, truth)
    claimed = _claimed(declared, package, read) if dry_run else []

    def check_and_store(session: Session) -> Response:
        evidence = read
        registered = _registered(session, package)
        if registered is not None:
            deviations = deviations_table(
                registered, evidence.scores, evidence.facts.bundles, predicted_metrics(declared.manifest)
            )
            evidence = replace(evidence, attachments=(*evidence.attachments, deviations))
        case = _case(declared, package, evidence, registered, received_at)
        submitter = TokenHolder(caller.id, caller.name)
        checks = check_admission(replace(case, standing=_standing(session, declared, evidence), submitter=submitter))
        if dry_run:
            return _dry_run(session, declared, evidence, [*checks, *claimed], caller.id)
        stored = _store(session, state, _arrival(declared, package, evidence, checks, registered, caller.id))
        return json_answer(stored, 202, {"Location": stored["url"]})

    return state.transact(check_and_store)


def _store(session: Session, state: State, arrival: Arrival) -> dict[str, Any]:
    """Store an upload, unless it was stored before, and return what is shown of it."""
    repeat = submissions.find_repeat(session, arrival)
    if repeat is not None:
        return describe(session, repeat)
    submission = submissions.write_submission(session, arrival)
    described_now = describe(session, submission)
    benchmarks.mark_pages_changed(session, submission.benchmark_id)
    if arrival.admitted or arrival.run_purpose != "leaderboard":
        state.jobs.defer_evaluate(session, submission.id)
    return {**described_now, "warnings": [problem.as_dict() for problem in arrival.evidence.warnings]}


def _registered(session: Session, package: Package) -> Registered | None:
    """Return the cited preregistration. Raises FieldRejected when it is not registered, or cited twice over."""
    if package.prereg is not None:
        parse_prereg(package.prereg)
    sent = None if package.prereg is None else sha256_hex(package.prereg)
    if sent is not None and package.prereg_sha256 is not None and sent != package.prereg_sha256:
        problem = Problem(f"the prereg file has SHA-256 {sent}", column="prereg_sha256", value=package.prereg_sha256)
        raise FieldRejected("The preregistration is cited twice, differently.", [problem])
    sha256 = sent or package.prereg_sha256
    if sha256 is None:
        return None
    try:
        known = preregs.load_registration(session, sha256)
    except NotFound:
        message = "no preregistration with these bytes is registered; POST it to /preregs before the run"
        raise FieldRejected(
            "The preregistration is unknown.", [Problem(message, column="prereg", value=sha256)]
        ) from None
    return Registered(
        sha256,
        known.git_blob_sha1,
        known.prereg,
        known.registered_at,
        known.attested,
        known.benchmarks,
        by=TokenHolder(known.registered_by.id, known.registered_by.name),
    )


def _case(
    declared: Declared, package: Package, evidence: Evidence, registered: Registered | None, received_at: datetime
) -> Case:
    return Case(
        manifest=declared.manifest,
        scores=evidence.scores,
        facts=evidence.facts,
        registered=registered,
        received_at=received_at,
        started_at=package.metadata.started_at,
        dirty=package.metadata.dirty,
        claims=package.claims,
    )


def _standing(session: Session, declared: Declared, evidence: Evidence) -> Sequence[StandingRecord] | None:
    if declared.manifest.evidence != "series_metrics":
        return None
    return series.standing_records(session, declared.benchmark.id, evidence.scores.entrant.words)


def _claimed(declared: Declared, package: Package, evidence: Evidence) -> list[Check]:
    """Return what the evaluation would say of the claims; a dry run has none."""
    return check_own_claims(declared.manifest, evidence.scores, evidence.facts, package.claims, is_request=True)


def _arrival(
    declared: Declared,
    package: Package,
    evidence: Evidence,
    checks: Sequence[Check],
    registered: Registered | None,
    token_id: int,
) -> Arrival:
    description = package.metadata.model_dump(mode="json", exclude_none=True)
    return Arrival(
        declared=declared,
        evidence=evidence,
        checks=checks,
        token_id=token_id,
        digest=_digest(declared, package, evidence, registered, description),
        idempotency_key=package.idempotency_key,
        prereg_sha256=registered.sha256 if registered else None,
        run_purpose=registered.prereg.run_purpose if registered else "leaderboard",
        description=description,
        claims=package.claims,
        admitted=is_admitted(checks),
        reason=reason_not_admitted(checks),
    )


def _digest(
    declared: Declared,
    package: Package,
    evidence: Evidence,
    registered: Registered | None,
    description: Mapping[str, Any],
) -> str:
    """Return what makes an upload the same one again: every file and field, and the manifest it was made for."""
    identity = {
        "manifest": declared.version.sha256,
        "files": [[file.name, file.sha256] for file in evidence.files],
        "entrant": package.entrant,
        "prereg": registered.sha256 if registered else None,
        "metadata": description,
        "claims": package.claims,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _dry_run(
    session: Session, declared: Declared, evidence: Evidence, checks: Sequence[Check], token_id: int
) -> Response:
    names = evidence.scores.entrant.words
    entrants.refuse_foreign(entrants.known_entrants(session, declared.benchmark.id, names), token_id)
    return json_answer(
        {
            "dry_run": True,
            "admitted": is_admitted(checks),
            "checks": [_check(check) for check in checks],
            "n_rows": len(evidence.scores),
            "entrants": list(names),
            "warnings": [problem.as_dict() for problem in evidence.warnings],
        }
    )


def _check(check: Any) -> dict[str, str]:
    return {"rule": check.rule, "outcome": check.outcome, "reason": check.reason}


def describe(session: Session, submission: Submission) -> dict[str, Any]:
    """Return everything that is shown of a submission."""
    events = submissions.list_events(session, submission.id)
    return {
        "id": submission.id,
        "url": f"/submissions/{submission.id}",
        "benchmark": submissions.slug_of(session, submission),
        "status": submission.status,
        "reason": events[-1].reason,
        "admitted": all(event.status != "not_admitted" for event in events),
        "waiting_for": {"received": "evaluation", "evaluated": "publication"}.get(submission.status),
        "run_purpose": submission.run_purpose,
        "prereg_sha256": submission.prereg_sha256,
        "received_at": submission.received_at.isoformat(),
        "n_rows": submission.n_rows,
        "metadata": submission.description,
        "claims": submission.claims,
        "checks": [_check(check) for check in submissions.list_checks(session, submission.id)],
        "entrants": [
            {
                "name": e.name,
                "n_rows": entry.n_rows,
                "state": entry.state,
                "tasks": standing.tasks_of(session, entry),
                "superseded_by": entry.superseded_by,
            }
            for e, entry in submissions.list_entries(session, submission.id)
        ],
        "files": [
            {"name": f.name, "sha256": f.sha256, "n_bytes": f.n_bytes, "n_rows": f.n_rows}
            for f in submissions.list_files(session, submission.id)
        ],
        "history": [{"status": e.status, "at": e.at.isoformat(), "reason": e.reason} for e in events],
    }


def show(submission: str, session: SessionDep) -> Response:
    """Show a submission: status, checks, history, files, its own averages."""
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
    return page(
        "submission.html",
        title=f"Submission {stored.id}",
        s=describe(session, stored),
        waiting=stored.status in ("received", "evaluated"),
        tables=[ShownTable(table) for table in kept if not is_report(table)],
        reports=report_links(stored.id, kept),
        guide=guide_of(benchmarks.find_declared(session, submissions.slug_of(session, stored)).manifest.mode),
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


def scores(submission: int, session: SessionDep) -> Response:
    """Return every row of a submission as it was stored, as CSV."""
    stored = submissions.find_submission(session, submission)
    return csv_answer(tables.scores_table(session, stored))


class Withdrawal(BaseModel):
    """Why a submission is withdrawn; shown for ever."""

    reason: Reason


def withdraw(submission: int, order: Withdrawal, state: StateDep, caller: Submitter) -> Response:
    """Take a submission off the boards (its submitter, or a steward)."""

    def take_off(session: Session) -> dict[str, Any]:
        stored = submissions.lock_submission(session, submission)
        if stored.token_id != caller.id and RANK[caller.role] < RANK["steward"]:
            raise Forbidden("Only its submitter or a steward may withdraw a submission.")
        standing.withdraw(session, stored, order.reason)
        described_now = describe(session, stored)
        if standing.has_stood(session, stored.id):
            benchmarks.mark_data_changed(session, stored.benchmark_id)
            state.jobs.defer_publish(session, stored.benchmark_id)
        else:
            benchmarks.mark_pages_changed(session, stored.benchmark_id)
        return described_now

    return json_answer(state.transact(take_off))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NotFound(f"There is no submission {text[:40]}.")
    return int(text)
