"""A Postgres of any version: copies of it come back byte for byte, made with that version's own programs.

FAULTS_PROGRAMS names the folder of the programs, such as /usr/lib/postgresql/18/bin; unset, it is those of the wheel.
"""

import os
import subprocess
from pathlib import Path

import pytest

from app.config.settings import Settings
from app.db.backup.base import make_base
from app.db.backup.dump import make_dump, restore_dump
from app.db.backup.recover import lay_out
from app.db.embedded.account import Account, server_account
from app.db.embedded.binaries import own_programs
from app.db.migrate import check_schema, upgrade
from tests.cases.exports import all_exports, served
from tests.cases.own_postgres import address, own_postgres, serving
from tests.cases.running_server import fresh_data_dir
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import new_database, open_site

pytestmark = pytest.mark.faults


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The programs of the Postgres, which are found before others."""
    folder = Path(os.environ.get("FAULTS_PROGRAMS") or own_programs()).absolute()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def published(url: str) -> dict[str, bytes]:
    """Declare, register, submit and publish, and return every export."""
    upgrade(url)
    check_schema(url)
    with open_site(url, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
        declare(site)
        for rows in (BASE, GOOD):
            send(site, rows)
        site.work()
        return all_exports(site.http)


def exports_of(url: str) -> dict[str, bytes]:
    """Return every export of a database."""
    with served(url) as http:
        return all_exports(http)


def give(cluster: Path, account: Account) -> None:
    """Give the files to the user of the server, as `plumbline db restore --into` says."""
    if account.is_other:
        subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", cluster], check=True)


def test_copies_of_a_postgres_of_ones_own_come_back(programs: Path, tmp_path: Path) -> None:
    """Rows into another database of it, files as another server: every export is the same, byte for byte."""
    with own_postgres(programs) as (_, url):
        before = published(url)
        rows, files = make_dump(url, tmp_path / "rows"), make_base(url, tmp_path / "files")
        with new_database(url) as target:
            restore_dump(tmp_path / "rows", target)
            from_rows = exports_of(target)
    with fresh_data_dir() as folder:
        folder.mkdir()
        account = server_account(folder / "cluster")
        lay_out(tmp_path / "files", None, None, folder / "cluster")
        give(folder / "cluster", account)
        with serving(programs, folder / "cluster") as port:
            from_files = exports_of(address(port))

    assert rows.programs >= files.programs
    assert len(before) > 20
    assert from_rows == before
    assert from_files == before
