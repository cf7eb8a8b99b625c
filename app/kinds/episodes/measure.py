"""One entrant's episodes under a board of method `estimate`: metrics with intervals, by task and condition, profiles.
Seeds are resampled, then episodes within each drawn seed. Each cell has its own generator, seeded by names, so that
nothing depends on who else is on the board or on the order of seeds.

Why: docs/adr/004-episodes-and-chamber.md.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from app.boards.calibrated import FREE_ENDS, MIN_DRAWN_UNITS, Precision, assumption_free, may_hide, pooled, range_of
from app.boards.claims import pair_rows
from app.boards.coverage import with_worst
from app.boards.measured import EQUAL_SEEDS, NO_WORST_VALUE, EntrantEvidence, Estimate, Measurement, calibrated_cells
from app.boards.methods.estimate import EstimateBoard, Profile, Statistic
from app.boards.stability import family_of, means_elsewhere
from app.kinds.episodes.coverage import AGGREGATES, hold_against_grid
from app.kinds.episodes.manifest_part import EpisodesPart
from app.manifest.model import KindPart, Manifest, Metric, Uncertainty, part_of
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.calibrated import (
    ALL_EQUAL,
    Calibrated,
    calibrate,
    calibrated_iqm,
    calibrated_quantile,
    intervals,
    iqm_lean,
    over_parts,
)
from app.stats.cluster import (
    Interval,
    Sample,
    area_above,
    chamber_generator,
    draw_chamber,
    draw_clusters,
    estimate,
    group_sample,
    optimality_gap,
    profile_band,
    share_above,
    weighted_trimmed_mean,
)
from app.stats.resample import (
    board_generator,
    column_products,
    named_uniforms,
    named_weights,
    percentile_interval,
    unit_keys,
)
from app.stats.spreads import (
    ROUNDING,
    SEEDS_SUPPORT,
    SHARE,
    Range,
    Spread,
    averaged_spread,
    cluster_spread,
    influence_spread,
    reach_of_equals,
    side_by_side,
    support_of_values,
    widened_for_equals,
)
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, finite

LEADERBOARD_SUBSTREAM = "evaluation.leaderboard_bootstrap"

NOTHING = "nothing to aggregate"

GAP, AREA = "optimality_gap", "profile_area"


def measure_episodes(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Return every metric of one entrant, averaged over tasks, with its parts."""
    held = hold_against_grid(manifest, spec, evidence)
    counted = with_worst(manifest, held.counted)
    if not manifest.part.has_seeds():
        counted = items_as_units(counted, manifest.part)
    rows = EntrantRows(manifest, spec, counted)
    episodes = _Episodes(manifest, spec, evidence.entrant, rows, held.delivered)
    estimates: dict[str, Estimate] = {}
    for metric in spec.metrics:
        n_lacking = episodes.n_lacking(metric)
        for name, interval in episodes.over_tasks(metric).items():
            if n_lacking and manifest.absent == "worst":
                estimates[name] = Estimate(None, reason=NO_WORST_VALUE, n_lacking=n_lacking)
                continue
            calibrated = episodes.calibrated(metric, name)
            estimates[name] = Estimate(
                interval.point, interval.low, interval.high, _reason(interval), calibrated, n_lacking
            )
    drawn = episodes.drawn
    return Measurement(
        entrant=evidence.entrant,
        estimates=estimates,
        replicates={} if drawn is None else {spec.ranked: drawn.replicates},
        precision={} if drawn is None else {spec.ranked: drawn.precision},
        rows={
            "breakdown": tuple(episodes.breakdown()),
            "profiles": tuple(episodes.profiles()),
            "components": tuple(episodes.components()),
            "quantiles": tuple(quantile_rows(rows)),
            EQUAL_SEEDS: tuple(episodes.equal_seeds()),
        },
        facts=episodes.facts(),
        coverage=held.coverage,
        held=held.grid.held,
        bounds=held.bounds(),
        items=held.items(),
        elsewhere=episodes.elsewhere(),
    )


@dataclass(frozen=True)
class SeedScores:
    """The scores of one task, [n_episodes], with the seed of each."""

    values: FloatArray
    seeds: IntArray


