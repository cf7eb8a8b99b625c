"""Who is steward, reviewer or submitter of a benchmark, by whom, until when, and what each of them may do there."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from app.rights import tokens
from app.web.documents import AttestedDocument, RolesDocument
from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare, send
from tests.fixtures import Site, SiteAfter

STEWARD, OTHER = 3, 5
PATH = "/benchmarks/tiny/roles"
OWN = GOOD.replace(b"Good", b"Own")
INVITED = MANIFEST.replace("prereg: required", "prereg: required, submissions: invited")
ELSEWHERE = MANIFEST.replace("slug: tiny", "slug: elsewhere")


def make_two(site: Site) -> None:
    """Make two benchmarks, tiny of `steward` and elsewhere of `other`, and a submission to tiny."""
    with site.sessions.begin() as session:
        site.tokens["other"] = tokens.create_token(session, "other", "steward")[1]
    declare(site)
    created = site.http.post("/benchmarks", content=ELSEWHERE, headers=site.auth("other") | YAML)
    assert created.status_code == 201
    assert send(site, GOOD)["http"] == 202


@pytest.fixture
def two(site_after: SiteAfter) -> Site:
    """A site with the two benchmarks."""
    return site_after(make_two)


def ask(site: Site, method: str, path: str, who: str, order: Any = None) -> httpx2.Response:
    """Send an order as JSON."""
    answer: httpx2.Response = site.http.request(method, path, json=order, headers=site.auth(who))
    return answer


def update(site: Site, who: str) -> int:
    """Send a manifest of tiny with another title; return the status."""
    content = MANIFEST.replace("title: Tiny", f"title: By {who}")
    status: int = site.http.put("/benchmarks/tiny", content=content, headers=site.auth(who) | YAML).status_code
    return status


def test_an_admin_gives_a_benchmark_and_takes_it_back(two: Site) -> None:
    """By name or by number; the history says when and by whom, and what was done meanwhile stays."""
    given = ask(two, "POST", PATH, "admin", {"token": "Other", "role": "steward"})
    now = update(two, "other")
    taken = ask(two, "DELETE", f"{PATH}/steward/{OTHER}", "admin")

    for answer in (given, taken):
        RolesDocument.model_validate(answer.json())
    assert [each["name"] for each in given.json()["roles"]] == ["other", "steward"]
    assert [(h["name"], h["change"], h["by"]) for h in taken.json()["history"]] == [
        ("steward", "granted", "steward"),
        ("other", "granted", "admin"),
        ("other", "revoked", "admin"),
    ]
    assert (now, update(two, "other")) == (200, 403)
    assert two.http.get("/benchmarks/tiny.json").json()["manifest"]["title"] == "By other"


def test_a_benchmark_is_given_to_tokens_that_can_use_it(two: Site) -> None:
    """Not to a submitter, not to a revoked token, not to nobody; twice is once, and only a steward loses it."""
    ask(two, "POST", "/tokens", "admin", {"name": "ended", "role": "steward"})
    ask(two, "DELETE", "/tokens/6", "admin")
    named = ["alice", "ended", 77, "steward"]
    given = [{"token": name, "role": "steward"} for name in named] + [{"token": "steward", "role": "king"}]
    statuses = [ask(two, "POST", PATH, "admin", order).status_code for order in given]

    assert statuses == [409, 409, 404, 200, 422]
    assert ask(two, "DELETE", f"{PATH}/steward/alice", "admin").status_code == 404
    assert len(ask(two, "GET", PATH, "admin").json()["history"]) == 1


def test_a_benchmarks_page_names_its_stewards(two: Site) -> None:
    """By name only, without those whose token was revoked."""
    before = two.http.get("/benchmarks/tiny.json").json()
    ask(two, "POST", PATH, "admin", {"token": OTHER, "role": "steward"})
    ask(two, "DELETE", f"/tokens/{STEWARD}", "admin")
    page = two.http.get("/benchmarks/tiny", headers={"Accept": "text/html"}).text

    assert before["stewards"] == ["steward"]
    assert "Steward: other." in page


def attest(site: Site, sha256: str, who: str) -> httpx2.Response:
    """Attest that a registration existed in 1970."""
    order = {"registered_at": "1970-01-01T00:00:00Z", "evidence": "trust me"}
    return ask(site, "POST", f"/preregs/{sha256}/attestations", who, order)


def test_a_steward_attests_only_what_is_for_a_benchmark_of_theirs(two: Site) -> None:
    """What is for no benchmark, only an admin; the answer says where the word counts."""
    bound = send(two, BASE)["prereg_sha256"]
    axis = b"schema_version: 1\ntask_id: t1\ngit_tag: p-1\nparameters: {a: 1}\ndecision_rules: r\n"
    unbound = two.http.post("/preregs", content=axis, headers=two.auth() | YAML).json()["sha256"]
    answers = [attest(two, sha256, who) for sha256 in (bound, unbound) for who in ("other", "steward", "admin")]

    assert [answer.status_code for answer in answers] == [403, 201, 201, 403, 403, 201]
    assert [answers[1].json()["benchmarks"], answers[2].json()["benchmarks"]] == [["tiny"], None]
    AttestedDocument.model_validate(answers[1].json())


def test_an_attestation_counts_in_the_stewards_own_benchmarks_only(two: Site) -> None:
    """Registering for a second benchmark does not let its steward vouch for the first."""
    content = b"schema_version: 1\ntask_id: t1\ngit_tag: p-1\nparameters: {a: 1}\ndecision_rules: r\n"
    for slug in ("tiny", "elsewhere"):
        created = two.http.post(f"/preregs?benchmark={slug}", content=content, headers=two.auth() | YAML)
    sha256 = created.json()["sha256"]
    attest(two, sha256, "other")

    listed = {
        slug: {
            r["prereg"]: r["attested_at"] for r in two.http.get(f"/benchmarks/{slug}/registrations.json").json()["rows"]
        }
        for slug in ("tiny", "elsewhere")
    }
    checks = [_checks(two, slug, sha256) for slug in ("tiny", "elsewhere")]
    outcomes = [{rule: outcome for rule, (outcome, _) in each.items()} for each in checks]

    assert listed["tiny"][sha256] is None
    assert listed["elsewhere"][sha256].startswith("1970-01-01")
    assert ["attested" in each["registered_before_run"][1] for each in checks] == [False, True]
    assert [(each["registered_before_run"], each["prereg_benchmark"]) for each in outcomes] == [
        ("failed", "failed"),
        ("passed", "passed"),
    ]
    assert two.http.get(f"/preregs/{sha256}.json").json()["attestations"][0]["benchmark"] == "elsewhere"


def _checks(site: Site, slug: str, sha256: str) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each rule for a run of 2020, as a dry run tells them."""
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions?dry_run=true",
        files=[("files", ("r.csv", GOOD))],
        data={"prereg_sha256": sha256, "metadata": '{"started_at": "2020-01-01T00:00:00Z"}'},
        headers=site.auth(),
    ).json()
    return {check["rule"]: (check["outcome"], check["reason"]) for check in answer["checks"]}


