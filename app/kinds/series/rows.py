"""raw/metrics.csv as columns of codes and numbers, block by block, with a problem for every cell that is wrong.

Called by `app.kinds.series.read`. Rows of every scope come out; only those of scope per_series are evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.identity import identity_of
from app.files.blocks import Block
from app.files.findings import Findings
from app.files.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.files.uploads import ReceivedFile
from app.files.vocabulary import Vocabulary
from app.kinds.block_cells import Cells
from app.kinds.series.json_cells import ObjectTexts, as_texts
from app.kinds.series.metadata import Metadata, metadata_of
from app.kinds.series.names import (
    ESTIMATOR_CELL_RULE,
    METRIC_CELL_RULE,
    RECORD_RULE,
    is_estimator_cell,
    is_metric_cell,
    is_record_id,
)
from app.kinds.series.strata import BALANCED_GLOBAL, Stratum, stratum_of
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE

COLUMNS = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
PER_SERIES, AGGREGATE, UNCERTAINTY = range(3)
SCOPES = ("per_series", "aggregate", "uncertainty")
FINITE = Bounds(None, None)
NO_LEVEL = 0.0


@dataclass(frozen=True)
class MetricRows:
    """Rows of raw/metrics.csv; what a code means is in the Words of their reader. NONE is a row without a metric."""

    scope: IntArray
    record: IntArray
    estimator: IntArray
    metric: IntArray
    value: FloatArray
    stratum: IntArray
    metadata: IntArray
    file: IntArray
    row: IntArray

    def __len__(self) -> int:
        return len(self.row)

    def where(self, rows: BoolArray | IntArray) -> "MetricRows":
        """Return some of the rows."""
        return MetricRows(**{name: column[rows] for name, column in vars(self).items()})


@dataclass(frozen=True)
class Words:
    """What the codes of MetricRows mean; `metrics` are identities, `strata` is None where the text is no stratum."""

    records: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    strata: Sequence[Stratum | None]
    metadata: Sequence[Metadata]


def concatenate(parts: Sequence[MetricRows]) -> MetricRows:
    """Return the rows of every part, in their order."""
    return MetricRows(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])})


class MetricRowReader:
    """Reads the blocks of every raw/metrics.csv of a submission."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._scopes = Vocabulary(lambda _: False, SCOPES)
        self._records = Vocabulary(is_record_id)
        self._estimators = Vocabulary(is_estimator_cell)
        self._names = Vocabulary(is_metric_cell)
        self._identities = Vocabulary(lambda _: True)
        self._strata = ObjectTexts(stratum_of)
        self._metadata = ObjectTexts(metadata_of)
        self._known: list[Metadata] = []
        # One text in two spellings is one stratum: each has the code of the first.
        self._first_of: dict[str, int] = {}
        self._canonical: list[int] = []

    def words(self) -> Words:
        """Return what the codes mean that have been given so far."""
        metadata = [parsed or Metadata() for parsed in self._metadata.parsed]
        return Words(self._records.words, self._estimators.words, self._identities.words, self._strata.parsed, metadata)

    def read(self, block: Block, file: ReceivedFile) -> MetricRows:
        """Return the rows of a block; a wrong cell becomes a problem and an empty value or name."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        scope = _encode(cells, "scope", self._scopes, f"expected one of {', '.join(SCOPES)}")
        metadata = self._read_metadata(cells)
        return MetricRows(
            scope=scope,
            record=self._read_records(cells, scope == PER_SERIES),
            estimator=_encode(cells, "estimator_name", self._estimators, ESTIMATOR_CELL_RULE),
            metric=self._read_metrics(cells, scope, metadata),
            value=_read_values(cells),
            stratum=self._read_strata(cells, scope == PER_SERIES),
            metadata=metadata,
            file=np.full(len(block), file.position, dtype=np.int64),
            row=block.rows,
        )

    def read_estimates(self, block: Block, file: ReceivedFile) -> MetricRows:
        """Return a row without a metric for each estimate of a block that has its record's stratum beside it."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        each = np.ones(len(block), dtype=np.bool_)
        return MetricRows(
            scope=np.full(len(block), PER_SERIES, dtype=np.int64),
            record=self._read_records(cells, each),
            estimator=_encode(cells, "estimator_name", self._estimators, ESTIMATOR_CELL_RULE),
            metric=np.full(len(block), NONE, dtype=np.int64),
            value=np.full(len(block), np.nan),
            stratum=self._read_strata(cells, each),
            metadata=self._read_metadata(cells),
            file=np.full(len(block), file.position, dtype=np.int64),
            row=block.rows,
        )

    def _read_records(self, cells: Cells, is_evidence: BoolArray) -> IntArray:
        texts = cells.texts("record_id")
        codes = self._records.encode(texts)
        wrong = (codes == NONE) & is_evidence
        cells.refuse("record_id", wrong, lambda at: _complaint(texts[at].as_py(), RECORD_RULE))
        return codes

    def _read_metadata(self, cells: Cells) -> IntArray:
        codes = self._metadata.encode(cells.texts("metadata_json"))
        self._known += [parsed or Metadata() for parsed in self._metadata.parsed[len(self._known) :]]
        _refuse_codes(cells, "metadata_json", codes, self._metadata.wrong)
        return codes

    def _read_metrics(self, cells: Cells, scope: IntArray, metadata: IntArray) -> IntArray:
        """Return the code of each row's identity: the metric, with its own nominal level where it has one."""
        names = _encode(cells, "metric_name", self._names, METRIC_CELL_RULE)
        levels = self._levels(scope == UNCERTAINTY, metadata)
        pairs, inverse = np.unique(np.column_stack([names, levels]), axis=0, return_inverse=True)
        identities = [
            None if name == NONE else identity_of(self._names.words[int(name)], None if level == NO_LEVEL else level)
            for name, level in pairs.tolist()
        ]
        return self._identities.encode(as_texts(identities))[inverse.reshape(-1)]

    def _levels(self, is_uncertainty: BoolArray, metadata: IntArray) -> FloatArray:
        """Return the own level of each row's metric, NO_LEVEL where it has none."""
        words, codes = np.unique(metadata, return_inverse=True)
        metadata_of_words = [self._known[code] for code in words.tolist()]
        # In a row of uncertainty `nominal` is the level of the interval.
        plain = np.array([meta.nominal or NO_LEVEL for meta in metadata_of_words])
        own = np.array([meta.metric_nominal or NO_LEVEL for meta in metadata_of_words])
        return np.where(is_uncertainty, own[codes], plain[codes])

    def _read_strata(self, cells: Cells, is_evidence: BoolArray) -> IntArray:
        codes = self._strata.encode(cells.texts("stratum_json"))
        for at, stratum in enumerate(self._strata.parsed[len(self._canonical) :], start=len(self._canonical)):
            self._canonical.append(at if stratum is None else self._first_of.setdefault(stratum.json, at))
        _refuse_codes(cells, "stratum_json", codes, self._strata.wrong)
        names = np.array([s is not None and s.name == BALANCED_GLOBAL for s in self._strata.parsed], dtype=np.bool_)
        message = "the balanced global level is an aggregate; a row of one series has the stratum of its record"
        cells.refuse("stratum_json", names[codes] & is_evidence, lambda _: message)
        return np.array(self._canonical, dtype=np.int64)[codes]


def _read_values(cells: Cells) -> FloatArray:
    texts = cells.texts("value")
    numbers = read_numbers(texts)
    wrong = wrong_cells(numbers, FINITE)
    cells.refuse("value", wrong, lambda at: describe_wrong(numbers.values[at], texts[at].as_py(), FINITE))
    return np.where(wrong, np.nan, numbers.values)


def _encode(cells: Cells, column: str, vocabulary: Vocabulary, rule: str) -> IntArray:
    texts = cells.texts(column)
    codes = vocabulary.encode(texts)
    cells.refuse(column, codes == NONE, lambda at: _complaint(texts[at].as_py(), rule))
    return codes


def _complaint(text: str | None, rule: str) -> str:
    return "the cell is empty" if text is None else rule


def _refuse_codes(cells: Cells, column: str, codes: IntArray, wrong: Mapping[int, str]) -> None:
    if wrong:
        cells.refuse(column, np.isin(codes, list(wrong)), lambda at: wrong[int(codes[at])])