@dataclass(frozen=True)
class EntrantRows:
    """The rows of one entrant, and which of them a board counts."""

    manifest: Manifest
    spec: EstimateBoard
    scores: ScoreTable

    def expected_tasks(self) -> Sequence[str]:
        """Return the tasks of the composite, the board or the manifest, or else those with rows."""
        if self.spec.composite is not None:
            return list(self.spec.composite.weights)
        return self.spec.tasks or self.manifest.task_ids() or self.scores.task.words

    def tasks(self) -> list[str]:
        """Return the expected tasks of which the entrant has rows, in their order."""
        delivered = set(self.scores.task.words)
        return [task for task in self.expected_tasks() if task in delivered]

    def weight(self, task: str) -> float:
        """Return the weight of a task in an average over tasks."""
        return 1.0 if self.spec.composite is None else self.spec.composite.weights[task]

    def of_task(self, task: str) -> BoolArray:
        """Return the counted rows of a task: in a composite those of its declared condition."""
        counts = None if self.spec.composite is None else self.spec.composite.conditions.get(task)
        return self._all_of_task(task) if counts is None else self.in_condition(task, counts)

    def in_condition(self, task: str, name: str) -> BoolArray:
        """Return the rows of a task in one condition; all of the task where there are no conditions."""
        condition = self.scores.condition
        if condition is None:
            return self._all_of_task(task)
        code = condition.words.index(name) if name in condition.words else len(condition.words)
        mask: BoolArray = self._all_of_task(task) & (condition.codes == code)
        return mask

    def _all_of_task(self, task: str) -> BoolArray:
        words = self.scores.task.words
        mask: BoolArray = self.scores.task.codes == (words.index(task) if task in words else len(words))
        return mask

    def of_board(self) -> BoolArray:
        """Return the rows of all tasks of the board."""
        masks = [self.of_task(task) for task in self.tasks()]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(self.scores), dtype=np.bool_)

    def conditions(self, task: str) -> Iterator[tuple[str, BoolArray]]:
        """Yield each condition of a task by name with its rows; empty text where there are no conditions."""
        of_task = self._all_of_task(task)
        condition = self.scores.condition
        if condition is None:
            yield "", of_task
            return
        for code, word in sorted(enumerate(condition.words), key=lambda pair: pair[1]):
            rows = of_task & (condition.codes == code)
            if rows.any():
                yield word, rows

    def sample(self, metric: str, rows: BoolArray) -> Sample | None:
        """Return the scored values of some rows by seed, for the bootstrap; None when there are none."""
        values = self.scores.value(metric)
        at = np.flatnonzero(rows & ~np.isnan(values))
        if not len(at) or self.scores.seed is None:
            return None
        if self.spec.uncertainty.stream != "chamber":
            at = at[np.argsort(self._by_name[at])]
        return group_sample(values[at], self.scores.seed[at])

    def seeded(self, metric: str, rows: BoolArray) -> SeedScores | None:
        """Return the scored values of some rows with their seeds, for a calibrated interval; None without any."""
        values = self.scores.value(metric)
        at = np.flatnonzero(rows & ~np.isnan(values))
        if not len(at) or self.scores.seed is None:
            return None
        at = at[np.argsort(self._by_name[at])]
        return SeedScores(values[at], self.scores.seed[at])

    @cached_property
    def _by_name(self) -> IntArray:
        """Return the rank of each row by item, condition and seed, so that upload order changes no digit."""
        scores = self.scores
        names = [column for column in (scores.item, scores.condition) if column is not None]
        keys = [*([] if scores.seed is None else [scores.seed]), *map(_places, reversed(names))]
        return np.argsort(np.lexsort(keys)) if keys else np.arange(len(scores))


@dataclass(frozen=True)
class ScoreMean:
    """A statistic that is the mean of a function of the scores, and the range of that function."""

    of: Callable[[FloatArray], FloatArray]
    within: Range


@dataclass(frozen=True)
class DrawnScore:
    """Replicates [n_resamples] of a score in its own unit, their precision, and its seeds by number, [n_seeds].

    Its seeds are `apart` by so much on some task, as means; 0 where no resample differs. `reach` is how far the score
    may lie off where they are equal, or nearly, and `reach_if_equal` how far if they were: `left_open`. All are in the
    same unit.
    """

    replicates: FloatArray
    precision: Precision
    seeds: IntArray
    apart: float
    reach: float | None = None
    reach_if_equal: float | None = None


