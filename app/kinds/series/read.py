"""Evidence kind series_metrics: runs of lrdbench, of which only the per-series rows count, as one wide ScoreTable.

Called by `app.kinds.reader`. What the runs computed themselves goes into the facts, to be compared with ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS as OF_CLASSES
from app.errors import Problem, TooLarge
from app.files.blocks import Block
from app.files.repeats import problems_of_case
from app.files.tables import open_table
from app.files.uploads import ReceivedFile
from app.kinds.reading import Reading, Request
from app.kinds.series import estimates as series_estimates
from app.kinds.series import run as series_run
from app.kinds.series import truths as series_truths
from app.kinds.series.checks import SeriesChecks
from app.kinds.series.claimed_tables import AGGREGATION, BOARD_COLUMNS, CLAIMED, ClaimedTable, board_rows
from app.kinds.series.claims import Backing, Claims, claims_of_rows
from app.kinds.series.disagreements import about_classes, about_estimators, about_run
from app.kinds.series.estimate_rows import REQUIRED as OF_RECORDS
from app.kinds.series.estimate_rows import RecordStrata, unmeasured
from app.kinds.series.estimates import Estimates
from app.kinds.series.estimators import (
    Described,
    described_by,
    problem_of_mode,
    read_estimator_table,
    read_run_manifest,
)
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.metrics import row_metrics
from app.kinds.series.names import slug_of
from app.kinds.series.pivot import DIAGNOSTIC, ESTIMATOR, Pivot
from app.kinds.series.recomputed import Difference, recompute, with_classes
from app.kinds.series.rows import COLUMNS, PER_SERIES, MetricRowReader, MetricRows, Words, concatenate
from app.kinds.series.run import RunFiles, split_runs
from app.kinds.series.truths import Truths
from app.manifest.manifest import part_of
from app.names import first_few
from app.values.facts import RunFacts
from app.values.scores import ScoreTable

MOST_SHOWN = 6
CLASS_METRICS = frozenset(OF_CLASSES)
BOARDS = (series_run.BOARD, series_run.RAW_BOARD)


def read_series_metrics(request: Request) -> Reading | None:
    """Read every run; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    return _Submission(request).read()


class _Submission:
    """The runs of one submission on their way to one table."""

    def __init__(self, request: Request) -> None:
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
            for block in self._blocks(file, series_truths.REQUIRED, series_truths.COLUMNS):
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
            for block in self._blocks(file, OF_RECORDS, OF_RECORDS):
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
        pivot = Pivot.of(checks.rows.where(kept), checks.words, self._files)
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
            shown = first_few(differences, MOST_SHOWN, Difference.in_words, between="; ")
            why = "values do not follow from the run's estimates and truths, which count"
            self._warnings.append(Problem(f"{len(differences):,} {why}: {shown}", column="value"))
        if not CLASS_METRICS & self._request.manifest.metrics.keys():
            return recomputed
        return with_classes(recomputed, scores.recorded, self._truths, estimands, self._complete.__contains__)

    def _warnings_of_order(self, pivot: Pivot) -> list[Problem]:
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
