"""Restores a base backup, and the log after it, as the files of a server, up to the end of the log or an instant.

Called by `app.cli.backups`. For the embedded database the server is run until it has got there, so that what appears is
whole; for a Postgres of one's own the files are laid out, and its own start does the rest.
"""

import gzip
import os
import re
import shutil
import tarfile
import tempfile
import time
import zlib
from datetime import datetime
from pathlib import Path

from app.db.backup.note import Note, verify
from app.db.backup.programs import BackupError, complaint, find_program, run
from app.db.embedded.account import Account, Surroundings, run_as
from app.db.embedded.binaries import MAJOR_VERSION, find_programs
from app.db.embedded.locks import exclusive
from app.db.embedded.place import appearing, has_cluster
from app.db.embedded.server import make_server
from app.db.migrate import refuse_newer

WAITS_S = 24 * 3600
LOOKS_EVERY_S = 0.1
SEGMENT = re.compile(r"[0-9A-F]{24}(\.partial)?|[0-9A-F]{8}\.history")
MARK = "# Set by plumbline db restore; may be removed once the server has started.\n"


def recover_embedded(folder: Path, wal: Path | None, until: datetime | None, data_dir: Path) -> Note:
    """Make the embedded database of a data folder from a base backup, as it was at an instant or at the log's end.

    Raises BackupError; then the data folder holds no database, as before.
    """
    note = _suitable(folder, wal, until)
    if str(note.programs) != MAJOR_VERSION:
        raise BackupError(
            f"The backup in {folder} is of Postgres {note.programs}, and this plumbline brings {MAJOR_VERSION}: lay "
            "its files out with --into, for a Postgres of your own."
        )
    _refuse_cluster(data_dir)
    server = make_server(data_dir)
    with exclusive(server.place.start_lock):
        _refuse_cluster(data_dir)
        programs = find_programs(server.place, server.account)
        with appearing(server.place.cluster) as partial:
            _lay_out(folder, wal, until, partial)
            _give_to(server.account, partial)
            _run_recovery(server.account, programs, partial)
            _forget_recovery(partial)
    return note


def _refuse_cluster(data_dir: Path) -> None:
    if has_cluster(data_dir):
        raise BackupError(f"There is a database in {data_dir} already: name another folder by PLUMBLINE_DATA_DIR.")


def lay_out(folder: Path, wal: Path | None, until: datetime | None, target: Path) -> Note:
    """Make the data directory of a Postgres of one's own, which recovers when it is started. Raises BackupError."""
    note = _suitable(folder, wal, until)
    if target.exists():
        raise BackupError(f"{target} is there already: name a folder that is not, for it is made.")
    with appearing(target) as partial:
        _lay_out(folder, wal, until, partial)
    return note


def _suitable(folder: Path, wal: Path | None, until: datetime | None) -> Note:
    note = verify(folder)
    refuse_newer(note.schema_revision)
    if note.kind != "base":
        raise BackupError(f"The backup in {folder} is a dump, of one instant: only a base backup comes forward.")
    if until is not None and until < note.made_at:
        raise BackupError(
            f"The backup in {folder} was made at {note.made_at:%Y-%m-%dT%H:%M:%SZ}: it cannot be brought to an instant "
            "before, so take an older one."
        )
    if wal is not None and not _segments(wal):
        raise BackupError(f"There is no log of a database in {wal}: name the folder that plumbline db wal writes to.")
    return note


