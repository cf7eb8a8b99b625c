"""What a client sees while the database is away."""

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
