"""The tasks of a benchmark: a closed list of them, or an open one that submissions extend."""

from typing import Any, Literal

from pydantic import Field

from app.manifest.base import ColumnName, Part, TaskName, Title


class Task(Part):
    """One task of a closed list; `where` gives the value that each named column must have in its rows.

    `n_forecasts` is the number of forecasts in a run of it; a row may omit it but not contradict it.
    """

    id: TaskName
    title: Title | None = None
    where: dict[ColumnName, Any] = Field(default_factory=dict)
    n_forecasts: int | None = Field(None, ge=1, le=2**53)


class OpenTasks(Part):
    """Tasks are whatever the evidence names."""

    open: Literal[True]
