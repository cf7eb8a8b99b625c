"""What a process that computes boards for readers does before the first one asks: called by `app.web.renderer`.

The compiler of loops is imported, and the machine code of them loaded, on first use (`app.stats.compiled`), which takes
seconds of a core. The second of two processes is first used while somebody keeps the other one busy, so whoever came
then waited for it.
"""

from app.boards.example import benchmark, rows
from app.boards.methods.mean import Mean
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.mean_win_rate import MeanWinRate
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.manifest.model import Leaderboard

BOARDS: tuple[Leaderboard, ...] = (
    Mean(name="mean", method="mean", metric="error"),
    MeanRank(name="rank", method="mean_rank", metric="error"),
    MeanWinRate(name="wins", method="mean_win_rate", metric="error"),
    SkillScore(name="skill", method="skill_score", metric="error", baseline="Poor"),
)
"""Together they use the loops of the boards that are computed from scores."""


def prepare() -> None:
    """Compute a few boards of three entrants on three tasks."""
    for board in BOARDS:
        compute_board(benchmark(board), board, rows())
