"""What is decided of an upload: which versions of the manifest it may be for, what reads it, what it is checked
against, and how it is stored with its checks, or only answered (a dry run).

It comes in by `app.web.submissions.take`, which copies the files, and has them read between the two halves, in a
process of its own (`app.reading`) by the kind (`app.kinds.reader`).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.admission.case import Case, Check, Registered, SubmissionFields, TokenHolder
from app.admission.claims import SubmissionClaims, deviations_table
from app.admission.rules import check_admission, findings_of, is_admitted, own_grid_findings
from app.db.models import Entrant, Entry, ManifestVersion, Submission
from app.errors import EvidenceRejected, FieldRejected, NotFound, Problem
from app.files.uploads import FileRecord, Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, reader_of
from app.kinds.registry import kind_of
from app.manifest.build import as_asked_by, written_for
from app.manifest.model import Manifest
from app.names import clip_for_message, first_few
from app.prereg.prereg import parse_prereg, sha256_hex
from app.rights import roles
from app.store import benchmark_rows, benchmarks, entrants, grids, labels, preregs, series, sql, submissions
from app.store.benchmarks import Declared, Sizes, refuse_larger, refuse_retired
from app.store.disclosed import count_attempt, refuse_beyond, take_quota


@dataclass(frozen=True)
class Upload:
    """What was sent: files on disk and the fields of the form, by whom, and whether only to be checked (a dry run).

    `versions` are those of the manifest that it may have been written for, the newest first; it was received when its
    body had come.
    """

    versions: Sequence[Declared]
    files: Sequence[SentFile]
    fields: SubmissionFields
    by: TokenHolder
    is_dry: bool
    received_at: datetime
    request_id: str | None = None


def upload_to(
    session: Session,
    slug: str,
    files: Sequence[SentFile],
    fields: Callable[[Manifest], SubmissionFields],
    by: TokenHolder,
    *,
    is_dry: bool,
    request_id: str | None,
) -> Upload:
    """Return an upload to a benchmark, whose manifest says which fields it has. Raises NotFound, FieldRejected."""
    declared = benchmarks.find_declared(session, slug)
    stated = fields(declared.manifest)
    versions = open_versions(session, declared, by, stated)
    return Upload(versions, files, stated, by, is_dry, sql.now(session), request_id)


def reading_of(session: Session, upload: Upload, limits: Limits) -> Callable[[], Evidence]:
    """Return what reads the files, to be called where that is bounded (`app.reading`).

    Raises Conflict where the labels that they are to be matched to are not there yet.
    """
    known = labels.labels_to_match(session, upload.versions[0])
    manifests = [version.manifest for version in upload.versions]
    return partial(reader_of(manifests[0], upload.files, upload.fields.entrant, limits, known).read_as_asked, manifests)


@dataclass(frozen=True)
class Received:
    """The submission that an upload is, new or from when the same came before, under the version it was written for."""

    submission: Submission
    is_new: bool
    declared: Declared


def receive(
    session: Session,
    upload: Upload,
    evidence: Evidence,
    most: Sizes,
    evaluate_later: Callable[[Session, int], None],
) -> Received:
    """Store a complete upload with its checks, admitted or not; repeats are stored once.

    Its evaluation is queued, unless it is a leaderboard's run and not admitted: then there is nothing to evaluate.
    `evaluate_later` receives the number of the benchmark whose row this transaction has changed. A dry run, which the
    caller rolls back, is the same but that nothing is queued and that the rows themselves are not written
    (`write_submission`).

    Raises EvidenceRejected where the files leave out what their entrants' earlier evidence has, FieldRejected when it
    cites an unknown registration, Conflict when an entrant belongs to somebody else, and where labels are private
    whatever `app.store.disclosed` raises.
    """
    declared = version_written_for(session, upload, evidence)
    benchmark_id, names = declared.benchmark.id, evidence.scores.entrant.words
    case = look_up(session, upload, declared, evidence)
    checks = check(case)
    submission = _submission(upload, declared, evidence, case, checks)
    repeat = submissions.find_repeat(session, submission)
    if repeat is not None:
        return Received(repeat, False, declared)
    refuse_retired(session, benchmark_id, declared.manifest.slug)
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
    return Received(submission, True, declared)


def look_up(session: Session, upload: Upload, declared: Declared, evidence: Evidence) -> Case:
    """Return what the rules look at. Raises FieldRejected for a registration that the server does not know."""
    benchmark_id, names = declared.benchmark.id, evidence.scores.entrant.words
    manifest = grids.with_items(session, declared)
    registered = find_registered(session, upload.fields, manifest.slug)
    others_records = None
    if kind_of(manifest).rows.in_upload_order:
        others_records = series.others_records(session, benchmark_id, names)
    history = submissions.read_history(session, benchmark_id, manifest, evidence, registered, upload.by.id)
    own_grid = tuple(own_grid_findings(manifest, names))
    if own_grid and not roles.decides(session, benchmark_id, upload.by.id):
        history = replace(history, findings=(*history.findings, *own_grid))
    return replace(
        case_of(manifest, evidence, upload.fields, registered, upload.received_at),
        others_records=others_records,
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


# The version of a benchmark's manifest that an upload was written for: later additions are not asked of it. An
# earlier version is open only to a submitter who had submitted, or registered what is cited, before the newer one:
# otherwise leaving out a metric would be a free choice.


def open_versions(session: Session, declared: Declared, by: TokenHolder, fields: SubmissionFields) -> list[Declared]:
    """Return the newest version of a benchmark, and the earlier ones open to a submitter's files."""
    versions = [declared]
    since = _known_since(session, declared, by, fields) if declared.version.version > 1 else None
    for version in [] if since is None else _before(session, declared, since):
        asked = as_asked_by(versions[-1].manifest, parse_manifest(version.yaml))
        if asked is None:
            break
        versions.append(Declared(declared.benchmark, version, asked))
    return versions


