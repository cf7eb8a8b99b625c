"""Several processes share one embedded Postgres: the first starts it, the last stops it, and signals harm nobody."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from app.db.embedded import running_server
from tests.cases.embedded_user import (
    cluster_with_a_row,
    copy_of,
    database_user,
    kept_number,
    kill_servers_of,
    postmaster_of,
    servers_of,
)
from tests.cases.running_server import command_of, fresh_data_dir


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


def test_a_second_process_uses_the_same_server(data_dir: Path) -> None:
    """Both are given one address, and one postmaster serves it."""
    with database_user(data_dir) as first, database_user(data_dir) as second:
        addresses = {first.read_line(), second.read_line()}
        n_postmasters = sum("-D" in command_of(server) for server in servers_of(data_dir))

    assert (len(addresses), n_postmasters) == (1, 1)


def test_a_server_all_of_whose_connections_are_taken_is_found(cluster: Path) -> None:
    """Its address is known at once: `plumbline db url` does not take a busy server for one that does not answer."""
    with copy_of(cluster) as few, ExitStack() as stack:
        with (few / "cluster" / "postgresql.conf").open("a") as settings:
            settings.write("max_connections = 8\nmax_wal_senders = 0\nautovacuum = off\n")
        address = stack.enter_context(running_server(few))
        with pytest.raises(psycopg.OperationalError, match="too many clients"):  # noqa: PT012
            for _ in range(9):
                stack.enter_context(psycopg.connect(address))

        with running_server(few) as again:
            assert again == address


def test_the_first_to_go_leaves_the_server_and_the_last_stops_it(data_dir: Path) -> None:
    """The process that started it may go before the one that found it."""
    with database_user(data_dir) as first:
        first.read_line()
        with database_user(data_dir) as second:
            address = second.read_line()
            first.leave()
            actual = kept_number(address)
            second.leave()

    assert (actual, servers_of(data_dir)) == (7, [])


def test_many_first_starts_at_once_make_one_database() -> None:
    """Processes that all find an empty folder at the same time agree."""
    with fresh_data_dir() as folder, ExitStack() as stack:
        users = [stack.enter_context(database_user(folder)) for _ in range(4)]
        addresses = {user.read_line() for user in users}
        codes = [user.leave() for user in users]

    assert (len(addresses), codes) == (1, [0, 0, 0, 0])


def test_coming_and_going_do_not_race(data_dir: Path) -> None:
    """Whoever was given an address is served, however many others leave at that moment."""

    def come_and_go(_: int) -> int:
        with running_server(data_dir) as address:
            return kept_number(address)

    with ThreadPoolExecutor(4) as pool:
        actual = list(pool.map(come_and_go, range(16)))

    assert actual == [7] * 16


def test_a_killed_process_leaves_a_server_that_the_next_uses_and_stops(data_dir: Path) -> None:
    """The postmaster that it left is found, not started again; who was killed counts as gone."""
    with database_user(data_dir) as user:
        user.read_line()
        before = postmaster_of(data_dir)
        user.kill()
    with running_server(data_dir) as address:
        actual = kept_number(address), postmaster_of(data_dir)

    assert actual == (7, before)
    assert servers_of(data_dir) == []


def test_a_process_killed_beside_another_does_not_keep_the_server(data_dir: Path) -> None:
    """The one that stays stops the server when it goes."""
    with database_user(data_dir) as killed:
        killed.read_line()
        with running_server(data_dir):
            killed.kill()

    assert servers_of(data_dir) == []


def test_an_error_of_the_user_passes_and_stops_the_server(data_dir: Path) -> None:
    """An exception in the block is the caller's own, and the server goes all the same."""
    with pytest.raises(FileNotFoundError, match="no-such-file"), running_server(data_dir):
        Path("/no-such-file").read_text()

    assert servers_of(data_dir) == []


def test_ctrl_c_does_not_reach_the_server(data_dir: Path) -> None:
    """The terminal interrupts all processes of the group; the server still answers while ours tidies up."""
    with database_user(data_dir) as user:
        user.read_line()
        os.killpg(user.process.pid, signal.SIGINT)
        answer = user.read_line()
        code = user.leave()

    assert (answer, code, servers_of(data_dir)) == ("still answers", 0, [])


def test_a_stop_is_orderly(data_dir: Path) -> None:
    """The server writes all it has, so that the next start needs no recovery."""
    with running_server(data_dir) as address, psycopg.connect(address, autocommit=True) as connection:
        connection.execute("INSERT INTO kept VALUES (8)")
    log = (data_dir / "cluster/server.log").read_text()

    assert log.splitlines()[-1].endswith("LOG:  database system is shut down")


def test_a_connection_that_is_still_open_does_not_delay_the_stop(data_dir: Path) -> None:
    """The server disconnects whoever is connected when the last process goes."""
    with running_server(data_dir) as address:
        connection = psycopg.connect(address)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")

    assert servers_of(data_dir) == []
