"""What is done to two servers on one database while clients send: killed, stopped, cut off. Used by tests/faults."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import psycopg

from tests.cases.embedded_user import postmaster_of, servers_of
from tests.cases.running_server import RunningServer, command_of

SERVES = re.compile(r"postgres: .*plumbline\S* (\[local\]|127\.0\.0\.1)")
"""The title of a process that serves a connection to our database, over a socket or a port."""
GONE = (StopIteration, IndexError, psutil.Error)
"""The process is not there just now: another fault was quicker."""
AWAY = psycopg.OperationalError
"""The database is not there just now, or holds the lock for too long; what is not allowed is no such fault."""
INSIDE_COPY = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND query LIKE 'COPY score%' AND state = 'active'"
)
ALL_OTHERS = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def kinds_of_faults(
    one: RunningServer, other: RunningServer, data_dir: Path, url: str
) -> dict[str, Callable[[], None]]:
    """Return them by name; `url` is the owner's address of the database."""
    return {
        "kill a worker": lambda: _kill(lambda: one.child("worker")),
        "cut off inside COPY": lambda: _cut_off_inside_copy(url),
        "kill a web process": lambda: _kill(lambda: one.child("web")),
        "end every connection": lambda: _ask(url, ALL_OTHERS),
        "stop a worker for 3 s": lambda: _stop_for(3, lambda: other.child("worker")),
        "kill a backend": lambda: _kill(lambda: backend_of(data_dir)),
        "stop a backend for 1 s": lambda: _stop_for(1, lambda: backend_of(data_dir)),
        "kill the postmaster": partial(_kill, partial(postmaster_of, data_dir)),
    }


def _kill(find: Callable[[], psutil.Process]) -> None:
    with suppress(*GONE):
        find().kill()


def _stop_for(seconds: float, find: Callable[[], psutil.Process]) -> None:
    with suppress(*GONE):
        process = find()
        process.suspend()
        time.sleep(seconds)
        process.resume()


def backend_of(data_dir: Path) -> psutil.Process:
    """Return a process of Postgres that serves one of our connections."""
    return next(each for each in servers_of(data_dir) if SERVES.search(" ".join(command_of(each))))


def _cut_off_inside_copy(url: str) -> None:
    """End the connections that copy scores, while a lock keeps every COPY where it is."""
    with suppress(AWAY), psycopg.connect(url, connect_timeout=2) as connection:
        connection.execute("SET lock_timeout = '2s'")
        connection.execute("LOCK TABLE score IN SHARE MODE")
        time.sleep(0.5)
        connection.execute(INSIDE_COPY)


def _ask(url: str, query: str) -> None:
    with suppress(AWAY), psycopg.connect(url, connect_timeout=2) as connection:
        connection.execute(query)
