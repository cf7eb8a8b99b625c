"""Evidence kind series_metrics: runs of lrdbench, of which only the per-series rows count, as one wide ScoreTable.
What the runs computed themselves goes into the facts, to be compared with ours.

Why: docs/adr/003-lrdbench-runs.md.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.records import (
    CLASS_COLUMNS,
    CLASS_ESTIMAND,
    PAIRED_ERRORS,
    PAIRED_RATIO,
    split_identity,
)
from app.boards.methods.weighted_rank.records import CLASS_METRICS as OF_CLASSES
from app.errors import Problem, TooLarge
from app.files.findings import Findings, problems_of_case
from app.files.tables import FLAGS, Block, Cells, open_table
from app.files.uploads import ReceivedFile
from app.kinds.contract import Reading, ReadRequest
from app.kinds.series import estimates as series_estimates
from app.kinds.series import rows as series_run
from app.kinds.series.claims import (
    AGGREGATION,
    BOARD_COLUMNS,
    CLAIMED,
    Backing,
    ClaimedTable,
    Claims,
    about_classes,
    about_estimators,
    about_run,
    board_rows,
    claims_of_rows,
)
from app.kinds.series.estimates import (
    DIAGNOSTIC,
    ESTIMATOR,
    Described,
    Estimates,
    PivotedEstimates,
    Truths,
    described_by,
    problem_of_mode,
    read_estimator_table,
    read_run_manifest,
)
from app.kinds.series.manifest_part import (
    CATALOG,
    ESTIMATOR_RULE,
    FROM_ONE_ESTIMATE,
    OF_INTERVALS,
    PAIRED,
    Pair,
    RecordEstimate,
    SeriesPart,
    is_estimator_name,
    row_metrics,
    slug_of,
    value_from,
)
from app.kinds.series.rows import (
    COLUMNS,
    LOOSE,
    PER_SERIES,
    MetricRowReader,
    MetricRows,
    ObjectTexts,
    RunFiles,
    Words,
    as_texts,
    cell_at,
    concatenate,
    null,
    split_runs,
    value_of,
    write,
)
from app.manifest.model import Manifest, part_of
from app.names import clip_for_message, first_few
from app.stats.arrays import BoolArray, IntArray
from app.values.facts import RunFacts
from app.values.scores import NONE, Coded, ScoreTable

MOST_SHOWN = 6

CLASS_METRICS = frozenset(OF_CLASSES)

BOARDS = (series_run.BOARD, series_run.RAW_BOARD)


def read_series_metrics(request: ReadRequest) -> Reading | None:
    """Read every run; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    return _SentRuns(request).read()


