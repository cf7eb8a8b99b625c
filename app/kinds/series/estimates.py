"""raw/estimates.csv: each estimator's estimate of each record, whether it counts as valid, and why not.

Called by `app.kinds.series.read`. These cells are shown and exported, never computed with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from app.errors import Problem
from app.files.blocks import Block, Texts
from app.files.findings import Findings
from app.files.flag_cells import FLAGS
from app.files.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.files.uploads import ReceivedFile
from app.files.vocabulary import Vocabulary, local_codes
from app.kinds.block_cells import Cells
from app.kinds.series.json_cells import NotAnObject, value_of
from app.kinds.series.names import RECORD_RULE, is_record_id
from app.kinds.series.pivot import code_texts
from app.names import clip_for_message
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable

NUMBERS = ("point", "ci_low", "ci_high", "stderr", "runtime_seconds")
TEXTS = ("failure_reason", "warnings")
INTERVALS = "bootstrap_cis_json"
REQUIRED = ("record_id", "estimator_name", "valid")
COLUMNS = (*REQUIRED, *NUMBERS, *TEXTS, INTERVALS)
KEPT = COLUMNS[2:]
# More estimators than a submission has rows; with a record's code it makes a key of 64 bits.
ESTIMATOR_LIMIT = 1 << 31
RECORDED_AS = {"point": "point_estimate"}
MAX_TEXT = 2000
NO_REASON = "the estimate is invalid; the run gives no reason"
LOOSE = Bounds(None, None, nan_is_empty=True)


@dataclass(frozen=True)
class _Part:
    """The estimates of a block: codes of record and estimator, where they stand, and the other cells as they are."""

    key: IntArray
    file: IntArray
    row: IntArray
    cells: Mapping[str, Texts]


class Estimates:
    """The estimates of every file of a submission, by record and estimator."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._records = Vocabulary(lambda _: True)
        self._estimators = Vocabulary(lambda _: True)
        self._parts: list[_Part] = []

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the estimates of a block, and note every cell that is wrong."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        _check(cells)
        records = self._records.encode(cells.texts("record_id"))
        estimators = self._estimators.encode(cells.texts("estimator_name"))
        position = np.full(len(block), file.position, dtype=np.int64)
        kept = {name: cells.texts(name) for name in KEPT}
        self._parts.append(_Part(records * ESTIMATOR_LIMIT + estimators, position, block.rows, kept))

    def match(self, scores: ScoreTable, files: Mapping[int, str]) -> "Matched":
        """Return the estimate of each row of a table; an estimate that is there twice is a problem."""
        empty = np.zeros(0, dtype=np.int64)
        keys, file, row = (
            np.concatenate([empty, *(getattr(part, name) for part in self._parts)]) for name in ("key", "file", "row")
        )
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        for later in np.flatnonzero(first[inverse] != np.arange(len(keys))).tolist():
            earlier = first[inverse[later]]
            places = [(files[int(file[each])], int(row[each])) for each in (later, earlier)]
            self._refuse_repeat(int(keys[later]), *places)
        position = _position(self._keys_of(scores), distinct, first)
        cells = {name: pa.concat_arrays([part.cells[name] for part in self._parts]) for name in KEPT if self._parts}
        return Matched(position, file, row, cells)

    def _refuse_repeat(self, key: int, place: tuple[str, int], earlier: tuple[str, int]) -> None:
        record, estimator = divmod(key, ESTIMATOR_LIMIT)
        name = clip_for_message(self._estimators.words[estimator])
        message = f"{name} has an estimate of this record already: row {earlier[1]} of {earlier[0]}"
        self._findings.add(Problem(message, *place, "record_id", clip_for_message(self._records.words[record])))

    def _keys_of(self, scores: ScoreTable) -> IntArray:
        """Return the key of each row of a table, NONE where no estimate has its record or its estimator."""
        items = Coded((), np.full(len(scores), NONE)) if scores.item is None else scores.item
        records = _translate(items, self._records.words)
        estimators = _translate(scores.entrant, self._estimators.words)
        return np.where((records == NONE) | (estimators == NONE), NONE, records * ESTIMATOR_LIMIT + estimators)


