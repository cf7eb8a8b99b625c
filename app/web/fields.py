"""Field types for JSON requests: texts and numbers that can be stored, without implicit conversions.

Used by the bodies and form fields of `app.web`. A refusal names the field, before anything is read or stored.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from app.files.tables import BEYOND, is_storable
from app.names import TEXT_RULE, is_plain_text

LINE_BREAKS = re.compile(r"[\n\r\t]")


def refuse_unshown(text: str) -> str:
    """Return a text whose every character is shown in its place. Raises ValueError."""
    if not is_plain_text(text):
        raise ValueError(f"expected {TEXT_RULE}")
    return text


def refuse_unshown_in_lines(text: str) -> str:
    """Return a text of one or more such lines. Raises ValueError."""
    for line in LINE_BREAKS.split(text):
        refuse_unshown(line)
    return text


def refuse_beyond(number: float) -> float:
    """Return a number that is no larger than any may be. Raises ValueError."""
    if not is_storable(number):
        raise ValueError(BEYOND)
    return number


Line = Annotated[str, Field(strict=True), AfterValidator(refuse_unshown)]
Text = Annotated[str, Field(strict=True), AfterValidator(refuse_unshown_in_lines)]
# JSON has neither NaN nor infinity, but readers of it take both, and 1e999 is one of them.
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(refuse_beyond)]
Flag = Annotated[bool, Field(strict=True)]
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(refuse_unshown)
]
"""Why somebody did something, for everyone to read: never blank, and shown as it is stored."""


class Body(BaseModel):
    """Base of every JSON body: a field that it does not know is refused by name, not passed over."""

    model_config = ConfigDict(extra="forbid")
