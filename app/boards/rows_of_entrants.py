"""The rows of some entrants. Called by `app.boards.explore`; pure."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from app.values.scores import Coded, ScoreTable


def rows_of(scores: ScoreTable, entrants: Collection[str]) -> ScoreTable:
    """Return a table of the rows of some entrants, and of no others.

    Source: none; it selects rows.

    >>> from app.boards.example import rows
    >>> few = rows_of(rows(), {"Poor"})
    >>> few.entrant.words, len(few)
    (('Poor',), 3)
    """
    kept = [at for at, name in enumerate(scores.entrant.words) if name in entrants]
    if len(kept) == len(scores.entrant.words):
        return scores
    place = np.full(len(scores.entrant.words), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    codes = place[scores.entrant.codes]
    rows = np.flatnonzero(codes >= 0)
    entrant = Coded(tuple(scores.entrant.words[at] for at in kept), codes[rows])
    return replace(scores.take(rows), entrant=entrant)
