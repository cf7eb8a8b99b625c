"""A token that is for less than its role: it widens nothing, and it is not the last one that decides."""

from typing import Any

import pytest

from tests.cases.signing_in import signed
from tests.fixtures import Site


def make(site: Site, name: str, role: str, **limits: Any) -> int:
    """Make a token, keep its text, and return its number."""
    order = {"name": name, "role": role, **limits}
    created = site.http.post("/tokens", json=order, headers=site.auth("admin")).json()
    site.tokens[name] = created["token"]
    return int(created["id"])


@pytest.mark.parametrize("limits", [{"scopes": ["submit"]}, {"entrants": ["Base"]}], ids=str)
def test_a_token_that_is_limited_neither_renews_nor_erases_itself(tiny: Site, limits: dict[str, list[str]]) -> None:
    """It lies where one job runs: whoever finds it there would lock its owner out, or erase them for ever."""
    own = make(tiny, "narrow", "submitter", **limits)
    refused = [
        tiny.http.post(f"/tokens/{own}/{act}", json=order, headers=tiny.auth("narrow"))
        for act, order in (("rotate", {"overlap_h": 0}), ("erase", {"reason": "x"}))
    ]
    renewed = tiny.http.post(f"/tokens/{own}/rotate", json={"overlap_h": 0}, headers=tiny.auth("admin"))

    assert [answer.status_code for answer in (*refused, renewed)] == [403, 403, 200]
    assert f"only for {next(iter(limits.values()))[0]}. " in refused[0].json()["detail"]


@pytest.mark.parametrize("limits", [{"scopes": ["steward"]}, {"entrants": ["Base"]}], ids=str)
def test_a_token_that_is_limited_makes_no_wider_one(tiny: Site, limits: dict[str, list[str]]) -> None:
    """Neither a token, nor a role, nor an invitation that its holder could use."""
    make(tiny, "narrow", "admin", **limits)
    orders = (
        ("/tokens", {"name": "wide", "role": "admin"}),
        ("/benchmarks/tiny/roles", {"token": "alice", "role": "steward"}),
        ("/benchmarks/tiny/roles", {"token": "alice", "role": "reviewer"}),
        ("/invitations", {"role": "submitter", "benchmark": "tiny"}),
        ("/invitations", {"role": "submitter"}),
    )
    answers = [tiny.http.post(path, json=order, headers=tiny.auth("narrow")) for path, order in orders]

    assert [answer.status_code for answer in answers] == [403] * len(orders)


def test_what_a_token_that_may_not_read_is_told_of_itself_is_kept_by_no_cache(site: Site) -> None:
    """To pages that everybody may read it is a stranger, whose answers are kept."""
    make(site, "narrow", "submitter", scopes=["submit"])
    own = site.http.get("/whoami", headers=site.auth("narrow"))

    assert (own.status_code, own.headers["cache-control"]) == (200, "no-store")


def test_who_was_invited_to_one_benchmark_renews_their_own_token(tiny: Site) -> None:
    """It is the only one that they have: an invitation names the benchmark, it makes no narrow copy."""
    own = make(tiny, "invited", "submitter", benchmarks=["tiny"])
    renewed = tiny.http.post(f"/tokens/{own}/rotate", json={"overlap_h": 0}, headers=tiny.auth("invited"))

    assert renewed.status_code == 200


def test_an_admins_token_for_reading_is_not_the_last_admin(site: Site) -> None:
    """Else nobody could decide anything any more."""
    make(site, "reader", "admin", scopes=["read"])
    refused = site.http.delete("/tokens/4", headers=site.auth("admin"))

    assert (refused.status_code, "last admin" in refused.json()["detail"]) == (409, True)


def test_a_stewards_token_for_other_work_is_not_the_last_steward(tiny: Site) -> None:
    """One for reading, or for another benchmark, could not decide here."""
    for name, limits in (("reader", {"scopes": ["read"]}), ("elsewhere", {"benchmarks": ["tiny"]})):
        make(tiny, name, "steward", **limits)
    with tiny.as_owner() as session:
        session.connection().exec_driver_sql("UPDATE token SET benchmarks = '{other}' WHERE name = 'elsewhere'")
    for name in ("reader", "elsewhere"):
        given = {"token": name, "role": "steward"}
        tiny.http.post("/benchmarks/tiny/roles", json=given, headers=tiny.auth("admin")).raise_for_status()

    assert tiny.http.delete("/benchmarks/tiny/roles/steward/steward", headers=tiny.auth("admin")).status_code == 409


def test_a_text_that_is_ended_at_once_takes_its_sessions_along(site: Site) -> None:
    """Whoever found it may have signed in with it; who asks stays signed in, and an overlap ends nothing."""
    thief, holder = signed(site), signed(site)
    site.http.post("/tokens/3/rotate", json={"overlap_h": 1}, headers=site.auth("steward")).raise_for_status()
    before = site.http.get("/whoami", headers=thief).status_code
    renewed = site.http.post("/tokens/3/rotate", json={"overlap_h": 0}, headers={**holder, **_key(site, holder)})
    after = [site.http.get("/whoami", headers=who).status_code for who in (thief, holder)]

    assert (before, renewed.status_code, after) == (200, 200, [401, 200])


def test_a_renewal_that_is_asked_for_twice_leaves_no_gap(site: Site) -> None:
    """Its answer may have been lost: the text that programs use works on for the hours that were given."""
    order, in_use = {"json": {"overlap_h": 1}}, site.auth()
    site.http.post("/tokens/1/rotate", headers=in_use, **order).raise_for_status()
    again = site.http.post("/tokens/1/rotate", headers=in_use, **order)
    site.tokens["again"] = again.json()["token"]

    assert [site.http.get("/whoami", headers=each).status_code for each in (in_use, site.auth("again"))] == [200, 200]


def test_a_token_for_one_benchmark_is_told_of_no_other(tiny: Site) -> None:
    """The order is refused as any other write would be."""
    make(tiny, "narrow", "submitter", benchmarks=["tiny"])
    answers = [
        tiny.http.post("/notifications", json={"address": "https://example.org/", "benchmark": slug}, headers=header)
        for header in [tiny.auth("narrow")]
        for slug in ("tiny", "other")
    ]

    assert [answer.status_code for answer in answers] == [201, 403]


def _key(site: Site, session: dict[str, str]) -> dict[str, str]:
    text = site.http.get("/account", headers=session).text
    return {"X-CSRF-Token": text.partition("csrf=")[2][:64]}
