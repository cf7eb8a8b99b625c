"""Score tables row by row out of the table `score`, by the definition: what blocks of rows are compared with."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import any_, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Entry, Score, StoredTask, Submission
from app.values.scores import NONE, Coded, ScoreTable

Pair = tuple[int, int]


def scores_by_rows(session: Session, pairs: Sequence[Pair], columns: Sequence[str]) -> ScoreTable:
    """Return what `read_scores` is to return: rows by entrant, task, submission and position."""
    rows = [row for pair in sorted(set(pairs)) for row in _rows(session, *pair)]
    rows.sort(key=lambda row: (row.entrant, row.task, row.submission_id, row.position))
    seeds = [row.seed for row in rows]
    texts = {name: _coded(sorted, [getattr(row, name) for row in rows]) for name in ("condition", "item", "reason")}
    return ScoreTable(
        entrant=_coded(sorted, [row.entrant for row in rows]),
        task=_coded(sorted, [row.task for row in rows]),
        columns=tuple(columns),
        values=_values(rows, columns),
        leaked=np.array([row.leaked for row in rows], dtype=np.bool_),
        file=np.array([row.file for row in rows], dtype=np.int64),
        row=np.array([row.row for row in rows], dtype=np.int64),
        seed=None if all(seed is None for seed in seeds) else np.array(seeds, dtype=np.int64),
        **{name: coded if coded.words else None for name, coded in texts.items()},
    )


def records_by_rows(session: Session, pairs: Sequence[Pair]) -> ScoreTable:
    """Return what `read_records` is to return: rows by submission and position, with what was recorded."""
    rows = [row for pair in sorted(set(pairs)) for row in _rows(session, *pair)]
    rows.sort(key=lambda row: (row.submission_id, row.position))
    columns = tuple(dict.fromkeys(name for row in rows for name in row.columns))
    names = dict.fromkeys(name for row in rows for name in row.recorded or {})
    strata = [None if row.stratum is None else json.dumps(row.stratum, sort_keys=True) for row in rows]
    return ScoreTable(
        entrant=_coded(dict.fromkeys, [row.entrant for row in rows]),
        task=_coded(dict.fromkeys, [row.task for row in rows]),
        columns=columns,
        values=_values(rows, columns),
        leaked=np.zeros(len(rows), dtype=np.bool_),
        file=np.array([row.file for row in rows], dtype=np.int64),
        row=np.array([row.row for row in rows], dtype=np.int64),
        item=_coded(dict.fromkeys, [row.item for row in rows]),
        reason=_coded(dict.fromkeys, [row.reason for row in rows]),
        recorded={
            **{n: _coded(dict.fromkeys, [(row.recorded or {}).get(n) for row in rows]) for n in names},
            "stratum_json": _coded(dict.fromkeys, strata),
        },
    )


def flat(scores: ScoreTable) -> dict[str, Any]:
    """Return everything that a score table says, to be compared."""
    coded = {"entrant": scores.entrant, "task": scores.task, "condition": scores.condition, "item": scores.item}
    coded |= {"reason": scores.reason, **{f"recorded {name}": column for name, column in scores.recorded.items()}}
    return {
        "columns": scores.columns,
        "values": [[repr(value) for value in row] for row in scores.values.tolist()],
        "numbers": [array.tolist() for array in (scores.leaked, scores.file, scores.row)],
        "seed": None if scores.seed is None else scores.seed.tolist(),
        "texts": {name: None if c is None else (c.words, c.codes.tolist()) for name, c in coded.items()},
    }


def _rows(session: Session, submission: int, entrant: int) -> list[Any]:
    taken_over = Entry.task_ids.is_not(None) & (Score.task_id != any_(Entry.task_ids))
    query = (
        select(
            Entrant.name.label("entrant"), StoredTask.name.label("task"), StoredTask.stratum, Submission.columns,
            *Score.__table__.columns,
        )
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(StoredTask, StoredTask.id == Score.task_id)
        .join(Submission, Submission.id == Score.submission_id)
        .outerjoin(Entry, (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id))
        .where(Score.submission_id == submission, Score.entrant_id == entrant, taken_over.is_not(True))
    )  # fmt: skip
    return list(session.execute(query).all())


def _values(rows: Sequence[Any], columns: Sequence[str]) -> Any:
    result = [dict(zip(row.columns, row.values, strict=True)) for row in rows]
    return np.array([[of.get(name) for name in columns] for of in result], dtype=np.float64).reshape(-1, len(columns))


def _coded(order: Any, texts: Sequence[str | None]) -> Coded:
    named = [text for text in texts if text is not None]
    words = tuple(order(set(named) if order is sorted else named))
    return Coded(words, np.array([NONE if text is None else words.index(text) for text in texts], dtype=np.int64))
