"""Disks that are full while a copy is made or brought back: one sentence, nothing lost, and well when there is room."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from app.config.settings import Settings
from app.db.embedded.running import running_server
from app.db.migrate import upgrade
from tests.cases.exports import all_exports, exports_of_folder
from tests.cases.offline import plumbline
from tests.cases.running_server import fresh_data_dir
from tests.cases.small_disk import fill, small_disk
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import open_site

pytestmark = pytest.mark.faults

MIB = 1 << 20
PRINTED = "The last that was printed:"


@dataclass(frozen=True)
class Source:
    """A server's folder, what it shows, and whole copies of its rows and its files."""

    data_dir: Path
    exports: dict[str, bytes]
    copies: Path


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    """A server with two publications, and copies of it."""
    with fresh_data_dir() as data_dir:
        with running_server(data_dir) as url:
            upgrade(url)
            with open_site(url, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
                declare(site)
                for rows in (BASE, GOOD):
                    send(site, rows)
                site.work()
                exports = all_exports(site.http)
        copies = data_dir.parent / "copies"
        copies.mkdir()
        for name, how in (("rows", ()), ("files", ("--base",))):
            done = command(data_dir, "backup", *how, str(copies / name))
            assert done.returncode == 0, done.stderr
        yield Source(data_dir, exports, copies)


@pytest.fixture
def disk() -> Iterator[Path]:
    """A small disk."""
    with fresh_data_dir() as folder, small_disk(folder.parent / "disk") as mounted:
        yield mounted


def command(data_dir: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of `plumbline db` on a data folder."""
    return plumbline("db", *arguments, PLUMBLINE_DATA_DIR=str(data_dir))


def is_one_sentence(refused: "subprocess.CompletedProcess[str]") -> bool:
    """Say whether a command failed with one line that names the reason; what a program printed may follow it."""
    reported = refused.stderr.strip().splitlines()
    names_it = "No space left on device" in reported[0] or "the disk is full" in reported[0]
    return refused.returncode == 2 and names_it and reported[1:2] in ([], [PRINTED])


@pytest.mark.parametrize("how", [(), ("--base",)], ids=["rows", "files"])
def test_a_copy_for_which_there_is_no_room_leaves_nothing(source: Source, disk: Path, how: Sequence[str]) -> None:
    """And the same command makes it when there is."""
    filler = fill(disk, leaving=MIB // 8)
    refused = command(source.data_dir, "backup", *how, str(disk / "copy"))
    left = sorted(path.name for path in disk.iterdir())
    filler.unlink()
    created = command(source.data_dir, "backup", *how, str(disk / "copy"))
    whole = command(source.data_dir, "verify", str(disk / "copy"))

    assert is_one_sentence(refused), refused.stderr
    assert left == ["filler"]
    assert (created.returncode, whole.returncode) == (0, 0), created.stderr + whole.stderr


@pytest.mark.parametrize("leaving_mib", [1, 30])
@pytest.mark.parametrize("name", ["rows", "files"])
def test_a_restoring_for_which_there_is_no_room_leaves_nothing(
    source: Source, disk: Path, name: str, leaving_mib: int
) -> None:
    """Neither half a database nor a copy that suffered; the same command brings all of it when there is room."""
    filler = fill(disk, leaving=leaving_mib * MIB)
    refused = command(disk / "data", "restore", str(source.copies / name))
    filler.unlink()
    done = command(disk / "data", "restore", str(source.copies / name))

    assert is_one_sentence(refused), refused.stderr
    assert done.returncode == 0, done.stderr
    assert exports_of_folder(disk / "data") == source.exports


def test_a_log_for_which_there_is_no_room_is_gone_on_with(source: Source, disk: Path) -> None:
    """The receiver ends and says why; started again when there is room it goes on, for the server keeps it."""
    with running_server(source.data_dir):
        filler = fill(disk, leaving=MIB)
        refused = command(source.data_dir, "wal", str(disk / "wal"))
        filler.unlink()
        again = [sys.executable, "-m", "app.cli", "db", "wal", str(disk / "wal")]
        receiving = subprocess.Popen(again, env={**os.environ, "PLUMBLINE_DATA_DIR": str(source.data_dir)})
        try:
            comes = eventually(lambda: has_active_slot(source.data_dir), 60)
        finally:
            receiving.terminate()
            ended = receiving.wait(60)

    assert refused.returncode == 2
    assert "The log of the database is no longer received" in refused.stderr
    assert "No space left on device" in refused.stderr
    assert comes
    assert ended == 0
    assert list((disk / "wal").glob("0*"))


def has_active_slot(data_dir: Path) -> bool:
    """Say whether somebody receives the log now."""
    with running_server(data_dir) as url, psycopg.connect(url) as connection:
        query = "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'plumbline_wal' AND active"
        return connection.execute(query).fetchall() == [(1,)]


def test_rows_that_find_no_room_in_a_database_leave_it_empty(source: Source, disk: Path) -> None:
    """The disk is full in the middle of the one transaction; the database stays, and takes them when there is room."""
    with running_server(disk / "data"):
        pass
    filler = fill(disk, leaving=2 * MIB)
    refused = command(disk / "data", "restore", str(source.copies / "rows"))
    filler.unlink()
    done = command(disk / "data", "restore", str(source.copies / "rows"))

    assert is_one_sentence(refused), refused.stderr
    assert "the database is as empty as before" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert exports_of_folder(disk / "data") == source.exports
