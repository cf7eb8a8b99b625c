"""The log and the figures of a process, set up by its settings. Called by `app.cli.serve`, `worker` and `web`."""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import start_http_server
from sqlalchemy.engine import make_url

from app.cli.workspace import own_folder
from app.config.settings import Settings
from app.telemetry import tracing
from app.telemetry.ended import add_up_ended
from app.telemetry.logs import configure
from app.telemetry.metrics import FOLDER, REGISTRY

logger = logging.getLogger(__name__)

ADDS_UP_EVERY_S = 60.0
FIGURES_PREFIX = "plumbline-counted-"


def configure_log(settings: Settings, process: str) -> None:
    """Have this process log in the form of the settings, without their secrets, and send traces if asked to."""
    addresses = (
        settings.database_url,
        settings.direct_database_url,
        settings.smtp_url,
    )
    passwords = (None if url is None else make_url(url).password for url in addresses)
    if settings.tracing and process != "serve":
        tracing.install(process)
    configure(settings.log_format, process, (settings.admin_token, settings.oidc_client_secret, *map(_text, passwords)))


def _text(password: object) -> str | None:
    return None if password is None else str(password)


@contextmanager
def shared_figures() -> Iterator[None]:
    """Have the processes that this one starts keep their figures in one folder, for as long as the block runs."""
    if os.environ.get(FOLDER):
        yield
        return
    with own_folder(FIGURES_PREFIX) as folder:
        os.environ[FOLDER] = str(folder)
        try:
            yield
        finally:
            del os.environ[FOLDER]


class FiguresOfEnded:
    """Adds up, each minute, the counters of this server's processes that have ended since."""

    def __init__(self, every_s: float = ADDS_UP_EVERY_S) -> None:
        self._every_s = every_s
        self._next_at = time.monotonic() + every_s

    def tend(self) -> None:
        """Do what is due now; it takes milliseconds. Failures are retried."""
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + self._every_s
        try:
            add_up_ended(Path(os.environ[FOLDER]))
        except OSError as error:
            logger.warning("the metrics of processes that have ended could not be aggregated: %s", error)


def answer_figures(settings: Settings) -> None:
    """Answer /metrics of a worker by itself, where a port is set for it."""
    if settings.metrics_port is not None:
        start_http_server(settings.metrics_port, settings.host, REGISTRY)
