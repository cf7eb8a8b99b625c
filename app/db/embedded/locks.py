"""Locks between the processes that use one data folder. Called by `embedded` and `embedded.server`.

They are `flock`s: the system frees them when their last holder dies, however it dies.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def lock_file(path: Path) -> Iterator[int]:
    """Yield an open lock file, which holds no lock yet. Closing it frees the lock unless a child inherited it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock exclusively, once everybody else has released it."""
    with lock_file(path) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield


def share(fd: int) -> None:
    """Hold a lock together with others."""
    fcntl.flock(fd, fcntl.LOCK_SH)


def try_alone(fd: int) -> bool:
    """Take a lock exclusively if nobody else holds it; if somebody does, a shared lock that we held may be lost."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
