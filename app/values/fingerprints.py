"""Identifies one entrant's evidence in a few hundred bytes: digests of its rows and samples of them.

Computed by `app.kinds.reader` when evidence is read, compared by `app.admission.forensics`, kept by
`app.store.submissions`. Everything is vectorised: a million rows cost about a second.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray
from app.values.scores import Coded, PredictionBlock, ScoreTable

Hashes = NDArray[np.uint64]
NOTHING: Hashes = np.zeros(1, dtype=np.uint64)
"""Stands for the hashes of a column that is not there."""

N_RESULTS = 256
"""Rows sampled per entrant, to count how many of the same rows have other results later."""
N_CONTENTS = 64
"""Row contents kept per entrant, to find them again under another name."""
N_SAMPLED, N_COLUMNS = 128, 4
"""Rows and columns whose values themselves are kept, to find copies with a little noise."""
FEW_DECIMALS = 4
"""A number with at most this many decimals may be a coincidence; one with more is as good as a signature."""


@dataclass(frozen=True, repr=False)
class Sampled:
    """Values of the rows with the smallest hashes of their places.

    `places` is [<= N_SAMPLED], the hashes cut to 32 bits; `values` is [n_places, len(columns)], in single precision.
    """

    places: NDArray[np.uint32]
    columns: tuple[str, ...]
    values: NDArray[np.float32]


@dataclass(frozen=True, repr=False)
class Fingerprint:
    """One entrant's rows in one submission.

    A row's place is its task, condition, seed and item; its result is the values of its metrics. `places` and `results`
    are digests over all rows, whatever their order. `sample` is [2, <= N_RESULTS]: the places with the smallest hashes
    and the results there, so that two submissions of the same places have sampled the same ones. `contents` are the
    smallest hashes of the many-digit values of rows, without their places; empty where rows have none. `sampled` are
    the values of some rows, for approximate comparison.
    """

    entrant: str
    n_rows: int
    places: str
    results: str
    sample: Hashes
    contents: tuple[int, ...]
    sampled: Sampled


def fingerprints_of(scores: ScoreTable, blocks: Sequence[PredictionBlock] = ()) -> tuple[Fingerprint, ...]:
    """Return a fingerprint of each entrant, in the order of the table's words."""
    hashed = (place_hashes(scores), hash_values(scores.values), content_hashes(scores))
    of_blocks: dict[str, list[PredictionBlock]] = {}
    for block in blocks:
        of_blocks.setdefault(block.entrant, []).append(block)
    fingerprints = []
    for entrant, rows in zip(scores.entrant.words, _rows_by_entrant(scores), strict=True):
        own = of_blocks.get(entrant, [])
        parts = [tuple(hashes[rows] for hashes in hashed), *map(_of_block, own)]
        places, results, contents = (np.concatenate(part) for part in zip(*parts, strict=True))
        values = np.concatenate([_log_odds(block.values) for block in own]) if own else scores.values[rows]
        columns = tuple(map(str, range(values.shape[1]))) if own else scores.columns
        order = _Order.of(places)
        of_values = order if len(values) == len(places) else _Order.of(places[-len(values) :])
        sampled = _sampled(of_values, columns, values)
        fingerprints.append(_fingerprint(entrant, order, results, contents, sampled))
    return tuple(fingerprints)


def _rows_by_entrant(scores: ScoreTable) -> list[NDArray[np.intp]]:
    order = np.argsort(scores.entrant.codes, kind="stable")
    starts = np.searchsorted(scores.entrant.codes[order], np.arange(len(scores.entrant.words) + 1))
    return [order[low:high] for low, high in pairwise(starts.tolist())]


def n_other_results(new: Fingerprint, old: Fingerprint) -> tuple[int, int]:
    """Return how many of the sampled rows in both have different results, and how many are in both."""
    both, ours, theirs = np.intersect1d(new.sample[0], old.sample[0], assume_unique=True, return_indices=True)
    return int((new.sample[1][ours] != old.sample[1][theirs]).sum()), len(both)


def shared_contents(new: Sequence[int], old: Sequence[int]) -> float:
    """Return the estimated Jaccard similarity of two sets of contents (Broder 1997).

    >>> shared_contents([1, 2, 3, 4], [1, 2, 3, 9])
    0.75
    """
    smallest = sorted({*new, *old})[: max(len(new), len(old))]
    common = {*new} & {*old}
    return sum(each in common for each in smallest) / len(smallest) if smallest else 0.0


