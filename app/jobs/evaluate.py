"""Evaluates submissions: their own aggregates and intervals, their claims, and whether they become current evidence.
Several submissions of a benchmark share one transaction, with about as many statements as a single one takes;
nobody else's work is repeated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.orm import Session

from app.admission.case import Check
from app.admission.rules import is_admitted, reason_not_admitted
from app.boards.measured import Measurement
from app.boards.methods.estimate import EstimateBoard
from app.db.engine import SessionFactory, is_transient, run_in_transaction
from app.db.models import NOT_ADMITTED, LabelAttempt, Submission
from app.jobs.claims import decide_submission
from app.jobs.evidence import Measuring
from app.jobs.faults import TRIES, State, log_states, note_fault, said
from app.kinds.contract import Evaluation
from app.kinds.labels import ShownScores, higher, improves, numbers_in
from app.kinds.registry import kind_of
from app.manifest.model import PRIVATE_PART, Manifest, Scoring
from app.prereg.fields import Prereg
from app.store import benchmark_rows, benchmarks, current, disclosed, grids, preregs, submissions
from app.store.benchmarks import Declared
from app.store.current import Fault
from app.store.disclosed import ScoredEntrant
from app.store.labels import labels_of, scoring_of
from app.store.measured import EvidenceRef
from app.store.rows import read_each, read_records
from app.store.sql import take_turns
from app.values.facts import RunFacts
from app.values.scores import ScoreTable
from app.values.table import Table


def evaluate(sessions: SessionFactory, numbers: Sequence[int]) -> None:
    """Evaluate received submissions that belong together (`app.store.current`); others are left unchanged.

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
    if isinstance(error, DBAPIError) and not isinstance(error, DataError):
        n_tries = run_in_transaction(sessions, lambda s: submissions.note_evaluation_failure(s, number))
        if n_tries < TRIES:
            return
    run_in_transaction(sessions, lambda session: _refuse(session, number, fault))


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
        submissions.add_checks(session, number, [c for c in of_submission if c.rule == RULE and c.rule not in known])


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
        current.keep_faults(session, submission.benchmark_id, [fault])
    benchmark_rows.mark_pages_changed(session, submission.benchmark_id)


def _turn_away(session: Session, submission: Submission, reason: str) -> None:
    submissions.set_status(session, submission, "not_admitted", reason)
    current.close_entries(session, submission)


# Submissions by themselves: their own tables, and the checks of their claims, several at a time. What several need is
# read once for all of them.

EvidenceRefs = Mapping[str, Sequence[EvidenceRef]]
"""The evidence of each entrant of a submission."""


@dataclass(frozen=True)
class _Own:
    """One submission with all inputs of its tables."""

    declared: Declared
    submission: Submission
    prereg: Prereg | None
    entrants: EvidenceRefs
    scores: ScoreTable


def compute_own_tables(
    session: Session, waiting: Sequence[Submission], *, is_ranked: bool
) -> dict[int, Sequence[Check]]:
    """Store the tables of submissions under one version of a manifest, and return the checks of their claims."""
    own_tables = {own.submission.id: _summarise(session, own, is_ranked=is_ranked) for own in _read(session, waiting)}
    submissions.write_tables(
        session, [(number, table) for number, (tables, _) in own_tables.items() for table in tables]
    )
    return {number: checks for number, (_, checks) in own_tables.items()}


def _read(session: Session, waiting: Sequence[Submission]) -> list[_Own]:
    numbers = [submission.id for submission in waiting]
    entrants: dict[int, dict[str, list[EvidenceRef]]] = {number: {} for number in numbers}
    for entrant, entry in submissions.list_entries(session, numbers):
        entrants[entry.submission_id][entrant.name] = [EvidenceRef.of_entry(entry)]
    declared = _declared(session, waiting[0], entrants)
    known = preregs.load_parsed(session, (s.prereg_sha256 for s in waiting if s.prereg_sha256 is not None))
    metrics = list(declared.manifest.metrics)
    scores = read_each(session, {number: (_pairs(entrants[number]), metrics) for number in numbers})
    return [
        _Own(declared, s, None if s.prereg_sha256 is None else known[s.prereg_sha256], entrants[s.id], scores[s.id])
        for s in waiting
    ]


def _declared(session: Session, first: Submission, entrants: Mapping[int, EvidenceRefs]) -> Declared:
    benchmark = benchmark_rows.get_benchmark(session, first.benchmark_id)
    declared = benchmarks.load_declared(session, benchmark, first.manifest_version_id)
    stood = {name: [number] for number, own in entrants.items() for name in own}
    return replace(declared, manifest=grids.with_grids(session, declared, stood))


def _pairs(entrants: EvidenceRefs) -> list[tuple[int, int]]:
    return [ref.pair for refs in entrants.values() for ref in refs]


