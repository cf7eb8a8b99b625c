"""Who asked is told when a submission is published, not admitted or superseded: by a signed request, or by mail."""

import base64
import hashlib
import hmac
import ipaddress
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from app.config import Settings
from app.jobs.notifying import Outgoing
from tests.cases.databases import as_runtime, new_database
from tests.cases.listeners import mail_listener, notify_due, slow_listener, web_listener
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import OWN_DATABASE, Prepare, Prepared, Site, open_site

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
OUT = Outgoing("https://boards.example", networks=LOOPBACK)


@pytest.fixture
def notifying(postgres_url: str, prepared: Callable[[Prepare], Prepared]) -> Iterator[Site]:
    """A server that may reach its own machine and sends mail, on a copy of what was declared once for all of these."""
    settings = Settings(max_stale_s=0, webhook_networks=("127.0.0.0/8",), smtp_url="smtp+plain://127.0.0.1:1")
    declared = prepared(declare)
    with (
        new_database(postgres_url, declared.database, OWN_DATABASE) as url,
        open_site(as_runtime(url), settings, dict(declared.tokens)) as site,
    ):
        yield site


def order(site: Site, address: str, who: str = "alice", **more: Any) -> dict[str, Any]:
    """Ask to be told and return the answer."""
    answer = site.http.post("/notifications", json={"address": address, **more}, headers=site.auth(who))
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_publication_is_told_once_and_signed(notifying: Site) -> None:
    """To whom sent the submission, with its number, address and reason; a second run tells nothing more."""
    with web_listener() as heard:
        created = order(notifying, f"http://127.0.0.1:{heard.port}/hook?of=alice")
        number = send(notifying, BASE)["id"]
        notifying.work()
        tried = [notify_due(notifying.sessions, OUT), notify_due(notifying.sessions, OUT)]
    body = json.loads(heard.bodies[0])
    key = base64.b64decode(created["secret"].removeprefix("whsec_"))
    signed = f"{heard.headers[0]['webhook-id']}.{heard.headers[0]['webhook-timestamp']}.".encode() + heard.bodies[0]

    assert (tried, heard.paths) == ([1, 0], ["/hook?of=alice"])
    assert (body["event"], body["submission"], body["benchmark"]) == ("published", number, "tiny")
    assert body["url"] == f"https://boards.example/submissions/{number}"
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert heard.headers[0]["webhook-signature"] == f"v1,{expected}"


def test_a_submission_that_another_supersedes_is_told(notifying: Site) -> None:
    """Published, and superseded when the newer evidence is current; only the events that were asked for."""
    with web_listener() as heard:
        order(notifying, f"http://127.0.0.1:{heard.port}/", events=["superseded"])
        first = send(notifying, BASE)["id"]
        notifying.work()
        send(notifying, BASE.replace(b"1.0", b"1.5"))
        notifying.work()
        notify_due(notifying.sessions, OUT)

    assert [(json.loads(b)["event"], json.loads(b)["submission"]) for b in heard.bodies] == [("superseded", first)]


def test_a_redirect_is_not_followed_and_tried_again_later(notifying: Site) -> None:
    """One request, an error that the list shows, and a time at which it is tried again."""
    with web_listener(answer=302) as heard:
        order(notifying, f"http://127.0.0.1:{heard.port}/")
        send(notifying, BASE)
        notifying.work()
        notify_due(notifying.sessions, OUT)
        listed = shown(notifying)
        due = _later(notifying)
        heard.answer = 204
        _now(notifying)
        notify_due(notifying.sessions, OUT)

    assert heard.paths == ["/", "/"]
    assert listed[0]["last_error"] == "127.0.0.1 answered 302: redirects are not followed"
    assert due
    assert shown(notifying)[0]["last_error"] is None


def shown(site: Site) -> list[dict[str, Any]]:
    """Return whom alice has told."""
    answer = site.http.get("/notifications", headers=site.auth())
    assert answer.status_code == 200, answer.text
    result: list[dict[str, Any]] = answer.json()
    return result


