"""What is private or a draft is not there for who may not read it: whatever way it is asked for, nothing is said of it.

Who belongs to it is let in by an invitation, named to nobody else, and told nothing afterwards.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg
import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import DBAPIError

from app.store import notifications
from app.store.benchmark_rows import CHANGED_CHANNEL
from app.web.checked_first import CheckedFirst
from app.web.documents import VisibilityDocument
from tests.cases.hidden import (
    ABSENT,
    HIDDEN,
    NAMES,
    OWN_PREREG,
    ROWS,
    SECRET,
    STRANGERS,
    ask,
    blurred,
    hiding,
    make,
    paths,
    submit,
)
from tests.cases.registrations import YAML
from tests.cases.routes import all_routes
from tests.cases.walkthrough import BASE, PREREG, declare
from tests.fixtures import Site

__all__ = ["hiding"]


def test_what_is_private_answers_as_what_does_not_exist(hiding: Site) -> None:
    """Byte for byte, with the same headers, at every address and in each format; also after a member read it."""
    hiding.only_read()
    sha256 = hiding.http.get("/submissions/2.json", headers=hiding.auth()).json()["prereg_sha256"]
    elsewhere = paths(hiding, SECRET, "2", sha256)
    nowhere = paths(hiding, ABSENT, "9", "0" * 64)
    read = [ask(hiding, path, "alice")[0] for path in elsewhere]
    differing = [
        (who, path)
        for who in ("nobody", "there")
        for path, other in zip(elsewhere, nowhere, strict=True)
        if who == "nobody" or not path.endswith(".json")
        if blurred(ask(hiding, path, who), sha256) != blurred(ask(hiding, other, who), sha256)
    ]

    assert read.count(200) > 30
    assert differing == []


def test_no_public_address_names_what_is_private(hiding: Site) -> None:
    """Not its slug, its title, its entrant, its task or its board; nor is it counted anywhere."""
    hiding.only_read()
    described = hiding.http.get("/openapi.json").json()["paths"]
    plain = [path for path, methods in described.items() if "get" in methods and "{" not in path]
    tiny = [f"/benchmarks/tiny{rest}" for rest in ("", "/registrations", "/submitters", "/claims", "/snapshots")]
    reported = [
        (who, path, name)
        for who in STRANGERS
        for path in (*plain, *tiny, "/submissions/1", "/", "/docs", "/glossary")
        for body in [ask(hiding, path, who)[2].lower()]
        for name in NAMES
        if name.encode() in body
    ]

    assert reported == []
    assert [row["slug"] for row in hiding.http.get("/benchmarks.json").json()] == ["tiny"]
    assert 'status="published"} 1' in hiding.http.get("/metrics").text


@pytest.mark.parametrize("who", ["bob", "there"])
def test_a_write_to_what_is_private_is_refused_as_to_what_does_not_exist(hiding: Site, who: str) -> None:
    """Whatever is sent."""
    sends: list[dict[str, Any]] = [
        {"method": "POST", "path": "/benchmarks/%s/submissions", "files": [("files", ("r.csv", ROWS))]},
        {"method": "PUT", "path": "/benchmarks/%s", "content": HIDDEN, "headers": YAML},
        {"method": "PUT", "path": "/benchmarks/%s/labels", "files": {"file": ("l.csv", b"item,label\na,1\n")}},
        {"method": "POST", "path": "/benchmarks/%s/roles", "json": {"token": who, "role": "reviewer"}},
        {"method": "POST", "path": "/benchmarks/%s/join", "json": {"name": "new"}},
        {"method": "POST", "path": "/benchmarks/%s/visibility", "json": {"visibility": "public"}},
        {"method": "DELETE", "path": "/benchmarks/%s"},
        {"method": "POST", "path": "/benchmarks/%s/reservations/Qqentrant/release", "json": {"reason": "x"}},
        {"method": "POST", "path": "/invitations", "json": {"role": "reviewer", "benchmark": "%s"}},
        {"method": "POST", "path": "/preregs?benchmark=%s", "content": PREREG[16:] + b"notes: n\n", "headers": YAML},
    ]
    answers = [
        [blurred(ask(hiding, who=who, **filled(sent, slug)), "#") for slug in (SECRET, ABSENT)] for sent in sends
    ]

    assert [pair for pair in answers if pair[0] != pair[1]] == []


def filled(sent: dict[str, Any], slug: str) -> dict[str, Any]:
    """Return a request about a benchmark."""
    body = sent.get("json")
    json = {"json": {k: v.replace("%s", slug) for k, v in body.items()}} if body is not None else {}
    return {**sent, **json, "path": sent["path"].replace("%s", slug)}


def test_a_stranger_registers_for_what_is_private_as_for_what_does_not_exist(hiding: Site) -> None:
    """The same words, and neither the members' reservations nor their registrations show."""
    contents = {slug: f"benchmark: {slug}\nmetrics: [MASE]\nentrants: [Qqentrant]\n" for slug in (SECRET, ABSENT)}
    answers = {
        slug: hiding.http.post("/preregs", content=content, headers=hiding.auth("bob") | YAML).json()
        for slug, content in contents.items()
    }

    assert answers[SECRET]["not_reserved"] == answers[ABSENT]["not_reserved"] == []
    assert [w.replace(SECRET, ABSENT) for w in answers[SECRET]["warnings"]] == answers[ABSENT]["warnings"]
    shown = {
        (who, slug): ask(hiding, f"/preregs/{answer['sha256']}.json", who)[0]
        for who in ("bob", *STRANGERS)
        for slug, answer in answers.items()
    }
    assert set(shown.values()) == {200}, "what a stranger wrote is hidden where there is something to hide"


