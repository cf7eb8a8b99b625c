"""raw/estimates.csv: what each estimator said of each record, whether it counts as valid, and why not.

Called by `app.evidence.series_metrics`. These cells are shown and exported, never computed with.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.errors import Problem
from app.evidence.blocks import Block
from app.evidence.findings import Findings
from app.evidence.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.evidence.series_json import NotAnObject, value_of
from app.evidence.series_names import RECORD_RULE, is_record_id
from app.evidence.series_pivot import code_texts
from app.evidence.summary_blocks import FLAGS, Cells
from app.evidence.uploads import ReceivedFile
from app.names import clip_for_message
from app.scores import Coded, ScoreTable

NUMBERS = ("point", "ci_low", "ci_high", "stderr", "runtime_seconds")
TEXTS = ("failure_reason", "warnings")
INTERVALS = "bootstrap_cis_json"
REQUIRED = ("record_id", "estimator_name", "valid")
COLUMNS = (*REQUIRED, *NUMBERS, *TEXTS, INTERVALS)
RECORDED_AS = {"point": "point_estimate"}
MAX_TEXT = 2000
NO_REASON = "the estimate is invalid; the run gives no reason"
LOOSE = Bounds(None, None, nan_is_empty=True)


class Estimates:
    """The estimates of every file of a submission, by record and estimator."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._at: dict[tuple[str, str], int] = {}
        self._places: list[tuple[str, int]] = []
        self._columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS[2:]}

    def __len__(self) -> int:
        return len(self._places)

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the estimates of a block, and note every cell that is wrong."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        _check(cells)
        keys = zip(cells.texts("record_id").to_pylist(), cells.texts("estimator_name").to_pylist(), strict=True)
        columns = {name: cells.texts(name).to_pylist() for name in self._columns}
        for position, (key, row) in enumerate(zip(keys, block.rows.tolist(), strict=True)):
            if (earlier := self._at.setdefault(key, len(self._places))) != len(self._places):
                where = "row {1} of {0}".format(*self._places[earlier])
                message = f"{clip_for_message(str(key[1]))} has an estimate of this record already: {where}"
                self._findings.add(Problem(message, file.name, row, "record_id", clip_for_message(str(key[0]))))
                continue
            self._places.append((file.name, row))
            for name, kept in self._columns.items():
                kept.append(columns[name][position])

    def recorded(self, scores: ScoreTable) -> Mapping[str, Coded]:
        """Return the estimates of the rows of a table, empty where there is none."""
        positions = self._positions(scores)
        return {
            RECORDED_AS.get(name, name): code_texts([None if at is None else cells[at] for at in positions])
            for name, cells in self._columns.items()
        }

    def reasons(self, scores: ScoreTable) -> Coded | None:
        """Return why each row's estimate failed; None when none did."""
        reasons = self._columns["failure_reason"]
        invalid = [not FLAGS.get(flag or "", True) for flag in self._columns["valid"]]
        failed = [
            None if at is None else reasons[at] or (NO_REASON if invalid[at] else None)
            for at in self._positions(scores)
        ]
        return code_texts(failed) if any(failed) else None

    def warnings(self, scores: ScoreTable, is_estimator: Sequence[bool]) -> list[Problem]:
        """Return where estimates and scores do not fit together."""
        positions = self._positions(scores)
        absent = sum(at is None for at, counts in zip(positions, is_estimator, strict=True) if counts)
        unused = len(self) - sum(at is not None for at in positions)
        warnings = []
        if absent:
            warnings.append(Problem(f"{absent:,} records of estimators have no row in raw/estimates.csv"))
        if unused:
            warnings.append(Problem(f"{unused:,} rows of raw/estimates.csv have no per-series row in raw/metrics.csv"))
        return warnings + self._contradictions(scores, positions)

    def _contradictions(self, scores: ScoreTable, positions: Sequence[int | None]) -> list[Problem]:
        if "validity_rate" not in scores.columns:
            return []
        rates, valid = scores.value("validity_rate").tolist(), self._columns["valid"]
        wrong = [
            at
            for at, rate in zip(positions, rates, strict=True)
            if at is not None and rate == rate and FLAGS.get(valid[at] or "") != (rate != 0.0)
        ]
        if not wrong:
            return []
        file, row = self._places[wrong[0]]
        message = f"{len(wrong):,} estimates are valid here and not by validity_rate, or the reverse; the rate counts"
        return [Problem(message, file, row, "valid", valid[wrong[0]])]

    def _positions(self, scores: ScoreTable) -> list[int | None]:
        records = [] if scores.item is None else scores.item.to_list()
        pairs = zip(records, scores.entrant.to_list(), strict=True)
        return [self._at.get((record or "", estimator or "")) for record, estimator in pairs]


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
