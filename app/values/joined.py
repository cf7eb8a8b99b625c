"""Rows of a board, with an upload's rows replacing those of the same entrants.

Called by `app.receiving.impact`; pure.
"""

from collections.abc import Collection

import numpy as np

from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import NONE, Coded, ScoreTable


def with_rows(
    stored: ScoreTable, sent: ScoreTable, *, by_task: bool = False, beside: Collection[str] = ()
) -> ScoreTable:
    """Return the stored rows with all of the sent entrants' replaced by the sent ones, or those of the sent tasks.

    Columns are those of the stored rows, and of the sent ones those in `beside`; one that rows lack is null in them.
    """
    kept = stored.take(~_replaced(stored, sent, by_task=by_task))
    columns = (*stored.columns, *(name for name in sent.columns if name in beside and name not in stored.columns))
    recorded = dict.fromkeys((*kept.recorded, *sent.recorded))
    return ScoreTable(
        entrant=_used(_joined(kept.entrant, sent.entrant)),
        task=_joined(kept.task, sent.task),
        columns=columns,
        values=np.vstack([np.column_stack([_value(rows, column) for column in columns]) for rows in (kept, sent)]),
        leaked=np.concatenate([kept.leaked, sent.leaked]),
        file=np.concatenate([kept.file, sent.file]),
        row=np.concatenate([kept.row, sent.row]),
        condition=_either(kept, sent, kept.condition, sent.condition),
        seed=None if kept.seed is None or sent.seed is None else np.concatenate([kept.seed, sent.seed]),
        item=_either(kept, sent, kept.item, sent.item),
        reason=_either(kept, sent, kept.reason, sent.reason),
        recorded={
            name: coded
            for name in recorded
            if (coded := _either(kept, sent, kept.recorded.get(name), sent.recorded.get(name))) is not None
        },
    )


def _replaced(stored: ScoreTable, sent: ScoreTable, *, by_task: bool) -> BoolArray:
    tasks: dict[str | None, set[str | None]] = {}
    for entrant, task in set(zip(sent.entrant.to_list(), sent.task.to_list(), strict=True)):
        tasks.setdefault(entrant, set()).add(task)
    table = np.array(
        [[word in tasks and (not by_task or task in tasks[word]) for task in stored.task.words]
         for word in stored.entrant.words], dtype=np.bool_,
    ).reshape(len(stored.entrant.words), len(stored.task.words))  # fmt: skip
    replaced: BoolArray = table[stored.entrant.codes, stored.task.codes]
    return replaced


def _value(rows: ScoreTable, column: str) -> FloatArray:
    return rows.value(column) if column in rows.columns else np.full(len(rows), np.nan)


def _joined(one: Coded, other: Coded) -> Coded:
    words = tuple(dict.fromkeys([*one.words, *other.words]))
    place = {word: at for at, word in enumerate(words)}
    moved = np.array([*(place[word] for word in other.words), NONE], dtype=np.int64)
    return Coded(words, np.concatenate([one.codes, moved[other.codes]]))


def _used(coded: Coded) -> Coded:
    """Return a column without unused words."""
    used = np.unique(coded.codes)
    place = np.full(len(coded.words), NONE, dtype=np.int64)
    place[used] = np.arange(len(used))
    return Coded(tuple(coded.words[at] for at in used.tolist()), place[coded.codes])


def _either(one: ScoreTable, other: ScoreTable, own: Coded | None, sent: Coded | None) -> Coded | None:
    if own is None and sent is None:
        return None
    nothing = (Coded((), np.full(len(table), NONE, dtype=np.int64)) for table in (one, other))
    first, second = (given or empty for given, empty in zip((own, sent), nothing, strict=True))
    return _joined(first, second)
