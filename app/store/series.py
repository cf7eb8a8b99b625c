"""The rows of series benchmarks: every stratum stored once with its task, and rows read back in the order of upload.
What lrdbench measures between estimators has rows and no entry: it belongs to its submission and to nobody's name.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Select, false, func, select, update
from sqlalchemy.orm import Session

from app.admission.case import CurrentRecord
from app.boards.methods.weighted_rank.records import CLASS_LABEL, CLEAN_SERIES
from app.db.engine import SessionFactory, read_for_export
from app.db.models import Entrant, Entry, Score, StoredTask, Submission
from app.kinds.contract import CsvRow, RawFile
from app.store import snapshots
from app.store.entrants import is_named
from app.store.row_exports import read_in_parts
from app.store.rows import STRATUM
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

ROLE, DIAGNOSTIC = "role", "diagnostic"

PART_ROWS = 500


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
    # In the order of their names, as every upload locks them.
    for at in sorted(first.tolist(), key=lambda at: scores.task.at(at) or ""):
        name, text = scores.task.at(at), stratum.at(at)
        if name is not None and text is not None:
            session.execute(
                update(StoredTask)
                .where(StoredTask.id == tasks[name], StoredTask.stratum.is_(None))
                .values(stratum=json.loads(text))
            )
    return replace(scores, recorded={name: column for name, column in scores.recorded.items() if name != STRATUM})


def others_records(session: Session, benchmark_id: int, besides: Collection[str]) -> list[CurrentRecord]:
    """Return the records of every entrant but those named, which are on the boards or wait to be.

    Submissions to one benchmark take turns from here to the end of their transactions: of two that hold a record in
    different strata the second sees the first.
    """
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext("plumbline.standing_records"), benchmark_id)))
    label = Score.values[func.array_position(Submission.columns, CLASS_LABEL)]
    clean = Score.recorded[CLEAN_SERIES].astext
    query = (
        select(Score.item, StoredTask.name, func.min(Score.submission_id), func.min(label), func.min(clean))
        .join(Submission, Submission.id == Score.submission_id)
        .join(Entry, (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id))
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .join(StoredTask, StoredTask.id == Score.task_id)
        .where(
            Entrant.benchmark_id == benchmark_id,
            ~is_named(besides),
            Entry.state.in_(("pending", "current")),
            Score.item.is_not(None),
        )
        .group_by(Score.item, StoredTask.name)
        .order_by(Score.item, StoredTask.name)
    )
    return [CurrentRecord(record or "", *rest) for record, *rest in session.execute(query)]


def read_parts(sessions: SessionFactory, pairs: Sequence[tuple[int, int]]) -> Iterator[ScoreTable]:
    """Yield the rows of `app.store.rows.read_records` in parts of PART_ROWS."""
    submissions = sorted({submission for submission, _ in pairs})
    for number in submissions:
        stored = read_for_export(sessions, partial(_columns, submission_id=number))
        entrants = [entrant for submission, entrant in pairs if submission == number]
        query = _rows(number, entrants, with_diagnostics=len(submissions) == 1)
        for rows in read_in_parts(sessions, partial(_read_part, query), PART_ROWS):
            if rows:
                yield _to_table([(*row, stored) for row in rows], tuple(stored))


def _read_part(query: Select[Any], session: Session, after: int, n_rows: int) -> Sequence[tuple[Any, ...]]:
    return [tuple(row) for row in session.execute(query.where(Score.position > after).limit(n_rows))]


def _columns(session: Session, submission_id: int) -> list[str]:
    return list(session.scalars(select(Submission.columns).where(Submission.id == submission_id)).one())


def _rows(submission_id: int, entrants: Sequence[int], *, with_diagnostics: bool) -> Select[Any]:
    """Select the rows of some entrants of a submission, and where wanted what it measured between them."""
    owned = select(Entry.entrant_id).where(Entry.submission_id == submission_id)
    return (
        select(
            Score.position, Entrant.name, StoredTask.name, StoredTask.stratum, Score.item, Score.file, Score.row,
            Score.reason, Score.recorded, Score.values,
        )
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(StoredTask, StoredTask.id == Score.task_id)
        .where(
            Score.submission_id == submission_id,
            Score.entrant_id.in_(entrants) | (Score.entrant_id.not_in(owned) if with_diagnostics else false()),
        )
        .order_by(Score.position)
    )  # fmt: skip


def _to_table(rows: Sequence[tuple[Any, ...]], columns: tuple[str, ...]) -> ScoreTable:
    names = list(dict.fromkeys(name for row in rows for name in row[8] or {}))
    recorded = {name: Coded.of([(row[8] or {}).get(name) for row in rows]) for name in names}
    strata = [None if row[3] is None else json.dumps(row[3], sort_keys=True) for row in rows]
    place = {name: at for at, name in enumerate(columns)}
    values = np.full((len(rows), len(columns)), np.nan)
    for at, row in enumerate(rows):
        values[at, [place[name] for name in row[10]]] = [np.nan if value is None else value for value in row[9]]
    return ScoreTable(
        entrant=Coded.of([row[1] for row in rows]),
        task=Coded.of([row[2] for row in rows]),
        columns=columns,
        values=values,
        leaked=np.zeros(len(rows), dtype=np.bool_),
        file=np.array([row[5] for row in rows], dtype=np.int64),
        row=np.array([row[6] for row in rows], dtype=np.int64),
        item=Coded.of([row[4] for row in rows]),
        reason=Coded.of([row[7] for row in rows]),
        recorded={**recorded, STRATUM: Coded.of(strata)},
    )


def raw_rows(sessions: SessionFactory, snapshot_id: int, file: RawFile) -> Iterator[Iterable[CsvRow]]:
    """Yield a file of what was sent, in parts, the header first; no session is open while a part is being read."""
    yield [file.header]
    refs = read_for_export(sessions, lambda session: snapshots.load_refs(session, snapshot_id))
    for part in read_parts(sessions, [stood.ref.pair for stood in refs]):
        yield file.of_sent(part)
    for name in file.tables:
        table = read_for_export(sessions, partial(_load, snapshot_id=snapshot_id, name=name))
        yield [] if table is None else file.of_table(table)


def _load(session: Session, snapshot_id: int, name: str) -> Table | None:
    return snapshots.load_table(session, snapshot_id, name)
