"""Evaluates submissions: their own aggregates and intervals, their claims, and whether they become current evidence.

Called by `app.jobs.refresh`. Several submissions of a benchmark share one transaction, with about as many statements as
a single one takes; nobody else's work is repeated.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.orm import Session

from app.admission.check import Check
from app.admission.rules import is_admitted, reason_not_admitted
from app.db.engine import SessionFactory
from app.db.models import Submission
from app.db.models.server_faults import NOT_ADMITTED
from app.db.transactions import is_transient, run_in_transaction
from app.jobs.disclosing import RULE as LADDER
from app.jobs.faults import note_fault, said
from app.jobs.job_log import State, log_states
from app.jobs.own_tables import compute_own_tables
from app.store import benchmark_rows, current, server_faults, submissions
from app.store.locks import take_turns
from app.store.server_faults import Fault

TRIES = 3


def evaluate(sessions: SessionFactory, numbers: Sequence[int]) -> None:
    """Evaluate received submissions that belong together (`app.store.waiting`); others are left unchanged.

    If that fails, each is evaluated separately, to see which one causes the fault. A fault of the computation, or
    numbers that the database cannot hold, make a submission not admitted for that reason; so does any other database
    error that keeps recurring. If the database is unavailable the error is raised, and the sweep retries.
    """
    try:
        log_states("submission evaluated", run_in_transaction(sessions, lambda session: _evaluate(session, numbers)))
    except Exception as error:
        if is_transient(error):
            raise
        if len(numbers) == 1:
            _note_fault(sessions, numbers[0], error)
            return
        for number in numbers:
            evaluate(sessions, [number])


def _note_fault(sessions: SessionFactory, number: int, error: Exception) -> None:
    fault = note_fault(error, NOT_ADMITTED, f"submission {number} could not be evaluated", number=number)
    if not _is_of_the_computation(error) and _count_failure(sessions, number) < TRIES:
        return
    run_in_transaction(sessions, lambda session: _refuse(session, number, fault))


def _is_of_the_computation(error: Exception) -> bool:
    return isinstance(error, DataError) or not isinstance(error, DBAPIError)


def _count_failure(sessions: SessionFactory, number: int) -> int:
    return run_in_transaction(sessions, lambda session: submissions.note_evaluation_failure(session, number))


def _evaluate(session: Session, numbers: Sequence[int]) -> list[State]:
    """Evaluate those submissions that still wait, and return the state of each."""
    # Computing may take long without holding locks: others may submit, withdraw and publish meanwhile.
    take_turns(session, *(f"evaluate {number}" for number in numbers))
    taken = submissions.find_submissions(session, numbers)
    waiting = [each for each in taken if each.status == "received" or is_shown_only(each)]
    if not waiting:
        return submissions.followed(session, numbers)
    checks = compute_own_tables(session, waiting, is_ranked=not is_shown_only(waiting[0]))
    if is_shown_only(waiting[0]):
        _note(session, checks)
        benchmark_rows.mark_pages_changed(session, waiting[0].benchmark_id)
    else:
        _settle(session, checks)
    return submissions.followed(session, numbers)


def is_shown_only(submission: Submission) -> bool:
    """Say whether a submission is a power or debug run: its numbers are computed and shown, and never ranked."""
    return submission.status == "not_admitted" and submission.run_purpose != "leaderboard"


def _note(session: Session, checks: Mapping[int, Sequence[Check]]) -> None:
    """Record, once, what may be disclosed of runs that are never ranked, since they may be computed again."""
    for number, of_submission in checks.items():
        known = {check.rule for check in submissions.list_checks(session, number)}
        submissions.add_checks(session, number, [c for c in of_submission if c.rule == LADDER and c.rule not in known])


def _settle(session: Session, checks: Mapping[int, Sequence[Check]]) -> None:
    """Make the submissions that pass all checks current, and mark the others as not admitted."""
    for number, of_submission in checks.items():
        submissions.add_checks(session, number, of_submission)
    locked = submissions.lock_submissions(session, checks)
    received = [each for each in locked if each.status == "received"]
    admitted = [each for each in received if is_admitted(checks[each.id])]
    for each in received:
        if each not in admitted:
            _turn_away(session, each, reason_not_admitted(checks[each.id]))
    submissions.set_statuses(session, admitted, "evaluated", "Aggregates are computed; waiting for the boards.")
    current.make_current(session, [each.id for each in admitted])
    mark = benchmark_rows.mark_data_changed if admitted else benchmark_rows.mark_pages_changed
    mark(session, locked[0].benchmark_id)


def _refuse(session: Session, number: int, fault: Fault) -> None:
    submission = submissions.lock_submission(session, number)
    if submission.status == "received":
        _turn_away(session, submission, f"Nothing was computed, because of {said(fault)}.")
        server_faults.keep_faults(session, submission.benchmark_id, [fault])
    benchmark_rows.mark_pages_changed(session, submission.benchmark_id)


def _turn_away(session: Session, submission: Submission, reason: str) -> None:
    submissions.set_status(session, submission, "not_admitted", reason)
    current.close_entries(session, submission)
