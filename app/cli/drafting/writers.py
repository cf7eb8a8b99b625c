"""The manifests that a table may become: of rows that are items, and of rows that hold for a whole task; pure."""

from typing import ClassVar

from app.cli.drafting import boards, grid
from app.cli.drafting.roles import Roles
from app.cli.drafting.writer import Writer
from app.cli.drafting.written import commented, flow_list, scalar
from app.manifest.written import TODO


class TaskWriter(Writer):
    """A row is an entrant on a task; boards average over tasks."""

    evidence: ClassVar[str] = "evaluation_summary"
    row: ClassVar[str] = "entrant and task"

    def columns(self) -> list[str]:
        """Return who, on what, and what is only kept."""
        roles = self.roles
        lines = [
            "columns:",
            self.column("entrant", roles.entrant, "who is compared", "which column names the entrant?"),
            self.column("task", roles.task, "what they are compared on", "one task, which no column names", "null"),
        ]
        if roles.recorded:
            listed = flow_list(roles.recorded, "    ")
            lines.append(commented(f"  recorded: {listed}", "stored and shown, never used in computations"))
        return lines

    def grid(self) -> list[str]:
        """Return nothing: the tasks are the grid."""
        return []

    def boards(self) -> list[str]:
        """Return boards of averages."""
        return boards.average_lines(self.sheet, self.roles, self.metrics)


class ItemWriter(Writer):
    """A row is an item, once for each seed and condition; boards estimate."""

    evidence: ClassVar[str] = "episodes"
    row: ClassVar[str] = "item"

    def columns(self) -> list[str]:
        """Return who, on what, and what tells the rows of both apart."""
        roles = self.roles
        lines = ["episodes:"]
        lines += [self.column("entrant", roles.entrant, "who is compared", "which column names the entrant?")]
        lines += [] if roles.task is None else [self.column("task", roles.task, "the task", "")]
        lines += [self._seed_line(), self._item_line()]
        if roles.condition is None:
            lines.append(commented("  condition: null", "every item is run once, under one condition"))
        else:
            lines.append(self.column("condition", roles.condition, "the condition", ""))
        return lines

    def _seed_line(self) -> str:
        if self.roles.seed is None:
            return commented("  seed: null", "no seeds: intervals resample items")
        return commented(f"  seed: {scalar(self.roles.seed)}", "intervals resample seeds, then items within them")

    def _item_line(self) -> str:
        if self.roles.n_repeated:
            return commented(
                f"  item: [{TODO}]", f"{self.roles.n_repeated:,} rows repeat: which column distinguishes them?"
            )
        item = self.roles.item or (self.roles.seed or "",)
        return commented(f"  item: {flow_list(item, '    ')}", "what identifies a row within a seed and task")

    def grid(self) -> list[str]:
        """Return the seeds, conditions and items that every entrant is asked for."""
        return grid.grid_lines(self.sheet, self.roles)

    def boards(self) -> list[str]:
        """Return one board of estimates."""
        return boards.estimate_lines(self.metrics)


def writer_of(roles: Roles) -> type[Writer]:
    """Return what writes the manifest: rows that name items, or repeat their task, are items."""
    return ItemWriter if roles.has_items or roles.n_repeated else TaskWriter
