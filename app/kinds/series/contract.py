"""The tables of a series benchmark as lrdbench's output contract names them, from its per-series rows alone. Their
columns are the contract's, so that its readers read ours.

Why: docs/adr/001-numbers-of-other-systems.md.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.records import (
    CLASS_METRICS,
    DIAGNOSTIC,
    PAIRED_RATIO,
    THRESHOLD,
    HeldRecords,
    balanced,
    by_metric,
    discriminations,
    enrolled_estimators,
    held_records,
    records_table,
    series_groups,
    split_identity,
    stratum_aggregates,
)
from app.kinds.contract import Described
from app.kinds.series.manifest_part import SeriesPart, SeriesUncertainty
from app.kinds.series.rows import cell_at, null, write
from app.manifest.model import Manifest, part_of
from app.stats.arrays import FloatArray
from app.stats.resample import board_generator, percentile_interval
from app.stats.strata import (
    RATIO_EPSILON,
    Aggregate,
    Group,
    aggregate_group,
    interval_of,
    pair_groups,
    resample_means,
    resample_ratio,
)
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

STRESS = frozenset({
    "estimate_drift", "absolute_estimate_drift", "signed_estimate_drift", "absolute_error_inflation",
    "relative_degradation_ratio", "paired_mae_ratio", "validity_collapse", "coverage_collapse", "coverage_loss_rate",
    "net_coverage_loss",
})  # fmt: skip

CORRECTION = frozenset({"correction_drift", "correction_degradation_ratio", "oracle_gap"})

OF_CORRECTIONS = ("preprocessing_operator", "preprocessing_kind", "correction_target", "raw_record_id",
                  "oracle_record_id", "oracle_operator")  # fmt: skip


def series_tables(manifest: Manifest, scores: ScoreTable) -> list[Table]:
    """Return the contract's tables, the failed records behind them, and who has which record."""
    part, series = part_of(manifest, SeriesPart), Series.of(scores, manifest.metrics)
    drawn = part.uncertainty
    intervals = [] if drawn is None else series_intervals(series.groups, series.aggregates, drawn)
    tables = [
        _run_summary(manifest, part),
        per_stratum_metrics(series),
        benchmark_uncertainty(series, intervals, drawn),
        uncertainty_calibration(series),
        estimator_disagreement(series),
        scale_window_sensitivity(series),
        failures(series),
        failure_map(series),
        failure_modes(series),
        failed_records(series),
        records_table(_held(manifest, part, scores)),
    ]
    has_corrections = any(split_identity(name)[0].partition(":")[0] in CORRECTION for name in manifest.metrics)
    tables += [_correction_metrics(series)] if has_corrections else []
    return [*tables, _stress_metrics(series)] if part.mode == "stress_test" else tables


def _held(manifest: Manifest, part: SeriesPart, scores: ScoreTable) -> HeldRecords:
    names, asked = enrolled_estimators(scores, part.estimators), manifest.asked
    return held_records(scores, names, asked.named_items, asked.facts.arrivals_of(names))


def _run_summary(manifest: Manifest, part: SeriesPart) -> Table:
    """Return what the tables are of; a benchmark takes the place of lrdbench's run."""
    columns = tuple(map(text_column, ("run_id", "manifest_id", "benchmark_name", "mode")))
    row = (manifest.slug, manifest.slug, manifest.title, part.mode)
    return Table("tables/run_summary", "Summary", columns, (row,))


@dataclass(frozen=True)
class MetricRow:
    """One value of one metric of one estimator, of a record or aggregated."""

    scope: str
    record: str | None
    estimator: str | None
    metric: str
    level: float | None
    value: float | None
    stratum: str
    metadata: Mapping[str, Any]


def text_column(name: str) -> Column:
    """Return a column of text of the contract; metadata is a detail."""
    title = name.removesuffix("_json").replace("_", " ").capitalize()
    return Column(name, title, "text", detail=name == "metadata_json")


VALUE, LEVEL = Column("value", "Value", digits=4), Column("nominal", "Level", digits=2)

OF_A_RECORD = (
    text_column("record_id"),
    text_column("estimator_name"),
    text_column("metric_name"),
    VALUE,
    text_column("stratum_json"),
)


Pair = tuple[str, str]
"""An estimator and a stratum."""


