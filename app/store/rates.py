"""How often somebody may do something in a minute, counted for all processes together. Called by `app.web.limits`.

The generic cell rate algorithm (ITU-T I.371, 4.1): one time for each key says until when its allowance is used up. It
refills evenly, a full one holds a minute's worth, and one statement decides, so no two processes give the same place.
"""

import math
from datetime import timedelta

from sqlalchemy import delete, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Rate

MINUTE = timedelta(minutes=1)


def take(session: Session, key: str, per_minute: int) -> int:
    """Count one act of a key and return 0, or count nothing and return how many seconds to wait."""
    now, step = func.clock_timestamp(), literal(MINUTE / per_minute)
    later = func.greatest(Rate.used_until, now) + step
    counted = insert(Rate).values(key=key, used_until=now + step)
    counted = counted.on_conflict_do_update(
        index_elements=["key"], set_={"used_until": later}, where=later <= now + MINUTE
    )
    if session.scalar(counted.returning(Rate.key)) is not None:
        return 0
    wait = func.extract("epoch", Rate.used_until + step - now - MINUTE)
    return max(1, math.ceil(session.scalar(select(wait).where(Rate.key == key)) or 1))


def is_used_up(session: Session, key: str, per_minute: int) -> bool:
    """Say whether one more would be too many, and count nothing."""
    now = func.clock_timestamp()
    query = select(Rate.key).where(Rate.key == key, Rate.used_until + literal(MINUTE / per_minute) > now + MINUTE)
    return session.scalar(query) is not None


def forget(session: Session) -> None:
    """Remove the keys whose allowance is full again."""
    session.execute(delete(Rate).where(Rate.used_until <= func.clock_timestamp()))
