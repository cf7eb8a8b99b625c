"""The copies of one server, made once for the tests of a file: rows, files, and the log after them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest

from app.config.settings import Settings
from app.db.backup.base import make_base, receive_wal
from app.db.backup.dump import make_dump
from app.db.embedded.running import running_server
from app.db.migrate import upgrade
from tests.cases.exports import all_exports
from tests.cases.running_server import fresh_data_dir
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import Site, open_site


@dataclass(frozen=True)
class Copies:
    """The copies of one server: a dump and a base of before, the log until after, and what the server showed."""

    dump: Path
    base: Path
    wal: Path
    then: datetime
    exports_then: dict[str, bytes]
    exports_last: dict[str, bytes]


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    """A server with two publications: copied after the first, its log received until after the second."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as address:
        upgrade(address)
        with open_site(address, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
            declare(site)
            send(site, BASE)
            send(site, GOOD)
            site.work()
            yield _copied(site, address, data_dir.parent)


def _copied(site: Site, address: str, folder: Path) -> Copies:
    with received_wal(address, folder / "wal"):
        make_dump(address, folder / "dump")
        make_base(address, folder / "base")
        exports_then = all_exports(site.http)
        then = _now(address)
        send(site, BETTER)
        site.work()
        exports_last = all_exports(site.http)
        _wait_until_received(address)
    return Copies(folder / "dump", folder / "base", folder / "wal", then, exports_then, exports_last)


@contextmanager
def received_wal(address: str, folder: Path) -> Iterator[None]:
    """Have the log of a server written to a folder while the block runs."""
    ended = Event()

    def wait(receiving: "subprocess.Popen[str]") -> int:
        ended.wait()
        receiving.send_signal(2)
        return receiving.wait()

    thread = Thread(target=receive_wal, args=(address, folder, wait))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _now(address: str) -> datetime:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT clock_timestamp()").fetchall()[0][0]  # type: ignore[no-any-return]


def _wait_until_received(address: str) -> None:
    """Wait until the receiver has written all that the server has, of which the last transaction was flushed."""
    behind = "SELECT count(*) FROM pg_replication_slots WHERE restart_lsn IS NULL OR NOT active"
    with psycopg.connect(address, autocommit=True) as connection:
        assert eventually(lambda: connection.execute(behind).fetchall() == [(0,)])
        lsn = connection.execute("SELECT pg_current_wal_flush_lsn()").fetchall()[0][0]
        query = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= %s"
        assert eventually(lambda: connection.execute(query, [lsn]).fetchall() == [(1,)])
