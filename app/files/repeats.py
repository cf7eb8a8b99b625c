"""Finds repeats in a submission: an (entrant, task) pair, or an entrant's name in two spellings.

Called by `app.kinds.summary.read` when every file has been read.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.errors import Problem
from app.files.findings import Findings
from app.names import name_key
from app.stats.arrays import IntArray
from app.values.scores import NONE, ScoreTable


def refuse_repeats(scores: ScoreTable, file_names: Mapping[int, str], column: str | None, findings: Findings) -> None:
    """Add a problem for each row whose entrant and task an earlier row has, naming both places."""
    named = np.flatnonzero((scores.entrant.codes != NONE) & (scores.task.codes != NONE))
    keys = scores.entrant.codes[named] * len(scores.task.words) + scores.task.codes[named]
    order = np.argsort(keys, kind="stable")
    first = _first_of_group(keys[order])
    repeated = np.flatnonzero(first != np.arange(len(order)))
    later, earlier = named[order[repeated]], named[order[first[repeated]]]
    chronological = np.argsort(later)
    pairs = list(zip(later[chronological].tolist(), earlier[chronological].tolist(), strict=True))

    def describe(position: int) -> Problem:
        row, before = pairs[position]
        entrant, task = scores.entrant.at(row), scores.task.at(row)
        place = f"row {scores.row[before]} of {file_names[int(scores.file[before])]}"
        message = f"{entrant} has a row for {task} already: {place}"
        return Problem(message, file_names[int(scores.file[row])], int(scores.row[row]), column, task)

    findings.add_each(range(len(pairs)), describe)


def _first_of_group(ordered_keys: IntArray) -> IntArray:
    """Return for each position of sorted keys the first position with the same key."""
    starts = np.ones(len(ordered_keys), dtype=np.bool_)
    starts[1:] = ordered_keys[1:] != ordered_keys[:-1]
    first: IntArray = np.maximum.accumulate(np.where(starts, np.arange(len(ordered_keys)), 0))
    return first


def problems_of_case(names: Sequence[str], column: str | None) -> Iterator[Problem]:
    """Yield a problem for each name that is another spelling of an earlier one: on a board they are one entrant."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name_key(name), name)
        if other != name:
            message = f"{name} and {other} differ only in case or in the form of their letters; write the name one way"
            yield Problem(message, column=column, value=name)
