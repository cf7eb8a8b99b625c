"""Boards as data frames and results sent from Python, waiting or awaited, against a whole server."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import plumbline
from app.cli.__main__ import run
from plumbline.cli.remote import ServerRefused, Unreachable
from plumbline.retries import FIRST_LOOK_S, LONGEST_LOOK_S, pauses
from tests.cases import patient
from tests.cases.publications import table
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

TOKEN = "plumbline-admin-of-the-client-test"
MANIFEST = """
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {score: {direction: maximize, min: 0, max: 1, unit: points}}
tasks: [{id: t1}, {id: t2}, {id: t3}, {id: t4}, {id: t5}]
admission: {prereg: optional}
leaderboards: [{name: average, method: mean, metric: score}]
"""
COLUMNS = ("model", "task", "score")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server with one benchmark, whose admin token is known."""
    with fresh_data_dir() as folder, running_server(folder, PLUMBLINE_ADMIN_TOKEN=TOKEN) as running:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
        created = patient.post(f"{running.address}/benchmarks", content=MANIFEST, headers=headers)
        assert created.status_code == 201, created.text
        yield running


def rows(model: str, score: float) -> str:
    """Return a table of five tasks."""
    return table(COLUMNS, [(model, f"t{at}", score - at / 100) for at in range(1, 6)])


def written(folder: Path, model: str, score: float) -> Path:
    """Return a file of results."""
    path = folder / f"{model}.csv"
    path.write_text(rows(model, score))
    return path


def test_what_is_sent_stands_on_the_board_as_a_frame(server: RunningServer, tmp_path: Path) -> None:
    """submit, wait and board: the frame has the score with its interval, and says how it was made."""
    with plumbline.Client(server.address, TOKEN) as client:
        sent = [client.submit("tiny", written(tmp_path, name, score)) for name, score in (("a", 0.9), ("b", 0.5))]
        verdicts = [client.wait(each["id"], timeout_s=120)["status"] for each in sent]
        frame = client.board("tiny", "average")

    assert verdicts == ["published", "published"]
    assert list(frame["entrant"]) == ["a", "b"]
    assert list(frame["rank"]) == [1, 2]
    low, high = frame.attrs["columns"]["mean_score"]["interval"]
    assert (frame[low] <= frame["mean_score"]).all()
    assert (frame["mean_score"] <= frame[high]).all()
    assert (frame.attrs["benchmark"], frame.attrs["columns"]["mean_score"]["unit"]) == ("tiny", "points")


def test_the_functions_of_the_module_take_server_and_token_from_the_environment(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the command line does: nothing is named twice."""
    monkeypatch.setenv("PLUMBLINE_SERVER", server.address)
    monkeypatch.setenv("PLUMBLINE_TOKEN", TOKEN)
    tried = plumbline.dry_run("tiny", [written(tmp_path, "c", 0.7)], metadata={"version": "1"})

    assert (tried["admitted"], tried["entrants"], tried["n_rows"]) == (True, ["c"], 5)


def test_a_folder_is_sent_as_its_files(server: RunningServer, tmp_path: Path) -> None:
    """Without packing it first."""
    folder = tmp_path / "run"
    folder.mkdir()
    written(folder, "d", 0.4)

    with plumbline.Client(server.address, TOKEN) as client:
        assert client.dry_run("tiny", folder)["entrants"] == ["d"]


def test_every_problem_that_the_server_found_is_raised(server: RunningServer, tmp_path: Path) -> None:
    """With file, row, column and value, as the page shows them."""
    path = tmp_path / "bad.csv"
    path.write_text("model,task,score\na,t1,fast\na,t9,0.5\n")

    with plumbline.Client(server.address, TOKEN) as client, pytest.raises(ServerRefused) as refused:
        client.submit("tiny", path)

    assert {(each.row, each.column) for each in refused.value.problems} == {(2, "score"), (3, "task")}


def test_the_awaited_client_does_the_same(server: RunningServer, tmp_path: Path) -> None:
    """Two submissions at once, each awaited to its verdict; the board may be some seconds old, and is a frame."""

    async def send(client: plumbline.AsyncClient, model: str, score: float) -> str:
        sent = await client.submit("tiny", written(tmp_path, model, score), metadata={"version": "2"})
        return (await client.wait(sent["id"], timeout_s=120))["status"]

    async def both() -> tuple[list[str], list[str]]:
        async with plumbline.AsyncClient(server.address, TOKEN) as client:
            actual = await asyncio.gather(send(client, "e", 0.3), send(client, "f", 0.2))
            frame = await client.board("tiny", "average")
        return actual, list(frame.columns)

    verdicts, columns = asyncio.run(both())

    assert verdicts == ["published", "published"]
    assert columns[:2] == ["rank", "entrant"]


def test_the_awaited_client_raises_what_the_server_refuses(server: RunningServer) -> None:
    """A board that is not there."""

    async def ask() -> None:
        async with plumbline.AsyncClient(server.address) as client:
            await client.board("tiny", "nothing")

    with pytest.raises(ServerRefused) as refused:
        asyncio.run(ask())

    assert refused.value.status == 404


def test_nobody_listening_is_unreachable() -> None:
    """Whether it is waited for or awaited."""
    with socket.socket() as taken:
        # Bound and not listening: nobody else gets the port, and connections are refused.
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        _refuses(address)


def _refuses(address: str) -> None:

    async def ask() -> None:
        async with plumbline.AsyncClient(address) as client:
            await client.submission(1)

    with plumbline.Client(address) as client, pytest.raises(Unreachable):
        client.submission(1)
    with pytest.raises(Unreachable):
        asyncio.run(ask())


def test_waiting_ends_when_the_time_is_over() -> None:
    """The pauses are longer each time, up to a limit, and add up to no more than a pause beyond the time given."""
    waited = []

    with pytest.raises(TimeoutError, match="within 9 s"):
        waited.extend(pauses(9.0))

    assert waited[0] <= FIRST_LOOK_S
    assert waited[:4] == sorted(waited[:4])
    assert max(waited) <= LONGEST_LOOK_S
    assert 9.0 <= sum(waited) <= 9.0 + LONGEST_LOOK_S


def test_who_is_notified_is_added_listed_and_removed_on_the_command_line(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The secret is shown once, when the address is added; what is no event is refused with those that are."""
    monkeypatch.setenv("PLUMBLINE_SERVER", server.address)
    monkeypatch.setenv("PLUMBLINE_TOKEN", TOKEN)
    codes = [run(["notify", "add", "https://hooks.example.org/p", "--benchmark", "tiny", "--event", "published"])]
    created = capsys.readouterr().out
    number = created.split()[1].rstrip(":")
    codes += [run(["notify", "list"]), run(["notify", "add", "https://hooks.example.org/p", "--event", "lost"])]
    listed = capsys.readouterr()
    codes += [run(["notify", "remove", number]), run(["notify", "list"])]
    ended = capsys.readouterr()

    assert codes == [0, 0, 2, 0, 0]
    assert "whsec_" in created
    assert "hooks.example.org" in listed.out
    assert "whsec_" not in listed.out
    assert "not_admitted" in listed.err
    assert "Nobody is notified" in ended.err
