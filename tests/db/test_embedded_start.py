"""The embedded Postgres starts, cold and warm, in every kind of folder and as every kind of user."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from app.db.embedded import make_server, running_server
from app.db.engine import make_engine
from tests.cases.embedded_user import (
    cluster_with_a_row,
    copy_wheel,
    database_user,
    give_to_ordinary_user,
    kept_number,
    kill_servers_of,
    ordinary_user,
    postmaster_of,
    servers_of,
)
from tests.cases.running_server import fresh_data_dir


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A data folder that the tests share: each leaves it stopped, with the row it was made with."""
    with cluster_with_a_row() as folder:
        yield folder


@pytest.fixture
def data_dir(cluster: Path) -> Iterator[Path]:
    """The shared data folder; a server that a failed test left behind is killed."""
    yield cluster
    kill_servers_of(cluster)


@contextmanager
def moved(data_dir: Path, target: Path) -> Iterator[Path]:
    """Let a data folder be elsewhere for a while."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield data_dir.rename(target)
    finally:
        target.rename(data_dir)


def test_a_cold_start_makes_the_database() -> None:
    """A folder that is not there becomes a database in UTF-8, ordered by code points."""
    query = "SELECT current_database(), pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = %s"
    with fresh_data_dir() as folder, running_server(folder / "new") as address, psycopg.connect(address) as connection:
        actual = connection.execute(query, ["plumbline"]).fetchone()

    assert actual == ("plumbline", "UTF8", "C")


SETTINGS = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "wal_compression": "pglz",
}
"""No network, all durability, memory of a small machine."""


def test_a_warm_start_finds_the_rows_and_leaves_nothing(data_dir: Path) -> None:
    """The engine of the app connects to it, with the settings of our load, by a socket in a folder of its user alone.

    Whoever we are, the server's user is not root and in no group of root's. After the last user all is gone.
    """
    with running_server(data_dir) as address:
        socket_folder = Path(str(make_url(address).query["host"]))
        facts, server = socket_folder.stat(), postmaster_of(data_dir)
        status = Path(f"/proc/{server.pid}/status").read_text()
        groups = next(line for line in status.splitlines() if line.startswith("Groups:")).split()[1:]
        owner, user = server.uids().real, (*server.uids(), *server.gids())
        engine = make_engine(address, pool_size=1)
        with engine.connect() as connection:
            kept = connection.scalar(text("SELECT number FROM kept"))
            rows = connection.execute(text("SELECT name, current_setting(name) FROM pg_settings")).all()
        engine.dispose()

    assert kept == 7
    assert (facts.st_uid, facts.st_mode & 0o777) == (owner, 0o700)
    assert {name: value for name, value in rows if name in SETTINGS} == SETTINGS
    assert 0 not in user
    assert "0" not in groups
    assert (servers_of(data_dir), socket_folder.exists()) == ([], False)


def test_folders_that_are_there_keep_owner_and_mode() -> None:
    """The data folder and the one above it are as they were."""
    with fresh_data_dir() as folder:
        folder.mkdir()
        folder.chmod(0o751)
        before = [(each.stat().st_uid, each.stat().st_gid, each.stat().st_mode) for each in (folder, folder.parent)]
        with running_server(folder):
            pass
        after = [(each.stat().st_uid, each.stat().st_gid, each.stat().st_mode) for each in (folder, folder.parent)]

    assert after == before


def test_an_ordinary_user_has_a_database_too() -> None:
    """A process without privileges starts a server that runs as its own user."""
    with fresh_data_dir() as folder:
        give_to_ordinary_user(folder)
        with database_user(folder, *ordinary_user()) as user:
            address = user.read_line()
            is_owners = postmaster_of(folder).uids().real == folder.stat().st_uid
            code = user.leave()

    assert (address[:13], is_owners, code) == ("postgresql://", True, 0)


def test_a_cluster_keeps_its_user() -> None:
    """Root runs the server of an ordinary user's cluster as this user."""
    with fresh_data_dir() as folder:
        give_to_ordinary_user(folder)
        with database_user(folder, *ordinary_user()) as user:
            user.read_line()
        with running_server(folder):
            is_owners = postmaster_of(folder).uids().real == folder.stat().st_uid

    assert is_owners


