"""Two web hosts behind the proxies that are shipped: a killed web process costs a reader a second at most."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import pairwise
from threading import Event, Thread

import httpx2
import pytest

from tests.cases import patient
from tests.cases.processes import admin
from tests.cases.proxy import CADDY, NGINX, caddy_before, free_port, nginx_before
from tests.cases.running_server import RunningServer, fresh_data_dir, is_alive, running_server
from tests.cases.walkthrough import MANIFEST

pytestmark = pytest.mark.alone

PROXIES = {"nginx": (NGINX, nginx_before), "caddy": (CADDY, caddy_before)}
LONGEST_GAP_S = 1.0
N_KILLED = 3
Before = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[RunningServer, RunningServer]]:
    """Two servers on one database, each with a port of its own."""
    settings = {"PLUMBLINE_SEVERAL_HOSTS": "1", "PLUMBLINE_MAX_READS_PER_MINUTE": "100000"}
    with ExitStack() as stack:
        data_dir = stack.enter_context(fresh_data_dir())
        one, other = (
            stack.enter_context(running_server(data_dir, PLUMBLINE_PORT=str(free_port()), **settings, **more))
            for more in ({}, {"PLUMBLINE_WORKERS": "0"})
        )
        patient.post(f"{one.address}/benchmarks", content=MANIFEST, headers=admin(one)).raise_for_status()
        yield one, other


@pytest.mark.parametrize("name", PROXIES)
def test_a_killed_web_process_costs_a_reader_little(hosts: tuple[RunningServer, RunningServer], name: str) -> None:
    """Killed in turn, each once the other is back; every answer is the page, and no two are far apart."""
    program, before = PROXIES[name]
    if program is None:
        pytest.skip(f"{name} is not installed")
    servers = [server.address.removeprefix("http://") for server in hosts]
    with before(*servers) as place:
        answers, stop = list[tuple[float, int]](), Event()
        reader = Thread(target=read, args=(f"http://{place}/benchmarks/tiny.json", answers, stop))
        reader.start()
        for n in range(N_KILLED):
            kill_web(hosts[n % 2])
        stop.set()
        reader.join()

    times = [at for at, _ in answers]
    gaps = [after - earlier for earlier, after in pairwise(times)]
    assert {status for _, status in answers} == {200}
    assert max(gaps) < LONGEST_GAP_S


def test_a_host_refuses_while_nobody_answers(hosts: tuple[RunningServer, RunningServer]) -> None:
    """So that a balancer knows at once; then it answers again at the same address."""
    web = hosts[0].child("web")
    web.kill()
    while is_alive(web):
        time.sleep(0.01)
    refused = False
    while not refused:
        try:
            httpx2.get(f"{hosts[0].address}/healthz", timeout=30)
            break
        except httpx2.ConnectError:
            refused = True
        except httpx2.TransportError:
            continue

    assert refused
    wait_for(hosts[0])


def read(address: str, answers: list[tuple[float, int]], stop: Event) -> None:
    """Ask for a page again and again, and note when each answer came."""
    with httpx2.Client(timeout=30) as client:
        while not stop.is_set():
            answers.append((time.monotonic(), client.get(address).status_code))
            time.sleep(0.02)


def kill_web(server: RunningServer) -> None:
    """Kill a server's web process, and wait until another one answers there, and for a while more."""
    killed = server.child("web")
    killed.kill()
    while is_alive(killed):
        time.sleep(0.01)
    wait_for(server)
    time.sleep(1.0)


def wait_for(server: RunningServer) -> None:
    """Wait until a server answers."""
    while True:
        try:
            httpx2.get(f"{server.address}/healthz", timeout=60).raise_for_status()
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return
