"""What happens to an upload once its files are read: it is checked against what is known, and stored with its checks.

Evidence is an argument: `app.web.submissions.take` has had the files read by then, in a process of its own
(`app.reading`) by the kind (`app.kinds.reader`); the command line reads them directly.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.admission.case import Case, Check, Registered, SubmissionFields
from app.admission.claims import SubmissionClaims, deviations_table
from app.admission.rules import check_admission, findings_of, is_admitted, own_grid_findings
from app.db.models import Submission
from app.files.uploads import FileRecord
from app.kinds.reader import Evidence
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.receiving.upload import Upload, find_registered
from app.rights import roles
from app.store import benchmark_rows, entrants, grids, series, submissions
from app.store.benchmarks import Declared, Sizes, refuse_larger, refuse_retired
from app.store.disclosed import count_attempt, refuse_beyond, take_quota


def receive(
    session: Session,
    upload: Upload,
    declared: Declared,
    evidence: Evidence,
    most: Sizes,
    evaluate_later: Callable[[Session, int], None],
) -> tuple[Submission, bool]:
    """Store a complete upload with its checks, admitted or not, and queue its evaluation; repeats are stored once.

    Returns the submission, and whether it is new or from when the same upload came before. `declared` is the version
    that the files were written for. `evaluate_later` receives the number of the benchmark whose row this transaction
    has changed. A dry run, which the caller rolls back, is the same but that nothing is queued and that the rows
    themselves are not written (`write_submission`).

    Raises FieldRejected when it cites an unknown registration, Conflict when an entrant belongs to somebody else, and
    where labels are private whatever `app.store.disclosed` raises.
    """
    benchmark_id, names = declared.benchmark.id, evidence.scores.entrant.words
    refuse_retired(session, benchmark_id, declared.manifest.slug)
    case = look_up(session, upload, declared, evidence)
    checks = check(case)
    submission = _submission(upload, declared, evidence, case, checks)
    repeat = submissions.find_repeat(session, submission)
    if repeat is not None:
        return repeat, False
    refuse_larger(session, benchmark_id, upload.by.id, names, evidence.scores.task.words, most)
    refuse_beyond(session, declared, upload.by.id, names, upload.received_at)
    is_scored = submission.status == "received" or submission.run_purpose != "leaderboard"
    quota = take_quota(session, declared, upload.by.id) if is_scored else None
    if quota is not None:
        checks = [*checks, quota.check()]
    attached, findings = _with_deviations(evidence, case), findings_of(case)
    submissions.write_submission(session, submission, declared, attached, checks, findings, with_rows=not upload.is_dry)
    if quota is not None:
        count_attempt(session, declared, submission.id, quota, upload.by.id)
    benchmark_rows.mark_pages_changed(session, benchmark_id)
    submissions.refuse_named_since(session, declared, evidence.scores, upload.by.id)
    if is_scored and not upload.is_dry:
        evaluate_later(session, benchmark_id)
    return submission, True


def look_up(session: Session, upload: Upload, declared: Declared, evidence: Evidence) -> Case:
    """Return what the rules look at. Raises FieldRejected for a registration that the server does not know."""
    benchmark_id, names = declared.benchmark.id, evidence.scores.entrant.words
    manifest = grids.with_items(session, declared)
    registered = find_registered(session, upload.fields, manifest.slug)
    standing = None
    if kind_of(manifest).rows.in_upload_order:
        standing = series.standing_records(session, benchmark_id, names)
    history = submissions.read_history(session, benchmark_id, manifest, evidence, registered, upload.by.id)
    own_grid = tuple(own_grid_findings(manifest, names))
    if own_grid and not roles.decides(session, benchmark_id, upload.by.id):
        history = replace(history, findings=(*history.findings, *own_grid))
    return replace(
        case_of(manifest, evidence, upload.fields, registered, upload.received_at),
        standing=standing,
        submitter=upload.by,
        entrants=entrants.names(session, benchmark_id),
        history=history,
    )


def case_of(
    manifest: Manifest,
    evidence: Evidence,
    fields: SubmissionFields,
    registered: Registered | None,
    received_at: datetime,
) -> Case:
    """Return what the rules look at, without what only a server knows."""
    return Case(
        manifest=manifest,
        scores=evidence.scores,
        registered=registered,
        received_at=received_at,
        facts=evidence.facts,
        started_at=fields.started_at,
        dirty=fields.dirty,
        code_commit=fields.description.get("code_commit"),
        claims=fields.claims,
        forensics=evidence.forensics,
    )


def check(case: Case) -> list[Check]:
    """Apply every rule of admission."""
    return check_admission(case, kind_of(case.manifest).rules)


def check_claims(
    manifest: Manifest, evidence: Evidence, fields: SubmissionFields, *, is_request: bool = False
) -> list[Check]:
    """Return the evaluation's checks of the claims. With `is_request`, when somebody waits, slow ones are left out."""
    claimed = SubmissionClaims(manifest, evidence.scores, evidence.facts, fields.claims, is_request)
    return kind_of(manifest).own_claims(claimed)


def _submission(
    upload: Upload, declared: Declared, evidence: Evidence, case: Case, checks: Sequence[Check]
) -> Submission:
    """Return the submission that an upload is, not stored yet."""
    fields, registered = upload.fields, case.registered
    return Submission(
        benchmark_id=declared.benchmark.id,
        manifest_version_id=declared.version.id,
        prereg_sha256=None if registered is None else registered.sha256,
        token_id=upload.by.id,
        digest=digest_of(declared.version.sha256, evidence.files, fields, registered),
        idempotency_key=fields.idempotency_key,
        status="received" if is_admitted(checks) else "not_admitted",
        run_purpose="leaderboard" if registered is None else registered.prereg.run_purpose,
        columns=list(evidence.scores.columns),
        n_rows=len(evidence.scores),
        description=dict(fields.description),
        claims=None if fields.claims is None else dict(fields.claims),
        facts=evidence.facts.as_dict(),
        request_id=upload.request_id,
    )


def digest_of(
    manifest_sha256: str, files: Sequence[FileRecord], fields: SubmissionFields, registered: Registered | None
) -> str:
    """Return a digest of every file and field, and of the manifest they were uploaded for: a repeat has the same."""
    identity = {
        "manifest": manifest_sha256,
        "files": [[file.name, file.sha256] for file in files],
        "entrant": fields.entrant,
        "prereg": registered.sha256 if registered else None,
        "metadata": fields.description,
        "claims": fields.claims,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _with_deviations(evidence: Evidence, case: Case) -> Evidence:
    """Return the evidence, with the table of deviations added where it cites a registration."""
    if case.registered is None:
        return evidence
    computed = kind_of(case.manifest).rules.computed_metrics(case.manifest)
    deviations = deviations_table(case.registered, evidence.scores, evidence.facts.bundles, computed)
    return replace(evidence, attachments=(*evidence.attachments, deviations))
