"""How often somebody may do something in a minute, counted for all processes together.

The generic cell rate algorithm (ITU-T I.371, 4.1): one timestamp per key says until when its allowance is used up.
It refills evenly up to a minute's worth, and a single statement decides, so that two processes never grant the same
slot.
"""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, case, delete, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Rate

MINUTE = timedelta(minutes=1)


def take(session: Session, key: str, per_minute: int) -> int:
    """Count one act of a key and return 0, or count nothing and return how many seconds to wait."""
    now, step = func.clock_timestamp(), literal(MINUTE / per_minute)
    later = func.greatest(_used_until(), now) + step
    counted = insert(Rate).values(key=key, used_until=now + step)
    counted = counted.on_conflict_do_update(
        index_elements=["key"], set_={"used_until": later}, where=later <= now + MINUTE
    )
    if session.scalar(counted.returning(Rate.key)) is not None:
        return 0
    wait = func.extract("epoch", _used_until() + step - now - MINUTE)
    return max(1, math.ceil(session.scalar(select(wait).where(Rate.key == key)) or 1))


def take_many(session: Session, taken: Mapping[str, int], per_minute: int) -> dict[str, float]:
    """Count acts that are over, and return how much of its minute's worth each key has used up, in seconds of it.

    At most a minute's worth is counted, so that requests refused elsewhere do not prolong the wait.
    """
    if not taken:
        return {}
    now, step = func.clock_timestamp(), MINUTE / per_minute
    rows = [{"key": key, "used_until": now + literal(step * n)} for key, n in sorted(taken.items())]
    counted = insert(Rate).values(rows)
    spent = counted.excluded.used_until - now
    later = func.least(func.greatest(_used_until(), now) + spent, now + MINUTE)
    counted = counted.on_conflict_do_update(index_elements=["key"], set_={"used_until": later})
    used = func.extract("epoch", Rate.used_until - func.clock_timestamp())
    return {key: max(0.0, float(left)) for key, left in session.execute(counted.returning(Rate.key, used))}


def is_used_up(session: Session, key: str, per_minute: int) -> bool:
    """Say whether one more would be too many, and count nothing."""
    now = func.clock_timestamp()
    query = select(Rate.key).where(Rate.key == key, _used_until() + literal(MINUTE / per_minute) > now + MINUTE)
    return session.scalar(query) is not None


def _used_until() -> ColumnElement[datetime]:
    """Return until when a key has used its allowance up: beyond two minutes, the clock was set back since."""
    now = func.clock_timestamp()
    return case((Rate.used_until > now + 2 * MINUTE, now), else_=Rate.used_until)


def forget(session: Session) -> None:
    """Remove the keys whose allowance is full again."""
    session.execute(delete(Rate).where(Rate.used_until <= func.clock_timestamp()))
