"""raw/metrics.csv as columns of codes and numbers, block by block, with a problem for every cell that is wrong.

Called by `app.evidence.series_metrics`. Rows of every scope come out; only those of scope per_series are evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.evidence.blocks import Block
from app.evidence.findings import Findings
from app.evidence.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.evidence.series_json import NotAnObject, ObjectTexts, as_texts
from app.evidence.series_names import (
    ESTIMATOR_CELL_RULE,
    METRIC_CELL_RULE,
    RECORD_RULE,
    is_estimator_cell,
    is_metric_cell,
    is_record_id,
)
from app.evidence.series_strata import BALANCED_GLOBAL, Stratum, stratum_of
from app.evidence.summary_blocks import Cells
from app.evidence.uploads import ReceivedFile
from app.evidence.vocabulary import Vocabulary
from app.lrdbench_catalog import identity_of
from app.scores import NONE, BoolArray, FloatArray, IntArray

COLUMNS = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
PER_SERIES, AGGREGATE, UNCERTAINTY = range(3)
SCOPES = ("per_series", "aggregate", "uncertainty")
FINITE = Bounds(None, None)
NO_LEVEL = 0.0


@dataclass(frozen=True)
class MetricRows:
    """Rows of raw/metrics.csv; what a code means is in the Words of their reader."""

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
    metadata: Sequence[Mapping[str, Any]]


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
        self._strata = ObjectTexts()
        self._metadata = ObjectTexts()
        self._named: list[Stratum | None] = []
        # One text in two spellings is one stratum: each has the code of the first.
        self._first_of: dict[str, int] = {}
        self._canonical: list[int] = []
        # The level of each metadata text, by key.
        self._levels: dict[str, list[float]] = {"nominal": [], "metric_nominal": []}

    def words(self) -> Words:
        """Return what the codes mean that have been given so far."""
        return Words(
            self._records.words, self._estimators.words, self._identities.words, self._named, self._metadata.found
        )

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

    def _read_records(self, cells: Cells, is_evidence: BoolArray) -> IntArray:
        texts = cells.texts("record_id")
        codes = self._records.encode(texts)
        wrong = (codes == NONE) & is_evidence
        cells.refuse("record_id", wrong, lambda at: _complaint(texts[at].as_py(), RECORD_RULE))
        return codes

    def _read_metadata(self, cells: Cells) -> IntArray:
        codes = self._metadata.encode(cells.texts("metadata_json"))
        for key, levels in self._levels.items():
            for at, found in enumerate(self._metadata.found[len(levels) :], start=len(levels)):
                level = found.get(key)
                is_level = isinstance(level, float) and 0.0 < level < 1.0
                levels.append(level if isinstance(level, float) and is_level else NO_LEVEL)
                if level is not None and not is_level:
                    self._metadata.wrong[at] = f"{key} must be a number between 0 and 1"
        _refuse_codes(cells, "metadata_json", codes, self._metadata.wrong)
        return codes

    def _read_metrics(self, cells: Cells, scope: IntArray, metadata: IntArray) -> IntArray:
        """Return the code of each row's identity: the metric, with its own nominal level where it has one."""
        names = _encode(cells, "metric_name", self._names, METRIC_CELL_RULE)
        # In a row of uncertainty `nominal` is the level of the interval.
        plain, own = (np.array(self._levels[key])[metadata] for key in ("nominal", "metric_nominal"))
        levels = np.where(scope == UNCERTAINTY, own, plain)
        pairs, inverse = np.unique(np.column_stack([names, levels]), axis=0, return_inverse=True)
        identities = [
            None if name == NONE else identity_of(self._names.words[int(name)], None if level == NO_LEVEL else level)
            for name, level in pairs.tolist()
        ]
        return self._identities.encode(as_texts(identities))[inverse.reshape(-1)]

    def _read_strata(self, cells: Cells, is_evidence: BoolArray) -> IntArray:
        codes = self._strata.encode(cells.texts("stratum_json"))
        for at, found in enumerate(self._strata.found[len(self._named) :], start=len(self._named)):
            stratum = self._stratum(at, found)
            self._named.append(stratum)
            self._canonical.append(at if stratum is None else self._first_of[stratum.json])
        _refuse_codes(cells, "stratum_json", codes, self._strata.wrong)
        names = np.array([s is not None and s.name == BALANCED_GLOBAL for s in self._named], dtype=np.bool_)
        message = "the balanced global level is an aggregate; a row of one series has the stratum of its record"
        cells.refuse("stratum_json", names[codes] & is_evidence, lambda _: message)
        return np.array(self._canonical, dtype=np.int64)[codes]

    def _stratum(self, at: int, found: Mapping[str, Any]) -> Stratum | None:
        if at in self._strata.wrong:
            return None
        try:
            stratum = stratum_of(found)
        except NotAnObject as error:
            self._strata.wrong[at] = str(error)
            return None
        self._first_of.setdefault(stratum.json, at)
        return stratum


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
