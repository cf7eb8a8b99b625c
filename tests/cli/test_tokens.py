"""`plumbline token` asks the server that is named, and otherwise says which database it opens."""

from collections.abc import Iterator

import pytest

from app.cli.__main__ import run
from tests.cases import patient
from tests.cases.processes import admin
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.walkthrough import MANIFEST, PREREG


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server of the file's own: its first token after the admin's is number 2."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as running:
        yield running


def signed(server: RunningServer, token: str) -> list[str]:
    """Return the options that name a server and a token."""
    return ["--server", server.address, "--token", token]


def printed_token(capsys: pytest.CaptureFixture[str], *order: str) -> str:
    """Run a command that prints a token, and return it."""
    assert run(list(order)) == 0
    return capsys.readouterr().out.strip()


def test_a_token_lives_its_life_on_the_named_server(
    server: RunningServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made, renewed by its holder, told what it may do, listed, revoked: then it is of no use."""
    monkeypatch.setenv("COLUMNS", "200")
    as_admin = signed(server, admin(server)["Authorization"].removeprefix("Bearer "))
    first = printed_token(capsys, "token", "create", "ci", "--days", "30", *as_admin)
    second = printed_token(capsys, "token", "rotate", "2", "--overlap-h", "0", *signed(server, first))
    reported = printed_token(capsys, "whoami", *signed(server, second))
    codes = [run(["whoami", *signed(server, text)]) for text in (first, second)]
    capsys.readouterr()
    listed = printed_token(capsys, "token", "list", *as_admin)
    codes += [run(["token", "revoke", "2", *as_admin]), run(["whoami", *signed(server, second)])]

    assert "Token 2 of ci, role submitter" in reported
    assert "Valid for: every benchmark." in reported
    assert codes == [2, 0, 0, 2]
    assert "ci" in listed


def test_the_commands_give_a_benchmark_list_its_stewards_and_release_a_name(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each says what holds now."""
    headers = admin(server)
    registration = PREREG + b"entrants: [Good]\n"
    patient.post(f"{server.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
    patient.post(f"{server.address}/preregs", content=registration, headers=headers).raise_for_status()
    patient.post(f"{server.address}/tokens", json={"name": "ann", "role": "steward"}, headers=headers)
    patient.post(f"{server.address}/tokens", json={"name": "bea", "role": "submitter"}, headers=headers)
    as_admin = signed(server, headers["Authorization"].removeprefix("Bearer "))
    orders = [
        ["benchmark", "role", order, "tiny", *rest]
        for order, *rest in (
            ("add", "ann", "--role=steward"),
            ("list",),
            ("add", "bea", "--role=reviewer", "--days=30"),
            ("remove", "ann", "--role=steward"),
        )
    ]
    codes = [run([*order, *as_admin]) for order in [*orders, ["entrant", "release", "tiny", "Good", "--reason=x"]]]
    printed = capsys.readouterr().out

    assert codes == [0, 0, 0, 0, 0]
    assert "Stewards of tiny: admin, ann." in printed
    assert "granted" in printed
    assert "Stewards of tiny: admin.\nReviewers of tiny: bea." in printed
    assert "Good in tiny is no longer reserved for admin." in printed


def test_without_a_server_the_database_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that nobody makes tokens for the wrong folder unseen."""
    monkeypatch.delenv("PLUMBLINE_SERVER", raising=False)
    with fresh_data_dir() as data_dir:
        monkeypatch.setenv("PLUMBLINE_DATA_DIR", str(data_dir))
        assert run(["db", "upgrade"]) == 0
        capsys.readouterr()
        assert run(["token", "create", "ci"]) == 0

    assert f"In the database of {data_dir}." in capsys.readouterr().err