@dataclass(frozen=True)
class _Episodes:
    """The rows of one entrant, and the board they are measured for.

    In `rows` missing values of a ranking metric are the worst value; `delivered` are the rows as uploaded.
    """

    manifest: Manifest
    spec: EstimateBoard
    entrant: str
    rows: EntrantRows
    delivered: ScoreTable

    def over_tasks(self, metric: str) -> dict[str, Interval]:
        """Return a metric's aggregates, averaged over the tasks that have a value; nothing when none has."""
        by_task = {task: self.one(metric, self.rows.of_task(task), (task, "")) for task in self.rows.tasks()}
        with_values = {task: intervals for task, intervals in by_task.items() if intervals}
        if not with_values:
            return {}
        weights = np.array([self.rows.weight(task) for task in with_values])
        names = next(iter(with_values.values()))
        level = self.spec.uncertainty.level
        return {
            name: average_intervals(
                [intervals[name] for intervals in with_values.values()], weights / weights.sum(), level
            )
            for name in names
        }

    def n_lacking(self, metric: str) -> int:
        """Return how many rows of the board have no value of a metric and are left out of its average."""
        return int((self.rows.of_board() & np.isnan(self.rows.scores.value(metric))).sum())

    @cached_property
    def drawn_by_name(self) -> Mapping[str, DrawnScore | None]:
        """Return replicates of the metric that ranks, by task, drawn by the names of seeds and episodes."""
        metric = self.spec.ranked
        tasks = [task for task in self.rows.tasks() if self.rows.sample(metric, self.rows.of_task(task)) is not None]
        return {
            task: draw_by_name(self.rows.scores, metric, np.flatnonzero(self.rows.of_task(task)), self.spec.uncertainty,
                               statistic=self._statistic(metric), entrant=self.entrant,
                               are_shared=self.manifest.part.shares_seeds())
            for task in tasks
        }  # fmt: skip

    @cached_property
    def drawn(self) -> DrawnScore | None:
        """Return the replicates of the metric that ranks, averaged over tasks, with what equal seeds leave open."""
        by_task, drawn = self.drawn_by_name, self.spec.uncertainty
        score = averaged(list(by_task.values()), np.array([self.rows.weight(task) for task in by_task]))
        if score is None:
            return None
        own = named_uniforms(drawn.rng_seed, (self.entrant, EQUAL), drawn.n_resamples)
        return left_open(score, range_of(self.manifest.metrics[self.spec.ranked]), drawn.level, own)

    def equal_seeds(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the number of seeds that are all equal, or nearly, and their reaches; from how far apart on none is."""
        if self.drawn is not None and self.drawn.reach is not None:
            within = range_of(self.manifest.metrics[self.spec.ranked])
            none_from = NEARLY * (within.high - within.low)
            yield len(self.drawn.seeds), self.drawn.reach, self.drawn.reach_if_equal, none_from

    def elsewhere(self) -> dict[str, float]:
        """Return the score that ranks without each task and with other weights; of a single task without conditions."""
        points = {task: point for task in self.rows.tasks()
                  if (point := self._point(self.rows.of_task(task))) is not None}  # fmt: skip
        if len(points) > 1:
            return means_elsewhere(points, {task: self.rows.weight(task) for task in points}, family_of(self.manifest))
        found = {}
        for task in points:
            counted = self.rows.of_task(task)
            for condition, rows in self.rows.conditions(task):
                left = self._point(counted & ~rows)
                if left is not None and (counted & rows).any():
                    found[f"without {condition}"] = left
        return found

    def _point(self, rows: BoolArray) -> float | None:
        """Return the statistic that ranks over some rows; None where none of them has a value."""
        sample = self.rows.sample(self.spec.ranked, rows)
        if sample is None:
            return None
        return float(AGGREGATES[self._statistic(self.spec.ranked)](sample.distinct, sample.counts)[0])

    def one(self, metric: str, rows: BoolArray, cell: tuple[str, str]) -> dict[str, Interval]:
        """Return the aggregates of a metric over some rows; nothing when none of them has a value."""
        sample = self.rows.sample(metric, rows)
        if sample is None:
            return {}
        aggregates = {self._name(metric, kind): of for kind, of in AGGREGATES.items()}
        if self.spec.optimality_gap is not None and metric == self.spec.ranked:
            aggregates[f"{metric}:{GAP}"] = optimality_gap(self.spec.optimality_gap.threshold)
        if self.spec.profile is not None and metric == (self.spec.profile.metric or self.spec.ranked):
            aggregates[f"{metric}:{AREA}"] = area_above(thresholds(self.spec.profile, self.manifest.metrics[metric]))
        return estimate(sample, aggregates, self._draw(sample, metric, cell), level=self.spec.uncertainty.level)

    def calibrated(self, metric: str, name: str, rows: BoolArray | None = None) -> Calibrated | None:
        """Return the calibrated interval of an aggregate, over the tasks that have a value or over some rows."""
        parts = [self.rows.of_task(task) for task in self.rows.tasks()] if rows is None else [rows]
        weights = [self.rows.weight(task) for task in self.rows.tasks()] if rows is None else [1.0]
        scored = [
            (scores, w) for part, w in zip(parts, weights, strict=True) if (scores := self.rows.seeded(metric, part))
        ]
        if not scored:
            return None
        shares = np.array([weight for _, weight in scored])
        shares, level = shares / shares.sum(), self.spec.uncertainty.level
        tasks = [scores for scores, _ in scored]
        mean = self._as_mean(metric, name)
        if mean is None:
            return iqm_over_tasks(tasks, shares, range_of(self.manifest.metrics[metric]), level)
        return mean_over_tasks(tasks, shares, mean, level)

    def _as_mean(self, metric: str, name: str) -> ScoreMean | None:
        """Return the function of scores that an aggregate is the mean of; None for an interquartile mean."""
        declared = self.manifest.metrics[metric]
        within = range_of(declared)
        kind = name.partition(":")[2] or self._statistic(metric)
        if kind == GAP and self.spec.optimality_gap is not None:
            return below_threshold(self.spec.optimality_gap.threshold, within)
        if kind == AREA and self.spec.profile is not None:
            return area_of_profile(thresholds(self.spec.profile, declared))
        return plain_mean(within) if kind == "mean" else None

    def breakdown(self) -> Iterator[tuple[Cell, ...]]:
        """Yield each metric by task and condition."""
        for task in self.rows.tasks():
            for condition, rows in self.rows.conditions(task):
                for metric in self.spec.metrics:
                    yield self._breakdown_row(task, condition, metric, rows)

    def components(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the parts of a composite, also those that are missing."""
        for task, weight in (self.spec.composite.weights if self.spec.composite else {}).items():
            estimate = self.one(self.spec.ranked, self.rows.of_task(task), (task, "")).get(self.spec.ranked)
            ends = (None, None, None) if estimate is None else (estimate.point, estimate.low, estimate.high)
            ours = calibrated_cells(self.calibrated(self.spec.ranked, self.spec.ranked, self.rows.of_task(task)))
            gap = gap_of(self.rows, task)
            of_gap = calibrated_cells(gap.interval)
            shown = (gap.point, of_gap.low, of_gap.high, of_gap.how, gap.n_pairs)
            yield (task, *ends, ours.low, ours.high, ours.how, weight, *shown, estimate is None)

    def profiles(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the share of episodes above each threshold, with a pointwise band."""
        profile = self.spec.profile
        if profile is None:
            return
        metric = profile.metric or self.spec.ranked
        sample = self.rows.sample(metric, self.rows.of_board())
        scores = self.rows.seeded(metric, self.rows.of_board())
        if sample is None or scores is None:
            return
        grid, level = thresholds(profile, self.manifest.metrics[metric]), self.spec.uncertainty.level
        band = profile_band(sample, grid, self._draw(sample, metric, ("", "profile")), level=level)
        shares = share_above(grid)(sample.distinct, sample.counts)[0]
        within = range_of(self.manifest.metrics[metric])
        yield from profile_rows(metric, grid, shares, band, calibrated_band(scores, grid, within, level))

    def facts(self) -> dict[str, Cell]:
        """Return the counts of attempted and of scored episodes."""
        rows = self.rows.of_board()[: len(self.delivered)]
        seeds = self.delivered.seed
        expected = self.rows.expected_tasks()
        return {
            "n_seeds": 0 if seeds is None else len(np.unique(seeds[rows])),
            "n_episodes": int(rows.sum()),
            **({"n_tasks": len(self.rows.tasks())} if len(expected) > 1 else {}),
            **self._of_clusters(rows),
            **self._assumption_free(),
        }

    def _assumption_free(self) -> dict[str, Cell]:
        """Return the ends of the interval of a mean of one task that assumes nothing but its range, of few seeds."""
        metric, tasks = self.spec.ranked, self.rows.tasks()
        within = range_of(self.manifest.metrics[metric])
        is_one = len(tasks) == len(self.rows.expected_tasks()) == 1
        scores = self.rows.seeded(metric, self.rows.of_task(tasks[0])) if is_one else None
        if scores is None or self._statistic(metric) != "mean" or not within.is_bounded:
            return {}
        names, place = np.unique(scores.seeds, return_inverse=True)
        if not may_hide("seeds", len(names)):
            return {}
        ends = assumption_free(scores.values[:, None], place.reshape(-1), within, self.spec.uncertainty.level)
        return dict(zip(FREE_ENDS, (finite(float(end)) for end in ends[:, 0]), strict=True))

    def _of_clusters(self, rows: BoolArray) -> dict[str, Cell]:
        """Return how many clusters the items are of, and the design effect: how many times they make the variance.

        Source: Kish 1965, section 8.2, with the errors of the mean over clusters and over items.
        """
        part, item = part_of(self.manifest, EpisodesPart), self.delivered.item
        if part.items is None or item is None:
            return {}
        singles = items_as_units(self.rows.scores, KindPart())
        squares = np.zeros(2)
        for task in self.rows.tasks():
            at = np.flatnonzero(self.rows.of_task(task) & ~np.isnan(self.rows.scores.value(self.spec.ranked)))
            values = self.rows.scores.value(self.spec.ranked)[at]
            for place, scores in enumerate((self.rows.scores, singles)):
                if scores.seed is not None and len(at):
                    squares[place] += (self.rows.weight(task) * float(_spread(values, scores.seed[at]).error)) ** 2
        counted = self.rows.scores.seed
        return {
            "n_clusters": 0 if counted is None else len(np.unique(counted[: len(rows)][rows])),
            "design_effect": float(squares[0] / squares[1]) if squares[1] > 0.0 else None,
        }

    def _breakdown_row(self, task: str, condition: str, metric: str, rows: BoolArray) -> tuple[Cell, ...]:
        n_lacking = int((rows & np.isnan(self.rows.scores.value(metric))).sum())
        is_left_out = n_lacking > 0 and self.manifest.absent == "worst"
        intervals = {} if is_left_out else self.one(metric, rows, (task, condition))
        about = (task, condition or None, metric, self._statistic(metric))
        if not intervals:
            why = f"{n_lacking} without a value, and the metric has no worst one" if is_left_out else NOTHING
            return (*about, *[None] * 7, 0, 0, why)
        ranked, average = intervals[metric], intervals.get(f"{metric}:mean", intervals[metric])
        scored = rows & ~np.isnan(self.rows.scores.value(metric))
        units = self.rows.scores.seed
        n_units = 0 if units is None else len(np.unique(units[scored]))
        # Without seeds the units are items, and there is one run of each.
        n_seeds = n_units if self.manifest.part.has_seeds() else min(n_units, 1)
        note = _reason(ranked)
        shown = None if note is None else note.replace("_", " ")
        ours = calibrated_cells(self.calibrated(metric, metric, rows))
        ends = (ranked.point, ranked.low, ranked.high, ours.low, ours.high, ours.how, average.point)
        return (*about, *ends, n_seeds, int(scored.sum()), shown)

    def _name(self, metric: str, kind: str) -> str:
        return metric if kind == self._statistic(metric) else f"{metric}:{kind}"

    def _statistic(self, metric: str) -> Statistic:
        return self.spec.statistic_of(metric, self.manifest.metrics[metric])

    def _draw(self, sample: Sample, metric: str, cell: tuple[str, str]) -> Iterator[FloatArray]:
        drawn = self.spec.uncertainty
        if drawn.stream == "chamber":
            return draw_chamber(sample, drawn.n_resamples, chamber_generator(drawn.rng_seed, LEADERBOARD_SUBSTREAM))
        rng = board_generator(drawn.rng_seed, self.entrant, *cell, metric)
        return draw_clusters(sample, drawn.n_resamples, rng)


def _reason(interval: Interval) -> str | None:
    """Return why there is no interval, or why it has no width."""
    return interval.reason or (ALL_EQUAL if interval.is_degenerate else None)


# The rows of one entrant that a board counts, by task and condition.


def _places(column: Coded) -> IntArray:
    """Return the place of each row's word among all words, −1 where it has none."""
    places = np.argsort(np.argsort(np.array(column.words, dtype=np.str_)))
    return np.append(places, -1)[column.codes]


# The calibrated intervals of one entrant's episodes: means and interquartile means, over one task or several. Units
# are seeds. Tasks that share no seed are independent; where a seed of the same name was run on several, its
# influences on them are added.


def plain_mean(within: Range) -> ScoreMean:
    """Return the mean of the scores themselves."""
    return ScoreMean(lambda values: values, within)


def below_threshold(threshold: float, within: Range) -> ScoreMean:
    """Return the optimality gap: the mean shortfall of scores below a threshold."""
    low, high = max(threshold - within.high, 0.0), max(threshold - within.low, 0.0)
    return ScoreMean(lambda values: np.maximum(threshold - values, 0.0), Range(low, high))


def area_of_profile(grid: FloatArray) -> ScoreMean:
    """Return the area under the performance profile, as the mean of each score's contribution."""
    width = grid[-1] - grid[0]

    def area(values: FloatArray) -> FloatArray:
        above = (values[:, None] > grid[None, :]).astype(np.float64)
        areas: FloatArray = np.trapezoid(above, grid, axis=-1) / width
        return areas

    return ScoreMean(area, SHARE)


def mean_over_tasks(tasks: Sequence[SeedScores], weights: FloatArray, mean: ScoreMean, level: float) -> Calibrated:
    """Return the interval of Σ weight × mean of a task; the weights sum to one."""
    spreads = [_spread(mean.of(task.values), task.seeds) for task in tasks]
    within = mean.within.holding(*(float(end) for task in tasks for end in _ends(mean.of(task.values))))
    if len(tasks) == 1:
        return calibrate(spreads[0], within, level)
    points = np.array([float(spread.point) for spread in spreads])
    if _share_seeds(tasks):
        return calibrate(_joint(tasks, weights, mean, spreads), within, level)
    parts = [calibrate(spread, within, level) for spread in spreads]
    if any(part.low is None for part in parts):
        return over_parts(points, parts, weights)
    return calibrate(averaged_spread(side_by_side(spreads, support=SEEDS_SUPPORT), weights), within, level)


def iqm_over_tasks(tasks: Sequence[SeedScores], weights: FloatArray, within: Range, level: float) -> Calibrated:
    """Return the interval of Σ weight × interquartile mean of a task.

    For tasks that share seeds the ends are averaged, which is valid however correlated they are. One-sided bias of a
    task's mean does not average out, so the interval reaches further on that side, but never outside the range.
    """
    held = within.holding(*(float(end) for task in tasks for end in _ends(task.values)))
    intervals = [calibrated_iqm(task.values, task.seeds, within=held, level=level) for task in tasks]
    if len(tasks) == 1:
        return intervals[0]
    leans = np.array([iqm_lean(task.values, task.seeds, within=held) for task in tasks])
    if not _share_seeds(tasks):
        points = np.array([_iqm(task.values) for task in tasks])
        return _inside(over_parts(points, intervals, weights, leans), held)
    lows = [each.low for each in intervals if each.low is not None]
    highs = [each.high for each in intervals if each.high is not None]
    n_units = float(len(np.unique(np.concatenate([task.seeds for task in tasks]))))
    if len(lows) < len(intervals) or len(highs) < len(intervals):
        reason = next((each.reason for each in intervals if each.low is None), ALL_EQUAL)
        return Calibrated(None, None, None, n_units, reason)
    added = Calibrated(float(weights @ np.array(lows)), float(weights @ np.array(highs)), intervals[0].how, n_units)
    below, above = (float(weights @ leans[:, side]) for side in (0, 1))
    return _inside(_further(added, below, above), held)


def _further(interval: Calibrated, below: float, above: float) -> Calibrated:
    """Return the interval widened for a number with these one-sided biases."""
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=interval.low - above, high=interval.high + below)


def _inside(interval: Calibrated, within: Range) -> Calibrated:
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=max(interval.low, within.low), high=min(interval.high, within.high))


