"""One entrant's episodes under a board of method `estimate`: metrics with intervals, by task and condition, profiles.

Called by `app.jobs.measuring` through the kind's entry in `app.kinds.known`. Seeds are resampled, then episodes within
each drawn seed. Each cell has its own generator, seeded by names, so that nothing depends on who else is on the board
or on the order of seeds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from app.boards.calibrated import range_of
from app.boards.measured import NO_WORST_VALUE, EntrantEvidence, Estimate, Measurement, calibrated_cells
from app.boards.methods.estimate.spec import EstimateBoard, Statistic
from app.boards.missing_scores import with_worst
from app.kinds.episodes.board_rows import BoardRows
from app.kinds.episodes.calibrated import (
    ScoreMean,
    area_of_profile,
    below_threshold,
    iqm_over_tasks,
    mean_over_tasks,
    plain_mean,
)
from app.kinds.episodes.gaps import gap_of
from app.kinds.episodes.grid import hold_against_grid
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.episodes.named_scores import DrawnScore, average_intervals, averaged, draw_by_name
from app.kinds.episodes.profiles import profile_rows, thresholds
from app.kinds.episodes.quantiles import quantile_rows
from app.kinds.episodes.units import items_as_units
from app.manifest.manifest import Manifest, part_of
from app.stats.aggregate import Aggregate, Interval, estimate, interquartile_mean, mean, optimality_gap
from app.stats.arrays import BoolArray, FloatArray
from app.stats.calibrated import ALL_EQUAL, Calibrated
from app.stats.cluster import Sample, chamber_generator, draw_chamber, draw_clusters
from app.stats.profiles import area_above, profile_band, share_above
from app.stats.resample import board_generator
from app.values.scores import ScoreTable
from app.values.table import Cell

LEADERBOARD_SUBSTREAM = "evaluation.leaderboard_bootstrap"
NOTHING = "nothing to aggregate"
GAP, AREA = "optimality_gap", "profile_area"
AGGREGATES: Mapping[str, Aggregate] = {"iqm": interquartile_mean, "mean": mean}


def measure_episodes(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Return every metric of one entrant, averaged over tasks, with its parts."""
    held = hold_against_grid(manifest, spec, evidence)
    counted = with_worst(manifest, held.counted)
    if part_of(manifest, EpisodesPart).where.seed is None:
        counted = items_as_units(counted)
    rows = BoardRows(manifest, spec, counted)
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
    drawn = episodes.drawn_by_name(spec.ranked)
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
        },
        facts=episodes.facts(),
        coverage=held.coverage,
        held=held.grid.held,
        bounds=held.bounds(),
        items=held.items(),
    )


@dataclass(frozen=True)
class _Episodes:
    """The rows of one entrant, and the board they are measured for.

    In `rows` missing values of a ranking metric are the worst value; `delivered` are the rows as uploaded.
    """

    manifest: Manifest
    spec: EstimateBoard
    entrant: str
    rows: BoardRows
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

    def drawn_by_name(self, metric: str) -> DrawnScore | None:
        """Return replicates of a metric, averaged over tasks, drawn by the names of seeds and episodes."""
        tasks = [task for task in self.rows.tasks() if self.rows.sample(metric, self.rows.of_task(task)) is not None]
        drawn = [
            draw_by_name(self.rows.scores, metric, np.flatnonzero(self.rows.of_task(task)), self.spec.uncertainty,
                         statistic=self._statistic(metric))
            for task in tasks
        ]  # fmt: skip
        return averaged(drawn, np.array([self.rows.weight(task) for task in tasks]))

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
        yield from profile_rows(metric, grid, shares, band, scores, level)

    def facts(self) -> dict[str, Cell]:
        """Return the counts of attempted and of scored episodes."""
        rows = self.rows.of_board()[: len(self.delivered)]
        seeds = self.delivered.seed
        expected = self.rows.expected_tasks()
        return {
            "n_seeds": 0 if seeds is None else len(np.unique(seeds[rows])),
            "n_episodes": int(rows.sum()),
            **({"n_tasks": len(self.rows.tasks())} if len(expected) > 1 else {}),
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
        n_seeds = 0 if self.rows.scores.seed is None else len(np.unique(self.rows.scores.seed[scored]))
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
