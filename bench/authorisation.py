"""What it costs a reader of a kept page that there are tokens, sessions and limits.

Run it with `.venv/bin/python -m bench.authorisation`. The page is served in this process without a socket, so that what
is measured is our own part alone: of a request over HTTP it is a small share. Figures are in docs/security.md.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Scope

from app.config.settings import MIB, Settings
from app.main import _render_app
from app.web.cache import PublishedPages
from app.web.freshness import Freshness
from app.web.front import Front
from app.web.limits import RateLimit

N_REQUESTS, N_ROUNDS = 5000, 15
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


def main() -> None:
    """Print each case and what it costs over the first."""
    measured = asyncio.run(measure())
    least = next(iter(measured.values()))
    for name, taken in measured.items():
        print(f"{name:24} {taken * 1e6:7.2f} µs {100 * (taken / least - 1):+6.1f} %")


if __name__ == "__main__":
    main()
