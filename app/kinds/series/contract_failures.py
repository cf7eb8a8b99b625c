"""The contract's tables of failures: counts by estimator and stratum, the map of metrics, and the records behind them.

Called by `app.kinds.series.contract_tables`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.identity import split_identity
from app.kinds.series.contract_rows import Pair, Series, cell_at, is_ratio, null, stratum_fields, text_column
from app.stats.strata import Group
from app.values.frame import Frame, FrameField
from app.values.table import Column, Table

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


@dataclass(frozen=True)
class _Failures:
    """What one estimator's rows in one stratum lack."""

    estimator: str
    stratum: str
    values: Mapping[str, Any]
    n_rows: int
    n_missing: int
    n_without_interval: int
    n_judged: int
    n_invalid: int

    @property
    def invalid_rate(self) -> float | None:
        """Return the share of invalid estimates, None where nothing says which are valid."""
        return self.n_invalid / self.n_judged if self.n_judged else None


FAILURES: Sequence[FrameField[_Failures]] = (
    FrameField(text_column("estimator_name"), lambda line: line.estimator),
    FrameField(text_column("stratum_json"), lambda line: line.stratum),
    FrameField(Column("n_metric_rows", "Metric rows", "integer"), lambda line: line.n_rows),
    FrameField(Column("n_missing_values", "Missing values", "integer"), lambda line: line.n_missing),
    FrameField(Column("n_missing_uncertainty", "Missing uncertainty", "integer"), lambda line: line.n_without_interval),
    FrameField(Column("n_validity_observations", "Validity observations", "integer"), lambda line: line.n_judged),
    FrameField(Column("n_invalid_estimates", "Invalid estimates", "integer"), lambda line: line.n_invalid),
    FrameField(Column("invalid_rate", "Invalid", glossary="invalid_rate", digits=3), lambda line: line.invalid_rate),
    FrameField(Column("missing_value_rate", "Missing", digits=3), lambda line: line.n_missing / line.n_rows),
)


def failures(series: Series) -> Table:
    """Return how many values, intervals and estimates of each estimator in each stratum are missing or invalid."""
    lines = [_failures(series, pair, members) for pair, members in series.by_pair().items()]
    fields = [*FAILURES, *(field.of(_values) for field in stratum_fields([line.stratum for line in lines]))]
    note = f"{sum(line.n_missing for line in lines)} of {sum(line.n_rows for line in lines)} values are missing."
    notes = (note if lines else NO_SERIES,)
    return Frame(fields).table("tables/failures", "Failures", lines, notes, _drawn_meta(series, HEAT))


def _values(line: _Failures) -> Mapping[str, Any]:
    return line.values


def _failures(series: Series, pair: Pair, members: Sequence[Group]) -> _Failures:
    validity = [group.values[group.included] for group in members if group.metric == "validity_rate"]
    observed = np.concatenate(validity) if validity else np.zeros(0)
    lists = series.scores.recorded.get("missing_ci")
    return _Failures(
        estimator=pair[0],
        stratum=series.strata[pair[1]],
        values=json.loads(series.strata[pair[1]]),
        n_rows=sum(len(group.values) for group in members),
        n_missing=sum(_n_null(group) for group in members),
        n_without_interval=sum(len((cell_at(lists, at) or "").split()) for at in series.rows_of(pair)),
        n_judged=len(observed),
        n_invalid=int((observed == 0).sum()),
    )


def _n_null(group: Group) -> int:
    """Count the null rows; those of a ratio have no value of their own, so none is missing."""
    return 0 if group.denominators is not None else int(np.isnan(group.values).sum())


@dataclass(frozen=True)
class _Mapped:
    """One estimator in one stratum: its aggregates by metric."""

    estimator: str
    stratum: str
    values: Mapping[str, Any]
    metrics: Mapping[str, float | None]


MAPPED: Sequence[FrameField[_Mapped]] = (
    FrameField(text_column("estimator_name"), lambda line: line.estimator),
    FrameField(text_column("stratum_json"), lambda line: line.stratum),
)


def failure_map(series: Series) -> Table:
    """Return each estimator's metrics in each stratum, a column for each; columns in the contract's order."""
    values: dict[Pair, dict[str, float | None]] = {}
    for a in series.aggregates:
        if a.stratum is not None:
            values.setdefault((a.estimator, a.stratum), {})[a.metric] = null(a.value)
    lines = [
        _Mapped(estimator, series.strata[stratum], json.loads(series.strata[stratum]), metrics)
        for (estimator, stratum), metrics in values.items()
    ]
    fields = [*MAPPED, *_in_order_of_rows(lines)]
    drawn = _drawn([metric for line in lines for metric in line.metrics])
    plot = {key: value for key, value in HEAT.items() if key != "highest"} | {"value": drawn}
    meta = _drawn_meta(series, plot) if drawn is not None else series.shown_as()
    notes = () if lines else (NO_SERIES,)
    return Frame(fields).table("tables/failure_map", "Metrics by estimator and stratum", lines, notes, meta)


