"""Submissions: stored once each with their checks, entries, rows and fingerprints; read back; moved from state to state
with a reason each.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import ARRAY, BigInteger, DateTime, Integer, Select, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session

from app.admission.case import Check, Earlier, EarlierIdentity, History, Registered
from app.admission.forensics import SAME, Beginning, Other, began_before, compare, near_rows
from app.admission.rules import WITNESSED_RULE, reason_not_admitted
from app.db.models import (
    Benchmark,
    Entrant,
    Entry,
    StoredFingerprint,
    StoredTask,
    Submission,
    SubmissionCheck,
    SubmissionEvent,
    SubmissionFile,
    SubmissionTable,
    Token,
)
from app.errors import Conflict, NotFound
from app.files.uploads import FileRecord
from app.kinds.reader import Evidence
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.names import name_key
from app.rights.tokens import tokens_beside
from app.store import benchmarks, entrants, labels, rows, series
from app.store.benchmarks import Declared
from app.store.sql import one_of, retry_time, take_turns
from app.values.facts import Finding, flags_by_entrant
from app.values.fingerprints import Fingerprint, Sampled
from app.values.scores import ScoreTable
from app.values.table import Table

# A longer one does not fit into the column.
LONGEST_NUMBER = 18


def add_checks(
    session: Session, submission_id: int, checks: Sequence[Check], n_before: int | None = None
) -> list[SubmissionCheck]:
    """Append checks to those that a submission has; `n_before` says how many these are where that is known."""
    if not checks:
        return []
    if n_before is None:
        query = select(func.count()).where(SubmissionCheck.submission_id == submission_id)
        n_before = session.scalars(query).one()
    added = [
        SubmissionCheck(
            submission_id=submission_id,
            position=n_before + offset,
            rule=check.rule,
            outcome=check.outcome,
            reason=check.reason,
        )
        for offset, check in enumerate(checks)
    ]
    session.add_all(added)
    return added


def find_submission(session: Session, submission_id: int) -> Submission:
    """Return a submission. Raises NotFound."""
    submission = session.get(Submission, submission_id)
    if submission is None:
        raise NotFound(f"There is no submission {submission_id}.")
    return submission


def followed(session: Session, submission_ids: Collection[int]) -> list[tuple[int, str | None, str]]:
    """Return of some submissions the number, the id of the request that brought it, and the status."""
    query = select(Submission.id, Submission.request_id, Submission.status).where(one_of(Submission.id, submission_ids))
    return [
        (number, request_id, status) for number, request_id, status in session.execute(query.order_by(Submission.id))
    ]


def find_submissions(session: Session, submission_ids: Collection[int]) -> Sequence[Submission]:
    """Return those of some submissions that there are, by number."""
    query = select(Submission).where(one_of(Submission.id, submission_ids))
    return session.scalars(query.order_by(Submission.id)).all()


def lock_submission(session: Session, submission_id: int) -> Submission:
    """Return a submission that stays locked, and its entrants with it, until the transaction ends. Raises NotFound."""
    return lock_submissions(session, [submission_id])[0]


def lock_submissions(session: Session, submission_ids: Collection[int]) -> Sequence[Submission]:
    """Return submissions by number; they stay locked, and their entrants with them, until the transaction ends.

    Everyone who moves a submission locks in this order: entrants, submissions, the benchmark; each kind by number.
    The locks leave the keys alone, so that rows that refer to what is locked can be added meanwhile. Raises NotFound.
    """
    entrants.lock_numbered(session, session.scalars(_entrants_of(submission_ids)))
    return lock_rows(session, submission_ids)


def _entrants_of(submission_ids: Iterable[int]) -> Select[int]:
    return select(Entry.entrant_id).where(one_of(Entry.submission_id, submission_ids))


def entrant_ids(session: Session, submission_id: int) -> Sequence[int]:
    """Return the numbers of the entrants of a submission."""
    return session.scalars(_entrants_of([submission_id])).all()


def lock_rows(session: Session, submission_ids: Collection[int]) -> Sequence[Submission]:
    """Return submissions by number, which stay locked; their entrants must be locked already. Raises NotFound."""
    query = select(Submission).where(one_of(Submission.id, submission_ids)).order_by(Submission.id)
    locked = session.scalars(query.with_for_update(key_share=True).execution_options(populate_existing=True)).all()
    if len(locked) < len(set(submission_ids)):
        missing = min(set(submission_ids) - {submission.id for submission in locked})
        raise NotFound(f"There is no submission {missing}.")
    return locked


def set_status(session: Session, submission: Submission, status: str, reason: str) -> None:
    """Move a submission to a state and keep when and why."""
    set_statuses(session, [submission], status, reason)


def set_statuses(session: Session, moved: Iterable[Submission], status: str, reason: str) -> None:
    """Move submissions to a state and keep when and why."""
    for submission in moved:
        submission.status = status
        session.add(SubmissionEvent(submission_id=submission.id, status=status, reason=reason))
    session.flush()


def list_events(session: Session, submission_id: int) -> Sequence[SubmissionEvent]:
    """Return the states a submission was in, the first one first."""
    query = select(SubmissionEvent).where(SubmissionEvent.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionEvent.id)).all()


def list_checks(session: Session, submission_id: int) -> Sequence[SubmissionCheck]:
    """Return the checks of a submission in the order in which they were made."""
    query = select(SubmissionCheck).where(SubmissionCheck.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionCheck.position)).all()


def list_files(session: Session, submission_id: int) -> Sequence[SubmissionFile]:
    """Return the files of a submission in the order in which they were sent."""
    query = select(SubmissionFile).where(SubmissionFile.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionFile.position)).all()


def list_entries(session: Session, submission_ids: Collection[int]) -> list[tuple[Entrant, Entry]]:
    """Return the entrants of some submissions and the status of each, by submission and name."""
    query = (
        select(Entrant, Entry)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(one_of(Entry.submission_id, submission_ids))
        .order_by(Entry.submission_id, Entrant.name)
    )
    return list(session.execute(query).all())


ALWAYS_COUNTED = ("published", "withdrawn", "not_admitted")
"""The states of which a benchmark's page says also that nothing is in them."""


