"""How often an owner may have something scored against private labels. Called by `app.receiving.receive`.

An attempt is counted in the transaction that stores its submission, under a lock of the owner, so that concurrent
submissions take turns; an attempt is never returned.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from app.admission.check import Check
from app.db.models import LabelAttempt
from app.errors import FieldRejected, Problem, TooManyRequests
from app.manifest.scoring import Scoring
from app.store.benchmarks import Declared
from app.store.disclosure import refuse_closed, scoring_of
from app.store.locks import take_turns
from app.store.owners import knows_labels, owner_of, tokens_of
from app.store.sql_arrays import one_of

WINDOW = timedelta(hours=24)
RULE = "quota"
EXEMPT = (
    "A steward of the benchmark knows the labels, so no quota is counted; boards list its entrants without a rank, "
    "unless the manifest says label_holders: ranked."
)


@dataclass(frozen=True)
class Quota:
    """What an owner has left: `n_used` of `per_day` in the last 24 hours, and when the next one is possible."""

    per_day: int
    n_used: int
    exempt: bool
    next_at: datetime | None

    @property
    def is_spent(self) -> bool:
        """Whether nothing more is scored now."""
        return not self.exempt and self.next_at is not None

    def check(self) -> Check:
        """Return what a submitter reads, before it is sent or with it."""
        if self.exempt:
            return Check(RULE, "passed", EXEMPT)
        if self.next_at is not None:
            return Check(RULE, "failed", self.refusal())
        reason = f"Scored submission {self.n_used + 1} of {self.per_day} that an owner has in any 24 hours."
        return Check(RULE, "passed", reason)

    def refusal(self) -> str:
        """Say why nothing more is scored now, and when it will be."""
        when = "" if self.next_at is None else f" The next one is possible at {self.next_at:%Y-%m-%d %H:%M:%S %Z}."
        return (
            f"All {self.per_day} submissions that are scored in 24 hours are used, over all tokens, registrations and "
            f"entrants of the owner.{when}"
        )


def look_up_quota(session: Session, declared: Declared, token_id: int) -> Quota | None:
    """Return what the owner of a token has left in a benchmark; None where labels are no secret."""
    rules = scoring_of(declared.manifest)
    if rules is None:
        return None
    benchmark_id = declared.benchmark.id
    exempt = knows_labels(session, benchmark_id, token_id)
    owner = owner_of(session, benchmark_id, token_id)
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    used = _recent(session, benchmark_id, tokens_of(session, benchmark_id, owner), now - WINDOW)
    next_at = used[-rules.per_day] + WINDOW if len(used) >= rules.per_day else None
    return Quota(rules.per_day, len(used), exempt, next_at)


def _recent(session: Session, benchmark_id: int, token_ids: list[int], since: datetime) -> list[datetime]:
    query = select(LabelAttempt.at).where(
        LabelAttempt.benchmark_id == benchmark_id,
        one_of(LabelAttempt.token_id, token_ids),
        ~LabelAttempt.exempt,
        LabelAttempt.at > since,
    )
    return list(session.scalars(query.order_by(LabelAttempt.at)))


def take_quota(session: Session, declared: Declared, token_id: int) -> Quota | None:
    """Return the owner's quota with a lock, so that the owner's other submissions wait until this one is counted.

    Raises TooManyRequests, which says when the next one is possible.
    """
    if scoring_of(declared.manifest) is None:
        return None
    owner = owner_of(session, declared.benchmark.id, token_id)
    take_turns(session, f"quota {declared.benchmark.id} {owner}")
    quota = look_up_quota(session, declared, token_id)
    if quota is not None and quota.next_at is not None and quota.is_spent:
        now: datetime = session.scalars(select(func.clock_timestamp())).one()
        raise TooManyRequests(quota.refusal(), max(1, math.ceil((quota.next_at - now).total_seconds())))
    return quota


def count_attempt(session: Session, declared: Declared, submission_id: int, quota: Quota, token_id: int) -> None:
    """Count a stored submission as an attempt."""
    session.execute(
        insert(LabelAttempt).values(
            submission_id=submission_id, benchmark_id=declared.benchmark.id, token_id=token_id, exempt=quota.exempt
        )
    )


def refuse_beyond(
    session: Session, declared: Declared, token_id: int, entrants: tuple[str, ...], now: datetime
) -> None:
    """Refuse a run whatever it is for. Raises Conflict after the close, and FieldRejected for too many entrants."""
    rules = scoring_of(declared.manifest)
    if rules is None:
        return
    refuse_closed(session, declared, now)
    if len(entrants) > rules.entrants_per_submission and not knows_labels(session, declared.benchmark.id, token_id):
        _refuse_crowd(rules, entrants)


def _refuse_crowd(rules: Scoring, entrants: tuple[str, ...]) -> None:
    least = rules.entrants_per_submission
    message = f"this submission has {len(entrants)} entrants; at most {least} of one submission is scored here"
    raise FieldRejected(
        "The labels of this benchmark are a secret, so few entrants are scored at once.",
        [Problem(message, column="entrant")],
    )
