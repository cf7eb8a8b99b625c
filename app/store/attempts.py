"""Earlier submissions to a benchmark: the number of an attempt, and findings from comparing its rows with them.

Called by `app.receiving.receive` while an upload is checked.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import ARRAY, DateTime, Integer, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from app.admission.attempts import History
from app.admission.beginnings import Beginning, began_before
from app.admission.check import Registered
from app.admission.earlier_submissions import Earlier
from app.admission.forensics import compare
from app.admission.identity import EarlierIdentity
from app.admission.near_copies import near_rows
from app.admission.rules import WITNESSED_RULE
from app.db.models import Entrant, Entry, Submission, SubmissionCheck, Task
from app.kinds.known import kind_of
from app.kinds.reader import Evidence
from app.manifest.manifest import Manifest
from app.store.fingerprints import MOST_COMPARED, alike, earlier_of, others_now, same_files
from app.store.sql_arrays import one_of
from app.values.fingerprints import Fingerprint
from app.values.forensics import Finding

SAME = {"same_rows", "same_results"}
"""The flag already raised for an entrant with the very rows of another."""


def read_history(
    session: Session, benchmark_id: int, manifest: Manifest, evidence: Evidence, registered: Registered | None
) -> History:
    """Return the history of a submission from all earlier ones, admitted or not."""
    names = evidence.scores.entrant.words
    prints = evidence.forensics.fingerprints
    before = [*earlier_of(session, benchmark_id, names), *alike(session, benchmark_id, prints)]
    compared = [*compare(prints, before), *_begun(session, prints, before, registered)]
    copied = {finding.entrant for finding in compared if finding.flag in SAME}
    other = [mine for mine in prints if mine.entrant not in copied]
    near = near_rows(other, others_now(session, benchmark_id, names)) if other else ()
    bytes_of_others = same_files(session, benchmark_id, evidence.files, names)
    tasks = evidence.scores.task.words if kind_of(manifest).rows.by_task(manifest) else None
    return History(
        n_of_prereg=None if registered is None else _n_citing(session, benchmark_id, registered.sha256) + 1,
        n_expected=_n_expected(registered),
        n_of_entrant={name: n + 1 for name, n in _n_before(session, benchmark_id, names, tasks).items()},
        findings=(*compared, *near, *(_same_bytes(*same) for same in bytes_of_others)),
        identities=tuple(_identities(session, benchmark_id)) if evidence.facts.bundles else (),
    )


def _begun(
    session: Session, prints: Sequence[Fingerprint], before: Sequence[Earlier], registered: Registered | None
) -> Iterator[Finding]:
    """Yield entrants whose run began, by an earlier submission's account, before the registration cited now."""
    numbers = {one.submission for one in before if one.is_same}
    if registered is None or not numbers:
        return
    began = cast(Submission.description["started_at"].astext, DateTime(timezone=True))
    is_refusal = (SubmissionCheck.rule == WITNESSED_RULE) & (SubmissionCheck.outcome == "failed")
    refused = select(SubmissionCheck.submission_id).where(SubmissionCheck.submission_id == Submission.id, is_refusal)
    query = select(Submission.id, began, refused.exists()).where(one_of(Submission.id, numbers), began.is_not(None))
    beginnings = {number: Beginning(at, was_refused) for number, at, was_refused in session.execute(query)}
    yield from began_before(prints, before, beginnings, registered.registered_at)


def _identities(session: Session, benchmark_id: int) -> Iterator[EarlierIdentity]:
    """Yield the identities stated by the latest submissions, newest first, bundle by bundle."""
    stated = Submission.facts["bundles"]
    query = select(Submission.id, stated).where(Submission.benchmark_id == benchmark_id, stated != cast([], JSONB))
    for number, bundles in session.execute(query.order_by(Submission.id.desc()).limit(MOST_COMPARED)):
        for bundle in bundles[:MOST_COMPARED]:
            yield EarlierIdentity(number, bundle["entrant"], bundle.get("identity", {}))


def _same_bytes(file: str, submission: int, entrant: str) -> Finding:
    return Finding("same_bytes", None, f"{file} is a file of {entrant} too (submission {submission})")


def _n_expected(registered: Registered | None) -> int:
    """Return the expected number of submissions under a registration: one for each of its entrants."""
    return 1 if registered is None or registered.prereg.entrants is None else len(registered.prereg.entrants)


def _n_citing(session: Session, benchmark_id: int, sha256: str) -> int:
    query = select(func.count()).where(Submission.benchmark_id == benchmark_id, Submission.prereg_sha256 == sha256)
    return session.scalars(query).one()


def _n_before(
    session: Session, benchmark_id: int, names: Sequence[str], tasks: Sequence[str] | None
) -> Mapping[str, int]:
    """Count the submissions that each entrant has already; with `tasks`, those of one of these tasks."""
    query = (
        select(func.lower(Entrant.name), func.count())
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(Entrant.benchmark_id == benchmark_id, one_of(func.lower(Entrant.name), {name.lower() for name in names}))
        .group_by(func.lower(Entrant.name))
    )
    if tasks is not None:
        numbers = select(Task.id).where(Task.benchmark_id == benchmark_id, one_of(Task.name, tasks))
        known = cast(list(session.scalars(numbers)), ARRAY(Integer))
        query = query.where(Entry.task_ids.bool_op("&&")(known))
    counts: dict[str, int] = dict(session.execute(query).all())
    return {name: counts.get(name.lower(), 0) for name in names}
