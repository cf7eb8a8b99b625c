"""The log, the figures and the scratch folder of a process, set up by its settings."""

import fcntl
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import start_http_server
from sqlalchemy.engine import make_url

from app import telemetry
from app.config import Settings
from app.telemetry import FOLDER, REGISTRY, add_up_ended, configure

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
        telemetry.install(process)
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

    def check(self) -> None:
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


# The folder in which a web process keeps what it receives, and that of a server's figures: removed at the end. A
# process that is killed removes nothing; the lock on its folder ends with it, and so the next one that starts knows
# what is nobody's any more.

PREFIX = "plumbline-web-"

LOCK = "lock"

# Between the making of a folder and that of its lock.
YOUNG_S = 60.0


@contextmanager
def own_temporary_folder() -> Iterator[Path]:
    """Have all temporary files of this process in one folder, which is removed at the end."""
    parent = tempfile.gettempdir()
    with own_folder(PREFIX) as folder:
        tempfile.tempdir = str(folder)
        try:
            yield folder
        finally:
            tempfile.tempdir = parent


@contextmanager
def own_folder(prefix: str) -> Iterator[Path]:
    """Make a folder of this process that is removed at the end, and remove those that ended processes left."""
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    # The lock is not inherited by the processes that this one starts.
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path, prefix: str = PREFIX) -> None:
    """Remove the folders of our own user's processes that have ended without doing so."""
    with os.scandir(parent) as entries:
        folders = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(prefix)
            and entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        ]
    for folder in folders:
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.stat().st_mtime > YOUNG_S
    return True
