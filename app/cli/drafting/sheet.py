"""A table of results before there is a manifest: every column as text, from one file or several.

Called by `app.cli.drafting.draft`. Files are unpacked within the limits of an upload, by the code that reads uploads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import EvidenceRejected, Problem
from app.files.findings import Findings
from app.files.number_cells import read_numbers
from app.files.tables import open_table
from app.files.uploads import Limits, ReceivedFile, Unpacking, Upload
from app.harnesses.contract import Harness, HarnessRun, Row, sound_rows
from app.harnesses.known import split_harnesses
from app.stats.arrays import FloatArray, IntArray

SUFFIXES = (".csv", ".json", ".jsonl", ".eval")


@dataclass(frozen=True)
class SheetColumn:
    """One column: its name and its cells, a pyarrow array of text with null where a cell is empty."""

    name: str
    cells: Any

    @cached_property
    def words(self) -> list[str]:
        """The distinct texts, in the order of their first rows."""
        return [word for word in self._coded.dictionary.to_pylist() if word is not None]

    @cached_property
    def codes(self) -> IntArray:
        """Which word each row has; -1 where its cell is empty."""
        codes: IntArray = np.asarray(self._coded.indices.fill_null(-1)).astype(np.int64)
        return codes

    @cached_property
    def _coded(self) -> Any:
        return pc.dictionary_encode(self.cells)

    @property
    def n_empty(self) -> int:
        """How many cells are empty."""
        return int(self.cells.null_count)

    @cached_property
    def numbers(self) -> FloatArray | None:
        """Return the cells as numbers, NaN where empty; None if any is text, or all are empty."""
        parsed = read_numbers(self.cells)
        is_number = not parsed.is_text.any() and not parsed.empty.all()
        return parsed.values if is_number else None

    @property
    def finite(self) -> FloatArray:
        """Return the numbers that are not empty; none if the column is text."""
        if self.numbers is None:
            return np.zeros(0)
        return self.numbers[np.isfinite(self.numbers)]

    @property
    def is_whole(self) -> bool:
        """Say whether every number is a whole one."""
        return bool(len(self.finite)) and bool((self.finite == np.round(self.finite)).all())

    @property
    def is_flag(self) -> bool:
        """Say whether every cell is true or false."""
        return bool(self.words) and {word.lower() for word in self.words} <= {"true", "false"}


@dataclass(frozen=True)
class Sheet:
    """The columns of a table; of a harness's output `about` says what it is, and `roles` what its columns are.

    `left_out` says which files are of something else.
    """

    columns: Mapping[str, SheetColumn]
    n_rows: int
    files: tuple[str, ...]
    roles: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    left_out: tuple[str, ...] = ()

    def keys(self, names: Sequence[str]) -> IntArray:
        """Return a number for each row that two rows share where they have the same words in some columns."""
        key = np.zeros(self.n_rows, dtype=np.int64)
        for name in names:
            column = self.columns[name]
            _, key = np.unique(key * (len(column.words) + 1) + column.codes + 1, return_inverse=True)
        return key.reshape(-1)

    def n_distinct(self, names: Sequence[str]) -> int:
        """Return how many different rows there are in some columns."""
        return len(np.unique(self.keys(names)))


def read_sheet(paths: Sequence[Path], folder: Path, limits: Limits) -> Sheet:
    """Read tables with one header. Raises EvidenceRejected with every problem, TooLarge beyond a limit."""
    findings = Findings()
    unpacking = Unpacking(limits, folder, findings, SUFFIXES)
    unpacking.take_all([Upload(path.name, path) for path in paths])
    harnesses, others = split_harnesses(unpacking.files)
    if harnesses:
        sheets = [sheet_of_harness(*harnesses[0], findings)]
    else:
        sheets = [sheet for file in others if (sheet := _read(file, findings, limits)) is not None]
    findings.raise_if_any([record.name for record in unpacking.records])
    if not harnesses:
        return _joined(sheets)
    further = [f"{len(own):,} of {harness.title}" for harness, own in harnesses[1:]]
    unknown = [f"{len(others):,} of no harness, such as {others[0].name}"] if others else []
    return replace(sheets[0], left_out=(*further, *unknown))


def sheet_of_harness(harness: Harness, files: Sequence[ReceivedFile], findings: Findings) -> Sheet:
    """Return what a harness's files hold as a sheet: rows of items where there are some, else of tasks."""
    run = HarnessRun(files, findings)
    rows = list(sound_rows(run, harness.items(run))) if harness.items is not None else []
    has_items = bool(rows)
    if not has_items and harness.summary is not None:
        run = HarnessRun(files, findings)
        rows = list(sound_rows(run, harness.summary(run)))
    if not rows:
        findings.add(Problem(f"the files of {harness.title} hold no rows", file=files[0].name))
    records = _merged(rows)
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: SheetColumn(name, pa.array([_text(r.get(name)) for r in records], pa.string())) for name in names}
    scored = dict.fromkeys(name for row in rows for name in row.scores if len(columns[name].finite))
    metrics = tuple(name for name in harness.preset if name in scored) or tuple(scored)
    directions = {**harness.preset, **_directions(run, metrics)}
    roles: dict[str, Any] = {"entrant": "entrant", "task": "task", "metrics": metrics, "directions": directions}
    if has_items:
        seeds = {row.seed for row in rows}
        roles |= {"item": ("item",) if "item" in columns else None, "seed": "seed" if len(seeds) > 1 else None}
    return Sheet(columns, len(records), tuple(file.name for file in files), roles, f"Results of {harness.title}.")


