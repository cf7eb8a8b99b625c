"""How often somebody may write, read and be wrong: counted for all processes together, by whom it is."""

import asyncio
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from starlette.types import Scope

from app.config import Settings
from app.db.engine import run_in_transaction
from app.db.models import Rate
from app.main import create_app
from app.web.limits import RateLimit, address_of, network_of, share_once
from tests.fixtures import Site, open_site

PROXIED: dict[str, Any] = {"base_url": "https://example.org", "forwarded_hops": 1}


def test_wrong_tokens_of_an_address_are_limited_in_all_processes_together(database_url: str) -> None:
    """With when to come back; also at the login, and others still write."""
    settings = Settings(max_wrong_tokens_per_minute=4, **PROXIED)
    with open_site(database_url, settings) as site, TestClient(create_app(settings, database_url)) as second:
        wrong = {"Authorization": "Bearer wrong", "X-Forwarded-For": "192.0.2.1"}
        first = [site.http.get("/whoami", headers=wrong).status_code for _ in range(2)]
        last = [second.get("/whoami", headers=wrong) for _ in range(2)]
        right = site.http.get("/whoami", headers={**wrong, **site.auth()})
        elsewhere = site.http.get("/whoami", headers={**site.auth(), "X-Forwarded-For": "192.0.2.2"})

    assert (first, [answer.status_code for answer in last]) == ([401, 401], [401, 401])
    assert int(right.headers["retry-after"]) > 0
    assert (right.status_code, elsewhere.status_code) == (429, 200)


def test_writes_of_a_token_are_limited_in_all_processes_together(database_url: str) -> None:
    """Two processes give it no more than one."""
    settings = Settings(max_requests_per_minute=3)
    with open_site(database_url, settings) as site, TestClient(create_app(settings, database_url)) as second:
        answers = [http.get("/whoami", headers=site.auth()) for http in (site.http, second, site.http, second)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 20


@pytest.mark.parametrize(
    ("settings", "statuses"),
    [
        ({}, [200, 200, 429, 429]),
        (PROXIED, [200, 200, 429, 200]),
        ({"base_url": "https://example.org"}, [200, 200, 200, 200]),
    ],
    ids=["at the door", "behind our proxy", "behind a proxy that tells nothing"],
)
def test_reads_of_an_address_are_limited(database_url: str, settings: dict[str, Any], statuses: list[int]) -> None:
    """Where addresses are told apart at all; a kept page counts as well."""
    with open_site(database_url, Settings(max_reads_per_minute=3, **settings)) as site:
        site.http.get("/glossary.json", headers={"X-Forwarded-For": "192.0.2.1"})
        actual = [
            site.http.get("/glossary.json", headers={"X-Forwarded-For": f"192.0.2.{last}"}).status_code
            for last in (1, 1, 1, 2)
        ]

    assert actual == statuses


def test_reads_of_an_address_are_limited_in_all_processes_together(site: Site) -> None:
    """Each tells the others of who reads much: what one of them gave is not given again."""
    limits = [RateLimit(10), RateLimit(10)]
    transact = partial(run_in_transaction, site.sessions)
    taken = [limit.take("192.0.2.1") for limit in limits for _ in range(6)]
    for limit in (*limits, limits[0]):
        asyncio.run(share_once(limit, transact))
        limit.take("192.0.2.1")
    waits = [limit.take("192.0.2.1") for limit in limits]

    assert taken == [0] * 12
    assert [wait > 0 for wait in waits] == [True, True]
    assert [limit.take("192.0.2.2") for limit in limits] == [0, 0]


def test_who_reads_little_is_written_down_nowhere(site: Site) -> None:
    """Neither how much, nor from where."""
    limit = RateLimit(100)
    limit.take("192.0.2.1")
    asyncio.run(share_once(limit, partial(run_in_transaction, site.sessions)))
    with site.sessions() as session:
        keys = session.scalars(select(Rate.key)).all()

    assert list(keys) == []


@pytest.mark.parametrize(
    ("forwarded", "hops", "address"),
    [
        ("192.0.2.9", 0, "10.0.0.1"),
        ("192.0.2.9", 1, "192.0.2.9"),
        ("6.6.6.6, 192.0.2.9", 1, "192.0.2.9"),
        ("6.6.6.6, 192.0.2.9, 10.0.0.2", 2, "192.0.2.9"),
        ("192.0.2.9", 2, "10.0.0.1"),
        ("6.6.6.6, evil", 1, "10.0.0.1"),
        ("", 1, "10.0.0.1"),
    ],
)
def test_only_the_configured_hops_are_believed(forwarded: str, hops: int, address: str) -> None:
    """What a client writes into the header itself stands before them."""
    scope: Scope = {"client": ("10.0.0.1", 5), "headers": [(b"x-forwarded-for", forwarded.encode())]}

    assert address_of(scope, hops) == address


def test_a_network_of_ipv6_is_one_reader() -> None:
    """One customer has 2**64 addresses; of IPv4 one."""
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")


def test_readers_by_ipv4_are_told_apart_where_a_server_listens_on_both() -> None:
    """There their addresses are written as ones of IPv6, all of one network."""
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("::ffff:192.0.2.2")


def test_writes_without_a_token_are_limited(database_url: str) -> None:
    """Also what needs none; each is a line in the audit, of which nobody makes as many as they like."""
    with open_site(database_url, Settings(max_wrong_tokens_per_minute=3, **PROXIED)) as site:
        here, order = {"X-Forwarded-For": "192.0.2.1"}, {"code": "pli_x", "name": "new"}
        first = [site.http.delete("/tokens/1", headers=here), site.http.post("/logout", headers=here)]
        first += [site.http.post("/invitations/redeem", json=order, headers=here) for _ in range(4)]
        elsewhere = site.http.post("/invitations/redeem", json=order)
        listed = site.http.get("/audit.json", params={"outcome": "refused"}, headers=site.auth("admin")).json()["rows"]

    assert [answer.status_code for answer in first] == [401, 401, 404, 429, 429, 429]
    assert int(first[-1].headers["retry-after"]) > 0
    assert elsewhere.status_code == 404
    assert [row["status"] for row in listed].count(429) == 1


def test_writes_of_an_address_are_limited_as_its_reads_are(database_url: str) -> None:
    """Before anything is asked of the database."""
    with open_site(database_url, Settings(max_reads_per_minute=2)) as site:
        answers = [site.http.post("/preregs", content=b"x") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_reads_of_a_token_are_limited_wherever_they_come_from(database_url: str) -> None:
    """What it reads as itself: a new address each time gives it no more."""
    with open_site(database_url, Settings(max_reads_per_minute=3, **PROXIED)) as site:
        actual = [
            site.http.get("/whoami", headers={**site.auth(), "X-Forwarded-For": f"192.0.2.{last}"})
            for last in (1, 2, 3, 4)
        ]
        other = site.http.get("/whoami", headers=site.auth("bob"))

    assert [answer.status_code for answer in actual] == [200, 200, 200, 429]
    assert "with your token" in actual[-1].json()["detail"]
    assert other.status_code == 200
