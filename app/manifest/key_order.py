"""The order in which the keys of a manifest are published. Used by `app.manifest.build` and `app.kinds.parse`."""

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def with_part(common: Mapping[str, Value], part: Mapping[str, Value]) -> dict[str, Value]:
    """Return the keys of both in the order in which a manifest is published: the kind's precede the claims."""
    ordered: dict[str, Value] = {}
    for key, value in common.items():
        if key == "claims":
            ordered |= part
        ordered[key] = value
    return ordered
