"""What result bundles claim of themselves, computed again from their own episodes and compared.

Called by `app.jobs.evaluate` and `app.receiving.receive` through the kind; pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.admission.check import Check
from app.admission.claims import SHOWN, Claimed, check_claims, decided_later, own_means
from app.boards.missing_scores import with_worst
from app.manifest.manifest import Manifest
from app.stats.aggregate import estimate, interquartile_mean, mean
from app.stats.cluster import chamber_generator, draw_chamber, group_sample
from app.values.facts import BundleFacts
from app.values.scores import ScoreTable

LEVEL = 0.95
BUNDLE_SUBSTREAM = "evaluation.bundle_bootstrap"
CLAIMED_METRIC = "success"
MAX_CLAIMED_RESAMPLES = 20_000
# A resample costs its episodes, and as much as this many for itself.
OWN_COST = 500
# What a request may draw to compare claimed intervals: about a second of it on a small machine.
MOST_EPISODES_DRAWN = 20_000_000
LARGEST_CLAIM, SUMMARY_TOLERANCE = 10**15, 1e-9


def own_claims(claimed: Claimed) -> list[Check]:
    """Compare claimed means and the bundles' summaries with the episodes, an empty score counted as the worst."""
    manifest, bundles = claimed.manifest, claimed.facts.bundles
    scores = with_worst(manifest, claimed.scores)
    checks = check_claims(claimed.claims, {} if claimed.claims is None else own_means(manifest, scores))
    if claimed.is_request and episodes_drawn(scores, bundles) > MOST_EPISODES_DRAWN:
        return [*checks, decided_later("claimed_summary")]
    return [*checks, *check_bundle_claims(scores, bundles, exact=is_exact(manifest))]


def check_bundle_claims(scores: ScoreTable, bundles: Sequence[BundleFacts], *, exact: bool) -> list[Check]:
    """Compare the summaries that bundles bring with their own episodes; `exact` to the last digit."""
    if not any(bundle.summary for bundle in bundles):
        return []
    different = list(claim_differences(scores, bundles, exact=exact))
    if different:
        reason = f"Claimed summaries differ from the episodes: {'; '.join(different[:SHOWN])}."
        return [Check("claimed_summary", "failed", reason)]
    how = "to the last digit" if exact else f"within {SUMMARY_TOLERANCE:g}"
    return [Check("claimed_summary", "passed", f"Every claimed summary comes out of the episodes, {how}.")]


def is_exact(manifest: Manifest) -> bool:
    """Say whether a benchmark takes its bundles from CHAMBER, whose summaries come out bit for bit."""
    return any(board.uncertainty.stream == "chamber" for board in manifest.leaderboards)


def claim_differences(scores: ScoreTable, bundles: Sequence[BundleFacts], *, exact: bool) -> Iterator[str]:
    """Yield a sentence for each value that a bundle claims and its episodes do not give.

    CHAMBER's own stream is drawn again, down to one seed, whose interval we would not publish. With `exact` every
    number must be the claimed one; without it other programs may round their sums another way.
    """
    tolerance = 0.0 if exact else SUMMARY_TOLERANCE
    for bundle in bundles:
        claimed = {name: value for name, value in bundle.summary.items() if value is not None}
        ours = _bundle_summary(scores, bundle, claimed)
        for name, value in ours.items():
            if name in claimed and not _agrees(claimed[name], value, tolerance):
                yield f"{bundle.name}, {name}: {claimed[name]!r} claimed, {value!r} computed"


def episodes_drawn(scores: ScoreTable, bundles: Sequence[BundleFacts]) -> int:
    """Return how many episodes are drawn to compare what bundles claim: what the comparison costs."""
    n_resamples = [_whole(bundle.summary.get("n_resamples")) for bundle in bundles]
    n_episodes = [int(np.isin(scores.file, bundle.files).sum()) + OWN_COST for bundle in bundles]
    drawn = zip(n_resamples, n_episodes, strict=True)
    return sum(times * episodes for times, episodes in drawn if 1 < times <= MAX_CLAIMED_RESAMPLES)


def _whole(value: Any) -> int:
    """Return a claimed whole number that can be drawn with; −1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else -1


def _agrees(claimed: float | int, computed: float, tolerance: float) -> bool:
    # JSON has integers that no float can hold; one of those is not ours.
    return abs(claimed) <= LARGEST_CLAIM and abs(float(claimed) - computed) <= tolerance


def _bundle_summary(scores: ScoreTable, bundle: BundleFacts, claimed: Mapping[str, Any]) -> dict[str, float]:
    if not claimed or scores.seed is None or CLAIMED_METRIC not in scores.columns:
        return {}
    values = scores.value(CLAIMED_METRIC)
    at = np.flatnonzero(np.isin(scores.file, bundle.files) & ~np.isnan(values))
    if not len(at):
        return {}
    sample = group_sample(values[at], scores.seed[at])
    n_resamples, root = (_whole(claimed.get(name)) for name in ("n_resamples", "bootstrap_root_seed"))
    ours = {"n_episodes": float(len(at)), "success_mean": float(mean(sample.distinct, sample.counts)[0])}
    ours["success_iqm"] = float(interquartile_mean(sample.distinct, sample.counts)[0])
    if 1 < n_resamples <= MAX_CLAIMED_RESAMPLES and root >= 0:
        batches = draw_chamber(sample, n_resamples, chamber_generator(root, BUNDLE_SUBSTREAM))
        found = estimate(sample, {"iqm": interquartile_mean}, batches, level=LEVEL, min_clusters=1)["iqm"]
        ours |= {"success_ci_low": float(found.low or 0.0), "success_ci_high": float(found.high or 0.0)}
    return ours
