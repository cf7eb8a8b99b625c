"""Calibrated intervals of interquartile means and of quantiles over items in clusters; pure.

Called when episodes are measured. Where many scores are tied, as with success or failure, a statistic of the middle can
stay constant while the scores change; its interval is then derived from intervals for the share above each score.
"""

import numpy as np
from scipy.special import ndtr

from app.stats.arrays import FloatArray, IntArray
from app.stats.calibrated import (
    ALL_EQUAL,
    MIN_UNITS,
    TOO_FEW_UNITS,
    Calibrated,
    calibrate,
    intervals,
)
from app.stats.checks import require_finite, require_integers, require_level, require_number, require_shape
from app.stats.spreads import MOST_TRIALS, SHARE, Range, Spread, cluster_spread, influence_spread

TIED = 1 / 8
"""Largest share of items tied at one score for which the interquartile mean still varies smoothly."""
BAND, ORDER = "share_band", "order_statistics"
NO_TWO_SIDED = "no_two_sided_interval"
TURNS = (0.75, 0.25)
"""The shares above a score at which the interquartile mean stops rising with it, and begins to rise."""
MOST_HIDDEN = 1.0 + 2.0**0.5
"""Bound on the true bias, in multiples of the bias seen at an estimated share: near a turn, noise hides the rest."""
MOST_MISSED = 1.3
"""How often an interval may miss, in multiples of its nominal rate: nominally 95 % may cover 93.5 %."""


def calibrated_iqm(values: FloatArray, clusters: IntArray, *, within: Range, level: float) -> Calibrated:
    """Return the interval of the interquartile mean of items [n_items] in their `clusters`, in the items' unit.

    With few ties, it comes from the standard error of a trimmed mean between clusters. With many, from writing the
    interquartile mean as x₁ + Σ g(share above x) × (next x − x), g rising from 0 at a quarter to 1 at three quarters,
    and taking the ends of the shares. Where the whole middle half is surely at one score the interval has zero width,
    because no other value is compatible with the data. There is none with fewer than two clusters, nor where all scores
    are equal and the range is unknown.
    Raises InvalidArgument for no item, arrays of different lengths, values that are not finite or outside the range.
    Source: Tukey & McLaughlin 1963 for the error of trimmed means; the band is monotone in the survival function, so
    its ends map to those of the mean.

    >>> right = np.array([1.0] * 9 + [0.0])
    >>> iqm = calibrated_iqm(right, np.arange(10) // 2, within=SHARE, level=0.95)
    >>> iqm.how, round(iqm.low or 0, 3), iqm.high
    ('share_band', 0.229, 1.0)
    """
    require_level(level)
    spread = iqm_spread(values, clusters)
    if spread is not None:
        return calibrate(spread, within, level)
    n_clusters = len(np.unique(clusters))
    if n_clusters < MIN_UNITS:
        return Calibrated(None, None, None, float(n_clusters), TOO_FEW_UNITS)
    return _Steps(values, clusters, within).iqm(level)


def iqm_spread(values: FloatArray, clusters: IntArray) -> Spread | None:
    """Return the spread of the interquartile mean of items [n_items] in clusters, or None.

    None where scores are tied, since the mean may then not vary, and with fewer than two clusters.
    Raises InvalidArgument for no item, arrays of different lengths, and values that are not finite.
    Source: Tukey & McLaughlin 1963.

    >>> spread = iqm_spread(np.arange(16.0), np.arange(16))
    >>> (float(spread.point), round(float(spread.error), 3)) if spread else None
    (7.5, 1.528)
    >>> iqm_spread(np.array([1.0] * 9 + [0.0]), np.arange(10)) is None
    True
    """
    _require_items(values, clusters)
    _, cluster = np.unique(clusters, return_inverse=True)
    n_clusters = int(cluster.max()) + 1
    if n_clusters < MIN_UNITS or np.unique(values, return_counts=True)[1].max() > TIED * len(values):
        return None
    return _trimmed_spread(values, cluster.reshape(-1), n_clusters)


