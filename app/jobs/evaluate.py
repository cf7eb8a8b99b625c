"""Evaluate one submission: its own aggregates and intervals, its claims, and its place as current evidence.

Called by the queue's `evaluate` job. Nobody else's work is repeated.
"""

import logging
from dataclasses import replace
from typing import Protocol

from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.orm import Session

from app.admission.check import Check
from app.admission.rules import is_admitted, reason_not_admitted
from app.db.engine import SessionFactory
from app.db.models import Submission
from app.db.transactions import is_transient, run_in_transaction
from app.jobs.claims import write_claims
from app.jobs.faults import describe_fault
from app.jobs.measuring import Measuring
from app.kinds.contract import Evaluation
from app.kinds.known import kind_of
from app.prereg.values import BootstrapMethod
from app.store import benchmarks, grids, preregs, standing, submissions
from app.store.benchmarks import Declared
from app.store.locks import take_turns
from app.store.measured import Piece
from app.store.rows import read_records, read_scores
from app.values.facts import RunFacts

logger = logging.getLogger(__name__)

TRIES = 3


class Queue(Protocol):
    """How jobs ask for other jobs, inside the session's transaction."""

    def defer_evaluate(self, session: Session, submission_id: int) -> None:
        """Ask for the evaluation of a submission."""

    def defer_publish(self, session: Session, benchmark_id: int) -> None:
        """Ask for the publication of a benchmark."""


def evaluate(sessions: SessionFactory, queue: Queue, submission_id: int) -> None:
    """Evaluate a received submission; one that is past that state is left alone.

    A fault of the computation itself, or numbers that the database cannot hold, end the submission as not admitted
    with that reason; so does any other fault of the database that comes again and again. Where the database is away
    the fault is raised, and the sweep asks again.
    """
    try:
        run_in_transaction(sessions, lambda session: _evaluate(session, queue, submission_id))
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("submission %s could not be evaluated", submission_id)
        if not _is_of_the_computation(error) and _count_failure(sessions, submission_id) < TRIES:
            return
        reason = f"The evaluation failed on this server ({describe_fault(error)}); nothing was computed."
        run_in_transaction(sessions, lambda session: _refuse(session, submission_id, reason))


def _is_of_the_computation(error: Exception) -> bool:
    return isinstance(error, DataError) or not isinstance(error, DBAPIError)


def _count_failure(sessions: SessionFactory, submission_id: int) -> int:
    return run_in_transaction(sessions, lambda session: submissions.note_evaluation_failure(session, submission_id))


def _evaluate(session: Session, queue: Queue, submission_id: int) -> None:
    # Computing may take long, and holds only its own turn: others may submit, withdraw and publish meanwhile.
    take_turns(session, f"evaluate {submission_id}")
    submission = submissions.find_submission(session, submission_id)
    if is_shown_only(submission):
        _compute(session, submission)
        benchmarks.mark_pages_changed(session, submission.benchmark_id)
        return
    if submission.status != "received":
        return
    checks = _compute(session, submission)
    submissions.add_checks(session, submission.id, checks)
    if is_admitted(checks):
        _admit(session, queue, submission_id)
    else:
        _refuse(session, submission_id, reason_not_admitted(checks))


def _admit(session: Session, queue: Queue, submission_id: int) -> None:
    submission = submissions.lock_submission(session, submission_id)
    if submission.status != "received":
        benchmarks.mark_pages_changed(session, submission.benchmark_id)
        return
    submissions.set_status(session, submission, "evaluated", "Aggregates are computed; waiting for the boards.")
    standing.stand_on_boards(session, submission)
    benchmarks.mark_data_changed(session, submission.benchmark_id)
    queue.defer_publish(session, submission.benchmark_id)


def is_shown_only(submission: Submission) -> bool:
    """Say whether a submission is a power or debug run: its numbers are computed and shown, and never ranked."""
    return submission.status == "not_admitted" and submission.run_purpose != "leaderboard"


def _compute(session: Session, submission: Submission) -> list[Check]:
    """Store the submission's own tables and return what its claims come to."""
    declared = _declared(session, submission)
    entrants = _entrants(session, submission)
    stood = {name: [piece.pair[0] for piece in pieces] for name, pieces in entrants.items()}
    declared = replace(declared, manifest=grids.with_grids(session, declared, stood))
    measuring = Measuring(session, declared, entrants)
    if not is_shown_only(submission):
        measuring.measure_every_board()
        measuring.keep(session)
    pairs = [piece.pair for pieces in entrants.values() for piece in pieces]
    scores = read_scores(session, pairs, list(declared.manifest.metrics))
    write_claims(session, declared.manifest, submission, scores)
    kind = kind_of(declared.manifest)
    evaluation = Evaluation(
        manifest=declared.manifest,
        rows=read_records(session, pairs) if kind.rows.form == "records" else scores,
        facts=RunFacts.from_dict(submission.facts),
        claims=submission.claims,
        bootstrap_method=_bootstrap_method(session, submission),
        measure=measuring.measure,
    )
    summary = kind.summarise(evaluation)
    for table in summary.tables:
        submissions.write_table(session, submission.id, table)
    return list(summary.checks)


def _declared(session: Session, submission: Submission) -> Declared:
    benchmark = benchmarks.get_benchmark(session, submission.benchmark_id)
    return benchmarks.load_declared(session, benchmark, submission.manifest_version_id)


def _entrants(session: Session, submission: Submission) -> dict[str, list[Piece]]:
    entries = submissions.list_entries(session, submission.id)
    return {entrant.name: [Piece.of_entry(entry)] for entrant, entry in entries}


def _bootstrap_method(session: Session, submission: Submission) -> BootstrapMethod:
    if submission.prereg_sha256 is None:
        return "cluster"
    return preregs.load_registration(session, submission.prereg_sha256).prereg.bootstrap_method


def _refuse(session: Session, submission_id: int, reason: str) -> None:
    submission = submissions.lock_submission(session, submission_id)
    if submission.status == "received":
        submissions.set_status(session, submission, "not_admitted", reason)
        standing.close_entries(session, submission)
    benchmarks.mark_pages_changed(session, submission.benchmark_id)