@dataclass(frozen=True)
class Series:
    """The rows of a benchmark with their groups and aggregates; `strata` gives each stratum's JSON by its name."""

    scores: ScoreTable
    groups: Sequence[Group]
    aggregates: Sequence[Aggregate]
    strata: Mapping[str, str]
    classes: Sequence[Aggregate]

    @classmethod
    def of(cls, scores: ScoreTable, metrics: Collection[str]) -> "Series":
        """Group and aggregate the rows; coverage errors are those that the manifest names."""
        groups = series_groups(scores)
        known = scores.recorded.get("stratum_json")
        strata: dict[str, str] = {}
        for at in range(len(scores)):
            name = scores.task.at(at) or ""
            strata.setdefault(name, cell_at(known, at) or json.dumps({"stratum": name}))
        return cls(scores, groups, stratum_aggregates(groups, metrics), strata, discriminations(scores, metrics))

    def over_strata(self) -> list[Aggregate]:
        """Return what is over strata in lrdbench's order: ratios, by the names of the estimators, means, classes."""
        over_all = balanced(self.aggregates)
        ratios = sorted((a for a in over_all if is_ratio(a.metric)), key=lambda a: a.estimator)
        return [*ratios, *(a for a in over_all if not is_ratio(a.metric)), *self.classes]

    def json_of(self, stratum: str | None) -> str:
        """Return the JSON of a stratum; None is over all of them."""
        return BALANCED if stratum is None else self.strata[stratum]

    def key_of(self, stratum: str) -> list[list[Any]]:
        """Return lrdbench's key of a stratum: its values in the order of their names."""
        return [list(pair) for pair in sorted(json.loads(self.strata[stratum]).items())]

    def diagnostics(self) -> list[str]:
        """Return the made-up names of what a run measures between several estimators."""
        role = self.scores.recorded.get("role")
        if role is None or DIAGNOSTIC not in role.words:
            return []
        codes = np.unique(self.scores.entrant.codes[role.codes == role.words.index(DIAGNOSTIC)])
        return [self.scores.entrant.words[code] for code in codes.tolist()]

    def shown_as(self) -> dict[str, Any]:
        """Return how pages name a stratum, whose JSON is the contract's and nothing to read."""
        names = {text: name for name, text in self.strata.items()}
        return {"shown_as": {"stratum_json": {**names, BALANCED: "all strata"}}}

    def by_pair(self) -> dict[Pair, list[Group]]:
        """Return the groups of each estimator and stratum, in order of appearance."""
        groups_of_pair: dict[Pair, list[Group]] = {}
        for group in self.groups:
            groups_of_pair.setdefault((group.estimator, group.stratum), []).append(group)
        return groups_of_pair

    def rows_of(self, pair: Pair) -> list[int]:
        """Return the positions of the rows of an estimator in a stratum."""
        entrant, task = self.scores.entrant, self.scores.task
        of_both = (entrant.codes == entrant.words.index(pair[0])) & (task.codes == task.words.index(pair[1]))
        return np.flatnonzero(of_both).tolist()

    def series_rows(self, wanted: Collection[str]) -> Iterator[MetricRow]:
        """Yield the per-series values of some metrics, by their names without levels, as their run wrote them."""
        lists, described_cells = (self.scores.recorded.get(name) for name in ("metrics", "metadata"))
        place = {name: at for at, name in enumerate(self.scores.columns)}
        for at in range(len(self.scores)):
            metadata = json.loads(cell_at(described_cells, at) or "{}")
            stratum = self.scores.task.at(at) or ""
            for metric in (cell_at(lists, at) or "").split():
                name, level = split_identity(metric)
                if name.partition(":")[0] in wanted and metric in place:
                    value = null(self.scores.values[at, place[metric]])
                    who = (cell_at(self.scores.item, at), self.scores.entrant.at(at))
                    about = {**metadata.get(metric, {}), "stratum_key": self.key_of(stratum)}
                    yield MetricRow("per_series", *who, name, level, value, self.strata[stratum], about)


def _correction_metrics(series: Series) -> Table:
    """Return what corrections of a series came to, by record."""
    columns = (*OF_A_RECORD, *map(text_column, OF_CORRECTIONS))
    rows = tuple(
        (*_of_a_record(line), *map(line.metadata.get, OF_CORRECTIONS)) for line in series.series_rows(CORRECTION)
    )
    return Table("tables/correction_metrics", "Corrections by record", columns, rows, (AS_STATED,), series.shown_as())


