"""Whose an entrant is, and since when."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from app.cli.__main__ import run
from app.web.documents import ListedToken, OwnerDocument
from tests.cases import patient
from tests.cases.processes import admin
from tests.cases.processes import send as send_rows
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, PREREG, declare, send
from tests.fixtures import Site, SiteAfter

ALICE, BOB = 1, 2
BEYOND = 99999999999999
WRONG_CLAIM = '{"Good": {"MASE": 99}}'


@pytest.fixture
def tiny(site_after: SiteAfter) -> Site:
    """The benchmark tiny, declared once for all of these."""
    return site_after(declare)


def test_a_submission_that_its_evaluation_refuses_takes_no_name(tiny: Site) -> None:
    """The name is taken while the submission waits, and anybody's again once it is not admitted."""
    refused = send(tiny, GOOD, claims=WRONG_CLAIM)["id"]
    assert send(tiny, GOOD, "bob")["http"] == 409
    tiny.work()

    assert tiny.http.get(f"/submissions/{refused}.json").json()["status"] == "not_admitted"
    assert send(tiny, GOOD, "bob")["http"] == 202


def test_a_refused_submission_loses_no_name_that_another_one_holds(tiny: Site) -> None:
    """Whoever was admitted before, or waits to be, keeps the name."""
    send(tiny, BASE)
    tiny.work()
    send(tiny, BASE.replace(b"Base,t1,1.0", b"Base,t1,1.5"), claims='{"Base": {"MASE": 99}}')
    send(tiny, GOOD, claims=WRONG_CLAIM)
    send(tiny, BETTER)
    tiny.work()

    assert send(tiny, BASE, "bob")["http"] == 409
    assert send(tiny, GOOD, "bob")["http"] == 409


def test_a_name_that_a_steward_gave_stays(tiny: Site) -> None:
    """A refused submission of the new owner does not undo the steward's decision."""
    send(tiny, GOOD)
    tiny.work()
    order = {"token_id": 2, "reason": "handed over"}
    tiny.http.put("/benchmarks/tiny/entrants/Good/owner", json=order, headers=tiny.auth("steward"))
    send(tiny, BETTER, "bob", claims=WRONG_CLAIM)
    tiny.work()

    assert send(tiny, BETTER)["http"] == 409
    assert send(tiny, BETTER, "bob")["http"] == 202


def move(site: Site, token_id: Any, reason: str = "handed over", entrant: str = "Good") -> Any:
    """Order an entrant to be moved."""
    order = {"token_id": token_id, "reason": reason}
    return site.http.put(f"/benchmarks/tiny/entrants/{entrant}/owner", json=order, headers=site.auth("steward"))


def test_an_entrants_page_says_whose_it_is_and_how_it_changed_hands(tiny: Site) -> None:
    """In words and as data; the reason is there for everyone."""
    send(tiny, GOOD)
    # At an address of its own: a page that is kept may be shown for a moment longer.
    before = tiny.http.get("/benchmarks/tiny/entrants/Good.json?detail=1").json()
    move(tiny, BOB, "Alice left the group.")
    after = tiny.http.get("/benchmarks/tiny/entrants/Good.json").json()
    page = tiny.http.get("/benchmarks/tiny/entrants/Good").text

    assert "Owner: alice." in before["notes"]
    assert (before["meta"]["owner"], before["meta"]["transfers"]) == ({"token": ALICE, "name": "alice"}, [])
    assert after["meta"]["owner"] == {"token": BOB, "name": "bob"}
    (transfer,) = after["meta"]["transfers"]
    assert (transfer["from"]["name"], transfer["to"]["name"], transfer["by"]) == ("alice", "bob", "steward")
    assert "Owner: bob." in page
    assert "Moved from alice to bob by steward" in page
    assert "Alice left the group." in page


def test_an_entrant_that_nobody_owns_says_so(tiny: Site) -> None:
    """As after a submission that was not admitted."""
    send(tiny, GOOD, metadata='{"dirty": true}')

    assert "Nobody owns this entrant." in tiny.http.get("/benchmarks/tiny/entrants/Good").text


