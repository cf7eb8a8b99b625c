"""Turns that transactions take by a name, where there is no row yet that they could lock."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def take_turns(session: Session, *names: str) -> None:
    """Wait until no other transaction holds one of the names, and hold them until this one ends.

    To be called first in a transaction: names come before rows.
    """
    for name in sorted(names):
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"plumbline {name}", 0))))
