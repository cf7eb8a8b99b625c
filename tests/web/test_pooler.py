"""Behind pgbouncer, whose connections last one transaction: served with a direct address, or refused."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from app.config import Settings
from app.db.engine import refuse_pooler
from app.errors import SettingsError
from tests.cases.offline import plumbline
from tests.cases.poolers import needs_pgbouncer, pooler
from tests.cases.walkthrough import declare, send
from tests.fixtures import open_site

pytestmark = needs_pgbouncer


def test_requests_go_through_a_pooler_and_are_published(database_url: str, pooler_folder: Path) -> None:
    """Sixteen submissions at once share three connections of the server; none is refused, all are on the board."""
    with pooler(database_url, pooler_folder, "ignore_startup_parameters = options") as pooled:
        settings = Settings(database_url=pooled, direct_database_url=database_url, max_stale_s=0)
        with open_site(database_url, settings) as site:
            declare(site)
            rows = [f"model,task,MASE\nM{n},t1,{n}\nM{n},t2,1\nM{n},t3,1\n".encode() for n in range(1, 17)]
            with ThreadPoolExecutor(8) as pool:
                statuses = [answer["http"] for answer in pool.map(lambda each: send(site, each), rows)]
            site.work()
            shown = site.http.get("/benchmarks/tiny/leaderboards/average.json").json()["rows"]

    assert statuses == [202] * 16
    assert len(shown) == 16


@pytest.mark.parametrize("more", ["", "ignore_startup_parameters = options"])
@pytest.mark.parametrize("variable", ["PLUMBLINE_DATABASE_URL", "PLUMBLINE_DIRECT_DATABASE_URL"])
def test_a_pooler_where_a_session_is_needed_is_refused(
    database_url: str, pooler_folder: Path, more: str, variable: str
) -> None:
    """Whether it refuses what it does not know or passes over it; the sentence says what to set."""
    with (
        pooler(database_url, pooler_folder, more) as pooled,
        pytest.raises(SettingsError, match=f"{variable} leads to a pooler"),
    ):
        refuse_pooler(pooled, variable)


def test_a_worker_does_not_start_behind_a_pooler(database_url: str, pooler_folder: Path) -> None:
    """One sentence, before anything is done."""
    with pooler(database_url, pooler_folder) as pooled:
        done = plumbline("worker", PLUMBLINE_DATABASE_URL=pooled)

    assert done.returncode == 2
    assert "Error: PLUMBLINE_DATABASE_URL leads to a pooler (pgbouncer)" in done.stderr
    assert "set PLUMBLINE_DIRECT_DATABASE_URL" in done.stderr


def test_a_postgres_is_no_pooler(database_url: str) -> None:
    """Nor is one that does not answer taken for one: it may be back in a moment."""
    refuse_pooler(database_url, "PLUMBLINE_DATABASE_URL")
    refuse_pooler("postgresql://nobody@127.0.0.1:1/gone", "PLUMBLINE_DATABASE_URL")
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
