"""The contract's tables of aggregates: by stratum and over strata, their uncertainty, and views of some metrics.

Called by `app.kinds.series.contract_tables`.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS, THRESHOLD
from app.boards.methods.weighted_rank.identity import split_identity
from app.kinds.series.contract_rows import Series, SeriesRow, is_ratio, null, text_column, write
from app.kinds.series.manifest_part import SeriesUncertainty
from app.kinds.series.uncertainty import SeriesInterval
from app.stats.strata import RATIO_EPSILON, Aggregate
from app.values.frame import Frame, FrameField
from app.values.table import Column, Table

CALIBRATION = frozenset({"coverage", "ci_width", "coverage_error"})
DISAGREEMENT = frozenset({"cross_estimator_dispersion", "pairwise_estimator_disagreement", "family_level_disagreement"})
SENSITIVITY = frozenset({"parameter_variant_sensitivity", "max_variant_drift"})
AS_STATED = "The values of single records are as the runs state them; what is over several records is computed here."


@dataclass(frozen=True)
class _Line:
    """An aggregate as the contract writes it; `scope` and `record` are those of rows of metrics."""

    scope: str
    record: str | None
    estimator: str | None
    metric: str
    level: float | None
    value: float | None
    stratum: str
    metadata: str


STRATA: Frame[_Line] = Frame(
    [
        FrameField(text_column("estimator_name"), lambda line: line.estimator),
        FrameField(text_column("metric_name"), lambda line: line.metric),
        FrameField(Column("value", "Value", digits=4), lambda line: line.value),
        FrameField(text_column("stratum_json"), lambda line: line.stratum),
        FrameField(text_column("metadata_json"), lambda line: line.metadata),
    ]
)
SCOPED: Frame[_Line] = Frame(
    [
        FrameField(text_column("scope"), lambda line: line.scope),
        FrameField(text_column("record_id"), lambda line: line.record),
        *STRATA.fields,
    ]
)
CALIBRATED: Frame[_Line] = Frame(
    [
        *STRATA.fields[:3],
        FrameField(Column("nominal", "Level", digits=2), lambda line: line.level),
    ]
)


def per_stratum_metrics(series: Series) -> Table:
    """Return the aggregate of each stratum, then those over strata."""
    note = "Means within strata, then over strata with the same weight each; null values are left out and counted."
    lines = _aggregates(series)
    return STRATA.table("tables/per_stratum_metrics", "Metrics by stratum", lines, (note,), series.shown_as())


def uncertainty_calibration(series: Series) -> Table:
    """Return the aggregates that say how good the estimators' own intervals are."""
    lines = [line for line in _aggregates(series) if line.metric in CALIBRATION]
    note = "Of the intervals that estimators give for one series; uncertainty of the benchmark is another table."
    notes = (note, *_none_of(lines, CALIBRATION))
    return CALIBRATED.table("tables/uncertainty_calibration", "Calibration of estimators' intervals", lines, notes)


def estimator_disagreement(series: Series) -> Table:
    """Return how far the estimators of a run are apart, by record and on average."""
    return _scoped(series, DISAGREEMENT, "estimator_disagreement", "Disagreement of estimators")


def scale_window_sensitivity(series: Series) -> Table:
    """Return how far the variants of an estimator are apart, by record and on average."""
    return _scoped(series, SENSITIVITY, "scale_window_sensitivity", "Sensitivity to scales and windows")


def _scoped(series: Series, metrics: Collection[str], name: str, title: str) -> Table:
    of_records = (_of_record(row) for row in series.series_rows(metrics))
    lines = [*of_records, *(line for line in _aggregates(series) if line.metric in metrics)]
    notes = (AS_STATED,) if lines else _none_of(lines, metrics)
    return SCOPED.table(f"tables/{name}", title, lines, notes, series.shown_as())


def _none_of(lines: Sequence[_Line], metrics: Collection[str]) -> tuple[str, ...]:
    return () if lines else (f"This benchmark has no row of {', '.join(sorted(metrics))}.",)


def _of_record(row: SeriesRow) -> _Line:
    about = (row.metric, row.level, row.value, row.stratum, write(row.metadata))
    return _Line("per_series", row.record, row.estimator, *about)


def _aggregates(series: Series) -> Iterator[_Line]:
    for a in [*series.aggregates, *series.over_strata()]:
        name, level = split_identity(a.metric)
        about = write(_metadata(series, a, name, level))
        yield _Line("aggregate", None, a.estimator, name, level, null(a.value), series.json_of(a.stratum), about)


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
class _Interval:
    """An interval as the contract writes it."""

    interval: SeriesInterval
    kind: str
    how: str
    stratum: str
    metadata: str


SHARED_STREAM = (
    "Drawn as lrdbench draws them, from one generator in the order of its rows: the ends move with who else is there. "
    "The boards' own intervals, ranks and verdicts are drawn by the names of the records."
)
UNCERTAINTY: Frame[_Interval] = Frame(
    [
        FrameField(text_column("estimator_name"), lambda line: line.interval.estimator),
        FrameField(text_column("metric_name"), lambda line: split_identity(line.interval.metric)[0]),
        FrameField(
            Column("value", "Value", interval=("ci_low", "ci_high"), glossary="aggregate_bootstrap", digits=4),
            lambda line: line.interval.value,
        ),
        FrameField(text_column("uncertainty_type"), lambda line: line.kind),
        FrameField(text_column("aggregation"), lambda line: line.how),
        FrameField(Column("nominal", "Level", digits=2), lambda line: line.interval.level),
        FrameField(Column("ci_low", "Low", detail=True, digits=4), lambda line: line.interval.low),
        FrameField(Column("ci_high", "High", detail=True, digits=4), lambda line: line.interval.high),
        FrameField(text_column("stratum_json"), lambda line: line.stratum),
        FrameField(text_column("metadata_json"), lambda line: line.metadata),
    ]
)


def benchmark_uncertainty(
    series: Series, intervals: Sequence[SeriesInterval], drawn: SeriesUncertainty | None
) -> Table:
    """Return the intervals of the aggregates; none where the manifest asks for none, as in lrdbench."""
    title = "Uncertainty of the benchmark"
    if drawn is None:
        note = "The manifest asks for no uncertainty (key uncertainty), so there is none."
        return UNCERTAINTY.table("tables/benchmark_uncertainty", title, (), (note,), {"interval": None})
    meta = {"interval": "percentile bootstrap", "n_resamples": drawn.n_resamples, "rng_seed": drawn.rng_seed,
            "stream": drawn.stream, "level": drawn.levels[0], **series.shown_as()}  # fmt: skip
    lines = (_interval(series, interval, drawn.n_resamples) for interval in intervals)
    notes = (SHARED_STREAM,) if drawn.stream == "lrdbench" else ()
    return UNCERTAINTY.table("tables/benchmark_uncertainty", title, lines, notes, meta)


def _interval(series: Series, interval: SeriesInterval, n_resamples: int) -> _Interval:
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
    own_level = split_identity(interval.metric)[1]
    about |= {} if own_level is None else {"metric_nominal": own_level}
    about |= {"reason": "too_few_clusters"} if interval.low is None else {}
    return _Interval(interval, kind, how, series.json_of(interval.stratum), write(about))
