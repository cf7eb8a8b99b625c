"""Until when a registration is shown to few: asked at `POST /preregs`, held by `app.store.visibility`."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AwareDatetime

from app.errors import FieldRejected, Problem

LONGEST = timedelta(days=2 * 365)


def read_embargo(
    embargo_until: Annotated[AwareDatetime | None, Query(description="shown to few until then, or until cited")] = None,
) -> datetime | None:
    """Return until when a registration is to be under embargo. Raises FieldRejected for a time that makes no sense."""
    now = datetime.now(UTC)
    if embargo_until is not None and not now < embargo_until <= now + LONGEST:
        message = f"expected a time that is still to come, at most {LONGEST.days} days from now"
        problem = Problem(message, column="embargo_until", value=embargo_until.isoformat())
        raise FieldRejected("The registration cannot be under this embargo.", [problem])
    return embargo_until


Embargo = Annotated[datetime | None, Depends(read_embargo)]
