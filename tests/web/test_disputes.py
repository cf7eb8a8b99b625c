"""Somebody says that a submission is wrong: its stewards read it at once, everybody with the answer."""

import pytest

from tests.cases.walkthrough import BASE, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

WRONG = {"text": "These rows are of another checkpoint."}
ANSWER = {"answer": "They are; a newer submission follows."}
DISPUTES = "/submissions/1/disputes"
HTML = {"accept": "text/html"}


def say(site: Site, who: str = "bob", number: int = 1) -> int:
    """Say that a submission is wrong, and return the status of the answer."""
    sent = site.http.post(f"/submissions/{number}/disputes", json=WRONG, headers=site.auth(who))
    return int(sent.status_code)


def send_base(site: Site) -> None:
    """Send one submission, of alice."""
    declare(site)
    assert send(site, BASE)["http"] == 202


@pytest.fixture
def sent(site_after: SiteAfter) -> Site:
    """A site with one submission, of alice."""
    return site_after(send_base)


def test_a_dispute_is_public_with_its_answer(sent: Site) -> None:
    """Before, everybody sees that something waits, and who may read it are the steward and who said it."""
    assert say(sent) == 201
    before, page = sent.http.get("/submissions/1.json").json(), sent.http.get("/submissions/1", headers=HTML).text
    desk = sent.http.get("/desk/tiny", headers=sent.auth("steward")).text
    own, other = (sent.http.get("/disputes/1", headers=sent.auth(who)).text for who in ("bob", "alice"))
    answered = sent.http.post(f"{DISPUTES}/1/answer", json=ANSWER, headers=sent.auth("steward"))

    assert (before["disputes"][0]["text"], before["disputes"][0]["answer"]) == (None, None)
    assert WRONG["text"] not in page + other
    assert "waiting for a steward's answer" in page
    assert f"from bob: {WRONG['text']}" in " ".join(desk.split())
    assert WRONG["text"] in own
    kept = sent.http.get("/whoami/data", headers=sent.auth("bob")).json()["disputes"]
    assert [each["text"] for each in kept] == [WRONG["text"]]
    assert answered.status_code == 200
    shown = sent.http.get("/submissions/1", headers=HTML).text
    assert WRONG["text"] in shown
    assert ANSWER["answer"] in shown
    assert "bob" not in shown.partition("<main")[2]
    assert WRONG["text"] not in sent.http.get("/desk/tiny", headers=sent.auth("steward")).text


def test_only_a_steward_answers_and_once(sent: Site) -> None:
    """Nobody else, no second time, and of this submission alone."""
    assert say(sent) == 201
    other = MANIFEST.replace("slug: tiny", "slug: other")
    assert sent.http.post("/benchmarks", content=other, headers=sent.auth("admin")).status_code == 201
    address = f"{DISPUTES}/1/answer"
    codes = [
        sent.http.post(each, json=ANSWER, headers=sent.auth(who)).status_code
        for each, who in ((address, "bob"), (f"{DISPUTES}/2/answer", "steward"), (address, "steward"),
                          (address, "steward"))
    ]  # fmt: skip

    assert codes == [403, 404, 200, 409]


def test_nobody_fills_a_desk(sent: Site) -> None:
    """One thing of a submission waits for each person, and five in a benchmark."""
    for number in range(2, 8):
        assert send(sent, BASE.replace(b"Base", f"Base{number}".encode()))["id"] == number
    codes = [say(sent, number=number) for number in (1, 1, 2, 3, 4, 5, 6)]

    assert codes == [201, 409, 201, 201, 201, 201, 409]
    assert say(sent, "alice", 6) == 201


def test_what_is_no_text_is_refused(sent: Site) -> None:
    """With the field that it is about."""
    for body in ({}, {"text": " "}, {"text": "a\x00b"}, {"text": "x" * 2001}, {"text": "x", "by": "me"}):
        assert sent.http.post(DISPUTES, json=body, headers=sent.auth()).status_code == 422, body
