"""A Postgres of one's own, of any version whose programs are there: with a port, a password and an ordinary role.

`make test-postgres` runs tests on it, and tests/faults its storm (FAULTS_PROGRAMS). It is started again when it ends,
as an operator's is.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType
from typing import Any

import psycopg

from app.db.embedded import Account, run_as, server_account
from tests.cases.running_server import fresh_data_dir
from tests.cases.waiting import eventually

# Where a test can cut the line to it: an address of this machine that nobody else uses.
AWAY = "127.0.0.77"
SUPERUSER, ROLE, PASSWORD = "postgres", "plumbline_owner", "not-a-secret"
RUNTIME = "plumbline"
# What a steward of a database gives: no superuser, but one that makes databases, as tests do. Tests that write
# a history which no program of ours would write must set its triggers aside.
GIVEN = f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{PASSWORD}'"
FOR_TESTS = f"GRANT SET ON PARAMETER session_replication_role TO {ROLE}"
PAUSE_S = 0.2


def address(port: int, database: str = ROLE, role: str = ROLE) -> str:
    """Return the address of a database on a server of this machine."""
    return f"postgresql://{role}:{PASSWORD}@127.0.0.1:{port}/{database}"


@contextmanager
def own_postgres(
    programs: Path, *, waits_for_disk: bool = True, environ: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[Path, str]]:
    """Yield the folder of a server whose files are in `cluster`, and the address of an empty database on it."""
    with fresh_data_dir(on_disk=waits_for_disk) as folder:
        folder.mkdir()
        _initialise(programs, server_account(folder / "cluster"), folder / "cluster")
        with serving(programs, folder / "cluster", waits_for_disk=waits_for_disk, environ=environ) as port:
            with psycopg.connect(address(port, "postgres", SUPERUSER), autocommit=True) as connection:
                connection.execute(GIVEN)
                connection.execute(FOR_TESTS)
                connection.execute(f"CREATE ROLE {RUNTIME} LOGIN PASSWORD '{PASSWORD}'")
                connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
            yield folder, address(port)


@contextmanager
def serving(
    programs: Path, cluster: Path, *, waits_for_disk: bool = True, environ: Mapping[str, str] = MappingProxyType({})
) -> Iterator[int]:
    """Run the server of a data directory, again whenever it ends, and yield its port once it answers."""
    port, log = free_port(), cluster.parent / "server.log"
    settings = {"port": str(port), "listen_addresses": f"127.0.0.1,{AWAY}", "unix_socket_directories": ""}
    if not waits_for_disk:
        settings |= dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes"), "off")
    command = [str(programs / "postgres"), "-D", str(cluster), *(f"--{name}={it}" for name, it in settings.items())]
    with _kept_running(command, server_account(cluster), log, {**os.environ, **environ}):
        assert eventually(lambda: _answers(address(port, "postgres", SUPERUSER)), 60), log.read_text()
        yield port


def free_port() -> int:
    """Return a port of this machine that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _initialise(programs: Path, account: Account, cluster: Path) -> None:
    cluster.mkdir(mode=0o700)
    secret = cluster.parent / "password"
    secret.write_text(PASSWORD)
    if account.is_other:
        os.chown(cluster, account.uid, account.gid)
    manner = ["--auth=scram-sha-256", f"--username={SUPERUSER}", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C"]
    created = run_as(account, [programs / "initdb", "-D", cluster, "--no-sync", *manner], cluster)
    assert created.returncode == 0, created.stdout


@contextmanager
def _kept_running(command: Sequence[str], account: Account, log: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Run the server, again whenever it ends, and stop it in order at the end (SIGINT: at once, rolling back)."""
    over, running = Event(), list[subprocess.Popen[bytes]]()
    identity: dict[str, Any] = {"user": account.uid, "group": account.gid} if account.is_other else {}

    def keep() -> None:
        with log.open("ab") as printed:
            while not over.is_set():
                running[:] = [
                    subprocess.Popen(command, stdout=printed, stderr=printed, cwd="/", env=environ, **identity)
                ]
                running[0].wait()
                over.wait(PAUSE_S)

    thread = Thread(target=keep)
    thread.start()
    try:
        yield
    finally:
        over.set()
        if running:
            running[0].send_signal(2)
        thread.join()


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        time.sleep(PAUSE_S)
        return False
    return True


def main(programs: Path, command: Sequence[str]) -> int:
    """Run a command on such a server, whose own programs are the first on its path."""
    with own_postgres(programs, waits_for_disk=False) as (_, url):
        environ = {"PLUMBLINE_TEST_DATABASE_URL": url, "PATH": f"{programs}:{os.environ['PATH']}"}
        return subprocess.run(command, env={**os.environ, **environ}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute(), sys.argv[2:]))
