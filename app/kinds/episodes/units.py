"""The units of intervals where a benchmark of episodes has no seeds: its items.

Called by `app.kinds.episodes.measure`; pure. Scores of one model on many questions vary by which questions were asked;
without training seeds that is the only visible variation.
Source: Miller 2024, Adding Error Bars to Evals (arXiv:2411.00640), section 2.
"""

import hashlib
from dataclasses import replace

import numpy as np

from app.values.scores import ScoreTable


def items_as_units(scores: ScoreTable) -> ScoreTable:
    """Return rows whose seed is a number of their task and item: equal names have equal numbers, on every board."""
    if scores.item is None:
        return scores
    key = scores.task.codes.astype(np.int64) * (len(scores.item.words) + 1) + scores.item.codes
    distinct, place = np.unique(key, return_inverse=True)
    n_words = len(scores.item.words) + 1
    numbers = [_number(scores.task.words[at // n_words], [*scores.item.words, ""][at % n_words]) for at in distinct]
    return replace(scores, seed=np.array(numbers, dtype=np.int64)[place.reshape(-1)])


def _number(task: str, item: str) -> int:
    """Return a 63-bit number that identifies an item of a task."""
    digest = hashlib.blake2b(f"{task}\0{item}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