def _stress_metrics(series: Series) -> Table:
    """Return what stress did to an estimate, by record."""
    columns = (*OF_A_RECORD, text_column("contamination_operator"), text_column("clean_record_id"), LEVEL)
    rows = tuple(
        (*_of_a_record(line), line.metadata.get("contamination_operator"), line.metadata["clean_record_id"], line.level)
        for line in series.series_rows(STRESS)
        if line.metadata.get("clean_record_id") is not None
    )
    return Table("tables/stress_metrics", "Stress metrics by record", columns, rows, (), series.shown_as())


def _of_a_record(line: MetricRow) -> tuple[Cell, ...]:
    return (line.record, line.estimator, line.metric, line.value, line.stratum)


# The contract's tables of aggregates: by stratum and over strata, their uncertainty, and views of some metrics.

CALIBRATION = frozenset({"coverage", "ci_width", "coverage_error"})

DISAGREEMENT = frozenset({"cross_estimator_dispersion", "pairwise_estimator_disagreement", "family_level_disagreement"})

SENSITIVITY = frozenset({"parameter_variant_sensitivity", "max_variant_drift"})

AS_STATED = "The values of single records are as the runs state them; what is over several records is computed here."


OF_STRATA = (
    text_column("estimator_name"),
    text_column("metric_name"),
    VALUE,
    text_column("stratum_json"),
    text_column("metadata_json"),
)


def per_stratum_metrics(series: Series) -> Table:
    """Return the aggregate of each stratum, then those over strata."""
    note = "Means within strata, then over strata with the same weight each; null values are left out and counted."
    rows = tuple(map(_of_strata, _aggregates(series)))
    return Table("tables/per_stratum_metrics", "Metrics by stratum", OF_STRATA, rows, (note,), series.shown_as())


def _of_strata(line: MetricRow) -> tuple[Cell, ...]:
    return (line.estimator, line.metric, line.value, line.stratum, write(line.metadata))


def uncertainty_calibration(series: Series) -> Table:
    """Return the aggregates that say how good the estimators' own intervals are."""
    lines = [line for line in _aggregates(series) if line.metric in CALIBRATION]
    note = "Of the intervals that estimators give for one series; uncertainty of the benchmark is another table."
    notes = (note, *_none_of(lines, CALIBRATION))
    rows = tuple((line.estimator, line.metric, line.value, line.level) for line in lines)
    columns = (*OF_STRATA[:3], LEVEL)
    return Table("tables/uncertainty_calibration", "Calibration of estimators' intervals", columns, rows, notes)


def estimator_disagreement(series: Series) -> Table:
    """Return how far the estimators of a run are apart, by record and on average."""
    return _scoped(series, DISAGREEMENT, "estimator_disagreement", "Disagreement of estimators")


def scale_window_sensitivity(series: Series) -> Table:
    """Return how far the variants of an estimator are apart, by record and on average."""
    return _scoped(series, SENSITIVITY, "scale_window_sensitivity", "Sensitivity to scales and windows")


def _scoped(series: Series, metrics: Collection[str], name: str, title: str) -> Table:
    lines = [*series.series_rows(metrics), *(line for line in _aggregates(series) if line.metric in metrics)]
    columns = (text_column("scope"), text_column("record_id"), *OF_STRATA)
    rows = tuple((line.scope, line.record, *_of_strata(line)) for line in lines)
    notes = (AS_STATED,) if lines else _none_of(lines, metrics)
    return Table(f"tables/{name}", title, columns, rows, notes, series.shown_as())


def _none_of(lines: Sequence[MetricRow], metrics: Collection[str]) -> tuple[str, ...]:
    return () if lines else (f"This benchmark has no row of {', '.join(sorted(metrics))}.",)


def _aggregates(series: Series) -> Iterator[MetricRow]:
    for a in [*series.aggregates, *series.over_strata()]:
        name, level = split_identity(a.metric)
        about = _metadata(series, a, name, level)
        yield MetricRow("aggregate", None, a.estimator, name, level, null(a.value), series.json_of(a.stratum), about)


