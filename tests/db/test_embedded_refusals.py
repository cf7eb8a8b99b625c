"""Where the embedded Postgres cannot be made or started, it says what is wrong, where, and what to do."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from sqlalchemy import make_url

from app.db.embedded import running_server
from app.errors import EmbeddedDatabaseError
from tests.cases.embedded_user import (
    cluster_with_a_row,
    copy_of,
    give_to_ordinary_user,
    ordinary_user,
    refusal,
)
from tests.cases.running_server import fresh_data_dir


@pytest.fixture(scope="module")
def original() -> Iterator[Path]:
    """A data folder that the tests copy."""
    with cluster_with_a_row() as data_dir:
        yield data_dir


@pytest.fixture
def data_dir(original: Path) -> Iterator[Path]:
    """A data folder with a cluster that does not run."""
    with copy_of(original) as folder:
        yield folder


def error_of(data_dir: Path) -> str:
    """Return what we are told when the database of a folder cannot be used."""
    with pytest.raises(EmbeddedDatabaseError) as caught, running_server(data_dir):
        pass
    return str(caught.value)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Put a small file system on a folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def may_mount() -> bool:
    """Say whether we may mount file systems, as root on a machine of its own may."""
    with fresh_data_dir() as folder:
        try:
            with small_disk(folder, "1m"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def fill(disk: Path) -> None:
    """Write until no byte more fits."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as filling:
        while filling.write(b"x" * 4096):
            pass


REASON = {"full disk": r"where 1?2?\d MiB are free", "file limit": "File too large"}


def test_a_file_in_the_place_of_the_folder_is_told() -> None:
    """The path and what to do about it are in the message."""
    with fresh_data_dir() as folder:
        folder.write_text("")
        message = error_of(folder)

    assert message.startswith(f"{folder} is a file, but must be a folder: move it away.")


def test_a_file_above_the_folder_is_told() -> None:
    """A folder cannot be made in a file."""
    with fresh_data_dir() as folder:
        folder.write_text("")
        message = error_of(folder / "data")

    assert f"in {folder / 'data'}: " in message
    assert "Not a directory" in message


def test_an_unwritable_folder_is_told() -> None:
    """An ordinary user who may not write there is told so, before anything is made."""
    with fresh_data_dir() as folder:
        give_to_ordinary_user(folder)
        folder.chmod(0o555)
        message = refusal(folder, *ordinary_user())
        left = list(folder.iterdir())

    assert f"The data folder could not be used in {folder}: " in message
    assert "Permission denied" in message
    assert left == []


def test_a_folder_that_cannot_be_made_is_told() -> None:
    """The folder above is closed to the ordinary user."""
    with fresh_data_dir() as folder:
        give_to_ordinary_user(folder)
        folder.chmod(0o555)
        message = refusal(folder / "new", *ordinary_user())

    assert f"in {folder / 'new'}: " in message
    assert "Permission denied" in message


def test_a_folder_that_the_server_cannot_reach_is_named() -> None:
    """A closed folder above the data folder is named, with what to do."""
    with fresh_data_dir() as folder:
        closed = folder.parent / "closed"
        closed.mkdir(mode=0o700 if os.geteuid() == 0 else 0o000)
        message = error_of(closed / "data")
        closed.chmod(0o700)

    assert str(closed) in message
    assert "PLUMBLINE_DATA_DIR" in message


def test_a_database_of_a_user_who_cannot_run_it_is_told() -> None:
    """Root's own cluster cannot be served by root, and another's not by an ordinary user."""
    with fresh_data_dir() as folder:
        folder.mkdir()
        # Root's in both cases, as nobody else may make a folder of another user.
        (folder / "cluster").symlink_to("/usr")
        message = error_of(folder)

    assert f"The database in {folder / 'cluster'} belongs to" in message


# A real full disk where we may mount one, and everywhere a limit on files, which fails in the same places.
SHORTAGES = ("full disk", "file limit") if may_mount() else ("file limit",)


@pytest.mark.parametrize("shortage", SHORTAGES)
def test_a_new_database_that_does_not_fit_is_told(shortage: str) -> None:
    """What to free is in the message, and nothing of the database stays."""
    with fresh_data_dir() as folder, small_disk(folder, "20m") if shortage == "full disk" else nullcontext():
        message = refusal(folder, max_file="2048" if shortage == "file limit" else "unlimited")
        left = [path.name for path in folder.iterdir() if path.is_dir()]

    assert "could not be made as the user" in message
    assert re.search(REASON[shortage], message)
    assert "initdb: removing contents" in message
    assert left == []


@pytest.mark.parametrize("shortage", SHORTAGES)
def test_a_database_that_has_no_room_to_start_is_told(original: Path, shortage: str) -> None:
    """Postgres cannot even note its pid; its log, for which there may be no room either, is told as far as it goes."""
    with fresh_data_dir() as folder, small_disk(folder, "100m") if shortage == "full disk" else nullcontext():
        subprocess.run(["cp", "-a", f"{original}/.", folder], check=True)
        if shortage == "full disk":
            fill(folder)
        message = refusal(folder, max_file="0" if shortage == "file limit" else "unlimited")

    assert f"could not be started in {folder}, where " in message


def test_a_database_of_another_major_version_is_told() -> None:
    """Which version it is of and how to bring it over is in the message."""
    with fresh_data_dir() as folder:
        folder.mkdir()
        give_to_ordinary_user(folder / "cluster")
        (folder / "cluster/PG_VERSION").write_text("15\n")
        message = error_of(folder)

    assert f"The database in {folder / 'cluster'} was made by Postgres 15" in message
    assert "pg_dump" in message


def test_a_folder_that_is_no_database_is_told() -> None:
    """Somebody's folder in the place of ours is not touched."""
    with fresh_data_dir() as folder:
        folder.mkdir()
        give_to_ordinary_user(folder / "cluster")
        message = error_of(folder)
        left = list((folder / "cluster").iterdir())

    assert "is not a database of Postgres: move it away" in message
    assert left == []


def test_a_refusal_of_the_server_is_told_with_its_log(data_dir: Path) -> None:
    """The end of the log says what Postgres itself found wrong."""
    with (data_dir / "cluster/postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    message = error_of(data_dir)

    assert f"could not be started in {data_dir}, where" in message
    assert 'unrecognized configuration parameter "no_such_setting"' in message


def test_an_old_refusal_is_not_told_again(data_dir: Path) -> None:
    """Only what this start printed is shown."""
    settings = data_dir / "cluster/postgresql.conf"
    good = settings.read_text()
    settings.write_text(f"{good}first_mistake = 1\n")
    error_of(data_dir)
    settings.write_text(f"{good}second_mistake = 1\n")

    assert "first_mistake" not in error_of(data_dir)


def test_a_socket_folder_of_somebody_else_is_not_trusted(data_dir: Path) -> None:
    """A folder that others may enter could hold their socket in the place of ours."""
    with running_server(data_dir) as address:
        socket_folder = Path(str(make_url(address).query["host"]))
    socket_folder.mkdir(mode=0o755)
    message = error_of(data_dir)
    socket_folder.rmdir()

    assert f"{socket_folder}, where the socket of the embedded Postgres belongs, is not a private folder" in message
