"""Everything that a submission claims of itself, held against its own rows.

Called by `app.jobs.evaluate`, and by a dry run and `plumbline prereg check`, which store nothing; pure.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.admission.check import Check
from app.boards.missing_scores import with_worst
from app.kinds.episodes.summary import episodes_drawn, is_exact
from app.kinds.series.summary import summarise_series
from app.kinds.summaries import Means, check_bundle_claims, check_claims, check_series_claims
from app.manifest.manifest import Manifest
from app.manifest.parts import SeriesUncertainty
from app.values.facts import RunFacts
from app.values.scores import ScoreTable

Claims = Mapping[str, Mapping[str, float]]

# What a request may draw to compare claimed intervals: about a second of it on a small machine.
MOST_EPISODES_DRAWN = 20_000_000
MOST_SCORES_DRAWN = 100_000_000
LATER = "decided at evaluation"


def check_own_claims(
    manifest: Manifest, scores: ScoreTable, facts: RunFacts, claims: Claims | None, *, is_request: bool = False
) -> list[Check]:
    """Return a check for each kind of claim that there is: the form's, the bundles' summaries, lrdbench's own tables.

    A request leaves what takes long to the evaluation and says so, as it does for predictions, which are measured.
    """
    if manifest.evidence == "predictions":
        reason = f"Claims about predictions are {LATER}: only then are they measured."
        return [] if claims is None else [Check("claims", "warned", reason)]
    if manifest.evidence == "episodes":
        scores = with_worst(manifest, scores)
    checks = check_claims(claims, {} if claims is None else own_means(manifest, scores))
    if manifest.evidence == "episodes":
        if is_request and episodes_drawn(scores, facts.bundles) > MOST_EPISODES_DRAWN:
            return [*checks, _later("claimed_summary")]
        return [*checks, *check_bundle_claims(scores, facts.bundles, exact=is_exact(manifest))]
    if manifest.evidence == "series_metrics":
        if is_request and facts.claimed and _scores_drawn(manifest, scores) > MOST_SCORES_DRAWN:
            return [*checks, _later("claimed_values")]
        return [*checks, *check_series_claims(manifest, scores, facts.claimed)]
    return checks


def own_means(manifest: Manifest, scores: ScoreTable) -> Means:
    """Return the mean of each metric of each entrant: over tasks, of the means over what was scored in each."""
    if manifest.evidence == "series_metrics":
        return {(row["entrant"], row["metric"]): row["mean"] for row in summarise_series(scores).records()}
    return {
        (entrant, metric): _mean_over_tasks(scores, scores.entrant.codes == code, metric)
        for code, entrant in enumerate(scores.entrant.words)
        for metric in manifest.metrics
    }


def _mean_over_tasks(scores: ScoreTable, mine: np.ndarray[Any, np.dtype[np.bool_]], metric: str) -> float | None:
    values = scores.value(metric)
    scored = mine & ~np.isnan(values)
    if not scored.any():
        return None
    tasks = scores.task.codes[scored]
    counts = np.bincount(tasks)
    sums = np.bincount(tasks, weights=values[scored])
    return float((sums[counts > 0] / counts[counts > 0]).mean())


def _scores_drawn(manifest: Manifest, scores: ScoreTable) -> int:
    drawn = manifest.uncertainty or SeriesUncertainty()
    return scores.values.size * drawn.n_resamples


def _later(rule: str) -> Check:
    return Check(rule, "warned", f"There is too much to draw again while you wait: {LATER}.")
