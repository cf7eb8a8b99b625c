"""What happens to a run once its files are read: context is looked up, rules are checked, and it is stored or
answered. Files are read elsewhere before (in a separate process on the server, directly on the command line):
evidence is an argument.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.admission.case import Case, Check, CurrentRecord, Fields, History, Registered, TokenHolder
from app.admission.claims import Claimed, deviations_table
from app.admission.rules import check_admission, findings_of, own_grid_findings
from app.db.models import Entrant, Entry, ManifestVersion, Submission
from app.errors import EvidenceRejected, FieldRejected, NotFound, Problem
from app.files.uploads import FileRecord
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.registry import kind_of
from app.manifest.build import as_asked_by, written_for
from app.manifest.model import Manifest
from app.names import clip_for_message
from app.prereg.prereg import parse_prereg, sha256_hex
from app.store import arrivals, benchmark_rows, entrants, grids, preregs, roles, series
from app.store.arrivals import Arrival, Parts
from app.store.benchmarks import Declared, refuse_retired
from app.store.disclosed import count_attempt, look_up_quota, refuse_beyond, take_quota
from app.store.sizes import Sizes, refuse_larger
from app.store.sql import one_of


@dataclass(frozen=True)
class Run:
    """A run whose files were read: its benchmark, its evidence, and the fields sent with it."""

    manifest: Manifest
    evidence: Evidence
    fields: Fields
    received_at: datetime


@dataclass(frozen=True)
class Known:
    """What a run is checked against besides its benchmark: its registration, and what only a server knows."""

    registered: Registered | None = None
    standing: Sequence[CurrentRecord] | None = None
    submitter: TokenHolder | None = None
    entrants: Sequence[str] = ()
    history: History | None = None


@dataclass(frozen=True)
class Sent:
    """A run that was sent to a server: by whom, for which version of the benchmark, and in which request."""

    declared: Declared
    submitter: TokenHolder
    run: Run
    request_id: str | None = None
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True)
class Stored:
    """The stored submission of a run, new or from when the same upload came before; its parts if available."""

    submission: Submission
    is_new: bool
    parts: Parts | None = None


def receive(session: Session, sent: Sent, evaluate_later: Callable[[Session, int], None]) -> Stored:
    """Store a complete run with its checks, admitted or not, and queue its evaluation; repeats are stored once.

    `evaluate_later` receives the number of the benchmark whose row this transaction has changed.

    Raises FieldRejected when it cites an unknown registration, Conflict when an entrant belongs to somebody else, and
    where labels are private whatever `app.store.disclosed` raises.
    """
    refuse_retired(session, sent.declared.benchmark.id, sent.declared.manifest.slug)
    sent = with_grid(session, sent)
    known = look_up(session, sent)
    arrival = _arrival(sent, known, check_run(sent.run, known))
    repeat = arrivals.find_repeat(session, arrival)
    if repeat is not None:
        return Stored(repeat, is_new=False)
    _refuse_beyond(session, sent)
    is_scored = arrival.admitted or arrival.run_purpose != "leaderboard"
    quota = take_quota(session, sent.declared, sent.submitter.id) if is_scored else None
    if quota is not None:
        arrival = replace(arrival, checks=[*arrival.checks, quota.check()])
    written = arrivals.write_submission(session, arrival)
    submission = written.submission
    if quota is not None:
        count_attempt(session, sent.declared, submission.id, quota, sent.submitter.id)
    benchmark_rows.mark_pages_changed(session, submission.benchmark_id)
    arrivals.refuse_named_since(session, arrival)
    if is_scored:
        evaluate_later(session, submission.benchmark_id)
    return Stored(submission, is_new=True, parts=written.parts)


def _refuse_beyond(session: Session, sent: Sent) -> None:
    scores = sent.run.evidence.scores
    words = scores.entrant.words
    refuse_larger(session, sent.declared.benchmark.id, sent.submitter.id, words, scores.task.words, sent.sizes)
    refuse_beyond(session, sent.declared, sent.submitter.id, words, sent.run.received_at)


def rehearse(session: Session, sent: Sent) -> list[Check]:
    """Check a run as `receive` does, but store nothing. Raises what `receive` raises."""
    refuse_retired(session, sent.declared.benchmark.id, sent.declared.manifest.slug)
    sent = with_grid(session, sent)
    _refuse_beyond(session, sent)
    checks = check_run(sent.run, look_up(session, sent))
    quota = look_up_quota(session, sent.declared, sent.submitter.id)
    entrants.refuse_taken(session, sent.declared.benchmark, sent.run.evidence.scores.entrant.words, sent.submitter.id)
    return checks if quota is None else [*checks, quota.check()]


def with_grid(session: Session, sent: Sent) -> Sent:
    """Return the run with the items uploaded for the grid of its benchmark."""
    return replace(sent, run=replace(sent.run, manifest=grids.with_items(session, sent.declared)))


def check_run(run: Run, known: Known) -> list[Check]:
    """Apply every rule of admission."""
    return check_admission(_case(run, known), kind_of(run.manifest).rules)


def _case(run: Run, known: Known) -> Case:
    return Case(
        manifest=run.manifest,
        scores=run.evidence.scores,
        registered=known.registered,
        received_at=run.received_at,
        facts=run.evidence.facts,
        started_at=run.fields.started_at,
        dirty=run.fields.dirty,
        code_commit=run.fields.description.get("code_commit"),
        claims=run.fields.claims,
        standing=known.standing,
        submitter=known.submitter,
        entrants=known.entrants,
        forensics=run.evidence.forensics,
        history=known.history,
    )


def check_claims(run: Run, *, is_request: bool = False) -> list[Check]:
    """Return the evaluation's checks of the claims. With `is_request`, when somebody waits, slow ones are left out."""
    evidence = run.evidence
    claimed = Claimed(run.manifest, evidence.scores, evidence.facts, run.fields.claims, is_request)
    return kind_of(run.manifest).own_claims(claimed)


