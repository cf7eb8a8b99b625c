"""The tables of a series benchmark as lrdbench's output contract names them, from its per-series rows alone.

Called by `app.kinds.series.kind`. Their columns are the contract's, so that its readers read ours.
"""

from collections.abc import Callable, Iterator

from app.boards.methods.weighted_rank.groups import enrolled_estimators
from app.boards.methods.weighted_rank.identity import split_identity
from app.boards.methods.weighted_rank.records import HeldRecords, held_records, records_table
from app.kinds.series import contract_aggregates as aggregates
from app.kinds.series import contract_failures as failures
from app.kinds.series.contract_rows import Series, SeriesRow, text_column
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.uncertainty import series_intervals
from app.manifest.manifest import Manifest, part_of
from app.values.frame import Frame, FrameField
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
        aggregates.per_stratum_metrics(series),
        aggregates.benchmark_uncertainty(series, intervals, drawn),
        aggregates.uncertainty_calibration(series),
        aggregates.estimator_disagreement(series),
        aggregates.scale_window_sensitivity(series),
        failures.failures(series),
        failures.failure_map(series),
        failures.failure_modes(series),
        failures.failed_records(series),
        records_table(_held(manifest, part, scores)),
    ]
    has_corrections = any(split_identity(name)[0].partition(":")[0] in CORRECTION for name in manifest.metrics)
    tables += [_correction_metrics(series)] if has_corrections else []
    return [*tables, _stress_metrics(series)] if part.mode == "stress_test" else tables


def _held(manifest: Manifest, part: SeriesPart, scores: ScoreTable) -> HeldRecords:
    names, asked = enrolled_estimators(scores, part.estimators), manifest.asked
    return held_records(scores, names, asked.named_items, asked.facts.owners_of(names))


def _run_summary(manifest: Manifest, part: SeriesPart) -> Table:
    """Return what the tables are of; a benchmark takes the place of lrdbench's run."""
    frame: Frame[Manifest] = Frame(
        [
            FrameField(text_column("run_id"), lambda of: of.slug),
            FrameField(text_column("manifest_id"), lambda of: of.slug),
            FrameField(text_column("benchmark_name"), lambda of: of.title),
            FrameField(text_column("mode"), lambda of: part.mode),
        ]
    )
    return frame.table("tables/run_summary", "Summary", [manifest])


OF_A_RECORD: tuple[FrameField[SeriesRow], ...] = (
    FrameField(text_column("record_id"), lambda row: row.record),
    FrameField(text_column("estimator_name"), lambda row: row.estimator),
    FrameField(text_column("metric_name"), lambda row: row.metric),
    FrameField(Column("value", "Value", digits=4), lambda row: row.value),
    FrameField(text_column("stratum_json"), lambda row: row.stratum),
)


def _described(key: str) -> Callable[[SeriesRow], Cell]:
    return lambda row: row.metadata.get(key)


def _correction_metrics(series: Series) -> Table:
    """Return what corrections of a series came to, by record."""
    fields = [*OF_A_RECORD, *(FrameField(text_column(key), _described(key)) for key in OF_CORRECTIONS)]
    rows = series.series_rows(CORRECTION)
    return Frame(fields).table(
        "tables/correction_metrics", "Corrections by record", rows, (aggregates.AS_STATED,), series.shown_as()
    )


def _stress_metrics(series: Series) -> Table:
    """Return what stress did to an estimate, by record."""
    fields = [
        *OF_A_RECORD,
        *(FrameField(text_column(key), _described(key)) for key in ("contamination_operator", "clean_record_id")),
        FrameField(Column("nominal", "Level", digits=2), lambda row: row.level),
    ]
    rows = _stressed(series)
    return Frame(fields).table("tables/stress_metrics", "Stress metrics by record", rows, (), series.shown_as())


def _stressed(series: Series) -> Iterator[SeriesRow]:
    return (row for row in series.series_rows(STRESS) if row.metadata.get("clean_record_id") is not None)
