"""Turns that transactions take by a name, where there is no row yet that they could lock."""

from sqlalchemy import ARRAY, Text, bindparam, text
from sqlalchemy.orm import Session

# Rows of an array come in its order, so that everyone takes the turns in the same order.
TAKE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('plumbline ' || name, 0)) FROM unnest(:names) AS name"
).bindparams(bindparam("names", type_=ARRAY(Text)))


def take_turns(session: Session, *names: str) -> None:
    """Wait until no other transaction holds one of the names, and hold them until this one ends.

    To be called first in a transaction: names come before rows.
    """
    session.execute(TAKE, {"names": sorted(names)})
