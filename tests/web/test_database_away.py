"""What a client sees while the database is away."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
from starlette.testclient import TestClient

from app.config.settings import Settings
from app.db.embedded.running import running_server as embedded_server
from app.db.migrate import upgrade
from app.main import create_app
from tests.cases.running_server import fresh_data_dir


def test_a_stopped_database_is_a_503_and_then_fine_again() -> None:
    """The answer says when to come back, and the same process serves again afterwards."""
    with fresh_data_dir() as data_dir:
        with embedded_server(data_dir) as url:
            upgrade(url)
        with TestClient(create_app(Settings(), url), raise_server_exceptions=False) as http:
            away = http.get("/readyz")
            unsaid = http.post("/preregs", content=b"x", headers={"Authorization": "Bearer plb_x"})
            with embedded_server(data_dir):
                back = http.get("/readyz")

    assert (away.status_code, unsaid.status_code, back.status_code) == (503, 503, 200)
    assert int(away.headers["retry-after"]) > 0


def test_figures_say_that_the_database_is_away() -> None:
    """With 200, whoever asks: a scrape that failed would look like a server that is down."""
    token = {"Authorization": "Bearer plb_x"}
    with fresh_data_dir() as data_dir:
        with embedded_server(data_dir) as url:
            upgrade(url)
        with TestClient(create_app(Settings(), url), raise_server_exceptions=False) as http:
            away, with_token = http.get("/metrics"), http.get("/metrics", headers=token)
            with embedded_server(data_dir):
                back = http.get("/metrics")

    assert (away.status_code, with_token.status_code, back.status_code) == (200, 200, 200)
    for answer in (away, with_token):
        assert "plumbline_database_up 0.0" in answer.text
        assert 'plumbline_refusals_total{reason="Fault"}' in answer.text
        assert "plumbline_queue_waiting" not in answer.text
    assert "plumbline_database_up 1.0" in back.text
    assert "plumbline_queue_waiting 0.0" in back.text


@contextmanager
def hanging(data_dir: Path) -> Iterator[None]:
    """Stop every process of the embedded database of a folder, as a machine does that is out of memory."""
    postmaster = psutil.Process(int((data_dir / "cluster/postmaster.pid").read_text().split()[0]))
    stopped = [postmaster, *postmaster.children()]
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
