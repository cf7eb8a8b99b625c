"""Evidence kind predictions, as the other rooms see it. Found by its entry point."""

from collections.abc import Iterator, Sequence
from functools import partial

from app.admission.case import Case, Check, KindRules
from app.admission.claims import LATER, SubmissionClaims, check_claims
from app.boards.measured import EvidenceWords, MeasuredKind, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.boards.standing import BoardStanding
from app.boards.tables import Beside
from app.files.opened import SUFFIXES
from app.kinds.contract import Evaluation, Kind, RowStorage, Summary
from app.kinds.labels import KindLabels
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.disclosed import about_parts, coarse, measure_disclosed, part_in_words, shown_score_of
from app.kinds.predictions.labels import choose_public, labels_digest, read_labels, warn_of_parts
from app.kinds.predictions.manifest_part import (
    PredictionsPart,
    has_private_labels,
    holds_labels,
    ranks_label_holders,
    scoring_of,
)
from app.kinds.predictions.metrics import glossary_key, metric_entries
from app.kinds.predictions.pages import PAGES
from app.kinds.predictions.pair_tests import pair_tables
from app.kinds.predictions.read import read_predictions
from app.kinds.predictions.report import INTERVALS, LAYOUTS, report_tables, reports_beside
from app.kinds.predictions.terms import REPORTS, SECRET, TERMS
from app.manifest.model import Manifest, part_of

OWN_LABELS = (
    "Every submission brought its own labels; nobody has checked them. An item with another label than most submitters "
    "have is another item."
)

# Whoever claims a number and learns whether it is right has learned the number.
NOT_COMPARED = Check(
    "claims",
    "warned",
    "Claims about private labels are kept and shown, and never compared: an answer would tell labels.",
)


def _part(manifest: Manifest) -> Predictions:
    return part_of(manifest, PredictionsPart).predictions


def _n_classes(manifest: Manifest) -> int | None:
    classes = _part(manifest).classes
    return None if classes is None else len(classes)


def _words(manifest: Manifest, spec: EstimateBoard) -> EvidenceWords:
    part = _part(manifest)
    return EvidenceWords(
        resampled=part.units,
        too_few="examples",
        units="units",
        failed="Items without a prediction",
        rare="rmse" if spec.ranked == "rmse" else "",
        part=part_in_words(manifest),
        metric_glossary=glossary_key,
        notes=(*([OWN_LABELS] if part.labels == "submitted" else about_parts(manifest)), *_on_units(part)),
    )


def _on_units(part: Predictions) -> Iterator[str]:
    """Yield that examples are taken for independent; of rankings groups are the units, which the columns declare."""
    if part.kind != "ranking":
        yield "Examples are treated as independent: a benchmark of predictions does not say which belong together."


def _further_tables(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> tuple[Beside, ...]:
    reports = reports_beside({m.entrant: m.rows for m in measurements}, spec.name)
    return (*reports, *pair_tables(manifest, spec, measurements, standing))


def _own_labels(case: Case) -> list[Check]:
    if not case.facts.own_labels:
        return []
    reason = (
        "The predictions brought their own labels; nobody has checked these, nor that other entrants have the same."
    )
    return [Check("labels", "warned", reason)]


def summarise(evaluation: Evaluation) -> Summary:
    """Return the reports of a submission and what its claims come to."""
    measurements = evaluation.measure(summary_board(evaluation.manifest))
    measured = {(m.entrant, name): estimate.point for m in measurements for name, estimate in m.estimates.items()}
    shown = partial(coarse, evaluation.manifest, measurements)
    reports = [shown(table) for table in report_tables({m.entrant: m.rows for m in measurements})]
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


PREDICTIONS = Kind(
    name="predictions",
    order=3,
    part=PredictionsPart,
    labels=KindLabels(
        takes=holds_labels,
        scoring=scoring_of,
        ranks_holders=ranks_label_holders,
        read=read_labels,
        digest=lambda manifest, labels: labels_digest(labels, _part(manifest)),
        choose_public=lambda manifest, labels, key, share: choose_public(labels, _part(manifest), key, share),
        warn_of_parts=lambda manifest, labels: warn_of_parts(labels, _part(manifest)),
        n_classes=_n_classes,
        shown_score=shown_score_of,
    ),
    read=read_predictions,
    summarise=summarise,
    own_claims=own_claims,
    suffixes=SUFFIXES,
    rules=KindRules(scores=_own_labels, computes_metrics=True),
    rows=RowStorage(are_packed=True, file=None),
    measured=MeasuredKind(
        measure=measure_disclosed,
        words=_words,
        further_tables=_further_tables,
        finish=coarse,
        of_best=frozenset(LAYOUTS) - {INTERVALS},
    ),
    pages=PAGES,
    glossary=lambda: (*metric_entries(), *TERMS, *REPORTS, *SECRET),
)
