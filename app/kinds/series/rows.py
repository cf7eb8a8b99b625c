"""Rows of raw/metrics.csv as columns of codes and numbers, what their strata and metadata say, and the files of a run.

The CSV is read block by block, with a problem for every cell that is wrong. Rows of every scope come out; only those
of scope per_series are evidence.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from app.boards.methods.weighted_rank.records import PAIRED_ERRORS, identity_of
from app.errors import Problem
from app.files.findings import Findings
from app.files.tables import (
    BEYOND,
    LARGEST,
    MOST_DIGITS,
    BadJson,
    Block,
    Cells,
    NumberBounds,
    Texts,
    Vocabulary,
    depth_of,
    explain_json,
    local_codes,
    strict_decoder,
)
from app.files.uploads import ReceivedFile
from app.kinds.series.manifest_part import (
    ESTIMATOR_CELL_RULE,
    METRIC_CELL_RULE,
    RECORD_RULE,
    is_estimator_cell,
    is_metric_cell,
    is_record_id,
)
from app.names import clip_for_message
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Coded

COLUMNS = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")

PER_SERIES, AGGREGATE, UNCERTAINTY = range(3)

SCOPES = ("per_series", "aggregate", "uncertainty")

FINITE = NumberBounds()

LOOSE = NumberBounds(nan_is_empty=True)

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
class RecordStratum:
    """A stratum: its name as a task, and its JSON in canonical form."""

    name: str
    json: str


EMPTY = "{}"


@dataclass(frozen=True, slots=True)
class RowMetadata:
    """The metadata of a row. `nominal` is the metric's own level, or the interval's in a row of uncertainty, where
    `metric_nominal` is the metric's. `errors` are those of PAIRED_ERRORS, None in rows that are no part of a ratio.
    """

    text: str = EMPTY
    nominal: float | None = None
    metric_nominal: float | None = None
    missing_ci: bool = False
    errors: tuple[float, float] | None = None
    clean_record_id: str | None = None
    contamination_operator: str | None = None
    aggregation: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Words:
    """What the codes of MetricRows mean; `metrics` are identities, `strata` is None where the text is no stratum."""

    records: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    strata: Sequence[RecordStratum | None]
    metadata: Sequence[RowMetadata]


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
        self._known: list[RowMetadata] = []
        # One text in two spellings is one stratum: each has the code of the first.
        self._first_of: dict[str, int] = {}
        self._canonical: list[int] = []

    def words(self) -> Words:
        """Return what the codes mean that have been given so far."""
        metadata = [parsed or RowMetadata() for parsed in self._metadata.parsed]
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
            value=cells.numbers("value", FINITE).values,
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
        self._known += [parsed or RowMetadata() for parsed in self._metadata.parsed[len(self._known) :]]
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


# The small JSON objects inside the cells of a run's tables, read strictly and each distinct text once. Numbers are
# finite, keys are there once, and size and depth are bounded.

MAX_TEXT = 20_000

MAX_DEPTH = 50

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"')

Parsed = TypeVar("Parsed")


class NotAnObject(BadJson):
    """A cell that holds no acceptable JSON object; the message says why."""


class ObjectTexts(Generic[Parsed]):
    """The distinct texts of one column over all files: what `make` makes of the object in each.

    Where there is no such thing `parsed` has None and `wrong` says why. Raised by `make`: NotAnObject.
    """

    def __init__(self, make: Callable[[Mapping[str, Any]], Parsed]) -> None:
        self._make = make
        # By digest: a run may have as many texts as rows.
        self._numbers: dict[bytes, int] = {}
        self.parsed: list[Parsed | None] = []
        self.wrong: dict[int, str] = {}

    def encode(self, texts: Texts) -> IntArray:
        """Return each cell's position in `parsed`; an empty cell counts as an empty object."""
        words, codes = local_codes(texts.fill_null(EMPTY))
        return np.array([self._number(word) for word in words], dtype=np.int64)[codes]

    def _number(self, word: str) -> int:
        digest = hashlib.sha256(word.encode()).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self.parsed)
            self.parsed.append(self._parsed(number, word))
        return number

    def _parsed(self, number: int, word: str) -> Parsed | None:
        try:
            return self._make(object_of(word))
        except NotAnObject as error:
            self.wrong[number] = str(error)
            return None


def object_of(text: str) -> dict[str, Any]:
    """Return the object that a cell holds. Raises NotAnObject."""
    value = value_of(text)
    if not isinstance(value, dict):
        raise NotAnObject("expected a JSON object, as lrdbench writes it")
    return value


