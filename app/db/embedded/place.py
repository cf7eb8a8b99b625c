"""The folders of the embedded Postgres: the data folder and the private one of its socket.

Called by the other modules beside it. Owners and modes change only of folders made here.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.db.embedded.account import Account, first_refused, user_name
from app.db.embedded.trouble import OTHERWISE
from app.errors import EmbeddedDatabaseError

PORT = 5432
# Postgres keeps paths in 1024 bytes, file names inside the cluster included.
MAX_PATH_BYTES = 900
# The smallest limit of the systems we run on (macOS; Linux has 107).
MAX_SOCKET_BYTES = 103
PARTIAL = ".partial"


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
