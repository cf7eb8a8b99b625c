"""What must hold when real processes race and die."""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.running_server import RunningServer, fresh_data_dir, running_server
from tests.test_walkthrough import MANIFEST, PREREG

N_SUBMISSIONS = 24
PUBLISHED_WITHIN_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A whole server, with a benchmark and a preregistration."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as running:
        headers = admin(running)
        httpx.post(f"{running.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        httpx.post(f"{running.address}/preregs", content=PREREG, headers=headers).raise_for_status()
        yield running


def admin(server: RunningServer) -> dict[str, str]:
    """Return the header by which the first admin signs in."""
    found = re.search(r"plb_[\w-]+", server.printed)
    assert found is not None
    return {"Authorization": f"Bearer {found[0]}"}


def send(server: RunningServer, entrant: str, headers: dict[str, str]) -> httpx.Response:
    """Submit three rows of an entrant."""
    rows = "model,task,MASE\n" + "".join(f"{entrant},t{task},{task + len(entrant)}\n" for task in (1, 2, 3))
    files = [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", PREREG))]
    return httpx.post(f"{server.address}/benchmarks/tiny/submissions", files=files, headers=headers, timeout=30)


def wait_until_settled(server: RunningServer, number: int) -> dict[str, list[dict[str, str]]]:
    """Return a submission once it is past waiting; a bounded poll of its public state."""
    deadline = time.monotonic() + PUBLISHED_WITHIN_S
    while time.monotonic() < deadline:
        found: dict[str, list[dict[str, str]]] = httpx.get(f"{server.address}/submissions/{number}.json").json()
        if found["waiting_for"] is None:
            return found
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"submission {number} still waits for {found['waiting_for']}")


def test_every_accepted_submission_is_published_once_although_the_worker_is_killed(server: RunningServer) -> None:
    """A worker dies in the middle of a burst; another takes up what it left."""
    headers = admin(server)
    entrants = ["Base", *(f"E{number}" for number in range(1, N_SUBMISSIONS))]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda entrant: send(server, entrant, headers), entrants[:12]))
        os.kill(server.child("worker").pid, signal.SIGKILL)
        answers += list(pool.map(lambda entrant: send(server, entrant, headers), entrants[12:]))
    assert {answer.status_code for answer in answers} == {202}

    settled = [wait_until_settled(server, answer.json()["id"]) for answer in answers]

    for submission in settled:
        assert [event["status"] for event in submission["history"]] == ["received", "evaluated", "published"]
    board = httpx.get(f"{server.address}/benchmarks/tiny/leaderboards/skill.json").json()
    assert {row["entrant"] for row in board["rows"]} == set(entrants)


def test_a_burst_is_published_in_few_snapshots(server: RunningServer) -> None:
    """Submissions that arrive together share publications, and none is lost."""
    before = len(httpx.get(f"{server.address}/benchmarks/tiny/snapshots.json").json())
    headers = admin(server)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: send(server, f"B{number}", headers), range(N_SUBMISSIONS)))

    for answer in answers:
        wait_until_settled(server, answer.json()["id"])

    after = len(httpx.get(f"{server.address}/benchmarks/tiny/snapshots.json").json())
    assert after - before < N_SUBMISSIONS


def test_two_owners_at_the_same_instant_are_one(server: RunningServer) -> None:
    """Of two submitters of a new name exactly one gets it; the other one is told."""
    made = [
        httpx.post(f"{server.address}/tokens", json={"name": name, "role": "submitter"}, headers=admin(server)).json()
        for name in ("ann", "ben")
    ]
    both = [{"Authorization": f"Bearer {token['token']}"} for token in made]
    for attempt in range(5):
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda headers, name=f"Race{attempt}": send(server, name, headers), both))

        assert sorted(answer.status_code for answer in answers) == [202, 409]
