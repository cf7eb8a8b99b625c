"""`plumbline serve` starts a whole server, keeps it running and stops what it started, and nothing else."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.cases import patient
from tests.cases.running_server import environment, fresh_data_dir, is_alive, processes_of, running_server
from tests.cases.waiting import eventually


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Yield the folder of a new installation."""
    with fresh_data_dir() as folder:
        yield folder


def refused(**settings: str) -> subprocess.CompletedProcess[str]:
    """Run a server that cannot start."""
    with fresh_data_dir() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", "serve"],
            env=environment(folder, **settings),
            capture_output=True,
            text=True,
            check=False,
        )
        assert not folder.exists()
    return done


def test_ctrl_c_stops_everything_that_was_started(data_dir: Path) -> None:
    """After SIGINT neither the web process, a worker nor the database is left."""
    with running_server(data_dir) as server:
        ready = patient.get(f"{server.address}/readyz").status_code
        children = psutil.Process(server.process.pid).children(recursive=True)
        code = server.stop(signal.SIGINT)

    assert ready == 200
    assert code == 0
    assert [child for child in children if is_alive(child)] == []
    assert processes_of(data_dir) == []


def test_the_admin_token_is_printed_at_the_first_start_only(data_dir: Path) -> None:
    """A second start finds the data of the first and keeps its token."""
    with running_server(data_dir) as server:
        first = server.printed
    with running_server(data_dir) as server:
        second = server.printed

    assert re.search(r"^Admin token \(shown only this once\): plb_\S{40,}$", first, re.MULTILINE)
    assert "token" not in second


def test_a_web_process_that_dies_is_replaced(data_dir: Path) -> None:
    """The address answers again after kill -9 of the process behind it."""
    with running_server(data_dir) as server:
        web = server.child("web")
        os.kill(web.pid, signal.SIGKILL)
        web.wait()

        assert httpx.get(f"{server.address}/readyz", timeout=30).status_code == 200


def test_a_killed_server_leaves_no_processes_and_starts_again(data_dir: Path) -> None:
    """After kill -9 of the supervisor its processes end, and a new start takes over the running database."""
    with running_server(data_dir) as server:
        children = [server.child("web"), server.child("worker")]
        server.stop(signal.SIGKILL)
        gone = eventually(lambda: not any(child.is_running() for child in children))
    with running_server(data_dir) as server:
        ready = patient.get(f"{server.address}/readyz").status_code

    assert gone
    assert ready == 200
    assert processes_of(data_dir) == []


def test_a_busy_port_is_told_before_anything_is_started() -> None:
    """The message names the setting, and no database is made."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = refused(PLUMBLINE_PORT=str(listener.getsockname()[1]))

    assert done.returncode == 2
    assert "Set PLUMBLINE_PORT" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_misspelt_setting_is_refused_with_the_nearest_one() -> None:
    """A limit that does not apply must not pass in silence."""
    done = refused(PLUMBLINE_MAX_ROW="5")

    assert done.returncode == 2
    assert "PLUMBLINE_MAX_ROW is not a setting; did you mean PLUMBLINE_MAX_ROWS?" in done.stderr