def _known_since(session: Session, declared: Declared, by: TokenHolder, fields: SubmissionFields) -> datetime | None:
    query = select(func.min(Submission.received_at))
    first = session.scalar(query.where(Submission.benchmark_id == declared.benchmark.id, Submission.token_id == by.id))
    try:
        cited = find_registered(session, fields, declared.manifest.slug)
    except FieldRejected:
        # An unknown registration is refused later, when the whole run is looked up, together with all other problems.
        cited = None
    own = [] if cited is None or cited.by != by else [cited.registered_at]
    return min([*own, *([] if first is None else [first])], default=None)


def _before(session: Session, declared: Declared, since: datetime) -> Sequence[ManifestVersion]:
    """Return the versions before the newest one, newest first, back to the one in force at a time."""
    of_benchmark = ManifestVersion.benchmark_id == declared.benchmark.id
    oldest = select(func.max(ManifestVersion.version)).where(of_benchmark, ManifestVersion.created_at <= since)
    query = select(ManifestVersion).where(
        of_benchmark,
        ManifestVersion.version < declared.version.version,
        ManifestVersion.version >= func.coalesce(oldest.scalar_subquery(), 1),
    )
    return session.scalars(query.order_by(ManifestVersion.version.desc())).all()


def version_written_for(session: Session, upload: Upload, evidence: Evidence) -> Declared:
    """Return the version that the files were written for.

    Raises EvidenceRejected where an entrant already has evidence under a version with a metric that the files lack.
    """
    versions = upload.versions
    if len(versions) == 1:
        return versions[0]
    names = evidence.scores.entrant.words
    newest = _newest_of(session, versions[0].benchmark.id, names)
    allowed = [each for each in versions if newest is None or each.version.id >= newest]
    if evidence.version >= max(1, len(allowed)):
        raise _gone_back(versions, evidence, names)
    manifests = [each.manifest for each in allowed or versions[:1]]
    return versions[written_for(manifests, evidence.version, evidence.scores.task.words)]


def _newest_of(session: Session, benchmark_id: int, names: Collection[str]) -> int | None:
    query = select(func.max(Submission.manifest_version_id)).join(Entry, Entry.submission_id == Submission.id)
    query = query.join(Entrant, Entrant.id == Entry.entrant_id)
    return session.scalar(query.where(Entrant.benchmark_id == benchmark_id, entrants.is_named(names)))


def _gone_back(versions: Sequence[Declared], evidence: Evidence, names: Sequence[str]) -> EvidenceRejected:
    lower = versions[evidence.version].manifest
    shown, has = first_few(names, 5, clip_for_message), "has" if len(names) == 1 else "have"
    message = f"the column is missing, and {shown} {has} evidence under a version of the manifest that asks for it"
    lacking = [name for name in versions[0].manifest.metrics if name not in lower.metrics]
    return EvidenceRejected(
        "The files leave out what was asked of their entrants before; nothing was stored.",
        [Problem(message, column=name, is_missing=True) for name in lacking],
    )


def not_asked(upload: Upload, used: Declared) -> list[Problem]:
    """Return notices of what was added after the version that the files were checked against."""
    newest = upload.versions[0]
    if used is newest:
        return []
    metrics = [name for name in newest.manifest.metrics if name not in used.manifest.metrics]
    known = used.manifest.task_ids() or ()
    tasks = [name for name in newest.manifest.task_ids() or () if name not in known]
    message = (
        f"checked against version {used.version.version} of the manifest, for which the files were written; not asked, "
        f"so without a rank on boards that read it: {first_few([*metrics, *tasks], 20)}"
    )
    return [Problem(message)]


# The registration that a submission cites, by its bytes or by their digest.


def find_registered(session: Session, fields: SubmissionFields, slug: str) -> Registered | None:
    """Return the cited preregistration.

    Raises FieldRejected when it is not registered, or cited twice, differently.
    """
    sha256 = _cited(fields)
    if sha256 is None:
        return None
    try:
        return preregs.load_registration(session, sha256, slug)
    except NotFound:
        message = "no preregistration with these bytes is registered; POST it to /preregs before the run"
        raise FieldRejected(
            "The preregistration is unknown.", [Problem(message, column="prereg", value=sha256)]
        ) from None


def _cited(fields: SubmissionFields) -> str | None:
    if fields.prereg is None:
        return fields.prereg_sha256
    # Bytes that are not a valid preregistration are refused with all their problems, not as unknown.
    parse_prereg(fields.prereg)
    sent = sha256_hex(fields.prereg)
    if fields.prereg_sha256 not in (None, sent):
        problem = Problem(f"the prereg file has SHA-256 {sent}", column="prereg_sha256", value=fields.prereg_sha256)
        raise FieldRejected("The preregistration is cited twice, differently.", [problem])
    return sent
