"""raw/estimates.csv: each estimator's estimate of each record, whether it counts as valid, and why not. These cells
are shown and exported, never computed with.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from app.boards.methods.weighted_rank.records import CLASS_ESTIMAND, PAIRED_ERRORS, PAIRED_RATIO, THRESHOLD
from app.errors import Problem, Rejected
from app.files.findings import Findings
from app.files.tables import (
    FLAGS,
    Block,
    Cells,
    Texts,
    Vocabulary,
    local_codes,
    open_table,
)
from app.files.uploads import ReceivedFile
from app.kinds.series.claims import ClaimPlace
from app.kinds.series.manifest_part import RECORD_RULE, VARIANT_MARK, is_record_id
from app.kinds.series.rows import (
    EMPTY,
    LOOSE,
    MetricRows,
    NotAnObject,
    RecordStratum,
    Words,
    is_storable,
    value_of,
    write,
)
from app.names import clip_for_message
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable
from app.yaml import read_yaml

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


@dataclass(frozen=True)
class _BlockEstimates:
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
        self._parts: list[_BlockEstimates] = []

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the estimates of a block, and note every cell that is wrong."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        _check(cells)
        records = self._records.encode(cells.texts("record_id"))
        estimators = self._estimators.encode(cells.texts("estimator_name"))
        position = np.full(len(block), file.position, dtype=np.int64)
        kept = {name: cells.texts(name) for name in KEPT}
        self._parts.append(_BlockEstimates(records * ESTIMATOR_LIMIT + estimators, position, block.rows, kept))

    def match(self, scores: ScoreTable, files: Mapping[int, str]) -> "MatchedEstimates":
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
        return MatchedEstimates(position, file, row, cells)

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
class MatchedEstimates:
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
        return Coded.of(failed) if any(failed) else None

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
        cells.numbers(name, LOOSE)
    for name in TEXTS:
        long = np.array([text is not None and not _is_text(text) for text in cells.texts(name).to_pylist()], np.bool_)
        cells.refuse(name, long, lambda _: f"text is printable and has at most {MAX_TEXT} characters")
    complaints = [_complaint_about_intervals(text) for text in cells.texts(INTERVALS).to_pylist()]
    wrong = np.array([complaint is not None for complaint in complaints], dtype=np.bool_)
    cells.refuse(INTERVALS, wrong, lambda at: complaints[at] or "")


def _is_text(text: str) -> bool:
    return len(text) <= MAX_TEXT and all(character.isprintable() or character in "\n\t" for character in text)


def _complaint_about_intervals(text: str | None) -> str | None:
    try:
        return None if text is None or isinstance(value_of(text), list) else "expected a JSON list of intervals"
    except NotAnObject as error:
        return str(error)


# raw/truths.csv: the true values of a run's records, by estimand.
#
# A record may have several truths; the primary one is in its stratum too, which every run of the benchmark shares, so
# that a run cannot bring easier truths of its own.

DEPENDENT_ABOVE = {"hurst_scaling_proxy": 0.5, "long_memory_parameter": 0.0}
"""Above which primary truth a series has long-range dependence, as lrdbench's generators say it."""

TRUTHS_REQUIRED = ("record_id", "target_estimand", "target_value")

TRUTHS_COLUMNS = (*TRUTHS_REQUIRED, "is_primary")


@dataclass(frozen=True)
class _Truth:
    """One true value, and where it is written."""

    value: float
    is_primary: bool
    place: ClaimPlace


