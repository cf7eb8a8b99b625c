"""A real, migrated Postgres for the tests, and the whole HTTP app on it.

Why: docs/adr/046-tests-and-mutants.md.
"""

import gc
import inspect
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from sqlalchemy import Engine, make_url, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from app.config import Settings
from app.db.embedded import running_addresses
from app.db.embedded import running_server as embedded_server
from app.db.engine import SessionFactory, make_engine, make_session_factory
from app.db.migrate import upgrade
from app.db.models import Benchmark, Submission
from app.jobs.publish import publish
from app.jobs.refresh import evaluate_waiting
from app.main import create_app
from app.rights import tokens
from app.store import current
from tests.cases import embedded_user, offline, running_server
from tests.cases.databases import (
    as_owner,
    as_runtime,
    forget_at_a_crash,
    new_database,
    note_roles,
    passing_folder,
    role_to_serve,
)
from tests.cases.described import Description
from tests.cases.hearing import WAITED_FOR, Heard
from tests.cases.waiting import eventually

# What starts a database of its own, and what starts another process: held by identity, wherever they live.
CLUSTERS = (
    embedded_server,
    running_addresses,
    running_server.running_server,
    running_server.RunningServer,
    embedded_user.database_user,
    embedded_user.cluster_with_a_row,
)
COMMANDS = (subprocess, offline.plumbline)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test by what it starts, so that each tier of the tests takes what it has the time for."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        has_cluster = starts(item, CLUSTERS)
        if has_cluster or "postgres_url" in item.fixturenames:
            item.add_marker(pytest.mark.database)
        if has_cluster or item.get_closest_marker("browser") or starts(item, COMMANDS):
            item.add_marker(pytest.mark.processes)


def pytest_collection_finish() -> None:
    """Collect garbage from here on, but do not look again and again at what importing the tests has made."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Look at it again: Hypothesis, where nothing imported it before its report, asks who refers to its generator."""
    gc.collect()
    gc.unfreeze()


def pytest_unconfigure() -> None:
    """Leave it out for good: pytest collects once more at its end, and what the tests left was collected just now."""
    gc.freeze()


def starts(item: pytest.Function, starters: tuple[object, ...]) -> bool:
    """Tell whether a test, or a fixture of its file, names one of these, by whatever detour through the tests."""
    own = (vars(item.module).get(name) for name in item.fixturenames)
    return any(leads_to(each, starters) for each in (item.function, *own) if each is not None)


@cache
def leads_to(start: object, starters: tuple[object, ...]) -> bool:
    """Tell whether a function of the tests names one of these, itself or in another function of the tests."""
    waiting, seen = [start], set()
    while waiting:
        function = waiting.pop()
        if any(function is starter for starter in starters):
            return True
        function = inspect.unwrap(function) if callable(function) else function
        if inspect.isfunction(function) and function.__module__.startswith("tests.") and function not in seen:
            seen.add(function)
            waiting += [
                function.__globals__[each] for each in _names(function.__code__) if each in function.__globals__
            ]
    return False


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))


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
        # Beside the owner that makes the databases, a role `plumbline` with the same password.
        note_roles(given, make_url(given).set(username="plumbline").render_as_string(hide_password=False))
        yield given
        return
    with passing_folder() as folder, running_addresses(folder) as addresses:
        note_roles(addresses.owner, addresses.runtime)
        forget_at_a_crash(addresses.owner)
        yield addresses.owner


@pytest.fixture(scope="session")
def migrated(postgres_url: str) -> Iterator[str]:
    """The name of a migrated database to copy: migrating takes longer than most tests."""
    with new_database(postgres_url) as url:
        upgrade(url, role_to_serve())
        yield str(make_url(url).database)


@pytest.fixture
def database_url(postgres_url: str, migrated: str) -> Iterator[str]:
    """A migrated database of the test's own, at the address that every test of this process has, for the role that
    serves: what any test does, it may. A test that tampers does it by `tampering` or `as_owner`."""
    with new_database(postgres_url, migrated, OWN_DATABASE) as url:
        yield as_runtime(url)


@dataclass(frozen=True)
class Site:
    """The HTTP app with a token of each role, its database, and its jobs at hand."""

    http: TestClient
    sessions: SessionFactory
    tokens: dict[str, str]
    database_url: str

    def auth(self, who: str = "alice") -> dict[str, str]:
        """Return the header by which somebody signs in."""
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    @contextmanager
    def as_owner(self) -> Iterator[Session]:
        """Yield a session of the owner of the tables, who may what the server's own role may not."""
        engine = make_engine(as_owner(self.database_url))
        try:
            with Session(engine) as session, session.begin():
                yield session
        finally:
            engine.dispose()

    def work(self) -> None:
        """Do every job that the rows call for, as a worker would."""
        with self.sessions() as session:
            waited_for = current.benchmarks_waiting(session, -1)
        for benchmark_id in waited_for:
            evaluate_waiting(self.sessions, benchmark_id)
        with self.sessions() as session:
            stale = [benchmark.id for benchmark in current.stale_benchmarks(session)]
        for benchmark_id in stale:
            publish(self.sessions, benchmark_id)
        assert eventually(lambda: not self._is_unshown()), "what was published is not shown"

    def _is_unshown(self) -> bool:
        with self.sessions() as session:
            return bool(session.scalar(WAITED_FOR))

    def only_read(self) -> None:
        """Do every job, and wait from here on for no change to be heard: for sweeps of addresses, where none comes."""
        self.work()
        self.http.get("/benchmarks.json")
        self.http.event_hooks = {**self.http.event_hooks, "request": []}

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
def kept_engine(database_url: str, **how: Any) -> Engine:
    """Return the engine of an address for all tests of this process.

    An engine compiles each statement once, half of what a test of the site takes, and has no connection between tests.
    """
    return make_engine(database_url, **how)


