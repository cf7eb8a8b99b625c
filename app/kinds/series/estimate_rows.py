"""Rows of the estimates of which raw/metrics.csv has no row of one series: those that tell classes of series apart.

Called by `app.kinds.series.read` for benchmarks with metrics of classes. lrdbench computes those over all records, so
where a suite has no other metric that applies to an estimator, nothing but its estimates says what it was run on. A row
of this kind has no metric, and the stratum that raw/records.csv says of its record.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from app.files.blocks import Block
from app.files.findings import Findings
from app.files.uploads import ReceivedFile
from app.kinds.block_cells import Cells
from app.kinds.series.claimed_tables import numbers_of
from app.kinds.series.json_cells import ObjectTexts, as_texts, write
from app.kinds.series.rows import MetricRows, Words
from app.stats.arrays import BoolArray

TARGET, VALUE, NOTES = "target_estimand", "target_value", "annotations_json"
REQUIRED = ("record_id", TARGET, VALUE, NOTES)
STRATUM_KEYS = (
    *("process_family", "simulation_method", "n", "H", "d", "sigma", "stress_role"),
    *("contamination_operator", "contamination_family", "contamination_severity"),
    *("preprocessing_role", "preprocessing_operator", "preprocessing_family", "preprocessing_kind"),
    *("preprocessing_severity", "correction_target"),
    *("nonstationary_case", "nonstationarity_source", "nonstationarity_family"),
    *("source_kind", "source_path", "series_index", "subject", "session", "channel", "condition", "segment_id"),
)
"""What of a record's annotations its stratum is made of. Source: lrdbench 2.0, `stratum_from_record`."""


class RecordStrata:
    """The stratum of each record of one run, as JSON."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[str, str] = {}

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the records of a block; annotations that are no object are a problem."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        notes = ObjectTexts[Mapping[str, Any]](lambda values: values)
        codes = notes.encode(cells.texts(NOTES))
        if notes.wrong:
            cells.refuse(NOTES, np.isin(codes, list(notes.wrong)), lambda at: notes.wrong[int(codes[at])])
        values = numbers_of(cells, VALUE).tolist()
        records, targets = (cells.texts(name).to_pylist() for name in ("record_id", TARGET))
        for record, code, target, value in zip(records, codes.tolist(), targets, values, strict=True):
            self._known[record or ""] = write(_stratum(notes.parsed[code] or {}, target, value))

    def beside(self, block: Block) -> Block:
        """Return the estimates of a block whose records are known, with the stratum of each."""
        records = block.columns["record_id"].to_pylist()
        known = np.array([record in self._known for record in records], dtype=np.bool_)
        strata = as_texts([self._known.get(record or "") for record in records])
        columns = {**block.columns, "stratum_json": strata}
        return Block(block.rows[known], {name: texts.filter(known) for name, texts in columns.items()})


def _stratum(notes: Mapping[str, Any], target: str | None, value: float) -> dict[str, Any]:
    stratum = {key: notes[key] for key in STRATUM_KEYS if key in notes}
    if target is None:
        return stratum
    return {**stratum, TARGET: target, VALUE: None if np.isnan(value) else value}


def unmeasured(estimates: MetricRows, evidence: MetricRows, words: Words, used: Collection[str]) -> BoolArray:
    """Say which rows of estimates are of an estimator and record without a row of a metric that is used."""
    uses = np.array([*(name in used for name in words.metrics), False])[evidence.metric]
    n_estimators = len(words.estimators)
    keys = (evidence.record * n_estimators + evidence.estimator)[uses]
    return ~np.isin(estimates.record * n_estimators + estimates.estimator, keys)
