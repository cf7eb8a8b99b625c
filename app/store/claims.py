"""Claims decided within single submissions, for every submission ever admitted. Reads tables that `app.jobs.evaluate`
stored, never rows of evidence.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Entry, Submission, SubmissionEvent, SubmissionTable
from app.store.sql import one_of
from app.values.table import Cell, Table

STATUSES = ("current", "superseded", "withdrawn")
CURRENT, GONE = STATUSES[0], STATUSES[-1]


@dataclass(frozen=True)
class Decided:
    """An admitted submission: the claims that it decided alone, and the status of each of its entrants."""

    submission_id: int
    prereg_sha256: str | None
    claims: Sequence[Mapping[str, Cell]]
    states: Mapping[str, str]

    @property
    def status(self) -> str:
        """The status of the submission: it is current while it is the evidence of any of its entrants."""
        return best(self.states.values())

    def status_of(self, claim: Mapping[str, Cell]) -> str:
        """Return the status of one of its claims: the worst of the entrants that the claim is about."""
        named = [str(claim[column]) for column in ("entrant", "first", "second")]
        return worst([self.states[name] for name in named if name in self.states] or [self.status])


def best(states: Iterable[str]) -> str:
    """Return the first of the states on the way from current to withdrawn."""
    return min(states, key=STATUSES.index)


def worst(states: Iterable[str]) -> str:
    """Return the last of the states on the way from current to withdrawn."""
    return max(states, key=STATUSES.index)


def list_decided(session: Session, benchmark_id: int, left_out: Set[int] = frozenset()) -> list[Decided]:
    """Return every submission that was admitted to a benchmark, also former ones, the oldest first.

    Those that were set aside, or are to be left out, are not among them.
    """
    admitted = select(SubmissionEvent.submission_id).where(SubmissionEvent.status == "evaluated")
    query = (
        select(Submission.id, Submission.prereg_sha256, SubmissionTable.content)
        .outerjoin(
            SubmissionTable, (SubmissionTable.submission_id == Submission.id) & (SubmissionTable.name == "claims")
        )
        .where(Submission.benchmark_id == benchmark_id, Submission.id.in_(admitted), ~one_of(Submission.id, left_out))
        .order_by(Submission.id)
    )
    states = _states(session, benchmark_id)
    return [
        Decided(number, prereg_sha256, _records(content), states[number])
        for number, prereg_sha256, content in session.execute(query)
        if number in states
    ]


def _records(content: Mapping[str, Any] | None) -> list[dict[str, Cell]]:
    return [] if content is None else list(Table.from_json(content).records())


def _states(session: Session, benchmark_id: int) -> dict[int, dict[str, str]]:
    query = (
        select(Entry.submission_id, Entrant.name, Entry.state)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, Entry.state.in_(STATUSES))
    )
    states: dict[int, dict[str, str]] = {}
    for number, name, state in session.execute(query):
        states.setdefault(number, {})[name] = state
    return states
