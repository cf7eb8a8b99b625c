"""Makes the cluster of the embedded Postgres, and refuses one that it cannot serve. Called by `embedded.server`."""

import os
from pathlib import Path

from app.db.embedded.account import Account, Surroundings, run_as
from app.db.embedded.binaries import MAJOR_VERSION, find_programs
from app.db.embedded.database import OWNER, RUNTIME, make_password, password_file
from app.db.embedded.place import Place, appearing
from app.db.embedded.trouble import OTHERWISE, explained, trouble
from app.errors import EmbeddedDatabaseError

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
