"""Disks that fill, a migration and backups under load: nothing that was answered 202 is lost."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import psycopg
import pytest

from app.db.embedded import server_account
from tests.cases import patient
from tests.cases.exports import exports_of_folder
from tests.cases.offline import plumbline
from tests.cases.processes import admin
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.small_disk import fill, small_disk
from tests.cases.storm import declare, expected_means, plan, published_means, send_all, settled
from tests.cases.waiting import eventually

pytestmark = pytest.mark.faults

SLUG = "storm-a"
LIMITS = {"PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "100000"}


def all_published(server: RunningServer, seed: int, n: int = 40, headers: dict[str, str] | None = None) -> None:
    """Send so many submissions, and see that each is taken, published, and in the mean of its entrant."""
    seen = send_all([server.address], headers or admin(server), plan([SLUG], n, seed), 4)
    settled(server.address, sorted(seen.numbers.values()), within_s=120)

    assert len(seen.numbers) == n
    assert seen.faults == []
    assert published_means(server.address, SLUG) == pytest.approx(expected_means(seen, SLUG), rel=1e-12)


def answers(server: RunningServer, sent: int, headers: dict[str, str] | None = None) -> httpx2.Response:
    """Send one submission and return its answer, whatever it is."""
    each = plan([SLUG], 1, seed=sent)[0]
    return httpx2.post(
        f"{server.address}/benchmarks/{SLUG}/submissions",
        files=[("files", ("rows.csv", each.rows()))],
        headers={**(headers or admin(server)), "Idempotency-Key": each.key},
        timeout=60,
    )


def test_a_full_disk_of_the_database_refuses_and_recovers() -> None:
    """Data and log (WAL) on one full disk: 503 for a write, pages as before, and all is well when there is room."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(stack.enter_context(fresh_data_dir(on_disk=True)).parent / "disk"))
        server = stack.enter_context(running_server(disk / "data", **LIMITS))
        declare(server.address, admin(server), [SLUG])
        all_published(server, seed=1, n=12)
        board = f"{server.address}/benchmarks/{SLUG}/leaderboards/average.csv"
        before = patient.get(board).content
        filler = fill(disk)
        refused = [answers(server, number).status_code for number in range(100, 110)]
        read = patient.get(board)
        filler.unlink()
        all_published(server, seed=2, n=12)

    assert set(refused) <= {202, 503}
    assert (read.status_code, read.content) == (200, before)


def test_a_full_disk_of_the_log_alone_refuses_and_recovers() -> None:
    """Postgres ends when it cannot write its log; it is started again, and is well when there is room."""
    with fresh_data_dir(on_disk=True) as data_dir, small_disk(data_dir.parent / "disk") as disk:
        with running_server(data_dir, **LIMITS) as server:
            headers = admin(server)
            declare(server.address, headers, [SLUG])
            all_published(server, seed=1, n=12)
        account = server_account(data_dir / "cluster")
        shutil.move(data_dir / "cluster" / "pg_wal", disk / "pg_wal")
        (data_dir / "cluster" / "pg_wal").symlink_to(disk / "pg_wal")
        os.chown(data_dir / "cluster" / "pg_wal", account.uid, account.gid, follow_symlinks=False)
        # Moving to another file system made it root's.
        for moved in (disk / "pg_wal", *(disk / "pg_wal").rglob("*")):
            os.chown(moved, account.uid, account.gid)
        with running_server(data_dir, **LIMITS) as server:
            filler = fill(disk)
            refused = [answers(server, number, headers).status_code for number in range(100, 103)]
            filler.unlink()
            all_published(server, seed=2, n=12, headers=headers)

    assert set(refused) <= {202, 503}


def test_a_full_disk_of_temporary_files_refuses_and_recovers() -> None:
    """507 for an upload; the board is read all the while."""
    with fresh_data_dir(on_disk=True) as data_dir, small_disk(data_dir.parent / "disk") as disk:
        (disk / "tmp").mkdir(mode=0o1777)
        (disk / "tmp").chmod(0o1777)
        with running_server(data_dir, TMPDIR=str(disk / "tmp"), **LIMITS) as server:
            declare(server.address, admin(server), [SLUG])
            all_published(server, seed=1, n=12)
            filler = fill(disk)
            refused = answers(server, 100).status_code
            read = patient.get(f"{server.address}/benchmarks/{SLUG}/leaderboards/average.csv").status_code
            filler.unlink()
            all_published(server, seed=2, n=12)

    assert (refused, read) == (507, 200)


MIGRATION = """
    ALTER TABLE submission ADD COLUMN of_a_later_version text;
    UPDATE alembic_version SET version_num = 'r9999'
"""


def test_a_migration_under_load_loses_nothing() -> None:
    """What a later version would do to the schema, while clients send: each is taken, and readers see no gap."""
    with fresh_data_dir(on_disk=True) as data_dir, running_server(data_dir, **LIMITS) as server:
        declare(server.address, admin(server), [SLUG])
        url = plumbline("db", "url", "--owner", PLUMBLINE_DATA_DIR=str(data_dir)).stdout.strip()
        all_published(server, seed=1, n=12)
        with psycopg.connect(url) as connection:
            connection.execute("SET lock_timeout = '10s'")
            connection.execute(MIGRATION)
        all_published(server, seed=2)
        ready = patient.get(f"{server.address}/readyz")

    assert ready.status_code == 200
    assert "the schema r9999" in ready.json()["warnings"][0]


def test_a_backup_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """SIGTERM, as a schedule sends it to what takes too long, while a lock holds the copy up."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as server:
        declare(server.address, admin(server), [SLUG])
        url = plumbline("db", "url", "--owner", PLUMBLINE_DATA_DIR=str(data_dir)).stdout.strip()
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE score IN ACCESS EXCLUSIVE MODE")
            command = [sys.executable, "-m", "app.cli", "db", "backup", str(tmp_path / "rows")]
            making = subprocess.Popen(command, env={**os.environ, "PLUMBLINE_DATA_DIR": str(data_dir)})
            assert eventually(lambda: any(tmp_path.glob("*.partial/*")), 60)
            making.terminate()
            code = making.wait(60)

    assert code != 0
    assert list(tmp_path.iterdir()) == []


def test_a_backup_under_load_is_whole(tmp_path: Path) -> None:
    """Made while clients send; it comes back with what was published at its instant, and all exports can be read."""
    with fresh_data_dir(on_disk=True) as data_dir, running_server(data_dir, **LIMITS) as server:
        declare(server.address, admin(server), [SLUG])
        all_published(server, seed=1, n=12)
        sending = [plan([SLUG], 60, seed=seed) for seed in (2,)]
        began = time.monotonic()
        command = [sys.executable, "-m", "app.cli", "db", "backup", str(tmp_path / "rows")]
        making = subprocess.Popen(command, env={**os.environ, "PLUMBLINE_DATA_DIR": str(data_dir)})
        seen = send_all([server.address], admin(server), sending[0], 4)
        code = making.wait(120)
        settled(server.address, sorted(seen.numbers.values()), within_s=120)

    assert code == 0, time.monotonic() - began
    with fresh_data_dir(on_disk=True) as restored:
        done = plumbline("db", "restore", str(tmp_path / "rows"), PLUMBLINE_DATA_DIR=str(restored))
        assert done.returncode == 0, done.stderr
        assert len(exports_of_folder(restored)) > 10