def engine_of(database_url: str, **how: Any) -> Engine:
    """Return an engine as `make_engine` does; that of the tests' own database is kept."""
    is_own = make_url(database_url).database == OWN_DATABASE  # what follows in the address is the server's socket
    return (kept_engine if is_own else make_engine)(database_url, **how)


@pytest.fixture(scope="session", autouse=True)
def engines_are_kept() -> Iterator[None]:
    """Let the app use the kept engines too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.main.make_engine", engine_of)
        yield


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    """A session of an empty database; what it did is committed at the end of the test."""
    with make_session_factory(engine_of(database_url)).begin() as session:
        yield session


ROLES = {"alice": "submitter", "bob": "submitter", "steward": "steward", "admin": "admin"}
LOW = Settings(max_body_mib=1, max_rows=200, max_stale_s=0)
"""Limits that are easy to pass."""


@contextmanager
def open_site(database_url: str, settings: Settings, texts: dict[str, str] | None = None) -> Iterator[Site]:
    """The app on a database of its own, with the tokens of alice, bob, a steward and an admin; or with those given."""
    engine = engine_of(database_url)
    sessions = make_session_factory(engine)
    if texts is None:
        with sessions.begin() as session:
            texts = {name: tokens.create_token(session, name, role)[1] for name, role in ROLES.items()}
    heard = Heard(sessions)
    app = create_app(settings, database_url, freshness=heard)
    with TestClient(app, raise_server_exceptions=False) as http:
        http.event_hooks = {"request": [heard.catch_up], "response": [_description(http).check]}
        yield Site(http, sessions, texts, database_url)
    engine.dispose()


@pytest.fixture
def site(database_url: str) -> Iterator[Site]:
    """A server with low limits, so that they are easy to pass."""
    with open_site(database_url, LOW) as opened:
        yield opened


@dataclass(frozen=True)
class Prepared:
    """The name of a database in which something was done already, and the tokens of those who did it."""

    database: str
    tokens: dict[str, str]


Prepare = Callable[[Site], object]
SiteAfter = Callable[[Prepare], Site]


@pytest.fixture(scope="module")
def prepared(postgres_url: str, migrated: str) -> Iterator[Callable[[Prepare], Prepared]]:
    """Return databases in which something was done, each made once for all tests of a file."""
    with ExitStack() as stack:

        @cache
        def after(prepare: Prepare) -> Prepared:
            with new_database(postgres_url, migrated, OWN_DATABASE) as url:
                with open_site(as_runtime(url), LOW) as opened:
                    prepare(opened)
                kept = stack.enter_context(new_database(postgres_url, OWN_DATABASE))
            return Prepared(str(make_url(kept).database), opened.tokens)

        yield after


@pytest.fixture
def site_after(postgres_url: str, prepared: Callable[[Prepare], Prepared]) -> Iterator[SiteAfter]:
    """A `site` on a copy of the database in which something was done: the test's own, for less than doing it anew."""
    with ExitStack() as stack:

        def begin(prepare: Prepare) -> Site:
            kept = prepared(prepare)
            url = stack.enter_context(new_database(postgres_url, kept.database, OWN_DATABASE))
            return stack.enter_context(open_site(as_runtime(url), LOW, dict(kept.tokens)))

        yield begin


@pytest.fixture
def roomy_site(database_url: str) -> Iterator[Site]:
    """A server with the limits that it has by itself."""
    with open_site(database_url, Settings(max_stale_s=0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_site(postgres_url: str, migrated: str) -> Iterator[Site]:
    """One server and one database for all tests of a file, which read what was published once, or take own slugs.

    With the limits of `roomy_site`, but for how often somebody may ask: all tests together are one minute's visitors.
    """
    often = {"max_requests_per_minute": 1_000_000, "max_reads_per_minute": 1_000_000}
    with (
        new_database(postgres_url, migrated) as url,
        open_site(as_runtime(url), Settings(max_stale_s=0, **often)) as site,
    ):
        yield site


@pytest.fixture
def pooler_folder() -> Iterator[Path]:
    """A folder with a path short enough for a socket, where pgbouncer's user may write."""
    created = Path(tempfile.mkdtemp(prefix="plb-pool-"))
    created.chmod(0o777)
    yield created
    shutil.rmtree(created)
