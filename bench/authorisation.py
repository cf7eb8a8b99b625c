"""What it costs a reader of a kept page that there are tokens, sessions and limits.

Run it with `.venv/bin/python -m bench.authorisation`. First a small page of real servers over HTTP, two of which tell
no addresses apart and so limit none: how far those two lie apart is what servers alike differ by. Then in this process
without a socket, which is our own part alone. The cases take turns, so that all see the same machine, and over HTTP the
quickest round counts: others on the machine only ever make one slower. Figures are in docs/security.md.
"""

import asyncio
import socket
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx2
from starlette.types import ASGIApp, Message, Scope

from app.config import MIB, Settings
from app.main import _render_app
from app.web.front import Front
from app.web.limits import RateLimit
from app.web.page_cache import Freshness, PublishedPages
from bench.server import OPEN_MANIFEST, UNLIMITED, headers
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

N_REQUESTS, N_ROUNDS = 5000, 15
N_OVER_HTTP, N_ROUNDS_OVER_HTTP = 300, 60
PAGE = "/benchmarks/big"
SHOWN = {
    "a stranger": "",
    "with a token": f"Authorization: Bearer plb_{'x' * 43}\r\n",
    "with a session": f"Cookie: __Host-plumbline={'x' * 43}\r\n",
}
NOWHERE = "postgresql://nobody@127.0.0.1:9/nothing"
BROWSER = [
    (b"host", b"127.0.0.1"),
    (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64)"),
    (b"accept", b"text/html"),
    (b"accept-encoding", b"gzip"),
]
TOKEN = [*BROWSER, (b"authorization", b"Bearer plb_" + b"x" * 43)]
SESSION = [*BROWSER, (b"cookie", b"__Host-plumbline=" + b"x" * 43)]


def scope_of(headers: list[tuple[bytes, bytes]]) -> Scope:
    """Return a request for the glossary, which depends on nothing."""
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": "/glossary", "raw_path": b"/glossary", "root_path": "", "query_string": b"", "headers": headers,
        "server": ("127.0.0.1", 8000), "client": ("192.0.2.1", 5000), "state": {},
    }  # fmt: skip


async def receive() -> Message:
    """Return an empty body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def send(_: Message) -> None:
    """Take the answer."""


async def seconds(app: ASGIApp, scope: Scope) -> float:
    """Return how long a request takes, over many of them."""
    begun = time.perf_counter()
    for _ in range(N_REQUESTS):
        await app(scope, receive, send)
    return (time.perf_counter() - begun) / N_REQUESTS


async def measure() -> dict[str, float]:
    """Return the median time of a request in each case; the cases take turns, so that all see the same machine."""
    pages = PublishedPages(_render_app(Settings(), NOWHERE), 16 * MIB, Freshness())
    open_door, guarded = Front(pages), Front(pages, RateLimit(10**9), 1)
    cases: dict[str, Callable[[], Awaitable[float]]] = {
        "a stranger, no limit": lambda: seconds(open_door, scope_of(BROWSER)),
        "a stranger": lambda: seconds(guarded, scope_of(BROWSER)),
        "with a token": lambda: seconds(guarded, scope_of(TOKEN)),
        "with a session": lambda: seconds(guarded, scope_of(SESSION)),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(N_ROUNDS):
        for name, case in cases.items():
            times[name].append(await case())
    return {name: statistics.median(taken) for name, taken in times.items()}


class Reader:
    """Sends one request after the other on a kept connection, and reads its answer; a connection for each round."""

    def __init__(self, server: RunningServer, shown: str) -> None:
        parts = urlsplit(server.address)
        self._address = str(parts.hostname), int(parts.port or 80)
        head = "Host: example.org\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\nX-Forwarded-For: 192.0.2.1\r\n"
        self._request = f"GET {PAGE} HTTP/1.1\r\n{head}{shown}\r\n".encode()

    def seconds(self) -> float:
        """Return how long an answer takes, over many of them."""
        with socket.create_connection(self._address, timeout=30) as self._socket:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._ask()
            begun = time.perf_counter()
            for _ in range(N_OVER_HTTP):
                self._ask()
            return (time.perf_counter() - begun) / N_OVER_HTTP

    def _ask(self) -> None:
        self._socket.sendall(self._request)
        self._read()

    def _read(self) -> None:
        got = self._more()
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
        left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) - len(body)
        while left > 0:
            left -= len(self._more())

    def _more(self) -> bytes:
        received = self._socket.recv(1 << 16)
        if not received:
            raise ConnectionError("the server closed the connection")
        return received


@contextmanager
def serving(**settings: str) -> Iterator[RunningServer]:
    """Run a server behind a proxy, with a benchmark without submissions: the smallest page that is kept for one."""
    with socket.create_server(("127.0.0.1", 0)) as result:
        port = str(result.getsockname()[1])
    known = {**UNLIMITED, "PLUMBLINE_PORT": port, "PLUMBLINE_BASE_URL": f"http://127.0.0.1:{port}"}
    with fresh_data_dir() as data_dir, running_server(data_dir, **known, **settings) as server:
        sent = {"content": OPEN_MANIFEST.encode(), "headers": headers(server)}
        httpx2.post(f"{server.address}/benchmarks", **sent).raise_for_status()
        yield server


def measure_over_http() -> dict[str, float]:
    """Return the time of a request in each case, in its quickest round."""
    with ExitStack() as stack:
        unlimited, alike = (stack.enter_context(serving()) for _ in range(2))
        limited = stack.enter_context(serving(PLUMBLINE_FORWARDED_HOPS="1"))
        readers = {"a stranger, no limit": Reader(unlimited, ""), "the same of another": Reader(alike, "")}
        readers |= {name: Reader(limited, shown) for name, shown in SHOWN.items()}
        times: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(N_ROUNDS_OVER_HTTP):
            for name, reader in readers.items():
                times[name].append(reader.seconds())
    return {name: min(taken) for name, taken in times.items()}


def show(title: str, measured: dict[str, float]) -> None:
    """Print each case and what it costs over the first."""
    print(title)
    least = next(iter(measured.values()))
    for name, taken in measured.items():
        print(f"  {name:24} {taken * 1e6:7.2f} µs {100 * (taken / least - 1):+6.1f} %")


def main() -> None:
    """Measure over HTTP and in the process."""
    show("over HTTP", measure_over_http())
    show("in the process", asyncio.run(measure()))


if __name__ == "__main__":
    main()
