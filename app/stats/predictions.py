"""What predictions are worth: classes and their confusion, calibration of probabilities, errors of regression, and
rankings within groups (NDCG, MRR, MAP, precision at one); pure.

`probabilities` are [n_examples, n_classes] with rows that sum to one, which the reader of an upload has checked;
`labels` are class numbers [n_examples] from 0, `weights` [n_examples] count examples. What is undefined is None, or NaN
inside an array. No argument holds NaN: missing predictions have been filled in before. Where conventions differ, YDF
0.16's is used.

Errors of regression are in the unit of the labels; `weights` count examples.

Rankings: `predicted`, `relevance` and `groups`, the group numbers, are [n_examples]. A group whose ideal gain is zero
scores zero and stays in the mean. Every score is within [0, 1] and larger is better. `scores` breaks ties between
predictions by falling relevance, the best case: this is YDF 0.16's rule and gives a constant prediction a perfect
score. `tied_scores` averages over random order.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtri

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_finite,
    require_integers,
    require_numbers,
    require_shape,
    require_weights,
    require_within,
    share,
)
from app.stats.compiled import compiled

BINARY = 2
# A probability of zero would make the log-loss infinite; YDF 0.16 and scikit-learn clip at this number, 2.2e-16.
SMALLEST = float(np.finfo(np.float64).eps)


def predicted_classes(probabilities: FloatArray) -> IntArray:
    """Return the most probable class, [n_examples]; ties go to the lowest number, but of two classes to the second.

    Raises InvalidArgument for NaN and for fewer than two classes.
    Source: YDF 0.16, accuracy of a classification, for how ties are broken.

    >>> predicted_classes(np.array([[0.5, 0.5], [0.6, 0.4]])).tolist()
    [1, 0]
    """
    _require_probabilities(probabilities)
    if probabilities.shape[1] == BINARY:
        return (probabilities[:, 1] >= 0.5).astype(np.int64)
    classes: IntArray = np.argmax(probabilities, axis=1)
    return classes


def confusion_matrix(labels: IntArray, predicted: IntArray, n_classes: int, weights: FloatArray) -> FloatArray:
    """Return weighted counts [n_classes, n_classes]: rows are the truth, columns what was predicted.

    Raises InvalidArgument for arrays of different lengths, class numbers outside [0, n_classes), and a negative weight.
    Source: `sklearn.metrics.confusion_matrix` with `sample_weight`.

    >>> confusion_matrix(np.array([0, 1, 1]), np.array([0, 0, 1]), 2, np.ones(3)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    _require_labels("labels", labels, n_classes, weights)
    _require_labels("predicted", predicted, n_classes, weights)
    cells = np.bincount(labels * n_classes + predicted, weights, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes).astype(np.float64)


@dataclass(frozen=True)
class ConstantPredictor:
    """The scores of the best constant predictions: the commonest class, and the classes' shares as probabilities."""

    accuracy: float
    log_loss: float


def constant_predictor(labels: IntArray, n_classes: int, weights: FloatArray) -> ConstantPredictor | None:
    """Return the default accuracy and log-loss, in nats; None without an example of positive weight.

    Raises InvalidArgument as `confusion_matrix` does.
    Source: YDF 0.16, default metrics; the loss is −Σ share × ln share, the entropy of the classes' shares.

    >>> constant_predictor(np.array([0, 1, 1, 1]), 2, np.ones(4))
    ConstantPredictor(accuracy=0.75, log_loss=0.5623351446188083)
    """
    _require_labels("labels", labels, n_classes, weights)
    counts = np.bincount(labels, weights, minlength=n_classes)
    if not counts.sum() > 0:
        return None
    shares = counts[counts > 0] / counts.sum()
    return ConstantPredictor(float(shares.max()), float(max(0.0, -(shares * np.log(shares)).sum())))


@dataclass(frozen=True)
class Reliability:
    """Examples binned by predicted probability, [n_bins]: mean prediction, observed share, weight, number of examples.

    `plain` is the unweighted mean prediction. Empty bins and examples of weight zero are left out.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray
    n_examples: IntArray
    plain: FloatArray

    @property
    def expected_calibration_error(self) -> float | None:
        """Return Σ weight × |predicted − observed| / Σ weight; None where there is no weight. Smaller is better.

        Source: Naeini, Cooper & Hauskrecht 2015, the expected calibration error.
        """
        total = float(self.weight.sum())
        return float((self.weight * np.abs(self.predicted - self.observed)).sum()) / total if total > 0 else None


def reliability(scores: FloatArray, is_positive: BoolArray, weights: FloatArray, n_bins: int = 10) -> Reliability:
    """Return the calibration of scores in [0, 1] in bins of equal width; the last bin includes 1.

    `scores` and `is_positive` are [n_examples].
    Raises InvalidArgument for a score outside [0, 1], arrays of different lengths, a negative weight, and `n_bins`
    below 1.
    Source: Naeini, Cooper & Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning.

    >>> bins = reliability(np.array([0.25, 0.75]), np.array([False, True]), np.ones(2), n_bins=2)
    >>> (bins.predicted.tolist(), bins.observed.tolist(), bins.expected_calibration_error)
    ([0.25, 0.75], [0.0, 1.0], 0.25)
    """
    require_count("n_bins", n_bins)
    require_shape("scores", scores, "n_examples")
    require_within("scores", scores, 0.0, 1.0)
    require_shape("is_positive", is_positive, len(scores))
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    place = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    is_filled = weight > 0
    predicted = np.bincount(place, weights * scores, minlength=n_bins)[is_filled] / weight[is_filled]
    observed = np.bincount(place, weights * is_positive, minlength=n_bins)[is_filled] / weight[is_filled]
    counted = weights > 0
    n_examples = np.bincount(place, counted, minlength=n_bins)[is_filled]
    plain = np.bincount(place, counted * scores, minlength=n_bins)[is_filled] / n_examples
    return Reliability(predicted, observed, weight[is_filled], n_examples.astype(np.int64), plain)


def _require_probabilities(probabilities: FloatArray) -> None:
    require_shape("probabilities", probabilities, "n_examples", "n_classes")
    require_count("the number of classes", probabilities.shape[1], least=BINARY)
    require_numbers("probabilities", probabilities)


def _require_labels(name: str, labels: IntArray, n_classes: int, weights: FloatArray) -> None:
    require_count("n_classes", n_classes)
    require_shape(name, labels, "n_examples")
    require_integers(name, labels, low=0, high=n_classes - 1)
    require_shape("weights", weights, len(labels))
    require_weights("weights", weights)


FENCE = 3.0


def root_mean_squared_error(predicted: FloatArray, labels: FloatArray, weights: FloatArray) -> float | None:
    """Return √(weighted mean of squared residuals); lower is better. None without an example of positive weight.

    Raises InvalidArgument for arrays of different lengths, numbers that are not finite, and a negative weight.
    Source: `sklearn.metrics.root_mean_squared_error`, with `sample_weight`.

    >>> root_mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.ones(2))
    1.4142135623730951
    """
    _require_values(weights, predicted=predicted, labels=labels)
    mean = _mean((predicted - labels) ** 2, weights)
    return None if mean is None else float(np.sqrt(mean))


def default_rmse(labels: FloatArray, weights: FloatArray) -> float | None:
    """Return the error of always predicting the weighted mean label; None without an example of positive weight.

    Raises InvalidArgument as `root_mean_squared_error` does.
    Source: YDF 0.16, default RMSE: the labels' standard deviation with divisor n.

    >>> default_rmse(np.array([1.0, 3.0]), np.ones(2))
    1.0
    """
    _require_values(weights, labels=labels)
    mean = _mean(labels, weights)
    return None if mean is None else root_mean_squared_error(np.full(len(labels), mean), labels, weights)


@dataclass(frozen=True)
class Bins:
    """A histogram or conditional plot, by bin: centre, weight, mean, and number of examples with positive weight."""

    centre: FloatArray
    weight: FloatArray
    mean: FloatArray
    n_examples: IntArray


def conditional_mean(
    by: FloatArray, values: FloatArray, weights: FloatArray, n_bins: int = 30, n_extreme: int = 1
) -> Bins:
    """Return the weighted mean of `values` in bins of `by` of equal width; NaN in an empty bin.

    The bins span from the mean of the `n_extreme` smallest numbers of `by` to that of the largest, but no further than
    three interquartile ranges beyond the quartiles, so that a few outliers do not force all others into one bin; the
    first and the last bin also hold what lies beyond.
    Raises InvalidArgument for no example, no bin, arrays of different lengths, numbers that are not finite, a negative
    weight.
    Source: YDF 0.16, conditional plots, with the centres of bins; Tukey 1977, Exploratory data analysis, section 2D,
    the outer fences.

    >>> bins = conditional_mean(np.array([0.0, 1.0]), np.array([5.0, 7.0]), np.ones(2), n_bins=2)
    >>> (bins.centre.tolist(), bins.mean.tolist())
    ([0.25, 0.75], [5.0, 7.0])
    """
    _require_values(weights, by=by, values=values)
    require_shape("by", by, "[n_examples]")
    require_count("n_bins", n_bins)
    require_count("n_extreme", n_extreme)
    low, high = _ends(by, n_extreme)
    place = in_bin(by, by, n_bins, n_extreme)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    sums = np.bincount(place, weights * values, minlength=n_bins).astype(np.float64)
    mean = share(sums, weight)
    n_examples = np.bincount(place, weights > 0, minlength=n_bins).astype(np.int64)
    return Bins(low + (np.arange(n_bins) + 0.5) * (high - low) / n_bins, weight, mean, n_examples)


def in_bin(by: FloatArray, values: FloatArray, n_bins: int, n_extreme: int = 1) -> IntArray:
    """Return the index, from 0, of each value's bin among those that `conditional_mean` uses for `by`, [n_examples].

    Raises InvalidArgument for no bin and numbers that are not finite.
    Source: the bins of `conditional_mean`.

    >>> in_bin(np.array([0.0, 1.0]), np.array([0.9, 7.0]), 2).tolist()
    [1, 1]
    """
    require_shape("by", by, "[n_examples]")
    require_count("n_bins", n_bins)
    require_count("n_extreme", n_extreme)
    require_finite("values", values)
    low, high = _ends(by, n_extreme)
    with np.errstate(over="ignore"):
        place: IntArray = np.clip((values - low) / (high - low) * n_bins, 0, n_bins - 1).astype(np.int64)
    return place


def _ends(values: FloatArray, n_extreme: int) -> tuple[float, float]:
    ordered, n_extreme = np.sort(values), min(n_extreme, len(values))
    low, high = float(ordered[:n_extreme].mean()), float(ordered[-n_extreme:].mean())
    quartiles = [_around(ordered, len(ordered) * quarter // 4, n_extreme) for quarter in (1, 3)]
    reach = FENCE * (quartiles[1] - quartiles[0])
    if reach > 0.0:
        low, high = max(low, quartiles[0] - reach), min(high, quartiles[1] + reach)
    return low, high if high > low else low + max(1.0, abs(low))


def _around(ordered: FloatArray, at: int, n_extreme: int) -> float:
    """Return the mean of `n_extreme` sorted numbers around an index: a quartile that reveals no single one."""
    start = min(max(0, at - n_extreme // 2), len(ordered) - n_extreme)
    return float(ordered[start : start + n_extreme].mean())


def normal_quantiles(residuals: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (theoretical, observed) quantiles of a normal probability plot, both ascending, [n_examples].

    Observed residuals are standardized by their own mean and standard deviation, or zero if all are equal; an example's
    plotting position is the middle of its share of the weight.
    Raises InvalidArgument for no weight above zero, arrays of different lengths, residuals that are not finite, a
    negative weight.
    Source: Hazen 1914 for the plotting positions (i − ½) / n; NIST/SEMATECH e-Handbook, section 1.3.3.21.

    >>> [quantiles.round(3).tolist() for quantiles in normal_quantiles(np.array([1.0, 3.0]), np.ones(2))]
    [[-0.674, 0.674], [-1.0, 1.0]]
    """
    _require_values(weights, residuals=residuals)
    if not weights.sum() > 0:
        raise InvalidArgument("weights are all zero; expected one above it at least")
    order = np.argsort(residuals, kind="stable")
    ordered, weight = residuals[order], weights[order]
    total = weight.sum()
    positions = (np.cumsum(weight) - 0.5 * weight) / total
    mean = float(np.average(ordered, weights=weight))
    deviation = float(np.sqrt(np.average((ordered - mean) ** 2, weights=weight)))
    theoretical: FloatArray = ndtri(np.clip(positions, 1e-12, 1 - 1e-12))
    return theoretical, (ordered - mean) / deviation if deviation > 0 else np.zeros(len(ordered))


