"""Exports are read from a copy that follows the database, and from the database itself where the copy is not enough."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from app.config.settings import Settings
from app.db.embedded.account import server_account
from app.db.embedded.binaries import own_programs
from app.db.migrate import upgrade
from app.db.models import Snapshot
from app.errors import SettingsError
from app.store import benchmarks, snapshots
from tests.cases.own_postgres import SUPERUSER, address, own_postgres, serving
from tests.cases.running_server import fresh_data_dir
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site, open_site

ROWS = "/benchmarks/tiny/rows.csv"
NOWHERE = "postgresql://nobody:hunter2@127.0.0.1:1/nothing"


def publish(site: Site, rows: bytes) -> str:
    """Submit, publish, and return the file of every row."""
    send(site, rows)
    site.work()
    answer = site.http.get(ROWS)
    assert answer.status_code == 200
    return answer.text


def warnings(site: Site) -> str:
    """Return what the server says that somebody should look at."""
    return " ".join(site.http.get("/readyz").json()["warnings"])


def test_a_copy_that_is_away_costs_no_reader_an_export(database_url: str) -> None:
    """The rows come from the database itself, and /readyz says so without the password."""
    with open_site(database_url, Settings(max_stale_s=0, read_database_url=NOWHERE)) as site:
        declare(site)
        before = warnings(site)
        rows = publish(site, BASE)
        after = warnings(site)

    assert rows.count("Base") == 3
    assert "PLUMBLINE_READ_DATABASE_URL" not in before
    assert "The read replica (PLUMBLINE_READ_DATABASE_URL) fails" in after
    assert "hunter2" not in after


def test_a_snapshot_is_the_same_one_by_its_instant_too(roomy_site: Site) -> None:
    """In a database of something else the numbers may be the same by chance."""
    declare(roomy_site)
    publish(roomy_site, BASE)
    with roomy_site.sessions() as session:
        shown = snapshots.find_snapshot(session, benchmarks.find_declared(session, "tiny").benchmark)
        assert shown is not None
        other = Snapshot(id=shown.id, published_at=shown.published_at + timedelta(microseconds=1))

        assert snapshots.is_there(session, shown)
        assert not snapshots.is_there(session, other)


def test_an_address_that_is_no_postgres_is_refused_without_its_password() -> None:
    """At the start, not at the first export."""
    with pytest.raises(SettingsError, match="PLUMBLINE_READ_DATABASE_URL: Value error, expected postgres") as refused:
        Settings.from_env({"PLUMBLINE_READ_DATABASE_URL": "mysql://u:hunter2@h/d"})
    assert "hunter2" not in str(refused.value)


@contextmanager
def following(programs: Path, url: str) -> Iterator[tuple[str, str]]:
    """Run a streaming replica of a server; yield its address and that of its superuser."""
    with fresh_data_dir() as folder:
        folder.mkdir()
        cluster, account = folder / "cluster", server_account(folder / "cluster")
        how = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        subprocess.run([programs / "pg_basebackup", f"--dbname={url}", f"--pgdata={cluster}", *how], check=True)
        if account.is_other:
            subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", cluster], check=True)
        with serving(programs, cluster, waits_for_disk=False) as port:
            yield address(port), address(port, role=SUPERUSER)


def has_caught_up(url: str, copy: str) -> bool:
    """Say whether the copy has replayed all that the database has written."""
    with psycopg.connect(url) as connection:
        written = connection.execute("SELECT pg_current_wal_lsn()").fetchall()[0][0]
    with psycopg.connect(copy) as connection:
        return bool(connection.execute("SELECT pg_last_wal_replay_lsn() >= %s", [written]).fetchall()[0][0])


def n_reads_of_rows(copy: str) -> int:
    """Return how often the rows were read there, as its own statistics have it."""
    query = "SELECT seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'evidence'"
    with psycopg.connect(copy) as connection:
        return int(connection.execute(query).fetchall()[0][0])


@pytest.mark.slow
def test_exports_come_from_a_copy_as_soon_as_it_has_the_snapshot() -> None:
    """Those of a snapshot that it lacks come from the database, and all of them when the copy is gone."""
    programs = own_programs()
    with ExitStack() as stack:
        _, url = stack.enter_context(own_postgres(programs, waits_for_disk=False))
        upgrade(url)
        gone = stack.enter_context(ExitStack())
        copy, superuser = gone.enter_context(following(programs, url))
        with open_site(url, Settings(max_stale_s=0, read_database_url=copy)) as site:
            declare(site)
            first = publish(site, BASE)
            assert eventually(lambda: has_caught_up(url, copy))
            from_copy = site.http.get(ROWS).text
            warned = warnings(site)
            with psycopg.connect(superuser, autocommit=True) as connection:
                # What a session counted is seen once it has ended; the next export opens another one.
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plumbline'")
                assert eventually(lambda: n_reads_of_rows(superuser) > 0)
                connection.execute("SELECT pg_wal_replay_pause()")
            behind = publish(site, GOOD)
            old = site.http.get(f"{ROWS}?snapshot=1").text
            gone.close()
            without = site.http.get(ROWS).text

    assert from_copy == old == first
    assert "copy for reading" not in warned
    assert behind.count("Good") == 3
    assert without == behind
