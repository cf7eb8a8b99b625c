"""The items of a benchmark's grid, read from a table that its steward uploads. Columns: `item`, and `task` where tasks
have items of their own.
"""

import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from app.errors import Problem, TooLarge
from app.files.findings import Findings
from app.files.tables import open_table
from app.files.uploads import TABLE_SUFFIXES, Limits, ReceivedFile, SentFile, Unpacking
from app.manifest.model import EVERY_TASK, Manifest
from app.names import clip_for_message

ITEM, TASK = "item", "task"
MOST_ITEMS = 10_000_000
LONGEST = 200


@dataclass(frozen=True)
class ItemsReading:
    """The items of each task, in the file's order, and what the steward should know; `sha256` is of the file.

    Where the file names no tasks the items are those of every task.
    """

    items: Mapping[str, tuple[str, ...]]
    sha256: str
    warnings: tuple[Problem, ...] = ()


def read_items(manifest: Manifest, uploads: Sequence[SentFile], limits: Limits) -> ItemsReading:
    """Read the items that a steward uploads.

    Raises EvidenceRejected with every problem, and TooLarge.
    """
    findings = Findings()
    warnings: list[Problem] = []
    items: dict[str, list[str]] = {}
    clusters: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="plumbline-items-") as folder:
        unpacking = Unpacking(limits, Path(folder), findings, TABLE_SUFFIXES)
        unpacking.take_all(uploads)
        for file in unpacking.files:
            _take(file, manifest, findings, warnings, items, clusters, limits.max_rows)
        if not any(items.values()) and not findings.n_problems:
            findings.add(Problem("there is no item", column=ITEM))
        _refuse_mixed(items, findings)
        complaints = {task: manifest.part.complain_about_items(names) for task, names in items.items()}
        findings.extend(Problem(text, column=ITEM, value=task or None) for task, text in complaints.items() if text)
        findings.raise_if_any([record.name for record in unpacking.records])
    named = {task: tuple(of_task) for task, of_task in sorted(items.items())}
    return ItemsReading(named, unpacking.records[0].sha256, (*unpacking.warnings, *warnings))


def _take(
    file: ReceivedFile,
    manifest: Manifest,
    findings: Findings,
    warnings: list[Problem],
    items: dict[str, list[str]],
    clusters: dict[str, dict[str, str]],
    max_rows: int,
) -> None:
    table = open_table(file, findings, warnings, max_rows)
    if table is None:
        return
    if ITEM not in table.header:
        findings.add(Problem(f"the column {ITEM} is missing", file.name, column=ITEM))
        return
    seen: set[tuple[str, str]] = set()
    n_rows = 0
    for block in table.blocks([column for column in (ITEM, TASK) if column in table.header]):
        n_rows += len(block)
        if n_rows > min(max_rows, MOST_ITEMS):
            raise TooLarge(f"The file has more than {min(max_rows, MOST_ITEMS):,} items.")
        names = block.columns[ITEM].to_pylist()
        tasks = block.columns[TASK].to_pylist() if TASK in block.columns else [EVERY_TASK] * len(names)
        for row, name, task in zip(block.rows.tolist(), names, tasks, strict=True):
            problem = _problem(name, task, manifest, findings, has_tasks=TASK in block.columns, seen=seen)
            if problem is not None:
                column, message, value = problem
                findings.add(Problem(message, file.name, row, column, clip_for_message(value or "")))
                continue
            if complaint := manifest.part.complain_about_item(name, clusters.setdefault(task, {})):
                findings.add(Problem(complaint, file.name, row, ITEM, clip_for_message(name)))
                continue
            seen.add((task, name))
            items.setdefault(task, []).append(name)


def _problem(
    name: str | None,
    task: str | None,
    manifest: Manifest,
    findings: Findings,
    *,
    has_tasks: bool,
    seen: Set[tuple[str | None, str]],
) -> tuple[str, str, str | None] | None:
    """Return the column, what is wrong with it and its value; None where nothing is."""
    known = manifest.task_ids()
    if name is None or not name.strip():
        return ITEM, "expected the name of an item", name
    if len(name) > LONGEST:
        return ITEM, f"the name of an item has at most {LONGEST} characters", name
    if has_tasks and not task:
        return TASK, "expected a task: another row names one", task
    if has_tasks and known is not None and task not in known:
        return TASK, findings.unknown("not a task of this benchmark", task or "", known), task
    if (task, name) in seen:
        return ITEM, "the item is there already", name
    return None


def _refuse_mixed(items: Mapping[str, Sequence[str]], findings: Findings) -> None:
    if EVERY_TASK in items and len(items) > 1:
        findings.add(Problem("one file names tasks and another does not", column=TASK))