def count_by_status(session: Session, benchmark_id: int) -> dict[str, int]:
    """Return how many submissions of a benchmark are in each state; of the usual ones also that there are none."""
    query = select(Submission.status, func.count()).where(Submission.benchmark_id == benchmark_id)
    counted = dict.fromkeys(ALWAYS_COUNTED, 0)
    counted.update(session.execute(query.group_by(Submission.status)).all())
    return counted


@dataclass(frozen=True)
class ListedSubmission:
    """A submission as a list shows it: with whom it is of, who made it, and where asked why it is in its state."""

    submission: Submission
    entrants: Sequence[str]
    submitter: str
    reason: str = ""


def list_with_names(
    session: Session, benchmark_id: int, limit: int, status: str | None = None
) -> list[ListedSubmission]:
    """Return the latest submissions of a benchmark with the names of their entrants and submitters.

    With a `status` those in that state, and why they are.
    """
    newest = select(Submission).where(Submission.benchmark_id == benchmark_id)
    newest = newest if status is None else newest.where(Submission.status == status)
    submissions = session.scalars(newest.order_by(Submission.id.desc()).limit(limit)).all()
    submission_ids = [each.id for each in submissions]
    names: dict[int, list[str]] = {}
    query = select(Entry.submission_id, Entrant.name).join(Entrant, Entrant.id == Entry.entrant_id)
    for number, name in session.execute(query.where(Entry.submission_id.in_(submission_ids)).order_by(Entrant.name)):
        names.setdefault(number, []).append(name)
    makers = select(Token.id, Token.name).where(Token.id.in_({each.token_id for each in submissions}))
    submitters: dict[int, str] = dict(session.execute(makers).all())
    events = select(SubmissionEvent.submission_id, SubmissionEvent.reason).order_by(SubmissionEvent.id)
    of_state = events.where(SubmissionEvent.submission_id.in_(submission_ids), SubmissionEvent.status == status)
    reasons: dict[int, str] = {} if status is None else dict(session.execute(of_state).all())
    return [ListedSubmission(each, names.get(each.id, ()), submitters[each.token_id], reasons.get(each.id, ""))
            for each in submissions]  # fmt: skip