@dataclass(frozen=True)
class SeriesChecks:
    """The rows of scope per_series of one submission, and where what is wrong with them goes."""

    manifest: Manifest
    rows: MetricRows
    words: Words
    files: Mapping[int, str]
    findings: Findings

    @property
    def _used(self) -> Collection[str]:
        return row_metrics(self.manifest.metrics)

    def problem(self, message: str, at: int, column: str, value: str) -> Problem:
        """Return a problem at one of the rows."""
        rows = self.rows
        return Problem(message, self.files[int(rows.file[at])], int(rows.row[at]), column, clip_for_message(value))

    def kept(self) -> BoolArray:
        """Say which rows the benchmark reads: those of the metrics that it uses, and those made of estimates."""
        used = self._used
        uses = np.array([*(name in used for name in self.words.metrics), True])
        return uses[self.rows.metric]

    def check(self) -> list[Problem]:
        """Add every problem to the findings and return what the submitter should know."""
        self.findings.extend(self._problems_of_metrics())
        self.findings.extend(self._problems_of_estimators())
        self._refuse_values_out_of_range()
        self._refuse_repeats()
        self._refuse_second_strata()
        self._refuse_unlisted_strata()
        return self._warnings_of_metrics()

    def _problems_of_metrics(self) -> Iterator[Problem]:
        for code, at, n_rows in _firsts(self.rows.metric):
            identity = self.words.metrics[code]
            complaint = self._complaint_about_metric(identity)
            if complaint is not None:
                yield self.problem(f"{complaint}{_many(n_rows)}", at, "metric_name", identity)

    def _complaint_about_metric(self, identity: str) -> str | None:
        # A label behind a colon tells variants of one metric apart.
        metric = split_identity(identity)[0].partition(":")[0]
        known, mode = CATALOG.get(metric), part_of(self.manifest, SeriesPart).mode
        if metric == "coverage_error":
            return "coverage_error is computed from the coverage of a stratum; a single series has none"
        if known is not None and known.is_classification:
            return f"{metric} is computed from the estimates and truths of many records; a single series has none"
        if known is not None and known.needs_truth and mode == "observational":
            return f"{metric} needs a known truth, which an observational benchmark does not have"
        if known is None and identity not in self.manifest.metrics:
            return "unknown metric: neither the benchmark nor lrdbench's catalog has it"
        return None

    def _warnings_of_metrics(self) -> list[Problem]:
        delivered = {self.words.metrics[code] for code, _, _ in _firsts(self.rows.metric)}
        unused = delivered - set(self._used)
        if not unused:
            return []
        return [Problem(f"metrics that this benchmark does not use were ignored: {', '.join(sorted(unused))}")]

    def _problems_of_estimators(self) -> Iterator[Problem]:
        for code, at, n_rows in _firsts(np.where(self.is_diagnostic(), NONE, self.rows.estimator)):
            name, enrolled = self.words.estimators[code], part_of(self.manifest, SeriesPart).estimators
            if not is_estimator_name(name):
                yield self.problem(f"not a name that is allowed: {ESTIMATOR_RULE}", at, "estimator_name", name)
            elif enrolled is not None and name not in enrolled:
                message = f"unknown estimator; the benchmark enrols {first_few(enrolled, 20)}{_many(n_rows)}"
                yield self.problem(message, at, "estimator_name", name)

    def is_diagnostic(self) -> BoolArray:
        """Say which rows measure something between estimators, under a made-up name."""
        catalogued = [CATALOG.get(split_identity(name)[0]) for name in self.words.metrics]
        flags = [metric is not None and metric.diagnostic for metric in catalogued]
        return np.array([*flags, False])[self.rows.metric]

    def _refuse_values_out_of_range(self) -> None:
        bounds = [self.manifest.metrics.get(name) for name in self.words.metrics]
        low = [-np.inf if metric is None or metric.min is None else metric.min for metric in bounds]
        high = [np.inf if metric is None or metric.max is None else metric.max for metric in bounds]
        lows, highs = np.array([*low, -np.inf])[self.rows.metric], np.array([*high, np.inf])[self.rows.metric]
        value = self.rows.value
        wrong = np.flatnonzero((value < lows) | (value > highs)).tolist()

        def describe(position: int) -> Problem:
            at = wrong[position]
            name = self.words.metrics[self.rows.metric[at]]
            message = f"{name} lies between {lows[at]:g} and {highs[at]:g}"
            return self.problem(message, at, "value", repr(float(value[at])))

        self.findings.add_each(range(len(wrong)), describe)

    def _refuse_repeats(self) -> None:
        rows = self.rows
        named = np.flatnonzero((rows.record != NONE) & (rows.estimator != NONE) & (rows.metric != NONE))
        keys = (rows.record[named] * len(self.words.estimators) + rows.estimator[named]) * len(self.words.metrics)
        first = _earliest(keys + rows.metric[named])
        repeated = np.flatnonzero(first != np.arange(len(first)))

        def describe(position: int) -> Problem:
            at, before = named[repeated[position]], named[first[repeated[position]]]
            estimator, metric = self.words.estimators[rows.estimator[at]], self.words.metrics[rows.metric[at]]
            place = f"row {rows.row[before]} of {self.files[int(rows.file[before])]}"
            message = f"{estimator} has {metric} on this record already: {place}"
            return self.problem(message, at, "record_id", self.words.records[rows.record[at]])

        self.findings.add_each(range(len(repeated)), describe)

    def _refuse_second_strata(self) -> None:
        """A record belongs to one stratum: every other stratum of it is a problem at its first row."""
        rows = self.rows
        placed = np.flatnonzero((rows.record != NONE) & (self._stratum_numbers() != NONE))
        _, first = np.unique(rows.record[placed] * len(self.words.strata) + rows.stratum[placed], return_index=True)
        pairs = placed[np.sort(first)]
        before = pairs[_earliest(rows.record[pairs])]
        second = np.flatnonzero(before != pairs)

        def describe(position: int) -> Problem:
            at, earlier = pairs[second[position]], before[second[position]]
            place = f"row {rows.row[earlier]} of {self.files[int(rows.file[earlier])]}"
            stratum = self.words.strata[rows.stratum[earlier]]
            message = f"record {self.words.records[rows.record[at]]} is in another stratum already: {place}"
            value = "" if stratum is None else stratum.name
            return self.problem(f"{message}, {value}", at, "stratum_json", self._stratum_name(at))

        self.findings.add_each(range(len(second)), describe)

    def _stratum_numbers(self) -> IntArray:
        is_named = np.array([*(stratum is not None for stratum in self.words.strata), False])
        return np.where(is_named[self.rows.stratum], self.rows.stratum, NONE)

    def _stratum_name(self, at: int) -> str:
        stratum = self.words.strata[self.rows.stratum[at]]
        return "" if stratum is None else stratum.name

    def _refuse_unlisted_strata(self) -> None:
        listed, named = self.manifest.task_ids(), dict[str, int]()
        for code, at, n_rows in _firsts(self._stratum_numbers()):
            name = self._stratum_name(at)
            if named.setdefault(name, code) != code:
                self.findings.add(self.problem("two strata have one name", at, "stratum_json", name))
            elif listed is not None and name not in listed:
                what = f"not a stratum of {self.manifest.slug}{_many(n_rows)}"
                message = self.findings.unknown(what, name, listed)
                self.findings.add(self.problem(message, at, "stratum_json", name))


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
        values = cells.numbers(VALUE, LOOSE).values.tolist()
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


