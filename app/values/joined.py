"""Rows of a board, with an upload's rows replacing those of the same entrants.

Called by `app.receiving.impact`; pure.
"""

import numpy as np

from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import NONE, Coded, ScoreTable


def with_rows(stored: ScoreTable, sent: ScoreTable, *, by_task: bool = False) -> ScoreTable:
    """Return the stored rows with all of the sent entrants' replaced by the sent ones, or those of the sent tasks.

    Columns are those of the stored rows; one that the sent rows lack is null in them.
    """
    kept = stored.take(~_replaced(stored, sent, by_task=by_task))
    values = np.column_stack([_value(sent, column) for column in stored.columns])
    return ScoreTable(
        entrant=_used(_joined(kept.entrant, sent.entrant)),
        task=_joined(kept.task, sent.task),
        columns=stored.columns,
        values=np.vstack([kept.values, values]),
        leaked=np.concatenate([kept.leaked, sent.leaked]),
        file=np.concatenate([kept.file, sent.file]),
        row=np.concatenate([kept.row, sent.row]),
        condition=_either(kept, sent, kept.condition, sent.condition),
        seed=None if kept.seed is None or sent.seed is None else np.concatenate([kept.seed, sent.seed]),
        item=_either(kept, sent, kept.item, sent.item),
        reason=_either(kept, sent, kept.reason, sent.reason),
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


def _value(sent: ScoreTable, column: str) -> FloatArray:
    return sent.value(column) if column in sent.columns else np.full(len(sent), np.nan)


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
