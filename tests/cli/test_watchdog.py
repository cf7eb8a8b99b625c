"""`plumbline serve` replaces what hangs or dies, the database included, and leaves alone what is well."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.cases import patient
from tests.cases.embedded_user import postmaster_of
from tests.cases.processes import admin, send, wait_until_settled
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.waiting import eventually
from tests.cases.walkthrough import MANIFEST, PREREG

pytestmark = pytest.mark.alone

PATIENCE_S = 5
PATIENT = {"PLUMBLINE_WEB_PATIENCE_S": str(PATIENCE_S), "PLUMBLINE_WORKER_PATIENCE_S": str(PATIENCE_S)}
N_KILLS = 6


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """The folder of the server that the tests share."""
    with fresh_data_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def server(data_dir: Path) -> Iterator[RunningServer]:
    """A server with a benchmark and a preregistration, which is quick to lose patience."""
    with running_server(data_dir, **PATIENT) as running:
        headers = admin(running)
        patient.post(f"{running.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        patient.post(f"{running.address}/preregs", content=PREREG, headers=headers).raise_for_status()
        yield running


def child(server: RunningServer, command: str) -> psutil.Process | None:
    """Return the process that runs a command, if one does now."""
    try:
        return server.child(command)
    except (StopIteration, psutil.NoSuchProcess):
        return None


def is_ready(server: RunningServer) -> bool:
    """Ask whether the server can serve."""
    try:
        return httpx2.get(f"{server.address}/readyz", timeout=2).is_success
    except httpx2.TransportError:
        return False


def next_web(server: RunningServer, former: psutil.Process) -> psutil.Process:
    """Return the web process that came after another one."""
    result: list[psutil.Process] = []

    def has_come() -> bool:
        web = child(server, "web")
        result[:] = [] if web is None or web == former else [web]
        return bool(result)

    assert eventually(has_come, within_s=60)
    return result[0]


def test_a_web_process_that_hangs_is_replaced(server: RunningServer) -> None:
    """A stopped process answers nobody; another one takes its place and the address answers again."""
    web = server.child("web")
    web.suspend()
    replacement = next_web(server, web)

    assert eventually(lambda: is_ready(server), within_s=60)
    assert replacement.pid != web.pid
    assert not web.is_running()


def test_a_worker_that_hangs_is_replaced(server: RunningServer) -> None:
    """What is submitted while the only worker is stopped is published by another one."""
    worker = server.child("worker")
    worker.suspend()
    answer = send(server, "Stopped", admin(server))
    submission = wait_until_settled(server, answer.json()["id"])

    assert submission["status"] == "published"
    assert not worker.is_running()


def test_a_database_that_dies_is_started_again(server: RunningServer, data_dir: Path) -> None:
    """Nobody has to help: readers, a new submission and its publication find it again."""
    postmaster = postmaster_of(data_dir)
    postmaster.kill()
    assert eventually(lambda: not is_ready(server))

    assert eventually(lambda: is_ready(server), within_s=60)
    answer = send(server, "Revived", admin(server))
    assert wait_until_settled(server, answer.json()["id"])["status"] == "published"
    assert postmaster_of(data_dir) != postmaster


@pytest.mark.parametrize("with_children", [False, True])
def test_a_supervisor_that_was_suspended_kills_nobody(server: RunningServer, *, with_children: bool) -> None:
    """It has observed nothing meanwhile: neither of processes that went on nor of those that slept with it."""
    children = [server.child("web"), server.child("worker")]
    supervisor = psutil.Process(server.process.pid)
    asleep = [supervisor, *children] if with_children else [supervisor]
    with ExitStack() as awake:
        for process in asleep:
            process.suspend()
            awake.callback(process.resume)
        signal.sigtimedwait([], PATIENCE_S + 1)
    # Long enough for the patience to be over, had the sleep counted.
    signal.sigtimedwait([], 2)

    assert [child(server, "web"), child(server, "worker")] == children
    assert is_ready(server)


def test_a_web_process_that_came_up_is_started_again_at_once_each_time(server: RunningServer) -> None:
    """Six kills in a row cost their users six starts, and no growing pauses between them."""
    pauses_s = []
    for _ in range(N_KILLS):
        assert eventually(lambda: is_ready(server), within_s=60)
        web = server.child("web")
        killed_at = time.time()
        os.kill(web.pid, signal.SIGKILL)
        pauses_s.append(next_web(server, web).create_time() - killed_at)

    assert max(pauses_s) < 2
