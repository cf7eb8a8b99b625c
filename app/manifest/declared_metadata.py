"""Typed fields of metadata that a manifest requires or allows for entrants, besides their rows.

Part of `app.manifest.manifest`. `app.web.metadata` builds the model that reads them; `app.boards.entrant_filter`
filters boards by them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.manifest.base import Name, Part, Title

FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
FieldType = Literal["text", "number", "flag", "date"]
KNOWN: Mapping[str, FieldType] = {
    "version": "text", "organization": "text", "url": "text", "licence": "text", "n_parameters": "number",
    "open_weights": "flag", "released": "date", "purpose": "text", "code_commit": "text", "notes": "text",
}  # fmt: skip
"""Fields known to every benchmark, which a manifest may require, and restrict to some values."""
MOST_DECLARED = 40
RESERVED = ("dirty", "started_at")


class DescribedBy(Part):
    """A field of entrants' metadata: name, type and unit, allowed values, whether it is required."""

    name: FieldName
    type: FieldType
    title: Title | None = None
    unit: Annotated[str, StringConstraints(min_length=1, max_length=40)] | None = None
    values: list[Name] | None = Field(None, min_length=1, max_length=100)
    required: bool = False
    description: str | None = Field(None, max_length=2000)

    @property
    def words(self) -> str:
        """Return its label in a form."""
        unit = f", {self.unit}" if self.unit else ""
        listed = f" (one of {', '.join(self.values)})" if self.values else ""
        return f"{self.title or self.name.replace('_', ' ').capitalize()}{unit}{listed}"


def complaints_about(fields: Sequence[DescribedBy]) -> Iterator[str]:
    """Yield contradictions among the declared fields, each as `key: what is wrong`."""
    names = [field.name for field in fields]
    for field in fields:
        if names.count(field.name) > 1 and names.index(field.name) == fields.index(field):
            yield f"metadata: the field {field.name} is declared twice"
        if field.name in RESERVED:
            yield f"metadata: {field.name} describes a run, not an entrant; see admission"
        known = KNOWN.get(field.name, field.type)
        if field.type != known:
            yield f"metadata: the field {field.name} is a {known} in every benchmark, not a {field.type}"
        if field.values is not None and field.type != "text":
            yield f"metadata: the field {field.name} is a {field.type}; values are listed for text alone"


def units_of(fields: Sequence[DescribedBy]) -> dict[str, str]:
    """Return the unit of each field that has one."""
    return {field.name: field.unit for field in fields if field.unit}