def test_programs_that_only_we_may_read_are_used() -> None:
    """Python and its packages may live in a closed folder, as root's own is."""
    with fresh_data_dir() as folder:
        closed = folder.parent / "closed"
        copy_wheel(closed)
        closed.chmod(0o700)
        with database_user(folder, environ={"PYTHONPATH": os.pathsep.join([str(closed), *sys.path])}) as user:
            address = user.read_line()
            program = Path(postmaster_of(folder).exe())

    assert (address[:13], program.is_relative_to(Path("/") if os.geteuid() else folder)) == ("postgresql://", True)


@pytest.mark.parametrize("name", ['it\'s $HOME `of` größe, "quotes" \\ 100%', "-D"])
def test_a_folder_may_have_any_name(data_dir: Path, name: str) -> None:
    """Spaces, quotes and what a shell would take for commands are letters like others."""
    with moved(data_dir, data_dir.with_name(name)) as folder, running_server(folder) as address:
        actual = kept_number(address)

    assert actual == 7


def test_a_very_long_path_is_no_obstacle(data_dir: Path) -> None:
    """The socket has a short path of its own, which the length of the data folder does not touch."""
    deep = data_dir.parent.joinpath(*(["d" * 200] * 4), "data")
    with moved(data_dir, deep) as folder, running_server(folder) as address:
        actual = kept_number(address)

    assert actual == 7


def test_a_link_to_the_folder_is_the_folder(data_dir: Path) -> None:
    """Two names of one folder are one server."""
    link = data_dir.parent / "link"
    link.symlink_to(data_dir)
    with running_server(data_dir) as address, running_server(link) as same:
        pass
    link.unlink()

    assert same == address


def test_settings_for_other_servers_are_not_ours(data_dir: Path) -> None:
    """PGPORT and its like, which the person set for another Postgres, lead nobody astray."""
    foreign = {"PGPORT": "1", "PGDATA": "/nowhere", "PGHOST": "nowhere.invalid", "PGDATABASE": "other", "PGUSER": "x"}
    with database_user(data_dir, environ=foreign) as user:
        address = user.read_line()
        os.killpg(user.process.pid, 2)
        answer = user.read_line()

    assert (address[:13], answer) == ("postgresql://", "still answers")


def test_the_log_does_not_grow_without_bounds(data_dir: Path) -> None:
    """A start puts a big log aside, in the place of the one before."""
    log = data_dir / "cluster/server.log"
    log.write_bytes(b"x" * 5_000_000)
    os.chown(log, log.parent.stat().st_uid, log.parent.stat().st_gid)
    with running_server(data_dir):
        sizes = log.stat().st_size < 100_000, log.with_name("server.log.1").stat().st_size

    assert sizes == (True, 5_000_000)


def test_what_a_killed_first_start_left_is_removed() -> None:
    """A cluster that was never finished does not stay beside the one that was."""
    with fresh_data_dir() as folder:
        (folder / "cluster-left.partial").mkdir(parents=True)
        with running_server(folder):
            left = [path.name for path in folder.glob("*.partial")]

    assert left == []


def test_a_server_that_has_not_noted_its_socket_is_waited_for(data_dir: Path) -> None:
    """Postgres writes its pid file before it listens, with an empty line where the socket's folder will stand."""
    server = make_server(data_dir)
    note = server.cluster / "postmaster.pid"
    note.write_text(f"1\n{server.cluster}\n1700000000\n5432\n\n")
    try:
        with pytest.raises(LookupError):
            server.socket_folder()
        note.write_text(f"1\n{server.cluster}\n1700000000\n5432\n/run/it\n*\n")
        assert server.socket_folder() == Path("/run/it")
    finally:
        note.unlink()
