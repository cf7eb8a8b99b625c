"""`plumbline serve` starts a whole server, keeps it running and stops what it started, and nothing else."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest

from tests.cases import patient
from tests.cases.offline import plumbline
from tests.cases.running_server import fresh_data_dir, is_alive, processes_of, running_server
from tests.cases.waiting import eventually


def refused(**settings: str) -> subprocess.CompletedProcess[str]:
    """Run a server that cannot start."""
    with fresh_data_dir() as folder:
        done = plumbline("serve", PLUMBLINE_DATA_DIR=str(folder), **settings)
        assert not folder.exists()
    return done


@dataclass
class Life:
    """What was seen of an installation: started, its supervisor killed, started again, its web killed, then Ctrl-C."""

    first_start: str
    is_gone_with_its_supervisor: bool
    second_start: str
    ready: tuple[int, int]
    exit_code: int
    log: str
    left_over: list[psutil.Process]


@pytest.fixture(scope="module")
def life() -> Iterator[Life]:
    """One life for the tests that look at its parts: a start takes seconds."""
    with fresh_data_dir() as folder:
        with running_server(folder) as server:
            first, children = server.printed, [server.child("web"), server.child("worker")]
            server.stop(signal.SIGKILL)
            is_gone = eventually(lambda: not any(child.is_running() for child in children))
        with running_server(folder, PLUMBLINE_LOG_FORMAT="json") as server:
            address, second = f"{server.address}/readyz", server.printed
            before, web = patient.get(address).status_code, server.child("web")
            os.kill(web.pid, signal.SIGKILL)
            web.wait()
            ready = before, patient.get(address).status_code
            children = psutil.Process(server.process.pid).children(recursive=True)
            code = server.stop(signal.SIGINT)
        # The process that forks readers ends when it hears that its line has closed.
        eventually(lambda: not any(map(is_alive, (*children, *processes_of(folder)))))
        left = [child for child in (*children, *processes_of(folder)) if is_alive(child)]
        yield Life(first, is_gone, second, ready, code, (folder.parent / "serve.log").read_text(), left)


def test_ctrl_c_stops_everything_that_was_started(life: Life) -> None:
    """After SIGINT neither the web process, a worker nor the database is left."""
    assert life.exit_code == 0
    assert life.left_over == []


def test_what_a_server_says_in_json_is_json(life: Life) -> None:
    """Also of its start and stop, and nothing of what the interpreter cleans up behind a web process.

    A render process whose parent is killed while it starts may leave a traceback of the interpreter's own.
    """
    reported = [json.loads(line)["event"] for line in life.log.splitlines() if line.startswith("{")]
    printed = [json.loads(line)["event"] for line in life.second_start.splitlines()]

    assert reported[0].startswith("Starting the embedded database in ")
    assert any(line.startswith("the web process was ended by SIGKILL") for line in reported)
    assert reported[-1] == "Stopped."
    assert "the worker is connected and waits for jobs" in reported
    assert printed[-1].startswith("plumbline is at ")
    assert "resource_tracker" not in life.log


def test_the_admin_token_is_printed_at_the_first_start_only(life: Life) -> None:
    """A second start finds the data of the first and keeps its token."""
    assert re.search(r"^Admin token \(shown only this once\): plb_\S{40,}$", life.first_start, re.MULTILINE)
    assert "token" not in life.second_start


def test_a_web_process_that_dies_is_replaced(life: Life) -> None:
    """The address answers again after kill -9 of the process behind it."""
    assert life.ready[1] == 200


def test_a_killed_server_leaves_no_processes_and_starts_again(life: Life) -> None:
    """After kill -9 of the supervisor its processes end, and a new start takes over the running database."""
    assert life.is_gone_with_its_supervisor
    assert life.ready[0] == 200


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
