"""What every table has in common; for the other modules of this package."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    """Base of every table; names constraints so that migrations can refer to them."""

    type_annotation_map = {  # noqa: RUF012 - the name and type are SQLAlchemy's
        datetime: TIMESTAMP(timezone=True),
        str: Text,
        dict[str, Any]: JSONB,
        bytes: LargeBinary,
    }


Base.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """A check that a column holds one of these values."""
    quoted = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({quoted})", name=column)