def place_hashes(scores: ScoreTable) -> Hashes:
    """Return a hash of each row's task, condition, seed and item, [n_rows]."""
    tasks = _of_words(scores.task)
    if scores.condition is None and scores.seed is None and scores.item is None:
        # Rows of a task have one place, so it is hashed once.
        return mix(mix(mix(tasks, NOTHING), NOTHING), NOTHING)[scores.task.codes]
    hashed = mix(tasks[scores.task.codes], _of_each(scores.condition))
    hashed = mix(hashed, NOTHING if scores.seed is None else scores.seed.view(np.uint64))
    return mix(hashed, _of_each(scores.item))


def content_hashes(scores: ScoreTable) -> Hashes:
    """Return a hash of each row's many-digit values, [n_rows]; 0 where it has none."""
    own = many_digits(scores.values)
    if scores.traits is None:
        return own
    traits = np.ascontiguousarray(scores.traits).view(np.uint64)
    return np.where((own == 0) & (traits == 0), np.uint64(0), mix(own, traits))


def many_digits(values: FloatArray) -> Hashes:
    """Return a hash of the many-digit cells of each row, [n_rows]; 0 for a row without any."""
    with np.errstate(invalid="ignore", over="ignore"):
        has_many_digits = np.isfinite(values) & (values != np.round(values, FEW_DECIMALS))
    hashed = hash_values(np.where(has_many_digits, values, 0.0))
    return np.where(has_many_digits.any(axis=1), hashed, np.uint64(0))


def hash_values(values: FloatArray) -> Hashes:
    """Return a hash of each row of numbers [n_rows, n_columns]; every NaN is the same, and so are both zeros."""
    clean = np.where(np.isnan(values), np.nan, values + 0.0)
    hashed = np.zeros(len(values), dtype=np.uint64)
    for column in np.ascontiguousarray(clean.T):
        hashed = mix(hashed, column.view(np.uint64))
    return hashed


def mix(first: Hashes, second: Hashes) -> Hashes:
    """Return a hash of pairs of numbers of 64 bits (splitmix64's finaliser: Steele, Lea & Flood 2014)."""
    z = first * np.uint64(0x9E3779B97F4A7C15) + second + np.uint64(0x632BE59BD9B4E019)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = z ^ (z >> np.uint64(31))
    return mixed


def hash_word(word: str) -> int:
    """Return a hash of a word that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def _of_each(column: Coded | None) -> Hashes:
    return NOTHING if column is None else _of_words(column)[column.codes]


def _of_words(column: Coded) -> Hashes:
    """Return the hashes of a column's words, and 0 at the end, which NONE points to: the code of no word is −1."""
    return np.array([*map(hash_word, column.words), 0], dtype=np.uint64)


def _of_block(block: PredictionBlock) -> tuple[Hashes, Hashes, Hashes]:
    """Return places, results and contents of predictions; a place is a position among the items of its task."""
    task = np.full(len(block.values), hash_word(block.task), dtype=np.uint64)
    places = mix(task, np.arange(len(block.values), dtype=np.uint64))
    return places, hash_values(block.values), many_digits(block.values)


def _log_odds(values: FloatArray) -> FloatArray:
    """Return probabilities as log-odds, because nearly all are near an end; other predictions as they are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        are_shares = ((values >= 0) & (values <= 1) | np.isnan(values)).all()
        return np.log(values) - np.log1p(-values) if are_shares else values


@dataclass(frozen=True)
class _Order:
    """Hashes of places, the same in ascending order, and where the smallest distinct ones are, each the first time."""

    places: Hashes
    ascending: Hashes
    smallest: NDArray[np.intp]

    @classmethod
    def of(cls, places: Hashes) -> "_Order":
        order = np.argsort(places, kind="stable")
        ascending = places[order]
        is_new = np.append(True, ascending[1:] != ascending[:-1])[: len(order)]
        return cls(places, ascending, order[is_new][:N_RESULTS])


def _sampled(of: _Order, columns: tuple[str, ...], values: FloatArray) -> Sampled:
    first = of.smallest[:N_SAMPLED]
    with np.errstate(over="ignore"):
        kept = values[first, :N_COLUMNS].astype(np.float32)
    return Sampled((of.places[first] >> np.uint64(32)).astype(np.uint32), columns[:N_COLUMNS], kept)


def _fingerprint(entrant: str, of: _Order, results: Hashes, contents: Hashes, sampled: Sampled) -> Fingerprint:
    distinct = np.unique(contents[contents != 0])[:N_CONTENTS]
    return Fingerprint(
        entrant=entrant,
        n_rows=len(of.places),
        places=_digest([of.ascending]),
        results=_digest([np.sort(mix(of.places, results))]),
        sample=np.vstack([of.places[of.smallest], results[of.smallest]]),
        contents=tuple(distinct.view(np.int64).tolist()),
        sampled=sampled,
    )


def _digest(arrays: Iterable[Hashes]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for array in arrays:
        hashed.update(array.astype("<u8").tobytes())
    return hashed.hexdigest()
