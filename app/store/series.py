"""The rows of series benchmarks: every stratum stored once with its task, and rows read back in the order of upload.

Called by `app.store.submissions`, `app.jobs.publish` and `app.web.submissions`. What lrdbench measures between
estimators has rows and no entry: it belongs to its submission and to nobody's name.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import false, func, select, update
from sqlalchemy.orm import Session

from app.admission_records import StandingRecord
from app.db.models import Entrant, Entry, Score, Submission, Task
from app.scores import NONE, Coded, ScoreTable

STRATUM, ROLE, DIAGNOSTIC = "stratum_json", "role", "diagnostic"


def diagnostic_names(scores: ScoreTable) -> frozenset[str]:
    """Return the made-up names of what is measured between estimators."""
    role = scores.recorded.get(ROLE)
    if role is None or DIAGNOSTIC not in role.words:
        return frozenset()
    codes = np.unique(scores.entrant.codes[role.codes == role.words.index(DIAGNOSTIC)])
    return frozenset(scores.entrant.words[code] for code in codes.tolist())


def keep_strata(session: Session, scores: ScoreTable, tasks: dict[str, int]) -> ScoreTable:
    """Store the stratum of each task where it is not known yet, and return the rows without it."""
    stratum = scores.recorded.get(STRATUM)
    if stratum is None:
        return scores
    _, first = np.unique(scores.task.codes, return_index=True)
    for at in first.tolist():
        name, text = scores.task.at(at), stratum.at(at)
        if name is not None and text is not None:
            session.execute(
                update(Task).where(Task.id == tasks[name], Task.stratum.is_(None)).values(stratum=json.loads(text))
            )
    return replace(scores, recorded={name: column for name, column in scores.recorded.items() if name != STRATUM})


def standing_records(session: Session, benchmark_id: int, besides: Collection[str]) -> list[StandingRecord]:
    """Return the records of every entrant but those named, which stand on the boards or wait to.

    Submissions to one benchmark take turns from here to the end of their transactions: of two that hold a record in
    different strata the second sees the first.
    """
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext("plumbline.standing_records"), benchmark_id)))
    query = (
        select(Score.item, Task.name, func.min(Score.submission_id))
        .join(Entry, (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id))
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .join(Task, Task.id == Score.task_id)
        .where(
            Entrant.benchmark_id == benchmark_id,
            Entrant.name.not_in(besides),
            Entry.state.in_(("pending", "current")),
            Score.item.is_not(None),
        )
        .group_by(Score.item, Task.name)
        .order_by(Score.item, Task.name)
    )
    return [StandingRecord(record or "", stratum, first) for record, stratum, first in session.execute(query)]


def read_series(session: Session, pairs: Sequence[tuple[int, int]]) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs, and what a run measured between its estimators.

    Rows come by submission and in the order of the upload: lrdbench's own stream depends on it. What one run
    measured between its own estimators says nothing about a board of several runs, and is left out there.
    """
    submissions = sorted({submission for submission, _ in pairs})
    is_one_run = len(submissions) == 1
    rows: list[tuple[Any, ...]] = []
    columns: dict[str, None] = {}
    for submission_id in submissions:
        stored = list(session.scalars(select(Submission.columns).where(Submission.id == submission_id)).one())
        columns.update(dict.fromkeys(stored))
        rows += [(*row, stored) for row in _rows(session, submission_id, pairs, with_diagnostics=is_one_run)]
    return _to_table(rows, tuple(columns))


def _rows(
    session: Session, submission_id: int, pairs: Sequence[tuple[int, int]], *, with_diagnostics: bool
) -> Sequence[Any]:
    current = [entrant for submission, entrant in pairs if submission == submission_id]
    owned = select(Entry.entrant_id).where(Entry.submission_id == submission_id)
    query = (
        select(
            Entrant.name, Task.name, Task.stratum, Score.item, Score.file, Score.row, Score.reason, Score.recorded,
            Score.values,
        )
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(Task, Task.id == Score.task_id)
        .where(
            Score.submission_id == submission_id,
            Score.entrant_id.in_(current) | (Score.entrant_id.not_in(owned) if with_diagnostics else false()),
        )
        .order_by(Score.position)
    )  # fmt: skip
    return session.execute(query).all()


def _to_table(rows: Sequence[tuple[Any, ...]], columns: tuple[str, ...]) -> ScoreTable:
    names = list(dict.fromkeys(name for row in rows for name in row[7] or {}))
    recorded = {name: _code([(row[7] or {}).get(name) for row in rows]) for name in names}
    strata = [None if row[2] is None else json.dumps(row[2], sort_keys=True) for row in rows]
    place = {name: at for at, name in enumerate(columns)}
    values = np.full((len(rows), len(columns)), np.nan)
    for at, row in enumerate(rows):
        values[at, [place[name] for name in row[9]]] = [np.nan if value is None else value for value in row[8]]
    return ScoreTable(
        entrant=_code([row[0] for row in rows]),
        task=_code([row[1] for row in rows]),
        columns=columns,
        values=values,
        leaked=np.zeros(len(rows), dtype=np.bool_),
        file=np.array([row[4] for row in rows], dtype=np.int64),
        row=np.array([row[5] for row in rows], dtype=np.int64),
        item=_code([row[3] for row in rows]),
        reason=_code([row[6] for row in rows]),
        recorded={**recorded, STRATUM: _code(strata)},
    )


def _code(words: Sequence[str | None]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [NONE if word is None else numbers.setdefault(word, len(numbers)) for word in words]
    return Coded(tuple(numbers), np.array(codes, dtype=np.int64))
