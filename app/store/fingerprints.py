"""Fingerprints of evidence: stored with a submission, looked up when the next one arrives.

Called by `app.store.submissions`, `app.store.attempts` and `app.store.provenance`.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import ARRAY, BigInteger, Select, cast, func, select
from sqlalchemy.orm import Session

from app.admission.earlier_submissions import Earlier
from app.admission.near_copies import Other
from app.db.models import Entrant, Entry, Fingerprint, Submission, SubmissionFile
from app.files.uploads import FileRecord
from app.store.sql_arrays import one_of
from app.values.fingerprints import Fingerprint as Value
from app.values.fingerprints import Sampled
from app.values.forensics import Finding, flags_by_entrant

MOST_COMPARED = 20
"""Earlier submissions compared: of an entrant, and of others with the same contents."""


def write_fingerprints(
    session: Session,
    submission_id: int,
    entrants: Mapping[str, int],
    values: Iterable[Value],
    findings: tuple[Finding, ...],
) -> None:
    """Keep the fingerprints of a submission's entrants with the flags that it raised; `entrants` are their numbers."""
    kept = [value for value in values if value.entrant in entrants]
    flags = flags_by_entrant(findings, {value.entrant for value in kept})
    session.add_all(
        Fingerprint(
            submission_id=submission_id,
            entrant_id=entrants[value.entrant],
            n_rows=value.n_rows,
            places=value.places,
            results=value.results,
            sample=value.sample.astype("<u8").tobytes(),
            contents=list(value.contents),
            sampled_columns=list(value.sampled.columns),
            sampled_places=value.sampled.places.astype("<u4").tobytes(),
            sampled_values=value.sampled.values.astype("<f4").tobytes(),
            flags=flags[value.entrant],
        )
        for value in kept
    )


def earlier_of(session: Session, benchmark_id: int, names: Iterable[str]) -> list[Earlier]:
    """Return the latest fingerprints of entrants by name, whatever the status of the submissions."""
    lowered = {name.lower() for name in names}
    number = func.row_number().over(partition_by=Fingerprint.entrant_id, order_by=Fingerprint.submission_id.desc())
    ranked = (
        select(Fingerprint.submission_id, Fingerprint.entrant_id, number.label("number"))
        .join(Entrant, Entrant.id == Fingerprint.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, one_of(func.lower(Entrant.name), lowered))
        .subquery()
    )
    is_it = (ranked.c.submission_id == Fingerprint.submission_id) & (ranked.c.entrant_id == Fingerprint.entrant_id)
    query = _select().join(ranked, is_it).where(ranked.c.number <= MOST_COMPARED)
    return [_earlier(row, name, is_same=True) for row, name in session.execute(query)]


def alike(session: Session, benchmark_id: int, values: Sequence[Value]) -> list[Earlier]:
    """Return fingerprints of other entrants that have contents in common with some of these, the newest first.

    Also those with identical results, which even rows of 0/1 can reveal.
    """
    contents = sorted({content for value in values for content in value.contents})
    lowered = {value.entrant.lower() for value in values}
    query = _select().where(
        Entrant.benchmark_id == benchmark_id,
        ~one_of(func.lower(Entrant.name), lowered),
        Fingerprint.contents.bool_op("&&")(cast(contents, ARRAY(BigInteger)))
        | one_of(Fingerprint.results, {value.results for value in values}),
    )
    newest = query.order_by(Fingerprint.submission_id.desc(), Fingerprint.entrant_id).limit(MOST_COMPARED)
    return [_earlier(row, name, is_same=False) for row, name in session.execute(newest)]


def others_now(session: Session, benchmark_id: int, names: Iterable[str]) -> list[Other]:
    """Return sampled values of what the other entrants have now, in the order of their submissions.

    This includes admitted evidence that is not evaluated yet, so that copies sent at the same time are found.
    """
    stored = (Fingerprint.sampled_columns, Fingerprint.sampled_places, Fingerprint.sampled_values)
    query = (
        select(Entrant.name, Fingerprint.submission_id, *stored)
        .join(Entrant, Entrant.id == Fingerprint.entrant_id)
        .join(Entry, (Entry.submission_id == Fingerprint.submission_id) & (Entry.entrant_id == Fingerprint.entrant_id))
        .where(
            Entrant.benchmark_id == benchmark_id,
            Entry.state.in_(("pending", "current")),
            ~one_of(func.lower(Entrant.name), {name.lower() for name in names}),
        )
        .order_by(Fingerprint.submission_id, Fingerprint.entrant_id)
    )
    rows = session.execute(query)
    return [Other(name, number, _sampled(columns, places, values)) for name, number, columns, places, values in rows]


def same_files(
    session: Session, benchmark_id: int, files: Sequence[FileRecord], names: Sequence[str]
) -> list[tuple[str, int, str]]:
    """Return files with rows whose bytes equal another entrant's file: the name here, the submission, the entrant."""
    known = {file.sha256: file.name for file in files if file.n_rows}
    mine = {name.lower() for name in names}
    query = (
        select(SubmissionFile.sha256, SubmissionFile.submission_id, Entrant.name)
        .join(Submission, Submission.id == SubmissionFile.submission_id)
        .join(Entry, Entry.submission_id == Submission.id)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionFile.sha256.in_(known))
        .order_by(SubmissionFile.submission_id, SubmissionFile.position, Entrant.name)
    )
    files_and_owners = list(session.execute(query)) if known else []
    shared = {(sha256, number) for sha256, number, name in files_and_owners if name.lower() in mine}
    others = [
        (known[sha256], number, name) for sha256, number, name in files_and_owners if (sha256, number) not in shared
    ]
    return others[:MOST_COMPARED]


def list_flags(session: Session, submission_id: int) -> dict[str, list[str]]:
    """Return the flags that each entrant's evidence raised when it arrived; those without one are not in it."""
    query = (
        select(Entrant.name, Fingerprint.flags)
        .join(Entrant, Entrant.id == Fingerprint.entrant_id)
        .where(Fingerprint.submission_id == submission_id, func.cardinality(Fingerprint.flags) > 0)
    )
    return {name: list(flags) for name, flags in session.execute(query.order_by(Entrant.name))}


def _select() -> Select[Fingerprint, str]:
    return select(Fingerprint, Entrant.name).join(Entrant, Entrant.id == Fingerprint.entrant_id)


def _sampled(columns: Sequence[str], places: bytes, values: bytes) -> Sampled:
    table = np.frombuffer(values, dtype="<f4").reshape(-1, len(columns)) if columns else np.empty((0, 0), np.float32)
    return Sampled(np.frombuffer(places, dtype="<u4").astype(np.uint32), tuple(columns), table.astype(np.float32))


def _earlier(row: Fingerprint, name: str, *, is_same: bool) -> Earlier:
    sample = np.frombuffer(row.sample, dtype="<u8").reshape(2, -1).astype(np.uint64)
    sampled = _sampled(row.sampled_columns, row.sampled_places, row.sampled_values)
    value = Value(name, row.n_rows, row.places, row.results, sample, tuple(row.contents), sampled)
    return Earlier(row.submission_id, is_same, value)