def test_a_page_for_a_member_is_kept_by_no_cache(hiding: Site) -> None:
    """Neither ours nor a browser's, and the list of benchmarks names for them what they may read."""
    page = hiding.http.get(f"/benchmarks/{SECRET}", headers=hiding.auth())
    listed = hiding.http.get("/benchmarks.json", headers=hiding.auth())

    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert [row["slug"] for row in listed.json()] == [SECRET, "tiny"]
    assert listed.headers["cache-control"] == "no-store"


def test_nobody_is_notified_of_what_is_private(hiding: Site) -> None:
    """Not a word on the channel of changes, until it is public."""
    with psycopg.connect(hiding.database_url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANGED_CHANNEL}")
        hiding.http.post("/submissions/2/withdraw", json={"reason": "x"}, headers=hiding.auth()).raise_for_status()
        hiding.work()
        before = list(connection.notifies(timeout=0.2))
        publish(hiding, "public")
        after = list(connection.notifies(timeout=5, stop_after=1))

    assert before == []
    assert after[0].payload.startswith(SECRET)


def publish(site: Site, visibility: str) -> httpx2.Response:
    """Let more people read the hidden benchmark."""
    order = {"visibility": visibility}
    path = f"/benchmarks/{SECRET}/visibility"
    answer: httpx2.Response = site.http.post(path, json=order, headers=site.auth("steward"))
    return answer


def test_publishing_is_one_act_that_says_what_becomes_visible(hiding: Site) -> None:
    """From then on everybody reads it; there is no way back."""
    message = hiding.http.get(f"/benchmarks/{SECRET}/visibility", headers=hiding.auth("steward")).json()
    published = publish(hiding, "public")

    VisibilityDocument.model_validate(message)
    assert (message["visibility"], published.json()["visibility"]) == ("private", "public")
    assert message["contents"] == published.json()["contents"]
    assert (message["contents"]["entrants"], message["contents"]["submissions"]) == (["Qqentrant"], 1)
    assert hiding.http.get(f"/benchmarks/{SECRET}/leaderboards/qqboard.json").status_code == 200
    assert publish(hiding, "private").status_code == 409


def test_a_draft_takes_no_submissions_and_can_be_deleted(site: Site) -> None:
    """With everything of its own; its slug is free again."""
    assert make(site, "draft").status_code == 201
    site.work()
    refused = submit(site, SECRET, "steward")
    deleted = site.http.delete(f"/benchmarks/{SECRET}", headers=site.auth("steward"))

    assert (refused.status_code, deleted.status_code) == (409, 200)
    assert site.http.get(f"/benchmarks/{SECRET}", headers=site.auth("steward")).status_code == 404
    assert make(site, "private").status_code == 201


