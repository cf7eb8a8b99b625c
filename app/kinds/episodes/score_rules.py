"""Admission rule of episodes without a score: an empty cell is a failure to report, never a way to leave one out.

Called by `app.admission.rules`.
"""

from collections.abc import Iterator

import numpy as np

from app.admission.check import Check, some
from app.boards.missing_scores import missing_rankings
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.stats.arrays import BoolArray
from app.values.scores import ScoreTable

RULE = "scores_present"


def check_scores_present(manifest: Manifest, prereg: Prereg | None, scores: ScoreTable) -> Check:
    """Require a score of every ranking metric in every episode; the failure policy decides on missing ones.

    A failure of another kind of evidence is an absent row or an item without a prediction: the boards count it.
    """
    missing = {metric: rows for metric, rows in missing_rankings(manifest, scores).items() if rows.any()}
    if missing:
        gaps = [gap for metric, rows in missing.items() for gap in _by_entrant(scores, metric, rows)]
        return _judge(manifest, prereg, list(missing), f"Episodes without a score that ranks: {some(gaps)}.")
    if partial := list(_partial(manifest, scores)):
        reason = (
            f"Every episode has the scores that rank. Left out of the averages, for want of a value: {some(partial)}."
        )
        return Check(RULE, "warned", reason)
    return Check(RULE, "passed", "Every episode has the scores that rank.")


def _judge(manifest: Manifest, prereg: Prereg | None, metrics: list[str], gaps: str) -> Check:
    whose = "The benchmark's" if prereg is None else "The registered"
    policy = manifest.admission.failure_policy if prereg is None else prereg.failure_policy
    if policy == "strict":
        return Check(RULE, "failed", f"{gaps} {whose} failure policy is strict.")
    worst = {metric: manifest.metrics[metric].worst for metric in metrics}
    if unbounded := [metric for metric, value in worst.items() if value is None]:
        reason = f"{gaps} The manifest declares no worst value that they could count as: {some(unbounded)}."
        return Check(RULE, "failed", reason)
    counted = some([f"{metric} {value:g}" for metric, value in worst.items()])
    reason = f"{gaps} {whose} failure policy is best_effort: each counts as the worst there is ({counted})."
    return Check(RULE, "warned", reason)


def _by_entrant(scores: ScoreTable, metric: str, rows: BoolArray) -> Iterator[str]:
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        if n_missing := int((rows & mine).sum()):
            yield f"{metric} of {entrant} in {n_missing} of {int(mine.sum())}"


def _partial(manifest: Manifest, scores: ScoreTable) -> Iterator[str]:
    """Yield the other metrics that some episodes of an entrant have and some have not."""
    ranking = {metric for board in manifest.leaderboards for metric in board.required_metrics()}
    for metric in scores.columns:
        missing = np.isnan(scores.value(metric))
        measured = np.unique(scores.entrant.codes[~missing])
        if metric not in ranking:
            yield from _by_entrant(scores, metric, missing & np.isin(scores.entrant.codes, measured))
