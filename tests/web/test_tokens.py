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


MEANINGLESS: tuple[tuple[dict[str, Any], str], ...] = (
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
    ({"expires": "2030-01-01T00:00:00Z"}, "body.expires"),
)


def test_limits_that_mean_nothing_are_refused(site: Site) -> None:
    """With the field that is wrong, and no token is made."""
    declare(site)
    for wanted, column in MEANINGLESS:
        status, answer = make(site, **wanted)
        assert (status, [problem["column"] for problem in answer["problems"]]) == (422, [column]), wanted
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


@pytest.mark.parametrize(
    ("limits", "steward_of"),
    [({"benchmarks": ["other"]}, []), ({"benchmarks": ["tiny"]}, ["tiny"]), ({"scopes": ["submit"]}, [])],
    ids=str,
)
def test_a_token_is_no_steward_where_its_limits_refuse_it(
    site: Site, limits: dict[str, list[str]], steward_of: list[str]
) -> None:
    """It named a benchmark in which everything that a steward does was refused."""
    declare(site)
    other = MANIFEST.replace("slug: tiny", "slug: other")
    assert site.http.post("/benchmarks", content=other, headers=site.auth("admin")).status_code == 201
    order = {"name": "narrow", "role": "steward", **limits}
    made = site.http.post("/tokens", json=order, headers=site.auth("admin")).json()
    granted = {"token": made["id"], "role": "steward"}
    assert site.http.post("/benchmarks/tiny/roles", json=granted, headers=site.auth("admin")).status_code == 200

    assert site.http.get("/whoami", headers=bearer(made["token"])).json()["steward_of"] == steward_of


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


def test_a_truncated_token_is_nobodys(site: Site) -> None:
    """A sentence says so, and says nothing of how near it was; nor is any other text one."""
    unknown = site.http.get("/whoami", headers=bearer("plb_" + "x" * 43))
    for text in (*(site.tokens["admin"][:-cut] for cut in (1, 10, 40)), "x" * 10_000):
        answer = site.http.get("/whoami", headers=bearer(text))
        assert (answer.status_code, answer.json()) == (401, unknown.json())

    assert site.http.get("/whoami", headers={"Authorization": "Basic abc"}).status_code == 401


def test_a_token_in_the_query_string_is_no_token(site: Site) -> None:
    """Where it would stand in logs: it grants nothing, and the record of refusals does not keep it either."""
    text = site.tokens["admin"]
    for name in ("token", "access_token", "authorization", "key"):
        read = site.http.get("/tokens", params={name: text})
        written = site.http.post("/tokens", params={name: text}, json={"name": "new", "role": "submitter"})
        with site.sessions() as session:
            noted = audit.list_events(session, audit.EventQuery(limit=1))[0].event

        assert (read.status_code, written.status_code) == (422, 401), name
        assert (noted.status, text in f"{noted.subject}{noted.refusal}{noted.action}") == (401, False)
