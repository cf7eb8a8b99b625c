"""At SIGTERM what is in hand has a stated grace, nothing new is taken, and then everything stops."""

import http.client
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml

from app.cli.supervisor import STOP_MARGIN_S
from app.config import Settings
from tests.cases import patient
from tests.cases.packaging import ROOT
from tests.cases.processes import admin
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.waiting import eventually
from tests.cases.walkthrough import MANIFEST

pytestmark = pytest.mark.alone

CONTENT = MANIFEST.encode()
HALF = len(CONTENT) // 2
# Longer than what an upload had before there was a setting.
SLOW_S = 7


@contextmanager
def half_sent(server: RunningServer) -> Iterator[http.client.HTTPConnection]:
    """Begin to send a manifest and yield the connection with half of it to go."""
    with closing(http.client.HTTPConnection(str(urlsplit(server.address).netloc), timeout=30)) as connection:
        connection.putrequest("POST", "/benchmarks")
        headers = {**admin(server), "Content-Type": "application/yaml", "Content-Length": str(len(CONTENT))}
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(CONTENT[:HALF])
        # Whoever else is answered shows that the server has read so far.
        patient.get(f"{server.address}/healthz").raise_for_status()
        yield connection


def refuses(server: RunningServer) -> bool:
    """Say whether the server takes no new connections."""
    try:
        httpx2.get(f"{server.address}/healthz", timeout=1)
    except httpx2.ConnectError:
        return True
    except httpx2.TransportError:
        return False
    return False


def test_an_upload_in_hand_is_finished_at_a_stop() -> None:
    """It is answered although it takes long, while new connections are refused at once."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as server, half_sent(server) as connection:
        server.process.send_signal(signal.SIGTERM)
        refused = eventually(lambda: refuses(server))
        signal.sigtimedwait([], SLOW_S)
        connection.send(CONTENT[HALF:])
        status = connection.getresponse().status
        code = server.process.wait(20)

    assert refused
    assert (status, code) == (201, 0)


def test_an_upload_beyond_the_grace_is_cut() -> None:
    """Nobody holds up a stop for longer than the setting says."""
    grace = {"PLUMBLINE_STOP_GRACE_S": "1"}
    with fresh_data_dir() as data_dir, running_server(data_dir, **grace) as server, half_sent(server):
        began_at = time.monotonic()
        code = server.stop(signal.SIGTERM)

    assert code == 0
    assert time.monotonic() - began_at < 15


@pytest.mark.parametrize("service", ["web", "worker"])
def test_compose_waits_longer_than_the_server_itself(service: str) -> None:
    """Docker's SIGKILL comes after the grace that the settings promise."""
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"][service]
    grace_s = composed["environment"]["PLUMBLINE_STOP_GRACE_S"].removeprefix("${PLUMBLINE_STOP_GRACE_S:-")[:-1]
    period_s = composed["stop_grace_period"].removeprefix("${STOP_GRACE_PERIOD:-")[:-2]

    assert int(grace_s) == Settings().stop_grace_s
    assert int(period_s) >= int(grace_s) + STOP_MARGIN_S + 5
