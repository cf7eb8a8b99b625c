"""A submission of predictions, measured: its reports, and its claims compared with what was measured."""

from app.admission.case import Check
from app.admission.claims import LATER, SubmissionClaims, check_claims
from app.boards.methods.estimate import EstimateBoard
from app.kinds.contract import Evaluation, Summary
from app.kinds.predictions.manifest_part import has_private_labels
from app.kinds.predictions.report import report_tables
from app.manifest.model import Manifest

# Whoever claims a number and learns whether it is right has learned the number.
NOT_COMPARED = Check(
    "claims",
    "warned",
    "Claims about private labels are kept and shown, and never compared: an answer would tell labels.",
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the reports of a submission and what its claims come to."""
    measurements = evaluation.measure(summary_board(evaluation.manifest))
    measured = {(m.entrant, name): estimate.point for m in measurements for name, estimate in m.estimates.items()}
    reports = report_tables({m.entrant: m.rows for m in measurements})
    if has_private_labels(evaluation.manifest):
        return Summary(reports, [] if evaluation.claims is None else [NOT_COMPARED])
    return Summary(reports, check_claims(evaluation.claims, measured))


def own_claims(claimed: SubmissionClaims) -> list[Check]:
    """Leave claims to the evaluation, which alone measures predictions."""
    if claimed.claims is None:
        return []
    if has_private_labels(claimed.manifest):
        return [NOT_COMPARED]
    return [Check("claims", "warned", f"Claims about predictions are {LATER}: only then are they measured.")]


def summary_board(manifest: Manifest) -> EstimateBoard:
    """Return the board that a submission of predictions is summarised by: one that has every metric, or one made so."""
    for board in manifest.leaderboards:
        if isinstance(board, EstimateBoard) and board.tasks is None and set(board.metrics) == set(manifest.metrics):
            return board
    return EstimateBoard(name="summary", method="estimate", metrics=list(manifest.metrics))
