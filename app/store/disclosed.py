"""What has been disclosed of private labels to each owner, for stewards. Called by `app.web.disclosure`."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.orm import Session

from app.db.models import LabelAnswer, LabelAttempt, Token
from app.kinds.predictions.grain import ROUGH
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.manifest import Manifest, part_of
from app.store.benchmarks import Declared
from app.store.disclosure import scoring_of
from app.store.labels import load_labels
from app.store.owners import owners
from app.store.quotas import look_up_quota
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


@dataclass(frozen=True)
class _Answers:
    """The answers given to one token."""

    token_id: int
    exempt: bool
    n_attempts: int
    last_at: datetime
    n_answers: int
    n_shown: int
    n_numbers: int


def disclosed_table(session: Session, declared: Declared) -> Table:
    """Return a row for each owner with anything scored against private labels, largest disclosure first."""
    of_owner: dict[int, list[_Answers]] = {}
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
    part = part_of(declared.manifest, PredictionsPart).predictions
    if part.classes is None:
        return None
    labels = load_labels(session, declared.benchmark.id).values()
    n_public = sum(len(each) if each.public is None else int(each.public.sum()) for each in labels)
    return n_public * math.log2(len(part.classes))


def _digits_of_pairs(manifest: Manifest, n_shown: int) -> int:
    """Return the most digits that pairwise tables disclose about one shown entrant and all others."""
    n_tasks = len(manifest.task_ids() or ()) or MANY_TASKS
    numbers = sum(PER_BOARD + PER_METRIC * len(b.metric_names()) + PER_TASK * n_tasks for b in manifest.leaderboards)
    return 2 * n_shown * numbers * ROUGH


def _notes(most: float | None) -> tuple[str, ...]:
    counted = "An answer is one scored entrant. Held back it discloses one bit, shown its numbers."
    bound = "" if most is None else f" Nobody can learn more than the public labels are, {most:,.0f} bits."
    return (f"{counted}{bound} Of the private part nothing is disclosed before the close.",)


def _answers_of(session: Session, benchmark_id: int) -> Iterable[_Answers]:
    shown = func.coalesce(func.sum(cast(LabelAnswer.shown, Integer)), 0)
    query = (
        select(
            LabelAttempt.token_id,
            func.bool_and(LabelAttempt.exempt),
            func.count(LabelAttempt.submission_id.distinct()),
            func.max(LabelAttempt.at),
            func.count(LabelAnswer.entrant_id),
            shown,
            func.coalesce(func.sum(LabelAnswer.n_numbers), 0),
        )
        .outerjoin(LabelAnswer, LabelAnswer.submission_id == LabelAttempt.submission_id)
        .where(LabelAttempt.benchmark_id == benchmark_id)
        .group_by(LabelAttempt.token_id)
        .order_by(LabelAttempt.token_id)
    )
    return [_Answers(*row) for row in session.execute(query)]


def _row(
    session: Session, declared: Declared, owner: int, answers: Sequence[_Answers], most: float | None, of_pairs: int
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