def _metadata(series: Series, a: Aggregate, name: str, level: float | None) -> dict[str, Any]:
    if name in CLASS_METRICS:
        return {"n_scored": a.n_included, "n_positive": a.n_positive, "threshold": THRESHOLD}
    if a.stratum is None:
        how = "ratio_of_equal_weight_available_stratum_maes" if is_ratio(a.metric) else "mean_over_strata"
        about: dict[str, Any] = {"n_strata_attempted": a.n_strata_attempted, "n_strata_included": a.n_strata_included}
    else:
        means = "coverage_error_from_coverage" if name == "coverage_error" else "mean_within_stratum"
        how = "ratio_of_paired_stratum_maes" if is_ratio(a.metric) else means
        about = {"stratum_key": series.key_of(a.stratum)}
    about |= {
        "aggregation": how,
        "n_attempted": a.n_attempted,
        "n_included": a.n_included,
        "n_missing": a.n_attempted - a.n_included,
    }
    if is_ratio(a.metric):
        about |= {
            "numerator_mae": null(a.numerator),
            "denominator_mae": null(a.denominator),
            "denominator_epsilon": RATIO_EPSILON,
            "missing_reason": _why_no_ratio(a),
        }
    return about if level is None else about | {"nominal": level}


def _why_no_ratio(a: Aggregate) -> str | None:
    if np.isnan(a.numerator):
        return "no_valid_pairs"
    return "near_zero_clean_mae" if np.isnan(a.value) else None


@dataclass(frozen=True)
class SeriesInterval:
    """One interval at one level. `stratum` None is over strata; `pair` names the two of a difference.

    `low` and `high` are None when fewer than two units carry no spread; lrdbench's own stream gives them no width.
    """

    estimator: str
    metric: str
    stratum: str | None
    value: float
    low: float | None
    high: float | None
    level: float
    n_units: int
    pair: tuple[str, str] | None = None


SHARED_STREAM = (
    "Drawn as lrdbench draws them, from one generator in the order of its rows: the ends move with who else is there. "
    "The boards' own intervals, ranks and verdicts are drawn by the names of the records."
)

OF_UNCERTAINTY = (
    text_column("estimator_name"),
    text_column("metric_name"),
    Column("value", "Value", interval=("ci_low", "ci_high"), glossary="aggregate_bootstrap", digits=4),
    text_column("uncertainty_type"),
    text_column("aggregation"),
    LEVEL,
    Column("ci_low", "Low", detail=True, digits=4),
    Column("ci_high", "High", detail=True, digits=4),
    text_column("stratum_json"),
    text_column("metadata_json"),
)


def benchmark_uncertainty(
    series: Series, intervals: Sequence[SeriesInterval], drawn: SeriesUncertainty | None
) -> Table:
    """Return the intervals of the aggregates; none where the manifest asks for none, as in lrdbench."""
    name, title = "tables/benchmark_uncertainty", "Uncertainty of the benchmark"
    if drawn is None:
        note = "The manifest asks for no uncertainty (key uncertainty), so there is none."
        return Table(name, title, OF_UNCERTAINTY, (), (note,), {"interval": None})
    meta = {"interval": "percentile bootstrap", "n_resamples": drawn.n_resamples, "rng_seed": drawn.rng_seed,
            "stream": drawn.stream, "level": drawn.levels[0], **series.shown_as()}  # fmt: skip
    rows = tuple(_interval(series, interval, drawn.n_resamples) for interval in intervals)
    notes = (SHARED_STREAM,) if drawn.stream == "lrdbench" else ()
    return Table(name, title, OF_UNCERTAINTY, rows, notes, meta)


def _interval(series: Series, interval: SeriesInterval, n_resamples: int) -> tuple[Cell, ...]:
    kind = "paired_bootstrap_difference" if interval.pair else "aggregate_bootstrap"
    within = "paired_bootstrap_within_stratum" if interval.pair else "bootstrap_within_stratum"
    how = "bootstrap_over_strata" if interval.stratum is None else within
    about: dict[str, Any] = {
        "aggregation": how,
        "ci_high": interval.high,
        "ci_low": interval.low,
        "n_bootstrap": n_resamples,
        "nominal": interval.level,
        "uncertainty_type": kind,
    }
    if interval.stratum is not None:
        about["stratum_key"] = series.key_of(interval.stratum)
    if interval.pair is not None:
        about |= {"estimator_a": interval.pair[0], "estimator_b": interval.pair[1], "n_pairs": interval.n_units}
    else:
        about |= {"n_strata" if interval.stratum is None else "n_observations": interval.n_units}
    metric, own_level = split_identity(interval.metric)
    about |= {} if own_level is None else {"metric_nominal": own_level}
    about |= {"reason": "too_few_clusters"} if interval.low is None else {}
    return (interval.estimator, metric, interval.value, kind, how, interval.level, interval.low, interval.high,
            series.json_of(interval.stratum), write(about))  # fmt: skip


# The contract's tables of failures: counts by estimator and stratum, the map of metrics, and the records behind them.

