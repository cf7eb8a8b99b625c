"""Seals the audit record: run by the queue every minute and after every refresh of a benchmark."""

import logging

from app.db.engine import SessionFactory
from app.store import seals
from app.telemetry.logs import event

logger = logging.getLogger(__name__)


def seal(sessions: SessionFactory) -> None:
    """Seal every event that waits, a batch to a transaction. Each seal is logged: the log is where it is not kept."""
    n_sealed = seals.MOST_SEALED
    while n_sealed == seals.MOST_SEALED:
        with sessions.begin() as session:
            made = seals.seal_waiting(session)
            n_sealed = 0 if made is None else len(made.events)
        if made is not None:
            event(logger, "audit sealed", seal=made.number, n_events=n_sealed, digest=made.digest.hex())
