"""What a submitter says of an entrant and a run beside the rows: all of it optional, typed and shown.

Read by `app.web.submissions`; the same fields stand in the form of `app.web.submit_page`, and boards are filtered by
those of `app.boards.described`.
"""

from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from app.web.fields import Finite, Flag, Line, Text

Kind = Literal["text", "number", "flag", "date"]
METADATA_FIELDS: tuple[tuple[str, str, Kind], ...] = (
    ("version", "Version", "text"),
    ("organization", "Organisation", "text"),
    ("url", "Address (https://…)", "text"),
    ("licence", "Licence (SPDX name, such as Apache-2.0)", "text"),
    ("n_parameters", "Parameters, how many", "number"),
    ("open_weights", "Open weights (yes or no)", "flag"),
    ("released", "Released (YYYY-MM-DD)", "date"),
    ("purpose", "Made for (such as general, baseline, research)", "text"),
    ("code_commit", "Commit of the code", "text"),
    ("started_at", "The run began (such as 2026-03-02T08:00:00Z)", "text"),
    ("notes", "Notes", "text"),
)
"""The fields of the form: name, words, kind."""


class Metadata(BaseModel):
    """What a submitter says about a run; all of it optional and shown."""

    model_config = ConfigDict(extra="forbid")

    version: Line | None = Field(None, max_length=200)
    organization: Line | None = Field(None, max_length=200)
    url: Line | None = Field(None, max_length=500, pattern=r"^https?://")
    licence: Line | None = Field(None, max_length=100, description="an SPDX name, or proprietary")
    n_parameters: Annotated[Finite, Field(gt=0, le=1e18)] | None = None
    open_weights: Flag | None = None
    released: date | None = None
    purpose: Line | None = Field(None, max_length=100)
    code_commit: Line | None = Field(None, max_length=64, pattern=r"^[0-9a-fA-F]{7,64}$")
    dirty: Flag | None = None
    started_at: AwareDatetime | None = None
    notes: Text | None = Field(None, max_length=5000)
