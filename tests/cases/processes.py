"""A running server with an admin, and rows sent to it, for tests of what races and dies."""

import re
import signal
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.cases import patient
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.walkthrough import MANIFEST, PREREG

PUBLISHED_WITHIN_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A whole server, with a benchmark and a preregistration."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as running:
        headers = admin(running)
        patient.post(f"{running.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        patient.post(f"{running.address}/preregs", content=PREREG, headers=headers).raise_for_status()
        yield running


def admin(server: RunningServer) -> dict[str, str]:
    """Return the header by which the first admin signs in."""
    match = re.search(r"plb_[\w-]+", server.printed)
    assert match is not None
    return {"Authorization": f"Bearer {match[0]}"}


def send(server: RunningServer, entrant: str, headers: dict[str, str]) -> httpx2.Response:
    """Submit three rows of an entrant."""
    rows = "model,task,MASE\n" + "".join(f"{entrant},t{task},{task + len(entrant)}\n" for task in (1, 2, 3))
    files = [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", PREREG))]
    return patient.post(f"{server.address}/benchmarks/tiny/submissions", files=files, headers=headers)


def wait_until_settled(server: RunningServer, number: int) -> dict[str, list[dict[str, str]]]:
    """Return a submission once it is past waiting; a bounded poll of its public state."""
    deadline = time.monotonic() + PUBLISHED_WITHIN_S
    while time.monotonic() < deadline:
        result: dict[str, list[dict[str, str]]] = patient.get(f"{server.address}/submissions/{number}.json").json()
        if result["waiting_for"] is None:
            return result
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"submission {number} still waits for {result['waiting_for']}")
