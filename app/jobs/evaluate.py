"""Evaluates submissions: their own aggregates and intervals, their claims, and whether they become current evidence.
Several submissions of a benchmark share one transaction, with about as many statements as a single one takes;
nobody else's work is repeated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
from app.manifest.model import PRIVATE_PART, Manifest
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


def evaluate(sessions: SessionFactory, submission_ids: Sequence[int]) -> None:
    """Evaluate received submissions that belong together (`app.store.current`); others are left unchanged.

    If that fails, each is evaluated separately, to see which one causes the fault. A fault of the computation, or
    numbers that the database cannot hold, make a submission not admitted for that reason; so does any other database
    error that keeps recurring. If the database is unavailable the error is raised, and the sweep retries.
    """
    try:
        log_states(
            "submission evaluated", run_in_transaction(sessions, lambda session: _evaluate(session, submission_ids))
        )
    except Exception as error:
        if is_transient(error):
            raise
        if len(submission_ids) == 1:
            _note_fault(sessions, submission_ids[0], error)
            return
        for number in submission_ids:
            evaluate(sessions, [number])


def _note_fault(sessions: SessionFactory, number: int, error: Exception) -> None:
    fault = note_fault(error, NOT_ADMITTED, f"submission {number} could not be evaluated", number=number)
    if isinstance(error, DBAPIError) and not isinstance(error, DataError):
        n_tries = run_in_transaction(sessions, lambda s: submissions.note_evaluation_failure(s, number))
        if n_tries < TRIES:
            return
    run_in_transaction(sessions, lambda session: _refuse(session, number, fault))


def _evaluate(session: Session, submission_ids: Sequence[int]) -> list[State]:
    """Evaluate those submissions that still wait, and return the state of each."""
    # Computing may take long without holding locks: others may submit, withdraw and publish meanwhile.
    take_turns(session, *(f"evaluate {number}" for number in submission_ids))
    taken = submissions.find_submissions(session, submission_ids)
    waiting = [each for each in taken if each.status == "received" or is_shown_only(each)]
    if not waiting:
        return submissions.followed(session, submission_ids)
    checks = compute_own_tables(session, waiting, is_ranked=not is_shown_only(waiting[0]))
    if is_shown_only(waiting[0]):
        _note(session, checks)
        benchmark_rows.mark_pages_changed(session, waiting[0].benchmark_id)
    else:
        _settle(session, checks)
    return submissions.followed(session, submission_ids)


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


def compute_own_tables(
    session: Session, waiting: Sequence[Submission], *, is_ranked: bool
) -> dict[int, Sequence[Check]]:
    """Store the tables of submissions under one version of a manifest, and return the checks of their claims."""
    submission_ids = [submission.id for submission in waiting]
    entrants: dict[int, dict[str, list[EvidenceRef]]] = {number: {} for number in submission_ids}
    for entrant, entry in submissions.list_entries(session, submission_ids):
        entrants[entry.submission_id][entrant.name] = [EvidenceRef.of_entry(entry)]
    declared = _declared(session, waiting[0], entrants)
    known = preregs.load_parsed(session, (s.prereg_sha256 for s in waiting if s.prereg_sha256 is not None))
    metrics = list(declared.manifest.metrics)
    scores = read_each(session, {number: (_pairs(entrants[number]), metrics) for number in submission_ids})
    tables: list[tuple[int, Table]] = []
    checks: dict[int, Sequence[Check]] = {}
    for each in waiting:
        prereg = None if each.prereg_sha256 is None else known[each.prereg_sha256]
        own_tables, checks[each.id] = _summarise(
            session, declared, each, prereg, entrants[each.id], scores[each.id], is_ranked=is_ranked
        )
        tables += [(each.id, table) for table in own_tables]
    submissions.write_tables(session, tables)
    return checks


def _declared(session: Session, first: Submission, entrants: Mapping[int, EvidenceRefs]) -> Declared:
    benchmark = benchmark_rows.get_benchmark(session, first.benchmark_id)
    declared = benchmarks.load_declared(session, benchmark, first.manifest_version_id)
    stood = {name: [number] for number, own in entrants.items() for name in own}
    return replace(declared, manifest=grids.with_grids(session, declared, stood))


def _pairs(entrants: EvidenceRefs) -> list[tuple[int, int]]:
    return [ref.pair for refs in entrants.values() for ref in refs]


def _summarise(
    session: Session,
    declared: Declared,
    submission: Submission,
    prereg: Prereg | None,
    entrants: EvidenceRefs,
    scores: ScoreTable,
    *,
    is_ranked: bool,
) -> tuple[list[Table], Sequence[Check]]:
    """Return the tables and checks of one submission; its entrants' measurements are stored for the boards."""
    manifest, measuring = declared.manifest, Measuring(session, declared, entrants, is_asked=True)
    held = held_back(session, submission, manifest, measuring)
    if is_ranked:
        measuring.measure_every_board()
        measuring.keep(session)
    kind = kind_of(manifest)
    summary = kind.summarise(
        Evaluation(
            manifest=manifest,
            rows=read_records(session, _pairs(entrants)) if kind.rows.in_upload_order else scores,
            facts=RunFacts.from_dict(submission.facts),
            claims=submission.claims,
            bootstrap_method="cluster" if prereg is None else prereg.bootstrap_method,
            measure=lambda board: [m for m in measuring.measure(board) if m.entrant not in (held or ())],
        )
    )
    claims = decide_submission(manifest, submission, prereg, scores)
    checks = [*([] if held is None else [_told(held)]), *summary.checks]
    return [*([] if claims is None else [claims]), *summary.tables], checks


