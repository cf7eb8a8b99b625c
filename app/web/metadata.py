"""What a submitter states about an entrant and a run besides the rows: all optional, typed and shown.

Read by `app.web.submissions`; the same fields stand in the form of `app.web.submit_page`, and boards are filtered by
those of `app.boards.entrant_filter`.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, create_model

from app.manifest.declared_metadata import KNOWN, DescribedBy
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


TYPES: Mapping[str, Any] = {
    "text": Annotated[Line, Field(max_length=500)],
    "number": Finite,
    "flag": Flag,
    "date": date,
}


def metadata_of(declared: Sequence[DescribedBy]) -> type[Metadata]:
    """Return the model of a submission's metadata: the common fields and those that a manifest declares."""
    if not declared:
        return Metadata
    return create_model("Metadata", __base__=Metadata, **{each.name: _field(each) for each in declared})


def form_fields(declared: Sequence[DescribedBy]) -> list[tuple[str, str, Kind]]:
    """Return the fields of the form: everybody's, then those that a manifest declares."""
    return [*METADATA_FIELDS, *((each.name, each.words, each.type) for each in declared if each.name not in KNOWN)]


def _field(each: DescribedBy) -> Any:
    known = Metadata.model_fields.get(each.name)
    kind: Any = TYPES[each.type] if known is None else Annotated[known.annotation, *known.metadata]
    if each.values is not None:
        kind = Literal[tuple(each.values)]
    return (kind, ...) if each.required else (kind | None, None)
