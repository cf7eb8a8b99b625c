"""An invitation makes one token, once; open registration makes as many a day as the manifest says."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from sqlalchemy import select, text

from app.db.models import Invitation
from app.web.documents import InvitationDocument, ListedInvitation, TokenDocument
from tests.cases.registrations import YAML
from tests.cases.walkthrough import GOOD, MANIFEST, send
from tests.fixtures import Site

REGISTRATION = "prereg: required, submissions: invited, registration: {per_day: 2, token_days: 30}"
OPEN = MANIFEST.replace("prereg: required", REGISTRATION)


def invite(site: Site, who: str = "steward", **wanted: Any) -> httpx2.Response:
    """Ask for an invitation to tiny."""
    order = {"role": "submitter", "benchmark": "tiny", **wanted}
    answer: httpx2.Response = site.http.post("/invitations", json=order, headers=site.auth(who))
    return answer


def redeem(site: Site, code: str, name: str = "guest") -> httpx2.Response:
    """Use a code."""
    answer: httpx2.Response = site.http.post("/invitations/redeem", json={"code": code, "name": name})
    return answer


def test_an_invitation_makes_a_token_of_its_role_in_its_benchmark(tiny: Site) -> None:
    """For as long as it says; the answers are as they are described."""
    invited = invite(tiny, token_days=30)
    created = redeem(tiny, invited.json()["code"])
    tiny.tokens["guest"] = created.json()["token"]

    InvitationDocument.model_validate(invited.json())
    TokenDocument.model_validate(created.json())
    assert (invited.status_code, created.status_code) == (201, 201)
    assert (created.json()["role"], created.json()["benchmarks"]) == ("submitter", ["tiny"])
    assert created.json()["expires_at"] is not None
    assert send(tiny, GOOD, "guest")["http"] == 202


def test_an_invited_reviewer_only_reads_and_an_invited_steward_decides(tiny: Site) -> None:
    """Only an admin invites the latter."""
    reviewer = redeem(tiny, invite(tiny, role="reviewer").json()["code"], "reviewer").json()
    refused = invite(tiny, role="steward")
    second = redeem(tiny, invite(tiny, "admin", role="steward").json()["code"], "second").json()
    changed = {
        created["name"]: tiny.http.put(
            "/benchmarks/tiny", content=MANIFEST, headers={"Authorization": f"Bearer {created['token']}"} | YAML
        ).status_code
        for created in (reviewer, second)
    }

    assert (refused.status_code, reviewer["scopes"]) == (403, ["read"])
    assert changed == {"reviewer": 403, "second": 200}


def test_two_who_use_an_invitation_at_once_get_one_token(tiny: Site) -> None:
    """The other one is told that it was used."""
    code = invite(tiny).json()["code"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: redeem(tiny, code, f"guest {n}"), range(8)))

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert {answer.json()["detail"] for answer in answers if answer.status_code == 409} == {
        "This invitation was used; ask for another one."
    }


def test_an_invitation_whose_name_is_taken_is_not_used_up(tiny: Site) -> None:
    """Another name can be tried."""
    code = invite(tiny).json()["code"]

    assert [redeem(tiny, code, name).status_code for name in ("ALICE", "\u0430lice", "guest")] == [409, 422, 201]


def test_what_is_no_open_invitation_makes_no_token(tiny: Site) -> None:
    """Unknown, revoked, expired, or of a steward who is none any more: each is told why."""
    created = [invite(tiny).json() for _ in range(3)]
    assert tiny.http.delete(f"/invitations/{created[0]['id']}", headers=tiny.auth("steward")).status_code == 200
    with tiny.as_owner() as session:
        session.execute(text("UPDATE invitation SET expires_at = '2026-01-02 03:04Z' WHERE id = 2"))
    tiny.http.post("/tokens", json={"name": "next", "role": "steward"}, headers=tiny.auth("admin"))
    given = {"token": "next", "role": "steward"}
    tiny.http.post("/benchmarks/tiny/roles", json=given, headers=tiny.auth("admin")).raise_for_status()
    tiny.http.delete("/benchmarks/tiny/roles/steward/steward", headers=tiny.auth("admin")).raise_for_status()
    answers = [redeem(tiny, code) for code in ("pli_x", *(each["code"] for each in created))]

    assert [answer.status_code for answer in answers] == [404, 409, 409, 409]
    assert [answer.json()["detail"].partition(";")[0] for answer in answers[1:]] == [
        "This invitation was revoked",
        "This invitation ended on 2026-01-02 03:04 UTC",
        "Who made this invitation may no longer invite",
    ]


def test_an_invitation_for_stewards_ends_with_the_admin_who_made_it(tiny: Site) -> None:
    """Who is a steward now invites submitters and nobody else."""
    codes = {role: invite(tiny, "admin", role=role).json()["code"] for role in ("steward", "submitter")}
    given = {"token": "admin", "role": "steward"}
    tiny.http.post("/benchmarks/tiny/roles", json=given, headers=tiny.auth("admin")).raise_for_status()
    with tiny.as_owner() as session:
        session.execute(text("UPDATE token SET role = 'steward' WHERE name = 'admin'"))

    assert [redeem(tiny, code, f"a {role}").status_code for role, code in codes.items()] == [409, 201]


def test_invitations_are_listed_without_their_codes(tiny: Site) -> None:
    """Nor is a code anywhere in the database; a steward sees those to their benchmarks."""
    code = invite(tiny).json()["code"]
    invite(tiny, "admin", benchmark=None)
    seen = {who: tiny.http.get("/invitations", headers=tiny.auth(who)).json() for who in ("steward", "admin")}
    with tiny.sessions() as session:
        kept = session.scalars(select(Invitation).order_by(Invitation.id)).first()

    assert [len(listed) for listed in seen.values()] == [1, 2]
    ListedInvitation.model_validate(seen["steward"][0])
    assert kept is not None
    assert code.encode() not in kept.hash
    assert seen["steward"][0]["state"] == "open"


def test_whoever_asks_gets_a_token_where_the_manifest_says_so(site: Site) -> None:
    """So many a day, each of which ends, submits to this benchmark alone, and counts as a submitter of it."""
    site.http.post("/benchmarks", content=OPEN, headers=site.auth("steward") | YAML).raise_for_status()
    site.http.post(
        "/preregs", content=b"benchmark: tiny\nmetrics: [MASE]\ntasks: all\n", headers=site.auth("steward") | YAML
    )
    answers = [site.http.post("/benchmarks/tiny/join", json={"name": f"guest {n}"}) for n in range(3)]
    site.tokens["guest"] = answers[0].json()["token"]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[2].headers["retry-after"]) > 0
    assert (answers[0].json()["benchmarks"], answers[0].json()["expires_at"] is None) == (["tiny"], False)
    assert send(site, GOOD, "guest")["http"] == 202


def test_an_invitation_lasts_no_longer_than_is_sensible(tiny: Site) -> None:
    """And at least a day."""
    assert [invite(tiny, days=days).status_code for days in (0, 91, "1")] == [422, 422, 422]
