"""Ranking method `estimate`: metrics with their intervals, ranked by one of them; each entrant is measured apart.

Found by `app.boards.registry`. What an entrant's episodes come to is in `kinds.episodes.measure`, how measurements
become a board in `boards.estimate.board`.
"""

from app.boards.estimate.board import assemble_board
from app.boards.estimate.spec import EstimateBoard
from app.boards.measured import EntrantEvidence, MeasuredMethod, Measurement
from app.kinds.episodes.measure import measure_episodes
from app.kinds.predictions.measure import measure_predictions
from app.manifest.manifest import Manifest


def measure(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Measure one entrant as its benchmark's kind of evidence wants it."""
    measure_kind = measure_predictions if manifest.evidence == "predictions" else measure_episodes
    return measure_kind(manifest, spec, evidence)


METHOD = MeasuredMethod(EstimateBoard, measure, assemble_board)
