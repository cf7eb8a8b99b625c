"""Who can read private labels competes with nobody: their entrants are references, over HTTP."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from app.db.models import Token
from tests.cases.secret_labels import (
    BINARY,
    SLUG,
    begin,
    board,
    checks,
    knowing,
    manifest,
    put_labels,
    send,
    truth,
    words,
)
from tests.cases.ydf_http import records
from tests.fixtures import Site, SiteAfter

N_ITEMS = 120
BOARD = f"/benchmarks/{SLUG}/leaderboards/board"
RANKED = ("rank", "rank_low", "rank_high", "first_resamples_share", "may_be_first")


def compete(site: Site, who: str = "steward", part: str = BINARY) -> None:
    """Have somebody send what is nearly the truth beside two who have no labels, and publish."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 1, ladder: false", ("accuracy", "brier"), part=part), words(labels))
    send(site, knowing(labels, 0.8), "A")
    send(site, knowing(labels, 0.7, 6), "B")
    sent = send(site, knowing(labels, 0.99), "Own", who)
    assert sent.status_code == 202, sent.text
    site.work()


def documents(site: Site, address: str) -> dict[str, Any]:
    """Return an address as JSON."""
    answer = site.http.get(f"{address}.json")
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def grant(site: Site, who: str, role: str = "steward") -> None:
    """Have the admin give somebody a role, by name; a steward needs a token of that role."""
    with site.sessions.begin() as session:
        if role == "steward":
            session.scalars(select(Token).where(Token.name == who)).one().role = "steward"
    answer = site.http.post(f"/benchmarks/{SLUG}/roles", json={"token": who, "role": role}, headers=site.auth("admin"))
    assert answer.status_code == 200, answer.text


@pytest.fixture
def competing(site_after: SiteAfter) -> Site:
    """Two students and a steward who compete, published once for all of these."""
    return site_after(compete)


def test_the_entrant_of_a_steward_is_a_reference(competing: Site) -> None:
    """It has its numbers and the reason, no rank of any form, and those of the others are as without it."""
    rows = board(competing)

    assert [rows["Own"][name] for name in RANKED] == [""] * len(RANKED)
    assert rows["Own"]["unranked_because"] == "label holder"
    assert "label_holder" in rows["Own"]["flags"].split()
    assert float(rows["Own"]["accuracy"]) > float(rows["A"]["accuracy"])
    assert (rows["A"]["rank"], rows["B"]["rank"]) == ("1", "2")
    assert float(rows["A"]["first_resamples_share"]) + float(rows["B"]["first_resamples_share"]) == 1.0
    assert "label_holder" not in rows["A"]["flags"]
    told = " ".join(documents(competing, BOARD)["notes"])
    assert "Sent by who can read the private labels, so listed for comparison, without a rank: Own" in told
    page = competing.http.get(BOARD, headers={"Accept": "text/html"}).text
    assert "label holder" in page
    assert "First: Own" not in page


def test_a_reference_is_in_no_pair_and_no_test(competing: Site) -> None:
    """A family of tests that counted it would make the others' p-values larger."""
    for kind in ("pairwise", "comparisons", "tests"):
        pairs = records(competing, f"{BOARD}/{kind}.csv")
        assert {row["entrant_a"] for row in pairs} == {"A", "B"}, kind


def test_the_page_of_such_an_entrant_says_why(competing: Site) -> None:
    """In words, on the page and in its JSON; nothing on that of another."""
    own, other = (documents(competing, f"/benchmarks/{SLUG}/entrants/{name}") for name in ("Own", "A"))

    assert own["meta"]["label_holder"] is True
    assert "Who sent this entrant can read the private labels; it is listed without a rank." in own["notes"]
    assert "label_holder" not in other["meta"]
    page = competing.http.get(f"/benchmarks/{SLUG}/entrants/Own", headers={"Accept": "text/html"}).text
    assert "label holder" in page


def test_the_entrant_of_an_admin_is_a_reference(site: Site) -> None:
    """Admins are stewards of every benchmark."""
    compete(site, who="admin")

    assert board(site)["Own"]["unranked_because"] == "label holder"


def test_a_manifest_may_say_aloud_that_they_are_ranked(site: Site) -> None:
    """Then the entrant has a rank, its flag stays, and the board says so."""
    compete(site, part=f"{BINARY}, label_holders: ranked")
    rows = board(site)

    assert (rows["Own"]["rank"], rows["Own"]["unranked_because"]) == ("1", "")
    assert "label_holder" in rows["Own"]["flags"].split()
    told = " ".join(documents(site, BOARD)["notes"])
    assert "Ranked although who sent them can read the private labels" in told
    own = documents(site, f"/benchmarks/{SLUG}/entrants/Own")
    assert "it is ranked all the same" in " ".join(own["notes"])


