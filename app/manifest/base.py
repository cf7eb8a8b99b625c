"""What every part of a manifest is built on: immutable, no unknown keys, names restricted at the door.

Read by `app.manifest.manifest` and by the kinds' parts.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from app.names import METRIC_PATTERN, NAME_PATTERN, SLUG_PATTERN, TASK_PATTERN

Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG_PATTERN}$")]
Name = Annotated[str, StringConstraints(pattern=f"^{NAME_PATTERN}$")]
TaskName = Annotated[str, StringConstraints(pattern=f"^{TASK_PATTERN}$", max_length=100)]
MetricName = Annotated[str, StringConstraints(pattern=f"^{METRIC_PATTERN}$")]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Direction = Literal["minimize", "maximize"]


class Part(BaseModel):
    """Base of every part of a manifest: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)
