"""Decides what may be disclosed of a submission scored against private labels, and records it.

Called by `app.jobs.evaluate`. Every scored entrant is an answer, whatever the purpose of its run. Where the manifest
has a ladder, an answer is shown if it is better than all that its owner has been shown, or discloses nothing new.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.admission.check import Check
from app.boards.measured import Measurement
from app.boards.methods.estimate.ranked import sign_of
from app.boards.methods.estimate.spec import EstimateBoard
from app.db.models import LabelAttempt, Submission
from app.jobs.measuring import Measuring
from app.kinds.predictions.disclosed import grain_of
from app.kinds.predictions.ladder import Rung, Rungs, climbs, higher, numbers_in, rung_of
from app.manifest.asked import PRIVATE_PART
from app.manifest.manifest import Manifest
from app.manifest.scoring import Scoring
from app.store import ladders, submissions
from app.store.disclosure import scoring_of
from app.store.ladders import Answer

RULE = "ladder"


@dataclass(frozen=True)
class Disclosure:
    """What may be disclosed of a submission: the entrants held back, and the check that says so."""

    held_back: frozenset[str] = frozenset()
    checks: tuple[Check, ...] = ()


def answer(session: Session, submission: Submission, manifest: Manifest, measuring: Measuring) -> Disclosure:
    """Return what may be disclosed of a submission; decided once and recorded."""
    rules = scoring_of(manifest)
    attempt = None if rules is None else ladders.find_attempt(session, submission.id)
    if rules is None or attempt is None:
        return Disclosure()
    boards = [board for board in manifest.leaderboards if isinstance(board, EstimateBoard)]
    measured = {board.name: {m.entrant: m for m in measuring.measure(board)} for board in boards}
    numbers = {entrant.name: entrant.id for entrant, _ in submissions.list_entries(session, submission.id)}
    token_ids = ladders.lock_owner(session, attempt)
    known = ladders.answers_of(session, submission.id)
    if not known:
        asked = _Asked(session, attempt, manifest, rules, measured)
        answers = list(asked.answers(numbers, token_ids))
        ladders.keep_answers(session, submission.id, answers)
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

    def answers(self, numbers: Mapping[str, int], token_ids: Sequence[int]) -> Iterator[Answer]:
        """Yield the answer of each entrant, by name; each that is shown is one that the next must beat."""
        best, digests = ladders.shown_before(self.session, self.attempt, token_ids)
        for name in sorted(numbers):
            rungs = self._rungs(name)
            digest = ladders.digest_predictions(self.session, (self.attempt.submission_id, numbers[name]))
            shown = self._is_free() or digest in digests or climbs(rungs, best)
            if shown:
                best, digests = higher(best, rungs), digests | {digest}
            n_numbers = sum(numbers_in(measurements[name]) for measurements in self.measured.values()) if shown else 0
            yield Answer(numbers[name], shown, rungs, n_numbers, digest)

    def _is_free(self) -> bool:
        is_closed = self.manifest.asked.facts.part == PRIVATE_PART
        return self.attempt.exempt or not self.rules.ladder or is_closed

    def _rungs(self, name: str) -> Rungs:
        rungs: dict[str, Rung] = {}
        for board in self.manifest.leaderboards:
            if isinstance(board, EstimateBoard):
                measurement = self.measured[board.name][name]
                sign = sign_of(self.manifest, board.ranked)
                rung = rung_of(measurement, board.ranked, sign, grain_of(self.rules, board))
                rungs |= {} if rung is None else {board.name: rung}
        return rungs
