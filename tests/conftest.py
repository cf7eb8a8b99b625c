"""A real, migrated Postgres for the tests, and the whole HTTP app on it."""

import gc
import os
import shutil
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, make_url, update
from starlette.testclient import TestClient

from app.config.settings import Settings
from app.db.embedded.running import running_server as embedded_server
from app.db.engine import SessionFactory, make_engine, make_session_factory
from app.db.migrate import upgrade
from app.db.models import Benchmark, Submission
from app.jobs.publish import publish
from app.jobs.refresh import evaluate_waiting
from app.main import create_app
from app.store import behind, tokens, waiting
from tests.cases import embedded_user, running_server
from tests.cases.described import Description
from tests.cases.hearing import Heard
from tests.cases.places import place

# Whoever has one of these at hand starts a database. Held by identity, so that it does not matter where they live.
STARTERS = (
    embedded_server,
    running_server.running_server,
    running_server.RunningServer,
    embedded_user.database_user,
    embedded_user.cluster_with_a_row,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that needs a database, so that `make test-fast` leaves it out."""
    for item in items:
        if needs_database(item):
            item.add_marker(pytest.mark.database)


def pytest_collection_finish() -> None:
    """Collect garbage from here on, but do not look again and again at what importing the tests has made."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Look at it again: Hypothesis, where nothing imported it before its report, asks who refers to its generator."""
    gc.unfreeze()


def needs_database(item: pytest.Item) -> bool:
    """Tell whether a test asks for the server of the tests, or its file starts servers of its own."""
    if "postgres_url" in getattr(item, "fixturenames", ()):
        return True
    at_hand = vars(item.getparent(pytest.Module).obj).values() if item.getparent(pytest.Module) else ()
    return any(each is starter for each in at_hand for starter in STARTERS)


@pytest.fixture(scope="session", autouse=True)
def ordinary_signals() -> None:
    """Signals do what they do in a terminal, also where the tests run under nohup or as a job in the background."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server to make databases on: the one of PLUMBLINE_TEST_DATABASE_URL, else an embedded one."""
    given = os.environ.get("PLUMBLINE_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with passing_folder() as folder, embedded_server(folder) as url:
        forget_at_a_crash(url)
        yield url


def forget_at_a_crash(url: str) -> None:
    """Let a server of tests not wait for the disk: most of the time of a new database, and of every commit, was that.

    What must survive a crash is tested on servers of its own, which `plumbline serve` starts as it always does.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def passing_folder() -> Iterator[Path]:
    """Yield the name of a folder, where also an unprivileged user may make one, and remove it afterwards."""
    folder = place() / f"plumbline-tests-{uuid.uuid4().hex[:8]}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_database(postgres_url: str, template: str = "template1", name: str | None = None) -> Iterator[str]:
    """Make a database, empty or a copy of a template, and drop it afterwards."""
    name = name or f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        # Copied as files, nothing of it is written twice; where the disk is waited for, that costs two checkpoints.
        copies_files = connection.execute("SHOW fsync").fetchone() == ("off",)
        strategy = "STRATEGY file_copy" if copies_files else ""
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {strategy}')
    try:
        yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            _drop(connection, name)


def _drop(connection: psycopg.Connection[Any], name: str) -> None:
    try:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    except psycopg.errors.InsufficientPrivilege:
        # A role without privileges may not end a worker of autovacuum; a drop without force has it end by itself.
        connection.execute(f'DROP DATABASE "{name}"')


@pytest.fixture(scope="session")
def migrated(postgres_url: str) -> Iterator[str]:
    """The name of a migrated database to copy: migrating takes longer than most tests."""
    with new_database(postgres_url) as url:
        upgrade(url)
        yield str(make_url(url).database)


@pytest.fixture
def database_url(postgres_url: str, migrated: str) -> Iterator[str]:
    """A migrated database of the test's own, at the address that every test of this process has."""
    with new_database(postgres_url, migrated, OWN_DATABASE) as url:
        yield url


@dataclass(frozen=True)
class Site:
    """The HTTP app with a token of each role, and its jobs at hand."""

    http: TestClient
    sessions: SessionFactory
    tokens: dict[str, str]

    def auth(self, who: str = "alice") -> dict[str, str]:
        """Return the header by which somebody signs in."""
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    def work(self) -> None:
        """Do every job that the rows call for, as a worker would."""
        with self.sessions() as session:
            waited_for = waiting.benchmarks_waiting(session, -1)
        for benchmark_id in waited_for:
            evaluate_waiting(self.sessions, benchmark_id)
        with self.sessions() as session:
            stale = [benchmark.id for benchmark in behind.stale_benchmarks(session)]
        for benchmark_id in stale:
            publish(self.sessions, benchmark_id)

    def try_again(self) -> None:
        """Do what failed before once more, as a worker would when its wait is over."""
        with self.sessions.begin() as session:
            session.execute(update(Benchmark).values(publish_retry_at=None))
            session.execute(update(Submission).values(evaluation_retry_at=None))
        self.work()


DESCRIPTIONS: list[Description] = []
"""The description of the API, the same for every settings, made once: it takes longer than most tests."""


def _description(http: TestClient) -> Description:
    if not DESCRIPTIONS:
        DESCRIPTIONS.append(Description(http.get("/openapi.json").json()))
    return DESCRIPTIONS[0]


OWN_DATABASE = f"own_{uuid.uuid4().hex[:12]}"


@cache
def kept_engine(database_url: str, **how: int) -> Engine:
    """Return the engine of an address for all tests of this process.

    An engine compiles each statement once, half of what a test of the site takes, and has no connection between tests.
    """
    return make_engine(database_url, **how)


def engine_of(database_url: str, **how: int) -> Engine:
    """Return an engine as `make_engine` does; that of the tests' own database is kept."""
    return (kept_engine if database_url.endswith(OWN_DATABASE) else make_engine)(database_url, **how)


@pytest.fixture(scope="session", autouse=True)
def engines_are_kept() -> Iterator[None]:
    """Let the app use the kept engines too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.main.make_engine", engine_of)
        yield


@contextmanager
def open_site(database_url: str, settings: Settings) -> Iterator[Site]:
    """The app on a database of its own, with the tokens of alice, bob, a steward and an admin."""
    engine = engine_of(database_url)
    sessions = make_session_factory(engine)
    roles = {"alice": "submitter", "bob": "submitter", "steward": "steward", "admin": "admin"}
    with sessions.begin() as session:
        texts = {name: tokens.create_token(session, name, role)[1] for name, role in roles.items()}
    heard = Heard(sessions)
    app = create_app(settings, database_url, freshness=heard)
    with TestClient(app, raise_server_exceptions=False) as http:
        http.event_hooks = {"request": [heard.catch_up], "response": [_description(http).check]}
        yield Site(http, sessions, texts)
    engine.dispose()


@pytest.fixture
def site(database_url: str) -> Iterator[Site]:
    """A server with low limits, so that they are easy to pass."""
    with open_site(database_url, Settings(max_body_mib=1, max_rows=200, max_stale_s=0)) as opened:
        yield opened


@pytest.fixture
def roomy_site(database_url: str) -> Iterator[Site]:
    """A server with the limits that it has by itself."""
    with open_site(database_url, Settings(max_stale_s=0)) as opened:
        yield opened
