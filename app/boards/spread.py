"""The uncertainty of a board's scores: replicates drawn by the names of the units, and their degrees of freedom.

Called by the ranking methods for `app.boards.standing`. Whatever stream a board declares for the intervals of its
scores, rank intervals, verdicts and probabilities come from these draws.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.manifest.uncertainty import Uncertainty
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval
from app.stats.known_columns import Columns
from app.stats.named_draws import Keys, NamedResamples, unit_keys
from app.stats.resample import Resamples

MIN_UNITS = 2


@dataclass(frozen=True)
class Precision:
    """The degrees of freedom behind the replicates of one score, such as units − 1, and their `Contests.inflation`."""

    freedom: float
    inflation: float

    @classmethod
    def of_units(cls, n_units: float) -> "Precision":
        """Return the precision of a mean of `n_units` units, at least two; a fraction where they weigh differently."""
        return cls(n_units - 1.0, (n_units + 1.0) / (n_units - 1.0))

    @classmethod
    def of_strata(cls, n_units: Sequence[int]) -> "Precision":
        """Return the precision of a mean over strata that share no unit; at least one must have two."""
        several = [n for n in n_units if n >= MIN_UNITS]
        inflation = sum((n + 1.0) / (n - 1.0) for n in several) / len(several)
        return cls(float(sum(several) - len(several)), inflation)


@dataclass(frozen=True)
class Spread:
    """Replicates [n_resamples, n_entrants] of a board's scores, larger being better, each with its precision.

    None for an entrant without replicates; its column holds its point. `in_steps`: see `Contests`.
    """

    replicates: FloatArray
    precision: Sequence[Precision | None]
    in_steps: bool = False

    @classmethod
    def of_units(cls, replicates: FloatArray, n_units: float) -> "Spread":
        """Return a spread in which every score has the same number of units."""
        return cls(replicates, [Precision.of_units(n_units)] * replicates.shape[1])

    @property
    def freedom(self) -> FloatArray:
        """Return the degrees of freedom, [n_entrants]; NaN without replicates."""
        return np.array([np.nan if each is None else each.freedom for each in self.precision])

    @property
    def inflation(self) -> FloatArray:
        """Return the inflation of the variances, [n_entrants]; NaN without replicates."""
        return np.array([np.nan if each is None else each.inflation for each in self.precision])


def draw_named_tasks(drawn: Uncertainty, tasks: Sequence[str]) -> NamedResamples | None:
    """Return the resamples of tasks by name; None for a single task, which has no spread, and without resamples.

    Source: `app.stats.named_draws`.

    >>> draw_named_tasks(Uncertainty(n_resamples=100), ["a"]) is None
    True
    """
    if len(tasks) < MIN_UNITS or not drawn.n_resamples:
        return None
    return NamedResamples(_keys(drawn.rng_seed, tuple(tasks)), drawn.n_resamples)


@lru_cache(maxsize=16)
def _keys(rng_seed: int, tasks: tuple[str, ...]) -> Keys:
    """Return the read-only keys of tasks, cached because the boards of a benchmark usually share them."""
    keys = unit_keys(rng_seed, [(task,) for task in tasks])
    keys.setflags(write=False)
    return keys


def stratified_means(drawn: NamedResamples, sizes: Sequence[int], values: FloatArray) -> FloatArray:
    """Return resampled means over tasks, [n_resamples, n_entrants], with weights normalized within each stratum.

    `values` are [n_tasks, n_entrants] in any unit, the tasks stratum by stratum; a stratum keeps its share of the
    tasks. A NaN makes its column NaN. Source: Davison & Hinkley 1997, section 3.2; Rubin 1981 for the weights.

    >>> drawn = draw_named_tasks(Uncertainty(n_resamples=100), ["a", "b", "c"])
    >>> bool(np.allclose(stratified_means(drawn, [1, 2], np.array([[3.0], [6.0], [6.0]])), 5.0))
    True
    """
    ends = np.cumsum(sizes)
    parts = []
    for start, end in zip((ends - np.array(sizes)).tolist(), ends.tolist(), strict=True):
        of_stratum = NamedResamples(drawn.keys[start:end], drawn.n_resamples)
        parts.append(of_stratum.means(values[start:end]) * ((end - start) / len(values)))
    means: FloatArray = np.sum(parts, axis=0)
    return means


def pooled(weights: FloatArray, replicates: Sequence[FloatArray], parts: Sequence[Precision]) -> Precision:
    """Return the precision of a weighted mean of independent scores, each with its replicates [n_resamples].

    `weights` are [n_scores]; a NaN among replicates is left out.
    Source: Satterthwaite 1946, with the variances of the replicates; where none varies, the fewest degrees.

    >>> drawn = np.array([0.0, 1.0])
    >>> pooled(np.array([0.5, 0.5]), [drawn, drawn], [Precision(4.0, 1.0), Precision(4.0, 1.0)])
    Precision(freedom=8.0, inflation=1.0)
    """
    shares = weights**2 * np.array([np.nanvar(drawn) for drawn in replicates])
    if not shares.sum() > 0.0:
        return min(parts, key=lambda part: part.freedom)
    shares /= shares.sum()
    freedom = 1.0 / sum(share**2 / part.freedom for share, part in zip(shares.tolist(), parts, strict=True))
    return Precision(freedom, sum(share * part.inflation for share, part in zip(shares.tolist(), parts, strict=True)))


def resampled_ends(
    columns: Columns, resamples: Resamples, level: float, scale: Callable[[FloatArray], FloatArray] | None = None
) -> FloatArray:
    """Return the percentile interval of the mean of each column over resampled units, [2, n_columns].

    `scale` is a module-level function that turns each mean into the published number. A column without values gives
    NaN.
    Raises InvalidArgument for a level outside (0, 1). Source: `app.stats.interval.percentile_interval`.

    >>> resamples = Resamples(2, 3, lambda: np.random.default_rng(1))
    >>> resampled_ends(Columns(np.array([[5.0], [5.0]])), resamples, 0.95).tolist()
    [[5.0], [5.0]]
    """

    def ends(values: FloatArray) -> FloatArray:
        means = resamples.means(values)
        return np.stack(percentile_interval(means if scale is None else scale(means), level))

    draws = resamples.digest()
    return ends(columns.values) if draws is None else columns.numbers(("ends", draws, level, scale), ends)


def named_means(columns: Columns, drawn: NamedResamples) -> FloatArray:
    """Return `NamedResamples.means` of the columns, [n_resamples, n_columns]; NaN for a column without values.

    Source: `app.stats.named_draws`.

    >>> drawn = draw_named_tasks(Uncertainty(n_resamples=100), ["a", "b"])
    >>> float(named_means(Columns(np.array([[5.0], [5.0]])), drawn).min())
    5.0
    """
    return columns.numbers(("named", drawn.keys.tobytes(), drawn.n_resamples), drawn.means)
