"""Assembles score tables from blocks of rows, with numpy alone: the input of boards, claims and a kind's own tables.

Called by `app.store.rows`; pure.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.store.evidence import Stood
from app.store.row_blocks import RowBlock
from app.values.scores import NONE, Coded, ScoreTable

STRATUM = "stratum_json"


def by_entrant(stood: Iterable[Stood], tasks: Mapping[int, str], columns: Sequence[str]) -> ScoreTable:
    """Return rows in the order of entrant, task, submission and position, with the wanted value columns.

    Values of a submission that lacks a column are null there. Words are in alphabetical order.
    """
    ordered = sorted((s for s in stood if len(s.block)), key=lambda s: (s.entrant, s.submission))
    blocks = [s.block for s in ordered]
    names = [s.entrant for s in ordered]
    task_words, task_codes = _codes_of_blocks(blocks, tasks)
    kind = _smallest(max(len(set(names)), len(task_words)))
    entrants, task = _repeated(names, blocks, kind), Coded(task_words, _joined(task_codes, kind, None))
    order = None
    if len(set(names)) < len(names) or not _ascend(task_codes):
        order = _order(entrants.codes.astype(np.int64) * len(task.words) + task.codes)
    return ScoreTable(
        entrant=_at(entrants, order),
        task=_at(task, order),
        condition=_coded_or_none([b.condition for b in blocks], blocks, order),
        seed=_seeds(blocks, order),
        item=_coded_or_none([b.item for b in blocks], blocks, order),
        leaked=_joined([b.leaked for b in blocks], np.bool_, order),
        file=_joined([b.file for b in blocks], None, order),
        row=_joined([b.row for b in blocks], None, order),
        columns=tuple(columns),
        values=_values(blocks, columns, order),
        reason=_coded_or_none([b.reason for b in blocks], blocks, order),
    )


def by_upload(stood: Iterable[Stood], tasks: Mapping[int, str], strata: Mapping[int, Any]) -> ScoreTable:
    """Return rows in the order of submission and upload, with the stratum of each task and what was recorded.

    Words are in the order in which they first occur.
    """
    ordered = sorted((s for s in stood if len(s.block)), key=lambda s: s.submission)
    blocks = [s.block for s in ordered]
    submission = np.repeat([s.submission for s in ordered], [len(b) for b in blocks])
    order = np.lexsort((_joined([b.position for b in blocks], np.int64, None), submission))
    columns = tuple(dict.fromkeys(name for block in blocks for name in block.columns))
    recorded = list(dict.fromkeys(name for block in blocks for name in block.recorded))
    texts = {number: None if about is None else json.dumps(about, sort_keys=True) for number, about in strata.items()}

    def seen(coded: Sequence[Coded | None]) -> Coded:
        return _as_first_seen(_at(_coded(coded, blocks), order))

    return ScoreTable(
        entrant=_as_first_seen(_at(_repeated([s.entrant for s in ordered], blocks), order)),
        task=_as_first_seen(_at(_coded_numbers(blocks, tasks), order)),
        columns=columns,
        values=_values(blocks, columns, order),
        leaked=np.zeros(len(order), dtype=np.bool_),
        file=_joined([b.file for b in blocks], np.int64, order),
        row=_joined([b.row for b in blocks], np.int64, order),
        item=seen([b.item for b in blocks]),
        reason=seen([b.reason for b in blocks]),
        recorded={
            **{name: seen([b.recorded.get(name) for b in blocks]) for name in recorded},
            STRATUM: _as_first_seen(_at(_coded_numbers(blocks, texts), order)),
        },
    )


def _smallest(n_words: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type for the codes of `n_words` words and one more, which saves memory."""
    return next(kind for kind in (np.int16, np.int32, np.int64) if n_words <= np.iinfo(kind).max)


def _ascend(codes: Sequence[IntArray]) -> bool:
    """Say whether the codes of each block ascend; usually all blocks share the same array."""
    return all(bool((each[1:] >= each[:-1]).all()) for each in {id(each): each for each in codes}.values())


def _order(key: IntArray) -> IntArray | None:
    """Return the stable order of rows by key; None where they are already ordered."""
    return None if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")


def narrowed(coded: Coded, n_cells: int) -> Coded:
    """Return the same texts with codes of 32 bits, if there are not more cells of entrant and task than those hold."""
    return Coded(coded.words, coded.codes.astype(np.int32)) if n_cells <= np.iinfo(np.int32).max else coded


