"""Submissions: read back, and moved from state to state with a reason each."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.admission.case import Check
from app.db.models import (
    Benchmark,
    Entrant,
    Entry,
    Submission,
    SubmissionCheck,
    SubmissionEvent,
    SubmissionFile,
    SubmissionTable,
    Token,
)
from app.errors import NotFound
from app.store import entrants
from app.store.sql import one_of, retry_time
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


def followed(session: Session, numbers: Collection[int]) -> list[tuple[int, str | None, str]]:
    """Return of some submissions the number, the id of the request that brought it, and the status."""
    query = select(Submission.id, Submission.request_id, Submission.status).where(one_of(Submission.id, numbers))
    return [
        (number, request_id, status) for number, request_id, status in session.execute(query.order_by(Submission.id))
    ]


def find_submissions(session: Session, numbers: Collection[int]) -> Sequence[Submission]:
    """Return those of some submissions that there are, by number."""
    query = select(Submission).where(one_of(Submission.id, numbers))
    return session.scalars(query.order_by(Submission.id)).all()


def lock_submission(session: Session, submission_id: int) -> Submission:
    """Return a submission that stays locked, and its entrants with it, until the transaction ends. Raises NotFound."""
    return lock_submissions(session, [submission_id])[0]


def lock_submissions(session: Session, numbers: Collection[int]) -> Sequence[Submission]:
    """Return submissions by number; they stay locked, and their entrants with them, until the transaction ends.

    Everyone who moves a submission locks in this order: entrants, submissions, the benchmark; each kind by number.
    The locks leave the keys alone, so that rows that refer to what is locked can be added meanwhile. Raises NotFound.
    """
    entrants.lock_numbered(session, session.scalars(_entrants_of(numbers)))
    return lock_rows(session, numbers)


def _entrants_of(numbers: Iterable[int]) -> Select[int]:
    return select(Entry.entrant_id).where(one_of(Entry.submission_id, numbers))


def entrant_ids(session: Session, submission_id: int) -> Sequence[int]:
    """Return the numbers of the entrants of a submission."""
    return session.scalars(_entrants_of([submission_id])).all()


def lock_rows(session: Session, numbers: Collection[int]) -> Sequence[Submission]:
    """Return submissions by number, which stay locked; their entrants must be locked already. Raises NotFound."""
    query = select(Submission).where(one_of(Submission.id, numbers)).order_by(Submission.id)
    locked = session.scalars(query.with_for_update(key_share=True).execution_options(populate_existing=True)).all()
    if len(locked) < len(set(numbers)):
        missing = min(set(numbers) - {submission.id for submission in locked})
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


def list_entries(session: Session, submission_id: int) -> list[tuple[Entrant, Entry]]:
    """Return the entrants of a submission and the status of each, by name."""
    return list_entries_of(session, [submission_id])


def list_entries_of(session: Session, numbers: Collection[int]) -> list[tuple[Entrant, Entry]]:
    """Return the entrants of some submissions and the status of each, by submission and name."""
    query = (
        select(Entrant, Entry)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(one_of(Entry.submission_id, numbers))
        .order_by(Entry.submission_id, Entrant.name)
    )
    return list(session.execute(query).all())


def list_submissions(session: Session, benchmark_id: int, limit: int = 1000) -> Sequence[Submission]:
    """Return the submissions of a benchmark, the newest first."""
    query = select(Submission).where(Submission.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(Submission.id.desc()).limit(limit)).all()


@dataclass(frozen=True)
class ListedSubmission:
    """A submission as a list shows it: with whom it is of and who made it."""

    submission: Submission
    entrants: Sequence[str]
    submitter: str


def list_with_names(session: Session, benchmark_id: int, limit: int) -> list[ListedSubmission]:
    """Return the latest submissions of a benchmark with the names of their entrants and submitters."""
    submissions = list_submissions(session, benchmark_id, limit)
    numbers = [each.id for each in submissions]
    names: dict[int, list[str]] = {}
    query = select(Entry.submission_id, Entrant.name).join(Entrant, Entrant.id == Entry.entrant_id)
    for number, name in session.execute(query.where(Entry.submission_id.in_(numbers)).order_by(Entrant.name)):
        names.setdefault(number, []).append(name)
    makers = select(Token.id, Token.name).where(Token.id.in_({each.token_id for each in submissions}))
    submitters: dict[int, str] = dict(session.execute(makers).all())
    return [ListedSubmission(each, names.get(each.id, ()), submitters[each.token_id]) for each in submissions]


def manifest_versions(session: Session, numbers: Iterable[int]) -> dict[int, int]:
    """Return under which version of its benchmark's manifest each submission was made, by their ids."""
    query = select(Submission.id, Submission.manifest_version_id).where(one_of(Submission.id, numbers))
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


def write_table(session: Session, submission_id: int, table: Table) -> None:
    """Keep a table that was computed from this submission alone; the first one of its name is a record and stays."""
    write_tables(session, [(submission_id, table)])


def write_tables(session: Session, tables: Iterable[tuple[int, Table]]) -> None:
    """Keep tables, each with the submission from which alone it was computed; those that are there stay."""
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