def test_the_last_steward_stays(two: Site) -> None:
    """Neither the role nor the token of the last one without an end is taken away, nor is an end set to it."""
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    ask(two, "POST", PATH, "admin", {"token": "other", "role": "steward", "until": soon})
    tries = [
        ("DELETE", f"{PATH}/steward/{STEWARD}", None),
        ("DELETE", f"/tokens/{STEWARD}", None),
        ("POST", PATH, {"token": "steward", "role": "steward", "until": soon}),
    ]
    refused = [ask(two, method, path, "admin", order) for method, path, order in tries]
    ask(two, "POST", PATH, "admin", {"token": "other", "role": "steward"})

    assert [answer.status_code for answer in refused] == [409, 409, 409]
    assert "would be left without a steward" in refused[0].json()["detail"]
    assert ask(two, "DELETE", f"/tokens/{STEWARD}", "admin").status_code == 200


def test_a_role_ends_when_its_time_is_over(two: Site) -> None:
    """Without anybody doing anything; one that is over already is not given."""
    past = ask(two, "POST", PATH, "admin", {"token": "other", "role": "steward", "until": "2020-01-01T00:00:00Z"})
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    ask(two, "POST", PATH, "admin", {"token": "other", "role": "steward", "until": soon})
    during = update(two, "other")
    with two.as_owner() as session:
        session.execute(text("ALTER TABLE role_grant DISABLE TRIGGER keep_history"))
        session.execute(text("UPDATE role_grant SET until = now() WHERE until IS NOT NULL"))

    assert (past.status_code, during, update(two, "other")) == (422, 200, 403)


