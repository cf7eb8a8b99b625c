"""Who the embedded Postgres runs as, and running a program as them. Called by the other modules beside it.

Postgres refuses to run as root, so under root an unprivileged user runs it.
"""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.db.embedded.trouble import OTHERWISE
from app.errors import EmbeddedDatabaseError

PREFERRED_NAMES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """A user of this machine; `is_other` when we are root and become that user to start the server."""

    uid: int
    gid: int
    name: str
    is_other: bool


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
