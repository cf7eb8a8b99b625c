"""What the rows of a whole submission must agree on: metrics, estimators, strata, repeats, and what aggregates claim.

Called by `app.kinds.series.read` when every raw/metrics.csv has been read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.identity import split_identity
from app.errors import Problem
from app.files.findings import Findings
from app.kinds.series.catalog import CATALOG
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.metrics import row_metrics
from app.kinds.series.names import ESTIMATOR_RULE, is_estimator_name
from app.kinds.series.rows import MetricRows, Words
from app.manifest.manifest import Manifest, part_of
from app.names import clip_for_message
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE


@dataclass(frozen=True)
class SeriesChecks:
    """The rows of scope per_series of one submission, and where what is wrong with them goes."""

    manifest: Manifest
    rows: MetricRows
    words: Words
    files: Mapping[int, str]
    findings: Findings

    @property
    def _used(self) -> Collection[str]:
        return row_metrics(self.manifest.metrics)

    def problem(self, message: str, at: int, column: str, value: str) -> Problem:
        """Return a problem at one of the rows."""
        rows = self.rows
        return Problem(message, self.files[int(rows.file[at])], int(rows.row[at]), column, clip_for_message(value))

    def kept(self) -> BoolArray:
        """Say which rows the benchmark reads: those of the metrics that it uses, and those made of estimates."""
        used = self._used
        uses = np.array([*(name in used for name in self.words.metrics), True])
        return uses[self.rows.metric]

    def check(self) -> list[Problem]:
        """Add every problem to the findings and return what the submitter should know."""
        self.findings.extend(self._problems_of_metrics())
        self.findings.extend(self._problems_of_estimators())
        self._refuse_values_out_of_range()
        self._refuse_repeats()
        self._refuse_second_strata()
        self._refuse_unlisted_strata()
        return self._warnings_of_metrics()

    def _problems_of_metrics(self) -> Iterator[Problem]:
        for code, at, n_rows in _firsts(self.rows.metric):
            identity = self.words.metrics[code]
            complaint = self._complaint_about_metric(identity)
            if complaint is not None:
                yield self.problem(f"{complaint}{_many(n_rows)}", at, "metric_name", identity)

    def _complaint_about_metric(self, identity: str) -> str | None:
        # A label behind a colon tells variants of one metric apart.
        metric = split_identity(identity)[0].partition(":")[0]
        known, mode = CATALOG.get(metric), part_of(self.manifest, SeriesPart).mode
        if metric == "coverage_error":
            return "coverage_error is computed from the coverage of a stratum; a single series has none"
        if known is not None and known.is_classification:
            return f"{metric} is computed from the estimates and truths of many records; a single series has none"
        if known is not None and known.needs_truth and mode == "observational":
            return f"{metric} needs a known truth, which an observational benchmark does not have"
        if known is None and identity not in self.manifest.metrics:
            return "unknown metric: neither the benchmark nor lrdbench's catalog has it"
        return None

    def _warnings_of_metrics(self) -> list[Problem]:
        delivered = {self.words.metrics[code] for code, _, _ in _firsts(self.rows.metric)}
        unused = delivered - set(self._used)
        if not unused:
            return []
        return [Problem(f"metrics that this benchmark does not use were ignored: {', '.join(sorted(unused))}")]

    def _problems_of_estimators(self) -> Iterator[Problem]:
        for code, at, n_rows in _firsts(np.where(self.is_diagnostic(), NONE, self.rows.estimator)):
            name, enrolled = self.words.estimators[code], part_of(self.manifest, SeriesPart).estimators
            if not is_estimator_name(name):
                yield self.problem(f"not a name that is allowed: {ESTIMATOR_RULE}", at, "estimator_name", name)
            elif enrolled is not None and name not in enrolled:
                message = f"unknown estimator; the benchmark enrols {', '.join(enrolled[:20])}{_many(n_rows)}"
                yield self.problem(message, at, "estimator_name", name)

    def is_diagnostic(self) -> BoolArray:
        """Say which rows measure something between estimators, under a made-up name."""
        catalogued = [CATALOG.get(split_identity(name)[0]) for name in self.words.metrics]
        flags = [metric is not None and metric.diagnostic for metric in catalogued]
        return np.array([*flags, False])[self.rows.metric]

    def _refuse_values_out_of_range(self) -> None:
        bounds = [self.manifest.metrics.get(name) for name in self.words.metrics]
        low = [-np.inf if metric is None or metric.min is None else metric.min for metric in bounds]
        high = [np.inf if metric is None or metric.max is None else metric.max for metric in bounds]
        lows, highs = np.array([*low, -np.inf])[self.rows.metric], np.array([*high, np.inf])[self.rows.metric]
        value = self.rows.value
        wrong = np.flatnonzero((value < lows) | (value > highs)).tolist()

        def describe(position: int) -> Problem:
            at = wrong[position]
            name = self.words.metrics[self.rows.metric[at]]
            message = f"{name} lies between {lows[at]:g} and {highs[at]:g}"
            return self.problem(message, at, "value", repr(float(value[at])))

        self.findings.add_each(range(len(wrong)), describe)

    def _refuse_repeats(self) -> None:
        rows = self.rows
        named = np.flatnonzero((rows.record != NONE) & (rows.estimator != NONE) & (rows.metric != NONE))
        keys = (rows.record[named] * len(self.words.estimators) + rows.estimator[named]) * len(self.words.metrics)
        first = _earliest(keys + rows.metric[named])
        repeated = np.flatnonzero(first != np.arange(len(first)))

        def describe(position: int) -> Problem:
            at, before = named[repeated[position]], named[first[repeated[position]]]
            estimator, metric = self.words.estimators[rows.estimator[at]], self.words.metrics[rows.metric[at]]
            place = f"row {rows.row[before]} of {self.files[int(rows.file[before])]}"
            message = f"{estimator} has {metric} on this record already: {place}"
            return self.problem(message, at, "record_id", self.words.records[rows.record[at]])

        self.findings.add_each(range(len(repeated)), describe)

    def _refuse_second_strata(self) -> None:
        """A record belongs to one stratum: every other stratum of it is a problem at its first row."""
        rows = self.rows
        placed = np.flatnonzero((rows.record != NONE) & (self._stratum_numbers() != NONE))
        _, first = np.unique(rows.record[placed] * len(self.words.strata) + rows.stratum[placed], return_index=True)
        pairs = placed[np.sort(first)]
        before = pairs[_earliest(rows.record[pairs])]
        second = np.flatnonzero(before != pairs)

        def describe(position: int) -> Problem:
            at, earlier = pairs[second[position]], before[second[position]]
            place = f"row {rows.row[earlier]} of {self.files[int(rows.file[earlier])]}"
            stratum = self.words.strata[rows.stratum[earlier]]
            message = f"record {self.words.records[rows.record[at]]} is in another stratum already: {place}"
            value = "" if stratum is None else stratum.name
            return self.problem(f"{message}, {value}", at, "stratum_json", self._stratum_name(at))

        self.findings.add_each(range(len(second)), describe)

    def _stratum_numbers(self) -> IntArray:
        is_named = np.array([*(stratum is not None for stratum in self.words.strata), False])
        return np.where(is_named[self.rows.stratum], self.rows.stratum, NONE)

    def _stratum_name(self, at: int) -> str:
        stratum = self.words.strata[self.rows.stratum[at]]
        return "" if stratum is None else stratum.name

    def _refuse_unlisted_strata(self) -> None:
        listed, named = self.manifest.task_ids(), dict[str, int]()
        for code, at, n_rows in _firsts(self._stratum_numbers()):
            name = self._stratum_name(at)
            if named.setdefault(name, code) != code:
                self.findings.add(self.problem("two strata have one name", at, "stratum_json", name))
            elif listed is not None and name not in listed:
                message = f"not a stratum of {self.manifest.slug}{_many(n_rows)}"
                self.findings.add(self.problem(message, at, "stratum_json", name))


def _firsts(codes: IntArray) -> Sequence[tuple[int, int, int]]:
    """Return each code with its first position and how often it occurs, in order of first appearance."""
    distinct, first, counts = np.unique(codes, return_index=True, return_counts=True)
    order = np.argsort(first)
    triples = zip(distinct[order].tolist(), first[order].tolist(), counts[order].tolist(), strict=True)
    return [triple for triple in triples if triple[0] != NONE]


def _earliest(keys: IntArray) -> IntArray:
    """Return for each position the first one with the same key."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse]


def _many(n_rows: int) -> str:
    return f" ({n_rows:,} rows)" if n_rows > 1 else ""