def manifest_versions(session: Session, submission_ids: Iterable[int]) -> dict[int, int]:
    """Return under which version of its benchmark's manifest each submission was made, by their ids."""
    query = select(Submission.id, Submission.manifest_version_id).where(one_of(Submission.id, submission_ids))
    versions: dict[int, int] = dict(session.execute(query).all())
    return versions


def slug_of(session: Session, submission: Submission) -> str:
    """Return the slug of the benchmark that a submission was made to."""
    return session.scalars(select(Benchmark.slug).where(Benchmark.id == submission.benchmark_id)).one()


def slug_of_number(session: Session, number: str | int) -> str | None:
    """Return the slug of the benchmark of a submission's number, None where there is no such submission."""
    if not str(number).isascii() or not str(number).isdigit() or len(str(number)) > LONGEST_NUMBER:
        return None
    query = select(Benchmark.slug).join(Submission, Submission.benchmark_id == Benchmark.id)
    return session.scalar(query.where(Submission.id == int(number)))


def note_evaluation_failure(session: Session, submission_id: int) -> int:
    """Count a try to evaluate a submission that failed, and return how many did; the sweep tries again, later."""
    submission = lock_submission(session, submission_id)
    submission.evaluation_tries += 1
    submission.evaluation_retry_at = retry_time(submission.evaluation_tries)
    session.flush()
    return submission.evaluation_tries


def write_tables(session: Session, tables: Iterable[tuple[int, Table]]) -> None:
    """Keep tables, each with the submission from which alone it was computed.

    The first one of a name is a record and stays.
    """
    rows = [{"submission_id": number, "name": table.name, "content": table.to_json()} for number, table in tables]
    if rows:
        session.execute(insert(SubmissionTable).on_conflict_do_nothing(), rows)


def read_table(session: Session, submission_id: int, name: str) -> Table | None:
    """Return a table computed from this submission alone, or None before there is one."""
    stored = session.get(SubmissionTable, (submission_id, name))
    return None if stored is None else Table.from_json(stored.content)


def read_tables(session: Session, submission_id: int) -> list[Table]:
    """Return every table of this submission: its own numbers first, then its claims, then the rest by name."""
    query = select(SubmissionTable).where(SubmissionTable.submission_id == submission_id)
    first = {"summary": 0, "claims": 1, "deviations": 2}
    stored = sorted(session.scalars(query), key=lambda kept: (first.get(kept.name, len(first)), kept.name))
    return [Table.from_json(kept.content) for kept in stored]


def find_repeat(session: Session, submission: Submission) -> Submission | None:
    """Return the earlier submission of the bytes of one that is not stored yet, or with its Idempotency-Key.

    Bytes that were withdrawn or set aside may be submitted again, as a new submission; a key keeps referring to its
    first submission, so that a repeated request never undoes a withdrawal. A concurrent upload of the same bytes waits
    here until this transaction ends.
    Raises Conflict when the key was used for other bytes.
    """
    benchmark_id, token_id, digest = submission.benchmark_id, submission.token_id, submission.digest
    key = submission.idempotency_key
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


def write_submission(
    session: Session,
    submission: Submission,
    declared: Declared,
    evidence: Evidence,
    checks: Sequence[Check],
    findings: tuple[Finding, ...],
    *,
    with_rows: bool,
) -> None:
    """Store a complete submission with its files, checks, entries and every row, in the caller's transaction.

    `findings` are its flags. Without `with_rows` the rows themselves are left out, of a dry run: it would take three
    times as long with them, and leave as many dead ones behind; writing them refuses nothing.

    Raises Conflict when an entrant belongs to another submitter or to stewards, or is reserved for one.
    """
    table, benchmark_id = evidence.scores, submission.benchmark_id
    locked = entrants.lock_entrants(session, benchmark_id, table.entrant.words)
    diagnostics = series.diagnostic_names(table)
    named = {name: entrant for name, entrant in locked.items() if name not in diagnostics}
    entrants.refuse_not_theirs(session, declared.benchmark, named, named.values(), submission.token_id)
    if submission.status == "received":
        entrants.set_first_owner(named.values(), submission.token_id)
    session.add(submission)
    session.flush()
    _add_parts(session, submission, evidence, checks)
    tasks = benchmarks.ensure_tasks(session, benchmark_id, table.task.words)
    keys = rows.RowKeys(submission.id, {name: entrant.id for name, entrant in locked.items()}, tasks)
    by_task = kind_of(declared.manifest).rows.by_task(declared.manifest)
    _add_entries(session, submission, named, _tasks_of(table, keys) if by_task else {}, table)
    numbers = {name: entrant.id for name, entrant in named.items()}
    write_fingerprints(session, submission.id, numbers, evidence.forensics.fingerprints, findings)
    session.flush()
    kept = series.keep_strata(session, table, tasks)
    if with_rows:
        rows.copy_scores(session, kept, keys)
        labels.write_blocks(session, evidence.predictions, keys)


