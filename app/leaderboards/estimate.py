"""Ranking method `estimate`: metrics with their intervals, ranked by one of them; each entrant is measured apart.

Found by `app.leaderboards.registry`. What an entrant's episodes come to is in `estimate_episodes`, how measurements
become a board in `estimate_board`.
"""

from app.leaderboards.estimate_board import assemble_board
from app.leaderboards.estimate_episodes import measure_episodes
from app.leaderboards.estimate_predictions import measure_predictions
from app.leaderboards.estimate_spec import EstimateBoard
from app.leaderboards.measured import EntrantEvidence, MeasuredMethod, Measurement
from app.manifest import Manifest


def measure(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Measure one entrant as its benchmark's kind of evidence wants it."""
    measure_kind = measure_predictions if manifest.evidence == "predictions" else measure_episodes
    return measure_kind(manifest, spec, evidence)


METHOD = MeasuredMethod(EstimateBoard, measure, assemble_board)
