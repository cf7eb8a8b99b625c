"""Which columns of a summary table hold what, under which names a file may call them, and which it lacks.

Called by `app.kinds.summary.read`. Source of the renames: fev, whose older releases used the other names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from app.errors import Problem
from app.files.blocks import Block, Texts
from app.files.findings import Findings
from app.kinds.summary import old_fev
from app.kinds.summary.manifest_part import SummaryPart
from app.manifest.manifest import Manifest, part_of
from app.manifest.tasks import OpenTasks
from app.names import clip_for_message, first_few

FEV_RENAMES = {
    "num_rolling_windows": "num_windows",
    "rolling_step_size": "window_step_size",
    "cutoff": "initial_cutoff",
    "target_column": "target",
    "multiple_target_columns": "generate_univariate_targets_from",
}
# Repeats the column of the task's own metric; a benchmark over it declares it as a metric.
FEV_REDUNDANT = frozenset({"test_error"}) | old_fev.FORGOTTEN
_SHOWN = 20


@dataclass(frozen=True)
class SummaryColumns:
    """The columns that a benchmark reads; `measured` pairs the name of a quantity with its column."""

    entrant: str | None
    task: str | None
    leaked: str | None
    metrics: tuple[str, ...]
    measured: tuple[tuple[str, str], ...]
    where: tuple[str, ...]
    recorded: tuple[str, ...]
    renames: Mapping[str, str]
    redundant: frozenset[str]
    is_fev: bool = False

    def value_names(self) -> tuple[str, ...]:
        """Return the columns of the ScoreTable: metrics, then measured quantities."""
        return (*self.metrics, *(name for name, _ in self.measured))

    def wanted(self) -> tuple[str, ...]:
        """Return every column that is read, once, under its present name."""
        named = [self.entrant, self.task, self.leaked, *self.metrics, *(column for _, column in self.measured)]
        return tuple(dict.fromkeys(name for name in (*named, *self.where, *self.recorded) if name is not None))

    def sources(self) -> tuple[str, ...]:
        """Return every column that is read, under its present and its deprecated names."""
        wanted = self.wanted()
        old = [old_fev.LENGTH] if self.is_fev else []
        return (*wanted, *(old for old, new in self.renames.items() if new in wanted and old not in wanted), *old)


def columns_of(manifest: Manifest) -> SummaryColumns:
    """Return what the manifest says about its columns."""
    part = part_of(manifest, SummaryPart)
    declared = part.columns
    measured = {
        "training_time_s": declared.training_time_s,
        "inference_time_s": declared.inference_time_s,
        "n_forecasts": declared.n_forecasts,
    }
    tasks = [] if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    return SummaryColumns(
        entrant=declared.entrant,
        task=declared.task,
        leaked=declared.leaked,
        metrics=tuple(manifest.metrics),
        measured=tuple((name, column) for name, column in measured.items() if column is not None),
        where=tuple(dict.fromkeys(name for task in tasks for name in task.where)),
        recorded=tuple(declared.recorded),
        renames={**(FEV_RENAMES if part.preset == "fev" else {}), **_sources(manifest)},
        redundant=FEV_REDUNDANT if part.preset == "fev" else frozenset(),
        is_fev=part.preset == "fev",
    )


def _sources(manifest: Manifest) -> dict[str, str]:
    """Return the metric of each column that a manifest names with `from`."""
    return {metric.source: name for name, metric in manifest.metrics.items() if metric.source not in (None, name)}


class FileColumns:
    """The columns of one file: where each wanted one is, under its present or its deprecated name."""

    def __init__(self, columns: SummaryColumns, header: Sequence[str], file: str) -> None:
        self._old_names = {new: old for old, new in columns.renames.items() if old in header}
        self.header = tuple(header)
        self._header = frozenset(header)
        self._file = file
        self._has_lengths = columns.is_fev and {old_fev.LENGTH, old_fev.HORIZON} <= self._header
        self.wanted = tuple(name for name in columns.wanted() if self.has(name))
        self.metrics = tuple(metric for metric in columns.metrics if self.has(metric))
        self.sources = tuple(dict.fromkeys(source for name in self.wanted for source in self._sources(name)))
        self.ignored = tuple(name for name in header if name not in {*self.sources, *columns.redundant})

    def has(self, column: str | None) -> bool:
        """Say whether the file has a column under any of its names."""
        if column == old_fev.SHORTEST and self._has_lengths:
            return True
        return column is not None and (column in self._header or column in self._old_names)

    def cells(self, block: Block, findings: Findings) -> dict[str, Texts]:
        """Return the wanted columns of a block under their present names; a row with both names is a problem."""
        return {column: self._cells_of(column, block, findings) for column in self.wanted}

    def warning(self) -> Problem | None:
        """Return which columns of the file are not read."""
        if not self.ignored:
            return None
        names = first_few(self.ignored, _SHOWN, clip_for_message)
        return Problem(f"columns that this benchmark does not read were ignored: {names}", file=self._file)

    def _sources(self, column: str) -> Iterator[str]:
        if column in self._header:
            yield column
        elif column == old_fev.SHORTEST and self._has_lengths:
            yield old_fev.LENGTH
        if column in self._old_names:
            yield self._old_names[column]

    def _cells_of(self, column: str, block: Block, findings: Findings) -> Texts:
        names = list(self._sources(column))
        if names == [old_fev.LENGTH]:
            return old_fev.shortest_contexts(*(block.columns[name] for name in (old_fev.LENGTH, old_fev.HORIZON)))
        if len(names) == 1:
            return block.columns[names[0]]
        new, old = (block.columns[name] for name in names)
        both = np.flatnonzero(pc.and_(pc.is_valid(new), pc.is_valid(old))).tolist()
        message = f"a deprecated name of {column}, which the row has too; send one of them"

        def describe(position: int) -> Problem:
            value = clip_for_message(old[position].as_py())
            return Problem(message, self._file, int(block.rows[position]), names[1], value)

        findings.add_each(both, describe)
        return pc.coalesce(new, old)
