"""What was disclosed of private labels: every scored entrant, whether it was shown, and each owner's best.

Called by `app.jobs.disclosing` when a submission is evaluated, and by `app.jobs.publish` to show no other evidence.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.db.models import Entry, LabelAnswer, LabelAttempt, Prediction, Submission
from app.kinds.predictions.ladder import Rung, Rungs, higher
from app.manifest.asked import PRIVATE_PART
from app.store.benchmarks import Declared
from app.store.disclosure import scoring_of
from app.store.locks import take_turns
from app.store.measured import Pair, Piece
from app.store.owners import owner_of, tokens_of
from app.store.sql_arrays import one_of

RANKED_STATES = ("current", "superseded")


@dataclass(frozen=True)
class Answer:
    """One scored entrant: whether it is shown, its score on each board, and how many numbers are shown."""

    entrant_id: int
    shown: bool
    rungs: Rungs
    n_numbers: int
    predictions_sha256: str


def find_attempt(session: Session, submission_id: int) -> LabelAttempt | None:
    """Return the attempt that a submission is; None where labels are no secret."""
    return session.get(LabelAttempt, submission_id)


def answers_of(session: Session, submission_id: int) -> dict[int, bool]:
    """Return whether each entrant of an attempt was shown; empty before it was scored."""
    query = select(LabelAnswer.entrant_id, LabelAnswer.shown).where(LabelAnswer.submission_id == submission_id)
    return dict(session.execute(query).all())


def lock_owner(session: Session, attempt: LabelAttempt) -> list[int]:
    """Return the tokens of an attempt's owner; concurrent attempts of that owner wait until this transaction ends."""
    owner = owner_of(session, attempt.benchmark_id, attempt.token_id)
    take_turns(session, f"ladder {attempt.benchmark_id} {owner}")
    return tokens_of(session, attempt.benchmark_id, owner)


def shown_before(session: Session, attempt: LabelAttempt, token_ids: Sequence[int]) -> tuple[Rungs, frozenset[str]]:
    """Return an owner's best shown scores by board, and digests of the predictions already shown.

    Withdrawn and superseded evidence counts: what was disclosed stays disclosed.
    """
    query = (
        select(LabelAnswer.rungs, LabelAnswer.predictions_sha256)
        .join(LabelAttempt, LabelAttempt.submission_id == LabelAnswer.submission_id)
        .where(
            LabelAttempt.benchmark_id == attempt.benchmark_id,
            one_of(LabelAttempt.token_id, token_ids),
            LabelAnswer.shown,
        )
    )
    best: Rungs = {}
    digests = set()
    for rungs, digest in session.execute(query):
        best = higher(best, {board: _unpacked(kept) for board, kept in rungs.items()})
        digests.add(digest)
    return best, frozenset(digests)


def digest_predictions(session: Session, pair: Pair) -> str:
    """Return a digest of an entrant's predictions in a submission: scoring the same again discloses nothing new."""
    submission_id, entrant_id = pair
    query = select(Prediction.task_id, Prediction.values).where(
        Prediction.submission_id == submission_id, Prediction.entrant_id == entrant_id
    )
    digest = hashlib.sha256()
    for task_id, values in session.execute(query.order_by(Prediction.task_id)):
        digest.update(f"{task_id} {len(values)} ".encode() + values)
    return digest.hexdigest()


def keep_answers(session: Session, submission_id: int, answers: Iterable[Answer]) -> None:
    """Keep what was disclosed of a submission."""
    rows = [
        {
            "submission_id": submission_id,
            "entrant_id": each.entrant_id,
            "shown": each.shown,
            "rungs": {board: _packed(rung) for board, rung in each.rungs.items()},
            "n_numbers": each.n_numbers,
            "predictions_sha256": each.predictions_sha256,
        }
        for each in answers
    ]
    if rows:
        session.execute(insert(LabelAnswer), rows)


def _packed(rung: Rung) -> dict[str, float | None]:
    """Return a rung for JSON, which has no infinite number."""
    return {"score": rung.score, "error": rung.error if math.isfinite(rung.error) else None}


def _unpacked(kept: Mapping[str, Any]) -> Rung:
    return Rung(kept["score"], math.inf if kept["error"] is None else kept["error"])


def newest_shown(session: Session, benchmark_id: int) -> Mapping[int, int]:
    """Return for each entrant its newest submission to a board that is current or superseded there and was shown."""
    query = (
        select(LabelAnswer.entrant_id, LabelAnswer.submission_id)
        .join(LabelAttempt, LabelAttempt.submission_id == LabelAnswer.submission_id)
        .join(Submission, Submission.id == LabelAnswer.submission_id)
        .join(
            Entry,
            (Entry.submission_id == LabelAnswer.submission_id) & (Entry.entrant_id == LabelAnswer.entrant_id),
        )
        .where(LabelAttempt.benchmark_id == benchmark_id, LabelAnswer.shown, Entry.state.in_(RANKED_STATES))
        .order_by(LabelAnswer.submission_id)
    )
    return dict(session.execute(query).all())


Evidence = Mapping[str, Sequence[Piece]]
"""What each entrant has evidence in, by name."""


def shown_evidence(session: Session, declared: Declared, evidence: Evidence) -> tuple[Evidence, frozenset[str]]:
    """Return the evidence that may be shown of each entrant, and the entrants with none; all if labels are not private.

    Before the close that is the newest evidence that was shown; for an entrant with none, its evidence unchanged.
    """
    manifest = declared.manifest
    if scoring_of(manifest) is None or manifest.asked.facts.part == PRIVATE_PART:
        return evidence, frozenset()
    newest = newest_shown(session, declared.benchmark.id)
    newest_of = {name: newest.get(pieces[-1].pair[1]) for name, pieces in evidence.items()}
    shown = {
        name: pieces if (number := newest_of[name]) is None else [Piece((number, pieces[-1].pair[1]))]
        for name, pieces in evidence.items()
    }
    return shown, frozenset(name for name, number in newest_of.items() if number is None)
