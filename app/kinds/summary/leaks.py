"""Whether rows say that their entrant has seen the task's data, as fev and pandas write it. Called by `.blocks`.

The model whose errors replace those of entrants that have seen data may not have seen any itself: fev refuses to make
a leaderboard of such rows, and here they are refused where they stand, so that the boards go on without them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.skill_score.spec import SkillScore
from app.boards.wording import sentences
from app.files.blocks import Texts
from app.files.flag_cells import FLAGS
from app.files.vocabulary import local_codes
from app.kinds.summary.manifest_part import SummaryPart
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE

NEITHER = "neither True nor False (1 and 0 are accepted too)"


@dataclass(frozen=True)
class Flags:
    """The flags of some rows, each [n_rows]; an empty or a wrong one counts as not leaked."""

    leaked: BoolArray
    empty: BoolArray
    wrong: BoolArray


class LeakFlags:
    """How the flags of one benchmark are read; only those of fev may be empty."""

    def __init__(self, manifest: Manifest) -> None:
        self._may_be_empty = part_of(manifest, SummaryPart).preset == "fev"
        self._boards = [
            board
            for board in manifest.leaderboards
            if isinstance(board, SkillScore) and board.leakage_model is not None
        ]
        self.complaint = NEITHER

    def read(self, texts: Texts) -> Flags:
        """Return the flags of a column."""
        words, codes = local_codes(texts)
        known = np.array([*(word in FLAGS for word in words), self._may_be_empty])
        leaked = np.array([*(FLAGS.get(word, False) for word in words), False])
        return Flags(leaked[codes], (codes == NONE) & self._may_be_empty, ~known[codes])

    def spoiled(
        self, leaked: BoolArray, names: Sequence[str], entrants: IntArray, task_names: Sequence[str], tasks: IntArray
    ) -> BoolArray:
        """Say which rows are of a leakage model that has seen the data of a task of its board."""
        spoiled = np.zeros(len(leaked), dtype=np.bool_)
        for board in self._boards:
            model = [at for at, name in enumerate(names) if name == board.leakage_model]
            spoiled |= leaked & np.isin(entrants, model) & _on(board.tasks, task_names, tasks)
        return spoiled

    def complaint_about_model(self, name: str) -> str:
        """Return why a leakage model's flag is refused."""
        boards = sentences([board.name for board in self._boards if board.leakage_model == name])
        return (
            f"{name} is the leakage model of {boards}: its errors replace those of models that have seen the task's "
            "data, so it may not have seen any"
        )


def _on(wanted: Collection[str] | None, names: Sequence[str], tasks: IntArray) -> BoolArray:
    if wanted is None:
        return np.ones(len(tasks), dtype=np.bool_)
    return np.isin(tasks, [at for at, name in enumerate(names) if name in wanted])
