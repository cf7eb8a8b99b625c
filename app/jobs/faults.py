"""Describes a fault for a page: what failed, without the statements and values in database errors.

Called by `app.jobs.evaluate`, `app.jobs.boards` and `app.jobs.publish`.
"""

from sqlalchemy.exc import DBAPIError

from app.names import clip_for_message

LONGEST_FAULT = 300


def describe_fault(error: Exception) -> str:
    """Return what failed, in one line that a page can show."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    first = (str(cause).strip() or "no further words").splitlines()[0]
    return clip_for_message(f"{type(cause).__name__}: {first}", LONGEST_FAULT)
