"""Has the embedded Postgres started again when it ends while a server runs; used by `plumbline serve`.

Another process starts it (`plumbline db check`), under the locks that every user of the data folder keeps. So the
supervisor goes on tending the rest through a long recovery, and can be stopped in the middle of it.
"""

import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.cli.restarts import restart_delay_s
from app.db.embedded_watch import EmbeddedWatch

logger = logging.getLogger(__name__)

LOOKS_EVERY_S = 1.0
STARTER = (sys.executable, "-m", "app.cli", "db", "check", "--quick")


class DatabaseWatch:
    """Looks each second whether the server runs; while it does not, starts it, and again after growing pauses."""

    def __init__(self, data_dir: Path) -> None:
        self._server = EmbeddedWatch(data_dir)
        self._starter: subprocess.Popen[bytes] | None = None
        self._look_after = 0.0
        self._n_failures = 0

    def tend(self) -> None:
        """Do what is due now; never waits."""
        if self._starter is not None:
            self._see_starter(self._starter)
        elif time.monotonic() >= self._look_after:
            self._look_after = time.monotonic() + LOOKS_EVERY_S
            if not self._server.is_running():
                self._start()

    def _start(self) -> None:
        logger.warning("the embedded database has ended; starting it again")
        # In a session of its own, so that Ctrl-C reaches only the supervisor. It prints its own errors.
        self._starter = subprocess.Popen(  # noqa: S603 - the command is our own
            STARTER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def _see_starter(self, starter: subprocess.Popen[bytes]) -> None:
        if starter.poll() is None:
            return
        self._starter = None
        if self._server.is_running():
            self._n_failures = 0
            logger.warning("the embedded database is running again")
        else:
            self._n_failures += 1
            delay_s = restart_delay_s(self._n_failures)
            self._look_after = time.monotonic() + delay_s
            logger.warning("the embedded database did not start; trying again in %.1f s", delay_s)

    def stop(self) -> None:
        """End the process that is starting the server, if there is one; the server's last user stops the server."""
        if self._starter is not None:
            self._starter.kill()
            self._starter.wait()


@contextmanager
def watched_database(data_dir: Path) -> Iterator[DatabaseWatch]:
    """Yield a watch over a data folder's server."""
    watch = DatabaseWatch(data_dir)
    try:
        yield watch
    finally:
        watch.stop()