def _joined(parts: Sequence[NDArray[Any]], dtype: Any, order: IntArray | None) -> NDArray[Any]:
    """Return the parts as one; without a type they keep the smallest that holds all of them."""
    joined = np.concatenate([np.empty(0, dtype=dtype or np.int8), *parts], dtype=dtype, casting="unsafe")
    return joined if order is None else joined[order]


def _values(blocks: Sequence[RowBlock], columns: Sequence[str], order: IntArray | None) -> FloatArray:
    values = np.empty((sum(map(len, blocks)), len(columns)))
    for at, column in enumerate(columns):
        parts = [
            b.values[:, b.columns.index(column)] if column in b.columns else np.broadcast_to(np.nan, len(b))
            for b in blocks
        ]
        if order is None and parts:
            np.concatenate(parts, out=values[:, at])
        else:
            values[:, at] = _joined(parts, np.float64, order)
    return values


def _seeds(blocks: Sequence[RowBlock], order: IntArray | None) -> IntArray | None:
    """Return seeds; None where nobody has any. Raises ValueError where only some have: a kind has seeds or has none."""
    if all(block.seed is None for block in blocks):
        return None
    seeds = [block.seed for block in blocks if block.seed is not None]
    if len(seeds) < len(blocks):
        raise ValueError(f"{len(blocks) - len(seeds)} of {len(blocks)} entrants have rows without seeds, others have")
    return _joined(seeds, np.int64, order)


def _repeated(words: Sequence[str], blocks: Sequence[RowBlock], kind: Any = np.int64) -> Coded:
    """Return one word for all rows of a block; words are in alphabetical order."""
    used = sorted(set(words))
    code = {word: place for place, word in enumerate(used)}
    codes = np.array([code[word] for word in words], dtype=kind)
    return Coded(tuple(used), np.repeat(codes, np.array([len(block) for block in blocks], dtype=np.int64)))


def _coded(parts: Sequence[Coded | None], blocks: Sequence[RowBlock]) -> Coded:
    """Return texts of all blocks by one dictionary, in the order of the alphabet."""
    words = sorted({word for part in parts if part is not None for word in part.words})
    code = {word: at for at, word in enumerate(words)}
    codes = [
        np.broadcast_to(NONE, len(block))
        if part is None
        else np.array([*(code[word] for word in part.words), NONE], dtype=np.int64)[part.codes]
        for part, block in zip(parts, blocks, strict=True)
    ]
    return Coded(tuple(words), _joined(codes, np.int64, None))


def _coded_or_none(parts: Sequence[Coded | None], blocks: Sequence[RowBlock], order: IntArray | None) -> Coded | None:
    return None if all(part is None for part in parts) else _at(_coded(parts, blocks), order)


def _coded_numbers(blocks: Sequence[RowBlock], words: Mapping[int, str | None]) -> Coded:
    """Return the word of each row's task, in the order of the alphabet; those that have none have NONE."""
    used, codes = _codes_of_blocks(blocks, words)
    return Coded(used, _joined(codes, np.int64, None))


def _codes_of_blocks(
    blocks: Sequence[RowBlock], words: Mapping[int, str | None]
) -> tuple[tuple[str, ...], list[IntArray]]:
    """Return the words of tasks in the order of the alphabet, and of each block which of them its rows have."""
    # Usually all entrants have the same tasks in the same order, which are looked up only once.
    # Bytes cache their hash.
    keys = [(block.task.dtype.str, block.task.tobytes()) for block in blocks]
    lists = {key: block.task for key, block in zip(keys, blocks, strict=True)}
    used = sorted({word for tasks in lists.values() for n in set(tasks.tolist()) if (word := words[n]) is not None})
    code: dict[str | None, int] = {word: place for place, word in enumerate(used)}
    codes = {key: np.array([code.get(words[n], NONE) for n in tasks.tolist()]) for key, tasks in lists.items()}
    return tuple(used), [codes[key] for key in keys]


def _at(coded: Coded, order: IntArray | None) -> Coded:
    return coded if order is None else coded.take(order)


def _as_first_seen(coded: Coded) -> Coded:
    """Return the same texts with their words in the order of their first rows."""
    used, first = np.unique(coded.codes, return_index=True)
    ordered = [int(code) for code in used[np.argsort(first)] if code != NONE]
    place = np.full(len(coded.words) + 1, NONE, dtype=np.int64)
    place[ordered] = np.arange(len(ordered))
    return Coded(tuple(coded.words[code] for code in ordered), place[coded.codes])