def iqm_bias(values: FloatArray, clusters: IntArray) -> float:
    """Return the jackknife estimate of the bias of the interquartile mean of items [n_items]; positive is too high.

    Skewed scores bias it by a fraction of its standard error, which averaging over many tasks does not remove; 0.0 for
    one cluster.
    Raises InvalidArgument for no item, arrays of different lengths, and values that are not finite.
    Source: Quenouille 1956, Notes on bias in estimation, with clusters as the units left out.

    >>> round(abs(iqm_bias(np.arange(16.0), np.arange(16))), 9), round(iqm_bias(np.arange(16.0) ** 2, np.arange(16)), 2)
    (0.0, 6.0)
    """
    _require_items(values, clusters)
    names = np.unique(clusters)
    if len(names) < MIN_UNITS:
        return 0.0
    without = [_exact_middle(values[clusters != name]) for name in names.tolist()]
    return (len(names) - 1.0) * (float(np.mean(without)) - _exact_middle(values))


def _exact_middle(values: FloatArray) -> float:
    """Return the mean of the middle half with fractional items: whole ones would jump when an item is left out."""
    edges = np.clip(np.arange(len(values) + 1) / len(values), 0.25, 0.75)
    return float(2.0 * np.diff(edges) @ np.sort(values))


def _middle_half(ordered: FloatArray) -> FloatArray:
    n_dropped = len(ordered) // 4
    return ordered[n_dropped : len(ordered) - n_dropped]


def iqm_lean(values: FloatArray, clusters: IntArray, *, within: Range) -> tuple[float, float]:
    """Return the one-sided biases of an interquartile mean of items [n_items]: how far below, how far above the truth.

    With many ties it is x₁ + Σ g(share above x) × (next x − x), and g stops rising at three quarters: near there, an
    estimate of the share that is too low lowers the mean, and one that is too high does not raise it. Averaging over
    many tasks does not remove that. The result is the bias at the estimated share, with normal noise, times 1 + √2,
    which bounds it whatever the true share. Zero for scores without many ties, where the bias is negligible, and for
    fewer than two clusters.
    Raises InvalidArgument as `calibrated_iqm` does.
    Source: E(Z − |Z′|)₊ = (√2 − 1) E(Z)₊ for independent standard normal Z, Z′, which gives the factor.

    >>> below, above = iqm_lean(np.array([1.0] * 15 + [0.0] * 5), np.arange(20), within=SHARE)
    >>> round(below, 3), round(above, 3)
    (0.191, 0.0)
    """
    if iqm_spread(values, clusters) is not None or len(np.unique(clusters)) < MIN_UNITS:
        return 0.0, 0.0
    return _Steps(values, clusters, within).lean()


def calibrated_quantile(values: FloatArray, clusters: IntArray, q: float, *, level: float) -> Calibrated:
    """Return the interval of the quantile q of items [n_items], in their unit; its ends are scores that occurred.

    Between the ends, the share of items at most as large cannot be distinguished from q. With few clusters a quantile
    near 0 or 1 has no such end, and a maximum (q = 1) or minimum never has: no interval then, with the reason.
    Raises InvalidArgument for q outside [0, 1], no item, arrays of different lengths, and values that are not finite.
    Source: Woodruff 1952, Confidence intervals for medians and other position measures.

    >>> median = calibrated_quantile(np.arange(16.0), np.arange(16), 0.5, level=0.95)
    >>> median.low, median.high, calibrated_quantile(np.arange(16.0), np.arange(16), 1.0, level=0.95).reason
    (3.0, 12.0, 'no_two_sided_interval')
    """
    require_level(level)
    require_number("q", q, 0.0, 1.0)
    _require_items(values, clusters)
    distinct, n_clusters = np.unique(values), len(np.unique(clusters))
    if n_clusters < MIN_UNITS:
        return Calibrated(None, None, None, float(n_clusters), TOO_FEW_UNITS)
    above = _Steps(values, clusters, Range()).shares(level)
    at_most_low, at_most_high = 1.0 - above[1], 1.0 - above[0]
    reaches, leaves = np.flatnonzero(at_most_high >= q), np.flatnonzero(at_most_low > q)
    # If it is too likely that all clusters lie on one side of the quantile, no observed score can be an end.
    one_sided = q**n_clusters + (1.0 - q) ** n_clusters
    if one_sided > MOST_MISSED * (1.0 - level) or not len(leaves) or not len(reaches):
        return Calibrated(None, None, None, float(n_clusters), NO_TWO_SIDED)
    return Calibrated(float(distinct[reaches[0]]), float(distinct[leaves[0]]), ORDER, float(n_clusters))


