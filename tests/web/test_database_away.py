"""What a client sees while the database is away."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import psutil
import pytest
from starlette.testclient import TestClient

from app.config import Settings
from app.db.embedded import running_server as embedded_server
from app.db.engine import make_engine, make_session_factory
from app.db.migrate import upgrade
from app.main import create_app
from app.rights import tokens
from app.web.page_cache import Freshness
from tests.cases.running_server import fresh_data_dir
from tests.cases.waiting import eventually
from tests.cases.walkthrough import GOOD, MANIFEST
from tests.fixtures import Site

OPEN = MANIFEST.replace("prereg: required", "prereg: optional")


def test_a_stopped_database_is_a_503_and_then_fine_again() -> None:
    """The answer says when to come back, and the same process serves again afterwards.

    Figures say it with 200, whoever asks: a scrape that failed would look like a server that is down.
    """
    token = {"Authorization": "Bearer plb_x"}
    with fresh_data_dir() as data_dir:
        with embedded_server(data_dir) as url:
            upgrade(url)
        with TestClient(create_app(Settings(), url), raise_server_exceptions=False) as http:
            away = http.get("/readyz")
            unsaid = http.post("/preregs", content=b"x", headers=token)
            figures = [http.get("/metrics"), http.get("/metrics", headers=token)]
            with embedded_server(data_dir):
                back, seen = http.get("/readyz"), http.get("/metrics")

    assert (away.status_code, unsaid.status_code, back.status_code) == (503, 503, 200)
    assert int(away.headers["retry-after"]) > 0
    for answer in figures:
        assert answer.status_code == 200
        assert "plumbline_database_up 0.0" in answer.text
        assert 'plumbline_refusals_total{reason="Fault"}' in answer.text
        assert "plumbline_queue_waiting" not in answer.text
    assert "plumbline_database_up 1.0" in seen.text
    assert "plumbline_queue_waiting 0.0" in seen.text


@contextmanager
def hanging(data_dir: Path) -> Iterator[None]:
    """Stop every process of the embedded database of a folder, as a machine does that is out of memory."""
    postmaster = psutil.Process(int((data_dir / "cluster/postmaster.pid").read_text().split()[0]))
    # It collects its children that end, so it is stopped first and resumed last: nobody is gone in between.
    postmaster.suspend()
    stopped = [*postmaster.children(), postmaster]
    for process in stopped:
        process.suspend()
    try:
        yield
    finally:
        for process in stopped:
            process.resume()


def test_a_database_that_hangs_holds_no_probe_up() -> None:
    """Each is answered in seconds, and however many ask, one connection waits for all of them."""
    n_probes = 60
    with fresh_data_dir() as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        with TestClient(create_app(Settings(), url), raise_server_exceptions=False) as http:
            assert http.get("/readyz").status_code == 200
            with hanging(data_dir), ThreadPoolExecutor(n_probes) as several:
                began = time.monotonic()
                probes = list(several.map(lambda _: http.get("/readyz"), range(n_probes)))
                lasted_s = time.monotonic() - began
                figures, alive = http.get("/metrics").text, http.get("/healthz").status_code
            after = http.get("/readyz").status_code

    assert {each.status_code for each in probes} == {503}
    assert "The database has not answered for" in probes[0].json()["detail"]
    assert lasted_s < 30
    assert "plumbline_database_up 0.0" in figures
    assert 'plumbline_pool_connections{state="used"} 1.0' in figures
    assert (alive, after) == (200, 200)


@pytest.mark.parametrize("how", ["stopped", "hanging"])
def test_a_page_that_has_just_changed_is_served_without_the_database(how: str) -> None:
    """At once and marked, whether the database is gone or hangs; and the new one when it is back."""
    board = "/benchmarks/tiny/leaderboards/average.json"
    clock = Ahead()
    with fresh_data_dir() as data_dir, ExitStack() as stack:
        running = stack.enter_context(ExitStack())
        url = running.enter_context(embedded_server(data_dir))
        upgrade(url)
        freshness = Freshness(clock)
        with TestClient(create_app(Settings(), url, freshness=freshness), raise_server_exceptions=False) as http:
            sessions = make_session_factory(make_engine(url))
            with sessions.begin() as session:
                texts = {role: tokens.create_token(session, role, role)[1] for role in ("submitter", "steward")}
            headers = {role: {"Authorization": f"Bearer {each}"} for role, each in texts.items()}
            http.post("/benchmarks", content=OPEN, headers=headers["steward"]).raise_for_status()
            site = Site(http, sessions, {}, url)
            site.work()
            assert http.get(board).status_code == 200
            files = {"files": ("r.csv", GOOD)}
            sent = http.post("/benchmarks/tiny/submissions", files=files, headers=headers["submitter"])
            sent.raise_for_status()
            freshness.note("tiny", 10**6, 10**6)  # the board has changed, and its reader has not come since
            assert sessions.kw["bind"].dispose() is None
            with hanging(data_dir) if how == "hanging" else nullcontext():
                if how == "stopped":
                    running.close()
                clock.ahead_s += 3600
                began = time.monotonic()
                answers = [http.get(board) for _ in range(5)]
                lasted_s = time.monotonic() - began
            if how == "stopped":
                running.enter_context(embedded_server(data_dir))
            assert eventually(lambda: "detail=stale" not in http.get(board).headers.get("cache-status", ""), 60)

    assert {each.status_code for each in answers} == {200}
    assert all("detail=stale" in each.headers["cache-status"] for each in answers)
    assert lasted_s < 10


class Ahead:
    """The clock, or one that is ahead of it: as if a test had waited."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return time.monotonic() + self.ahead_s
