"""One submission's own episodes: each metric with its intervals, and what its bundles claim held against ours.

Called by `app.jobs.evaluate`; pure. A power or debug run is summarised as it registered, which may be with the pooled
bootstrap; nothing of this decides a rank.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.manifest.manifest import Manifest
from app.prereg.values import BootstrapMethod
from app.stats.aggregate import Interval, estimate, interquartile_mean, mean
from app.stats.arrays import BoolArray
from app.stats.cluster import chamber_generator, draw_chamber, draw_clusters, draw_iid, group_sample
from app.stats.resample import board_generator
from app.values.facts import BundleFacts
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
AGGREGATES = {"iqm": interquartile_mean, "mean": mean}
BUNDLE_SUBSTREAM = "evaluation.bundle_bootstrap"
CLAIMED_METRIC = "success"
MAX_CLAIMED_RESAMPLES = 20_000
# A resample costs its episodes, and as much as this many for itself.
OWN_COST = 500
LARGEST_CLAIM, SUMMARY_TOLERANCE = 10**15, 1e-9

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("metric", "Metric", "text"),
    Column("iqm", "IQM", interval=("iqm_lower", "iqm_upper"), glossary="iqm", digits=3),
    Column("iqm_lower", "IQM, low", detail=True, glossary="iqm", digits=3),
    Column("iqm_upper", "IQM, high", detail=True, glossary="iqm", digits=3),
    Column("mean", "Mean", interval=("mean_lower", "mean_upper"), glossary="mean", digits=3),
    Column("mean_lower", "Mean, low", detail=True, glossary="mean", digits=3),
    Column("mean_upper", "Mean, high", detail=True, glossary="mean", digits=3),
    Column("n_seeds", "Seeds", "integer", glossary="counts"),
    Column("n_episodes", "Episodes", "integer", glossary="counts"),
    Column("note", "Note", "text"),
)


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
    return Table("summary", "This submission's own numbers", COLUMNS, rows, (), meta)


def _cells(scores: ScoreTable, rows: BoolArray, metric: str, method: BootstrapMethod, entrant: str) -> tuple[Cell, ...]:
    values, seeds = scores.value(metric), scores.seed
    at = np.flatnonzero(rows & ~np.isnan(values))
    if not len(at) or seeds is None:
        return (*[None] * 6, 0, 0, "no value")
    sample = group_sample(values[at], seeds[at])
    rng = board_generator(0, "summary", entrant, metric)
    draw = draw_iid if method == "iid" else draw_clusters
    batches = draw(sample, N_RESAMPLES, rng)
    found = estimate(sample, AGGREGATES, batches, level=LEVEL, min_clusters=1 if method == "iid" else 2)
    return (*_ends(found["iqm"]), *_ends(found["mean"]), len(sample.sizes), len(at), _note(found["mean"]))


def _ends(found: Interval) -> tuple[Cell, Cell, Cell]:
    return (found.point, found.low, found.high)


def _note(found: Interval) -> str | None:
    reason = found.reason or ("all equal" if found.is_degenerate else None)
    return None if reason is None else reason.replace("_", " ")


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
