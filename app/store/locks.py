"""Locks by name for transactions, where there is no row to lock yet."""

from sqlalchemy import ARRAY, Text, bindparam, text
from sqlalchemy.orm import Session

# Rows come in the order of the array, so that all transactions take locks in the same order.
TAKE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('plumbline ' || name, 0)) FROM unnest(:names) AS name"
).bindparams(bindparam("names", type_=ARRAY(Text)))


def take_turns(session: Session, *names: str) -> None:
    """Wait until no other transaction holds one of the names, and hold them until this one ends.

    To be called first in a transaction: names come before rows.
    """
    session.execute(TAKE, {"names": sorted(names)})
