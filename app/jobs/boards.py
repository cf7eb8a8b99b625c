"""Every board of a benchmark from its admitted rows: tables, or the reason why a board cannot be computed.

Called by `app.jobs.publish`.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from app.errors import BoardUnavailable
from app.leaderboards.measured import Measurement
from app.leaderboards.registry import compute_board, measured_method
from app.leaderboards.series_contract_board import contract_leaderboard
from app.leaderboards.series_tables import series_tables
from app.leaderboards.tables import BoardTables
from app.manifest import Leaderboard, Manifest
from app.scores import ScoreTable
from app.table import Table

logger = logging.getLogger(__name__)

QUANTITIES = ("training_time_s", "inference_time_s", "n_forecasts")


@dataclass(frozen=True)
class BoardInputs:
    """What boards are computed from. Both are asked for only by boards that need them: rows are many."""

    scores: Callable[[], ScoreTable]
    measurements: Callable[[Leaderboard], Sequence[Measurement]]


def compute_tables(manifest: Manifest, inputs: BoardInputs) -> list[Table]:
    """Compute every board; one that cannot be computed says so and the others stand."""
    boards = [table for spec in manifest.leaderboards for table in _tables(manifest, spec, inputs)]
    if manifest.evidence == "series_metrics" and len(inputs.scores()):
        ranked = [table for table in boards if table.name.startswith("leaderboard/") and table.rows]
        boards += series_tables(manifest, inputs.scores())
        boards += [contract_leaderboard(ranked)] if ranked else []
    return boards


def _tables(manifest: Manifest, spec: Leaderboard, inputs: BoardInputs) -> list[Table]:
    try:
        made = _compute(manifest, spec, inputs)
    except BoardUnavailable as error:
        return [_unavailable(spec, str(error))]
    except DBAPIError:
        raise
    except Exception as error:
        # One method's fault must not keep the other boards, or the submissions behind them, waiting.
        logger.exception("board %s of %s could not be computed", spec.name, manifest.slug)
        return [_unavailable(spec, f"The computation failed on this server ({type(error).__name__}: {error}).")]
    pairwise = () if made.pairwise is None else (made.pairwise,)
    return [made.leaderboard, *pairwise, *made.extra]


def _compute(manifest: Manifest, spec: Leaderboard, inputs: BoardInputs) -> BoardTables:
    method = measured_method(spec)
    if method is None:
        return compute_board(manifest, spec, inputs.scores())
    return method.assemble(manifest, spec, inputs.measurements(spec))


def _unavailable(spec: Leaderboard, reason: str) -> Table:
    meta = {"method": spec.method, "unavailable": reason}
    return Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (reason,), meta)