def _later(site: Site) -> bool:
    with site.sessions() as session:
        return bool(session.scalar(text("SELECT due_at > clock_timestamp() FROM delivery")))


def _now(site: Site, which: str = "true") -> None:
    with site.sessions.begin() as session:
        session.execute(text(f"UPDATE delivery SET due_at = clock_timestamp() WHERE {which}"))  # noqa: S608 - ours


def test_nothing_is_tried_for_ever(notifying: Site) -> None:
    """After six tries there is no time at which it is due."""
    with web_listener(answer=500) as heard:
        order(notifying, f"http://127.0.0.1:{heard.port}/")
        send(notifying, BASE)
        notifying.work()
        for _ in range(6):
            notify_due(notifying.sessions, OUT)
            with notifying.sessions.begin() as session:
                session.execute(text("UPDATE delivery SET due_at = clock_timestamp() WHERE due_at IS NOT NULL"))

        assert notify_due(notifying.sessions, OUT) == 0
    assert len(heard.paths) == 6


def test_an_address_that_answers_byte_by_byte_delays_nobody(notifying: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one deadline for everything, its token's others wait for it, and somebody else is told meanwhile."""
    monkeypatch.setattr("app.jobs.notifying.DEADLINE_S", 1.0)
    later = "UPDATE delivery SET due_at = clock_timestamp() + interval '1 day'"
    with slow_listener() as slow, web_listener() as heard:
        for at in range(2):
            order(notifying, f"http://127.0.0.1:{slow.port}/{at}")
        order(notifying, f"http://127.0.0.1:{heard.port}/", who="bob")
        send(notifying, BASE.replace(b"Base", b"Bobs"), who="bob")
        notifying.work()
        with notifying.sessions.begin() as session:
            session.execute(text(later))
        send(notifying, BASE)
        notifying.work()
        with ThreadPoolExecutor(1) as pool:
            telling = pool.submit(notify_due, notifying.sessions, OUT)
            assert eventually(lambda: len(slow.bodies) == 1)
            _now(notifying, "clock_timestamp() + interval '1 hour' < due_at")
            assert eventually(lambda: len(heard.bodies) == 1)
            n_at_once = len(slow.bodies)
            n_tried = telling.result()
    errors = {each["last_error"] for each in shown(notifying)}

    assert (n_at_once, n_tried) == (1, 3)
    assert errors == {"127.0.0.1 did not answer within 1 s"}


def test_an_address_that_fails_is_paused(notifying: Site) -> None:
    """What else waits for it is not tried meanwhile, nor what comes later, and the pause grows; others go on."""
    with web_listener(answer=500) as failing, web_listener() as heard:
        order(notifying, f"http://127.0.0.1:{failing.port}/")
        order(notifying, f"http://127.0.0.1:{heard.port}/")
        for score in (b"1.0", b"1.1"):
            send(notifying, BASE.replace(b"1.0", score))
            notifying.work()
        tried = [notify_due(notifying.sessions, OUT)]
        send(notifying, BASE.replace(b"1.0", b"1.2"))
        notifying.work()
        tried.append(notify_due(notifying.sessions, OUT))
        with notifying.sessions.begin() as session:
            session.execute(text("UPDATE delivery SET due_at = clock_timestamp() WHERE due_at > clock_timestamp()"))
        tried.append(notify_due(notifying.sessions, OUT))
        with notifying.sessions() as session:
            tries = session.scalars(text("SELECT DISTINCT tries FROM delivery WHERE due_at IS NOT NULL")).all()

    assert (len(failing.paths), tries) == (2, [2])
    assert (tried, len(heard.paths)) == ([4, 2, 1], 5)


def test_a_private_address_is_not_told_where_the_worker_may_not(notifying: Site) -> None:
    """What was stored under other settings is checked against those of now."""
    with web_listener() as heard:
        order(notifying, f"http://127.0.0.1:{heard.port}/")
        send(notifying, BASE)
        notifying.work()
        notify_due(notifying.sessions, Outgoing())
        listed = shown(notifying)

    assert heard.paths == []
    assert "https://" in listed[0]["last_error"]


def test_mail_is_sent_once_its_address_is_confirmed(notifying: Site) -> None:
    """First the code, and what happens before it is confirmed is not told; then the publication."""
    with mail_listener() as heard:
        out = Outgoing("https://boards.example", f"smtp+plain://127.0.0.1:{heard.port}", "plumbline@boards.example")
        created = order(notifying, "mailto:alice@lab.example")
        send(notifying, BASE)
        notifying.work()
        notify_due(notifying.sessions, out)
        (code,) = re.findall(r"this code: ([0-9a-f]+)", heard.mails[0])
        url = f"/notifications/{created['id']}/confirm"
        wrong = notifying.http.post(url, json={"code": "0" * 20}, headers=notifying.auth())
        right = notifying.http.post(url, json={"code": code}, headers=notifying.auth())
        number = send(notifying, GOOD)["id"]
        notifying.work()
        notify_due(notifying.sessions, out)

    assert (wrong.status_code, right.json()["confirmed"], created["secret"]) == (422, True, None)
    assert len(heard.mails) == 2
    assert f"Subject: plumbline: submission {number} to tiny is on the boards" in heard.mails[1]
    assert f"https://boards.example/submissions/{number}" in heard.mails[1]
    assert "To: alice@lab.example" in heard.mails[1]


def test_who_is_removed_is_told_nothing_more(notifying: Site) -> None:
    """Not even what was due already; somebody else's cannot be removed, nor is anybody told of others' submissions."""
    with web_listener() as heard:
        order(notifying, f"http://127.0.0.1:{heard.port}/", who="bob")
        created = order(notifying, f"http://127.0.0.1:{heard.port}/")
        send(notifying, BASE)
        notifying.work()
        other = notifying.http.delete(f"/notifications/{created['id']}", headers=notifying.auth("bob"))
        own = notifying.http.delete(f"/notifications/{created['id']}", headers=notifying.auth())

        assert (other.status_code, own.status_code) == (404, 204)
        assert notify_due(notifying.sessions, OUT) == 0
    assert shown(notifying) == []


def test_what_cannot_be_told_is_refused_when_it_is_asked_for(notifying: Site) -> None:
    """An address that is none, the eleventh of a token, and one for a benchmark that is not there."""
    for address in ("mailto:nobody", "mailto:a@b.c\nBcc: d@e.f", "https://10.0.0.1/", "gopher://a/"):
        refused = notifying.http.post("/notifications", json={"address": address}, headers=notifying.auth())
        assert refused.status_code == 422, refused.text
    for at in range(10):
        order(notifying, f"http://127.0.0.1:9/{at}")
    answer = notifying.http.post("/notifications", json={"address": "http://127.0.0.1:9/10"}, headers=notifying.auth())
    lost = notifying.http.post(
        "/notifications", json={"address": "http://127.0.0.1:9/", "benchmark": "lost"}, headers=notifying.auth("bob")
    )

    assert (answer.status_code, lost.status_code) == (409, 404)


def test_a_draft_of_which_somebody_is_told_can_be_deleted(notifying: Site) -> None:
    """Who is notified of it goes with it."""
    manifest = MANIFEST.replace("slug: tiny", "slug: sketch")
    created = notifying.http.post("/benchmarks?visibility=draft", content=manifest, headers=notifying.auth("steward"))
    assert created.status_code == 201, created.text
    order(notifying, "http://127.0.0.1:9/", who="steward", benchmark="sketch")

    assert notifying.http.delete("/benchmarks/sketch", headers=notifying.auth("steward")).status_code in (200, 204)