def look_up(session: Session, sent: Sent) -> Known:
    """Return what the server knows of a run. Raises FieldRejected for a registration that it does not know."""
    run = sent.run
    registered = find_registered(session, run.fields, run.manifest.slug)
    standing = None
    if kind_of(run.manifest).rows.in_upload_order:
        standing = series.standing_records(session, sent.declared.benchmark.id, run.evidence.scores.entrant.words)
    history = arrivals.read_history(session, sent.declared.benchmark.id, run.manifest, run.evidence, registered)
    own_grid = tuple(own_grid_findings(run.manifest, run.evidence.scores.entrant.words))
    if own_grid and not roles.decides(session, sent.declared.benchmark.id, sent.submitter.id):
        history = replace(history, findings=(*history.findings, *own_grid))
    known = entrants.names(session, sent.declared.benchmark.id)
    return Known(registered, standing, sent.submitter, known, history)


def _arrival(sent: Sent, known: Known, checks: Sequence[Check]) -> Arrival:
    return Arrival(
        declared=sent.declared,
        evidence=_with_deviations(sent.run, known.registered),
        fields=sent.run.fields,
        registered=known.registered,
        checks=checks,
        findings=findings_of(_case(sent.run, known)),
        token_id=sent.submitter.id,
        digest=digest_of(sent.declared.version.sha256, sent.run.evidence.files, sent.run.fields, known.registered),
        request_id=sent.request_id,
    )


def _with_deviations(run: Run, registered: Registered | None) -> Evidence:
    """Return the evidence, with the table of deviations added where it cites a registration."""
    if registered is None:
        return run.evidence
    computed = kind_of(run.manifest).rules.computed_metrics(run.manifest)
    deviations = deviations_table(registered, run.evidence.scores, run.evidence.facts.bundles, computed)
    return replace(run.evidence, attachments=(*run.evidence.attachments, deviations))


