"""One submission's own episodes: each metric with its intervals. A power or debug run is summarised as it registered,
which may be with the pooled bootstrap; nothing of this decides a rank.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.admission.case import Check, some
from app.admission.claims import SHOWN, SubmissionClaims, check_claims, decided_later, own_means
from app.boards.coverage import with_worst
from app.kinds.contract import Evaluation, Summary
from app.kinds.episodes.coverage import AGGREGATES
from app.manifest.model import Manifest
from app.names import first_few
from app.prereg.fields import BootstrapMethod
from app.stats.arrays import BoolArray
from app.stats.cluster import (
    Interval,
    chamber_generator,
    draw_chamber,
    draw_clusters,
    draw_iid,
    estimate,
    group_sample,
    interquartile_mean,
    mean,
)
from app.stats.resample import board_generator
from app.values.facts import BundleFacts
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
COMPATIBLE = (
    "Intervals here are the compatible ones, percentiles of resamples drawn for this submission alone: too short with "
    "few seeds, and without width where all are equal. The board shows calibrated ones."
)

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("metric", "Metric", "text"),
    Column("iqm", "IQM", interval=("iqm_lower", "iqm_upper"), glossary="iqm", digits=3),
    Column("iqm_lower", "IQM, low", detail=True, glossary="iqm", digits=3),
    Column("iqm_upper", "IQM, high", detail=True, glossary="iqm", digits=3),
    Column("mean", "Mean", interval=("mean_lower", "mean_upper"), digits=3),
    Column("mean_lower", "Mean, low", detail=True, digits=3),
    Column("mean_upper", "Mean, high", detail=True, digits=3),
    Column("n_seeds", "Seeds", "integer", glossary="counts"),
    Column("n_episodes", "Episodes", "integer", glossary="counts"),
    Column("note", "Note", "text"),
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the table of a submission, with the worst value for empty scores, and the checks of its claims."""
    manifest, scores = evaluation.manifest, evaluation.rows
    table = summarise_episodes(manifest, with_worst(manifest, scores), evaluation.bootstrap_method)
    return Summary([table], own_claims(evaluation.claimed()))


def summarise_episodes(manifest: Manifest, scores: ScoreTable, method: BootstrapMethod) -> Table:
    """Return one row per entrant, task and metric."""
    rows = tuple(
        (entrant, task, metric, *_cells(scores, mine & (scores.task.codes == number), metric, method, entrant))
        for code, entrant in enumerate(scores.entrant.words)
        for mine in (scores.entrant.codes == code,)
        for number, task in enumerate(scores.task.words)
        for metric in manifest.metrics
    )
    how = "pooled, as registered for a run that is never ranked" if method == "iid" else "over seeds, then episodes"
    meta = {"interval": f"percentile bootstrap {how}", "level": LEVEL, "n_resamples": N_RESAMPLES}
    return Table("summary", "This submission's own numbers", COLUMNS, rows, (COMPATIBLE,), meta)


def _cells(scores: ScoreTable, rows: BoolArray, metric: str, method: BootstrapMethod, entrant: str) -> tuple[Cell, ...]:
    values, seeds = scores.value(metric), scores.seed
    at = np.flatnonzero(rows & ~np.isnan(values))
    if not len(at) or seeds is None:
        return (*[None] * 6, 0, 0, "no value")
    sample = group_sample(values[at], seeds[at])
    rng = board_generator(0, "summary", entrant, metric)
    draw = draw_iid if method == "iid" else draw_clusters
    batches = draw(sample, N_RESAMPLES, rng)
    intervals = estimate(sample, AGGREGATES, batches, level=LEVEL, min_clusters=1 if method == "iid" else 2)
    return (*_ends(intervals["iqm"]), *_ends(intervals["mean"]), len(sample.sizes), len(at), _note(intervals["mean"]))


def _ends(interval: Interval) -> tuple[Cell, Cell, Cell]:
    return (interval.point, interval.low, interval.high)


def _note(interval: Interval) -> str | None:
    reason = interval.reason or ("all equal" if interval.is_degenerate else None)
    return None if reason is None else reason.replace("_", " ")


# The claims of result bundles, compared with values recomputed from their own episodes.

CLAIMED_LEVEL = 0.95

CLAIMED_INTERVAL = ("success_ci_low", "success_ci_high")

