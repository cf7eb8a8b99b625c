"""Conditions over many values at once: one array, whatever its length, where a list has a parameter for each of them.

Called by `app.store`. A statement has at most 65,535 parameters.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Integer, Text, any_, bindparam
from sqlalchemy.orm import InstrumentedAttribute


def one_of(
    column: InstrumentedAttribute[Any] | ColumnElement[Any], values: Iterable[int] | Iterable[str]
) -> ColumnElement[bool]:
    """Return the condition that a column holds one of the numbers or texts."""
    kind = BigInteger() if isinstance(column.type, Integer) else Text()
    wanted = bindparam(None, sorted(set(values)), type_=ARRAY(kind), unique=True)
    return column == any_(wanted)
