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