class _SentRuns:
    """The runs of one submission on their way to one table."""

    def __init__(self, request: ReadRequest) -> None:
        self._request = request
        self._findings = request.findings
        self._warnings: list[Problem] = []
        self._reader = MetricRowReader(request.findings)
        self._parts: list[MetricRows] = []
        self._of_estimates: list[MetricRows] = []
        self._estimates = Estimates(request.findings)
        self._truths = Truths(request.findings)
        self._complete: set[int] = set()
        self._described: Described = {}
        self._boards: dict[str, list[str]] = {}
        self._n_rows: dict[int, int] = {}
        self._files = {file.position: file.name for file in request.files}

    def read(self) -> Reading | None:
        runs = split_runs(self._request.files, self._findings, self._warnings)
        if self._request.entrant is not None:
            message = "a run names its estimators itself; leave the form field entrant out"
            self._findings.add(Problem(message, column="entrant", value=self._request.entrant[:80]))
        for run in runs:
            self._take(run)
        return self._reading(runs) if self._parts else None

    def _take(self, run: RunFiles) -> None:
        for file in _present(run, series_run.METRICS):
            self._parts += [self._reader.read(block, file) for block in self._blocks(file, COLUMNS, COLUMNS)]
        strata = self._strata_of(run)
        for file in _present(run, series_run.ESTIMATES):
            required = series_estimates.REQUIRED
            for block in self._blocks(file, required, series_estimates.COLUMNS):
                self._estimates.read(block, file)
                if strata is not None:
                    self._of_estimates.append(self._reader.read_estimates(strata.beside(block), file))
        for file in _present(run, series_run.TRUTHS):
            for block in self._blocks(file, series_estimates.TRUTHS_REQUIRED, series_estimates.TRUTHS_COLUMNS):
                self._truths.read(block, file)
        if run.get(series_run.ESTIMATES) and run.get(series_run.TRUTHS):
            files = (series_run.METRICS, series_run.ESTIMATES)
            self._complete |= {file.position for name in files for file in _present(run, name)}
        self._describe(run)

    def _strata_of(self, run: RunFiles) -> RecordStrata | None:
        """Return the strata of the run's records where the benchmark needs them: it has metrics of classes."""
        if not CLASS_METRICS & self._request.manifest.metrics.keys():
            return None
        strata = RecordStrata(self._findings)
        for file in _present(run, series_run.RECORDS):
            for block in self._blocks(file, REQUIRED, REQUIRED):
                strata.read(block, file)
        return strata

    def _describe(self, run: RunFiles) -> None:
        for file in _present(run, series_run.MANIFEST):
            manifest = read_run_manifest(file, self._warnings)
            problem = problem_of_mode(file, manifest, part_of(self._request.manifest, SeriesPart).mode)
            self._findings.extend([] if problem is None else [problem])
            self._described |= described_by(manifest)
            self._warnings += about_run(self._request.manifest, manifest, file.name)
            boards = manifest.get("leaderboards")
            names = [board.get("name") for board in boards or () if isinstance(board, dict)]
            self._boards[run.folder] = [slug_of(name) for name in names if isinstance(name, str)]
        for file in _present(run, series_run.ESTIMATORS):
            limit = self._request.max_rows
            self._described |= read_estimator_table(file, self._findings, self._warnings, limit)

    def _reading(self, runs: Sequence[RunFiles]) -> Reading | None:
        rows, words = concatenate(self._parts), self._reader.words()
        evidence = self._with_estimates(rows.where(rows.scope == PER_SERIES), words)
        if not len(evidence):
            self._findings.add(self._no_evidence())
            return None
        checks = SeriesChecks(self._request.manifest, evidence, words, self._files, self._findings)
        self._warnings += checks.check()
        claims = Claims(Backing.of(evidence, words), self._request.manifest.metrics, self._findings)
        claims.take(claims_of_rows(rows.where(rows.scope != PER_SERIES), words, self._files))
        for run in runs:
            self._claim(run, claims)
        if self._findings.n_problems:
            return None
        return self._scores(checks, claims)

    def _with_estimates(self, evidence: MetricRows, words: Words) -> MetricRows:
        """Return the evidence with a row for each estimate that has none."""
        if not self._of_estimates:
            return evidence
        estimates = concatenate(self._of_estimates)
        rest = estimates.where(unmeasured(estimates, evidence, words, row_metrics(self._request.manifest.metrics)))
        return concatenate([evidence, rest])

    def _no_evidence(self) -> Problem:
        message = "raw/metrics.csv contains no per-series rows"
        if CLASS_METRICS & self._request.manifest.metrics.keys():
            message += (
                ", and raw/estimates.csv none of a record of raw/records.csv, of which metrics of classes are made"
            )
        return Problem(message, column="scope")

    def _claim(self, run: RunFiles, claims: Claims) -> None:
        for name, required in CLAIMED.items():
            for file in _present(run, name):
                blocks = self._blocks(file, required, (*required, AGGREGATION))
                claims.take(ClaimedTable(name, file, blocks, self._reader, self._findings).claims())
        for name in BOARDS:
            for file in _present(run, name):
                blocks = self._blocks(file, BOARD_COLUMNS, None)
                claims.take_board(board_rows(file, blocks, self._findings), self._boards.get(run.folder, []))

    def _scores(self, checks: SeriesChecks, claims: Claims) -> Reading | None:
        kept = checks.kept()
        if not kept.any():
            self._findings.add(Problem("no per-series row has a metric of this benchmark", column="metric_name"))
            return None
        pivot = PivotedEstimates.of(checks.rows.where(kept), checks.words, self._files)
        is_estimator = np.zeros(len(pivot.first), dtype=np.bool_)
        is_estimator[pivot.wide[~checks.is_diagnostic()[kept]]] = True
        roles = np.where(is_estimator, ESTIMATOR, DIAGNOSTIC).tolist()
        scores = pivot.table(roles, self._findings)
        estimates = self._estimates.match(scores, self._files)
        self._truths.check_strata(scores)
        estimators = [scores.entrant.words[code] for code in np.unique(scores.entrant.codes[is_estimator]).tolist()]
        self._findings.extend(problems_of_case(estimators, "estimator_name"))
        if self._findings.n_problems:
            return None
        self._warnings += self._warnings_of_order(pivot)
        self._warnings += estimates.warnings(scores, is_estimator, self._files)
        self._warnings += about_estimators(estimators, self._described, self._truths.estimands())
        described = {name: self._described[name] for name in estimators if name in self._described}
        facts = RunFacts(described=described, claimed=claims.result(self._warnings))
        whole = replace(scores, reason=estimates.reasons(), recorded={**scores.recorded, **estimates.recorded()})
        whole = self._recomputed(whole) if self._complete else whole
        self._warnings += about_classes(self._request.manifest.metrics, whole)
        return Reading(whole, self._n_rows, tuple(self._warnings), facts)

    def _recomputed(self, scores: ScoreTable) -> ScoreTable:
        """Return the scores that follow from the run's estimates and truths; warn where it states others."""
        estimands = {n: e for n, about in self._described.items() if isinstance(e := about.get("target_estimand"), str)}
        metrics = [m for m in self._request.manifest.metrics if m in row_metrics(self._request.manifest.metrics)]
        recomputed, differences = recompute(
            scores, scores.recorded, self._truths, estimands, metrics, self._complete.__contains__
        )
        if differences:
            shown = first_few(differences, MOST_SHOWN, StatedDifference.in_words, between="; ")
            why = "values do not follow from the run's estimates and truths, which count"
            self._warnings.append(Problem(f"{len(differences):,} {why}: {shown}", column="value"))
        if not CLASS_METRICS & self._request.manifest.metrics.keys():
            return recomputed
        return with_classes(recomputed, scores.recorded, self._truths, estimands, self._complete.__contains__)

    def _warnings_of_order(self, pivot: PivotedEstimates) -> list[Problem]:
        uncertainty = part_of(self._request.manifest, SeriesPart).uncertainty
        if uncertainty is None or uncertainty.stream != "lrdbench" or pivot.is_contiguous():
            return []
        message = "rows of one estimator and record are not consecutive: intervals may differ from lrdbench's draws"
        return [Problem(message, column="record_id")]

    def _blocks(self, file: ReceivedFile, required: Sequence[str], wanted: Sequence[str] | None) -> Iterator[Block]:
        """Yield a table's rows with the wanted columns, or with all; one without the required columns has none."""
        table = open_table(file, self._findings, self._warnings, self._request.max_rows)
        if table is None:
            return
        missing = [name for name in required if name not in table.header]
        self._findings.extend(Problem(f"the column {name} is missing", file.name, column=name) for name in missing)
        if missing:
            return
        for block in table.blocks([name for name in wanted or table.header if name in table.header]):
            self._n_rows[file.position] = self._n_rows.get(file.position, 0) + len(block)
            if sum(self._n_rows.values()) > self._request.max_rows:
                raise TooLarge(f"The submission has more than {self._request.max_rows:,} rows.")
            yield block


