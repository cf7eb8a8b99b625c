"""The tables of a series benchmark as lrdbench's output contract names them, from its per-series rows alone.

Called by `app.jobs.boards`. Their columns are the contract's, so that its readers read ours.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.weighted_rank.groups import (
    PAIRED_RATIO,
    balanced,
    enrolled_estimators,
    series_groups,
    stratum_aggregates,
)
from app.boards.weighted_rank.identity import split_identity
from app.boards.weighted_rank.records import HeldRecords, held_records, records_table
from app.kinds.series.part import SeriesPart, SeriesUncertainty
from app.kinds.series.uncertainty import SeriesInterval, series_intervals
from app.manifest.manifest import Manifest, part_of
from app.stats.strata import RATIO_EPSILON, Aggregate, Group
from app.values.scores import NONE, Coded, ScoreTable
from app.values.table import Cell, Column, Table

BALANCED = '{"level": "balanced_global"}'
NO_INTERVAL = "no interval (missing_ci)"
HEAT = {
    "kind": "heatmap",
    "x": "stratum_json",
    "y": "estimator_name",
    "value": "n_missing_values",
    "link": {"table": "failed_records", "narrow": {"entrant": "estimator_name", "task": "stratum_json"}},
}


def _held(manifest: Manifest, part: SeriesPart, scores: ScoreTable) -> HeldRecords:
    return held_records(scores, enrolled_estimators(scores, part.estimators), manifest.asked.named_items())


def series_tables(manifest: Manifest, scores: ScoreTable) -> list[Table]:
    """Return the contract's tables, the failed records behind them, and who has which record."""
    part, series = part_of(manifest, SeriesPart), _Series.of(scores, manifest.metrics)
    intervals = series_intervals(series.groups, series.aggregates, part.drawn)
    tables = [
        series.per_stratum_metrics(),
        series.benchmark_uncertainty(intervals, part.drawn),
        series.failures(),
        series.failure_map(),
        series.failed_records(),
        records_table(_held(manifest, part, scores)),
    ]
    return [*tables, series.stress_metrics()] if part.mode == "stress_test" else tables


