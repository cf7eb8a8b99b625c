"""Who belongs to a private benchmark: let in by an invitation, named to nobody else, told nothing afterwards."""

from sqlalchemy import text

from app.store import notifications
from tests.cases.hidden import NAMES, SECRET, hiding
from tests.fixtures import Site

__all__ = ["hiding"]


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