def _joint(tasks: Sequence[SeedScores], weights: FloatArray, mean: ScoreMean, spreads: Sequence[Spread]) -> Spread:
    """Return the spread of the average, in which a seed's influence is its sum over all of its tasks.

    It has no more degrees of freedom than tasks without common seeds would have. Averaged over tasks a seed has hardly
    any noise from its own episodes, so it counts as a single value (`support_of_values`).
    Source: Satterthwaite 1946.
    """
    seeds = np.unique(np.concatenate([task.seeds for task in tasks]))
    influence = np.zeros(len(seeds))
    for task, weight, spread in zip(tasks, weights.tolist(), spreads, strict=True):
        moved = (mean.of(task.values) - float(spread.point)) / len(task.values)
        influence += weight * np.bincount(np.searchsorted(seeds, task.seeds), moved, minlength=len(seeds))
    point = float(weights @ np.array([float(spread.point) for spread in spreads]))
    least = float(np.linalg.norm(weights * np.array([float(spread.least) for spread in spreads])))
    n_units = np.array(float(len(seeds)))
    freedom = np.array(min(float(len(seeds)) - 1.0, _freedom_apart(weights, spreads)))
    joint = influence_spread(np.array(point), influence, n_units, freedom, least)
    return replace(joint, support=support_of_values(len(seeds)))


