"""Conditions over many numbers at once: one array, whatever its length, where a list has a parameter for each of them.

Called by `app.store`. A statement has at most 65,535 parameters.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, any_, bindparam
from sqlalchemy.orm import InstrumentedAttribute


def one_of(column: InstrumentedAttribute[Any], numbers: Iterable[int]) -> ColumnElement[bool]:
    """Return the condition that a column holds one of the numbers."""
    wanted = bindparam(None, sorted(set(numbers)), type_=ARRAY(BigInteger), unique=True)
    return column == any_(wanted)
