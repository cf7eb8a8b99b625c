"""What an evidence kind makes of the files of a submission. Made by each kind, taken by `app.evidence.reader`."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import Problem
from app.scores import ScoreTable


@dataclass(frozen=True)
class Reading:
    """The scores, the rows that each file gave (by its position), and what the submitter should know."""

    scores: ScoreTable
    n_rows: Mapping[int, int]
    warnings: tuple[Problem, ...]