def _require_values(weights: FloatArray, **arrays: FloatArray) -> None:
    require_shape("weights", weights, "n_examples")
    require_weights("weights", weights)
    for name, array in arrays.items():
        require_shape(name, array, len(weights))
        require_finite(name, array)


def _mean(values: FloatArray, weights: FloatArray) -> float | None:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else None


@dataclass(frozen=True)
class GroupScores:
    """The scores of each group, [n_groups]; a metric is their mean, and its bootstrap draws groups."""

    ndcg: FloatArray
    default_ndcg: FloatArray
    mrr: FloatArray
    average_precision: FloatArray
    precision_at_1: FloatArray


@dataclass(frozen=True)
class TiedScores:
    """The expected scores of each group, [n_groups], within [0, 1], larger being better; 0 for a group without hits."""

    mrr: FloatArray
    average_precision: FloatArray
    precision_at_1: FloatArray


@dataclass(frozen=True)
class RankedGroups:
    """Examples sorted by group, then by falling prediction, ties by falling relevance, which is the best case.

    `gain` is 2^relevance − 1, averaged over ties of the prediction; `best` is the gain in the ideal order. `rank`
    counts from 0 within the group. `starts`, `sizes` and `is_first_best` are [n_groups]. `ties` [n_ties] is where each
    run of equal predictions begins, `is_best` marks a group's most relevant examples, and `falling` is the relevance in
    the ideal order.
    """

    is_relevant: BoolArray
    gain: FloatArray
    best: FloatArray
    rank: IntArray
    starts: IntArray
    sizes: IntArray
    is_first_best: BoolArray
    ties: IntArray
    is_best: BoolArray
    falling: FloatArray

    def of_equals(self) -> "RankedGroups":
        """Return the same groups with one prediction for all examples, as `rank_groups` does, without sorting again.

        Source: none; all examples of a group are one tie.

        >>> groups = np.zeros(2, dtype=np.int64)
        >>> rank_groups(np.array([0.1, 0.9]), np.array([1.0, 0.0]), groups).of_equals().gain.tolist()
        [0.5, 0.5]
        """
        return replace(
            self,
            is_relevant=self.falling > 0,
            gain=_mean_over_ties(self.best, self.starts),
            is_first_best=np.ones(len(self.starts), dtype=np.bool_),
            ties=self.starts,
            is_best=_are_best(self.falling, self.starts, self.sizes),
        )

    def scores(self, truncation: int) -> GroupScores:
        """Return each group's scores over its first `truncation` ranks; rank r, from 1, is discounted by log2(r + 1).

        Raises InvalidArgument unless `truncation` is a whole number of at least 1.
        Source: Järvelin & Kekäläinen 2002 for NDCG, with the gains 2^relevance − 1 of Burges et al. 2005; Manning,
        Raghavan & Schütze 2008, Introduction to information retrieval, section 8.4, for MAP and precision.

        >>> groups = np.zeros(3, dtype=np.int64)
        >>> scores = rank_groups(np.array([0.9, 0.5, 0.1]), np.array([0.0, 1.0, 1.0]), groups).scores(2)
        >>> (scores.mrr.tolist(), scores.average_precision.tolist(), scores.precision_at_1.tolist())
        ([0.5], [0.5], [0.0])
        """
        discount, ideal = self._discounted(truncation)
        average = np.add.reduceat(self.best, self.starts) / self.sizes
        hits = self.is_relevant & (self.rank < truncation)
        return GroupScores(
            ndcg=_share_or_zero(np.add.reduceat(self.gain * discount, self.starts), ideal),
            default_ndcg=_share_or_zero(average * np.add.reduceat(discount, self.starts), ideal),
            mrr=1.0 / np.minimum.reduceat(np.where(hits, self.rank + 1.0, np.inf), self.starts),
            average_precision=self._average_precisions(hits),
            precision_at_1=self.is_first_best.astype(np.float64),
        )

    def ndcg(self, truncation: int) -> FloatArray:
        """Return each group's NDCG over its first `truncation` ranks, [n_groups], as `scores` does.

        Raises InvalidArgument unless `truncation` is a whole number of at least 1.
        Source: Järvelin & Kekäläinen 2002, as `scores` takes it.

        >>> groups = np.zeros(2, dtype=np.int64)
        >>> rank_groups(np.array([0.9, 0.5]), np.array([0.0, 1.0]), groups).ndcg(2).round(4).tolist()
        [0.6309]
        """
        discount, ideal = self._discounted(truncation)
        return _share_or_zero(np.add.reduceat(self.gain * discount, self.starts), ideal)

    def _discounted(self, truncation: int) -> tuple[FloatArray, FloatArray]:
        """Return each example's discount and each group's ideal DCG."""
        require_count("truncation", truncation)
        by_rank = 1.0 / np.log2(np.arange(int(self.sizes.max())) + 2.0)
        by_rank[truncation:] = 0.0
        discount = by_rank[self.rank]
        return discount, np.add.reduceat(self.best * discount, self.starts)

    def tied_scores(self, truncation: int) -> TiedScores:
        """Return each group's expected MRR, average precision and precision at one with ties broken at random.

        Raises InvalidArgument unless `truncation` is a whole number of at least 1.
        Source: `app.stats.predictions`.

        >>> groups = np.zeros(2, dtype=np.int64)
        >>> rank_groups(np.array([0.5, 0.5]), np.array([0.0, 1.0]), groups).tied_scores(5).mrr.tolist()
        [0.75]
        """
        sizes = np.diff(np.append(self.ties, len(self.rank)))
        hits, best = (np.add.reduceat(of, self.ties) for of in (self.is_relevant, self.is_best))
        blocks = np.bincount(np.searchsorted(self.starts, self.ties, side="right") - 1, minlength=len(self.starts))
        return tied_scores(sizes, hits, best, blocks, truncation)

    def ndcg_upto(self, truncation: int) -> FloatArray:
        """Return the NDCG of each group at the truncations 1, 2, … up to `truncation`, [n_groups, truncation].

        Raises InvalidArgument unless `truncation` is a whole number of at least 1.
        Source: Järvelin & Kekäläinen 2002, with the gains of `scores`.

        >>> groups = np.zeros(2, dtype=np.int64)
        >>> rank_groups(np.array([0.9, 0.5]), np.array([0.0, 1.0]), groups).ndcg_upto(2).round(4).tolist()
        [[0.0, 0.6309]]
        """
        require_count("truncation", truncation)
        is_counted = self.rank < truncation
        at = (np.repeat(np.arange(len(self.sizes)), self.sizes)[is_counted], self.rank[is_counted])
        sums, by_rank = np.zeros((2, len(self.sizes), truncation)), np.log2(np.arange(truncation) + 2.0)
        for discounted, gains in zip(sums, (self.gain, self.best), strict=True):
            discounted[at] = gains[is_counted] / by_rank[at[1]]
        reached, ideal = np.cumsum(sums, axis=2)
        return _share_or_zero(reached, ideal)

    def _average_precisions(self, hits: BoolArray) -> FloatArray:
        upto = np.cumsum(hits)
        within: IntArray = upto - np.repeat(upto[self.starts] - hits[self.starts], self.sizes)
        precision = np.where(hits, within / (self.rank + 1.0), 0.0)
        n_hits = np.add.reduceat(hits, self.starts, dtype=np.float64)
        return _share_or_zero(np.add.reduceat(precision, self.starts), n_hits)