# Decides what may be disclosed of a submission scored against private labels, and records it. Every scored entrant is
# an answer, whatever the purpose of its run. Where the manifest has a ladder, an answer is shown if it is better than
# all that its owner has been shown, or discloses nothing new.

RULE = "ladder"


def held_back(
    session: Session, submission: Submission, manifest: Manifest, measuring: Measuring
) -> frozenset[str] | None:
    """Return the entrants of a submission of which nothing new is shown; decided once and recorded.

    None where the manifest has no ladder, and where it holds for nobody.
    """
    rules = scoring_of(manifest)
    attempt = None if rules is None else disclosed.find_attempt(session, submission.id)
    if rules is None or attempt is None:
        return None
    boards = [board for board in manifest.leaderboards if isinstance(board, EstimateBoard)]
    measured = {board.name: {m.entrant: m for m in measuring.measure(board)} for board in boards}
    entrant_ids = {entrant.name: entrant.id for entrant, _ in submissions.list_entries(session, [submission.id])}
    token_ids = disclosed.lock_owner(session, attempt)
    known = disclosed.answers_of(session, submission.id)
    if not known:
        answers = list(_answers(session, attempt, manifest, measured, entrant_ids, token_ids))
        disclosed.keep_answers(session, submission.id, answers)
        known = {each.entrant_id: each.shown for each in answers}
    if attempt.exempt or not rules.ladder:
        return None
    return frozenset(name for name, number in entrant_ids.items() if not known[number])


def _told(held: frozenset[str]) -> Check:
    if not held:
        return Check(RULE, "passed", "Better than all that its owner was shown, or the same again.")
    reason = (
        f"Not better than the best of its owner by more than its standard error, so nothing new is shown of it until "
        f"the benchmark closes: {', '.join(sorted(held))}."
    )
    return Check(RULE, "warned", reason)


def _answers(
    session: Session,
    attempt: LabelAttempt,
    manifest: Manifest,
    measured: Mapping[str, Mapping[str, Measurement]],
    entrant_ids: Mapping[str, int],
    token_ids: Sequence[int],
) -> Iterator[ScoredEntrant]:
    """Yield the answer of each entrant, by name; each that is shown is one that the next must beat.

    `measured` are the entrants' measurements by board and name, `entrant_ids` the entrants', `token_ids` their owner's.
    """
    rules, is_closed = scoring_of(manifest), manifest.asked.facts.part == PRIVATE_PART
    is_free = attempt.exempt or is_closed or rules is None or not rules.ladder
    best, digests = disclosed.shown_before(session, attempt, token_ids)
    for name in sorted(entrant_ids):
        board_scores = _board_scores(manifest, measured, name)
        digest = disclosed.digest_predictions(session, (attempt.submission_id, entrant_ids[name]))
        shown = is_free or digest in digests or improves(board_scores, best)
        if shown:
            best, digests = higher(best, board_scores), digests | {digest}
        n_numbers = sum(numbers_in(measurements[name]) for measurements in measured.values()) if shown else 0
        yield ScoredEntrant(entrant_ids[name], shown, board_scores, n_numbers, digest)


def _board_scores(manifest: Manifest, measured: Mapping[str, Mapping[str, Measurement]], name: str) -> ShownScores:
    shown_score_of = labels_of(manifest).shown_score
    boards = [board for board in manifest.leaderboards if isinstance(board, EstimateBoard)]
    board_scores = {board.name: shown_score_of(manifest, board, measured[board.name][name]) for board in boards}
    return {board: shown_score for board, shown_score in board_scores.items() if shown_score is not None}
