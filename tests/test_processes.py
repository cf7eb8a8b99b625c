"""What must hold when real processes race and die."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

from tests.cases import patient
from tests.cases.processes import admin, send, server, wait_until_settled
from tests.cases.running_server import RunningServer

__all__ = ["server"]

N_SUBMISSIONS = 24


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
    board = patient.get(f"{server.address}/benchmarks/tiny/leaderboards/skill.json").json()
    assert {row["entrant"] for row in board["rows"]} == set(entrants)


def test_a_burst_is_published_in_few_snapshots(server: RunningServer) -> None:
    """Submissions that arrive together share publications, and none is lost."""
    before = len(patient.get(f"{server.address}/benchmarks/tiny/snapshots.json").json())
    headers = admin(server)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: send(server, f"B{number}", headers), range(N_SUBMISSIONS)))

    for answer in answers:
        wait_until_settled(server, answer.json()["id"])

    after = len(patient.get(f"{server.address}/benchmarks/tiny/snapshots.json").json())
    assert after - before < N_SUBMISSIONS


def test_two_owners_at_the_same_instant_are_one(server: RunningServer) -> None:
    """Of two submitters of a new name exactly one gets it; the other one is told."""
    created = [
        patient.post(f"{server.address}/tokens", json={"name": name, "role": "submitter"}, headers=admin(server)).json()
        for name in ("ann", "ben")
    ]
    both = [{"Authorization": f"Bearer {token['token']}"} for token in created]
    for attempt in range(5):
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda headers, name=f"Race{attempt}": send(server, name, headers), both))

        assert sorted(answer.status_code for answer in answers) == [202, 409]
