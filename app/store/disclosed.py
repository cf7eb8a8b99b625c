"""What was disclosed of private labels: to each owner (answers, the ladder of shown results, the quota), and to whoever
can read them, whose entrants are therefore references.

Those who can are the admins, whoever was a steward of the benchmark at any time between the upload of the labels and
the close, and the tokens that count as one owner with any of them. What they sent before they could read the labels
counts as well: who knows the labels can withdraw all but the best of it.

Why: docs/adr/022-private-labels.md.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from sqlalchemy import Integer, Row, cast, func, insert, select
from sqlalchemy.orm import Session

from app.admission.case import Check
from app.boards.evidence import Pair
from app.db.models import (
    Entrant,
    Entry,
    LabelAnswer,
    LabelAttempt,
    LabelSecret,
    Prediction,
    RoleGrant,
    Submission,
    Token,
)
from app.errors import FieldRejected, Problem, TooManyRequests
from app.kinds.labels import ROUGH, ShownScore, ShownScores, higher
from app.manifest.model import PRIVATE_PART, Manifest
from app.rights.roles import decides
from app.rights.tokens import owner_of, owners, tokens_of
from app.store import labels
from app.store.benchmarks import Declared
from app.store.labels import labels_of, load_labels, refuse_closed, scoring_of
from app.store.measured import EvidenceRef
from app.store.sql import now, one_of, take_turns
from app.values.table import Cell, Column, Table

COLUMNS = (
    Column("owner", "Owner", "text", glossary="label_disclosure"),
    Column("n_tokens", "Tokens", "integer", glossary="label_disclosure"),
    Column("n_attempts", "Scored submissions", "integer", glossary="label_disclosure"),
    Column("n_answers", "Answers", "integer", glossary="label_disclosure"),
    Column("n_shown", "Shown", "integer", glossary="label_disclosure"),
    Column("n_numbers", "Numbers shown", "integer", glossary="label_disclosure"),
    Column("bits_at_most", "Bits at most", digits=0, glossary="label_disclosure"),
    Column("n_used", "Used in 24 hours", "integer", glossary="label_disclosure"),
    Column("next_at", "Next possible", "time", glossary="label_disclosure"),
    Column("last_at", "Last", "time", glossary="label_disclosure"),
    Column("exempt", "Knows the labels", "flag", glossary="label_disclosure"),
)

PER_BOARD, PER_METRIC, PER_TASK, MANY_TASKS = 5, 9, 6, 100
"""Numbers per ordered pair in the pairwise tables, over all metrics, and in the tests of a task."""


def disclosed_table(session: Session, declared: Declared) -> Table:
    """Return a row for each owner with anything scored against private labels, largest disclosure first."""
    of_owner: dict[int, list[Row[Any]]] = {}
    linked = owners(session, declared.benchmark.id)
    for answered in _answers_of(session, declared.benchmark.id):
        of_owner.setdefault(linked.get(answered.token_id, answered.token_id), []).append(answered)
    most = entropy_of(session, declared)
    of_pairs = _digits_of_pairs(
        declared.manifest, sum(answered.n_shown for each in of_owner.values() for answered in each)
    )
    rows = [_row(session, declared, owner, answers, most, of_pairs) for owner, answers in of_owner.items()]
    at = [column.name for column in COLUMNS].index("n_numbers")
    meta = {"public_bits": most}
    ordered = sorted(rows, key=lambda row: (-int(row[at] or 0), str(row[0])))
    return Table("disclosed", "What was disclosed of the labels", COLUMNS, tuple(ordered), _notes(most), meta)


def entropy_of(session: Session, declared: Declared) -> float | None:
    """Return the entropy of the public labels in bits, which bounds disclosure; None where labels are not classes."""
    n_classes = labels_of(declared.manifest).n_classes(declared.manifest)
    if n_classes is None:
        return None
    labels = load_labels(session, declared.benchmark.id).values()
    n_public = sum(len(each) if each.public is None else int(each.public.sum()) for each in labels)
    return n_public * math.log2(n_classes)


def _digits_of_pairs(manifest: Manifest, n_shown: int) -> int:
    """Return the most digits that pairwise tables disclose about one shown entrant and all others."""
    n_tasks = len(manifest.task_ids() or ()) or MANY_TASKS
    numbers = sum(PER_BOARD + PER_METRIC * len(b.metric_names()) + PER_TASK * n_tasks for b in manifest.leaderboards)
    return 2 * n_shown * numbers * ROUGH


def _notes(most: float | None) -> tuple[str, ...]:
    counted = "An answer is one scored entrant. Held back it discloses one bit, shown its numbers."
    bound = "" if most is None else f" Nobody can learn more than the public labels are, {most:,.0f} bits."
    return (f"{counted}{bound} Of the private part nothing is disclosed before the close.",)


def _answers_of(session: Session, benchmark_id: int) -> Sequence[Row[Any]]:
    """Return what was answered to each token."""
    query = (
        select(
            LabelAttempt.token_id,
            func.bool_and(LabelAttempt.exempt).label("exempt"),
            func.count(LabelAttempt.submission_id.distinct()).label("n_attempts"),
            func.max(LabelAttempt.at).label("last_at"),
            func.count(LabelAnswer.entrant_id).label("n_answers"),
            func.coalesce(func.sum(cast(LabelAnswer.shown, Integer)), 0).label("n_shown"),
            func.coalesce(func.sum(LabelAnswer.n_numbers), 0).label("n_numbers"),
        )
        .outerjoin(LabelAnswer, LabelAnswer.submission_id == LabelAttempt.submission_id)
        .where(LabelAttempt.benchmark_id == benchmark_id)
        .group_by(LabelAttempt.token_id)
        .order_by(LabelAttempt.token_id)
    )
    return session.execute(query).all()


def _row(
    session: Session, declared: Declared, owner: int, answers: Sequence[Row[Any]], most: float | None, of_pairs: int
) -> tuple[Cell, ...]:
    rules, quota = scoring_of(declared.manifest), look_up_quota(session, declared, owner)
    n_answers, n_shown = sum(answered.n_answers for answered in answers), sum(answered.n_shown for answered in answers)
    n_numbers = sum(answered.n_numbers for answered in answers)
    digits = 0 if rules is None else rules.digits
    bits = n_answers - n_shown + (n_numbers * digits + n_shown * of_pairs) * math.log2(10.0)
    next_at = None if quota is None or quota.next_at is None or quota.exempt else quota.next_at.isoformat()
    return (
        session.get_one(Token, owner).name,
        len(answers),
        sum(answered.n_attempts for answered in answers),
        n_answers,
        n_shown,
        n_numbers,
        float(math.ceil(bits if most is None else min(bits, most))),
        0 if quota is None else quota.n_used,
        next_at,
        max(answered.last_at for answered in answers).isoformat(),
        all(answered.exempt for answered in answers),
    )


# What was disclosed of private labels: every scored entrant, whether it was shown, and each owner's best.

RANKED_STATES = ("current", "superseded")


@dataclass(frozen=True)
class ScoredEntrant:
    """One scored entrant: whether it is shown, its score on each board, and how many numbers are shown."""

    entrant_id: int
    shown: bool
    board_scores: ShownScores
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


def shown_before(
    session: Session, attempt: LabelAttempt, token_ids: Sequence[int]
) -> tuple[ShownScores, frozenset[str]]:
    """Return an owner's best shown scores by board, and digests of the predictions already shown.

    Withdrawn and superseded evidence counts: what was disclosed stays disclosed.
    """
    query = (
        select(LabelAnswer.board_scores, LabelAnswer.predictions_sha256)
        .join(LabelAttempt, LabelAttempt.submission_id == LabelAnswer.submission_id)
        .where(
            LabelAttempt.benchmark_id == attempt.benchmark_id,
            one_of(LabelAttempt.token_id, token_ids),
            LabelAnswer.shown,
        )
    )
    best: ShownScores = {}
    digests = set()
    for board_scores, digest in session.execute(query):
        best = higher(best, {board: _unpacked(kept) for board, kept in board_scores.items()})
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


def keep_answers(session: Session, submission_id: int, answers: Iterable[ScoredEntrant]) -> None:
    """Keep what was disclosed of a submission."""
    rows = [
        {
            "submission_id": submission_id,
            "entrant_id": each.entrant_id,
            "shown": each.shown,
            "board_scores": {board: _packed(shown_score) for board, shown_score in each.board_scores.items()},
            "n_numbers": each.n_numbers,
            "predictions_sha256": each.predictions_sha256,
        }
        for each in answers
    ]
    if rows:
        session.execute(insert(LabelAnswer), rows)


def _packed(shown_score: ShownScore) -> dict[str, float | None]:
    """Return a shown score for JSON, which has no infinite number."""
    return {"score": shown_score.score, "error": shown_score.error if math.isfinite(shown_score.error) else None}


def _unpacked(kept: Mapping[str, Any]) -> ShownScore:
    return ShownScore(kept["score"], math.inf if kept["error"] is None else kept["error"])


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


Evidence = Mapping[str, Sequence[EvidenceRef]]
"""What each entrant has evidence in, by name."""


def shown_evidence(session: Session, declared: Declared, evidence: Evidence) -> tuple[Evidence, frozenset[str]]:
    """Return the evidence that may be shown of each entrant, and the entrants with none; all if labels are not private.

    Before the close that is the newest evidence that was shown; for an entrant with none, its evidence unchanged.
    """
    manifest = declared.manifest
    if scoring_of(manifest) is None or manifest.asked.facts.part == PRIVATE_PART:
        return evidence, frozenset()
    newest = newest_shown(session, declared.benchmark.id)
    newest_of = {name: newest.get(refs[-1].pair[1]) for name, refs in evidence.items()}
    shown = {
        name: refs if (number := newest_of[name]) is None else [EvidenceRef((number, refs[-1].pair[1]))]
        for name, refs in evidence.items()
    }
    return shown, frozenset(name for name, number in newest_of.items() if number is None)


# How often an owner may have something scored against private labels.
#
# An attempt is counted in the transaction that stores its submission, under a lock of the owner, so that concurrent
# submissions take turns; an attempt is never returned.

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
    exempt = decides(session, benchmark_id, token_id)
    owner = owner_of(session, benchmark_id, token_id)
    used = _recent(session, benchmark_id, tokens_of(session, benchmark_id, owner), now(session) - WINDOW)
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
        raise TooManyRequests(quota.refusal(), max(1, math.ceil((quota.next_at - now(session)).total_seconds())))
    return quota


def count_attempt(session: Session, declared: Declared, submission_id: int, quota: Quota, token_id: int) -> None:
    """Count a stored submission as an attempt."""
    session.execute(
        insert(LabelAttempt).values(
            submission_id=submission_id, benchmark_id=declared.benchmark.id, token_id=token_id, exempt=quota.exempt
        )
    )


def refuse_beyond(
    session: Session, declared: Declared, token_id: int, entrants: tuple[str, ...], received_at: datetime
) -> None:
    """Refuse a run whatever it is for. Raises Conflict after the close, and FieldRejected for too many entrants."""
    rules = scoring_of(declared.manifest)
    if rules is None:
        return
    refuse_closed(session, declared, received_at)
    if len(entrants) > rules.entrants_per_submission and not decides(session, declared.benchmark.id, token_id):
        most = rules.entrants_per_submission
        message = f"this submission has {len(entrants)} entrants; at most {most} of one submission is scored here"
        raise FieldRejected(
            "The labels of this benchmark are a secret, so few entrants are scored at once.",
            [Problem(message, column="entrant")],
        )


def entrants_of_holders(session: Session, declared: Declared, stood: Mapping[str, Sequence[int]]) -> frozenset[str]:
    """Return the entrants with evidence from somebody who can read the labels; none where these are no secret.

    `stood` are the submissions that are the evidence of entrants. What is shown in place of a newer one that is held
    back counts like it.
    """
    if labels.scoring_of(declared.manifest) is None:
        return frozenset()
    tokens = label_holders(session, declared.benchmark.id)
    shown = newest_shown(session, declared.benchmark.id)
    numbered = select(Entrant.id, Entrant.name).where(one_of(Entrant.id, shown))
    evidence = {name: set(numbers) for name, numbers in stood.items()}
    for number, name in session.execute(numbered):
        if name in evidence:
            evidence[name].add(shown[number])
    numbers = {number for own in evidence.values() for number in own}
    sent = select(Submission.id).where(one_of(Submission.id, numbers), one_of(Submission.token_id, tokens))
    of_holders = frozenset(session.scalars(sent))
    return frozenset(name for name, own in evidence.items() if not of_holders.isdisjoint(own))


def label_holders(session: Session, benchmark_id: int) -> frozenset[int]:
    """Return the tokens of who could ever read the private labels of a benchmark while they decided something."""
    secret = session.get(LabelSecret, benchmark_id)
    if secret is None:
        return frozenset()
    closed = labels.find_close(session, benchmark_id)
    exempt = select(LabelAttempt.token_id).where(LabelAttempt.benchmark_id == benchmark_id, LabelAttempt.exempt)
    holders = {
        *session.scalars(select(Token.id).where(Token.role == "admin")),
        *session.scalars(exempt.distinct()),
        *_stewards(session, benchmark_id, secret.committed_at, None if closed is None else closed.at),
    }
    linked = owners(session, benchmark_id)
    owning = {linked.get(token, token) for token in holders}
    return frozenset({*holders, *owning, *(token for token, owner in linked.items() if owner in owning)})


def _stewards(session: Session, benchmark_id: int, since: datetime, until: datetime | None) -> Iterator[int]:
    """Yield who was steward at any time between two; None is no end."""
    query = select(RoleGrant).where(RoleGrant.benchmark_id == benchmark_id, RoleGrant.role == "steward")
    history: dict[int, list[RoleGrant]] = defaultdict(list)
    for each in session.scalars(query.order_by(RoleGrant.id)):
        history[each.token_id].append(each)
    for token, grants in history.items():
        for held, following in pairwise([*grants, None]):
            if held is None or not held.granted or (until is not None and held.at >= until):
                continue
            ends = [end for end in (held.until, None if following is None else following.at) if end is not None]
            if not ends or min(ends) > since:
                yield token
