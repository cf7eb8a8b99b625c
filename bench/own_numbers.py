"""What our own numbers cost beside the compatible ones, on the same rows in the same run.

Compatible are fev's leaderboard and pairs with their percentile bounds; ours are the calibrated intervals, the rank
sets and every pair of the board's contrast. The limit is that ours together take at most five times as long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from app.boards.calibrated import DrawnSpread, draw_named_tasks, task_intervals
from app.boards.cells import build_cells
from app.boards.methods.skill_score import SkillScore, clipped_errors, treat_missing
from app.boards.standing import draw_tasks, stand
from app.manifest.model import Leaderboard, Manifest
from app.stats.arrays import FloatArray
from app.stats.pairs import compare_pairs, skill, win_shares
from app.stats.resample import percentile_interval
from app.stats.spreads import SHARE, Range
from app.values.scores import ScoreTable
from bench.statistics import MANIFEST, SCORES, best_of, large_inputs

LIMIT = 5.0
"""Pairs that were compared before are kept by the board: each run is of another one."""
T = TypeVar("T")


class NotMade(Exception):
    """What was to be timed was not computed."""


@dataclass(frozen=True)
class Board:
    """The errors of a board over its baseline's, [n_tasks, n_entrants], and how it is declared."""

    manifest: Manifest
    spec: SkillScore
    tasks: Sequence[str]
    errors: FloatArray


def board_of(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> Board:
    """Return a board with failures imputed, as fev does."""
    if not isinstance(spec, SkillScore):
        raise TypeError(f"{spec.name} is no board of skill scores")
    cells = build_cells(manifest, spec, scores, spec.metric)
    relative = treat_missing(cells, clipped_errors(cells, spec), "impute")
    return Board(manifest, spec, cells.tasks, relative.errors)


def present(what: T | None) -> T:
    """Return what was made. Raises NotMade for nothing: a figure of it would say nothing."""
    if what is None:
        raise NotMade("nothing was drawn")
    return what


def compatible(board: Board) -> None:
    """Compute fev's leaderboard and pairs with their bounds."""
    resamples, level = present(draw_tasks(board.spec, len(board.tasks))), board.spec.uncertainty.level
    for drawn in (resamples.means(win_shares(board.errors)), skill(resamples.means(np.log(board.errors)))):
        percentile_interval(drawn, level)
    compare_pairs(board.errors, resamples, clip=(board.spec.clip[0], board.spec.clip[1]), level=level)


def ours(board: Board) -> None:
    """Compute calibrated intervals, rank sets and pairs, and see that they were made."""
    level, n_entrants = board.spec.uncertainty.level, board.errors.shape[1]
    logs = np.log(board.errors)
    intervals = (
        task_intervals(win_shares(board.errors), SHARE, level),
        task_intervals(logs, Range(), level, scale=skill),
    )
    cells = [[of(at) for at in range(n_entrants)] for of in intervals]
    named = present(draw_named_tasks(board.spec.uncertainty, board.tasks))
    spread = DrawnSpread.of_units(named.means(-logs), len(board.tasks))
    standing = stand(-logs.mean(axis=0), spread, level, are_logs=True)
    pairs = standing.contrasts(range(n_entrants)).cells()
    present(standing.sets)
    if any(cell.low is None for cell in cells[0]) or int(np.isfinite(pairs[1].values).sum()) < n_entrants:
        raise NotMade("intervals or pairs are missing")


def measure_own_numbers() -> None:
    """Print the ratio for fev-bench and for a large board. Raises SystemExit above the limit."""
    ratios = []
    for name, board in (("fev-bench", board_of(MANIFEST, MANIFEST.leaderboard("sql"), SCORES)),
                        ("100 entrants x 1,000 tasks", board_of(*large_inputs()))):  # fmt: skip
        ours(board)
        their_s, our_s = best_of(5, lambda board=board: compatible(board)), best_of(5, lambda board=board: ours(board))
        ratios.append(our_s / their_s)
        print(
            f"{name}: compatible leaderboard and pairs {their_s:.4f} s; calibrated intervals, rank sets and pairs "
            f"{our_s:.4f} s: ratio {ratios[-1]:.2f} (limit {LIMIT:g})"
        )
    if max(ratios) > LIMIT:
        raise SystemExit(f"our own numbers take {max(ratios):.1f} times as long as the compatible ones")


if __name__ == "__main__":
    measure_own_numbers()
