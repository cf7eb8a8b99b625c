"""The per-series rows of a submission as one wide ScoreTable: a row per estimator and record, a column per metric.

Called by `app.kinds.series.read`. Kept beside the scores is what lrdbench's own tables need, so that they can
be written again: which metrics a row had and in which order, which of them lacked an interval, and their metadata.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.groups import PAIRED_ERRORS, PAIRED_RATIO
from app.errors import Problem
from app.files.findings import Findings
from app.files.vocabulary import coded
from app.kinds.series.json_cells import EMPTY
from app.kinds.series.rows import MetricRows, Words
from app.kinds.series.strata import Stratum
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable

ESTIMATOR, DIAGNOSTIC = "estimator", "diagnostic"


@dataclass(frozen=True)
class Pivot:
    """Per-series rows, and the row of the ScoreTable that each belongs to: `wide` [n_long], `first` [n_wide]."""

    rows: MetricRows
    words: Words
    files: Mapping[int, str]
    wide: IntArray
    first: IntArray
    columns: Sequence[int]

    @classmethod
    def of(cls, rows: MetricRows, words: Words, files: Mapping[int, str]) -> "Pivot":
        """Number the pairs of estimator and record by first appearance, and the metrics too."""
        wide, first = _by_appearance(rows.record * len(words.estimators) + rows.estimator)
        named = rows.metric[rows.metric != NONE]
        _, first_metric = _by_appearance(named)
        return cls(rows, words, files, wide, first, named[first_metric].tolist())

    def is_contiguous(self) -> bool:
        """Say whether the rows of each pair are consecutive, so that the table keeps the file's order."""
        return int(np.count_nonzero(np.diff(self.wide))) + 1 == len(self.first)

    def table(self, roles: Sequence[str], findings: Findings) -> ScoreTable:
        """Return the scores; `roles` says of each pair whether it is an estimator's or a diagnostic's."""
        strata = [_known(stratum) for stratum in self.words.strata]
        stratum = self.rows.stratum[self.first]
        errors = self._paired_errors()
        names = tuple(self.words.metrics[code] for code in self.columns)
        metadata = self.words.metadata
        return ScoreTable(
            entrant=coded(tuple(self.words.estimators), self.rows.estimator[self.first]),
            task=coded(tuple(stratum.name for stratum in strata), stratum),
            columns=(*names, *(PAIRED_ERRORS if errors is not None else ())),
            values=self._values() if errors is None else np.column_stack([self._values(), errors]),
            leaked=np.zeros(len(self.first), dtype=np.bool_),
            file=self.rows.file[self.first],
            row=self.rows.row[self.first],
            item=coded(tuple(self.words.records), self.rows.record[self.first]),
            recorded={
                "role": code_texts(roles),
                "stratum_json": coded(tuple(stratum.json for stratum in strata), stratum),
                "metrics": code_texts(list(self._metric_lists(self.rows.metric != NONE))),
                "missing_ci": code_texts(list(self._metric_lists(self._lacks_interval()))),
                "clean_record_id": self._common("clean_record_id", [m.clean_record_id for m in metadata], findings),
                "contamination_operator": self._common(
                    "contamination_operator", [m.contamination_operator for m in metadata], findings
                ),
                "metadata": code_texts(list(self._metadata())),
            },
        )

    def _values(self) -> FloatArray:
        """Return the scores, [n_wide, n_columns]; a metric that a row does not have is NaN, as is one that is null."""
        position = {code: at for at, code in enumerate(self.columns)}
        column = np.array([position.get(code, NONE) for code in range(len(self.words.metrics))], dtype=np.int64)
        values = np.full((len(self.first), len(self.columns)), np.nan)
        named = self.rows.metric != NONE
        values[self.wide[named], column[self.rows.metric[named]]] = self.rows.value[named]
        return values

    def _paired_errors(self) -> FloatArray | None:
        """Return the two errors of which a stratum's ratio is made, [n_wide, 2]; None when no row has the metric.

        A row of paired_mae_ratio has no value of its own: lrdbench divides the means of its components.
        """
        if PAIRED_RATIO not in self.words.metrics:
            return None
        is_ratio = np.flatnonzero(self.rows.metric == self.words.metrics.index(PAIRED_RATIO))
        pair_errors = np.full((len(self.first), len(PAIRED_ERRORS)), np.nan)
        for wide, code in zip(self.wide[is_ratio].tolist(), self.rows.metadata[is_ratio].tolist(), strict=True):
            pair_errors[wide] = self.words.metadata[code].errors or np.nan
        return pair_errors

    def _lacks_interval(self) -> BoolArray:
        return np.array([metadata.missing_ci for metadata in self.words.metadata], dtype=np.bool_)[self.rows.metadata]

    def _metric_lists(self, wanted: BoolArray) -> Iterator[str | None]:
        """Yield for each pair the metrics of its wanted rows in the file's order, a space between two."""
        shown: dict[bytes, str | None] = {}
        for rows in self._grouped(wanted):
            codes = self.rows.metric[rows]
            key = codes.tobytes()
            if key not in shown:
                shown[key] = " ".join(self.words.metrics[code] for code in codes.tolist()) or None
            yield shown[key]

    def _grouped(self, wanted: BoolArray) -> Iterator[IntArray]:
        rows = np.flatnonzero(wanted)
        rows = rows[np.argsort(self.wide[rows], kind="stable")]
        ends = np.searchsorted(self.wide[rows], np.arange(len(self.first)), side="right").tolist()
        start = 0
        for end in ends:
            yield rows[start:end]
            start = end

    def _common(self, key: str, texts: Sequence[str | None], findings: Findings) -> Coded:
        """Return what the metadata of each pair's rows say about the pair; a contradiction is a problem."""
        by_pair: list[str | None] = [None] * len(self.first)
        for at, (wide, code) in enumerate(zip(self.wide.tolist(), self.rows.metadata.tolist(), strict=True)):
            text = texts[code]
            if text is not None and by_pair[wide] not in (None, text):
                findings.add(
                    self._problem(f"{key}: another row of this estimator and record says {by_pair[wide]}", at, text)
                )
            elif text is not None:
                by_pair[wide] = text
        return code_texts(by_pair)

    def _metadata(self) -> Iterator[str | None]:
        """Yield for each pair the metadata of its rows by metric, without what is known otherwise."""
        kept = [metadata.text for metadata in self.words.metadata]
        for rows in self._grouped(self.rows.metric != NONE):
            pairs = zip(self.rows.metric[rows].tolist(), self.rows.metadata[rows].tolist(), strict=True)
            cells = [f'"{self.words.metrics[metric]}": {kept[code]}' for metric, code in pairs if kept[code] != EMPTY]
            yield "{" + ", ".join(cells) + "}" if cells else None

    def _problem(self, message: str, at: int, value: str) -> Problem:
        rows = self.rows
        return Problem(message, self.files[int(rows.file[at])], int(rows.row[at]), "metadata_json", value[:80])


def code_texts(texts: Sequence[str | None]) -> Coded:
    """Return a column of texts, its words in order of first appearance."""
    numbers: dict[str, int] = {}
    codes = [NONE if text is None else numbers.setdefault(text, len(numbers)) for text in texts]
    return Coded(tuple(numbers), np.array(codes, dtype=np.int64))


def _by_appearance(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return each key's number in order of first appearance, and the first position of each number."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return number[inverse], first[order]


def _known(stratum: Stratum | None) -> Stratum:
    return Stratum("", "") if stratum is None else stratum