# The registration that a submission cites, by its bytes or by their digest.


def find_registered(session: Session, fields: Fields, slug: str) -> Registered | None:
    """Return the cited preregistration.

    Raises FieldRejected when it is not registered, or cited twice, differently.
    """
    sha256 = _cited(fields)
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
        bound_at=known.bound_at,
    )


def _cited(fields: Fields) -> str | None:
    if fields.prereg is None:
        return fields.prereg_sha256
    # Bytes that are not a valid preregistration are refused with all their problems, not as unknown.
    parse_prereg(fields.prereg)
    sent = sha256_hex(fields.prereg)
    if fields.prereg_sha256 not in (None, sent):
        problem = Problem(f"the prereg file has SHA-256 {sent}", column="prereg_sha256", value=fields.prereg_sha256)
        raise FieldRejected("The preregistration is cited twice, differently.", [problem])
    return sent


# The version of a benchmark's manifest that an upload was written for: later additions are not asked of it. An
# earlier version is open only to a submitter who had submitted, or registered what is cited, before the newer one:
# otherwise leaving out a metric would be a free choice.


def open_versions(session: Session, declared: Declared, by: TokenHolder, fields: Fields) -> list[Declared]:
    """Return the newest version of a benchmark, and the earlier ones open to a submitter's files."""
    versions = [declared]
    since = _known_since(session, declared, by, fields) if declared.version.version > 1 else None
    for version in [] if since is None else _before(session, declared, since):
        asked = as_asked_by(versions[-1].manifest, parse_manifest(version.yaml))
        if asked is None:
            break
        versions.append(Declared(declared.benchmark, version, asked))
    return versions


def _known_since(session: Session, declared: Declared, by: TokenHolder, fields: Fields) -> datetime | None:
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


def version_written_for(session: Session, versions: Sequence[Declared], evidence: Evidence) -> Declared:
    """Return the version that the files were written for.

    Raises EvidenceRejected where an entrant already has evidence under a version with a metric that the files lack.
    """
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
    return session.scalar(query.where(Entrant.benchmark_id == benchmark_id, one_of(Entrant.name, names)))


def _gone_back(versions: Sequence[Declared], evidence: Evidence, names: Sequence[str]) -> EvidenceRejected:
    lower = versions[evidence.version].manifest
    shown = ", ".join(clip_for_message(name) for name in names[:5])
    message = f"the column is missing, and {shown} has evidence under a version of the manifest that asks for it"
    lacking = [name for name in versions[0].manifest.metrics if name not in lower.metrics]
    return EvidenceRejected(
        "The files leave out what was asked of their entrants before; nothing was stored.",
        [Problem(message, column=name, is_missing=True) for name in lacking],
    )


def not_asked(versions: Sequence[Declared], used: Declared) -> list[Problem]:
    """Return notices of what was added after the version that the files were checked against."""
    newest = versions[0]
    if used is newest:
        return []
    metrics = [name for name in newest.manifest.metrics if name not in used.manifest.metrics]
    known = used.manifest.task_ids() or ()
    tasks = [name for name in newest.manifest.task_ids() or () if name not in known]
    message = (
        f"checked against version {used.version.version} of the manifest, for which the files were written; not asked, "
        f"so without a rank on boards that read it: {', '.join([*metrics, *tasks][:20])}"
    )
    return [Problem(message)]


# The digest by which a repeated upload is recognised.


def digest_of(manifest_sha256: str, files: Sequence[FileRecord], fields: Fields, registered: Registered | None) -> str:
    """Return a digest of every file and field, and of the manifest they were uploaded for."""
    identity = {
        "manifest": manifest_sha256,
        "files": [[file.name, file.sha256] for file in files],
        "entrant": fields.entrant,
        "prereg": registered.sha256 if registered else None,
        "metadata": fields.description,
        "claims": fields.claims,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
