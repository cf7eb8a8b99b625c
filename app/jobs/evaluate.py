"""Evaluate one submission: its own aggregates and intervals, its claims, and its place as current evidence.

Called by the queue's `evaluate` job. Nobody else's work is repeated.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.orm import Session

from app.admission.check import Check
from app.admission.rules import is_admitted, reason_not_admitted
from app.boards.missing_scores import with_worst
from app.db.engine import SessionFactory
from app.db.models import Submission
from app.db.transactions import is_transient, run_in_transaction
from app.jobs.claims import write_claims
from app.jobs.faults import describe_fault
from app.jobs.measuring import Measuring
from app.kinds.claimed import check_own_claims
from app.kinds.episodes.summary import summarise_episodes
from app.kinds.predictions.reports import report_tables
from app.kinds.series.summary import summarise_series
from app.kinds.summaries import check_measured_claims, summarise, summary_board
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.store import benchmarks, preregs, standing, submissions
from app.store.benchmarks import Declared
from app.store.locks import take_turns
from app.store.measured import Piece
from app.store.scores import read_scores
from app.store.series import read_series
from app.values.facts import RunFacts
from app.values.scores import ScoreTable

logger = logging.getLogger(__name__)

TRIES = 3

Summarise = Callable[[Session, Manifest, Submission, ScoreTable], list[Check]]


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
    if not is_shown_only(submission):
        measuring = Measuring(session, declared, entrants)
        measuring.measure_every_board()
        measuring.keep(session)
    pairs = [piece.pair for pieces in entrants.values() for piece in pieces]
    scores = read_scores(session, pairs, list(declared.manifest.metrics))
    write_claims(session, declared.manifest, submission, scores)
    return SUMMARIES[declared.manifest.evidence](session, declared.manifest, submission, scores)


def _declared(session: Session, submission: Submission) -> Declared:
    benchmark = benchmarks.get_benchmark(session, submission.benchmark_id)
    return benchmarks.load_declared(session, benchmark, submission.manifest_version_id)


def _entrants(session: Session, submission: Submission) -> dict[str, list[Piece]]:
    entries = submissions.list_entries(session, submission.id)
    return {entrant.name: [Piece.of_entry(entry)] for entrant, entry in entries}


def _summarise_means(session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable) -> list[Check]:
    table = summarise(manifest, scores)
    submissions.write_table(session, submission.id, table)
    return check_own_claims(manifest, scores, RunFacts.from_dict(submission.facts), submission.claims)


def _summarise_episodes(
    session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable
) -> list[Check]:
    registered = _prereg(session, submission)
    method = "cluster" if registered is None else registered.bootstrap_method
    table = summarise_episodes(manifest, with_worst(manifest, scores), method)
    submissions.write_table(session, submission.id, table)
    return check_own_claims(manifest, scores, RunFacts.from_dict(submission.facts), submission.claims)


def _summarise_series(session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable) -> list[Check]:
    del scores  # these rows have more to them than scores
    entries = submissions.list_entries(session, submission.id)
    rows = read_series(session, [(submission.id, entrant.id) for entrant, _ in entries])
    submissions.write_table(session, submission.id, summarise_series(rows))
    return check_own_claims(manifest, rows, RunFacts.from_dict(submission.facts), submission.claims)


def _summarise_predictions(
    session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable
) -> list[Check]:
    del scores  # predictions have none: their numbers are measured
    declared = _declared(session, submission)
    board = summary_board(manifest)
    measurements = Measuring(session, declared, _entrants(session, submission)).measure(board)
    for table in report_tables({m.entrant: m.rows for m in measurements}):
        submissions.write_table(session, submission.id, table)
    return check_measured_claims(submission.claims, measurements)


SUMMARIES: Mapping[str, Summarise] = {
    "predictions": _summarise_predictions,
    "evaluation_summary": _summarise_means,
    "series_metrics": _summarise_series,
    "episodes": _summarise_episodes,
}


def _prereg(session: Session, submission: Submission) -> Prereg | None:
    if submission.prereg_sha256 is None:
        return None
    return preregs.load_registration(session, submission.prereg_sha256).prereg


def _refuse(session: Session, submission_id: int, reason: str) -> None:
    submission = submissions.lock_submission(session, submission_id)
    if submission.status == "received":
        submissions.set_status(session, submission, "not_admitted", reason)
        standing.close_entries(session, submission)
    benchmarks.mark_pages_changed(session, submission.benchmark_id)