def test_what_somebody_was_shown_is_not_deleted(hiding: Site) -> None:
    """Neither by its steward nor by a statement in the database."""
    refused = hiding.http.delete(f"/benchmarks/{SECRET}", headers=hiding.auth("steward"))

    assert refused.status_code == 409
    for table in ("manifest_version", "role_grant", "snapshot_table"):
        with pytest.raises(DBAPIError, match=r"is a record|still referenced"), hiding.sessions.begin() as session:
            session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - of the names above


def test_every_route_reads_as_its_sender(database_url: str) -> None:
    """A route of a class that is none of these would show strangers nothing private, and members nothing of theirs."""
    routes = all_routes(database_url)

    assert len(routes) > 60
    assert [route.path for route in routes if not isinstance(route, CheckedFirst)] == []


def test_a_registration_under_embargo_is_not_there_for_strangers(site: Site) -> None:
    """Neither it nor the names in it, in no list and no count; its registrant and the steward see it."""
    declare(site)
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat().replace("+", "%2B")
    content = PREREG + b"entrants: [Qqentrant]\n"
    path = f"/preregs?embargo_until={until}"
    created = site.http.post(path, content=content, headers=site.auth() | YAML).json()
    address = f"/preregs/{created['sha256']}.json"
    seen = {who: ask(site, address, who)[0] for who in ("nobody", "bob", "alice", "steward", "admin")}
    listed = {who: len(registered(site, who)) for who in ("nobody", "alice", "steward")}

    assert seen == {"nobody": 404, "bob": 404, "alice": 200, "steward": 200, "admin": 200}
    assert listed == {"nobody": 1, "alice": 2, "steward": 2}
    assert ask(site, "/preregs/" + "0" * 64 + ".json", "bob")[2] == blurred(
        ask(site, address, "bob"), created["sha256"]
    )[2].replace(b"#", b"0" * 64)


def test_who_may_submit_to_a_private_benchmark_sees_behind_no_embargo_in_it(hiding: Site) -> None:
    """Only who decides there does: a competitor's plan is as secret from an invited submitter as from a stranger."""
    for name, role in (("bob", "submitter"), ("there", "reviewer")):
        given = {"token": name, "role": role}
        hiding.http.post(f"/benchmarks/{SECRET}/roles", json=given, headers=hiding.auth("steward")).raise_for_status()
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat().replace("+", "%2B")
    path, content = f"/preregs?embargo_until={until}", OWN_PREREG + b"analysis: unseen\n"
    created = hiding.http.post(path, content=content, headers=hiding.auth("bob") | YAML)
    address = f"/preregs/{created.json()['sha256']}.json"
    seen = {who: ask(hiding, address, who)[0] for who in ("nobody", "alice", "bob", "there", "steward", "admin")}

    assert created.status_code == 201
    assert seen == {"nobody": 404, "alice": 404, "bob": 200, "there": 200, "steward": 200, "admin": 200}


def registered(site: Site, who: str) -> list[Any]:
    """Return the registrations of tiny that somebody sees."""
    rows: list[Any] = json.loads(ask(site, "/benchmarks/tiny/registrations.json", who)[2])["rows"]
    return rows


def test_an_embargo_ends_with_the_first_submission_under_it(site: Site) -> None:
    """What is shown of the submission says what it was registered as; a time that is over is refused."""
    declare(site)
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat().replace("+", "%2B")
    content = PREREG + b"notes: second\n"
    created = site.http.post(f"/preregs?embargo_until={until}", content=content, headers=site.auth() | YAML).json()
    files = [("files", ("r.csv", BASE)), ("prereg", ("p.yaml", content))]
    sent = site.http.post("/benchmarks/tiny/submissions", files=files, headers=site.auth())
    past = site.http.post("/preregs?embargo_until=2020-01-01T00:00:00Z", content=content, headers=site.auth() | YAML)

    assert (sent.status_code, past.status_code) == (202, 422)
    assert site.http.get(f"/preregs/{created['sha256']}.json").status_code == 200


