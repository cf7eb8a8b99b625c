"""What is wrong with a YAML document, as problems with their places. Called where manifests and forms are read."""

from typing import Any

from pydantic import BaseModel, ValidationError

from app.errors import Problem
from app.names import clip_for_message

# A path has several keys, and the message that follows must stay in sight.
MAX_KEY = 200


def problems_from(error: ValidationError, prefix: str = "") -> list[Problem]:
    """Turn pydantic's findings into problems whose column is the dotted path of the key."""
    return [
        Problem(
            e["msg"].removeprefix("Value error, "),
            column=prefix + ".".join(clip_for_message(str(step), MAX_KEY) for step in e["loc"]) or None,
            value=None if e["type"] == "missing" else shown(e.get("input")),
        )
        for e in error.errors()
    ]


def shown(value: Any) -> str | None:
    """Return a value as a message shows it, None for one that has parts."""
    return None if value is None or isinstance(value, (dict, list, BaseModel)) else clip_for_message(str(value))
