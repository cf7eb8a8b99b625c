"""A Postgres of any version: a copy of it comes back byte for byte, made with that version's own programs.

Those that the wheel brings, of 16 and 18; FAULTS_PROGRAMS names a folder of others, such as /usr/lib/postgresql/17/bin.
"""

import os
from pathlib import Path

import pytest

from app.config import Settings
from app.db.dumps import find_program, major_of, make_dump, restore_dump
from app.db.embedded import own_programs
from app.db.migrate import check_schema, upgrade
from tests.cases.exports import all_exports, served
from tests.cases.own_postgres import own_postgres
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import new_database, open_site

pytestmark = pytest.mark.processes

GIVEN = os.environ.get("FAULTS_PROGRAMS")
PROGRAMS = [Path(GIVEN).absolute()] if GIVEN else sorted(own_programs().parent.parent.glob("pginstall*/bin"))


@pytest.fixture(params=PROGRAMS, ids=lambda folder: f"{major_of(folder / 'pg_dump')}")
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The programs of the Postgres; those that are given are found on the path."""
    folder: Path = request.param
    if GIVEN:
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


def test_a_copy_of_a_postgres_of_ones_own_comes_back(programs: Path, tmp_path: Path) -> None:
    """Into another database of it: every export is the same, byte for byte."""
    with own_postgres(programs) as (_, url):
        before = published(url)
        make_dump(url, tmp_path / "rows")
        with new_database(url) as target:
            restore_dump(tmp_path / "rows", target)
            from_rows = exports_of(target)

    assert find_program("pg_dump", major_of(programs / "postgres") or 0).parent == programs
    assert len(before) > 20
    assert from_rows == before
