"""Until when a registration is shown to few: asked at `POST /preregs`, held by `app.store.visibility`."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AwareDatetime

from app.errors import FieldRejected, Problem
from app.store import clock
from app.web.state import StateDep

LONGEST = timedelta(days=2 * 365)


def read_embargo(
    state: StateDep,
    embargo_until: Annotated[
        AwareDatetime | None,
        Query(description="visible only to the registrant, stewards and reviewers until then, or until cited"),
    ] = None,
) -> datetime | None:
    """Return until when a registration is to be under embargo. Raises FieldRejected for a time that makes no sense."""
    if embargo_until is None:
        return None
    with state.sessions() as session:
        now = clock.now(session)
    if not now < embargo_until <= now + LONGEST:
        message = f"expected a time in the future, at most {LONGEST.days} days from now"
        problem = Problem(message, column="embargo_until", value=embargo_until.isoformat())
        raise FieldRejected("The registration cannot be under this embargo.", [problem])
    return embargo_until


Embargo = Annotated[datetime | None, Depends(read_embargo)]