def _present(run: RunFiles, name: str) -> list[ReceivedFile]:
    file = run.get(name)
    return [] if file is None else [file]


# What the rows of a whole submission must agree on: metrics, estimators, strata, repeats, and what aggregates claim.


def _firsts(codes: IntArray) -> Sequence[tuple[int, int, int]]:
    """Return each code with its first position and how often it occurs, in order of first appearance."""
    distinct, first, counts = np.unique(codes, return_index=True, return_counts=True)
    order = np.argsort(first)
    triples = zip(distinct[order].tolist(), first[order].tolist(), counts[order].tolist(), strict=True)
    return [triple for triple in triples if triple[0] != NONE]


def _earliest(keys: IntArray) -> IntArray:
    """Return for each position the first one with the same key."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse]


def _many(n_rows: int) -> str:
    return f" ({n_rows:,} rows)" if n_rows > 1 else ""


# Rows of the estimates of which raw/metrics.csv has no row of one series: those that tell classes of series apart.
# lrdbench computes those over all records, so where a suite has no other metric that applies to an estimator, nothing
# but its estimates says what it was run on. A row of this kind has no metric, and the stratum that raw/records.csv
# says of its record.

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


# Per-series values recomputed from a run's own estimates and truths, by lrdbench's definitions.
#
# For runs that carry raw/estimates.csv and raw/truths.csv. What raw/metrics.csv states and does not follow from them
# does not count. Source: lrdbench 2.0, `GroundTruthEvaluator._per_series_rows`.

TOLERANCE = 1e-9


@dataclass(frozen=True)
class StatedDifference:
    """A stated value that does not follow from the estimate and the truth; None is null."""

    estimator: str
    record: str
    metric: str
    stated: float | None
    recomputed: float | None

    def in_words(self) -> str:
        """Return whose value of what was stated, and what follows instead."""
        whose = f"{clip_for_message(self.estimator)} {self.metric} of {clip_for_message(self.record)}"
        return f"{whose}: {self.stated!r} stated, {self.recomputed!r} recomputed"


def recompute(
    scores: ScoreTable,
    recorded: Mapping[str, Coded],
    truths: Truths,
    estimands: Mapping[str, str],
    metrics: Collection[str],
    is_complete: Callable[[int], bool],
) -> tuple[ScoreTable, list[StatedDifference]]:
    """Return the scores with what can be recomputed, and where that differs from what the run states.

    `recorded` are the cells of each row's estimate, `is_complete` says of a file's position whether its run carries
    estimates and truths. A metric of the benchmark that no row states is computed all the same.
    """
    wanted = [metric for metric in metrics if split_identity(metric)[0] in FROM_ONE_ESTIMATE | PAIRED]
    errors = PAIRED_ERRORS if PAIRED_RATIO in wanted else ()
    columns = tuple(dict.fromkeys([*scores.columns, *wanted, *errors]))
    values = np.full((len(scores), len(columns)), np.nan)
    values[:, : len(scores.columns)] = scores.values
    lists = _lists(scores)
    missing = [words.split() for words in _texts(scores.recorded.get("missing_ci"), len(scores))]
    differences: list[StatedDifference] = []
    estimates = list(_estimates(recorded, len(scores)))
    cleans = _CleanEstimates.of(scores, estimates)
    for at, estimate in enumerate(estimates):
        if not is_complete(int(scores.file[at])) or _is_diagnostic(scores, at):
            continue
        estimator, record = scores.entrant.at(at) or "", cell_at(scores.item, at)
        estimand = estimands.get(estimator)
        truth = truths.of(record, estimand)
        pair = cleans.pair(at, estimate, truth)
        for metric in wanted:
            place, is_paired = columns.index(metric), split_identity(metric)[0] in PAIRED
            if is_paired:
                has_row, recomputed = pair is not None, None if pair is None else pair.value(metric)
            else:
                has_row, recomputed = (
                    (False, None) if estimate is None else value_from(metric, estimate, truth, estimand)
                )
            if not has_row and metric not in lists[at]:
                continue
            stated = None if np.isnan(values[at, place]) else float(values[at, place])
            if metric in lists[at] and differ(stated, recomputed):
                differences.append(StatedDifference(estimator, record or "", metric, stated, recomputed))
            values[at, place] = np.nan if recomputed is None else recomputed
            lists[at] += [] if metric in lists[at] else [metric]
            lacks = recomputed is None and split_identity(metric)[0] in OF_INTERVALS
            lacks = lacks if pair is None or not is_paired else pair.lacks_interval(metric)
            missing[at] = [*(m for m in missing[at] if m != metric), *([metric] if lacks else [])]
        if pair is not None and PAIRED_RATIO in wanted:
            places = [columns.index(name) for name in PAIRED_ERRORS]
            stated_errors, values[at, places] = values[at, places].copy(), pair.errors()
            for name, stated_error, error in zip(PAIRED_ERRORS, stated_errors.tolist(), pair.errors(), strict=True):
                if differ(null(stated_error), null(error)):
                    differences.append(StatedDifference(estimator, record or "", name, null(stated_error), null(error)))
    kept = {**scores.recorded, "metrics": Coded.of([" ".join(names) or None for names in lists]),
            "missing_ci": Coded.of([" ".join(names) or None for names in missing])}  # fmt: skip
    return replace(scores, columns=columns, values=values, recorded=kept), differences


@dataclass(frozen=True)
class _CleanEstimates:
    """From which clean series each stressed one was made, and in which row an estimator's estimate of a series is."""

    scores: ScoreTable
    estimates: Sequence[RecordEstimate | None]
    clean_of: Mapping[str, str]
    place: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, scores: ScoreTable, estimates: Sequence[RecordEstimate | None]) -> "_CleanEstimates":
        """Collect them; a row may leave out of which series it was made where another row of the record says it."""
        clean = scores.recorded.get("clean_record_id")
        names: dict[str, Counter[str]] = {}
        place = {}
        for at in range(len(scores)):
            record, name = cell_at(scores.item, at) or "", None if clean is None else clean.at(at)
            place[scores.entrant.at(at) or "", record] = at
            if name is not None:
                names.setdefault(record, Counter())[name] += 1
        return cls(scores, estimates, {record: counts.most_common(1)[0][0] for record, counts in names.items()}, place)

    def pair(self, at: int, stressed: RecordEstimate | None, truth: float | None) -> Pair | None:
        """Return the estimates of both series by the estimator of a row; None where the row's is no stressed one."""
        clean = self.clean_of.get(cell_at(self.scores.item, at) or "")
        if clean is None:
            return None
        where = self.place.get((self.scores.entrant.at(at) or "", clean))
        return Pair(stressed, None if where is None else self.estimates[where], truth)


