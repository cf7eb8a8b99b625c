"""Evidence kind episodes: result bundles, SpikeRun files and plain tables of episodes, as one ScoreTable. What the
files say about the run goes beside the scores, for admission to judge.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from app.errors import Problem, TooLarge
from app.files.findings import Findings, missing_column, problem_of_text, problems_of_case
from app.files.tables import (
    BadRecord,
    Record,
    is_list,
    number_of,
    open_table,
    read_document,
    records_of_document,
    records_of_lines,
)
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row
from app.harnesses.registry import split_harnesses
from app.kinds.contract import Reading, ReadRequest, checked_entrant
from app.kinds.episodes import bundles
from app.kinds.episodes.bundles import (
    DESCRIPTION,
    facts_of,
    is_safety_table,
    open_bundle,
    read_safety_table,
    sources_of,
    split_bundles,
)
from app.kinds.episodes.cells import EpisodeCells, EpisodeSource
from app.kinds.episodes.manifest_part import EpisodesPart
from app.manifest.model import Manifest, Metric, part_of
from app.values.facts import BundleFacts, RunFacts
from app.values.fingerprints import FEW_DECIMALS
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

SUFFIXES = (".csv", ".json", ".jsonl", ".eval", ".txt", ".yaml", ".yml")


def read_episodes(request: ReadRequest) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    return _EpisodeFiles(request).read(request.files)


class _EpisodeFiles:
    """The files of one submission on their way to one table."""

    def __init__(self, request: ReadRequest) -> None:
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

    def _plain(self, file: ReceivedFile, *, is_text: bool = False) -> EpisodeSource:
        return EpisodeSource(file.name, file.position, self._entrant, None, is_text=is_text)

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
        source = EpisodeSource(row.file.name, row.file.position, self._entrant or row.entrant, row.task)
        where = self._where
        names = {where.entrant: row.entrant, where.seed or "seed": row.seed, where.task or "task": row.task}
        self._add(source, row.file, row.row, {**row.cells(), **names})

    def _take_lines(
        self,
        source: EpisodeSource,
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
        if PurePosixPath(file.name).name == DESCRIPTION or not bundles.is_spike_run(document):
            self._findings.add(Problem("neither a SpikeRun nor a list of episodes", file=file.name))
            return
        self._facts.append(bundles.facts_of_spike_run(file, document, self._entrant))
        source = bundles.source_of(file, document, self._entrant)
        for row, episode in bundles.episodes_of(file, document, self._findings):
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

    def _add(self, source: EpisodeSource, file: ReceivedFile, row: int, cells: Any) -> None:
        self._count(file)
        self._rows.add(source, row, cells)

    def _count(self, file: ReceivedFile) -> None:
        self._n_rows[file.position] = self._n_rows.get(file.position, 0) + 1
        if sum(self._n_rows.values()) > self._max_rows:
            raise TooLarge(f"The submission has more than {self._max_rows:,} rows.")


def _records(columns: dict[str, list[str | None]]) -> Iterator[dict[str, str | None]]:
    names = list(columns)
    return (dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


# One episode after another into the columns of a ScoreTable.

# Of the columns of episodes, for a message about one that they lack.
MAX_SHOWN_COLUMNS = 100


@dataclass
class _Columns:
    entrant: list[str] = field(default_factory=list)
    task: list[str] = field(default_factory=list)
    condition: list[str | None] = field(default_factory=list)
    seed: list[int] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    traits: list[int] = field(default_factory=list)
    recorded: list[list[str | None]] = field(default_factory=list)

    def add(
        self,
        names: tuple[str, str, str | None],
        repetition: tuple[int, str],
        values: list[float],
        origin: tuple[int, int],
        traits: int,
        recorded: list[str | None],
    ) -> None:
        """Append one episode: (entrant, task, condition), (seed, item), scores, (file, row), its many digits, texts."""
        self.entrant.append(names[0])
        self.task.append(names[1])
        self.condition.append(names[2])
        self.seed.append(repetition[0])
        self.item.append(repetition[1])
        self.values.append(values)
        self.file.append(origin[0])
        self.row.append(origin[1])
        self.traits.append(traits)
        self.recorded.append(recorded)


class EpisodeRows:
    """The episodes of one submission. Repeats are found over all files."""

    def __init__(self, manifest: Manifest, findings: Findings) -> None:
        self._metrics = manifest.metrics
        self._part = part_of(manifest, EpisodesPart)
        self._where = self._part.where
        self._items = self._part.item_columns
        self._tasks = manifest.task_ids()
        self._clusters: dict[tuple[str, str], tuple[str, str, int]] = {}
        self._findings = findings
        self._columns = _Columns()
        self._seen: dict[tuple[Any, ...], tuple[str, int]] = {}
        self.measured_columns: set[str] = set()
        self.columns: set[str] = set()

    def __len__(self) -> int:
        return len(self._columns.row)

    def add(self, source: EpisodeSource, row: int, cells: Mapping[str, Any]) -> None:
        """Take one episode, or note every reason why it cannot be taken."""
        if len(self.columns) < MAX_SHOWN_COLUMNS:
            self.columns.update(islice(cells, MAX_SHOWN_COLUMNS))
        cell = EpisodeCells(source, row, cells, self._findings)
        names = self._names(cell)
        seed = cell.seed(self._where.seed)
        item = cell.item(self._items)
        values = [self._value(cell, name, metric) for name, metric in self._metrics.items()]
        if names is None or seed is None or item is None:
            return
        if self._part.splits_items and self._is_split(cell, source, row, (names[1], item)):
            return
        key = (*names, seed, item)
        if (earlier := self._seen.get(key)) is not None:
            cell.refuse(f"the episode is there already: row {earlier[1]} of {earlier[0]}", "seed", f"{seed}, {item}")
            return
        self._seen[key] = (source.file, row)
        traits = traits_of(cells, is_text=source.is_text)
        recorded = [cell.recorded(path) for path in self._where.recorded]
        self._columns.add(names, (seed, item), values, (source.position, row), traits, recorded)

    def _is_split(self, cell: "EpisodeCells", source: EpisodeSource, row: int, at: tuple[str, str]) -> bool:
        """Note that the item of a task is in another cluster already, where it is."""
        task, item = at
        cluster = self._part.unit_of(item)
        own = item[len(cluster) + 1 :]
        known, file, earlier = self._clusters.setdefault((task, own), (cluster, source.file, row))
        if known != cluster:
            message = f"the item {own} is in the cluster {known} already: row {earlier} of {file}; expected one cluster"
            cell.refuse(message, self._items[0], cluster)
        return known != cluster

    def unmeasured(self) -> list[str]:
        """Return the metrics whose column no episode has."""
        return [name for name, metric in self._metrics.items() if (metric.source or name) not in self.measured_columns]

    def table(self) -> ScoreTable:
        """Return the episodes."""
        columns = self._columns
        values = np.array(columns.values, dtype=np.float64).reshape(len(columns.row), len(self._metrics))
        return ScoreTable(
            entrant=Coded.of(columns.entrant),
            task=Coded.of(columns.task),
            columns=tuple(self._metrics),
            values=values,
            leaked=np.zeros(len(columns.row), dtype=np.bool_),
            file=np.array(columns.file, dtype=np.int64),
            row=np.array(columns.row, dtype=np.int64),
            condition=Coded.of(columns.condition) if any(columns.condition) else None,
            seed=np.array(columns.seed, dtype=np.int64),
            item=Coded.of(columns.item),
            traits=np.array(columns.traits, dtype=np.int64),
            recorded={name: Coded.of([texts[at] for texts in columns.recorded])
                      for at, name in enumerate(self._where.recorded)},
        )  # fmt: skip

    def _names(self, cell: "EpisodeCells") -> tuple[str, str, str | None] | None:
        entrant = cell.entrant(self._where.entrant)
        task = cell.task(self._where.task, self._tasks)
        condition = cell.condition(self._where.condition_paths, self._where.conditions)
        return None if entrant is None or task is None or condition is None else (entrant, task, condition or None)

    def _value(self, cell: "EpisodeCells", name: str, metric: Metric) -> float:
        column = metric.source or name
        if cell.has(column):
            self.measured_columns.add(column)
        return cell.score(column, metric, is_boolean=column in cell.boolean or name in self._where.boolean)


# The many-digit values of an episode beside its metrics, such as a force.
#
# Two episodes that really took place never agree in fourteen digits of a force; two copies of one always do.

MAX_DEPTH = 4

MAX_NUMBERS = 64

_EVERY = {n: struct.Struct(f"<{n}d") for n in range(1, MAX_NUMBERS + 1)}


def traits_of(cells: Mapping[str, Any], *, is_text: bool) -> int:
    """Return a number for the numbers with many digits in an episode, in their order; 0 where there are none.

    Equal numbers mean equal digits. `is_text` means that numbers are given as text, as in CSV.
    """
    numbers = list(_numbers_with_many_digits(cells, is_text, MAX_DEPTH))[:MAX_NUMBERS]
    if not numbers:
        return 0
    digest = hashlib.blake2b(_EVERY[len(numbers)].pack(*numbers), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def _numbers_with_many_digits(value: Any, is_text: bool, depth: int) -> Iterator[float]:
    if isinstance(value, float):
        if value != round(value, FEW_DECIMALS):
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values() if depth else ():
            yield from _numbers_with_many_digits(inner, is_text, depth - 1)
    elif isinstance(value, list):
        for inner in value if depth else ():
            yield from _numbers_with_many_digits(inner, is_text, depth - 1)
    elif is_text and isinstance(value, str) and "." in value:
        yield from _numbers_with_many_digits(number_of(value), is_text, depth)
