"""Reading an upload is bounded, ends with its client, and leaves nothing behind."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import httpx2
import psutil
import pytest

from app.cli.observing import PREFIX
from tests.attacks.watch import Target, target
from tests.cases.running_server import command_of, fresh_data_dir, is_alive

pytestmark = [pytest.mark.alone, pytest.mark.slow]


@cache
def long_file() -> bytes:
    """Return what takes several seconds of processor time to read; made when it is sent, not in every process."""
    return json.dumps([{"model": f"m{at}", "task": "t", "MASE": 1.5} for at in range(1_000_000)]).encode()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A temporary folder for a server."""
    with fresh_data_dir() as data_dir:
        path = data_dir.parent / "tmp"
        path.mkdir(mode=0o777)
        yield path


@pytest.fixture(scope="module")
def victim(folder: Path) -> Iterator[Target]:
    """A server with two seconds of processor time for a reading, one at a time and none that waits."""
    settings = {
        "PLUMBLINE_MAX_READING_CPU_S": "2",
        "PLUMBLINE_MAX_READINGS": "1",
        "PLUMBLINE_MAX_WAITING_READINGS": "0",
    }
    with target(TMPDIR=str(folder), **settings) as server:
        yield server


def readers(victim: Target) -> list[psutil.Process]:
    """Return the processes that read uploads now; one that waits for the next upload leads no group yet."""
    children = [child for server in victim.server.child("web").children() for child in server.children()]
    return [child for child in children if leads_a_group(child)]


def leads_a_group(process: psutil.Process) -> bool:
    """Say whether a process has a group of its own; one that ended meanwhile has none."""
    try:
        return os.getsid(process.pid) == process.pid
    except ProcessLookupError:
        return False


def wait_for(what: Callable[[], bool], within_s: float = 10) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + within_s
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError("it did not come about")
        signal.sigtimedwait([], 0.02)


def send(victim: Target, content: bytes) -> socket.socket:
    """Send a file and leave the connection open."""
    connection = victim.connect()
    part = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.json"\r\n\r\n'
    body = part + content + b"\r\n--b--\r\n"
    head = f"POST /benchmarks/open/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {victim.token}\r\n"
    head += f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


def test_a_reading_that_takes_too_long_is_ended(victim: Target) -> None:
    """The answer names the limit."""
    answer = victim.post("x.json", long_file())

    assert answer.status_code == 413
    assert "more than 2 s of processor time" in answer.json()["detail"]


def test_a_reading_ends_with_its_client(victim: Target) -> None:
    """Nobody waits for it any more; meanwhile there was no place for another one."""
    connection = send(victim, long_file())
    wait_for(lambda: bool(readers(victim)))
    (reader,) = readers(victim)
    busy = victim.post("x.csv", b"model,task,MASE\nA,t,1\n")
    connection.close()
    wait_for(lambda: not reader.is_running(), within_s=1.5)

    assert (busy.status_code, busy.headers["retry-after"]) == (503, "5")
    wait_for(lambda: victim.post("x.csv", b"model,task,MASE\nA,t,1\n").status_code == 200)


def test_a_reader_that_ended_while_it_waited_is_replaced(victim: Target) -> None:
    """One waits for the next upload; where the system killed it, that upload is read by another."""
    server = fork_server_of(victim.server.child("web"))
    wait_for(lambda: any(is_alive(child) for child in server.children()))
    for child in server.children():
        child.kill()
    answer = victim.post("x.csv", b"model,task,MASE\nA,t,1\n")

    assert answer.status_code == 200
    wait_for(lambda: any(is_alive(child) for child in server.children()))


def test_a_reader_is_kept_for_its_sender_alone(victim: Target) -> None:
    """Who sends again is read by the same process; what another one sends is read by one of its own."""
    rows = b"model,task,MASE\nA,t,1\n"
    first = victim.post("x.csv", rows)
    (kept,) = readers(victim)
    again = victim.post("x.csv", rows)
    same = readers(victim)
    bob = {"name": "bob", "role": "submitter"}
    created = httpx2.post(f"{victim.server.address}/tokens", json=bob, headers=victim.auth(), timeout=60)
    other = replace(victim, token=created.json()["token"]).post("x.csv", rows)

    assert [answer.status_code for answer in (first, again, created, other)] == [200, 200, 201, 200]
    assert same == [kept]
    assert len(readers(victim)) == 2


def fork_server_of(web: psutil.Process) -> psutil.Process:
    """Return the process that forks the readers of a web process."""
    return next(child for child in web.children() if "app.reading" in " ".join(command_of(child)))


def test_readers_know_no_secrets(victim: Target) -> None:
    """Neither the token nor the address of the database stands in their environment."""
    server = fork_server_of(victim.server.child("web"))

    assert not [name for name in server.environ() if name.startswith("PLUMBLINE")]


def test_a_killed_web_process_leaves_nothing_behind(victim: Target, folder: Path) -> None:
    """Its readers end with it, and the next one removes its folder."""
    web = victim.server.child("web")
    server = fork_server_of(web)
    (left,) = folder.glob(f"{PREFIX}*")
    web.kill()
    wait_for(lambda: not server.is_running())
    wait_for(lambda: [path != left for path in folder.glob(f"{PREFIX}*")] == [True], within_s=30)

    assert not left.exists()
