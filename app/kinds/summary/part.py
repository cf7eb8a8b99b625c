"""What a benchmark of evaluation summaries declares beside the common keys. Read by the modules beside it."""

from typing import Literal

from pydantic import Field

from app.manifest.manifest import KindPart
from app.manifest.parts import Columns


class SummaryPart(KindPart):
    """Which columns hold what; the preset fev also knows the older names of fev's columns."""

    columns: Columns = Field(default_factory=Columns)
    preset: Literal["fev"] | None = None
