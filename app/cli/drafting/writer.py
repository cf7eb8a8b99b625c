"""The common parts of every drafted manifest. `app.cli.drafting.writers` has what differs; pure."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from app.cli.drafting.metrics import MetricGuess
from app.cli.drafting.roles import Roles, task_groups
from app.cli.drafting.sheet import Sheet
from app.cli.drafting.written import commented, number, scalar, such_as, task_line
from app.manifest.written import TODO

MOST_NAMED = 3


@dataclass(frozen=True)
class Writer(ABC):
    """One manifest on its way to text: its evidence, and what a row of that is, are those of the class."""

    evidence: ClassVar[str]
    row: ClassVar[str]

    sheet: Sheet
    roles: Roles
    metrics: Sequence[MetricGuess]
    slug: str
    title: str
    schema: str

    def lines(self) -> list[str]:
        """Return every line of it."""
        return [
            *self._head(),
            "schema_version: 1",
            commented(f"slug: {self.slug}", "the benchmark's name in addresses; it can never change"),
            f"title: {scalar(self.title)}",
            commented(f"description: {scalar(self.sheet.about or '')}", "Markdown: what is measured, by whom, how"),
            commented(f"evidence: {self.evidence}", f"a row per {self.row}"),
            "",
            *self.columns(),
            "",
            "metrics:",
            *[line for metric in self.metrics for line in self._metric(metric)],
            "",
            *self._tasks(),
            *self.grid(),
            "",
            "admission:",
            commented(
                "  prereg: optional",
                "required: every run must be registered first, and is checked against its registration",
            ),
            commented(
                "  started_at: optional",
                "required: a run must state when it began, which must be after its registration",
            ),
            "",
            "leaderboards:",
            *self.boards(),
        ]

    @abstractmethod
    def columns(self) -> list[str]:
        """Return the lines that say what is in which column."""

    @abstractmethod
    def grid(self) -> list[str]:
        """Return the lines of what every entrant is asked for, beside the tasks."""

    @abstractmethod
    def boards(self) -> list[str]:
        """Return the lines of the boards."""

    def column(self, key: str, column: str | None, what: str, why: str, without: str = TODO) -> str:
        """Return the line of a role: its column with what is in it, or what is asked or holds without one."""
        if column is None:
            return commented(f"  {key}: {without}", why)
        return commented(f"  {key}: {scalar(column)}", f"{what}: {such_as(self.sheet.columns[column].words)}")

    def _head(self) -> list[str]:
        files = self.sheet.files
        of = ", ".join(files) if len(files) <= MOST_NAMED else f"{len(files):,} files"
        counts = f"{self.sheet.n_rows:,} rows of {of}"
        return [
            f"# yaml-language-server: $schema={self.schema}",
            f"# Drafted by `plumbline benchmark init` from {counts}.",
            "# Read it, correct what is wrong, then run `plumbline benchmark check`, which lists every TODO.",
        ]

    def _metric(self, metric: MetricGuess) -> list[str]:
        low, high = metric.observed
        lines = [f"  {metric.name}:"]
        if metric.column != metric.name:
            lines.append(f"    from: {scalar(metric.column)}")
        if metric.direction is None:
            lines.append(commented(f"    direction: {TODO}", "maximize or minimize?"))
        else:
            lines.append(f"    direction: {metric.direction}")
        ends = (("min", metric.low), ("max", metric.high))
        for at, (key, end) in enumerate((key, end) for key, end in ends if end is not None):
            line = f"    {key}: {number(end)}"
            remark = f"found {low:g} to {high:g} ({metric.why}); values outside are refused"
            lines.append(line if at else commented(line, remark))
        return [*lines, *([f"    unit: {scalar(metric.unit)}"] if metric.unit else [])]

    def _tasks(self) -> list[str]:
        if self.roles.task is None:
            return [commented("tasks: [{id: all}]", "one task: no column names another")]
        names = sorted(self.sheet.columns[self.roles.task].words)
        groups = dict(task_groups(self.sheet, self.roles))
        return [
            "# A closed list is the grid: what an entrant lacks counts against it. `{open: true}` takes any task.",
            "tasks:",
            *[task_line(task, {name: of[task] for name, of in groups.items()}) for task in names],
        ]