def rank_groups(
    predicted: FloatArray, relevance: FloatArray, groups: IntArray, rows: IntArray | None = None
) -> RankedGroups:
    """Sort the examples of every group once, for scores at any truncation; groups are in order of their numbers.

    `rows` [n_examples] is the order in which the examples were sent, theirs where it is None: YDF's precision at one
    depends on it where two equally relevant examples tie.
    Raises InvalidArgument for no example, arrays of different lengths, predictions or relevances that are not finite,
    and group numbers that are not integers.
    Source: McSherry & Najork 2008, ties share the mean gain of their ranks.

    >>> ranked = rank_groups(np.array([0.1, 0.9, 0.5]), np.array([1.0, 0.0, 2.0]), np.array([7, 7, 8]))
    >>> (ranked.sizes.tolist(), ranked.gain.tolist(), ranked.best.tolist())
    ([2, 1], [0.0, 1.0, 3.0], [1.0, 0.0, 3.0])
    """
    require_shape("predicted", predicted, "[n_examples]")
    require_finite("predicted", predicted)
    require_shape("relevance", relevance, len(predicted))
    require_finite("relevance", relevance)
    require_shape("groups", groups, len(predicted))
    require_integers("groups", groups)
    order, falling = orders_within(groups, predicted, relevance)
    rank, starts, sizes = _places(groups[order])
    gains = np.exp2(relevance) - 1.0
    ties, ordered = _ties(predicted[order], starts), relevance[order]
    return RankedGroups(
        is_relevant=ordered > 0,
        gain=_mean_over_ties(gains[order], ties),
        best=gains[falling],
        rank=rank,
        starts=starts,
        sizes=sizes,
        is_first_best=_is_first_best(predicted, relevance, groups, rows),
        ties=ties,
        is_best=_are_best(ordered, starts, sizes),
        falling=relevance[falling],
    )