def test_a_draft_answers_as_what_does_not_exist(site: Site) -> None:
    """Also to a submitter of it, who reads it from when it is private on."""
    assert make(site, "draft").status_code == 201
    given = {"token": "alice", "role": "submitter"}
    site.http.post(f"/benchmarks/{SECRET}/roles", json=given, headers=site.auth("steward")).raise_for_status()
    site.only_read()
    elsewhere, nowhere = (paths(site, slug, "9", "0" * 64) for slug in (SECRET, ABSENT))
    differing = [
        (who, path)
        for who in ("nobody", "alice")
        for path, other in zip(elsewhere, nowhere, strict=True)
        if who == "nobody" or not path.endswith(".json")
        if blurred(ask(site, path, who), "0" * 64) != blurred(ask(site, other, who), "0" * 64)
    ]

    assert len(elsewhere) > 60
    assert differing == []


NOWHERE = "qqnowhere"
"""In no benchmark, and not in the help."""


def test_a_search_finds_nothing_private(hiding: Site) -> None:
    """Not by its slug, title, entrant or task; a member finds it."""
    message = {
        (who, name): ask(hiding, f"/search?q={name}", who)[2].replace(name.encode(), b"*")
        for who in STRANGERS
        for name in (*NAMES[:3], NAMES[4], NOWHERE)
    }

    assert {message[who, name] == message[who, NOWHERE] for who, name in message} == {True}
    assert b"Qqentrant" in ask(hiding, "/search?q=qqentrant", "alice")[2]


def test_what_crawlers_and_readers_of_feeds_ask_for_names_nothing_private(hiding: Site) -> None:
    """Whoever asks, but for members."""
    paths = ("/sitemap.xml", "/robots.txt", "/feed.atom", "/favicon.svg", "/login", "/invitation")
    reported = [
        (who, path, name)
        for who in STRANGERS
        for path in paths
        for name in NAMES
        if name.encode() in ask(hiding, path, who)[2].lower()
    ]

    assert reported == []


WAYS: tuple[dict[str, Any], ...] = (
    {"method": "HEAD"},
    {"method": "OPTIONS"},
    {"method": "DELETE"},
    {"headers": {"If-None-Match": "*"}},
    {"headers": {"Accept": "text/html"}},
    {"headers": {"Cache-Control": "no-cache", "Accept-Encoding": "gzip"}},
)


def test_no_way_of_asking_tells_of_what_is_private(hiding: Site) -> None:
    """Neither a head, a tag, another method, another format nor a cache; also after a member read it."""
    tails = ("", ".json", "/leaderboards/qqboard", "/entrants/Qqentrant", "/feed.atom", "/draft", "/people", "/join",
             "/leaderboards/qqboard/explore", "/tables.zip", "/disclosed", "/exact",
             "/badge/qqboard/Qqentrant.svg")  # fmt: skip
    hiding.only_read()
    for tail in tails:
        ask(hiding, f"/benchmarks/{SECRET}{tail}", "alice")
    answers = [
        [blurred(ask(hiding, f"/benchmarks/{slug}{tail}", who, **way), "#") for slug in (SECRET, ABSENT)]
        for way in WAYS
        for tail in tails
        for who in ("nobody", "bob")
    ]

    assert [pair for pair in answers if pair[0] != pair[1]] == []


