"""POST /benchmarks/{slug}/submissions: receive an upload, check it, store it whole or not at all."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.admission.case import Case
from app.admission.check import Check, Registered, StandingRecord, TokenHolder
from app.admission.deviations import deviations_table
from app.admission.rules import check_admission, is_admitted, reason_not_admitted
from app.config import Settings
from app.errors import FieldRejected, NotFound, Problem
from app.files.uploads import Limits, Upload
from app.kinds.claimed import check_own_claims
from app.kinds.known import kind_of
from app.kinds.reader import Evidence
from app.manifest.manifest import problems_from
from app.prereg.prereg import parse_prereg, sha256_hex
from app.reading.jobs import SubmissionJob
from app.store import benchmarks, entrants, labels, preregs, series, submissions
from app.store.benchmarks import Declared
from app.store.submissions import Arrival
from app.web import reports, submission_views
from app.web.answers import json_answer
from app.web.bodies import MAX_FIELDS, gone, received_files, spool
from app.web.documents import DryRunDocument, SubmissionDocument
from app.web.early import CheckedFirst
from app.web.fields import Finite, Flag, Line, Text
from app.web.problems import described
from app.web.state import Caller, State, StateDep, Uploader
from app.web.submission_views import check_document, describe

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

    prereg: bytes | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: Metadata
    claims: Claims | None
    idempotency_key: str | None


@dataclass(frozen=True)
class Fields:
    """The fields of one request as they were sent, but for its files."""

    prereg: UploadFile | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: str | None
    claims: str | None
    idempotency_key: str | None


@dataclass(frozen=True)
class Received:
    """An upload that was read."""

    declared: Declared
    package: Package
    evidence: Evidence
    at: datetime


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
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
        form_limits={"max_fields": MAX_FIELDS},
    )
    router.include_router(submission_views.router)
    router.include_router(reports.router)
    return router


async def submit(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Uploader,
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
    fields = Fields(prereg, prereg_sha256, entrant, metadata, claims, idempotency_key)
    with received_files() as folder:
        package, uploads = await run_in_threadpool(_unpack, fields, files, folder, state.settings)
        declared, job = await run_in_threadpool(_job, state, slug, package, uploads)
        evidence = await state.readers.read(job, folder, caller.id, gone(request))
        received = Received(declared, package, evidence, datetime.now(UTC))
        return await run_in_threadpool(_receive, state, caller, received, dry_run=dry_run)


def _unpack(
    fields: Fields, files: Sequence[UploadFile], folder: Path, settings: Settings
) -> tuple[Package, list[Upload]]:
    package = Package(
        prereg=None if fields.prereg is None else _read_prereg(fields.prereg, settings),
        prereg_sha256=fields.prereg_sha256,
        entrant=fields.entrant or None,
        metadata=_parse(Metadata, fields.metadata or "{}", "metadata"),
        claims=None if fields.claims is None else _parse(Claims, fields.claims, "claims"),
        idempotency_key=fields.idempotency_key or None,
    )
    return package, spool(files, folder)


def _job(state: State, slug: str, package: Package, uploads: Sequence[Upload]) -> tuple[Declared, SubmissionJob]:
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        truth = labels.labels_to_match(session, declared)
    limits = Limits.from_settings(state.settings)
    return declared, SubmissionJob(declared.manifest, uploads, package.entrant, limits, truth)


def _read_prereg(prereg: UploadFile, settings: Settings) -> bytes:
    # One byte beyond the limit is enough for the reader to refuse it.
    return prereg.file.read(settings.max_yaml_kib * 1024 + 1)


def _parse(kind: Any, text: str, field: str) -> Any:
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = problems_from(error, prefix=f"{field}.")
        raise FieldRejected(f"The field {field} is not what it must be.", problems) from None


def _receive(state: State, caller: Caller, received: Received, *, dry_run: bool) -> Response:
    declared, package, read, received_at = received.declared, received.package, received.evidence, received.at
    claimed = _claimed(declared, package, read) if dry_run else []

    def check_and_store(session: Session) -> Response:
        evidence = read
        registered = _registered(session, package, declared.manifest.slug)
        if registered is not None:
            deviations = deviations_table(
                registered,
                evidence.scores,
                evidence.facts.bundles,
                kind_of(declared.manifest).rules.computed_metrics(declared.manifest),
            )
            evidence = replace(evidence, attachments=(*evidence.attachments, deviations))
        case = _case(declared, package, evidence, registered, received_at)
        submitter = TokenHolder(caller.id, caller.name)
        case = replace(case, standing=_standing(session, declared, evidence), submitter=submitter)
        checks = check_admission(case, kind_of(declared.manifest).rules)
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


def _registered(session: Session, package: Package, slug: str) -> Registered | None:
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
        known = preregs.load_registration(session, sha256, slug)
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
    entrants.refuse_taken(session, declared.benchmark, names, token_id)
    return json_answer(
        {
            "dry_run": True,
            "admitted": is_admitted(checks),
            "checks": [check_document(check) for check in checks],
            "n_rows": len(evidence.scores),
            "entrants": list(names),
            "warnings": [problem.as_dict() for problem in evidence.warnings],
        }
    )