def test_moving_an_entrant_to_its_owner_changes_nothing(tiny: Site) -> None:
    """Sending an order twice leaves one record."""
    send(tiny, GOOD)

    answers = [move(tiny, BOB) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    OwnerDocument.model_validate(answers[0].json())
    assert len(tiny.http.get("/benchmarks/tiny/entrants/Good.json").json()["meta"]["transfers"]) == 1


ORDERS = (
    (77, "x", 404, "There is no token 77."),
    (BEYOND, "x", 422, "2147483647"),
    (0, "x", 422, "greater than or equal to 1"),
    (BOB, "  ", 422, "at least 1 character"),
    (BOB, "a\u202eb", 422, "direction of reading"),
    (BOB, "a\u0000b", 422, "control characters"),
)
"""To whom and why, and what is answered."""


def test_an_order_that_cannot_be_followed_is_refused(tiny: Site) -> None:
    """With the reason in words, and the entrant stays whose it is; of a revoked token nobody could submit any more."""
    send(tiny, GOOD)
    for token_id, reason, status, word in ORDERS:
        answer = move(tiny, token_id, reason)
        assert (answer.status_code, word in answer.text) == (status, True), answer.text
    tiny.http.delete(f"/tokens/{BOB}", headers=tiny.auth("admin"))

    assert move(tiny, BOB).status_code == 409
    assert "Owner: alice." in tiny.http.get("/benchmarks/tiny/entrants/Good.json").json()["notes"]


def test_a_steward_sees_the_tokens_and_never_their_text(site: Site) -> None:
    """Numbers, names and roles; a submitter sees none."""
    site.http.delete(f"/tokens/{BOB}", headers=site.auth("admin"))
    answer = site.http.get("/tokens", headers=site.auth("steward"))

    assert [(t["id"], t["name"], t["role"]) for t in answer.json()][:3] == [
        (ALICE, "alice", "submitter"),
        (BOB, "bob", "submitter"),
        (3, "steward", "steward"),
    ]
    assert [t["revoked_at"] is None for t in answer.json()] == [True, False, True, True]
    TypeAdapter(list[ListedToken]).validate_python(answer.json())
    assert "plb_" not in answer.text
    assert "hash" not in answer.text
    assert site.http.get("/tokens", headers=site.auth()).status_code == 403
    assert site.http.get("/tokens").status_code == 401
    beyond = site.http.delete(f"/tokens/{BEYOND}", headers=site.auth("admin"))
    assert (beyond.status_code, "2147483647" in beyond.text) == (422, True)
    assert site.http.delete("/tokens/77", headers=site.auth("admin")).status_code == 404


def test_the_command_moves_an_entrant_by_the_number_or_the_name_of_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    """A name is that of one token: the second one of it was refused."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as server:
        headers = admin(server)
        patient.post(f"{server.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        patient.post(f"{server.address}/preregs", content=PREREG, headers=headers).raise_for_status()
        for name in ("ann", "ben", "ben"):
            patient.post(f"{server.address}/tokens", json={"name": name, "role": "submitter"}, headers=headers)
        send_rows(server, "My Good (1)", headers)

        codes = [_move(server, headers, owner) for owner in ("ann", "3", "ben", "nobody")]
        actual = patient.get(f"{server.address}/benchmarks/tiny/entrants/My%20Good%20(1).json").json()

    assert codes == [0, 0, 0, 2]
    assert [t["to"]["name"] for t in actual["meta"]["transfers"]] == ["ann", "ben"]
    printed = capsys.readouterr()
    assert "My Good (1) now belongs to ann (token 2)." in printed.out
    assert "No valid token is named nobody" in printed.err


def _move(server: RunningServer, headers: dict[str, str], owner: str) -> int:
    text = headers["Authorization"].removeprefix("Bearer ")
    return run(
        ["entrant", "move", "tiny", "My Good (1)", owner, "--reason=moved", "--server", server.address, "--token", text]
    )