def _drawn_meta(series: Series, plot: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawing of a table: estimators alone, not what is measured between several of them."""
    return {"plot": {**plot, "without": {"estimator_name": series.diagnostics()}}, **series.shown_as()}


def _in_order_of_rows(lines: Sequence[_Mapped]) -> Iterator[FrameField[_Mapped]]:
    """Yield the columns of strata and metrics in the order in which rows bring them, as lrdbench writes them."""
    known = {field.column.name: field for field in stratum_fields([line.stratum for line in lines])}
    seen: dict[str, FrameField[_Mapped]] = {}
    for line in lines:
        for key in sorted(line.values):
            seen.setdefault(f"stratum__{key}", known[f"stratum__{key}"].of(lambda row: row.values))
        for metric in line.metrics:
            seen.setdefault(metric_column(metric), FrameField(_metric(metric), _cell_of(metric)))
    yield from seen.values()


def _metric(metric: str) -> Column:
    return Column(metric_column(metric), metric, digits=4)


def _cell_of(metric: str) -> Any:
    return lambda line: line.metrics.get(metric)


def _drawn(metrics: Sequence[str]) -> str | None:
    """Return the column that the page draws: an error where there is one, or else the first metric there is."""
    known = [metric for name in MAPPED_FIRST for metric in metrics if metric == name]
    return next((metric_column(metric) for metric in [*known, *metrics]), None)


def metric_column(metric: str) -> str:
    """Return the contract's name of a metric's column."""
    name, level = split_identity(metric)
    return f"metric__{name}" if level is None else f"metric__{name}__nominal_{level!r}"


@dataclass(frozen=True)
class _Failed:
    """One record of one estimator that lacks something."""

    estimator: str | None
    task: str | None
    record: str | None
    missing: str | None
    reason: str | None
    warnings: str | None


FAILED: Frame[_Failed] = Frame(
    [
        FrameField(Column("entrant", "Entrant", "text"), lambda line: line.estimator),
        FrameField(Column("task", "Stratum", "text"), lambda line: line.task),
        FrameField(Column("record_id", "Record", "text"), lambda line: line.record),
        FrameField(Column("missing", "Without a value", "text"), lambda line: line.missing),
        FrameField(Column("reason", "Reason", "text"), lambda line: line.reason),
        FrameField(Column("warnings", "Warnings", "text"), lambda line: line.warnings),
    ]
)


def failed_records(series: Series) -> Table:
    """Return every record of an estimator without a value, with the reason."""
    lines = list(_failed(series))
    note = f"{len(lines)} of {len(series.scores)} records of an estimator lack a value."
    return FAILED.table("failed_records", "Failed records", lines, (note,))


def failure_modes(series: Series) -> Table:
    """Return how many records of each estimator failed in which of lrdbench's modes."""
    counts = Counter((line.estimator, _mode(line.reason)) for line in _failed(series) if line.reason)
    frame: Frame[tuple[tuple[str | None, str], int]] = Frame(
        [
            FrameField(text_column("estimator_name"), lambda line: line[0][0]),
            FrameField(text_column("failure_mode"), lambda line: line[0][1]),
            FrameField(Column("n_records", "Records", "integer"), lambda line: line[1]),
        ]
    )
    rows = sorted(counts.items(), key=lambda item: (item[0][0] or "", item[0][1]))
    return frame.table("tables/failure_modes", "Failure modes", rows)


def _mode(reason: str | None) -> str:
    if reason == NO_INTERVAL:
        return "missing_uncertainty"
    return next((mode for prefix, mode in MODES.items() if (reason or "").startswith(prefix)), OTHER_MODE)


def _failed(series: Series) -> Iterator[_Failed]:
    scores = series.scores
    lists, columns = scores.recorded.get("metrics"), {name: at for at, name in enumerate(scores.columns)}
    for at in range(len(scores)):
        had = (cell_at(lists, at) or "").split() if lists is not None else scores.columns
        missing = [m for m in had if m in columns and np.isnan(scores.values[at, columns[m]]) and not is_ratio(m)]
        reason = _reason(series, at, missing)
        if missing or reason:
            warnings = cell_at(scores.recorded.get("warnings"), at)
            where = (scores.entrant.at(at), scores.task.at(at), cell_at(scores.item, at))
            yield _Failed(*where, " ".join(missing) or None, reason, warnings)


def _reason(series: Series, at: int, missing: Sequence[str]) -> str | None:
    """Return why the estimate failed, or that it came without the interval that the missing metrics measure."""
    recorded = series.scores.recorded
    reason = cell_at(series.scores.reason, at) or cell_at(recorded.get("failure_reason"), at)
    without_interval = (cell_at(recorded.get("missing_ci"), at) or "").split()
    return reason or (NO_INTERVAL if set(missing) & set(without_interval) else None)