def _places(groups: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return each sorted example's rank within its group, and the groups' starts and sizes."""
    _, starts, sizes = np.unique(groups, return_index=True, return_counts=True)
    rank = np.arange(len(groups)) - np.repeat(starts, sizes)
    return rank, starts, sizes


def _ties(predicted: FloatArray, starts: IntArray) -> IntArray:
    """Return where each run of equal predictions within a group begins."""
    begins = np.concatenate([[True], predicted[1:] != predicted[:-1]])
    begins[starts] = True
    return np.flatnonzero(begins)


def _are_best(relevance: FloatArray, starts: IntArray, sizes: IntArray) -> BoolArray:
    most = np.repeat(np.maximum.reduceat(relevance, starts), sizes)
    return np.asarray((relevance == most) & (relevance > 0))


def _mean_over_ties(gains: FloatArray, ties: IntArray) -> FloatArray:
    sizes = np.diff(np.append(ties, len(gains)))
    means: FloatArray = np.repeat(np.add.reduceat(gains, ties) / sizes, sizes)
    return means


def _is_first_best(predicted: FloatArray, relevance: FloatArray, groups: IntArray, rows: IntArray | None) -> BoolArray:
    """Say, for each group, whether its most relevant example that was sent first has the largest prediction.

    That is YDF's rule: of tied predictions the most relevant counts, but not an equally relevant one of a later row.
    """
    order = np.argsort(groups, kind="stable") if rows is None else np.lexsort((rows, groups))
    _, starts, sizes = _places(groups[order])
    values, relevances = predicted[order], relevance[order]
    is_most = relevances == np.repeat(np.maximum.reduceat(relevances, starts), sizes)
    first = np.minimum.reduceat(np.where(is_most, np.arange(len(values)), len(values)), starts)
    has_largest: BoolArray = values[first] == np.maximum.reduceat(values, starts)
    return has_largest


def _share_or_zero(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, and 0 where the whole is 0: a group with nothing to gain, or without a hit, scores 0."""
    return np.where(whole > 0, share(part, whole), 0.0)


# Expected ranking scores when ties between predictions are broken at random; pure. A group is a sequence of blocks of
# tied examples, from the largest prediction to the smallest. A constant prediction scores what a random order would,
# whatever order the examples are in.


def tied_scores(sizes: IntArray, hits: IntArray, best: IntArray, blocks: IntArray, truncation: int) -> TiedScores:
    """Return the expected scores over all orders of the tied examples, of the first `truncation` ranks.

    `sizes`, `hits` and `best` are [n_blocks]: how many examples a block has, how many are relevant, and how many are
    the group's most relevant; `blocks` [n_groups] is each group's number of blocks. Average precision divides by the
    number of relevant examples that could be in the first ranks: one that falls outside them is a miss.
    Raises InvalidArgument unless `truncation` is a whole number of at least 1, and for counts that are not whole.
    Source: McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence of
    tied scores, equations 4 and 6.

    >>> one = np.array([1])
    >>> scores = tied_scores(np.array([4]), one, one, one, 5)
    >>> (scores.mrr.round(4).tolist(), scores.average_precision.round(4).tolist(), scores.precision_at_1.tolist())
    ([0.5208], [0.5208], [0.25])
    """
    require_count("truncation", truncation)
    for name, counts in (("sizes", sizes), ("hits", hits), ("best", best), ("blocks", blocks)):
        require_integers(name, counts, low=0)
    for name, counts in (("hits", hits), ("best", best)):
        require_shape(name, counts, len(sizes))
    reciprocal, precisions = np.zeros(len(blocks)), np.zeros(len(blocks))
    _expect_first_hits(sizes, hits, blocks, truncation, reciprocal)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, truncation + 1))])
    _expect_precisions(sizes, hits, blocks, truncation, harmonic, precisions)
    begins = np.cumsum(blocks) - blocks
    return TiedScores(reciprocal, precisions, best[begins] / sizes[begins])


