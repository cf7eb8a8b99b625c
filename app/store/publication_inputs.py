"""What a publication is computed from, read at one instant in a fixed number of statements. Called by `app.jobs`."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session, aliased

from app.boards.provenance import Provenance
from app.db.models import Benchmark, Entrant, Entry, LabelSecret, Submission, SubmissionEvent
from app.errors import NotFound
from app.manifest.asked import PUBLIC_PART
from app.store import benchmarks
from app.store.benchmarks import Declared
from app.store.disclosure import deciding_part
from app.store.ladders import newest_shown
from app.store.measured import Piece
from app.store.sql_arrays import one_of

KNOWN = tuple(each.name for each in fields(Provenance))


@dataclass(frozen=True)
class CurrentEvidence:
    """An entrant and a submission that is its evidence in a snapshot, for all of its tasks or for these.

    Where new results on private labels may not be shown, an older submission is `shown`, or the entrant is `silent`.
    """

    entrant_id: int
    entrant: str
    submission_id: int
    submission_digest: str
    task_ids: tuple[int, ...] | None
    shown: int | None = None
    silent: bool = False

    @property
    def piece(self) -> Piece:
        """The evidence that is shown."""
        return Piece((self.shown or self.submission_id, self.entrant_id), self.task_ids)

    def described(self) -> list[Any]:
        """Return everything that determines the entrant's numbers."""
        tasks = [] if self.task_ids is None else [list(self.task_ids)]
        disclosed = ["silent" if self.silent else self.shown] if self.silent or self.shown else []
        return [self.entrant, self.submission_id, self.submission_digest, *tasks, *disclosed]


@dataclass(frozen=True)
class Withdrawal:
    """A tombstone: what was withdrawn, when and why."""

    submission_id: int
    entrants: tuple[str, ...]
    at: datetime
    reason: str


@dataclass(frozen=True)
class Inputs:
    """The inputs of a snapshot, read at one instant; `known` is the provenance shown beside ranks."""

    data_version: int
    declared: Declared
    standings: tuple[CurrentEvidence, ...]
    withdrawals: tuple[Withdrawal, ...]
    superseded: tuple[int, ...]
    left_out: frozenset[int] = frozenset()
    known: Mapping[str, Provenance] = field(default_factory=dict)
    commitment: str | None = None

    def by_entrant(self) -> dict[str, list[CurrentEvidence]]:
        """Return the current evidence of each entrant, the oldest first."""
        stood: dict[str, list[CurrentEvidence]] = {}
        for standing in self.standings:
            stood.setdefault(standing.entrant, []).append(standing)
        return stood

    def without(self, numbers: frozenset[int]) -> Self:
        """Return the same without some submissions: what would be published if they were not there."""
        kept = tuple(s for s in self.standings if s.submission_id not in numbers)
        return replace(self, standings=kept, left_out=numbers)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the admitted, superseded and withdrawn submissions, what is known, items and labels."""
        items, labels = self.declared.manifest.asked.facts.digest, self.declared.manifest.asked.facts.part
        described = {
            "admitted": [standing.described() for standing in self.standings],
            "superseded": list(self.superseded),
            "withdrawn": [w.submission_id for w in self.withdrawals],
            "known": {name: [getattr(self.known[name], part) for part in KNOWN] for name in sorted(self.known)},
            **({} if items is None else {"items": items}),
            **({} if self.commitment is None else {"labels": self.commitment, "part": labels}),
        }
        return hashlib.sha256(json.dumps(described, separators=(",", ":")).encode()).hexdigest()


def read_inputs(session: Session, benchmark_id: int) -> Inputs:
    """Read what the boards are computed from; the caller's transaction makes it one instant."""
    benchmark = session.get(Benchmark, benchmark_id, populate_existing=True)
    if benchmark is None:
        raise NotFound(f"There is no benchmark with number {benchmark_id}.")
    declared = benchmarks.load_declared(session, benchmark)
    secret = session.get(LabelSecret, benchmark_id)
    return Inputs(
        data_version=benchmark.data_version,
        declared=declared,
        standings=_with_disclosure(session, declared, _standings(session, benchmark_id)),
        commitment=None if secret is None else secret.commitment,
        withdrawals=_withdrawals(session, benchmark_id),
        superseded=_superseded(session, benchmark_id),
    )


def _with_disclosure(
    session: Session, declared: Declared, standings: tuple[CurrentEvidence, ...]
) -> tuple[CurrentEvidence, ...]:
    """Return the current evidence with what may be shown of each entrant, while part of the labels is held back."""
    if deciding_part(session, declared) != PUBLIC_PART:
        return standings
    newest = newest_shown(session, declared.benchmark.id)
    return tuple(
        each if (shown := newest.get(each.entrant_id)) == each.submission_id
        else replace(each, shown=shown, silent=shown is None)
        for each in standings
    )  # fmt: skip


def _superseded(session: Session, benchmark_id: int) -> tuple[int, ...]:
    """Return the submissions of which an entrant has newer evidence: their claims stay listed."""
    query = select(Entry.submission_id).join(Submission, Submission.id == Entry.submission_id)
    query = query.where(Submission.benchmark_id == benchmark_id, Entry.state == "superseded")
    return tuple(session.scalars(query.distinct().order_by(Entry.submission_id)).all())


def _standings(session: Session, benchmark_id: int) -> tuple[CurrentEvidence, ...]:
    """Return the current evidence of each entrant, by name, the oldest first."""
    query = (
        select(Entrant.id, Entrant.name, Entry.submission_id, Submission.digest, Entry.task_ids)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == Entry.submission_id)
        .where(Entrant.benchmark_id == benchmark_id, Entry.state == "current")
        .order_by(Entrant.name, Entry.submission_id)
    )
    return tuple(
        CurrentEvidence(number, name, submission, digest, None if tasks is None else tuple(tasks))
        for number, name, submission, digest, tasks in session.execute(query)
    )


def _withdrawals(session: Session, benchmark_id: int) -> tuple[Withdrawal, ...]:
    stood = aliased(SubmissionEvent)
    evaluated = select(stood.id).where(stood.submission_id == Submission.id, stood.status == "evaluated")
    names = (
        select(func.array_agg(aggregate_order_by(Entrant.name, Entrant.name)))
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(Entry.submission_id == Submission.id)
    )
    query = (
        select(Submission.id, names.scalar_subquery(), SubmissionEvent.at, SubmissionEvent.reason)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionEvent.status == "withdrawn", evaluated.exists())
        .order_by(Submission.id)
    )
    return tuple(
        Withdrawal(number, tuple(brought or ()), at, reason) for number, brought, at, reason in session.execute(query)
    )


def described_facts(session: Session, inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Return what the current submissions say of their entrants; nothing of those that say nothing."""
    stood_on = {s.entrant: s.submission_id for s in inputs.standings}
    described = Submission.facts["described"]
    query = select(Submission.id, described).where(one_of(Submission.id, stood_on.values()), described != {})
    by_submission = {number: about for number, about in session.execute(query) if about}
    return {
        name: by_submission[number][name] for name, number in stood_on.items() if name in by_submission.get(number, {})
    }
