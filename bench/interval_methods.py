"""The intervals that are compared: bootstraps and closed forms of a mean of units, for many data sets at once.

`units` is [n_datasets, n_units]; a method returns (low, high), each [n_datasets].
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from app.stats.arrays import FloatArray

Ends = tuple[FloatArray, FloatArray]
Method = Callable[[FloatArray], Ends]
LEVEL, TAIL, N_RESAMPLES = 0.95, 0.025, 999
BATCH = 1_000


def student(units: FloatArray) -> Ends:
    """Return Student's interval of the mean."""
    reach = stdtrit(units.shape[1] - 1, 1 - TAIL) * _error(units)
    return units.mean(axis=1) - reach, units.mean(axis=1) + reach


def log_student(units: FloatArray) -> Ends:
    """Return Student's interval on the scale of logarithms, for means above zero."""
    mean = units.mean(axis=1)
    reach = stdtrit(units.shape[1] - 1, 1 - TAIL) * _error(units) / mean
    return mean * np.exp(-reach), mean * np.exp(reach)


def design_effect(n_items: int) -> Method:
    """Return Wilson's interval with the number of items over the design effect, and normal quantiles."""

    def interval(units: FloatArray) -> Ends:
        share, n_units = units.mean(axis=1), units.shape[1]
        variance, squared = share * (1 - share), _error(units) ** 2
        trials = np.where(squared > 0, variance / np.where(squared > 0, squared, 1.0), n_units)
        trials = np.clip(np.where(variance > 0, trials, n_units), n_units, n_units * n_items)
        ratio = ndtri(1 - TAIL) ** 2 / trials
        reach = np.sqrt(ratio * (variance + ratio / 4)) / (1 + ratio)
        middle = (share + ratio / 2) / (1 + ratio)
        return np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)

    return interval


def percentile(units: FloatArray) -> Ends:
    """Return the percentile bootstrap over units."""
    return _by_batch(units, lambda part: _quantiles(part @ _counts(part.shape[1]).T))


def bootknife(units: FloatArray) -> Ends:
    """Return the percentile bootstrap in which each resample draws from all units but one."""
    n_units = units.shape[1]
    rng = np.random.default_rng([2, n_units])
    left_out = rng.integers(n_units, size=(N_RESAMPLES, 1))
    drawn = rng.integers(n_units - 1, size=(N_RESAMPLES, n_units))
    drawn += drawn >= left_out
    counts = np.stack([np.bincount(row, minlength=n_units) for row in drawn]) / n_units
    return _by_batch(units, lambda part: _quantiles(part @ counts.T))


def bootstrap_t(units: FloatArray) -> Ends:
    """Return the studentized bootstrap over units; resamples without spread count as no deviation."""

    def interval(part: FloatArray) -> Ends:
        counts, mean, error = _counts(part.shape[1]), part.mean(axis=1), _error(part)
        drawn = part @ counts.T
        spread = np.sqrt(np.clip((part**2) @ counts.T - drawn**2, 0, None) / (part.shape[1] - 1))
        deviation = np.where(spread > 0, (drawn - mean[:, None]) / np.where(spread > 0, spread, 1.0), 0.0)
        low, high = _quantiles(deviation)
        return mean - high * error, mean - low * error

    return _by_batch(units, interval)


def accelerated(units: FloatArray) -> Ends:
    """Return Efron's BCa interval over units."""

    def interval(part: FloatArray) -> Ends:
        mean = part.mean(axis=1)
        drawn = np.sort(part @ _counts(part.shape[1]).T, axis=1)
        below = (drawn < mean[:, None]).mean(axis=1) + (drawn == mean[:, None]).mean(axis=1) / 2
        bias = ndtri(np.clip(below, 0.001, 0.999))
        apart = part - mean[:, None]
        squared = (apart**2).sum(axis=1)
        speed = np.where(squared > 0, (apart**3).sum(axis=1) / (6 * np.where(squared > 0, squared, 1.0) ** 1.5), 0.0)
        ends = []
        for quantile in (ndtri(TAIL), ndtri(1 - TAIL)):
            at = ndtr(bias + (bias + quantile) / (1 - speed * (bias + quantile)))
            place = np.clip(np.rint(at * (N_RESAMPLES - 1)), 0, N_RESAMPLES - 1).astype(np.int64)
            ends.append(np.take_along_axis(drawn, place[:, None], axis=1)[:, 0])
        return ends[0], ends[1]

    return _by_batch(units, interval)


BOOTSTRAPS: Mapping[str, Method] = {
    "percentile": percentile,
    "bootknife": bootknife,
    "BCa": accelerated,
    "bootstrap-t": bootstrap_t,
}


def _counts(n_units: int) -> FloatArray:
    """Return resamples as shares of each unit, [N_RESAMPLES, n_units], the same for every data set."""
    rng = np.random.default_rng([1, n_units])
    counts: FloatArray = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_RESAMPLES) / n_units
    return counts


def _by_batch(units: FloatArray, method: Method) -> Ends:
    parts = [method(units[start : start + BATCH]) for start in range(0, len(units), BATCH)]
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def _quantiles(drawn: FloatArray) -> Ends:
    low, high = np.quantile(drawn, [TAIL, 1 - TAIL], axis=1)
    return low, high


def _error(units: FloatArray) -> FloatArray:
    error: FloatArray = units.std(axis=1, ddof=1) / np.sqrt(units.shape[1])
    return error