@dataclass(frozen=True)
class Matched:
    """Estimates beside the rows of a table: `position` [n_rows] says which each row has, NONE where it has none."""

    position: IntArray
    file: IntArray
    row: IntArray
    cells: Mapping[str, Texts]

    def recorded(self) -> Mapping[str, Coded]:
        """Return the cells of each row's estimate."""
        return {RECORDED_AS.get(name, name): self._column(name) for name in KEPT}

    def reasons(self) -> Coded | None:
        """Return why each row's estimate failed; None when none did."""
        reasons, valid = self._column("failure_reason").to_list(), self._column("valid").to_list()
        failed = [
            reason or (NO_REASON if flag is not None and not FLAGS[flag] else None)
            for reason, flag in zip(reasons, valid, strict=True)
        ]
        return code_texts(failed) if any(failed) else None

    def warnings(self, scores: ScoreTable, is_estimator: BoolArray, files: Mapping[int, str]) -> list[Problem]:
        """Return where estimates and scores do not fit together."""
        n_absent = int((is_estimator & (self.position == NONE)).sum())
        n_unused = len(self.row) - int((self.position != NONE).sum())
        warnings = []
        if n_absent:
            warnings.append(Problem(f"{n_absent:,} records of estimators have no row in raw/estimates.csv"))
        if n_unused:
            warnings.append(
                Problem(f"{n_unused:,} rows of raw/estimates.csv have no per-series row in raw/metrics.csv")
            )
        return warnings + self._contradictions(scores, files)

    def _contradictions(self, scores: ScoreTable, files: Mapping[int, str]) -> list[Problem]:
        if "validity_rate" not in scores.columns:
            return []
        rates, flags = scores.value("validity_rate"), self._column("valid")
        says = np.array([*(FLAGS[word] for word in flags.words), False])[flags.codes]
        wrong = np.flatnonzero((flags.codes != NONE) & ~np.isnan(rates) & (says != (rates != 0.0)))
        if not len(wrong):
            return []
        at = self.position[wrong[0]]
        message = f"{len(wrong):,} estimates are valid here and not by validity_rate, or the reverse; the rate counts"
        return [Problem(message, files[int(self.file[at])], int(self.row[at]), "valid", flags.at(int(wrong[0])))]

    def _column(self, name: str) -> Coded:
        if name not in self.cells:
            return Coded((), np.full(len(self.position), NONE, dtype=np.int64))
        taken = self.cells[name].take(pa.array(self.position, mask=self.position == NONE))
        words, codes = local_codes(taken)
        return Coded(tuple(words), codes)


def _position(wanted: IntArray, keys: IntArray, first: IntArray) -> IntArray:
    """Return where each wanted key comes first, NONE where it is not among the sorted keys."""
    if not len(keys):
        return np.full(len(wanted), NONE, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, first[at], NONE)


def _translate(coded: Coded, words: Sequence[str]) -> IntArray:
    """Return each row's code among other words, NONE where they lack its own."""
    numbers = {word: number for number, word in enumerate(words)}
    return np.array([*(numbers.get(word, NONE) for word in coded.words), NONE], dtype=np.int64)[coded.codes]


def _check(cells: Cells) -> None:
    records, estimators, flags = (cells.texts(name).to_pylist() for name in REQUIRED)
    no_record = [record is None or not is_record_id(record) for record in records]
    cells.refuse("record_id", np.array(no_record, dtype=np.bool_), lambda _: RECORD_RULE)
    nameless = np.array([estimator is None for estimator in estimators], dtype=np.bool_)
    cells.refuse("estimator_name", nameless, lambda _: "the cell is empty")
    no_flag = np.array([flag not in FLAGS for flag in flags], dtype=np.bool_)
    cells.refuse("valid", no_flag, lambda _: "neither True nor False (1 and 0 are accepted too)")
    for name in NUMBERS:
        _check_numbers(cells, name)
    for name in TEXTS:
        long = np.array([text is not None and not _is_text(text) for text in cells.texts(name).to_pylist()], np.bool_)
        cells.refuse(name, long, lambda _: f"text is printable and has at most {MAX_TEXT} characters")
    complaints = [_complaint_about_intervals(text) for text in cells.texts(INTERVALS).to_pylist()]
    wrong = np.array([complaint is not None for complaint in complaints], dtype=np.bool_)
    cells.refuse(INTERVALS, wrong, lambda at: complaints[at] or "")


def _check_numbers(cells: Cells, name: str) -> None:
    texts = cells.texts(name)
    numbers = read_numbers(texts)
    wrong = wrong_cells(numbers, LOOSE)
    cells.refuse(name, wrong, lambda at: describe_wrong(numbers.values[at], texts[at].as_py(), LOOSE))


def _is_text(text: str) -> bool:
    return len(text) <= MAX_TEXT and all(character.isprintable() or character in "\n\t" for character in text)


def _complaint_about_intervals(text: str | None) -> str | None:
    try:
        return None if text is None or isinstance(value_of(text), list) else "expected a JSON list of intervals"
    except NotAnObject as error:
        return str(error)