def value_of(text: str) -> Any:
    """Return the JSON value that a cell holds, which is finite throughout. Raises NotAnObject."""
    if len(text) > MAX_TEXT:
        raise NotAnObject(f"the JSON has more than {MAX_TEXT:,} characters")
    if text.count("[") + text.count("{") > MAX_DEPTH and depth_of(_TEXT.sub("", text)) > MAX_DEPTH:
        raise NotAnObject(f"the JSON is nested more than {MAX_DEPTH} deep")
    try:
        value = _DECODER.decode(text)
    except ValueError as error:
        raise NotAnObject(explain_json(error)) from error
    if "\\u" in text and not is_storable(value):
        raise NotAnObject("a text in the JSON holds a zero character or half of a surrogate pair")
    return value


def is_storable(value: Any) -> bool:
    """Say whether a database can hold every text in a value."""
    written = json.dumps(value, ensure_ascii=False)
    return "\\u0000" not in written and written.encode(errors="ignore").decode() == written


def write(value: Any) -> str:
    """Return a value as lrdbench writes it: keys in order, ASCII, a space behind commas and colons."""
    return json.dumps(value, sort_keys=True)


def null(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if value != value else float(value)


def cell_at(column: Coded | None, at: int) -> str | None:
    """Return the word of a row, None where it has none."""
    return None if column is None else column.at(at)


def as_texts(words: list[str | None]) -> Texts:
    """Return a column of text cells."""
    return pa.array(words, pa.string())


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotAnObject(f"{text} is too large for a 64-bit float")
    if abs(number) > LARGEST:
        raise NotAnObject(f"{text} is {BEYOND}")
    return number


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise NotAnObject(f"a whole number has at most {MOST_DIGITS} digits")
    return int(text)


def _refuse_constant(text: str) -> float:
    raise NotAnObject(f"{text} is not a number that JSON has")


_DECODER = strict_decoder(_integer, _refuse_constant, _finite)


# What a stratum is called: a readable name that is safe in addresses and files, the same in every submission.
# lrdbench writes a stratum as a JSON object of up to 300 characters.

LEVEL = "level"

BALANCED_GLOBAL = "balanced_global"

N_DIGITS = 12

# Of the name; longer ones are not read in a table.
MAX_STRATUM = 100

MAX_KEYS = 50

MAX_VALUE = 500

# What one wants to read first; a stratum that has none of these is named by all that it has.
FIRST = ("process_family", "H", "d", "n", "sigma", "contamination_operator", "contamination_severity")

# What follows from the others, or is the same for a whole benchmark.
FOLLOWS = frozenset(
    {"contamination_family", "simulation_method", "stress_role", "target_estimand", "target_value", "source_kind"}
)

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


def stratum_of(values: Mapping[str, Any]) -> RecordStratum:
    """Return the stratum of an object. Raises NotAnObject when its values are not plain."""
    for key, value in values.items():
        if isinstance(value, dict | list) or (isinstance(value, str) and len(value) > MAX_VALUE):
            message = f"{clip_for_message(key)}: a stratum's values are short text, numbers, true, false or null"
            raise NotAnObject(message)
    if len(values) > MAX_KEYS:
        raise NotAnObject(f"a stratum has at most {MAX_KEYS} keys")
    if values == {LEVEL: BALANCED_GLOBAL}:
        return RecordStratum(BALANCED_GLOBAL, write(values))
    canonical = write(values)
    return RecordStratum(_name(values, hashlib.sha256(canonical.encode()).hexdigest()[:N_DIGITS]), canonical)


def _name(values: Mapping[str, Any], digest: str) -> str:
    """Return words as far as there is room, and the digest that tells strata with the same words apart."""
    room = MAX_STRATUM - len(digest) - 3
    words: list[str] = []
    for word in dict.fromkeys(_words(values)):
        if len(" ".join([*words, word])) > room:
            break
        words.append(word)
    return f"{' '.join(words) or 'stratum'} ({digest})"


def _words(values: Mapping[str, Any]) -> Iterator[str]:
    rest = sorted(key for key in values if key not in FIRST and key not in FOLLOWS)
    for key in (*FIRST, *rest):
        if values.get(key) is None:
            continue
        value = values[key]
        shown = value if isinstance(value, str) else f"{key} {write(value)}"
        # A name begins with a letter or a digit and has no two spaces in a row.
        word = _UNSAFE.sub(" ", shown).strip(" ._+-")
        if word:
            yield word


# What is kept of a row's metadata: the few values that mean something here, and the text that is exported again. A
# stranger's JSON takes many times its size as objects, so those are not kept.

# What the stratum and the metric's name say already.
REPEATED = frozenset({"stratum_key", "nominal"})

MAX_METADATA_TEXT = 500


def metadata_of(stated: Mapping[str, Any]) -> RowMetadata:
    """Return what is kept of an object. Raises NotAnObject when a value that means something is of another type."""
    return RowMetadata(
        text=write({key: value for key, value in stated.items() if key not in REPEATED}),
        nominal=_level(stated, "nominal"),
        metric_nominal=_level(stated, "metric_nominal"),
        missing_ci=bool(stated.get("missing_ci")),
        errors=_errors(stated) if stated.get("aggregation_components") else None,
        clean_record_id=_text(stated, "clean_record_id"),
        contamination_operator=_text(stated, "contamination_operator"),
        aggregation=_text(stated, "aggregation"),
        low=_number(stated.get("ci_low")),
        high=_number(stated.get("ci_high")),
    )


def _level(stated: Mapping[str, Any], key: str) -> float | None:
    level = stated.get(key)
    if level is not None and not (isinstance(level, float) and 0.0 < level < 1.0):
        raise NotAnObject(f"{key} must be a number between 0 and 1")
    return level


def _errors(stated: Mapping[str, Any]) -> tuple[float, float]:
    stressed, clean = (_error(stated, name) for name in PAIRED_ERRORS)
    return stressed, clean


def _error(stated: Mapping[str, Any], name: str) -> float:
    error = _number(stated.get(name))
    if error is None or error < 0.0:
        raise NotAnObject(f"{name} must be a number that is not negative")
    return error


def _text(stated: Mapping[str, Any], key: str) -> str | None:
    text = stated.get(key)
    if text is not None and not (isinstance(text, str) and len(text) <= MAX_METADATA_TEXT):
        raise NotAnObject(f"{key} must be text of at most {MAX_METADATA_TEXT} characters")
    return text


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None


# Which files of an upload are what of a run of lrdbench, whether they came as a zipped folder or one by one. Source
# of the names: lrdbench's public output contract, version 1.1.0.

SUFFIXES = (".csv", ".json", ".yaml", ".yml", ".html", ".tex", ".txt", ".png", ".npy")

METRICS, ESTIMATES, TRUTHS, RECORDS = "metrics.csv", "estimates.csv", "truths.csv", "records.csv"

ESTIMATORS, MANIFEST = "estimator_metadata.csv", "benchmark_manifest.yaml"

STRATA, UNCERTAIN = "per_stratum_metrics.csv", "benchmark_uncertainty.csv"

BOARD, RAW_BOARD = "leaderboard.csv", "leaderboards.csv"

READ = (METRICS, ESTIMATES, TRUTHS, RECORDS, ESTIMATORS, MANIFEST, STRATA, UNCERTAIN, BOARD, RAW_BOARD)

# Of the contract, and computed here from the rows or of no use for it.
NOT_READ = (
    "artefacts.csv",
    "artefact_index.csv",
    "failures.csv",
    "failure_map.csv",
    "run_summary.csv",
    "run_summary.json",
    "environment.json",
    "correction_metrics.csv",
    "estimator_disagreement.csv",
    "scale_window_sensitivity.csv",
    "stress_metrics.csv",
    "uncertainty_calibration.csv",
)

FOLDERS = ("raw", "tables", "manifest", "html", "latex", "artefacts", "figures")


@dataclass(frozen=True)
class RunFiles:
    """The files of one run that are read, by the name that the contract gives them."""

    folder: str
    files: dict[str, ReceivedFile] = field(default_factory=dict)

    def get(self, name: str) -> ReceivedFile | None:
        """Return a file, None when the run does not have it."""
        return self.files.get(name)


def split_runs(files: Sequence[ReceivedFile], findings: Findings, warnings: list[Problem]) -> Sequence[RunFiles]:
    """Return the runs of an upload. A run is a folder; files without one are one run."""
    runs: dict[str, RunFiles] = {}
    # A file that could not be unpacked is not missing.
    is_whole = findings.n_problems == 0
    for file in files:
        name = PurePosixPath(file.name).name.lower().removesuffix(".gz")
        if name in READ:
            run = runs.setdefault(_folder(file.name), RunFiles(_folder(file.name)))
            if name in run.files:
                findings.add(Problem(f"the run has this file already: {run.files[name].name}", file=file.name))
            run.files.setdefault(name, file)
        elif name.endswith((".csv", ".json")) and name not in NOT_READ:
            warnings.append(Problem("not a file of a run that is read here; it was ignored", file=file.name))
    findings.extend(_missing(runs) if is_whole else [])
    return list(runs.values())


def _missing(runs: Mapping[str, RunFiles]) -> list[Problem]:
    message = "raw/metrics.csv is missing: its per-series rows are the evidence, everything else is computed from them"
    if not runs:
        return [Problem(message, column="files")]
    return [Problem(message, file=run.folder or None, column="files") for run in runs.values() if not run.get(METRICS)]


def _folder(name: str) -> str:
    parent = PurePosixPath(name).parent
    home = parent.parent if parent.name in FOLDERS else parent
    return "" if str(home) == "." else str(home)