@compiled()
def _expect_first_hits(
    sizes: IntArray, hits: IntArray, blocks: IntArray, truncation: int, expected: FloatArray
) -> None:
    """Sum, over ranks, 1 / rank times the probability that the first relevant example has that rank."""
    end = 0
    for group in range(len(blocks)):
        at, passed, end = end, 0, end + blocks[group]
        while at < end and hits[at] == 0:
            passed += sizes[at]
            at += 1
        if at == end:
            continue
        size, n_hits = sizes[at], hits[at]
        chance = n_hits / size
        for place in range(min(truncation - passed, size - n_hits + 1)):
            expected[group] += chance / (passed + place + 1)
            chance *= (size - place - n_hits) / max(size - place - 1, 1)


@compiled()
def _expect_precisions(
    sizes: IntArray, hits: IntArray, blocks: IntArray, truncation: int, harmonic: FloatArray, expected: FloatArray
) -> None:
    """Sum the expected precision at the relevant examples in the first ranks, over as many as could be there.

    With m relevant ones among s at random ranks behind p others, f of them relevant, Σ over the first n of these ranks
    of precision × relevance is m / s × ((f + 1) Σ 1 / rank + (m − 1) / (s − 1) × Σ (rank − p − 1) / rank).
    """
    end = 0
    for group in range(len(blocks)):
        at, end, passed, n_relevant = end, end + blocks[group], 0, 0
        while at < end:
            size, n_hits = sizes[at], hits[at]
            inside = max(min(size, truncation - passed), 0)
            each = harmonic[passed + inside] - harmonic[passed] if inside else 0.0
            further = (n_hits - 1) / max(size - 1, 1) * (inside - (passed + 1) * each)
            expected[group] += n_hits / size * ((n_relevant + 1) * each + further)
            at, passed, n_relevant = at + 1, passed + size, n_relevant + n_hits
        expected[group] /= max(min(n_relevant, truncation), 1)


