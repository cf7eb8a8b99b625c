"""The boards of a benchmark computed on one's own machine: evidence in memory in place of a database.

Called by the command line, to preview a benchmark that no server has and to recompute an exported snapshot. Rows go
through the same blocks that a server stores, so the numbers are identical.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.jobs.boards import compute_tables
from app.jobs.in_memory import EvidenceAtHand, Packed
from app.kinds.contract import Described
from app.manifest.manifest import Manifest
from app.store.assembly import STRATUM
from app.store.evidence import Stood, blocks_of
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import Coded, ScoreTable
from app.values.table import Table


@dataclass(frozen=True)
class OfflineSubmission:
    """The evidence of one submission, its rows in the order of their upload."""

    number: int
    scores: ScoreTable
    predictions: Sequence[PredictionBlock] = ()


@dataclass(frozen=True)
class OfflineBenchmark:
    """A manifest and the current submissions; `tasks` says of an entrant in one which of its tasks count."""

    manifest: Manifest
    submissions: Sequence[OfflineSubmission]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    described: Described = field(default_factory=dict)
    standing: Mapping[tuple[int, str], Sequence[str] | None] | None = None

    def tables(self) -> list[Table]:
        """Compute every table; what cannot be computed says so in its place, as on a server."""
        return compute_tables(self.manifest, _Rows(self).at_hand().inputs())


class _Rows:
    """The blocks of every entrant, under numbers in place of the names, as in a database."""

    def __init__(self, benchmark: OfflineBenchmark) -> None:
        self._benchmark = benchmark
        tables = [submission.scores for submission in benchmark.submissions]
        self._entrants = _numbered(table.entrant for table in tables)
        self._tasks = _numbered(table.task for table in tables)
        self._stood = [stood for submission in benchmark.submissions for stood in self._blocks(submission)]
        self._strata = {self._tasks[task]: about for table in tables for task, about in _strata(table).items()}

    def at_hand(self) -> EvidenceAtHand:
        """Return the blocks with what their numbers mean."""
        benchmark = self._benchmark
        names = {number: name for name, number in self._tasks.items()}
        packed = Packed({each.number: each.predictions for each in benchmark.submissions}, benchmark.labels)
        return EvidenceAtHand(benchmark.manifest, self._stood, names, self._strata, benchmark.described, packed)

    def _blocks(self, submission: OfflineSubmission) -> list[Stood]:
        scores = submission.scores
        recorded = {name: coded for name, coded in scores.recorded.items() if name != STRATUM}
        plain = ScoreTable(**{**vars(scores), "recorded": recorded, "traits": None})
        names = {number: name for name, number in self._entrants.items()}
        blocks = blocks_of(plain, _codes(scores.entrant, self._entrants), _codes(scores.task, self._tasks))
        return [
            Stood(submission.number, number, names[number], block.of_tasks(self._counted(submission, names[number])))
            for number, block in blocks
            if self._is_current(submission, names[number])
        ]

    def _is_current(self, submission: OfflineSubmission, entrant: str) -> bool:
        standing = self._benchmark.standing
        return standing is None or (submission.number, entrant) in standing

    def _counted(self, submission: OfflineSubmission, entrant: str) -> list[int] | None:
        tasks = (self._benchmark.standing or {}).get((submission.number, entrant))
        return None if tasks is None else [self._tasks[task] for task in tasks if task in self._tasks]


def _numbered(columns: Any) -> dict[str, int]:
    words = dict.fromkeys(word for coded in columns for word in coded.words)
    return {word: number for number, word in enumerate(words, start=1)}


def _codes(coded: Coded, numbers: Mapping[str, int]) -> Any:
    return np.array([numbers[word] for word in coded.words], dtype=np.int64)[coded.codes]


def _strata(scores: ScoreTable) -> dict[str, Any]:
    """Return the stratum that rows of series state of each task."""
    stratum = scores.recorded.get(STRATUM)
    if stratum is None:
        return {}
    stratum_of_task = zip(scores.task.to_list(), stratum.to_list(), strict=True)
    return {
        task: json.loads(text) for task, text in dict(stratum_of_task).items() if task is not None and text is not None
    }
