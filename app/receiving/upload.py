"""An upload as it was sent: which versions of the manifest it may be for, and what it cites."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.admission.case import Registered, SubmissionFields, TokenHolder
from app.db.models import Entrant, Entry, ManifestVersion, Submission
from app.errors import EvidenceRejected, FieldRejected, NotFound, Problem
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, reader_of
from app.manifest.build import as_asked_by, written_for
from app.names import clip_for_message
from app.prereg.prereg import parse_prereg, sha256_hex
from app.store import labels, preregs
from app.store.benchmarks import Declared
from app.store.sql import one_of


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


def reading_of(session: Session, upload: Upload, limits: Limits) -> Callable[[], Evidence]:
    """Return what reads the files, to be called where that is bounded (`app.reading`).

    Raises Conflict where the labels that they are to be matched to are not there yet.
    """
    known = labels.labels_to_match(session, upload.versions[0])
    manifests = [version.manifest for version in upload.versions]
    read = reader_of(manifests[0]).read_as_asked
    return partial(read, manifests, upload.files, upload.fields.entrant, limits, known)


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
        f"so without a rank on boards that read it: {', '.join([*metrics, *tasks][:20])}"
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