NO_INTERVAL = "no interval (missing_ci)"

NO_SERIES = "No metric of this benchmark is of a single series; the estimates themselves are under “Every estimate”."

# lrdbench's failure modes, by how the reason of an invalid estimate begins.
MODES = {"insufficient_signal_for_": "insufficient_signal", "exception:": "estimator_exception",
         "missing_uncertainty": "missing_uncertainty"}  # fmt: skip

OTHER_MODE = "invalid_fit"

# Strata are many and have long names, so they are the rows.
HEAT = {
    "kind": "heatmap",
    "x": "estimator_name",
    "y": "stratum_json",
    "value": "missing_value_rate",
    "highest": 1.0,
    "link": {"table": "failed_records", "narrow": {"entrant": "estimator_name", "task": "stratum_json"}},
}

# What a map shows first, where the benchmark has it: an error, whose size a shade can say.
MAPPED_FIRST = ("mae", "rmse", "absolute_estimate_drift", "absolute_error_inflation", "validity_rate")


OF_FAILURES = (
    text_column("estimator_name"),
    text_column("stratum_json"),
    Column("n_metric_rows", "Metric rows", "integer"),
    Column("n_missing_values", "Missing values", "integer"),
    Column("n_missing_uncertainty", "Missing uncertainty", "integer"),
    Column("n_validity_observations", "Validity observations", "integer"),
    Column("n_invalid_estimates", "Invalid estimates", "integer"),
    Column("invalid_rate", "Invalid", glossary="invalid_rate", digits=3),
    Column("missing_value_rate", "Missing", digits=3),
)


def failures(series: Series) -> Table:
    """Return how many values, intervals and estimates of each estimator in each stratum are missing or invalid."""
    lines = [_failures(series, pair, members) for pair, members in series.by_pair().items()]
    n_missing, n_rows = sum(map(_n_null, series.groups)), sum(len(group.values) for group in series.groups)
    notes = (f"{n_missing} of {n_rows} values are missing." if lines else NO_SERIES,)
    return _of_pairs("tables/failures", "Failures", OF_FAILURES, lines, notes, _drawn_meta(series, HEAT))


def _of_pairs(
    name: str,
    title: str,
    first: Sequence[Column],
    lines: Sequence[Mapping[Column, Cell]],
    notes: tuple[str, ...],
    meta: Mapping[str, Any],
) -> Table:
    """Return a table whose columns, after the first ones, come in the order in which rows bring them, as lrdbench's."""
    columns = tuple(dict.fromkeys([*first, *(column for line in lines for column in line)]))
    rows = tuple(tuple(map(line.get, columns)) for line in lines)
    return Table(name, title, columns, rows, notes, meta)


def _failures(series: Series, pair: Pair, members: Sequence[Group]) -> Mapping[Column, Cell]:
    """Return what one estimator's rows in one stratum lack; no rate of invalid ones where nothing says which are."""
    validity = [group.values[group.included] for group in members if group.metric == "validity_rate"]
    observed = np.concatenate(validity) if validity else np.zeros(0)
    lists = series.scores.recorded.get("missing_ci")
    n_rows, n_missing = sum(len(group.values) for group in members), sum(map(_n_null, members))
    n_without_interval = sum(len((cell_at(lists, at) or "").split()) for at in series.rows_of(pair))
    n_judged, n_invalid = len(observed), int((observed == 0).sum())
    counts = (n_rows, n_missing, n_without_interval, n_judged, n_invalid)
    rates = (n_invalid / n_judged if n_judged else None, n_missing / n_rows)
    cells = (pair[0], series.strata[pair[1]], *counts, *rates)
    return dict(zip(OF_FAILURES, cells, strict=True)) | _stratum_cells(series.strata[pair[1]])


def _n_null(group: Group) -> int:
    """Count the null rows; those of a ratio have no value of their own, so none is missing."""
    return 0 if group.denominators is not None else int(np.isnan(group.values).sum())


