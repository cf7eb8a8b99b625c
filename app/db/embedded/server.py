"""Starts, finds and stops the embedded Postgres. Called by `embedded`, which holds the start lock meanwhile."""

import shlex
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from app.db.embedded.account import Account, Surroundings, run_as, server_account
from app.db.embedded.binaries import find_programs
from app.db.embedded.cluster import ensure_cluster
from app.db.embedded.database import database_url, ensure_database
from app.db.embedded.locks import lock_file, try_alone
from app.db.embedded.place import (
    PORT,
    Place,
    check_private,
    check_reachable,
    make_place,
    make_socket_folder,
    remove_socket,
    remove_socket_folders,
)
from app.db.embedded.processes import end_all, find_postmaster, server_processes
from app.db.embedded.trouble import UNUSABLE, explained, tail, trouble

PG_CTL_WAITS_S = 300
# For a server that runs but is not recovering, and yet cannot be spoken to.
PATIENCE_S = 30
LINGERS_S = 3
LOOKS_EVERY_S = 0.05
MAX_LOG_BYTES = 4 * 1024 * 1024
NOTED_SOCKET_LINE = 4  # of postmaster.pid, counted from 0
TOO_MANY = "too many clients"  # every connection is taken: the server runs, and its database is there since its start
NOT_YET = "the database system is"  # starting up, in recovery mode, not yet accepting connections, shutting down


@dataclass(frozen=True)
class Server:
    """A cluster and who runs it."""

    place: Place
    account: Account

    def processes(self) -> list[psutil.Process]:
        """Return its living processes."""
        return server_processes(self.place.cluster, self.place.label, self.account)

    def is_gone(self) -> bool:
        """Say whether no process of it lives, also none that we cannot see."""
        with lock_file(self.place.server_lock) as lock:
            return try_alone(lock)

    def noted_socket_folder(self) -> Path:
        """Return where its socket is. Raises LookupError while it has noted none."""
        with suppress(FileNotFoundError):
            lines = (self.place.cluster / "postmaster.pid").read_text("utf-8", "surrogateescape").splitlines()
            # Postgres writes the file with this line empty, and again when it listens.
            if len(lines) > NOTED_SOCKET_LINE and lines[NOTED_SOCKET_LINE]:
                return Path(lines[NOTED_SOCKET_LINE])
        raise LookupError("the server has not yet noted its socket")


def make_server(data_dir: Path) -> Server:
    """Return the server of a data folder, which is made if it is not there."""
    with explained(UNUSABLE, data_dir):
        place = make_place(data_dir)
        server = Server(place, server_account(place.cluster))
        check_reachable(server.place, server.account)
    return server


def ensure_running(server: Server) -> str:
    """Return the address of the server's database once it answers; it is made and started if need be.

    A server that recovers is waited for as long as it does: stopping it would only lose what it has done.
    """
    with explained("The embedded database could not be started", server.place.folder):
        ensure_cluster(server.place, server.account)
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            processes = server.processes()
            if find_postmaster(processes) is not None:
                socket_folder = _wait_for_answer(server)
                if socket_folder is not None:
                    return database_url(socket_folder, server.place.cluster)
            else:
                end_all(processes, LINGERS_S)
                if not _start_unless_unseen(server):
                    _pause(server, give_up_at, "A server that this process cannot see (in another container?) runs")


def _wait_for_answer(server: Server) -> Path | None:
    """Return the folder of the server's socket once it answers, or None when the server ended instead."""
    give_up_at = time.monotonic() + PATIENCE_S
    while find_postmaster(server.processes()) is not None:
        problem = ""
        try:
            socket_folder = server.noted_socket_folder()
            check_private(socket_folder, server.account)
            ensure_database(socket_folder, server.place.cluster)
        except (LookupError, FileNotFoundError, psycopg.OperationalError) as error:
            problem = str(error)
            if TOO_MANY in problem:
                return server.noted_socket_folder()
        else:
            return socket_folder
        if NOT_YET in problem:
            give_up_at = time.monotonic() + PATIENCE_S
        _pause(server, give_up_at, f"The embedded database runs but does not answer ({problem})")
    return None


def _pause(server: Server, give_up_at: float, what: str) -> None:
    if time.monotonic() > give_up_at:
        raise trouble(what, server.place.folder, tail(server.place.log))
    time.sleep(LOOKS_EVERY_S)


def _start_unless_unseen(server: Server) -> bool:
    """Start the server, unless one runs that we do not see; False in this case."""
    with lock_file(server.place.server_lock) as lock:
        if not try_alone(lock):
            return False
        # Now it is proven that nobody serves the cluster, and until the server inherits the lock nobody else starts.
        socket_folder = make_socket_folder(server.place, server.account)
        _remove_stale_notes(server.place, socket_folder)
        _start(server, socket_folder, lock)
    return True


def _remove_stale_notes(place: Place, socket_folder: Path) -> None:
    """Remove the files by which Postgres would take whoever has the pid of its dead predecessor for a server."""
    (place.cluster / "postmaster.pid").unlink(missing_ok=True)
    remove_socket(socket_folder)


def _start(server: Server, socket_folder: Path, lock: int) -> None:
    log = server.place.log
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_name("server.log.1"))
    n_old_bytes = log.stat().st_size if log.exists() else 0
    options = shlex.join(_postgres_options(server, socket_folder))
    started = _pg_ctl(server, ["start", "-s", "-l", log.name, "-o", options], inherited=(lock,))
    if started.returncode != 0 and find_postmaster(server.processes()) is None:
        printed = tail(log, n_old_bytes)
        raise trouble("The embedded database could not be started", server.place.folder, printed or started.stdout)


def _postgres_options(server: Server, socket_folder: Path) -> Sequence[str]:
    """Return what must hold whatever postgresql.conf says: one private socket and no port."""
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{socket_folder}"',
        "unix_socket_permissions": "0700",
        "port": str(PORT),
        "cluster_name": server.place.label,
        "logging_collector": "off",
    }
    # pg_ctl finds the folder in PGDATA, the name of which its shell cannot misread; here it is for `ps`.
    return ["-D", str(server.place.cluster), *(f"--{name}={value}" for name, value in settings.items())]


def stop(server: Server) -> None:
    """Stop the server in order; afterwards no process of it lives. One that we cannot see is not ours to stop."""
    began_at = time.monotonic()
    while not server.is_gone():
        processes = server.processes()
        waited_s = time.monotonic() - began_at
        if not processes and waited_s > LINGERS_S:
            return
        if waited_s > PG_CTL_WAITS_S:
            raise trouble("The embedded database could not be stopped", server.place.folder, tail(server.place.log))
        _end(server, processes)
    if server.place.cluster.exists():
        remove_socket_folders(server.place, server.account)


def _end(server: Server, processes: Sequence[psutil.Process]) -> None:
    if find_postmaster(processes) is None:
        end_all(processes, LINGERS_S)
    else:
        _pg_ctl(server, ["stop", "-s", "-m", "fast"])
    time.sleep(LOOKS_EVERY_S)


def _pg_ctl(
    server: Server, arguments: Sequence[str], *, inherited: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[str]:
    programs = find_programs(server.place, server.account)
    cluster = server.place.cluster
    surroundings = Surroundings(cluster, {"PGDATA": str(cluster)}, inherited)
    return run_as(server.account, [programs / "pg_ctl", *arguments, "-w", "-t", str(PG_CTL_WAITS_S)], surroundings)