def _merged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a record for each entrant, task, seed and item: several filters of one sample score the same sample."""
    by_key: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        kept = {"entrant": row.entrant, "task": row.task, "seed": row.seed, "item": row.item}
        # What is no name is no reason to stop here: a check of the manifest against the results refuses it.
        key = tuple(cell if isinstance(cell, str | int) else repr(cell) for cell in kept.values())
        plain = {name: cell for name, cell in kept.items() if name != "item" or cell is not None}
        by_key.setdefault(key, plain).update({**row.scores, **({} if row.item is not None else row.beside)})
    return list(by_key.values())


def _directions(run: HarnessRun, metrics: Sequence[str]) -> dict[str, str]:
    """Return the direction of each metric of which the run says it, whatever its filter."""
    plain = {name: name.partition(",")[0] for name in metrics}
    return {name: run.directions[of] for name, of in plain.items() if of in run.directions}


def _text(cell: Any) -> str | None:
    if cell is None:
        return None
    return repr(cell) if isinstance(cell, float) else str(cell)


def _read(file: ReceivedFile, findings: Findings, limits: Limits) -> Sheet | None:
    table = open_table(file, findings, [], limits.max_rows)
    if table is None:
        return None
    parts: dict[str, list[Any]] = {name: [] for name in table.header}
    n_rows = 0
    for block in table.blocks(table.header):
        n_rows += len(block)
        for name in table.header:
            parts[name].append(block.columns[name])
    if not n_rows:
        findings.add(Problem("the file contains no rows", file=file.name))
        return None
    columns = {name: SheetColumn(name, _concat(chunks)) for name, chunks in parts.items()}
    return Sheet(columns, n_rows, (file.name,))


def _concat(chunks: Sequence[Any]) -> Any:
    plain = [chunk.combine_chunks() if isinstance(chunk, pa.ChunkedArray) else chunk for chunk in chunks]
    return pa.concat_arrays([pc.cast(chunk, pa.string()) for chunk in plain])


def _joined(sheets: Sequence[Sheet]) -> Sheet:
    if not sheets:
        raise EvidenceRejected("No table was given.", [Problem("no table was given", column="files")])
    names = list(dict.fromkeys(name for sheet in sheets for name in sheet.columns))
    columns = {name: SheetColumn(name, pa.concat_arrays([_column(sheet, name) for sheet in sheets])) for name in names}
    n_rows = sum(sheet.n_rows for sheet in sheets)
    return Sheet(columns, n_rows, tuple(file for sheet in sheets for file in sheet.files))


def _column(sheet: Sheet, name: str) -> Any:
    column = sheet.columns.get(name)
    return pa.nulls(sheet.n_rows, pa.string()) if column is None else column.cells