def refuse_named_since(session: Session, declared: Declared, table: ScoreTable, token_id: int) -> None:
    """Refuse what a manifest has made a reference entrant since `write_submission` looked.

    To be called with the benchmark's row locked: a manifest that is put from then on finds the entrants stored.
    Raises Conflict.
    """
    benchmark = declared.benchmark
    names = set(table.entrant.words).difference(series.diagnostic_names(table))
    entrants.refuse_reference(session, benchmark, entrants.newest_references(session, benchmark), names, token_id)


def _add_parts(session: Session, submission: Submission, evidence: Evidence, checks: Sequence[Check]) -> None:
    session.add_all(
        SubmissionFile(
            submission_id=submission.id,
            position=position,
            name=file.name,
            sha256=file.sha256,
            n_bytes=file.n_bytes,
            n_rows=file.n_rows,
        )
        for position, file in enumerate(evidence.files)
    )
    add_checks(session, submission.id, checks, n_before=0)
    write_tables(session, ((submission.id, table) for table in evidence.attachments))
    session.add(SubmissionEvent(submission_id=submission.id, status="received", reason="The upload is stored whole."))
    if submission.status == "not_admitted":
        session.flush()
        reason = reason_not_admitted(checks)
        session.add(SubmissionEvent(submission_id=submission.id, status="not_admitted", reason=reason))


def _add_entries(
    session: Session,
    submission: Submission,
    named: Mapping[str, Entrant],
    tasks_of: Mapping[str, list[int]],
    table: ScoreTable,
) -> None:
    state = "pending" if submission.status == "received" else "not_admitted"
    # Every row has an entrant, but an entrant of predictions has no row.
    counts = np.bincount(table.entrant.codes, minlength=len(table.entrant.words))
    n_rows = dict(zip(table.entrant.words, counts.tolist(), strict=True))
    session.add_all(
        Entry(
            submission_id=submission.id,
            entrant_id=entrant.id,
            n_rows=n_rows[name],
            state=state,
            task_ids=tasks_of.get(name),
        )
        for name, entrant in named.items()
    )


