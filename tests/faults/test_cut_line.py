"""A line to the database that is cut: nothing comes back, neither an answer nor a refusal, as when its machine dies."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.cases import patient
from tests.cases.own_postgres import AWAY, own_postgres
from tests.cases.processes import admin
from tests.cases.running_server import running_server
from tests.cases.storm import declare, expected_means, plan, published_means, send_all, settled
from tests.cases.waiting import eventually

DEBIANS = Path("/usr/lib/postgresql")
PROGRAMS = Path(os.environ.get("FAULTS_PROGRAMS") or max(DEBIANS.glob("*/bin"), default=DEBIANS))
needs = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or not (PROGRAMS / "postgres").exists(),
    reason="needs root, iproute2 and a Postgres with a port",
)
pytestmark = [pytest.mark.faults, needs]

SLUG = "storm-a"
# The patience of a connection, that for a new one, and more for a busy machine; the system's own is a quarter hour.
FREED_WITHIN_S = 60


@contextmanager
def cut(host: str) -> Iterator[None]:
    """Have the system drop whatever is sent to an address of this machine."""
    route = ["blackhole", f"{host}/32", "table", "local"]
    subprocess.run(["ip", "route", "add", *route], check=True)
    try:
        yield
    finally:
        subprocess.run(["ip", "route", "del", *route], check=True)


def test_a_cut_line_holds_nobody_for_long() -> None:
    """A request that has begun is answered with 503, and what is sent when the line is whole again is published."""
    with own_postgres(PROGRAMS) as (folder, url):
        settings = {"PLUMBLINE_DATABASE_URL": url.replace("127.0.0.1", AWAY), "PLUMBLINE_WORKERS": "1"}
        with running_server(folder / "none", **settings) as server:
            headers = admin(server)
            declare(server.address, headers, [SLUG])
            before = send_all([server.address], headers, plan([SLUG], 4, seed=1), 2)
            settled(server.address, sorted(before.numbers.values()), within_s=120)
            page = f"{server.address}/submissions/1.json"
            patient.get(page)
            with cut(AWAY):
                began = time.monotonic()
                during = httpx2.get(page, timeout=FREED_WITHIN_S).status_code
                lasted_s = time.monotonic() - began
                ready = httpx2.get(f"{server.address}/readyz", timeout=10).status_code
                alive = httpx2.get(f"{server.address}/healthz", timeout=10).status_code
            assert eventually(lambda: httpx2.get(f"{server.address}/readyz", timeout=20).status_code == 200, 60)
            seen = send_all([server.address], headers, plan([SLUG], 4, seed=2), 2)
            settled(server.address, sorted(seen.numbers.values()), within_s=120)
            means = published_means(server.address, SLUG)

    print(f"a request whose line was cut was answered after {lasted_s:.0f} s")
    assert (during, ready, alive) == (503, 503, 200)
    assert means == pytest.approx(expected_means(before, SLUG) | expected_means(seen, SLUG), rel=1e-12)