class _Steps:
    """The distinct scores, and how many items of each cluster lie above each of them."""

    def __init__(self, values: FloatArray, clusters: IntArray, within: Range) -> None:
        distinct, place = np.unique(values, return_inverse=True)
        names, cluster = np.unique(clusters, return_inverse=True)
        self._within, self._n_clusters = within, len(names)
        n_clusters = self._n_clusters
        self._is_constant = len(distinct) == 1
        cells = cluster.reshape(-1) * len(distinct) + place.reshape(-1)
        counts = np.bincount(cells, minlength=n_clusters * len(distinct))
        counts = counts.reshape(n_clusters, len(distinct)).astype(np.float64)
        self._sizes = counts.sum(axis=1)
        above = self._sizes[:, None] - np.cumsum(counts, axis=1)
        self._grid, self._above = self._extended(distinct, above)

    def shares(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the share above each score but the last of the grid, each [n_steps]."""
        low, high = intervals(self._spread(), SHARE, level)
        return low, high

    def iqm(self, level: float) -> Calibrated:
        """Return the interval of the interquartile mean."""
        if len(self._grid) == 1:
            return Calibrated(None, None, None, float(self._n_clusters), ALL_EQUAL)
        low, high = (np.clip(2.0 * (ends[:-1] - 0.25), 0.0, 1.0) for ends in self.shares(level))
        steps = np.diff(self._grid)
        ends = (float(self._grid[0] + steps @ low), float(self._grid[0] + steps @ high))
        return Calibrated(*ends, BAND, float(self._n_clusters))

    def lean(self) -> tuple[float, float]:
        """Return the one-sided biases of the interquartile mean, below and above the truth."""
        if self._is_constant:
            return 0.0, 0.0
        spread = self._spread()
        below, above = (_lean_at(turn, spread.point[:-1], spread.believed[:-1]) for turn in TURNS)
        steps = np.diff(self._grid)
        return float(steps @ below), float(steps @ above)

    def _spread(self) -> Spread:
        totals = self._above.T
        return cluster_spread(totals, np.broadcast_to(self._sizes, totals.shape), totals)

    def _extended(self, distinct: FloatArray, above: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the grid and the counts above it; where all scores are equal, the ends of the range are added."""
        if not self._is_constant:
            return distinct, above
        only, grid, columns = float(distinct[0]), [float(distinct[0])], [above[:, 0]]
        if np.isfinite(self._within.low) and self._within.low < only:
            grid, columns = [self._within.low, *grid], [self._sizes, *columns]
        if np.isfinite(self._within.high) and self._within.high > only:
            grid, columns = [*grid, self._within.high], [*columns, np.zeros(len(self._sizes))]
        return np.array(grid), np.column_stack(columns)


def _lean_at(turn: float, share: FloatArray, error: FloatArray) -> FloatArray:
    """Return the mean shift that normal noise in the shares [n_steps] causes in g, which has its kink at `turn`."""
    known = np.where(error > 0.0, error, 1.0)
    away = np.abs(share - turn) / known
    lean: FloatArray = np.exp(-(away**2) / 2.0) / np.sqrt(2.0 * np.pi) - away * ndtr(-away)
    return np.where(error > 0.0, MOST_HIDDEN * 2.0 * error * np.maximum(lean, 0.0), 0.0)


def _trimmed_spread(values: FloatArray, cluster: IntArray, n_clusters: int) -> Spread:
    """Return the spread of the interquartile mean from the influence of each cluster."""
    kept = _middle_half(np.sort(values))
    winsorized = np.clip(values, kept[0], kept[-1])
    moved = (winsorized - winsorized.mean()) / len(kept)
    influence = np.bincount(cluster, moved, minlength=n_clusters).astype(np.float64)
    least = np.sqrt(float((moved**2).sum()) / MOST_TRIALS)
    n_units = np.array(float(n_clusters))
    return influence_spread(np.array(float(kept.mean())), influence, n_units, n_units - 1.0, least)


def _require_items(values: FloatArray, clusters: IntArray) -> None:
    require_shape("values", values, "[n_items]")
    require_finite("values", values)
    require_shape("clusters", clusters, len(values))
    require_integers("clusters", clusters)
