"""What everybody sees while somebody holds a table: a forgotten LOCK TABLE, a VACUUM FULL, a stuck migration."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from app.config import Settings
from app.db.engine import (
    CONNECT_OPTIONS,
    JOBS,
    LONG_REQUESTS,
    REQUESTS,
    TransactionLimits,
    allow,
    is_transient,
    make_engine,
    make_session_factory,
)
from app.main import create_app
from app.web import submissions
from tests.cases.databases import as_owner
from tests.cases.offline import plumbline
from tests.cases.poolers import needs_pgbouncer, pooler
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site, open_site

SHORT = TransactionLimits(lock_s=0.4, statement_s=5, idle_s=60)
"""As a request's own, but so that a test does not wait for five seconds."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no request wait for a lock for long."""
    monkeypatch.setattr("app.main.REQUESTS", SHORT)
    monkeypatch.setattr(submissions, "LONG_REQUESTS", SHORT)


@contextmanager
def holding(database_url: str, table: str) -> Iterator[int]:
    """Hold a table as a forgotten psql does, and yield the number of its session."""
    with psycopg.connect(as_owner(database_url), application_name="forgotten psql") as connection:
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield connection.info.backend_pid
        connection.rollback()


@pytest.fixture
def declared(short: None, database_url: str) -> Iterator[Site]:
    """A server with a benchmark, whose requests wait briefly."""
    del short
    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
        yield site


def test_who_waits_for_a_held_table_is_told_to_come_again(declared: Site) -> None:
    """Whoever writes and whoever reads: 503 with a sentence and a time, nothing is stored, and afterwards it is."""
    with holding(declared.database_url, "submission"):
        posted = send(declared, BASE)
        again = declared.http.post(
            "/benchmarks/tiny/submissions", files={"files": ("r.csv", BASE)}, headers=declared.auth()
        )
        read = declared.http.get("/submissions/1.json")
    with declared.sessions() as session:
        n_stored = session.scalar(text("SELECT count(*) FROM submission"))

    assert posted["http"] == again.status_code == read.status_code == 503
    assert int(again.headers["retry-after"]) > 0
    assert again.headers["content-type"] == "application/problem+json"
    assert "Something else in the database holds what this request needs" in again.json()["detail"]
    assert n_stored == 0
    assert send(declared, BASE)["http"] == 202


def test_a_server_that_cannot_write_is_not_ready(declared: Site) -> None:
    """Whichever table it is; it says which, and whose session holds it, within seconds, and no address."""
    for table in ("submission", "score", "queue.procrastinate_jobs"):
        with holding(declared.database_url, table) as pid:
            began = time.monotonic()
            answer = declared.http.get("/readyz")
            lasted_s = time.monotonic() - began
        after = declared.http.get("/readyz")
        held = f"has held the table {table.rpartition('.')[2]} (AccessExclusiveLock)"

        assert (answer.status_code, after.status_code) == (503, 200)
        assert f"session {pid} (forgotten psql) {held}" in answer.json()["detail"]
        assert str(make_url(declared.database_url).database) not in answer.json()["detail"]
        assert lasted_s < 10, "one second, on a machine that is not busy"


def test_figures_and_health_answer_while_a_table_is_held(declared: Site) -> None:
    """Both say it instead of waiting for it; and a check of readiness leaves nothing."""
    with holding(declared.database_url, "submission"):
        figures = declared.http.get("/metrics")
        health = declared.http.get("/health.json", headers=declared.auth("admin"))
    assert declared.http.get("/readyz").status_code == 200
    with declared.sessions() as session:
        written = session.scalar(text("SELECT count(*) FROM web_process WHERE seen_at = '-infinity'"))

    assert figures.status_code == health.status_code == 200
    assert "plumbline_database_up 0.0" in figures.text
    assert "plumbline_queue_waiting" not in figures.text
    assert "has held the table submission" in str(health.json())
    assert written == 0


def test_the_command_line_says_who_holds_a_table(database_url: str) -> None:
    """`plumbline db check` ends with a sentence and not with 0."""
    with holding(database_url, "submission"):
        held = plumbline("db", "check", PLUMBLINE_DATABASE_URL=database_url)
    free = plumbline("db", "check", PLUMBLINE_DATABASE_URL=database_url)

    assert held.returncode == 2
    assert "takes no writes" in held.stderr
    assert "(forgotten psql) has held the table submission" in held.stderr
    assert free.returncode == 0, free.stderr