def _tasks_of(table: ScoreTable, keys: rows.RowKeys) -> dict[str, list[int]]:
    """Return the numbers of the tasks of each entrant, by one sort of the rows however many entrants there are."""
    n_tasks = len(table.task.words)
    tasks_of_entrant: dict[str, list[int]] = {name: [] for name in table.entrant.words}
    for cell in np.unique(table.entrant.codes * n_tasks + table.task.codes).tolist():
        tasks_of_entrant[table.entrant.words[cell // n_tasks]].append(keys.tasks[table.task.words[cell % n_tasks]])
    return {name: sorted(numbers) for name, numbers in tasks_of_entrant.items()}


# Earlier submissions to a benchmark: the number of an attempt, and findings from comparing its rows with them.


def read_history(
    session: Session,
    benchmark_id: int,
    manifest: Manifest,
    evidence: Evidence,
    registered: Registered | None,
    submitter_id: int,
) -> History:
    """Return the history of a submission from all earlier ones, admitted or not."""
    names = evidence.scores.entrant.words
    prints = evidence.forensics.fingerprints
    before = [*earlier_of(session, benchmark_id, names), *alike(session, benchmark_id, prints)]
    compared = [*compare(prints, before), *_begun(session, prints, before, registered)]
    copied = {finding.entrant for finding in compared if finding.flag in SAME}
    others = others_now(session, benchmark_id, names) if prints else []
    near = near_rows([mine for mine in prints if mine.entrant not in copied], others, before)
    tasks = evidence.scores.task.words if kind_of(manifest).rows.by_task(manifest) else None
    n_before = _n_before(session, benchmark_id, names, tasks)
    new = [name for name in names if not n_before[name]]
    return History(
        n_of_prereg=None if registered is None else _n_citing(session, benchmark_id, registered.sha256) + 1,
        n_expected=_n_expected(registered),
        n_of_entrant={name: n + 1 for name, n in n_before.items()},
        findings=(
            *compared,
            *near,
            *_renamed(session, benchmark_id, submitter_id, new),
            *same_files(session, benchmark_id, evidence.files, names),
        ),
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


def _renamed(session: Session, benchmark_id: int, submitter_id: int, new: Sequence[str]) -> Iterator[Finding]:
    """Yield the new names of an owner who has withdrawn others, of which nothing stands or waits."""
    if not new:
        return
    mine = tokens_beside(session, benchmark_id, submitter_id)
    query = (
        select(Entrant.name, func.max(Submission.id))
        .join(Entry, Entry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == Entry.submission_id)
        .where(Submission.benchmark_id == benchmark_id, one_of(Submission.token_id, mine))
        .group_by(Entrant.name)
        .having(entrants.is_gone())
        .order_by(func.max(Submission.id).desc())
    )
    gone = list(session.execute(query))
    for name in new if gone else ():
        yield Finding("renamed", name, f"{name}, after {gone[0][0]} (submission {gone[0][1]}) was withdrawn")


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
        select(Entrant.name_key, func.count())
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(Entrant.benchmark_id == benchmark_id, entrants.is_named(names))
        .group_by(Entrant.name_key)
    )
    if tasks is not None:
        numbers = select(StoredTask.id).where(StoredTask.benchmark_id == benchmark_id, one_of(StoredTask.name, tasks))
        known = cast(list(session.scalars(numbers)), ARRAY(Integer))
        query = query.where(Entry.task_ids.bool_op("&&")(known))
    counts: dict[str, int] = dict(session.execute(query).all())
    return {name: counts.get(name_key(name), 0) for name in names}


# Fingerprints of evidence: stored with a submission, looked up when the next one arrives.

MOST_COMPARED = 20
"""Earlier submissions compared: of an entrant, and of others with the same contents."""


def write_fingerprints(
    session: Session,
    submission_id: int,
    entrants: Mapping[str, int],
    values: Iterable[Fingerprint],
    findings: tuple[Finding, ...],
) -> None:
    """Keep the fingerprints of a submission's entrants with the flags that it raised; `entrants` are their numbers."""
    kept = [value for value in values if value.entrant in entrants]
    flags = flags_by_entrant(findings, {value.entrant for value in kept})
    session.add_all(
        StoredFingerprint(
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
    number = func.row_number().over(
        partition_by=StoredFingerprint.entrant_id, order_by=StoredFingerprint.submission_id.desc()
    )
    ranked = (
        select(StoredFingerprint.submission_id, StoredFingerprint.entrant_id, number.label("number"))
        .join(Entrant, Entrant.id == StoredFingerprint.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, entrants.is_named(names))
        .subquery()
    )
    is_it = (ranked.c.submission_id == StoredFingerprint.submission_id) & (
        ranked.c.entrant_id == StoredFingerprint.entrant_id
    )
    query = _select().join(ranked, is_it).where(ranked.c.number <= MOST_COMPARED)
    return [_earlier(row, name, is_same=True) for row, name in session.execute(query)]


def alike(session: Session, benchmark_id: int, values: Sequence[Fingerprint]) -> list[Earlier]:
    """Return fingerprints of other entrants that have contents in common with some of these, the newest first.

    Also those with identical results, which even rows of 0/1 can reveal.
    """
    contents = sorted({content for value in values for content in value.contents})
    query = _select().where(
        Entrant.benchmark_id == benchmark_id,
        ~entrants.is_named(value.entrant for value in values),
        StoredFingerprint.contents.bool_op("&&")(cast(contents, ARRAY(BigInteger)))
        | one_of(StoredFingerprint.results, {value.results for value in values}),
    )
    newest = query.order_by(StoredFingerprint.submission_id.desc(), StoredFingerprint.entrant_id).limit(MOST_COMPARED)
    return [_earlier(row, name, is_same=False) for row, name in session.execute(newest)]


def others_now(session: Session, benchmark_id: int, names: Iterable[str]) -> list[Other]:
    """Return sampled values of what the other entrants have now, in the order of their submissions.

    This includes admitted evidence that is not evaluated yet, so that copies sent at the same time are found.
    """
    stored = (StoredFingerprint.sampled_columns, StoredFingerprint.sampled_places, StoredFingerprint.sampled_values)
    query = (
        select(Entrant.name, StoredFingerprint.submission_id, *stored)
        .join(Entrant, Entrant.id == StoredFingerprint.entrant_id)
        .join(
            Entry,
            (Entry.submission_id == StoredFingerprint.submission_id)
            & (Entry.entrant_id == StoredFingerprint.entrant_id),
        )
        .where(
            Entrant.benchmark_id == benchmark_id,
            Entry.state.in_(("pending", "current")),
            ~entrants.is_named(names),
        )
        .order_by(StoredFingerprint.submission_id, StoredFingerprint.entrant_id)
    )
    rows = session.execute(query)
    return [Other(name, number, _sampled(columns, places, values)) for name, number, columns, places, values in rows]


def same_files(session: Session, benchmark_id: int, files: Sequence[FileRecord], names: Sequence[str]) -> list[Finding]:
    """Return the files with rows whose bytes equal another entrant's file."""
    known = {file.sha256: file.name for file in files if file.n_rows}
    mine = {name_key(name) for name in names}
    query = (
        select(SubmissionFile.sha256, SubmissionFile.submission_id, Entrant.name)
        .join(Submission, Submission.id == SubmissionFile.submission_id)
        .join(Entry, Entry.submission_id == Submission.id)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionFile.sha256.in_(known))
        .order_by(SubmissionFile.submission_id, SubmissionFile.position, Entrant.name)
    )
    files_and_owners = list(session.execute(query)) if known else []
    shared = {(sha256, number) for sha256, number, name in files_and_owners if name_key(name) in mine}
    others = [
        Finding("same_bytes", None, f"{known[sha256]} is a file of {name} too (submission {number})")
        for sha256, number, name in files_and_owners
        if (sha256, number) not in shared
    ]
    return others[:MOST_COMPARED]


def list_flags(session: Session, submission_id: int) -> dict[str, list[str]]:
    """Return the flags that each entrant's evidence raised when it arrived; those without one are not in it."""
    query = (
        select(Entrant.name, StoredFingerprint.flags)
        .join(Entrant, Entrant.id == StoredFingerprint.entrant_id)
        .where(StoredFingerprint.submission_id == submission_id, func.cardinality(StoredFingerprint.flags) > 0)
    )
    return {name: list(flags) for name, flags in session.execute(query.order_by(Entrant.name))}


def _select() -> Select[StoredFingerprint, str]:
    return select(StoredFingerprint, Entrant.name).join(Entrant, Entrant.id == StoredFingerprint.entrant_id)


def _sampled(columns: Sequence[str], places: bytes, values: bytes) -> Sampled:
    table = np.frombuffer(values, dtype="<f4").reshape(-1, len(columns)) if columns else np.empty((0, 0), np.float32)
    return Sampled(np.frombuffer(places, dtype="<u4").astype(np.uint32), tuple(columns), table.astype(np.float32))


def _earlier(row: StoredFingerprint, name: str, *, is_same: bool) -> Earlier:
    sample = np.frombuffer(row.sample, dtype="<u8").reshape(2, -1).astype(np.uint64)
    sampled = _sampled(row.sampled_columns, row.sampled_places, row.sampled_values)
    value = Fingerprint(name, row.n_rows, row.places, row.results, sample, tuple(row.contents), sampled)
    return Earlier(row.submission_id, is_same, value, row.flags)
