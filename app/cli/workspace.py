"""The folder in which a web process keeps what it receives, and that of a server's figures: removed at the end.

Used by `app.cli.web` and `app.cli.observing`. A process that is killed removes nothing; the lock on its folder ends
with it, and so the next one that starts knows what is nobody's any more.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