class Truths:
    """The truths of every file of a submission, by record and estimand."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[str, dict[str, _Truth]] = {}

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the truths of a block; one that is there twice with another value is a problem."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        values = cells.numbers("target_value", LOOSE).values.tolist()
        texts = [cells.texts(name).to_pylist() for name in ("record_id", "target_estimand", "is_primary")]
        for row, value, record, estimand, flag in zip(block.rows.tolist(), values, *texts, strict=True):
            if record is None or estimand is None or value != value:
                continue
            truth = _Truth(value, FLAGS.get(flag or "", False), ClaimPlace(file.name, int(row)))
            earlier = self._known.setdefault(record, {}).setdefault(estimand, truth)
            if earlier.value != value:
                message = f"another truth of this record than in row {earlier.place.row} of {earlier.place.file}"
                self._findings.add(Problem(message, file.name, int(row), "target_value", repr(value)))

    def of(self, record: str | None, estimand: str | None) -> float | None:
        """Return the truth for an estimand, None where there is none; for an unknown one the record's only truth."""
        known = self._known.get(record or "", {})
        if estimand is None:
            return next(iter(known.values())).value if len(known) == 1 else None
        return known[estimand].value if estimand in known else None

    def class_of(self, record: str | None) -> float | None:
        """Return whether the series has long-range dependence, as 1 or 0; None where the run does not say it."""
        truth = self._known.get(record or "", {}).get(CLASS_ESTIMAND)
        return None if truth is None else float(truth.value >= THRESHOLD)

    def estimands(self) -> frozenset[str]:
        """Return what the truths are of."""
        return frozenset(estimand for known in self._known.values() for estimand in known)

    def check_strata(self, scores: ScoreTable) -> None:
        """Add a problem for each primary truth that is not the one in the stratum of its record."""
        strata = scores.recorded.get("stratum_json")
        if strata is None or scores.item is None:
            return
        targets = [_target(json.loads(text)) for text in strata.words]
        seen: set[str] = set()
        for at in range(len(scores)):
            record, code = scores.item.at(at) or "", int(strata.codes[at])
            if record not in seen and code >= 0 and targets[code] is not None:
                self._check(record, *targets[code])  # type: ignore[misc]
            seen.add(record)

    def _check(self, record: str, estimand: str, value: float) -> None:
        truth = self._known.get(record, {}).get(estimand)
        if truth is not None and truth.is_primary and truth.value != value:
            message = f"not the truth of {clip_for_message(record)} in its stratum, {value!r}"
            self._findings.add(Problem(message, truth.place.file, truth.place.row, "target_value", repr(truth.value)))
        self._check_class(record, estimand, value)

    def _check_class(self, record: str, estimand: str, value: float) -> None:
        """Compare the class of a record with the primary truth, which its stratum states and every run shares."""
        class_label, bound = self.class_of(record), DEPENDENT_ABOVE.get(estimand)
        if class_label is not None and bound is not None and class_label != float(value > bound):
            truth = self._known[record][CLASS_ESTIMAND]
            message = (
                f"not the class of {clip_for_message(record)}: {estimand} is {value!r} in its stratum, and a series "
                f"has long-range dependence where that is above {bound:g}"
            )
            self._findings.add(Problem(message, truth.place.file, truth.place.row, "target_value", repr(truth.value)))


def _target(stratum: Mapping[str, object]) -> tuple[str, float] | None:
    estimand, value = stratum.get("target_estimand"), stratum.get("target_value")
    is_whole = isinstance(estimand, str) and isinstance(value, int | float) and not isinstance(value, bool)
    return (estimand, float(value)) if is_whole else None  # type: ignore[arg-type, return-value]


# The per-series rows of a submission as one wide ScoreTable: a row per estimator and record, a column per metric.
# Kept beside the scores is what lrdbench's own tables need, so that they can be written again: which metrics a row
# had and in which order, which of them lacked an interval, and their metadata.

ESTIMATOR, DIAGNOSTIC = "estimator", "diagnostic"


