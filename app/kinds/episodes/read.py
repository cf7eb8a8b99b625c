"""Evidence kind episodes: result bundles, SpikeRun files and plain tables of episodes, as one ScoreTable.

Called by `app.kinds.reader`. What the files say about the run goes beside the scores, for admission to judge.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from app.errors import Problem, TooLarge
from app.files.documents import read_document
from app.files.headers import missing_column
from app.files.json_records import BadRecord, Record, is_list, records_of_document, records_of_lines
from app.files.repeats import problems_of_case
from app.files.tables import open_table
from app.files.text import problem_of_text
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row
from app.harnesses.known import split_harnesses
from app.kinds.episodes import spike_runs
from app.kinds.episodes.bundles import DESCRIPTION, facts_of, open_bundle, sources_of, split_bundles
from app.kinds.episodes.cells import Source
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.episodes.rows import MAX_SHOWN_COLUMNS, EpisodeRows
from app.kinds.episodes.safety_tables import is_safety_table, read_safety_table
from app.kinds.reading import Reading, Request, checked_entrant
from app.manifest.manifest import part_of
from app.values.facts import BundleFacts, RunFacts
from app.values.table import Table

SUFFIXES = (".csv", ".json", ".jsonl", ".eval", ".txt", ".yaml", ".yml")


def read_episodes(request: Request) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    return _Submission(request).read(request.files)


class _Submission:
    """The files of one submission on their way to one table."""

    def __init__(self, request: Request) -> None:
        self._findings = request.findings
        self._entrant = checked_entrant(request)
        self._max_rows = request.max_rows
        self._rows = EpisodeRows(request.manifest, request.findings)
        self._where = part_of(request.manifest, EpisodesPart).where
        self._ranked = {name for board in request.manifest.leaderboards for name in board.required_metrics()}
        self._facts: list[BundleFacts] = []
        self._tables: list[Table] = []
        self._warnings: list[Problem] = []
        self._sources = [metric.source or name for name, metric in request.manifest.metrics.items()]
        self._n_rows: dict[int, int] = {}

    def read(self, files: Sequence[ReceivedFile]) -> Reading | None:
        folders, others = split_bundles(files)
        for folder, members in folders.items():
            self._take_bundle(folder, members)
        harnesses, others = split_harnesses(others)
        for harness, own in harnesses:
            self._take_harness(harness, own)
        for file in others:
            self._take_file(file)
        self._check_whole()
        if self._findings.n_problems or not len(self._rows):
            return None
        facts = RunFacts(bundles=tuple(self._facts))
        scores = self._rows.table()
        self._findings.extend(problems_of_case(scores.entrant.words, "entrant"))
        return Reading(scores, self._n_rows, tuple(self._warnings), facts, tuple(self._tables))

    def _check_whole(self) -> None:
        if not len(self._rows) and not self._rows.columns and not self._findings.n_problems:
            self._findings.add(Problem("the submission contains no episodes"))
        for metric in self._rows.unmeasured() if self._rows.columns and self._is_whole() else ():
            if metric in self._ranked:
                what = "no episode has the metric that ranks"
                self._findings.add(missing_column(metric, sorted(self._rows.columns), None, what=what))
            else:
                self._warnings.append(Problem("no episode has this metric: it is unknown", column=metric))

    def _is_whole(self) -> bool:
        """Say whether what was read is all that there is: rows, or nothing but other metrics than the benchmark's."""
        return bool(len(self._rows)) or not self._findings.n_problems

    def _take_bundle(self, folder: str, members: dict[str, ReceivedFile]) -> None:
        bundle = open_bundle(folder, members, self._findings)
        if bundle is None:
            return
        facts = facts_of(bundle, self._entrant)
        self._facts.append(facts)
        if self._entrant is None and facts.entrant is not None:
            message = "the form names no entrant: the bundle's policy_id is used"
            self._warnings.append(Problem(message, members[DESCRIPTION].name, column="policy_id", value=facts.entrant))
        for source, file in sources_of(bundle, self._entrant, self._findings):
            self._take_lines(source, file)
        self._take_safety([file for file in members.values() if is_safety_table(file)])

    def _take_file(self, file: ReceivedFile) -> None:
        if is_safety_table(file):
            self._take_safety([file])
        elif file.suffix == ".jsonl":
            self._take_lines(self._plain(file), file)
        elif file.suffix == ".json" and is_list(file.path):
            self._take_lines(self._plain(file), file, records_of_document)
        elif file.suffix == ".json":
            self._take_spike(file)
        elif file.suffix == ".csv":
            self._take_table(file)
        else:
            self._warnings.append(Problem("the file belongs to no bundle and was ignored", file=file.name))

    def _plain(self, file: ReceivedFile, *, is_text: bool = False) -> Source:
        return Source(file.name, file.position, self._entrant, None, is_text=is_text)

    def _take_harness(self, harness: Harness, files: Sequence[ReceivedFile]) -> None:
        """Take what a harness wrote of items; a row without a metric of the benchmark is none."""
        if harness.items is None:
            message = f"{harness.title} keeps no rows of items: a benchmark of evaluation_summary takes its results"
            self._findings.add(Problem(message, file=files[0].name))
            return
        run = HarnessRun(files, self._findings)
        for row in harness.items(run):
            if not row.scores or any(source in row.scores for source in self._sources):
                self._add_harness_row(row)
            else:
                self._rows.columns.update(list(row.scores)[:MAX_SHOWN_COLUMNS])
        self._warnings += run.warnings
        stated = run.table(harness.title)
        self._tables += [] if stated is None else [stated]

    def _add_harness_row(self, row: Row) -> None:
        source = Source(row.file.name, row.file.position, self._entrant or row.entrant, row.task)
        where = self._where
        names = {where.entrant: row.entrant, where.seed or "seed": row.seed, where.task or "task": row.task}
        self._add(source, row.file, row.row, {**row.cells(), **names})

    def _take_lines(
        self,
        source: Source,
        file: ReceivedFile,
        read: Callable[[Any], Iterable[Record | BadRecord]] = records_of_lines,
    ) -> None:
        problem = problem_of_text(file.path, file.name)
        if problem is not None:
            self._findings.add(problem)
            return
        for record in read(file.path):
            if isinstance(record, BadRecord):
                self._count(file)
                self._findings.add(Problem(record.message, file.name, record.row, value=record.value))
            else:
                self._add(source, file, record.row, record.cells)

    def _take_spike(self, file: ReceivedFile) -> None:
        document = read_document(file, self._findings)
        if document is None:
            return
        if PurePosixPath(file.name).name == DESCRIPTION or not spike_runs.is_spike_run(document):
            self._findings.add(Problem("neither a SpikeRun nor a list of episodes", file=file.name))
            return
        self._facts.append(spike_runs.facts_of(file, document, self._entrant))
        source = spike_runs.source_of(file, document, self._entrant)
        for row, episode in spike_runs.episodes_of(file, document, self._findings):
            self._add(source, file, row, episode)

    def _take_table(self, file: ReceivedFile) -> None:
        table = open_table(file, self._findings, self._warnings, self._max_rows)
        if table is None:
            return
        source = self._plain(file, is_text=True)
        for block in table.blocks(table.header):
            columns = {name: cells.to_pylist() for name, cells in block.columns.items()}
            for row, cells in zip(block.rows.tolist(), _records(columns), strict=True):
                self._add(source, file, row, cells)

    def _take_safety(self, files: Sequence[ReceivedFile]) -> None:
        for file in files:
            table = read_safety_table(file, self._findings, self._warnings)
            if table is None:
                continue
            if table.name in {kept.name for kept in self._tables}:
                self._findings.add(Problem("the submission contains this safety table twice", file=file.name))
            self._tables.append(table)

    def _add(self, source: Source, file: ReceivedFile, row: int, cells: Any) -> None:
        self._count(file)
        self._rows.add(source, row, cells)

    def _count(self, file: ReceivedFile) -> None:
        self._n_rows[file.position] = self._n_rows.get(file.position, 0) + 1
        if sum(self._n_rows.values()) > self._max_rows:
            raise TooLarge(f"The submission has more than {self._max_rows:,} rows.")


def _records(columns: dict[str, list[str | None]]) -> Iterator[dict[str, str | None]]:
    names = list(columns)
    return (dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