def _lay_out(folder: Path, wal: Path | None, until: datetime | None, partial: Path) -> None:
    _unpack(folder / "base.tar.gz", partial)
    _unpack(folder / "pg_wal.tar.gz", partial / "pg_wal")
    shutil.copyfile(folder / "backup_manifest", partial / "backup_manifest")
    program = find_program("pg_verifybackup", _major(partial), exactly=True)
    run(f"The backup in {folder} is not whole", [program, "--quiet", "--exit-on-error", partial])
    for segment in _segments(wal) if wal is not None else ():
        _copy_segment(segment, partial / "pg_wal")
    (partial / "recovery.signal").touch()
    # Everything is in pg_wal already; the server asks all the same for a command, which never finds more.
    settings = ["restore_command = 'false'"]
    if until is not None:
        settings += [f"recovery_target_time = '{until.isoformat()}'", "recovery_target_action = 'promote'"]
    with (partial / "postgresql.auto.conf").open("a") as opened:
        opened.write(MARK + "".join(f"{line}\n" for line in settings))


def _major(cluster: Path) -> int:
    return int((cluster / "PG_VERSION").read_text())


def _unpack(archive: Path, into: Path) -> None:
    into.mkdir(mode=0o700, exist_ok=True)
    try:
        with tarfile.open(archive) as opened:
            opened.extractall(into, filter="data")
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BackupError(f"{archive} cannot be unpacked, so it is no copy of a server's files: {error}.") from None
    except OSError as error:
        raise BackupError(f"{archive} could not be unpacked in {into}: {error.strerror}.") from None


def _segments(wal: Path) -> list[Path]:
    """Return the files of a log in order, ignoring other files."""
    return sorted(path for path in wal.glob("*") if SEGMENT.fullmatch(path.name) and path.is_file())


def _copy_segment(segment: Path, into: Path) -> None:
    """Copy a segment of the log, the last one too, which was still being written when its receiver ended."""
    whole = into / segment.name.removesuffix(".partial")
    if segment.name.endswith(".partial") and whole.exists():
        return
    shutil.copyfile(segment, whole)


def _give_to(account: Account, folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if account.is_other:
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


def _run_recovery(account: Account, programs: Path, cluster: Path) -> None:
    """Run the server, inaccessible to anybody, until it accepts connections, which is when recovery is complete."""
    sockets = Path(tempfile.mkdtemp(prefix="plumbline-recovery-", dir="/tmp"))
    log = cluster / "recovery.log"
    try:
        if account.is_other:
            os.chown(sockets, account.uid, account.gid)
        options = f"--listen_addresses= --unix_socket_directories={sockets} --hot_standby=off"
        _pg_ctl(account, programs, cluster, "start", "-l", log.name, "-o", options)
        # pg_ctl itself waits until the recovery has begun, not until it is over.
        while not _is_in_production(account, programs, cluster):
            if not _pg_ctl(account, programs, cluster, "status"):
                raise BackupError(f"The log does not lead there: {complaint(_text(log))}.")
            time.sleep(LOOKS_EVERY_S)
        if not _pg_ctl(account, programs, cluster, "stop", "-m", "fast"):
            raise BackupError(f"The restored server could not be stopped: {complaint(_text(log))}.")
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
    log.unlink(missing_ok=True)


def _is_in_production(account: Account, programs: Path, cluster: Path) -> bool:
    shown = run_as(account, [programs / "pg_controldata", cluster], Surroundings(cluster, {}))
    return any(line.startswith("Database cluster state:") and "in production" in line
               for line in shown.stdout.splitlines())  # fmt: skip


def _text(log: Path) -> str:
    return log.read_text("utf-8", "replace") if log.exists() else ""


def _pg_ctl(account: Account, programs: Path, cluster: Path, *arguments: str) -> str:
    """Return what pg_ctl prints, and nothing where it does not succeed."""
    command: list[str | Path] = [programs / "pg_ctl", *arguments, "-w", "-t", str(WAITS_S)]
    done = run_as(account, command, Surroundings(cluster, {"PGDATA": str(cluster)}))
    return done.stdout or "done" if done.returncode == 0 else ""


def _forget_recovery(cluster: Path) -> None:
    settings = cluster / "postgresql.auto.conf"
    settings.write_text(settings.read_text().partition(MARK)[0])
    for name in ("backup_manifest", "server.log"):
        (cluster / name).unlink(missing_ok=True)
