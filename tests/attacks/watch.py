"""A server under attack, seen by somebody else: its memory, and how long others waited for it."""

import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx2
import psutil

from tests.cases.proxy import nginx_before
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

# A reader with another address than the attackers, who come from 127.0.0.1.
ELSEWHERE = "127.0.0.2"
WATCHED = {"/healthz": "health", "/benchmarks/open": "page"}
EVERY_S = 0.02
# Of a server that nobody attacks: where it waits too, the machine is busy and says nothing of the attack.
UNHARMED = "a server beside"
START_S = 60
MANIFEST = """\
schema_version: 1
slug: open
title: Open
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
leaderboards: [{name: s, method: skill_score, metric: MASE, baseline: Nobody}]
"""
GUESSES = """\
schema_version: 1
slug: guess
title: Guess
evidence: predictions
metrics: {accuracy: {direction: maximize}}
tasks: [{id: t}]
predictions: {kind: classification, classes: ['no', 'yes'], labels: submitted}
leaderboards: [{name: board, method: estimate, metrics: [accuracy]}]
"""


@dataclass
class Target:
    """A server to attack, where it is asked, the token of somebody who may write there, and a server beside it."""

    server: RunningServer
    address: str
    token: str
    beside: str

    @property
    def place(self) -> tuple[str, int]:
        """Return host and port."""
        url = httpx2.URL(self.address)
        return url.host, url.port or 80

    def auth(self) -> dict[str, str]:
        """Return the header by which the admin signs in."""
        return {"Authorization": f"Bearer {self.token}"}

    def connect(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(self.place, timeout=30)

    def post(self, name: str, content: bytes, slug: str = "open") -> httpx2.Response:
        """Send a file as a dry run."""
        address = f"{self.address}/benchmarks/{slug}/submissions?dry_run=true"
        return httpx2.post(address, files=[("files", (name, content))], headers=self.auth(), timeout=60)


@dataclass
class Harm:
    """What others noticed: how much the web process grew and readers took at most, and the longest waits."""

    growth_mib: float = 0.0
    reader_mib: float = 0.0
    longest_s: dict[str, float] = field(default_factory=lambda: dict.fromkeys([*WATCHED.values(), UNHARMED], 0.0))
    n_asked: int = 0

    @property
    def longest_beside_s(self) -> float:
        """Return the longest wait for the server that nobody attacked."""
        return self.longest_s[UNHARMED]

    @property
    def longest_there_s(self) -> float:
        """Return the longest wait for the server under attack."""
        return max(self.longest_s[name] for name in WATCHED.values())


@contextmanager
def target(*, behind_proxy: bool = False, **settings: str) -> Iterator[Target]:
    """Start a server with two benchmarks, behind the shipped proxy or without one."""
    hops = {"PLUMBLINE_FORWARDED_HOPS": "1"} if behind_proxy else {}
    with ExitStack() as stack:
        beside, data_dir = stack.enter_context(server_beside()), stack.enter_context(fresh_data_dir())
        server = stack.enter_context(running_server(data_dir, **hops, **settings))
        address = server.address
        if behind_proxy:
            address = f"http://{stack.enter_context(nginx_before(address.removeprefix('http://')))}"
        match = re.search(r"plb_[\w-]+", server.printed)
        if match is None:
            raise RuntimeError("the server printed no admin token")
        victim = Target(server, address, match[0], beside)
        for manifest in (MANIFEST, GUESSES):
            httpx2.post(
                f"{address}/benchmarks", content=manifest, headers=victim.auth(), timeout=START_S
            ).raise_for_status()
        # A page that is cached is what everybody reads.
        httpx2.get(f"{address}/benchmarks/open", timeout=START_S).raise_for_status()
        yield victim


@contextmanager
def server_beside() -> Iterator[str]:
    """Start a plain server of an empty folder, and give its address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            message = process.stdout.readline() if process.stdout else ""
            yield f"http://127.0.0.1:{re.findall(r'port ([0-9]+)', message)[0]}"
            process.terminate()


@contextmanager
def watched(victim: Target) -> Iterator[Harm]:
    """Ask for the watched addresses all the time while the block runs, and sample the memory."""
    harm, done = Harm(), threading.Event()
    web = victim.server.child("web")
    before = web.memory_info().rss
    asked = [(victim.address, path, name) for path, name in WATCHED.items()] + [(victim.beside, "/", UNHARMED)]
    threads = [threading.Thread(target=_ask, args=(*each, harm, done)) for each in asked]
    threads.append(threading.Thread(target=_sample, args=(web, before, harm, done)))
    for thread in threads:
        thread.start()
    try:
        yield harm
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _ask(address: str, path: str, name: str, harm: Harm, done: threading.Event) -> None:
    transport = httpx2.HTTPTransport(local_address=ELSEWHERE)
    with httpx2.Client(base_url=address, transport=transport, timeout=30) as reader:
        is_last = False
        while not is_last:
            is_last = done.wait(EVERY_S)
            began = time.monotonic()
            reader.get(path).raise_for_status()
            harm.longest_s[name] = max(harm.longest_s[name], time.monotonic() - began)
            harm.n_asked += 1


def _sample(web: psutil.Process, before: int, harm: Harm, done: threading.Event) -> None:
    while not done.wait(EVERY_S):
        harm.growth_mib = max(harm.growth_mib, (web.memory_info().rss - before) / 2**20)
        for child in web.children(recursive=True):
            try:
                harm.reader_mib = max(harm.reader_mib, child.memory_info().rss / 2**20)
            except psutil.NoSuchProcess:
                continue
