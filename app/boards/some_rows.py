"""The rows of some entrants. Called by `app.boards.explore`; pure."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from app.values.scores import Coded, ScoreTable


def rows_of(scores: ScoreTable, entrants: Collection[str]) -> ScoreTable:
    """Return the rows of some entrants, who alone are then in the table."""
    kept = [at for at, name in enumerate(scores.entrant.words) if name in entrants]
    if len(kept) == len(scores.entrant.words):
        return scores
    place = np.full(len(scores.entrant.words), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    codes = place[scores.entrant.codes]
    rows = np.flatnonzero(codes >= 0)

    def some(coded: Coded | None) -> Coded | None:
        return None if coded is None else Coded(coded.words, coded.codes[rows])

    return replace(
        scores,
        entrant=Coded(tuple(scores.entrant.words[at] for at in kept), codes[rows]),
        task=Coded(scores.task.words, scores.task.codes[rows]),
        values=scores.values[rows],
        leaked=scores.leaked[rows],
        file=scores.file[rows],
        row=scores.row[rows],
        condition=some(scores.condition),
        seed=None if scores.seed is None else scores.seed[rows],
        item=some(scores.item),
        reason=some(scores.reason),
        recorded={name: Coded(coded.words, coded.codes[rows]) for name, coded in scores.recorded.items()},
        traits=None if scores.traits is None else scores.traits[rows],
    )
