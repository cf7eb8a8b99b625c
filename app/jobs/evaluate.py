"""Evaluate one submission: its own aggregates and intervals, its claims, and its place as current evidence.

Called by the queue's `evaluate` job. Nobody else's work is repeated.
"""

import logging
from typing import Protocol

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.admission import Check, is_admitted, reason_not_admitted
from app.db.engine import SessionFactory
from app.db.models import Submission
from app.jobs.summaries import check_claims, summarise
from app.store import benchmarks, submissions
from app.store.scores import read_scores

logger = logging.getLogger(__name__)


class Queue(Protocol):
    """How jobs ask for other jobs, inside the session's transaction."""

    def defer_evaluate(self, session: Session, submission_id: int) -> None:
        """Ask for the evaluation of a submission."""

    def defer_publish(self, session: Session, benchmark_id: int) -> None:
        """Ask for the publication of a benchmark."""


def evaluate(sessions: SessionFactory, queue: Queue, submission_id: int) -> None:
    """Evaluate a received submission; one that is past that state is left alone.

    A fault of the computation itself ends the submission as not admitted with that reason; a fault of the
    database is raised, and the sweep asks again.
    """
    try:
        with sessions.begin() as session:
            _evaluate(session, queue, submission_id)
    except DBAPIError:
        raise
    except Exception as error:
        logger.exception("submission %s could not be evaluated", submission_id)
        reason = f"The evaluation failed on this server ({type(error).__name__}: {error}); nothing was computed."
        with sessions.begin() as session:
            _refuse(session, submissions.lock_submission(session, submission_id), reason)


def _evaluate(session: Session, queue: Queue, submission_id: int) -> None:
    submission = submissions.lock_submission(session, submission_id)
    if submission.status != "received":
        return
    checks = _compute(session, submission)
    submissions.add_checks(session, submission.id, checks)
    if not is_admitted(checks):
        _refuse(session, submission, reason_not_admitted(checks))
        return
    submissions.set_status(session, submission, "evaluated", "Aggregates are computed; waiting for the boards.")
    submissions.stand_on_boards(session, submission)
    benchmarks.mark_data_changed(session, submission.benchmark_id)
    queue.defer_publish(session, submission.benchmark_id)


def _compute(session: Session, submission: Submission) -> list[Check]:
    """Store the submission's own table and return what its claims come to."""
    benchmark = benchmarks.get_benchmark(session, submission.benchmark_id)
    declared = benchmarks.load_declared(session, benchmark, submission.manifest_version_id)
    entries = submissions.list_entries(session, submission.id)
    pairs = [(submission.id, entrant.id) for entrant, _ in entries]
    scores = read_scores(session, pairs, list(declared.manifest.metrics))
    table = summarise(declared.manifest, scores)
    submissions.write_table(session, submission.id, table)
    return check_claims(submission.claims, table)


def _refuse(session: Session, submission: Submission, reason: str) -> None:
    if submission.status != "received":
        return
    submissions.set_status(session, submission, "not_admitted", reason)
    submissions.close_entries(session, submission.id)
    benchmarks.mark_pages_changed(session, submission.benchmark_id)
