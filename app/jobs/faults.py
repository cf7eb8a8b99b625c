"""Numbers unexpected exceptions: the public reads the number, the log and the admin's health page the exception.

Called by `app.jobs.evaluate`, `app.jobs.boards` and `app.jobs.publish`.
"""

import hashlib
import logging
import traceback
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from app.names import clip_for_message
from app.store.server_faults import Fault

logger = logging.getLogger(__name__)

LONGEST_FAULT = 300
LONGEST_TRACEBACK = 4000


def note_fault(error: Exception, what: str, about: str, place: str | None = None, number: int | None = None) -> Fault:
    """Log an exception, and return it as a fault that can be recorded; `about` says in the log what it concerns."""
    fault = Fault(_number(error), what, _described(error), place, number)
    logger.error("fault %s: %s", fault.number, about, exc_info=error)
    return fault


def said(fault: Fault) -> str:
    """Return what the public may know of a fault.

    >>> said(Fault("3f9a1c07", "board kept", "IndexError: tuple index out of range"))
    'a fault of this server (fault 3f9a1c07); its operators are told'
    """
    return f"a fault of this server (fault {fault.number}); its operators are told"


def _number(error: Exception) -> str:
    """Return the same number for the same fault, so that a snapshot can be recomputed to the byte."""
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}" for frame in frames]
    return hashlib.sha256("\n".join([type(error).__name__, *where]).encode()).hexdigest()[:8]


def _described(error: Exception) -> str:
    """Return what failed and where, without the statements and values in database errors."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    first = (str(cause).strip() or "no further words").splitlines()[0]
    frames = "".join(traceback.format_tb(error.__traceback__))[-LONGEST_TRACEBACK:]
    return f"{clip_for_message(f'{type(cause).__name__}: {first}', LONGEST_FAULT)}\n{frames}"
