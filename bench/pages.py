"""A cached board page, and its 304, against an ASGI app that only sends the same bytes on the same uvicorn."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from bench.server import EXAMPLE, UNLIMITED, headers, settle, submit
from tests.cases.running_server import fresh_data_dir, running_server

PAGE = "/benchmarks/fev-bench/leaderboards/sql"
SECONDS, ROUNDS = 3.0, 3


def measure_pages() -> tuple[float, float, float]:
    """Return requests per second of the cached page, of its 304, and of the bare app: the best of several rounds."""
    manifest = (EXAMPLE / "manifest.yaml").read_bytes().replace(b"prereg: required", b"prereg: optional")
    with (
        fresh_data_dir() as data_dir,
        running_server(data_dir, **UNLIMITED) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        httpx2.post(f"{server.address}/benchmarks", content=manifest, headers=headers(server))
        files = sorted((EXAMPLE / "results").glob("*.csv"))
        for answer in [submit(server, "fev-bench", path.name, path.read_bytes()) for path in files]:
            settle(server, answer)
        page = httpx2.get(server.address + PAGE, headers={"Accept": "text/html", "Accept-Encoding": "identity"})
        body = Path(folder) / "page.html"
        body.write_bytes(page.content)
        with bare_server(body) as bare:
            rates = [(rate(server.address), rate(server.address, page.headers["etag"]), rate(bare))
                     for _ in range(ROUNDS)]  # fmt: skip
    return max(r[0] for r in rates), max(r[1] for r in rates), max(r[2] for r in rates)


def rate(address: str, etag: str | None = None) -> float:
    """Return how many requests for the page are answered per second."""
    parts = urlsplit(address)
    command = [sys.executable, "-m", "bench.load", str(parts.hostname), str(parts.port), PAGE, str(SECONDS)]
    done = subprocess.run([*command, *([etag] if etag else [])], capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextmanager
def bare_server(body: Path) -> Iterator[str]:
    """Run the bare app on a free port and yield its address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(256)
    listening.set_inheritable(True)
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.bare", str(listening.fileno())],
        env=os.environ | {"BARE_BODY": str(body)},
        pass_fds=[listening.fileno()],
    )
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        _wait(address)
        yield address
    finally:
        process.terminate()
        process.wait()
        listening.close()


def _wait(address: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            httpx2.get(address, timeout=5)
        except httpx2.TransportError:
            if time.monotonic() > deadline:
                raise
        else:
            return