@dataclass(frozen=True)
class _Series:
    """The rows of a benchmark with their groups and aggregates; `strata` gives each stratum's JSON by its name."""

    scores: ScoreTable
    groups: Sequence[Group]
    aggregates: Sequence[Aggregate]
    strata: Mapping[str, str]

    @classmethod
    def of(cls, scores: ScoreTable, metrics: Collection[str]) -> "_Series":
        groups = series_groups(scores)
        known = scores.recorded.get("stratum_json")
        strata: dict[str, str] = {}
        for at in range(len(scores)):
            name = scores.task.at(at) or ""
            strata.setdefault(name, (known.at(at) if known is not None else None) or json.dumps({"stratum": name}))
        return cls(scores, groups, stratum_aggregates(groups, metrics), strata)

    def shown_as(self) -> dict[str, Any]:
        """Return how pages name a stratum, whose JSON is the contract's and nothing to read."""
        names = {text: name for name, text in self.strata.items()}
        return {"shown_as": {"stratum_json": {**names, BALANCED: "all strata"}}}

    def per_stratum_metrics(self) -> Table:
        rows = tuple(self._aggregate_row(a) for a in [*self.aggregates, *balanced(self.aggregates)])
        columns = (*_texts("estimator_name", "metric_name"), Column("value", "Value", digits=4),
                   *_texts("stratum_json", "metadata_json"))  # fmt: skip
        note = "Means within strata, then over strata with the same weight each; null values are left out and counted."
        return Table("tables/per_stratum_metrics", "Metrics by stratum", columns, rows, (note,), self.shown_as())

    def benchmark_uncertainty(self, intervals: Sequence[SeriesInterval], drawn: SeriesUncertainty) -> Table:
        rows = tuple(self._interval_row(interval, drawn.n_resamples) for interval in intervals)
        columns = (
            *_texts("estimator_name", "metric_name"),
            Column("value", "Value", interval=("ci_low", "ci_high"), digits=4),
            *_texts("uncertainty_type", "aggregation"),
            Column("nominal", "Level", digits=2),
            Column("ci_low", "Low", detail=True, digits=4),
            Column("ci_high", "High", detail=True, digits=4),
            *_texts("stratum_json", "metadata_json"),
        )
        meta = {"interval": "percentile bootstrap", "n_resamples": drawn.n_resamples, "rng_seed": drawn.rng_seed,
                "stream": drawn.stream, "level": drawn.levels[0], **self.shown_as()}  # fmt: skip
        return Table("tables/benchmark_uncertainty", "Uncertainty of the benchmark", columns, rows, (), meta)

    def failures(self) -> Table:
        rows = tuple(self._failure_row(*pair, members) for pair, members in self._by_pair().items())
        counts = ("n_metric_rows", "n_missing_values", "n_missing_uncertainty", "n_validity_observations",
                  "n_invalid_estimates")  # fmt: skip
        columns = (
            *_texts("estimator_name", "stratum_json"),
            *(Column(name, name.removeprefix("n_").replace("_", " ").capitalize(), "integer") for name in counts),
            Column("invalid_rate", "Invalid", glossary="invalid_rate", digits=3),
            Column("missing_value_rate", "Missing", digits=3),
            *self._stratum_columns(),
        )
        missing = sum(int(row[3] or 0) for row in rows)
        note = f"{missing} of {sum(int(row[2] or 0) for row in rows)} values are missing."
        return Table("tables/failures", "Failures", columns, rows, (note,), {"plot": HEAT, **self.shown_as()})

    def failure_map(self) -> Table:
        metrics = list(dict.fromkeys(a.metric for a in self.aggregates))
        known = {(a.estimator, a.stratum, a.metric): a.value for a in self.aggregates}
        rows = tuple(
            (estimator, self.strata[stratum], *self._stratum_cells(stratum),
             *(_null(known.get((estimator, stratum, metric), np.nan)) for metric in metrics))
            for estimator, stratum in self._by_pair()
        )  # fmt: skip
        columns = (
            *_texts("estimator_name", "stratum_json"),
            *self._stratum_columns(),
            *(Column(_metric_column(metric), metric, digits=4) for metric in metrics),
        )
        return Table("tables/failure_map", "Metrics by estimator and stratum", columns, rows, (), self.shown_as())

    def failed_records(self) -> Table:
        rows = tuple(self._failed_rows())
        columns = (
            Column("entrant", "Entrant", "text"),
            Column("task", "Stratum", "text"),
            Column("record_id", "Record", "text"),
            Column("missing", "Without a value", "text"),
            Column("reason", "Reason", "text"),
            Column("warnings", "Warnings", "text"),
        )
        note = f"{len(rows)} of {len(self.scores)} records of an estimator lack a value."
        return Table("failed_records", "Failed records", columns, rows, (note,))

    def stress_metrics(self) -> Table:
        columns = (
            *_texts("record_id", "estimator_name", "metric_name"),
            Column("value", "Value", digits=4),
            *_texts("stratum_json", "contamination_operator", "clean_record_id"),
            Column("nominal", "Level", digits=2),
        )
        rows = tuple(self._stress_rows())
        return Table("tables/stress_metrics", "Stress metrics by record", columns, rows, (), self.shown_as())

    def _aggregate_row(self, a: Aggregate) -> tuple[Cell, ...]:
        name, level = split_identity(a.metric)
        stratum = BALANCED if a.stratum is None else self.strata[a.stratum]
        return (a.estimator, name, _null(a.value), stratum, _write(self._aggregate_metadata(a, level)))

    def _aggregate_metadata(self, a: Aggregate, level: float | None) -> dict[str, Any]:
        is_ratio = a.metric == PAIRED_RATIO
        if a.stratum is None:
            how = "ratio_of_equal_weight_available_stratum_maes" if is_ratio else "balanced_global_mean"
            about: dict[str, Any] = {
                "n_strata_attempted": a.n_strata_attempted,
                "n_strata_included": a.n_strata_included,
            }
        else:
            how = "ratio_of_paired_stratum_maes" if is_ratio else "mean_within_stratum"
            about = {"stratum_key": [list(pair) for pair in sorted(json.loads(self.strata[a.stratum]).items())]}
        about |= {"aggregation": how, "n_attempted": a.n_attempted, "n_included": a.n_included,
                  "n_missing": a.n_attempted - a.n_included}  # fmt: skip
        if is_ratio:
            about |= {"numerator_mae": _null(a.numerator), "denominator_mae": _null(a.denominator),
                      "denominator_epsilon": RATIO_EPSILON}  # fmt: skip
        return about if level is None else about | {"nominal": level}

    def _interval_row(self, interval: SeriesInterval, n_resamples: int) -> tuple[Cell, ...]:
        name, own_level = split_identity(interval.metric)
        stratum = BALANCED if interval.stratum is None else self.strata[interval.stratum]
        kind = "paired_bootstrap_difference" if interval.pair else "aggregate_bootstrap"
        if interval.pair is not None:
            how = "paired_bootstrap_within_stratum"
        else:
            how = "bootstrap_over_strata" if interval.stratum is None else "bootstrap_within_stratum"
        about: dict[str, Any] = {
            "aggregation": how,
            "ci_high": interval.high,
            "ci_low": interval.low,
            "n_bootstrap": n_resamples,
            "nominal": interval.level,
            "uncertainty_type": kind,
        }
        if interval.pair is not None:
            about |= {"estimator_a": interval.pair[0], "estimator_b": interval.pair[1], "n_pairs": interval.n_units}
        else:
            about |= {"n_strata" if interval.stratum is None else "n_observations": interval.n_units}
        about |= {} if own_level is None else {"metric_nominal": own_level}
        about |= {"reason": "too_few_clusters"} if interval.low is None else {}
        return (interval.estimator, name, interval.value, kind, how, interval.level, interval.low, interval.high,
                stratum, _write(about))  # fmt: skip

    def _by_pair(self) -> dict[tuple[str, str], list[Group]]:
        """Return the groups of each enrolled estimator and stratum, the strata in order of appearance."""
        found: dict[tuple[str, str], list[Group]] = {}
        for group in self.groups:
            found.setdefault((group.estimator, group.stratum), []).append(group)
        return found

    def _failure_row(self, estimator: str, stratum: str, members: Sequence[Group]) -> tuple[Cell, ...]:
        n_rows = sum(len(group.values) for group in members)
        missing = sum(_n_null(group) for group in members)
        without_interval = self._n_missing_intervals(estimator, stratum)
        validity = [group.values[group.included] for group in members if group.metric == "validity_rate"]
        observed = np.concatenate(validity) if validity else np.zeros(0)
        invalid = int((observed == 0).sum())
        rate = invalid / len(observed) if len(observed) else None
        counts = (n_rows, missing, without_interval, len(observed), invalid)
        return (estimator, self.strata[stratum], *counts, rate, missing / n_rows, *self._stratum_cells(stratum))

    def _n_missing_intervals(self, estimator: str, stratum: str) -> int:
        recorded = self.scores.recorded.get("missing_ci")
        if recorded is None:
            return 0
        rows = self._rows_of(estimator, stratum)
        return sum(len((recorded.at(at) or "").split()) for at in rows)

    def _rows_of(self, estimator: str, stratum: str) -> list[int]:
        entrant, task = self.scores.entrant, self.scores.task
        of_both = (entrant.codes == entrant.words.index(estimator)) & (task.codes == task.words.index(stratum))
        return np.flatnonzero(of_both).tolist()

    def _keys(self) -> list[str]:
        return list(dict.fromkeys(key for text in self.strata.values() for key in json.loads(text)))

    def _stratum_columns(self) -> tuple[Column, ...]:
        return tuple(Column(f"stratum__{key}", key.replace("_", " "), "text", detail=True) for key in self._keys())

    def _stratum_cells(self, stratum: str) -> tuple[Cell, ...]:
        values = json.loads(self.strata[stratum])
        return tuple(values.get(key) for key in self._keys())

    def _failed_rows(self) -> Iterator[tuple[Cell, ...]]:
        metrics = self.scores.recorded.get("metrics")
        columns = {name: at for at, name in enumerate(self.scores.columns)}
        for at in range(len(self.scores)):
            had = (metrics.at(at) or "").split() if metrics is not None else self.scores.columns
            missing = [
                m for m in had if m in columns and np.isnan(self.scores.values[at, columns[m]]) and m != PAIRED_RATIO
            ]
            reason = self._reason(at, missing)
            if missing or reason:
                yield (self.scores.entrant.at(at), self.scores.task.at(at), _at(self.scores.item, at),
                       " ".join(missing) or None, reason, _at(self.scores.recorded.get("warnings"), at))  # fmt: skip

    def _reason(self, at: int, missing: Sequence[str]) -> str | None:
        """Return why the estimate failed, or that it came without the interval that the missing metrics measure."""
        reason = _at(self.scores.reason, at) or _at(self.scores.recorded.get("failure_reason"), at)
        without_interval = (_at(self.scores.recorded.get("missing_ci"), at) or "").split()
        return reason or (NO_INTERVAL if set(missing) & set(without_interval) else None)

    def _stress_rows(self) -> Iterator[tuple[Cell, ...]]:
        operators, clean = (self.scores.recorded.get(key) for key in ("contamination_operator", "clean_record_id"))
        metrics = self.scores.recorded.get("metrics")
        columns = {name: at for at, name in enumerate(self.scores.columns)}
        for at in range(len(self.scores)):
            if _at(clean, at) is None or metrics is None:
                continue
            for metric in (metrics.at(at) or "").split():
                name, level = split_identity(metric)
                if name in STRESS and metric in columns:
                    yield (_at(self.scores.item, at), self.scores.entrant.at(at), name,
                           _null(self.scores.values[at, columns[metric]]), self.strata[self.scores.task.at(at) or ""],
                           _at(operators, at), _at(clean, at), level)  # fmt: skip


STRESS = frozenset({
    "estimate_drift", "absolute_estimate_drift", "signed_estimate_drift", "absolute_error_inflation",
    "relative_degradation_ratio", "paired_mae_ratio", "validity_collapse", "coverage_collapse", "coverage_loss_rate",
    "net_coverage_loss",
})  # fmt: skip


def _n_null(group: Group) -> int:
    """Count the null rows; those of a ratio have no value of their own, so none is missing."""
    return 0 if group.denominators is not None else int(np.isnan(group.values).sum())


def _texts(*names: str) -> tuple[Column, ...]:
    return tuple(
        Column(name, name.removesuffix("_json").replace("_", " ").capitalize(), "text", detail=name == "metadata_json")
        for name in names
    )


def _metric_column(metric: str) -> str:
    name, level = split_identity(metric)
    return f"metric__{name}" if level is None else f"metric__{name}__nominal_{level!r}"


def _null(value: float) -> float | None:
    return None if value != value else float(value)


def _at(column: Coded | None, at: int) -> str | None:
    return None if column is None or column.codes[at] == NONE else column.at(at)


def _write(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)