def with_classes(
    scores: ScoreTable,
    recorded: Mapping[str, Coded],
    truths: Truths,
    estimands: Mapping[str, str],
    is_complete: Callable[[int], bool],
) -> ScoreTable:
    """Return the scores with what metrics of classes are made of: each record's score, and the class of its truth.

    Only those of estimators that tell classes apart; an estimate that is invalid has no score.
    """
    scores_and_classes = np.full((len(scores), len(CLASS_COLUMNS)), np.nan)
    for at, estimate in enumerate(_estimates(recorded, len(scores))):
        class_label = truths.class_of(cell_at(scores.item, at))
        is_asked = estimands.get(scores.entrant.at(at) or "") == CLASS_ESTIMAND and is_complete(int(scores.file[at]))
        if is_asked and class_label is not None and not _is_diagnostic(scores, at):
            point = None if estimate is None else estimate.usable()
            scores_and_classes[at] = (np.nan if point is None else point, class_label)
    return replace(
        scores, columns=(*scores.columns, *CLASS_COLUMNS), values=np.column_stack([scores.values, scores_and_classes])
    )


def _is_diagnostic(scores: ScoreTable, at: int) -> bool:
    role = scores.recorded.get("role")
    return role is not None and role.at(at) == "diagnostic"


def _lists(scores: ScoreTable) -> list[list[str]]:
    recorded = scores.recorded.get("metrics")
    if recorded is None:
        return [list(scores.columns) for _ in range(len(scores))]
    return [words.split() for words in _texts(recorded, len(scores))]


