"""A token ends, is limited to benchmarks, is renewed without a gap, and says what it may do."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from app.db.models import Token
from app.rights import tokens
from app.store import audit
from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare
from tests.fixtures import Site

FILES = [("files", ("r.csv", GOOD)), ("prereg", ("p.yaml", PREREG))]
ELSEWHERE = MANIFEST.replace("slug: tiny", "slug: elsewhere")


def make(site: Site, **wanted: Any) -> tuple[int, dict[str, Any]]:
    """Ask as the admin for a token; return the status and the answer."""
    answer = site.http.post("/tokens", json={"name": "ci", "role": "submitter", **wanted}, headers=site.auth("admin"))
    return answer.status_code, answer.json()


def bearer(text: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {text}"}


def set_token(site: Site, name: str, **values: Any) -> None:
    """Write what only time would."""
    with site.sessions.begin() as session:
        session.execute(update(Token).where(Token.name == name).values(**values))


def in_days(days: float) -> datetime:
    """Return a time from now."""
    return datetime.now(UTC) + timedelta(days=days)


def test_a_token_that_expired_writes_nothing(site: Site) -> None:
    """Before it did; the answer says when it ended."""
    declare(site)
    status, created = make(site, expires_at=in_days(1).isoformat())
    before = site.http.get("/whoami", headers=bearer(created["token"])).status_code
    set_token(site, "ci", expires_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    after = site.http.post("/benchmarks/tiny/submissions", files=FILES, headers=bearer(created["token"]))

    assert (status, before, after.status_code) == (201, 200, 401)
    assert after.json()["detail"] == "This token expired on 2026-01-02 03:04 UTC."


def test_a_token_for_one_benchmark_writes_to_no_other(site: Site) -> None:
    """Neither results nor a registration, also as steward of both."""
    declare(site)
    assert site.http.post("/benchmarks", content=ELSEWHERE, headers=site.auth("steward") | YAML).status_code == 201
    header = bearer(make(site, role="steward", benchmarks=["tiny"])[1]["token"])
    for slug in ("tiny", "elsewhere"):
        given = {"token": "ci", "role": "steward"}
        site.http.post(f"/benchmarks/{slug}/roles", json=given, headers=site.auth("admin"))
    asked = [
        site.http.request(method, path, headers=header | YAML, content=content).status_code
        for method, path, content in (
            ("PUT", "/benchmarks/tiny", MANIFEST),
            ("PUT", "/benchmarks/elsewhere", ELSEWHERE),
            ("POST", "/benchmarks", MANIFEST.replace("slug: tiny", "slug: third")),
            ("POST", "/preregs?benchmark=elsewhere", PREREG),
            ("POST", "/preregs?benchmark=tiny", PREREG),
        )
    ]

    assert asked == [200, 403, 403, 403, 200]
    assert site.http.post("/benchmarks/elsewhere/submissions", files=FILES, headers=header).status_code == 403


@pytest.mark.parametrize(
    ("wanted", "column"),
    [
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "tomorrow"}, "body.expires_at"),
        ({"benchmarks": ["no-such"]}, "benchmarks"),
        ({"benchmarks": []}, "benchmarks"),
        ({"role": "admin", "benchmarks": ["tiny"]}, "benchmarks"),
        ({"scopes": ["steward"]}, "scopes"),
        ({"scopes": ["write"], "role": "admin"}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"entrants": []}, "entrants"),
        ({"name": "\u0430lice"}, "name"),
    ],
    ids=["past", "words", "unknown", "none", "admin", "beyond", "scope", "no-scope", "no-entrant", "homoglyph"],
)
def test_limits_that_mean_nothing_are_refused(site: Site, wanted: dict[str, Any], column: str) -> None:
    """With the field that is wrong, and no token is made."""
    declare(site)
    status, answer = make(site, **wanted)

    assert (status, [problem["column"] for problem in answer["problems"]]) == (422, [column])
    with site.sessions() as session:
        assert session.scalar(select(Token).where(Token.name == "ci")) is None


def test_a_renewed_token_works_beside_its_former_text_for_a_while(site: Site) -> None:
    """Then only the new text does, and it is still the same token."""
    _, created = make(site)
    renewed = site.http.post(
        f"/tokens/{created['id']}/rotate", json={"overlap_h": 2}, headers=bearer(created["token"])
    ).json()
    both = [site.http.get("/whoami", headers=bearer(each["token"])).json()["id"] for each in (created, renewed)]
    set_token(site, "ci", former_until=in_days(-1))
    after = [site.http.get("/whoami", headers=bearer(each["token"])).status_code for each in (created, renewed)]

    assert (both, after) == ([created["id"]] * 2, [401, 200])


def test_nobody_renews_the_token_of_somebody_else(site: Site) -> None:
    """Its holder and an admin do."""
    _, created = make(site)
    path = f"/tokens/{created['id']}/rotate"
    asked = [site.http.post(path, json={}, headers=site.auth(who)).status_code for who in ("bob", "steward", "admin")]

    assert asked == [403, 403, 200]


def test_a_renewal_prolongs_nothing(site: Site) -> None:
    """What was revoked or has expired stays so."""
    _, created = make(site)
    set_token(site, "ci", expires_at=in_days(-1))
    answer = site.http.post(f"/tokens/{created['id']}/rotate", json={}, headers=site.auth("admin"))

    assert answer.status_code == 409


def test_an_admin_token_that_expires_is_not_the_last_one(site: Site) -> None:
    """Or the server would be without an admin one day."""
    assert make(site, role="admin", expires_at=in_days(1).isoformat())[0] == 201
    with site.sessions() as session:
        lasting = [token.id for token in tokens.list_tokens(session) if token.role == "admin" and not token.expires_at]
    assert len(lasting) == 1

    assert site.http.delete(f"/tokens/{lasting[0]}", headers=site.auth("admin")).status_code == 409


def test_the_last_use_of_a_token_is_listed(site: Site) -> None:
    """To the hour; one that was never used says so."""
    make(site)
    site.http.get("/whoami", headers=site.auth("bob"))
    used = {each["name"]: each["used_at"] for each in site.http.get("/tokens", headers=site.auth("admin")).json()}

    assert used["ci"] is None
    assert datetime.now(UTC) - datetime.fromisoformat(used["bob"]) < timedelta(minutes=5)


def test_a_token_says_what_it_may_do(site: Site) -> None:
    """Its role, its limits, and where it is steward."""
    declare(site)
    about = site.http.get("/whoami", headers=site.auth("steward")).json()

    assert (about["name"], about["role"], about["benchmarks"], about["steward_of"]) == (
        "steward", "steward", None, ["tiny"],
    )  # fmt: skip


def test_a_token_does_only_what_its_scopes_say(site: Site) -> None:
    """One to read writes nothing, one to submit decides nothing, one of a steward submits nothing."""
    declare(site)
    asked = {
        "read": make(site, name="read", scopes=["read"])[1],
        "submit": make(site, name="submit", role="steward", scopes=["submit"])[1],
        "steward": make(site, name="steward 2", role="steward", scopes=["steward"])[1],
    }
    for name in ("submit", "steward 2"):
        given = {"token": name, "role": "steward"}
        site.http.post("/benchmarks/tiny/roles", json=given, headers=site.auth("admin")).raise_for_status()
    statuses = {
        scope: (
            site.http.get("/whoami", headers=bearer(created["token"])).status_code,
            site.http.put("/benchmarks/tiny", content=MANIFEST, headers=bearer(created["token"]) | YAML).status_code,
            site.http.post("/benchmarks/tiny/submissions", files=FILES, headers=bearer(created["token"])).status_code,
        )
        for scope, created in asked.items()
    }

    assert statuses == {"read": (200, 403, 403), "submit": (200, 403, 202), "steward": (200, 200, 403)}


def test_a_token_for_an_entrant_submits_and_registers_no_other(site: Site) -> None:
    """The refusal names the ones that it is not for."""
    declare(site)
    header = bearer(make(site, entrants=["Good"])[1]["token"])
    own, other = (
        site.http.post(
            "/benchmarks/tiny/submissions",
            files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
            headers=header,
        )
        for rows in (GOOD, BASE)
    )
    registered = site.http.post("/preregs", content=PREREG + b"entrants: [Base]\n", headers=header | YAML)

    assert (own.status_code, other.status_code, registered.status_code) == (202, 403, 403)
    assert other.json()["detail"] == "This token is only for Good, not for Base."


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_truncated_token_is_nobodys(site: Site, cut: int) -> None:
    """A sentence says so, and says nothing of how near it was."""
    answer = site.http.get("/whoami", headers=bearer(site.tokens["admin"][:-cut]))
    unknown = site.http.get("/whoami", headers=bearer("plb_" + "x" * 43))

    assert (answer.status_code, answer.json()) == (401, unknown.json())


@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "key"])
def test_a_token_in_the_query_string_is_no_token(site: Site, name: str) -> None:
    """Where it would stand in logs: it grants nothing, and the record of refusals does not keep it either."""
    text = site.tokens["admin"]
    read = site.http.get("/tokens", params={name: text})
    written = site.http.post("/tokens", params={name: text}, json={"name": "new", "role": "submitter"})
    with site.sessions() as session:
        noted = audit.list_events(session, audit.EventQuery(limit=1))[0].event

    assert (read.status_code, written.status_code) == (422, 401)
    assert (noted.status, text in f"{noted.subject}{noted.refusal}{noted.action}") == (401, False)