SETTINGS = (
    "SELECT current_setting('lock_timeout'), current_setting('statement_timeout'), current_setting('search_path')"
)


@pytest.mark.parametrize("is_pooled", [False, True])
def test_every_transaction_has_its_limits(database_url: str, is_pooled: bool) -> None:
    """As options of the connection, or where a pooler passes these over, by its first statement; one can be given more.

    What it was given ends with it.
    """
    engine = make_engine(database_url, pool_size=1, is_pooled=is_pooled, lane=REQUESTS)
    with make_session_factory(engine)() as session:
        own = tuple(session.execute(text(SETTINGS)).one())
        allow(session, LONG_REQUESTS)
        longer = tuple(session.execute(text(SETTINGS)).one())
        session.rollback()
        again = tuple(session.execute(text(SETTINGS)).one())
    engine.dispose()

    path = CONNECT_OPTIONS.partition("=")[2].replace(",", ", ")
    assert own == again == ("5s", "15s", own[2])
    assert own[2].replace(" ", "") == path.replace(" ", "")
    assert longer == ("10s", "2min", own[2])


def test_a_job_that_waits_for_a_table_is_tried_again(database_url: str) -> None:
    """It fails as one does whose database is away: no submission is at fault, and the sweep queues it once more."""
    engine = make_engine(database_url, pool_size=1, lane=TransactionLimits(lock_s=0.1, statement_s=JOBS.statement_s))
    with (
        holding(database_url, "submission"),
        engine.connect() as connection,
        pytest.raises(OperationalError) as raised,
    ):
        connection.execute(text("SELECT FROM submission"))
    engine.dispose()

    assert is_transient(raised.value)
    assert JOBS.statement_s == 0
    assert JOBS.lock_s > 0


@needs_pgbouncer
def test_the_limits_hold_behind_a_pooler(short: None, database_url: str, pooler_folder: Path) -> None:
    """pgbouncer passes over the options of a connection; the transaction says them itself."""
    del short
    with pooler(database_url, pooler_folder, "ignore_startup_parameters = options") as pooled:
        settings = Settings(database_url=pooled, direct_database_url=database_url, max_stale_s=0)
        with open_site(database_url, settings) as site:
            declare(site)
            with holding(database_url, "submission"), ThreadPoolExecutor(4) as several:
                answers = list(several.map(lambda _: send(site, BASE), range(4)))

    assert [each["http"] for each in answers] == [503] * 4


@needs_pgbouncer
def test_a_pooler_that_hangs_is_named(database_url: str, pooler_folder: Path) -> None:
    """The Postgres behind it answers, and both `/readyz` and `db check` say so."""
    with pooler(database_url, pooler_folder, "ignore_startup_parameters = options") as pooled:
        settings = Settings(database_url=pooled, direct_database_url=database_url)
        with TestClient(create_app(settings, database_url), raise_server_exceptions=False) as http:
            assert eventually(lambda: http.get("/readyz").status_code == 200)
            process = _listening(pooler_folder)
            process.send_signal(signal.SIGSTOP)
            try:
                said = http.get("/readyz").json()["detail"]
                figures = http.get("/metrics").text
                addresses = {"PLUMBLINE_DATABASE_URL": pooled, "PLUMBLINE_DIRECT_DATABASE_URL": database_url}
                checked = plumbline("db", "check", **addresses)
            finally:
                process.send_signal(signal.SIGCONT)
            assert eventually(lambda: http.get("/readyz").status_code == 200)

    assert "The pooler (PLUMBLINE_DATABASE_URL) has not answered for" in said
    assert "the Postgres behind it (PLUMBLINE_DIRECT_DATABASE_URL) answered" in said
    assert "plumbline_database_up 0.0" in figures
    assert checked.returncode == 2
    assert "(PLUMBLINE_DATABASE_URL) does not answer" in checked.stderr


def _listening(folder: Path) -> psutil.Process:
    """Return the pgbouncer of a folder, which is a child of this process."""
    children = psutil.Process(os.getpid()).children()
    return next(each for each in children if str(folder / "pgbouncer.ini") in each.cmdline())
