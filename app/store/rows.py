"""The rows of entrants as score tables: the one reader of evidence, whatever its kind. Called by `app.jobs`.

Blocks come in one statement, the names of tasks in another.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Submission, Task
from app.kinds.known import kind_of
from app.manifest.manifest import Manifest
from app.store.assembly import by_entrant, by_upload
from app.store.evidence import Pair, read_evidence, unowned_pairs
from app.values.scores import ScoreTable

K = TypeVar("K")


TasksOf = Mapping[Pair, Sequence[int] | None]
"""The tasks for which each (submission, entrant) counts, None for all of them."""


def read_rows(
    session: Session, manifest: Manifest, pairs: Sequence[Pair], tasks_of: TasksOf | None = None
) -> ScoreTable:
    """Return the rows of some (submission, entrant), with what boards need of them beside the metrics.

    `tasks_of` are the tasks of a snapshot; without it those that count now.
    """
    rows = kind_of(manifest).rows
    if rows.form == "records":
        return read_records(session, pairs, tasks_of)
    asked = {None: (pairs, list(manifest.metrics))}
    return read_each(session, asked, beside=rows.beside, tasks_of=tasks_of)[None]


def read_scores(
    session: Session, pairs: Sequence[Pair], columns: Sequence[str], *, beside: Sequence[str] = ()
) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs as one table with the wanted value columns.

    Columns `beside` are there where any submission has them. A submission made under an older manifest may lack a
    column; its values are null there. Tasks that newer evidence of the entrant has taken over are left out. Rows come
    in the order of entrant, task and position, whatever the order in which they were stored.
    """
    return read_each(session, {None: (pairs, columns)}, beside=beside)[None]


def read_each(
    session: Session,
    asked: Mapping[K, tuple[Sequence[Pair], Sequence[str]]],
    *,
    beside: Sequence[str] = (),
    tasks_of: TasksOf | None = None,
) -> dict[K, ScoreTable]:
    """Return what `read_scores` returns of each of several pairs and columns, by one reading of them all."""
    pairs = sorted({pair for wanted, _ in asked.values() for pair in wanted})
    names = {number: name for number, (name, _) in _tasks(session, pairs).items()}
    stood = {(s.submission, s.entrant_id): s for s in read_evidence(session, pairs, tasks_of)}
    brought = {name for s in stood.values() for name in s.block.columns}
    present = [name for name in beside if name in brought]
    return {
        key: by_entrant([stood[pair] for pair in sorted(set(wanted)) if pair in stood], names, [*columns, *present])
        for key, (wanted, columns) in asked.items()
    }


def read_records(session: Session, pairs: Sequence[Pair], tasks_of: TasksOf | None = None) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs with their strata, and what a run measured between its estimators.

    Rows come by submission and in the order of the upload: lrdbench's own stream depends on it. What one run
    measured between its own estimators says nothing about a board of several runs, and is left out there.
    """
    submissions = {submission for submission, _ in pairs}
    between = unowned_pairs(session, submissions.pop()) if len(submissions) == 1 else []
    tasks = _tasks(session, pairs)
    names = {number: name for number, (name, _) in tasks.items()}
    strata = {number: stratum for number, (_, stratum) in tasks.items()}
    counted = None if tasks_of is None else {**dict.fromkeys(between), **tasks_of}
    return by_upload(read_evidence(session, [*pairs, *between], counted), names, strata)


def _tasks(session: Session, pairs: Sequence[Pair]) -> Mapping[int, tuple[str, Any]]:
    """Return name and stratum of every task of the benchmark that the pairs are of."""
    if not pairs:
        return {}
    benchmark = select(Submission.benchmark_id).where(Submission.id == pairs[0][0]).scalar_subquery()
    query = select(Task.id, Task.name, Task.stratum).where(Task.benchmark_id == benchmark)
    return {number: (name, stratum) for number, name, stratum in session.execute(query)}


def strata_of(session: Session, benchmark_id: int) -> dict[str, Mapping[str, Any]]:
    """Return, by name, what the tasks of a benchmark mean whose names encode a stratum."""
    query = select(Task.name, Task.stratum).where(Task.benchmark_id == benchmark_id, Task.stratum.is_not(None))
    return dict(session.execute(query).all())
