"""The embedded Postgres comes back after every kind of violent end, and harms no process that is not its own."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from app.db.embedded import running_server
from tests.cases.embedded_user import (
    cluster_with_a_row,
    copy_of,
    database_user,
    kept_number,
    kill_postmaster,
    kill_servers_of,
    postmaster_of,
    refusal,
    servers_of,
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A data folder that the tests share: each leaves it stopped, with the row it was made with."""
    with cluster_with_a_row() as folder:
        yield folder


@pytest.fixture
def data_dir(cluster: Path) -> Iterator[Path]:
    """The shared data folder; a server that a failed test left behind is killed."""
    yield cluster
    kill_servers_of(cluster)


@pytest.fixture
def own_data_dir(cluster: Path) -> Iterator[Path]:
    """A data folder whose settings a test may change."""
    with copy_of(cluster) as folder:
        yield folder


def crash(data_dir: Path) -> None:
    """Store a row and end the server and its user as a power cut would."""
    with database_user(data_dir) as user:
        with psycopg.connect(user.read_line()) as connection:
            connection.execute("DROP TABLE IF EXISTS stored")
            connection.execute("CREATE TABLE stored AS SELECT 8 AS number")
        user.kill()
    kill_postmaster(data_dir)


@contextmanager
def innocent(data_dir: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process of the server's user that has, by the files of a crashed server, the pid of this server."""
    program = data_dir.parent / name
    program.write_text("#!/bin/sh\nread line\n")
    program.chmod(0o755)
    owner = (data_dir / "cluster").stat()
    as_owner = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    with subprocess.Popen([program], cwd=data_dir.parent, stdin=subprocess.PIPE, **as_owner) as process:
        note = data_dir / "cluster/postmaster.pid"
        _, *further = note.read_text().splitlines(keepends=True)
        note.write_text("".join([f"{process.pid}\n", *further]))
        socket_lock = Path(further[3].strip()) / ".s.PGSQL.5432.lock"
        socket_lock.write_text("".join([f"{process.pid}\n", *further[:4]]))
        yield process
        process.terminate()


def make_recovery_slow(data_dir: Path) -> None:
    """Crash the server so that its recovery first asks an archive for each file, which takes 3 s to say no."""
    crash(data_dir)
    cluster = data_dir / "cluster"
    with (cluster / "postgresql.auto.conf").open("a") as settings:
        settings.write("restore_command = 'sleep 3; false'\nhot_standby = off\n")
    (cluster / "recovery.signal").touch()


def test_what_was_committed_survives_a_killed_server(data_dir: Path) -> None:
    """The next start recovers it."""
    crash(data_dir)
    with running_server(data_dir) as address, psycopg.connect(address) as connection:
        actual = connection.execute("SELECT number FROM stored").fetchone()

    assert actual == (8,)


def test_a_server_that_is_killed_in_use_hangs_nobody_and_is_started_by_the_next(data_dir: Path) -> None:
    """Its connections end with an error, and it recovers beside a process that still counts as a user."""
    with running_server(data_dir) as address, psycopg.connect(address) as connection:
        kill_postmaster(data_dir)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        with running_server(data_dir) as again:
            actual = kept_number(again)

    assert (actual, servers_of(data_dir)) == (7, [])


def test_a_process_of_a_killed_server_that_lingers_is_ended(data_dir: Path) -> None:
    """A frozen connection of the dead server would keep its memory in use."""
    with running_server(data_dir) as address, psycopg.connect(address) as connection:
        frozen = psutil.Process(connection.info.backend_pid)
        frozen.suspend()
        postmaster_of(data_dir).kill()
        with running_server(data_dir) as again:
            actual = kept_number(again)

    assert (actual, frozen in servers_of(data_dir)) == (7, False)


def test_a_busy_process_of_a_killed_server_is_ended(data_dir: Path) -> None:
    """A query that never looks up does not notice the end of its server by itself."""
    with running_server(data_dir) as address:
        connection = psycopg.connect(address)
        connection.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 1000000000000)")
        postmaster_of(data_dir).kill()
        with running_server(data_dir) as again:
            actual = kept_number(again)
        connection.close()

    assert actual == 7


def test_a_pid_that_now_belongs_to_another_postgres_harms_neither(data_dir: Path) -> None:
    """A process that works in another folder is not ours, also where it is called postgres: it lives on."""
    crash(data_dir)
    with innocent(data_dir, "postgres") as process:
        with running_server(data_dir) as address:
            actual = kept_number(address)
        survives = process.poll() is None

    assert (actual, survives) == (7, True)


def test_a_pid_that_is_reused_while_the_server_is_in_use_harms_nobody(data_dir: Path) -> None:
    """Going stops the server, never the process that has its pid now."""
    with ExitStack() as bystanders:
        with running_server(data_dir):
            kill_postmaster(data_dir)
            process = bystanders.enter_context(innocent(data_dir, "bystander"))
        survives = process.poll() is None

    assert survives


@pytest.mark.slow
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_recovery_of_more_than_ten_seconds_is_waited_for(own_data_dir: Path, *, interrupted: bool) -> None:
    """A start takes as long as it must, also when the process that began it was killed meanwhile."""
    make_recovery_slow(own_data_dir)
    started_at = time.monotonic()
    if interrupted:
        with database_user(own_data_dir) as user:
            while not servers_of(own_data_dir):
                os.sched_yield()
            user.kill()
    with running_server(own_data_dir) as address:
        took_s = time.monotonic() - started_at
        actual = kept_number(address)

    assert actual == 7
    assert took_s > 10


@pytest.mark.slow
def test_ctrl_c_during_a_long_recovery_stops_the_server(own_data_dir: Path) -> None:
    """Whoever does not want to wait leaves nothing behind."""
    make_recovery_slow(own_data_dir)
    with database_user(own_data_dir) as user:
        while not servers_of(own_data_dir):
            os.sched_yield()
        os.killpg(user.process.pid, signal.SIGINT)
        user.leave()

    assert servers_of(own_data_dir) == []


@pytest.mark.slow
def test_a_server_out_of_sight_is_not_doubled(data_dir: Path) -> None:
    """Where somebody unseen holds the server's lock, as in another container, no second server is started."""
    with (data_dir / "server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        message = refusal(data_dir)

    assert "cannot see" in message
    assert servers_of(data_dir) == []
