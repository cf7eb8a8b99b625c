"""What takes turns on the same rows does so without one of them being broken off."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.cases import patient
from tests.cases.processes import admin, wait_until_settled
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.walkthrough import MANIFEST, PREREG

N_RESUBMISSIONS = 60
N_WITHDRAWN = 12


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A folder for a whole server."""
    with fresh_data_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def server(data_dir: Path) -> Iterator[RunningServer]:
    """A whole server with a worker, and a benchmark with a preregistration."""
    with running_server(data_dir, PLUMBLINE_MAX_REQUESTS_PER_MINUTE="10000") as running:
        patient.post(f"{running.address}/benchmarks", content=MANIFEST, headers=admin(running)).raise_for_status()
        patient.post(f"{running.address}/preregs", content=PREREG, headers=admin(running)).raise_for_status()
        wait_until_settled(running, send(running, "Base", 0.5).json()["id"])
        yield running


def send(server: RunningServer, entrant: str, score: float, key: str | None = None) -> httpx2.Response:
    """Submit three rows of an entrant."""
    rows = "model,task,MASE\n" + "".join(f"{entrant},t{task},{score + task}\n" for task in (1, 2, 3))
    files = [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", PREREG))]
    headers = admin(server) | ({} if key is None else {"Idempotency-Key": key})
    return patient.post(f"{server.address}/benchmarks/tiny/submissions", files=files, headers=headers)


def broken_off(data_dir: Path) -> list[str]:
    """Return what the database and the worker say of transactions that were broken off and of jobs that failed."""
    logs = [data_dir / "cluster" / "server.log", data_dir.parent / "serve.log"]
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
    return [line for line in lines if "deadlock detected" in line or "status: Error" in line]


def test_an_entrant_is_submitted_again_and_again_while_its_boards_are_published(
    server: RunningServer, data_dir: Path
) -> None:
    """No request fails, no job fails, no transaction is broken off, and the last one stands."""
    answers = [send(server, "Base", number) for number in range(N_RESUBMISSIONS)]

    assert {answer.status_code for answer in answers} == {202}
    assert wait_until_settled(server, answers[-1].json()["id"])["status"] == "published"
    assert broken_off(data_dir) == []


def test_submissions_are_withdrawn_while_their_boards_are_published(server: RunningServer, data_dir: Path) -> None:
    """Whatever state the worker has brought them to by then, each is withdrawn at once and stays so."""
    headers = admin(server)
    gone = []

    def send_and_withdraw(number: int) -> list[int]:
        codes = []
        for attempt in range(N_WITHDRAWN):
            sent = send(server, f"W{number}", attempt)
            address = f"{server.address}/submissions/{sent.json()['id']}/withdraw"
            withdrawn = patient.post(address, json={"reason": "wrong"}, headers=headers)
            codes += [sent.status_code, withdrawn.status_code]
            gone.append(sent.json()["id"])
        return codes

    with ThreadPoolExecutor(4) as pool:
        codes = [code for part in pool.map(send_and_withdraw, range(4)) for code in part]

    assert codes == [202, 200] * (4 * N_WITHDRAWN)
    wait_until_settled(server, send(server, "Last", 1.0).json()["id"])
    states = {patient.get(f"{server.address}/submissions/{number}.json").json()["status"] for number in gone}
    board = patient.get(f"{server.address}/benchmarks/tiny/leaderboards/average.json").json()
    assert states == {"withdrawn"}
    assert {row["entrant"] for row in board["rows"]} == {"Base", "Last"}
    assert broken_off(data_dir) == []


@pytest.mark.parametrize("key", [None, "once"])
def test_the_same_upload_sent_at_the_same_instant_is_one_submission(server: RunningServer, key: str | None) -> None:
    """Whoever comes second waits for the first and is given its submission, with an Idempotency-Key and without."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: send(server, f"Twin{key}", 1.0, key), range(8)))

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_one_key_for_two_uploads_at_the_same_instant_is_a_conflict(server: RunningServer) -> None:
    """One upload has the key; everyone else is told so."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: send(server, f"Rival{number}", 1.0, "taken"), range(8)))

    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 7
