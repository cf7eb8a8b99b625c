"""Where large reads go: to a read replica of the database if it has the data, otherwise to the database.

Called by `app.web.exports` through `app.web.state`. A replica follows by streaming replication: it may be behind,
unavailable, or cancel a statement to replay changes, and readers should notice none of that.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from app.db.engine import EXPORTS, SessionFactory, allow

logger = logging.getLogger(__name__)
T = TypeVar("T")

# An unreachable host costs a reader a connection timeout; one that failed is not tried again for this long.
LEFT_ALONE_S = 30.0


@dataclass
class Replica:
    """A read replica, and until when (monotonic) it is not tried because it failed."""

    sessions: SessionFactory
    left_alone_until: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_left_alone(self) -> bool:
        """Say whether it failed recently."""
        return time.monotonic() < self.left_alone_until

    def close(self) -> None:
        """Close its connections."""
        bound: Engine = self.sessions.kw["bind"]
        bound.dispose()

    def try_to_read(self, is_there: Callable[[Session], bool], work: Callable[[Session], T]) -> tuple[T] | None:
        """Return what `work` reads from it; None where it does not have what is asked for, or fails."""
        if self.is_left_alone:
            return None
        try:
            with self.sessions() as session:
                return (work(session),) if is_there(session) else None
        except (DBAPIError, PoolTimeout) as error:
            self._leave_alone(error)
            return None

    def _leave_alone(self, error: Exception) -> None:
        with self.lock:
            if self.is_left_alone:
                return
            self.left_alone_until = time.monotonic() + LEFT_ALONE_S
        logger.warning("the copy for reading failed; reading from the database itself meanwhile: %s", error)


@dataclass(frozen=True)
class Source:
    """Where the parts of an export are read: each from the copy if `is_there` says that it has them."""

    primary: SessionFactory
    replica: Replica | None = None
    is_there: Callable[[Session], bool] = lambda _: False

    def read(self, work: Callable[[Session], T]) -> T:
        """Return what `work` reads in a session of its own; it writes nothing, so it can be done again."""
        read = None if self.replica is None else self.replica.try_to_read(self.is_there, work)
        if read is not None:
            return read[0]
        with self.primary() as session:
            allow(session, EXPORTS)
            return work(session)
