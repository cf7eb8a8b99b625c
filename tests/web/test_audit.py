"""The audit: who did what, from where, and who reads it; the database keeps it as it is."""

import csv
import io
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.jobs.queue import QueuedJobs
from app.jobs.refresh import sweep
from tests.cases.registrations import YAML
from tests.cases.walkthrough import GOOD, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

ELSEWHERE = MANIFEST.replace("slug: tiny", "slug: elsewhere")


def act(site: Site) -> None:
    """Make a benchmark of the steward with a submission that is withdrawn, one of the admin, and two refusals."""
    declare(site)
    assert send(site, GOOD)["http"] == 202
    site.http.post("/submissions/1/withdraw", json={"reason": "wrong file"}, headers=site.auth("bob"))
    site.http.post("/submissions/1/withdraw", json={"reason": "wrong file"}, headers=site.auth())
    assert site.http.post("/benchmarks", content=ELSEWHERE, headers=site.auth("admin") | YAML).status_code == 201
    site.http.delete("/tokens/plb_secret-of-somebody", headers={"Authorization": "Bearer none"})


@pytest.fixture
def audited(site_after: SiteAfter) -> Site:
    """A site where this was done."""
    return site_after(act)


def events(site: Site, who: str = "admin", **query: Any) -> list[dict[str, Any]]:
    """Return what somebody reads of the audit, the newest first."""
    answer = site.http.get("/audit.json", params=query, headers=site.auth(who))
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["rows"]
    return rows


def test_a_write_says_who_did_what_from_where_and_why(audited: Site) -> None:
    """What changed stands there before and after, the reason where one was asked."""
    done = events(audited, action="withdraw", outcome="done")[0]

    assert (done["action"], done["subject"]) == ("POST /submissions/{submission}/withdraw", "submission 1")
    assert (done["benchmark"], done["name"], done["address"], done["status"]) == ("tiny", "alice", "testclient", 200)
    assert (done["before"], done["after"]) == ('{"status": "received"}', '{"status": "withdrawn"}')
    assert done["reason"] == "wrong file"


def test_a_refused_write_says_who_was_refused_and_why(audited: Site) -> None:
    """Nothing that looks like a token stays of an address, or of a refusal."""
    unknown, other = events(audited, outcome="refused")

    assert (unknown["name"], unknown["status"], unknown["subject"]) == (None, 401, "token_id plb_…")
    assert (other["name"], other["status"]) == ("bob", 403)
    assert other["refusal"] == "Only its submitter or a steward of its benchmark may withdraw a submission."


def test_nothing_of_what_was_malformed_is_kept(audited: Site) -> None:
    """It may be a code that works, a name, or what nobody should read; nor where in the program it was refused."""
    audited.http.post("/invitations/redeem", json={"code": "pli_still-works", "names": "Pat"})
    audited.http.post("/invitations/redeem", json={"code": "pli_unknown", "name": "\u0430"})
    malformed = events(audited, outcome="refused", action="redeem")[-1]["refusal"]

    assert malformed.startswith("Not in the form that this address expects: ")
    assert "body.name: Field required" in malformed
    assert [word for word in ("pli_s", "Pat", ".py") if word in malformed] == []


def test_a_steward_reads_what_was_done_in_their_benchmarks(audited: Site) -> None:
    """And no addresses; what is of no benchmark is the admins' alone."""
    seen = events(audited, "steward")

    assert {each["benchmark"] for each in seen} == {"tiny"}
    assert {each["address"] for each in seen} == {None}
    assert {each["benchmark"] for each in events(audited)} == {"tiny", "elsewhere", None}
    assert events(audited, "steward", benchmark="elsewhere") == []


NARROWED: tuple[tuple[dict[str, str], int], ...] = (
    ({"benchmark": "tiny"}, 6),
    ({"token": "BOB"}, 1),
    ({"token": "2"}, 1),
    ({"action": "/submissions"}, 3),
    ({"outcome": "refused"}, 2),
    ({"since": "2100-01-01T00:00:00Z"}, 0),
    ({"until": "2100-01-01T00:00:00Z", "outcome": ""}, 8),
    ({"action": "100%"}, 0),
)


def test_the_audit_is_narrowed(audited: Site) -> None:
    """By benchmark, token, action, outcome and time."""
    assert [len(events(audited, **query)) for query, _ in NARROWED] == [n_found for _, n_found in NARROWED]


def test_the_audit_is_read_page_by_page_as_a_page_and_as_csv(audited: Site) -> None:
    """Each page leads to the older ones, and the last one to none; the same rows each time, kept by no cache."""
    actual, address = [], "/audit.json?limit=4"
    while address:
        page = audited.http.get(address, headers=audited.auth("admin")).json()
        actual += [row["id"] for row in page["rows"]]
        address = page["older"]
    shown, exported = (audited.http.get(f"/audit{ending}", headers=audited.auth("admin")) for ending in ("", ".csv"))

    assert actual == sorted(actual, reverse=True) == [row["id"] for row in events(audited)]
    assert shown.text.count("<tr") == 1 + len(actual)
    assert [row["id"] for row in csv.DictReader(io.StringIO(exported.text))] == list(map(str, actual))
    assert {answer.headers["cache-control"] for answer in (shown, exported)} == {"no-store"}


TAMPERING = (
    "DELETE FROM audit_event",
    "TRUNCATE audit_event",
    "UPDATE audit_event SET reason = 'another'",
    "UPDATE audit_event SET address = NULL",
    "UPDATE audit_event SET address = 'another'",
    "UPDATE audit_event SET token_id = NULL, address = NULL, address_until = now() - interval '1 day'",
)


def test_the_database_refuses_to_change_the_audit(audited: Site) -> None:
    """Not a row, not a field, and no address before its time."""
    for tampering in TAMPERING:
        with pytest.raises(DBAPIError, match="is a record"), audited.as_owner() as session:
            session.execute(text(tampering))


def test_an_address_is_erased_when_its_time_is_over(audited: Site) -> None:
    """By the sweep, and nothing else of the event."""
    with audited.sessions.begin() as session:
        session.execute(
            text(
                "INSERT INTO audit_event (action, subject, address, address_until)"
                " VALUES ('old', '', '192.0.2.1', now() - interval '1 second')"
            )
        )
    before = events(audited)
    sweep(audited.sessions, QueuedJobs())

    assert before[0]["address"] == "192.0.2.1"
    assert events(audited) == [{**before[0], "address": None}, *before[1:]]