def _texts(coded: Coded | None, n_rows: int) -> list[str]:
    return [""] * n_rows if coded is None else [text or "" for text in coded.to_list()]


def _estimates(recorded: Mapping[str, Coded], n_rows: int) -> Iterator[RecordEstimate | None]:
    """Yield each row's estimate, None where it has none."""
    numbers = {name: _numbers(recorded[name]) for name in ("point_estimate", "ci_low", "ci_high", "runtime_seconds")}
    intervals = [_intervals(text) for text in recorded["bootstrap_cis_json"].words]
    flags, cis = recorded["valid"], recorded["bootstrap_cis_json"].codes
    for at in range(n_rows):
        if flags.codes[at] == NONE:
            yield None
            continue
        of_row = {name: column[at] for name, column in numbers.items()}
        yield RecordEstimate(
            valid=FLAGS[flags.at(at) or "False"],
            point=of_row["point_estimate"],
            ends=(of_row["ci_low"], of_row["ci_high"]),
            intervals=intervals[cis[at]] if cis[at] != NONE else (),
            runtime=of_row["runtime_seconds"],
        )


def _numbers(coded: Coded) -> list[float | None]:
    words = [_number(word) for word in coded.words]
    return [None if code == NONE else words[code] for code in coded.codes.tolist()]


def _number(word: str) -> float | None:
    value = float(word)
    return value if np.isfinite(value) else None


def _intervals(text: str) -> Sequence[tuple[float, float, float]]:
    entries = value_of(text)
    cells: list[list[Any]] = [
        [each.get(key) for key in ("nominal", "ci_low", "ci_high")] for each in entries if isinstance(each, dict)
    ]
    return [
        (float(three[0]), float(three[1]), float(three[2]))
        for three in cells
        if all(isinstance(number, int | float) for number in three)
    ]


def differ(stated: float | None, recomputed: float | None) -> bool:
    """Say whether a stated number is another than the one computed here; None is none, and equal to no number."""
    if stated is None or recomputed is None:
        return stated is not recomputed
    return abs(stated - recomputed) > TOLERANCE * max(1.0, abs(recomputed))