DRAWN_WITH = ("n_resamples", "bootstrap_root_seed")

BUNDLE_SUBSTREAM = "evaluation.bundle_bootstrap"

CLAIMED_METRIC = "success"

MAX_CLAIMED_RESAMPLES = 20_000

# A resample costs as much as its episodes plus this many.
OWN_COST = 500

# Most episodes to draw within a request for comparing claimed intervals: about a second on a small machine.
MOST_EPISODES_DRAWN = 20_000_000

LARGEST_CLAIM, SUMMARY_TOLERANCE = 10**15, 1e-9

Computed = Sequence[tuple[BundleFacts, Mapping[str, float]]]
"""Bundles, each with the values computed from its own episodes."""


def own_claims(claimed: SubmissionClaims) -> list[Check]:
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
    computed = [(bundle, _bundle_summary(scores, bundle, _stated_summary(bundle))) for bundle in bundles]
    different = list(_differences(computed, tolerance=0.0 if exact else SUMMARY_TOLERANCE))
    if different:
        reason = f"Claimed summaries differ from the episodes: {first_few(different, SHOWN, between='; ')}."
        return [Check("claimed_summary", "failed", reason)]
    how = "to the last digit" if exact else f"within {SUMMARY_TOLERANCE:g}"
    if unverified := list(_unverified(computed)):
        reason = f"Not verified, because they cannot be computed again: {some(unverified)}."
        return [Check("claimed_summary", "warned", f"{reason} Whatever else is claimed comes out, {how}.")]
    return [Check("claimed_summary", "passed", f"Every claimed summary comes out of the episodes, {how}.")]


def can_be_drawn(summary: Mapping[str, Any]) -> bool:
    """Say whether a claimed interval states its number of resamples and its root seed."""
    return _whole(summary.get("n_resamples")) > 1 and _whole(summary.get("bootstrap_root_seed")) >= 0


def _unverified(computed: Computed) -> Iterator[str]:
    """Yield the claimed values of each bundle that could not be compared, and why."""
    for bundle, ours in computed:
        claims = _claims_of(bundle)
        if bundle.summary and not claims:
            yield f"{bundle.name} (every value of its summary is null)"
        silent = sorted(claims.keys() - ours.keys())
        if silent:
            yield f"{bundle.name}, {', '.join(silent)}{_why_not_drawn(bundle, silent)}"


def _why_not_drawn(bundle: BundleFacts, silent: Sequence[str]) -> str:
    if not set(silent) & set(CLAIMED_INTERVAL):
        return ""
    if can_be_drawn(bundle.summary):
        return f" (drawn again with at most {MAX_CLAIMED_RESAMPLES:,} resamples)"
    how = ", ".join(f"{name} is {json.dumps(bundle.summary.get(name))}" for name in DRAWN_WITH)
    return f" ({how}; expected whole numbers)"


def _stated_summary(bundle: BundleFacts) -> dict[str, float | int]:
    return {name: value for name, value in bundle.summary.items() if value is not None}


def _claims_of(bundle: BundleFacts) -> dict[str, float | int]:
    return {name: value for name, value in _stated_summary(bundle).items() if name not in DRAWN_WITH}


def is_exact(manifest: Manifest) -> bool:
    """Say whether a benchmark takes its bundles from CHAMBER, whose summaries come out bit for bit."""
    return any(board.uncertainty.stream == "chamber" for board in manifest.leaderboards)


def _differences(computed: Computed, tolerance: float) -> Iterator[str]:
    """Yield a sentence for each value that a bundle claims and its episodes do not give.

    CHAMBER's own stream is drawn again, down to one seed, whose interval we would not publish. Without a tolerance
    every number must be the claimed one; with it other programs may round their sums another way.
    """
    for bundle, ours in computed:
        claimed = _stated_summary(bundle)
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
    """Return a claimed whole number that can be drawn with, 2000.0 too; −1 for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < 2**63 and value == int(value) else -1


def _agrees(claimed: float | int, computed: float, tolerance: float) -> bool:
    # JSON may contain integers too large for a float, which cannot be valid here.
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
        interval = estimate(sample, {"iqm": interquartile_mean}, batches, level=CLAIMED_LEVEL, min_clusters=1)["iqm"]
        ours |= {"success_ci_low": float(interval.low or 0.0), "success_ci_high": float(interval.high or 0.0)}
    return ours