def _freedom_apart(weights: FloatArray, spreads: Sequence[Spread]) -> float:
    """Return the degrees of freedom of the average if tasks shared no seed; infinite where none has a spread."""
    parts = [(float(spread.error), float(spread.df)) for spread in spreads]
    shares = (weights * np.array([error if df > 0.0 else 0.0 for error, df in parts])) ** 2
    freedom = np.array([max(df, 1.0) for _, df in parts])
    return float(shares.sum() ** 2 / (shares**2 / freedom).sum()) if shares.sum() > 0.0 else np.inf


def _spread(values: FloatArray, seeds: IntArray) -> Spread:
    _, place = np.unique(seeds, return_inverse=True)
    sums = (np.bincount(place, of).astype(np.float64) for of in (values, np.ones(len(values)), values**2))
    totals, sizes, squares = sums
    return cluster_spread(totals, sizes, squares)


def _share_seeds(tasks: Sequence[SeedScores]) -> bool:
    distinct = [np.unique(task.seeds) for task in tasks]
    return len(np.unique(np.concatenate(distinct))) < sum(map(len, distinct))


def _ends(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _iqm(values: FloatArray) -> float:
    dropped = len(values) // 4
    return float(np.sort(values)[dropped : len(values) - dropped].mean())


# The gap of an axis: how much less an entrant scores in the counted condition than in the reference condition.
# Episodes of the two conditions are paired by seed and item, as claims pair them; the cluster of a difference is its
# seed.


@dataclass(frozen=True)
class Gap:
    """A mean paired difference in the metric's unit with its calibrated interval, over so many pairs."""

    point: float | None = None
    interval: Calibrated | None = None
    n_pairs: int = 0


NO_GAP = Gap()


def gap_of(rows: EntrantRows, task: str) -> Gap:
    """Return the gap of a task of a composite, in the metric that ranks; nothing without a pair.

    It is the reference condition minus the counted one.
    """
    composite, metric = rows.spec.composite, rows.spec.ranked
    if composite is None or task not in composite.against or rows.scores.condition is None:
        return NO_GAP
    names = (composite.against[task], composite.conditions[task])
    sides = (rows.in_condition(task, names[0]), rows.in_condition(task, names[1]))
    pairs = pair_rows(metric, rows.scores, sides, with_condition=False)
    if not len(pairs.difference):
        return NO_GAP
    within = range_of(rows.manifest.metrics[metric])
    width = within.high - within.low
    differences, level = [SeedScores(pairs.difference, pairs.cluster)], rows.spec.uncertainty.level
    interval = mean_over_tasks(differences, np.ones(1), plain_mean(Range(-width, width)), level)
    return Gap(float(pairs.difference.mean()), interval, len(pairs.difference))


# The performance profile of one entrant's episodes: its thresholds, and its shares with both kinds of band.

Band = tuple[FloatArray, FloatArray, FloatArray]
"""Shares with the low and high ends of their compatible intervals, [n_thresholds] each."""


def thresholds(profile: Profile, metric: Metric) -> FloatArray:
    """Return the thresholds, within the range of the metric where the profile says none."""
    low = profile.low if profile.low is not None else (0.0 if metric.min is None else metric.min)
    high = profile.high if profile.high is not None else (1.0 if metric.max is None else metric.max)
    grid: FloatArray = np.linspace(low, high, profile.n_points)
    return grid


def calibrated_band(scores: SeedScores, grid: FloatArray, within: Range, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the share of episodes above each threshold by itself, [n_thresholds]; NaN with one seed.

    NaN too where the range of the scores alone says the share, as that none is above its end: nothing is estimated.
    """
    _, cluster = np.unique(scores.seeds, return_inverse=True)
    cluster = cluster.reshape(-1)
    above = np.array([np.bincount(cluster, scores.values > tau) for tau in grid.tolist()])
    sizes = np.broadcast_to(np.bincount(cluster).astype(np.float64), above.shape)
    low, high = intervals(cluster_spread(above, sizes, above), SHARE, level)
    # A declared end that a score exceeds is none.
    none, every = ~above.any(axis=1), (above == sizes).all(axis=1)
    is_estimated = ~(((grid >= within.high) & none) | ((grid < within.low) & every))
    return np.where(is_estimated, low, np.nan), np.where(is_estimated, high, np.nan)


def profile_rows(
    metric: str, grid: FloatArray, shares: FloatArray, band: Band | None, ours: tuple[FloatArray, FloatArray]
) -> Iterator[tuple[Cell, ...]]:
    """Yield each threshold with the share above it, the compatible interval and the calibrated one."""
    nothing = np.full(len(grid), np.nan)
    ends = (nothing, nothing) if band is None else band[1:]
    columns = (grid, shares, *ends, *ours)
    for cells in zip(*(column.tolist() for column in columns), strict=True):
        yield (metric, *map(finite, cells))


# Quantiles of a metric over one entrant's episodes, such as the median, p99 and maximum of a peak force. The quantile
# of CHAMBER's admissions is numpy's, linear between scores.


def quantile_rows(rows: EntrantRows) -> Iterator[tuple[Cell, ...]]:
    """Yield the declared quantiles of each metric by task."""
    for task in rows.tasks():
        for metric, wanted in rows.spec.quantiles.items():
            scored = rows.seeded(metric, rows.of_task(task))
            if scored is not None:
                counts = (task, len(np.unique(scored.seeds)), len(scored.values))
                cells_of_quantiles = _cells(scored, wanted, rows.spec.uncertainty.level)
                yield from ((metric, *cells, *counts) for cells in cells_of_quantiles)


def _cells(scored: SeedScores, wanted: Sequence[float], level: float) -> Iterator[tuple[Cell, ...]]:
    """Yield quantile, value, interval, how it was made, and why there is none."""
    for q in wanted:
        calibrated = calibrated_quantile(scored.values, scored.seeds, q, level=level)
        ours = calibrated_cells(calibrated)
        value = float(np.quantile(scored.values, q))
        yield (_name(q), value, ours.low, ours.high, calibrated.how, _why_none(calibrated, q))


def _name(q: float) -> str:
    return {0.0: "min", 1.0: "max"}.get(q, f"p{100 * q:g}")


def _why_none(calibrated: Calibrated, q: float) -> str | None:
    if calibrated.reason is None:
        return None
    if q in (0.0, 1.0):
        return "what was seen does not bound an extreme"
    return "too few seeds to bound it on both sides"


# The units of intervals where a benchmark of episodes has no seeds: its items, or the declared clusters of them. Scores
# of one model on many questions vary by which questions were asked; without training seeds that is the only visible
# variation. Source: Miller 2024, Adding Error Bars to Evals (arXiv:2411.00640), sections 2 and 2.2.


def items_as_units(scores: ScoreTable, part: KindPart) -> ScoreTable:
    """Return rows whose seed is a number of their task and item, or its cluster: the same on every board."""
    if scores.item is None:
        return scores
    units = [*map(part.unit_of, scores.item.words), ""]
    key = scores.task.codes.astype(np.int64) * len(units) + scores.item.codes
    distinct, place = np.unique(key, return_inverse=True)
    numbers = [_number(scores.task.words[at // len(units)], units[at % len(units)]) for at in distinct]
    return replace(scores, seed=np.array(numbers, dtype=np.int64)[place.reshape(-1)])


def _number(task: str, item: str) -> int:
    """Return a 63-bit number that identifies an item of a task."""
    digest = hashlib.blake2b(f"{task}\0{item}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


# Replicates of one entrant's score on a task, for rank intervals. Only seeds are drawn: the spread between them holds
# that of the episodes within, and to draw these too would count it twice. Seeds are an entrant's own unless the
# manifest says that they are shared: then two entrants with a seed of the same number get the same weight there. A seed
# has the same weight in every condition and task that it was run in, because its quality affects all of them. Intervals
# of scores are drawn elsewhere.

TRIMMED = 0.25

EQUAL = "equal"

NEARLY = 0.1
"""The share of the range by which seeds may be apart on a task and still tell less of unseen ones than they seem to."""


def draw_by_name(
    scores: ScoreTable,
    metric: str,
    rows: NDArray[np.intp],
    drawn: Uncertainty,
    *,
    statistic: Statistic,
    entrant: str = "",
    are_shared: bool = True,
) -> DrawnScore | None:
    """Return the replicates of a metric over some rows, those without a value left out; None with fewer than two seeds.

    Where seeds `are_shared`, a seed is named by its number, else it is the entrant's own: see `own_names`.
    """
    values = scores.value(metric)
    rows = rows[~np.isnan(values[rows])]
    if scores.seed is None or not drawn.n_resamples:
        return None
    seeds, cluster = np.unique(scores.seed[rows], return_inverse=True)
    if len(seeds) < MIN_DRAWN_UNITS:
        return None
    names = [(str(seed),) for seed in seeds.tolist()] if are_shared else own_names(scores, metric, entrant, seeds)
    # In the order of their keys, so that the order of an upload, or of numbers, does not even change how sums round.
    keys = unit_keys(drawn.rng_seed, names)
    order = np.argsort(keys, kind="stable")
    distinct, of_value = np.unique(values[rows], return_inverse=True)
    n_values = len(distinct)
    counts = np.bincount(np.argsort(order)[cluster.reshape(-1)] * n_values + of_value.reshape(-1),
                         minlength=len(seeds) * n_values).reshape(len(seeds), n_values).astype(np.float64)  # fmt: skip
    weights = named_weights(keys[order], drawn.n_resamples)
    cut = int(len(rows) * TRIMMED) / len(rows) if statistic == "iqm" else 0.0
    replicates = weighted_trimmed_mean(distinct, column_products(weights, counts), cut)
    point = float(replicates[0])
    if not np.ptp(replicates) > ROUNDING * abs(point):
        apart = 0.0
    else:
        apart = float(np.ptp(counts @ distinct / counts.sum(axis=1)))
    return DrawnScore(replicates, Precision.of_units(len(seeds)), seeds, apart)


def left_open(score: DrawnScore, within: Range, level: float, own: FloatArray) -> DrawnScore:
    """Return a score with what seeds that are all equal, or nearly, leave open added to its replicates.

    It is normal, from `own`, numbers between 0 and 1 [n_resamples] that no other entrant has, and by itself so wide
    that its margin at the level is `reach_of_equals`, wide enough for smaller error rates, too: what is unseen of an
    entrant is neither shared where seeds are, nor seen in how far its seeds are apart. Less where these are apart on
    some task, and nothing from NEARLY of the range on, so that nobody gains by a little noise. Unchanged without a
    bounded range.
    """
    point = float(score.replicates.mean())
    equal = max(0.0, 1.0 - score.apart / (NEARLY * (within.high - within.low))) if within.is_bounded else 0.0
    n_seeds = len(score.seeds)
    if_equal = (reach_of_equals(point, within, n_seeds, level) or 0.0) * widened_for_equals(n_seeds, level)
    reach = equal * if_equal
    if not equal > ROUNDING or not reach:
        return score
    quantile = float(stdtrit(score.precision.freedom, (1.0 + level) / 2.0))
    error = reach / (quantile * math.sqrt(score.precision.inflation))
    unseen = ndtri(own)
    unseen -= unseen.mean()
    unseen *= error / unseen.std(ddof=1)
    return replace(score, replicates=score.replicates + unseen, reach=reach, reach_if_equal=if_equal)


def own_names(scores: ScoreTable, metric: str, entrant: str, seeds: IntArray) -> list[tuple[str, str]]:
    """Return the name of each of an entrant's own seeds [n_seeds]: the rank of what it holds among all of its seeds.

    What a seed holds are its tasks, conditions, items and values of the metric: to number seeds differently changes
    no name. Seeds that hold the same are interchangeable, whichever comes first.
    Source: sums of BLAKE2b digests as in `unit_keys`, of a set of rows: Clarke et al. 2003, Incremental multiset hash
    functions.
    """
    every = np.arange(len(scores))
    of_rows = [_words(of, every) for of in (scores.task, scores.condition, scores.item)]
    of_rows.append([value.hex() for value in scores.value(metric).tolist()])
    known, place = np.unique(np.zeros(0) if scores.seed is None else scores.seed, return_inverse=True)
    sums = np.zeros(len(known), dtype=np.uint64)
    np.add.at(sums, place.reshape(-1), unit_keys(0, zip(*of_rows, strict=True)))
    ranks = np.argsort(np.argsort(sums, kind="stable"), kind="stable")
    return [(entrant, str(rank)) for rank in ranks[np.searchsorted(known, seeds)].tolist()]


def averaged(drawn: Sequence[DrawnScore | None], weights: FloatArray) -> DrawnScore | None:
    """Return the weighted mean over tasks, alike where they share seeds; None where one has no replicates."""
    known = [each for each in drawn if each is not None]
    if not known or len(known) < len(drawn):
        return None
    shares = weights / weights.sum()
    replicates = [each.replicates for each in known]
    apart = pooled(shares, replicates, [each.precision for each in known])
    seeds = np.concatenate([each.seeds for each in known])
    most = max(each.apart for each in known)
    return DrawnScore(np.column_stack(replicates) @ shares, _of_seeds(seeds, apart), np.unique(seeds), most)


def _of_seeds(seeds: IntArray, apart: Precision) -> Precision:
    """Return the precision of an average over tasks from the seeds of each and the precision without shared seeds.

    It has no more degrees of freedom than distinct seeds, and no more than tasks without shared seeds.
    """
    n_distinct = len(np.unique(seeds))
    if n_distinct == len(seeds):
        return apart
    joint = Precision.of_units(n_distinct)
    return Precision(min(apart.freedom, joint.freedom), max(apart.inflation, joint.inflation))


def _words(coded: Coded | None, rows: NDArray[np.intp]) -> list[str]:
    return [""] * len(rows) if coded is None else [word or "" for word in coded.take(rows).to_list()]


def average_intervals(intervals: Sequence[Interval], weights: FloatArray, level: float) -> Interval:
    """Average independent tasks: points, and replicates one by one; without any spread there is no interval."""
    if len(intervals) == 1:
        return intervals[0]
    point = float(np.dot([interval.point for interval in intervals], weights))
    drawn = [interval.replicates for interval in intervals if interval.replicates is not None]
    if len(drawn) < len(intervals):
        reason = next(interval.reason for interval in intervals if interval.replicates is None)
        return Interval(point, None, None, reason, False, None)
    replicates = np.column_stack(drawn) @ weights
    low, high = percentile_interval(replicates[:, None], level)
    return Interval(point, float(low[0]), float(high[0]), None, all(i.is_degenerate for i in intervals), replicates)
