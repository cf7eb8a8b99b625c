"""What result files of fev say that its task lists do not: who the models are, who has seen data, how many forecasts.

Called by `plumbline benchmark import-fev`. Read leniently, unlike a submission: result files in fev's own folders have
rows of tasks that the list no longer has, and the names in them are right all the same.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.config.settings import MIB
from app.errors import ManifestRejected, Problem
from app.files.findings import Findings
from app.files.tables import open_table
from app.files.uploads import Limits, ReceivedFile, Unpacking, Upload
from app.kinds.summary.blocks import BlockReader, Part
from app.kinds.summary.columns import FileColumns, columns_of
from app.manifest.manifest import Manifest
from app.values.scores import NONE

LIMITS = Limits(max_unpacked_bytes=512 * MIB, max_json_bytes=64 * MIB, max_files=2000, max_rows=2_000_000)
SUFFIXES = (".csv", ".json", ".jsonl")


@dataclass
class FevResults:
    """What the rows say: the models, those that have seen some task's data, and the forecasts of each task.

    `n_other` counts rows that are not of the list's tasks, or not as they are defined there.
    """

    models: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)
    counts: dict[str, set[int]] = field(default_factory=dict)
    n_other: int = 0

    def forecasts(self) -> dict[str, int]:
        """Return the count of each task that has one. Raises ManifestRejected where the rows differ, as fev does."""
        problems = [
            Problem(f"num_forecasts of task {task} is {' and '.join(map(str, sorted(different)))} in the result files")
            for task, different in sorted(self.counts.items())
            if len(different) > 1
        ]
        if problems:
            raise ManifestRejected("The result files do not agree on how many forecasts a task asks for.", problems)
        return {task: next(iter(different)) for task, different in self.counts.items()}


def result_files(places: Sequence[Path]) -> list[Path]:
    """Return the files, and those in the folders, that may be result files."""
    candidates = [path for place in places for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
    return [path for path in candidates if path.suffix in SUFFIXES or not any(path.parent == place for place in places)]


def read_results(places: Sequence[Path], manifest: Manifest) -> FevResults:
    """Read result files for the tasks of a manifest. Raises ManifestRejected where one cannot be read at all."""
    findings, results = Findings(), FevResults()
    with tempfile.TemporaryDirectory(prefix="plumbline-results-") as folder:
        unpacking = Unpacking(LIMITS, Path(folder), findings, SUFFIXES)
        unpacking.take_all([Upload(path.name, path) for path in result_files(places)])
        for file in unpacking.files:
            _take(file, manifest, findings, results)
    if findings.n_problems:
        raise ManifestRejected("The result files cannot be read.", findings.kept)
    return results


def _take(file: ReceivedFile, manifest: Manifest, findings: Findings, results: FevResults) -> None:
    table = open_table(file, findings, [], LIMITS.max_rows)
    if table is None:
        return
    columns, wrong = columns_of(manifest), Findings()
    file_columns = FileColumns(columns, table.header, file.name)
    if not file_columns.has(columns.entrant):
        findings.add(Problem(f"the column {columns.entrant} is missing", file=file.name, column=columns.entrant))
        return
    reader = BlockReader(manifest, columns, None, wrong)
    parts = [reader.read(block, file_columns, file) for block in table.blocks(file_columns.sources)]
    # Beyond the most problems that are kept nothing says which rows are as the list defines them.
    bad = None if wrong.n_problems > len(wrong.kept) else {problem.row for problem in wrong.kept}
    for part in parts:
        _add(part, reader, columns.value_names().index("n_forecasts"), bad, results)


def _add(part: Part, reader: BlockReader, counted: int, bad: set[int | None] | None, results: FevResults) -> None:
    names, tasks = reader.entrants.words, reader.tasks.words
    rows = zip(part.entrant.tolist(), part.task.tolist(), part.leaked.tolist(), part.values, part.row, strict=True)
    for entrant, task, leaked, values, row in rows:
        if entrant != NONE:
            results.models.add(names[entrant])
        if task == NONE or bad is None or int(row) in bad:
            results.n_other += 1
            continue
        if leaked and entrant != NONE:
            results.leaked.add(names[entrant])
        if not np.isnan(values[counted]):
            results.counts.setdefault(tasks[task], set()).add(int(values[counted]))