def test_where_submissions_are_invited_only_its_submitters_send_some(two: Site) -> None:
    """Nobody else registers either, which would reserve names; the refusal says whom to ask."""
    two.http.put("/benchmarks/tiny", content=INVITED, headers=two.auth("steward") | YAML).raise_for_status()
    ask(two, "POST", PATH, "steward", {"token": "bob", "role": "submitter"})
    sent = {who: send(two, OWN, who) for who in ("alice", "bob")}
    registered = {
        who: two.http.post(
            "/preregs", content=PREREG + f"notes: {who}\n".encode(), headers=two.auth(who) | YAML
        ).status_code
        for who in ("alice", "bob", "steward")
    }

    assert {who: answer["http"] for who, answer in sent.items()} == {"alice": 403, "bob": 202}
    assert sent["alice"]["detail"].endswith("Ask its stewards (steward).")
    assert registered == {"alice": 403, "bob": 201, "steward": 201}


def test_a_reviewer_changes_nothing(two: Site) -> None:
    """Also not by a submission, unless they are a submitter too."""
    ask(two, "POST", PATH, "steward", {"token": "bob", "role": "reviewer"})
    before = send(two, OWN, "bob")
    ask(two, "POST", PATH, "steward", {"token": "bob", "role": "submitter"})

    assert (before["http"], send(two, OWN, "bob")["http"]) == (403, 202)
    assert "whoever is no reviewer" in before["detail"]


def test_no_order_has_a_field_that_would_be_ignored(two: Site) -> None:
    """Every JSON body is refused by the name of what it does not know."""
    orders = [
        ("POST", "/submissions/1/withdraw", {"reason": "x"}),
        ("PUT", "/benchmarks/tiny/entrants/Good/owner", {"token_id": 2, "reason": "x"}),
        ("POST", f"/preregs/{'0' * 64}/attestations", {"registered_at": "2020-01-01T00:00:00Z", "evidence": "x"}),
        ("POST", "/benchmarks/tiny/reservations/Good/release", {"reason": "x"}),
        ("POST", PATH, {"token": 5, "role": "steward"}),
    ]
    answers = [ask(two, m, path, "admin", {**order, "because": "x"}) for m, path, order in orders]

    assert [(a.status_code, a.json()["problems"][0]["column"]) for a in answers] == [(422, "body.because")] * len(
        orders
    )


@pytest.mark.parametrize("name", ["alice", "ALICE"])
def test_a_tokens_name_is_given_once(site: Site, name: str) -> None:
    """In whatever case, and also when the first one was revoked: history names one of them."""
    first = ask(site, "POST", "/tokens", "admin", {"name": name, "role": "steward"})
    ask(site, "DELETE", "/tokens/1", "admin")
    second = ask(site, "POST", "/tokens", "admin", {"name": name, "role": "steward"})

    assert (first.status_code, second.status_code) == (409, 409)
    assert f"There is a token of the name {name} already" in first.json()["detail"]


def test_an_admin_token_of_another_text_gets_a_name_of_its_own(site: Site) -> None:
    """The name of the first one is taken."""
    with site.sessions.begin() as session:
        tokens.ensure_admin_token(session, "another-text-of-an-admin-token-0123456789")

    assert [t["name"] for t in ask(site, "GET", "/tokens", "admin").json()][-1] == "admin 2"
