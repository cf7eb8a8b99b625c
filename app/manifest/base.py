"""The base of every part of a manifest: immutable, no unknown keys, restricted names.

Read by `app.manifest.manifest` and by the kinds' parts.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from app.names import MAX_NAME, METRIC_PATTERN, NAME_RULE, SLUG_PATTERN, complain_about_name, is_name


def refuse_no_name(text: str) -> str:
    """Return the text if it may be a name.

    Raises ValueError saying why it may not.
    """
    if not is_name(text):
        raise ValueError(complain_about_name(text))
    return text


Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG_PATTERN}$")]
# The validator also checks the length; description and length are given for readers of the schema.
_NAME_SCHEMA = {"minLength": 1, "maxLength": MAX_NAME, "description": NAME_RULE}
Name = Annotated[str, AfterValidator(refuse_no_name), Field(json_schema_extra=_NAME_SCHEMA)]
TaskName = Name
MetricName = Annotated[str, StringConstraints(pattern=f"^{METRIC_PATTERN}$")]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Direction = Literal["minimize", "maximize"]


class Part(BaseModel):
    """Base of every part of a manifest: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)