# The order of examples within their groups, by falling values.

MAX_COMBINED = 2**62

MOST_IN_GROUP = 64
"""Groups of up to so many examples are sorted one by one, by insertion: larger ones would take the square of that."""


def orders_within(groups: IntArray, first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    """Return two orders [n_examples] by group: within it by falling `first`, of equals by falling `second`; and by
    falling `second` alone.

    All are [n_examples]. What is equal in all has any order.
    Raises InvalidArgument for arrays of different lengths, values that are not finite, and group numbers that are not
    integers. Source: by definition.

    >>> first, second = orders_within(np.array([7, 7, 8]), np.array([0.1, 0.9, 0.5]), np.array([2.0, 1.0, 0.0]))
    >>> (first.tolist(), second.tolist())
    ([1, 0, 2], [0, 1, 2])
    """
    require_shape("groups", groups, "n_examples")
    require_integers("groups", groups)
    for name, values in (("first", first), ("second", second)):
        require_shape(name, values, len(groups))
        require_finite(name, values)
    ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, len(groups))
    if (groups[1:] < groups[:-1]).any() or np.diff(ends, prepend=0).max() > MOST_IN_GROUP:
        of_group, of_second = _Key.of(groups), _Key.of(-second)
        return _order(of_group, _Key.of(-first), of_second), _order(of_group, of_second)
    orders = np.empty((2, len(groups)), dtype=np.int64)
    for order, by in zip(orders, (first, second), strict=True):
        _insert(ends, by, second, order)
    return orders[0], orders[1]