def test_the_database_is_asked_the_same_for_what_is_private_and_for_what_is_not_there(hiding: Site) -> None:
    """Statement for statement, so that how long an answer takes tells nothing either."""
    message: list[str] = []
    of_the_test = hiding.sessions.kw["bind"]

    def note(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if connection.engine is not of_the_test:
            message.append(statement)

    def statements(path: str, who: str) -> list[str]:
        ask(hiding, path, who)
        message.clear()
        ask(hiding, path, who)
        return list(message)

    tails = ("", "/leaderboards/qqboard", "/entrants/Qqentrant", "/tasks/qqtask", "/registrations", "/people", "/join",
             "/leaderboards/qqboard/explore?q=x", "/feed.atom", "/croissant.json")  # fmt: skip
    event.listen(Engine, "before_cursor_execute", note)
    try:
        asked = {
            (tail, who): [statements(f"/benchmarks/{slug}{tail}", who) for slug in (SECRET, ABSENT)]
            for tail in tails
            for who in ("nobody", "bob")
        }
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert len([pair for pair in asked.values() if pair[0]]) > len(tails)
    assert {key: pair for key, pair in asked.items() if pair[0] != pair[1]} == {}


def invited(site: Site, name: str, role: str) -> dict[str, str]:
    """Invite somebody to the private benchmark, who uses the invitation; return the header of their token."""
    order = {"role": role, "benchmark": SECRET}
    code = site.http.post("/invitations", json=order, headers=site.auth("admin")).json()["code"]
    created = site.http.post("/invitations/redeem", json={"code": code, "name": name}).json()
    return {"Authorization": f"Bearer {created['token']}"}


def test_an_invitation_lets_somebody_into_a_private_benchmark(hiding: Site) -> None:
    """Its code is a stranger's only way to see that there is one."""
    roles = ("reviewer", "submitter", "steward")
    read = [
        hiding.http.get(f"/benchmarks/{SECRET}.json", headers=invited(hiding, f"new {role}", role)) for role in roles
    ]

    assert [answer.status_code for answer in read] == [200, 200, 200]


def test_a_steward_elsewhere_sees_no_token_that_is_for_what_is_private(hiding: Site) -> None:
    """Neither in the list nor on its page: the benchmark would be named beside it."""
    invited(hiding, "insider", "reviewer")
    order = {"name": "narrow", "role": "submitter", "entrants": ["Qqentrant"]}
    hiding.http.post("/tokens", json=order, headers=hiding.auth("admin")).raise_for_status()
    seen = {
        who: [hiding.http.get(path, headers=hiding.auth(who)).text.lower() for path in ("/tokens", "/account/tokens")]
        for who in ("there", "steward", "admin")
    }

    assert [name for reported in seen["there"] for name in (*NAMES, "insider") if name in reported] == []
    assert ["insider" in reported for who in ("steward", "admin") for reported in seen[who]] == [True] * 4
    assert ["narrow" in reported for reported in seen["there"]] == [True, True]


def test_who_may_no_longer_read_is_told_nothing_more(hiding: Site) -> None:
    """What is due is dropped; the list of what one asked for is still there."""
    order = {"address": "https://example.org/hook", "benchmark": SECRET}
    hiding.http.post("/notifications", json=order, headers=hiding.auth()).raise_for_status()
    hiding.http.delete(f"/benchmarks/{SECRET}/roles/submitter/alice", headers=hiding.auth("steward")).raise_for_status()
    with hiding.sessions.begin() as session:
        session.execute(
            text("INSERT INTO submission_event (submission_id, status, reason) VALUES (2, 'published', 'x')")
        )
    with hiding.sessions.begin() as session:
        due = notifications.take_due(session)
        left = session.scalars(text("SELECT last_error FROM delivery WHERE due_at IS NULL")).all()
    listed = hiding.http.get("/notifications", headers=hiding.auth())

    assert due is None
    assert left == ["Its token may no longer read this benchmark."]
    assert (listed.status_code, listed.json()[0]["benchmark"]) == (200, SECRET)


def test_whose_token_has_expired_is_told_nothing(hiding: Site) -> None:
    """As with one that was revoked."""
    order = {"address": "https://example.org/hook", "events": ["published"]}
    hiding.http.post("/notifications", json=order, headers=hiding.auth("bob")).raise_for_status()
    with hiding.sessions.begin() as session:
        session.execute(text("UPDATE token SET expires_at = '2026-01-01Z' WHERE name = 'bob'"))
        session.execute(
            text("INSERT INTO submission_event (submission_id, status, reason) VALUES (1, 'published', 'x')")
        )
        due = notifications.take_due(session)

    assert due is None