def failure_map(series: Series) -> Table:
    """Return each estimator's metrics in each stratum, a column for each; columns in the contract's order."""
    values: dict[Pair, dict[str, float | None]] = {}
    for a in series.aggregates:
        if a.stratum is not None:
            values.setdefault((a.estimator, a.stratum), {})[a.metric] = null(a.value)
    lines = [
        {
            **dict(zip(OF_FAILURES[:2], (estimator, series.strata[stratum]), strict=True)),
            **_stratum_cells(series.strata[stratum]),
            **{Column(metric_column(metric), metric, digits=4): value for metric, value in metrics.items()},
        }
        for (estimator, stratum), metrics in values.items()
    ]
    drawn = _drawn([metric for metrics in values.values() for metric in metrics])
    plot = {key: value for key, value in HEAT.items() if key != "highest"} | {"value": drawn}
    meta = _drawn_meta(series, plot) if drawn is not None else series.shown_as()
    notes = () if lines else (NO_SERIES,)
    return _of_pairs("tables/failure_map", "Metrics by estimator and stratum", OF_FAILURES[:2], lines, notes, meta)


def _drawn_meta(series: Series, plot: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawing of a table: estimators alone, not what is measured between several of them."""
    return {"plot": {**plot, "without": {"estimator_name": series.diagnostics()}}, **series.shown_as()}


def _drawn(metrics: Sequence[str]) -> str | None:
    """Return the column that the page draws: an error where there is one, or else the first metric there is."""
    known = [metric for name in MAPPED_FIRST for metric in metrics if metric == name]
    return next((metric_column(metric) for metric in [*known, *metrics]), None)


def metric_column(metric: str) -> str:
    """Return the contract's name of a metric's column."""
    name, level = split_identity(metric)
    return f"metric__{name}" if level is None else f"metric__{name}__nominal_{level!r}"


OF_FAILED_RECORDS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Stratum", "text"),
    Column("record_id", "Record", "text"),
    Column("missing", "Without a value", "text"),
    Column("reason", "Reason", "text"),
    Column("warnings", "Warnings", "text"),
)


def failed_records(series: Series) -> Table:
    """Return every record of an estimator without a value, with the reason."""
    rows = tuple(_failed(series))
    note = f"{len(rows)} of {len(series.scores)} records of an estimator lack a value."
    return Table("failed_records", "Failed records", OF_FAILED_RECORDS, rows, (note,))


def failure_modes(series: Series) -> Table:
    """Return how many records of each estimator failed in which of lrdbench's modes."""
    counts = Counter((estimator, _mode(reason)) for estimator, *_, reason, _ in _failed(series) if reason)
    columns = (
        text_column("estimator_name"),
        text_column("failure_mode"),
        Column("n_records", "Records", "integer"),
    )
    rows = sorted(((*who, count) for who, count in counts.items()), key=lambda row: (row[0] or "", row[1]))
    return Table("tables/failure_modes", "Failure modes", columns, tuple(rows))


def _mode(reason: str | None) -> str:
    if reason == NO_INTERVAL:
        return "missing_uncertainty"
    return next((mode for prefix, mode in MODES.items() if (reason or "").startswith(prefix)), OTHER_MODE)


def _failed(series: Series) -> Iterator[tuple[str | None, ...]]:
    scores = series.scores
    lists, columns = scores.recorded.get("metrics"), {name: at for at, name in enumerate(scores.columns)}
    for at in range(len(scores)):
        had = (cell_at(lists, at) or "").split() if lists is not None else scores.columns
        missing = [m for m in had if m in columns and np.isnan(scores.values[at, columns[m]]) and not is_ratio(m)]
        reason = _reason(series, at, missing)
        if missing or reason:
            warnings = cell_at(scores.recorded.get("warnings"), at)
            where = (scores.entrant.at(at), scores.task.at(at), cell_at(scores.item, at))
            yield (*where, " ".join(missing) or None, reason, warnings)


def _reason(series: Series, at: int, missing: Sequence[str]) -> str | None:
    """Return why the estimate failed, or that it came without the interval that the missing metrics measure."""
    recorded = series.scores.recorded
    reason = cell_at(series.scores.reason, at) or cell_at(recorded.get("failure_reason"), at)
    without_interval = (cell_at(recorded.get("missing_ci"), at) or "").split()
    return reason or (NO_INTERVAL if set(missing) & set(without_interval) else None)


# The rows of a series benchmark as the contract's tables want them: groups, aggregates, and each stratum's JSON.

BALANCED = '{"level": "balanced_global"}'


def _stratum_cells(stratum: str) -> dict[Column, Cell]:
    """Return the values of a stratum's JSON, each in its column, in the contract's order."""
    values: dict[str, Cell] = json.loads(stratum)
    return {_stratum_column(key): values[key] for key in sorted(values)}


def _stratum_column(key: str) -> Column:
    return Column(f"stratum__{key}", key.replace("_", " "), "text", detail=True)


def is_ratio(metric: str) -> bool:
    """Say whether a metric is the ratio of paired errors, whose rows have no value of their own."""
    return metric == PAIRED_RATIO


# The boards of a series benchmark in the one leaderboard table of lrdbench's output contract.

METRIC = "metric__"


def contract_leaderboard(boards: Sequence[Table]) -> Table:
    """Return boards of weighted ranks with the contract's columns, one board's rows after the other's.

    The columns of components are those of all boards, null where a board does not have one. Which board a row is of is
    shown in a last column where there are several; the contract has no name for it.
    """
    of_boards = [column for board in boards for column in board.columns if column.name.startswith(METRIC)]
    metrics = {column.name: column for column in of_boards if not column.detail}
    names = [identity.removeprefix(METRIC).partition("@")[0] for identity in metrics]
    columns = (
        Column("estimator_name", "Estimator", "text"),
        Column("rank", "Rank", "integer"),
        Column("score", "Score", direction="minimize", digits=3),
        *(
            Column(f"{METRIC}{name}" if names.count(name) == 1 else identity, column.title, digits=4)
            for name, (identity, column) in zip(names, metrics.items(), strict=True)
        ),
        *((Column("leaderboard_name", "Board", "text"),) if len(boards) > 1 else ()),
    )
    rows = tuple(
        (row["entrant"], row["rank"], row["score"], *(row.get(identity) for identity in metrics),
         *((board.name.partition("/")[2],) if len(boards) > 1 else ()))
        for board in boards
        for row in board.records()
    )  # fmt: skip
    return Table("tables/leaderboard", boards[0].title if len(boards) == 1 else "Leaderboards", columns, rows)


# Intervals of a series benchmark's aggregates: within strata, over strata, and of paired differences. In lrdbench's
# stream one generator is shared and drawn from in its order, so every number comes out; in ours each interval has its
# own, so that one estimator less leaves the others as they are.

MIN_UNITS = 2

BATCH_CELLS = 4_000_000


def series_intervals(
    groups: Sequence[Group], aggregates: Sequence[Aggregate], drawn: SeriesUncertainty
) -> list[SeriesInterval]:
    """Return every interval, in the order in which lrdbench draws them."""
    return list(_Drawing(drawn).all(groups, aggregates))


@dataclass(frozen=True)
class _Target:
    """What one interval is of: its units, and how their mean becomes the value."""

    estimator: str
    metric: str
    stratum: str | None
    value: float
    units: FloatArray
    is_root: bool = False
    ratio: Group | None = None
    pair: tuple[str, str] | None = None


class _Drawing:
    """The draws of one benchmark."""

    def __init__(self, drawn: SeriesUncertainty) -> None:
        self._drawn = drawn
        self._is_shared = drawn.stream == "lrdbench"
        self._shared = np.random.default_rng(drawn.rng_seed)

    def all(self, groups: Sequence[Group], aggregates: Sequence[Aggregate]) -> Iterator[SeriesInterval]:
        """Yield the intervals: first within strata, then over strata, then the paired ones.

        Nulls are dropped before anything is grouped, as lrdbench does: a group, or a stratum's aggregate, takes its
        place in the order by its first value.
        """
        groups = sorted((group for group in groups if group.included.any()), key=lambda group: group.begins)
        aggregates = [aggregate for aggregate in aggregates if np.isfinite(aggregate.value)]
        batch: list[_Target] = []
        for target in self._targets(groups, aggregates):
            # Targets of one size are drawn at once, in their order, as many as memory allows.
            full = len(batch) * self._drawn.n_resamples * max(len(target.units), 1) >= BATCH_CELLS
            if batch and (full or target.ratio is not None or len(batch[0].units) != len(target.units)):
                yield from self._draw(batch)
                batch = []
            if target.ratio is not None:
                yield from self._draw_ratio(target, target.ratio)
            else:
                batch.append(target)
        yield from self._draw(batch)

    def _targets(self, groups: Sequence[Group], aggregates: Sequence[Aggregate]) -> Iterator[_Target]:
        for group in groups:
            if self._is_among(group.metric, self._drawn.metrics):
                yield self._within(group)
        for (estimator, metric), members in by_metric(aggregates).items():
            values = np.array([a.value for a in members])
            if self._is_among(metric, self._drawn.metrics):
                yield _Target(estimator, metric, None, float(np.mean(values)), values)
        if self._drawn.paired:
            declared = self._drawn.paired_metrics if self._drawn.paired_metrics is not None else self._drawn.metrics
            for pair in pair_groups([group for group in groups if self._is_among(group.metric, declared)]):
                names = (pair.first, pair.second)
                value = float(np.mean(pair.differences))
                yield _Target("__minus__".join(names), pair.metric, pair.stratum, value, pair.differences, pair=names)

    def _within(self, group: Group) -> _Target:
        about = (group.estimator, group.metric, group.stratum, aggregate_group(group).value)
        ratio = group if group.denominators is not None else None
        return _Target(*about, group.values[group.included], group.rule == "root_mean_square", ratio)

    def _is_among(self, metric: str, declared: Sequence[str] | None) -> bool:
        return declared is None or metric in declared or split_identity(metric)[0] in declared

    def _generator(self, target: _Target) -> np.random.Generator:
        names = (target.estimator, target.metric, target.stratum or "strata")
        return self._shared if self._is_shared else board_generator(self._drawn.rng_seed, *names)

    def _draw(self, batch: Sequence[_Target]) -> Iterator[SeriesInterval]:
        if not batch:
            return
        rngs = self._shared if self._is_shared else [self._generator(target) for target in batch]
        replicates = resample_means(np.array([target.units for target in batch]), self._drawn.n_resamples, rngs)
        is_root = np.array([target.is_root for target in batch])
        replicates[is_root] = np.sqrt(replicates[is_root])
        ends = [percentile_interval(replicates.T, level) for level in self._drawn.levels]
        for at, target in enumerate(batch):
            for level, (low, high) in zip(self._drawn.levels, ends, strict=True):
                yield self._interval(target, float(low[at]), float(high[at]), level)

    def _draw_ratio(self, target: _Target, group: Group) -> Iterator[SeriesInterval]:
        replicates = resample_ratio(group, self._drawn.n_resamples, self._generator(target))
        for level in self._drawn.levels:
            yield self._interval(target, *interval_of(replicates, level), level)

    def _interval(self, target: _Target, low: float, high: float, level: float) -> SeriesInterval:
        about = (target.estimator, target.metric, target.stratum, target.value)
        n_units = len(target.units)
        if n_units < MIN_UNITS and not self._is_shared:
            return SeriesInterval(*about, None, None, level, n_units, target.pair)
        return SeriesInterval(*about, low, high, level, n_units, target.pair)


# What the estimators of a series benchmark are: family, estimand, parameters, as their runs describe them. Estimators
# of different estimands answer different questions, and a board says so.

OF_ESTIMATORS = (
    Column("estimator_name", "Estimator", "text"),
    Column("family", "Family", "text"),
    Column("target_estimand", "Estimand", "text", glossary="estimand"),
    Column("supports_ci", "Intervals", "flag"),
    Column("supports_diagnostics", "Diagnostics", "flag"),
    Column("assumptions_json", "Assumptions", "text"),
    Column("params_json", "Parameters", "text"),
    Column("version", "Version", "text"),
)


def metadata_table(described: Described, enrolled: Sequence[str] | None = None) -> Table:
    """Return one row per estimator, with the columns of lrdbench's output contract: those enrolled in their order."""
    order = {name: at for at, name in enumerate(enrolled or ())}
    names = sorted(described, key=lambda name: (order.get(name, len(order)), name))
    rows = tuple(_estimator(name, described[name]) for name in names)
    return Table("tables/estimator_metadata", "Estimators", OF_ESTIMATORS, rows)


def _estimator(name: str, about: Mapping[str, Any]) -> tuple[Cell, ...]:
    stated = map(about.get, ("family", "target_estimand", "supports_ci", "supports_diagnostics"))
    assumptions, parameters = write(about.get("assumptions", [])), write(about.get("parameters", {}))
    return (name, *stated, assumptions, parameters, about.get("version"))


def note_estimands(tables: Sequence[Table], described: Described) -> list[Table]:
    """Return the tables, each leaderboard of several estimands with a note that says so."""
    estimands: dict[str, list[str]] = {}
    for name, about in sorted(described.items()):
        estimands.setdefault(str(about.get("target_estimand") or "not declared"), []).append(name)
    if len(estimands) < 2:
        return list(tables)
    listed = "; ".join(f"{estimand}: {', '.join(names)}" for estimand, names in sorted(estimands.items()))
    note = f"The estimators estimate different quantities, so ranks compare answers to different questions. {listed}."
    return [
        replace(table, notes=(note, *table.notes)) if table.name.startswith("leaderboard/") else table
        for table in tables
    ]