@compiled()
def _insert(ends: IntArray, first: FloatArray, second: FloatArray, order: IntArray) -> None:
    """Put each example of a group before those with lower values; those with the same ones keep their order."""
    begin = 0
    for end in ends:
        for example in range(begin, end):
            at = example
            while at > begin:
                other = order[at - 1]
                is_same = first[other] == first[example]
                if first[other] > first[example] or (is_same and second[other] >= second[example]):
                    break
                order[at] = other
                at -= 1
            order[at] = example
        begin = end


@dataclass(frozen=True)
class _Key:
    """Values to sort by, with the rank of each among the distinct values."""

    values: FloatArray | IntArray
    place: IntArray
    n_distinct: int

    @classmethod
    def of(cls, values: FloatArray | IntArray) -> Self:
        """Return a key; values that are already in order, as groups often are, need no sorting."""
        if (values[1:] >= values[:-1]).all():
            place = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])
            return cls(values, place, int(place[-1]) + 1)
        distinct, place = np.unique(values, return_inverse=True)
        return cls(values, place, len(distinct))


def _order(*keys: _Key) -> IntArray:
    """Return the order by the first key, then the next, and so on; not stable for examples equal in all keys.

    One sort of combined integers takes a third of the time of lexsort, which sorts stably by every key.
    """
    combined, n_combined = np.zeros(len(keys[0].values), dtype=np.int64), 1
    for key in keys:
        n_combined *= key.n_distinct
        if n_combined > MAX_COMBINED:
            return np.lexsort([key.values for key in reversed(keys)])
        combined = combined * key.n_distinct + key.place
    order: IntArray = np.argsort(combined)
    return order
