"""What a benchmark of evaluation summaries declares beside the common keys."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from app.manifest.model import ColumnName, Common, KindPart, OpenTasks, Part


class Columns(Part):
    """Which columns of an evaluation summary hold what; metrics are read from columns of their own name."""

    entrant: ColumnName | None = Field(
        "entrant", description="the column that names the entrant; null: the form field names it"
    )
    task: ColumnName | None = Field(
        "task", description="the column that names the task; null: the benchmark has one task, and no column names it"
    )
    leaked: ColumnName | None = Field(
        None, description="the column that says whether the entrant has seen the task's data"
    )
    training_time_s: ColumnName | None = Field(None, description="the column of the training time, seconds")
    inference_time_s: ColumnName | None = Field(None, description="the column of the inference time, seconds")
    n_forecasts: ColumnName | None = Field(None, description="the column of the number of forecasts")
    recorded: list[ColumnName] = Field(
        default_factory=list, description="columns that are stored and shown, never used in computations"
    )


class SummaryPart(KindPart):
    """Which columns hold what; the preset fev also knows the older names of fev's columns."""

    columns: Columns = Field(default_factory=Columns, description="which column of a summary holds what")
    preset: Literal["fev"] | None = Field(None, description="fev: its older column names are accepted too")

    def complaints(self, common: Common) -> Iterator[str]:
        """Yield that counts of forecasts, or tasks, are declared which no column says."""
        tasks = [] if isinstance(common.tasks, OpenTasks) else common.tasks
        if self.columns.n_forecasts is None and any(task.n_forecasts is not None for task in tasks):
            yield "tasks: n_forecasts is declared, and columns.n_forecasts names no column in which rows say it"
        if self.columns.task is None and len(tasks) != 1:
            yield "columns.task: null is for a benchmark with one declared task; name the column that says which it is"

    def asks_what_was_seen(self) -> bool:
        """Say whether a column is declared that tells if the entrant has seen the task's data."""
        return self.columns.leaked is not None
