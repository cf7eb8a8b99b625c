"""Means that a submission claims, compared with those of its own rows.

Called by the kinds of evidence for the evaluation, for a dry run and for `plumbline prereg check`; pure.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.admission.check import Check
from app.admission.fields import Claims
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray
from app.values.facts import RunFacts
from app.values.scores import ScoreTable
from app.values.table import Cell

CLAIM_TOLERANCE = 1e-6
SHOWN = 10
LATER = "decided at evaluation"
Means = Mapping[tuple[Any, Any], Cell]
"""A number for each (entrant, metric), or None."""


@dataclass(frozen=True)
class Claimed:
    """A submission and its claims about itself, in its fields and in its files.

    `is_request`: somebody waits for the answer, so slow comparisons are left to the evaluation.
    """

    manifest: Manifest
    scores: ScoreTable
    facts: RunFacts
    claims: Claims | None
    is_request: bool = False


def claims_of_means(claimed: Claimed) -> list[Check]:
    """Compare the claimed means with means over tasks; no check without claims."""
    if claimed.claims is None:
        return []
    return check_claims(claimed.claims, own_means(claimed.manifest, claimed.scores))


def check_claims(claims: Claims | None, ours: Means) -> list[Check]:
    """Compare claimed means, {entrant: {metric: mean}}, with ours; a difference is shown with both numbers."""
    if claims is None:
        return []
    different = []
    for entrant, metrics in claims.items():
        for metric, claimed in metrics.items():
            computed = ours.get((entrant, metric))
            if computed is None:
                different.append(f"{entrant} {metric}: {claimed!r} claimed, nothing to compare it with")
            elif not math.isclose(float(computed), claimed, rel_tol=CLAIM_TOLERANCE, abs_tol=CLAIM_TOLERANCE):
                different.append(f"{entrant} {metric}: {claimed!r} claimed, {computed!r} computed")
    if different:
        return [Check("claims", "failed", f"Claimed means differ from the rows: {'; '.join(different[:SHOWN])}.")]
    return [Check("claims", "passed", "Every claimed mean equals the one computed from the rows.")]


def own_means(manifest: Manifest, scores: ScoreTable) -> Means:
    """Return each entrant's mean of each metric: over tasks, the means of the scored rows of each."""
    return {
        (entrant, metric): _mean_over_tasks(scores, scores.entrant.codes == code, metric)
        for code, entrant in enumerate(scores.entrant.words)
        for metric in manifest.metrics
    }


def _mean_over_tasks(scores: ScoreTable, mine: BoolArray, metric: str) -> float | None:
    values = scores.value(metric)
    scored = mine & ~np.isnan(values)
    if not scored.any():
        return None
    tasks = scores.task.codes[scored]
    counts = np.bincount(tasks)
    sums = np.bincount(tasks, weights=values[scored])
    return float((sums[counts > 0] / counts[counts > 0]).mean())


def decided_later(rule: str) -> Check:
    """Return the check that defers a slow comparison to the evaluation."""
    return Check(rule, "warned", f"There is too much to draw again while you wait: {LATER}.")