def _summarise(session: Session, own: _Own, *, is_ranked: bool) -> tuple[list[Table], Sequence[Check]]:
    """Return the tables and checks of one submission; its entrants' measurements are stored for the boards."""
    manifest, measuring = own.declared.manifest, Measuring(session, own.declared, own.entrants, is_asked=True)
    answered = answer(session, own.submission, manifest, measuring)
    if is_ranked:
        measuring.measure_every_board()
        measuring.keep(session)
    kind = kind_of(manifest)
    summary = kind.summarise(
        Evaluation(
            manifest=manifest,
            rows=read_records(session, _pairs(own.entrants)) if kind.rows.in_upload_order else own.scores,
            facts=RunFacts.from_dict(own.submission.facts),
            claims=own.submission.claims,
            bootstrap_method="cluster" if own.prereg is None else own.prereg.bootstrap_method,
            measure=lambda board: [m for m in measuring.measure(board) if m.entrant not in answered.held_back],
        )
    )
    claims = decide_submission(manifest, own.submission, own.prereg, own.scores)
    return [*([] if claims is None else [claims]), *summary.tables], [*answered.checks, *summary.checks]


# Decides what may be disclosed of a submission scored against private labels, and records it. Every scored entrant is
# an answer, whatever the purpose of its run. Where the manifest has a ladder, an answer is shown if it is better than
# all that its owner has been shown, or discloses nothing new.

RULE = "ladder"


@dataclass(frozen=True)
class Disclosure:
    """What may be disclosed of a submission: the entrants held back, and the check that says so."""

    held_back: frozenset[str] = frozenset()
    checks: tuple[Check, ...] = ()


def answer(session: Session, submission: Submission, manifest: Manifest, measuring: Measuring) -> Disclosure:
    """Return what may be disclosed of a submission; decided once and recorded."""
    rules = scoring_of(manifest)
    attempt = None if rules is None else disclosed.find_attempt(session, submission.id)
    if rules is None or attempt is None:
        return Disclosure()
    boards = [board for board in manifest.leaderboards if isinstance(board, EstimateBoard)]
    measured = {board.name: {m.entrant: m for m in measuring.measure(board)} for board in boards}
    numbers = {entrant.name: entrant.id for entrant, _ in submissions.list_entries(session, [submission.id])}
    token_ids = disclosed.lock_owner(session, attempt)
    known = disclosed.answers_of(session, submission.id)
    if not known:
        asked = _Asked(session, attempt, manifest, rules, measured)
        answers = list(asked.answers(numbers, token_ids))
        disclosed.keep_answers(session, submission.id, answers)
        known = {each.entrant_id: each.shown for each in answers}
    if attempt.exempt or not rules.ladder:
        return Disclosure()
    return _disclosure(frozenset(name for name, number in numbers.items() if not known[number]))


def _disclosure(held: frozenset[str]) -> Disclosure:
    if not held:
        return Disclosure(
            checks=(Check(RULE, "passed", "Better than all that its owner was shown, or the same again."),)
        )
    reason = (
        f"Not better than the best of its owner by more than its standard error, so nothing new is shown of it until "
        f"the benchmark closes: {', '.join(sorted(held))}."
    )
    return Disclosure(held, (Check(RULE, "warned", reason),))


@dataclass(frozen=True)
class _Asked:
    """One attempt whose entrants were measured, by board and name."""

    session: Session
    attempt: LabelAttempt
    manifest: Manifest
    rules: Scoring
    measured: Mapping[str, Mapping[str, Measurement]]

    def answers(self, numbers: Mapping[str, int], token_ids: Sequence[int]) -> Iterator[ScoredEntrant]:
        """Yield the answer of each entrant, by name; each that is shown is one that the next must beat."""
        best, digests = disclosed.shown_before(self.session, self.attempt, token_ids)
        for name in sorted(numbers):
            board_scores = self._board_scores(name)
            digest = disclosed.digest_predictions(self.session, (self.attempt.submission_id, numbers[name]))
            shown = self._is_free() or digest in digests or improves(board_scores, best)
            if shown:
                best, digests = higher(best, board_scores), digests | {digest}
            n_numbers = sum(numbers_in(measurements[name]) for measurements in self.measured.values()) if shown else 0
            yield ScoredEntrant(numbers[name], shown, board_scores, n_numbers, digest)

    def _is_free(self) -> bool:
        is_closed = self.manifest.asked.facts.part == PRIVATE_PART
        return self.attempt.exempt or not self.rules.ladder or is_closed

    def _board_scores(self, name: str) -> ShownScores:
        shown_score_of = labels_of(self.manifest).shown_score
        boards = [board for board in self.manifest.leaderboards if isinstance(board, EstimateBoard)]
        board_scores = {
            board.name: shown_score_of(self.manifest, board, self.measured[board.name][name]) for board in boards
        }
        return {board: shown_score for board, shown_score in board_scores.items() if shown_score is not None}