def test_the_key_is_about_private_labels_alone(site: Site) -> None:
    """Public labels are everybody's, and those of a submission are its own."""
    document = manifest(part=f"{BINARY}, label_holders: ranked").replace("labels: private", "labels: public")
    answer = site.http.post("/benchmarks", content=document, headers=site.auth("steward"))

    assert answer.status_code == 422
    assert "label_holders is about labels that are a secret" in json.dumps(answer.json())


def test_public_labels_make_no_references(site: Site) -> None:
    """Everybody has them, so a steward has nothing that others lack."""
    labels = truth(N_ITEMS)
    begin(site, manifest().replace("labels: private", "labels: public"), words(labels))
    send(site, knowing(labels, 0.8), "A")
    send(site, knowing(labels, 0.99), "Own", "steward")
    site.work()
    rows = board(site)

    assert (rows["Own"]["rank"], rows["Own"]["flags"]) == ("1", "")


def test_a_chosen_board_has_no_rank_for_it_either(competing: Site) -> None:
    """A reader who names it gets what the benchmark's board says."""
    rows = {row["entrant"]: row for row in records(competing, f"{BOARD}/explore.csv?entrant=Own&entrant=A")}

    assert (rows["Own"]["rank"], rows["Own"]["unranked_because"]) == ("", "label holder")
    assert rows["A"]["rank"] == "1"


def test_who_becomes_a_steward_loses_the_ranks_of_before(site: Site) -> None:
    """Who knows the labels may withdraw all but the best; the boards are published anew without being asked."""
    compete(site, who="bob")
    before = board(site)["Own"]["rank"]
    grant(site, "bob")
    site.work()

    assert before == "1"
    assert board(site)["Own"]["unranked_because"] == "label holder"


def test_who_was_a_steward_still_knows_the_labels(site: Site) -> None:
    """Losing the role forgets nothing."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 1"), words(labels))
    grant(site, "bob")
    lost = site.http.delete(f"/benchmarks/{SLUG}/roles/steward/bob", headers=site.auth("admin"))
    assert lost.status_code == 200, lost.text
    send(site, knowing(labels, 0.8), "A")
    sent = send(site, knowing(labels, 0.99), "Own", "bob").json()["id"]
    site.work()

    assert board(site)["Own"]["unranked_because"] == "label holder"
    assert "no quota is counted" not in checks(site, sent)["quota"][1]


def test_who_was_a_steward_before_the_labels_were_put_competes(site: Site) -> None:
    """There was nothing to know yet."""
    labels = truth(N_ITEMS)
    created = site.http.post("/benchmarks", content=manifest("public_share: 1"), headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    grant(site, "bob")
    site.http.delete(f"/benchmarks/{SLUG}/roles/steward/bob", headers=site.auth("admin"))
    put_labels(site, words(labels))
    send(site, knowing(labels, 0.99), "Own", "bob")
    site.work()

    assert board(site)["Own"]["rank"] == "1"


def test_who_becomes_a_steward_after_the_close_keeps_the_rank(site: Site) -> None:
    """Nothing is scored any more, and everybody is told the private part's scores."""
    compete(site, who="bob")
    site.http.post(f"/benchmarks/{SLUG}/close", json={"reason": "over"}, headers=site.auth("steward"))
    grant(site, "bob")
    site.work()

    assert board(site)["Own"]["rank"] == "1"


def test_a_token_linked_to_a_steward_is_one(site: Site) -> None:
    """Somebody with two tokens knows the same with both."""
    compete(site, who="bob")
    link = {"counted_as": "steward", "reason": "the same person"}
    linked = site.http.put(f"/benchmarks/{SLUG}/owners/bob", json=link, headers=site.auth("steward"))
    assert linked.status_code == 200, linked.text
    site.work()

    assert board(site)["Own"]["unranked_because"] == "label holder"

    apart = {"counted_as": "bob", "reason": "two persons after all"}
    undone = site.http.put(f"/benchmarks/{SLUG}/owners/bob", json=apart, headers=site.auth("steward"))
    assert undone.status_code == 200, undone.text
    site.work()

    assert board(site)["Own"]["rank"] == "1"


def test_a_steward_reads_of_it_before_sending(site: Site) -> None:
    """The check of the quota, in a dry run too, says how boards will list it."""
    labels = truth(N_ITEMS)
    begin(site, manifest(), words(labels))
    dry = send(site, knowing(labels, 0.9), "Own", "steward", query="?dry_run=true").json()
    told = {check["rule"]: check["reason"] for check in dry["checks"]}

    assert "boards list its entrants without a rank" in told["quota"]
