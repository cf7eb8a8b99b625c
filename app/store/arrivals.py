"""Stores uploads, once each, with checks, entries and every row; for `app.receiving.receive`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.admission.check import Check, Registered
from app.admission.fields import Fields
from app.admission.rules import is_admitted, reason_not_admitted
from app.db.models import (
    Entrant,
    Entry,
    Submission,
    SubmissionEvent,
    SubmissionFile,
)
from app.errors import Conflict
from app.kinds.known import kind_of
from app.kinds.reader import Evidence
from app.stats.arrays import IntArray
from app.store import benchmarks, entrants, predictions, references, scores, series
from app.store.benchmarks import Declared
from app.store.fingerprints import write_fingerprints
from app.store.locks import take_turns
from app.store.submission_parts import Parts
from app.store.submissions import add_checks, write_table
from app.values.forensics import Finding, flags_by_entrant
from app.values.scores import Coded, ScoreTable


@dataclass(frozen=True)
class Arrival:
    """What is stored of an upload. `digest` covers every file and field of it, `findings` are the flags."""

    declared: Declared
    evidence: Evidence
    fields: Fields
    registered: Registered | None
    checks: Sequence[Check]
    token_id: int
    digest: str
    findings: tuple[Finding, ...] = ()
    request_id: str | None = None

    @property
    def admitted(self) -> bool:
        """Whether no check keeps it off the boards."""
        return is_admitted(self.checks)

    @property
    def run_purpose(self) -> str:
        """What the run is for, as it was registered."""
        return "leaderboard" if self.registered is None else self.registered.prereg.run_purpose


def find_repeat(session: Session, arrival: Arrival) -> Submission | None:
    """Return the earlier submission of these bytes, or with this Idempotency-Key.

    Bytes that were withdrawn or set aside may be submitted again, as a new submission; a key keeps referring to its
    first submission, so that a repeated request never undoes a withdrawal. A concurrent upload of the same bytes waits
    here until this transaction ends.
    Raises Conflict when the key was used for other bytes.
    """
    benchmark_id, token_id, digest = arrival.declared.benchmark.id, arrival.token_id, arrival.digest
    key = arrival.fields.idempotency_key
    take_turns(session, f"bytes {token_id} {digest}", *([] if key is None else [f"key {token_id} {key}"]))
    if key is not None:
        query = select(Submission).where(Submission.token_id == token_id, Submission.idempotency_key == key)
        earlier = session.scalar(query)
        if earlier is not None and (earlier.digest != digest or earlier.benchmark_id != benchmark_id):
            raise Conflict(f"This Idempotency-Key was used for submission {earlier.id} with other content.")
        if earlier is not None:
            return earlier
    return session.scalar(
        select(Submission).where(
            Submission.benchmark_id == benchmark_id,
            Submission.token_id == token_id,
            Submission.digest == digest,
            Submission.status.not_in(("withdrawn", "set_aside")),
        )
    )


@dataclass(frozen=True)
class Written:
    """A submission that was just stored, with its parts where they need not be read again."""

    submission: Submission
    parts: Parts | None


def write_submission(session: Session, arrival: Arrival) -> Written:
    """Store a complete upload: submission, files, checks, entries and every row, in the caller's transaction.

    Raises Conflict when an entrant belongs to another submitter or to stewards, or is reserved for one.
    """
    table = arrival.evidence.scores
    benchmark_id = arrival.declared.benchmark.id
    locked = entrants.lock_entrants(session, benchmark_id, table.entrant.words)
    diagnostics = series.diagnostic_names(table)
    named = {name: entrant for name, entrant in locked.items() if name not in diagnostics}
    entrants.refuse_not_theirs(session, arrival.declared.benchmark, named, named.values(), arrival.token_id)
    if arrival.admitted:
        entrants.claim(named.values(), arrival.token_id)
    submission = _add_submission(session, arrival)
    parts = _add_parts(session, submission, arrival)
    tasks = benchmarks.ensure_tasks(session, benchmark_id, table.task.words)
    keys = scores.RowKeys(submission.id, {name: entrant.id for name, entrant in locked.items()}, tasks)
    entries = _add_entries(session, arrival, named, keys)
    numbers = {name: entrant.id for name, entrant in named.items()}
    write_fingerprints(session, submission.id, numbers, arrival.evidence.forensics.fingerprints, arrival.findings)
    session.flush()
    scores.copy_scores(session, series.keep_strata(session, table, tasks), keys)
    predictions.write_blocks(session, arrival.evidence.predictions, keys)
    return Written(submission, _with_entry(parts, arrival, named, entries))


def refuse_named_since(session: Session, arrival: Arrival) -> None:
    """Refuse what a manifest has made a reference entrant since `write_submission` looked.

    To be called with the benchmark's row locked: a manifest that is put from then on finds the entrants stored.
    Raises Conflict.
    """
    table, benchmark = arrival.evidence.scores, arrival.declared.benchmark
    names = set(table.entrant.words).difference(series.diagnostic_names(table))
    references.refuse_reference(session, benchmark, references.current(session, benchmark), names, arrival.token_id)


def _with_entry(parts: Parts, arrival: Arrival, named: Mapping[str, Entrant], entries: list[Entry]) -> Parts | None:
    """Return the parts with the one entrant; None where there are several, which the database puts in its order."""
    if len(entries) != 1 or not arrival.admitted:
        return None
    ((name, entrant),) = named.items()
    kept = {print_.entrant for print_ in arrival.evidence.forensics.fingerprints}
    flags = flags_by_entrant(arrival.findings, [name])[name] if name in kept else []
    return replace(parts, entries=[(entrant, entries[0])], flags={name: flags} if flags else {})


def _add_submission(session: Session, arrival: Arrival) -> Submission:
    fields = arrival.fields
    submission = Submission(
        benchmark_id=arrival.declared.benchmark.id,
        manifest_version_id=arrival.declared.version.id,
        prereg_sha256=None if arrival.registered is None else arrival.registered.sha256,
        token_id=arrival.token_id,
        digest=arrival.digest,
        idempotency_key=fields.idempotency_key,
        status="received" if arrival.admitted else "not_admitted",
        run_purpose=arrival.run_purpose,
        columns=list(arrival.evidence.scores.columns),
        n_rows=len(arrival.evidence.scores),
        description=dict(fields.description),
        claims=None if fields.claims is None else dict(fields.claims),
        facts=arrival.evidence.facts.as_dict(),
        request_id=arrival.request_id,
    )
    session.add(submission)
    session.flush()
    return submission


def _add_parts(session: Session, submission: Submission, arrival: Arrival) -> Parts:
    files = [
        SubmissionFile(
            submission_id=submission.id,
            position=position,
            name=file.name,
            sha256=file.sha256,
            n_bytes=file.n_bytes,
            n_rows=file.n_rows,
        )
        for position, file in enumerate(arrival.evidence.files)
    ]
    session.add_all(files)
    checks = add_checks(session, submission.id, arrival.checks, n_before=0)
    for table in arrival.evidence.attachments:
        write_table(session, submission.id, table)
    events = [SubmissionEvent(submission_id=submission.id, status="received", reason="The upload is stored whole.")]
    session.add_all(events)
    if not arrival.admitted:
        session.flush()
        reason = reason_not_admitted(arrival.checks)
        session.add(SubmissionEvent(submission_id=submission.id, status="not_admitted", reason=reason))
    return Parts(arrival.declared.benchmark.slug, events, checks, {}, [], files)


def _add_entries(session: Session, arrival: Arrival, named: Iterable[str], keys: scores.RowKeys) -> list[Entry]:
    table = arrival.evidence.scores
    state = "pending" if arrival.admitted else "not_admitted"
    manifest = arrival.declared.manifest
    tasks_of = _tasks_of(table, keys) if kind_of(manifest).rows.by_task(manifest) else {}
    n_rows = dict(zip(table.entrant.words, _counted(table.entrant).tolist(), strict=True))
    entries = [
        Entry(
            submission_id=keys.submission_id,
            entrant_id=keys.entrants[name],
            n_rows=n_rows[name],
            state=state,
            task_ids=tasks_of.get(name),
        )
        for name in named
    ]
    session.add_all(entries)
    return entries


def _counted(coded: Coded) -> IntArray:
    """Return how many rows have each word."""
    return np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.words))


def _tasks_of(table: ScoreTable, keys: scores.RowKeys) -> dict[str, list[int]]:
    """Return the numbers of the tasks of each entrant, by one sort of the rows however many entrants there are."""
    n_tasks = len(table.task.words)
    tasks_of_entrant: dict[str, list[int]] = {name: [] for name in table.entrant.words}
    for cell in np.unique(table.entrant.codes * n_tasks + table.task.codes).tolist():
        tasks_of_entrant[table.entrant.words[cell // n_tasks]].append(keys.tasks[table.task.words[cell % n_tasks]])
    return {name: sorted(numbers) for name, numbers in tasks_of_entrant.items()}
