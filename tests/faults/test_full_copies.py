"""Disks that are full while a copy is made or brought back: one sentence, nothing lost, and well when there is room."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config import Settings
from app.db.embedded import running_server
from app.db.migrate import upgrade
from tests.cases.exports import all_exports, exports_of_folder
from tests.cases.offline import plumbline
from tests.cases.running_server import fresh_data_dir
from tests.cases.small_disk import fill, small_disk
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import open_site

pytestmark = pytest.mark.faults

MIB = 1 << 20


@dataclass(frozen=True)
class Source:
    """A server's folder, what it shows, and a whole copy of it."""

    data_dir: Path
    exports: dict[str, bytes]
    copy: Path


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    """A server with two publications, and a copy of it."""
    with fresh_data_dir() as data_dir:
        with running_server(data_dir) as url:
            upgrade(url)
            with open_site(url, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
                declare(site)
                for rows in (BASE, GOOD):
                    send(site, rows)
                site.work()
                exports = all_exports(site.http)
        copy = data_dir.parent / "copy"
        done = command(data_dir, "backup", str(copy))
        assert done.returncode == 0, done.stderr
        yield Source(data_dir, exports, copy)


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
    names_it = "No space left on device" in reported[0] or " MiB are free" in reported[0]
    return refused.returncode == 2 and names_it and all(line.startswith("    ") for line in reported[1:])


def test_a_copy_for_which_there_is_no_room_leaves_nothing(source: Source, disk: Path) -> None:
    """And the same command makes it when there is."""
    filler = fill(disk, leaving=MIB // 8)
    refused = command(source.data_dir, "backup", str(disk / "copy"))
    left = sorted(path.name for path in disk.iterdir())
    filler.unlink()
    created = command(source.data_dir, "backup", str(disk / "copy"))
    whole = command(source.data_dir, "verify", str(disk / "copy"))

    assert is_one_sentence(refused), refused.stderr
    assert left == ["filler"]
    assert (created.returncode, whole.returncode) == (0, 0), created.stderr + whole.stderr


@pytest.mark.parametrize("leaving_mib", [1, 30])
def test_a_restoring_for_which_there_is_no_room_leaves_nothing(source: Source, disk: Path, leaving_mib: int) -> None:
    """Neither half a database nor a copy that suffered; the same command brings all of it when there is room."""
    filler = fill(disk, leaving=leaving_mib * MIB)
    refused = command(disk / "data", "restore", str(source.copy))
    filler.unlink()
    done = command(disk / "data", "restore", str(source.copy))

    assert is_one_sentence(refused), refused.stderr
    assert done.returncode == 0, done.stderr
    assert exports_of_folder(disk / "data") == source.exports


def test_rows_that_find_no_room_in_a_database_leave_it_empty(source: Source, disk: Path) -> None:
    """The disk is full in the middle of the one transaction; the database stays, and takes them when there is room."""
    with running_server(disk / "data"):
        pass
    filler = fill(disk, leaving=2 * MIB)
    refused = command(disk / "data", "restore", str(source.copy))
    filler.unlink()
    done = command(disk / "data", "restore", str(source.copy))

    assert is_one_sentence(refused), refused.stderr
    assert "the database is as empty as before" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert exports_of_folder(disk / "data") == source.exports