@dataclass(frozen=True)
class PivotedEstimates:
    """Per-series rows, and the row of the ScoreTable that each belongs to: `wide` [n_long], `first` [n_wide]."""

    rows: MetricRows
    words: Words
    files: Mapping[int, str]
    wide: IntArray
    first: IntArray
    columns: Sequence[int]

    @classmethod
    def of(cls, rows: MetricRows, words: Words, files: Mapping[int, str]) -> "PivotedEstimates":
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
            entrant=Coded(tuple(self.words.estimators), self.rows.estimator[self.first]).used(),
            task=Coded(tuple(stratum.name for stratum in strata), stratum).used(),
            columns=(*names, *(PAIRED_ERRORS if errors is not None else ())),
            values=self._values() if errors is None else np.column_stack([self._values(), errors]),
            leaked=np.zeros(len(self.first), dtype=np.bool_),
            file=self.rows.file[self.first],
            row=self.rows.row[self.first],
            item=Coded(tuple(self.words.records), self.rows.record[self.first]).used(),
            recorded={
                "role": Coded.of(roles),
                "stratum_json": Coded(tuple(stratum.json for stratum in strata), stratum).used(),
                "metrics": Coded.of(list(self._metric_lists(self.rows.metric != NONE))),
                "missing_ci": Coded.of(list(self._metric_lists(self._lacks_interval()))),
                "clean_record_id": self._common("clean_record_id", [m.clean_record_id for m in metadata], findings),
                "contamination_operator": self._common(
                    "contamination_operator", [m.contamination_operator for m in metadata], findings
                ),
                "metadata": Coded.of(list(self._metadata())),
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
        return Coded.of(by_pair)

    def _metadata(self) -> Iterator[str | None]:
        """Yield for each pair the metadata of its rows by metric, without the keys that its columns state."""
        kept = [metadata.text for metadata in self.words.metadata]
        for rows in self._grouped(self.rows.metric != NONE):
            pairs = zip(self.rows.metric[rows].tolist(), self.rows.metadata[rows].tolist(), strict=True)
            cells = [f'"{self.words.metrics[metric]}": {kept[code]}' for metric, code in pairs if kept[code] != EMPTY]
            yield "{" + ", ".join(cells) + "}" if cells else None

    def _problem(self, message: str, at: int, value: str) -> Problem:
        rows = self.rows
        return Problem(message, self.files[int(rows.file[at])], int(rows.row[at]), "metadata_json", value[:80])


def _by_appearance(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return each key's number in order of first appearance, and the first position of each number."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return number[inverse], first[order]


def _known(stratum: RecordStratum | None) -> RecordStratum:
    return RecordStratum("", "") if stratum is None else stratum


# What a run says about its estimators and about itself: family, target estimand, parameters, and its mode. It is
# shown beside the scores; only the mode is compared with the benchmark.

MAX_MANIFEST_BYTES = 1 << 20

MAX_ESTIMATOR_TEXT = 500

FLAG_COLUMNS = ("supports_ci", "supports_diagnostics")

JSON_COLUMNS = {"assumptions_json": "assumptions", "params_json": "parameters"}

ESTIMATORS_COLUMNS = ("estimator_name", "family", "target_estimand", *FLAG_COLUMNS, *JSON_COLUMNS, "version")

Described = dict[str, dict[str, Any]]


def read_estimator_table(file: ReceivedFile, findings: Findings, warnings: list[Problem], max_rows: int) -> Described:
    """Return tables/estimator_metadata.csv by estimator."""
    table = open_table(file, findings, warnings, max_rows)
    if table is None:
        return {}
    if ESTIMATORS_COLUMNS[0] not in table.header:
        findings.add(Problem(f"the column {ESTIMATORS_COLUMNS[0]} is missing", file.name, column=ESTIMATORS_COLUMNS[0]))
        return {}
    described: Described = {}
    for block in table.blocks([name for name in ESTIMATORS_COLUMNS if name in table.header]):
        cells = {name: texts.to_pylist() for name, texts in block.columns.items()}
        for at, row in enumerate(block.rows.tolist()):
            reader = _Row(file.name, row, {name: texts[at] for name, texts in cells.items()}, findings)
            described[reader.name()] = reader.facts()
    return described


class _Row:
    """One estimator's row; a wrong cell is noted and left out."""

    def __init__(self, file: str, row: int, cells: Mapping[str, str | None], findings: Findings) -> None:
        self._file = file
        self._row = row
        self._cells = cells
        self._findings = findings

    def name(self) -> str:
        return self._cells[ESTIMATORS_COLUMNS[0]] or ""

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for column, cell in self._cells.items():
            if cell is None or column == ESTIMATORS_COLUMNS[0]:
                continue
            if column in FLAG_COLUMNS and cell in FLAGS:
                facts[column] = FLAGS[cell]
            elif column in FLAG_COLUMNS:
                self._refuse("neither True nor False", column, cell)
            elif column in JSON_COLUMNS:
                facts[JSON_COLUMNS[column]] = self._json(column, cell)
            elif len(cell) > MAX_ESTIMATOR_TEXT or not cell.isprintable():
                self._refuse(f"text is printable and has at most {MAX_ESTIMATOR_TEXT} characters", column, cell)
            else:
                facts[column] = cell
        return facts

    def _json(self, column: str, cell: str) -> Any:
        try:
            return value_of(cell)
        except NotAnObject as error:
            self._refuse(str(error), column, cell)
            return None

    def _refuse(self, message: str, column: str, value: str) -> None:
        self._findings.add(Problem(message, self._file, self._row, column, clip_for_message(value)))


def read_run_manifest(file: ReceivedFile, warnings: list[Problem]) -> Mapping[str, Any]:
    """Return the run's own manifest; one that cannot be read is ignored with a warning."""
    try:
        document = read_yaml(file.path.read_bytes(), max_bytes=MAX_MANIFEST_BYTES, what=file.name)
    except Rejected as error:
        warnings.append(Problem(f"the run's manifest was ignored: {error.problems[0].message}", file=file.name))
        return {}
    if not isinstance(document, dict) or not is_storable(document):
        warnings.append(Problem("the run's manifest was ignored: expected a mapping of plain values", file=file.name))
        return {}
    return document


def described_by(manifest: Mapping[str, Any]) -> Described:
    """Return what a run's own manifest says about its estimators; each variant is an estimator."""
    listed = manifest.get("estimators")
    return dict(pair for entry in (listed if isinstance(listed, list) else []) for pair in _described(entry))


def _described(entry: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return
    facts = {key: entry[key] for key in ("family", "target_estimand", "supports_ci") if key in entry}
    common = entry["params"] if isinstance(entry.get("params"), dict) else {}
    variants = entry.get("variants")
    if not isinstance(variants, list):
        yield entry["name"], {**facts, "parameters": common}
        return
    for variant in variants:
        if isinstance(variant, dict) and isinstance(variant.get("name"), str):
            own = variant["params"] if isinstance(variant.get("params"), dict) else {}
            yield f"{entry['name']}{VARIANT_MARK}{variant['name']}", {**facts, "parameters": {**common, **own}}


def problem_of_mode(file: ReceivedFile, manifest: Mapping[str, Any], mode: str | None) -> Problem | None:
    """Return that a run was made in another mode than the benchmark's."""
    stated = manifest.get("mode")
    if stated is None or mode is None or stated == mode:
        return None
    message = f"the run was made in another mode; this benchmark's is {mode}"
    return Problem(message, file.name, column="mode", value=clip_for_message(write(stated)))
