"""Who can read private labels competes with nobody: their entrants are references, over HTTP."""

from typing import Any

import pytest
from sqlalchemy import select

from app.db.models import Token
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
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
from tests.fixtures import Site

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


def test_the_entrant_of_a_steward_is_a_reference(site: Site) -> None:
    """It has its numbers and the reason, no rank of any form, and those of the others are as without it."""
    compete(site)
    rows = board(site)

    assert [rows["Own"][name] for name in RANKED] == [""] * len(RANKED)
    assert rows["Own"]["unranked_because"] == "label holder"
    assert "label_holder" in rows["Own"]["flags"].split()
    assert float(rows["Own"]["accuracy"]) > float(rows["A"]["accuracy"])
    assert (rows["A"]["rank"], rows["B"]["rank"]) == ("1", "2")
    assert float(rows["A"]["first_resamples_share"]) + float(rows["B"]["first_resamples_share"]) == 1.0
    assert "label_holder" not in rows["A"]["flags"]
    told = " ".join(documents(site, BOARD)["notes"])
    assert "Sent by who can read the private labels, so listed for comparison, without a rank: Own" in told
    page = site.http.get(BOARD, headers={"Accept": "text/html"}).text
    assert "label holder" in page
    assert "First: Own" not in page

    # A family of tests that counted it would make the others' p-values larger.
    for kind in ("pairwise", "comparisons", "tests"):
        assert {row["entrant_a"] for row in records(site, f"{BOARD}/{kind}.csv")} == {"A", "B"}, kind
    own, other = (documents(site, f"/benchmarks/{SLUG}/entrants/{name}") for name in ("Own", "A"))
    assert own["meta"]["label_holder"] is True
    assert "Who sent this entrant can read the private labels; it is listed without a rank." in own["notes"]
    assert "label_holder" not in other["meta"]
    page = site.http.get(f"/benchmarks/{SLUG}/entrants/Own", headers={"Accept": "text/html"}).text
    assert "label holder" in page
    chosen = {row["entrant"]: row for row in records(site, f"{BOARD}/explore.csv?entrant=Own&entrant=A")}
    assert (chosen["Own"]["rank"], chosen["Own"]["unranked_because"], chosen["A"]["rank"]) == ("", "label holder", "1")
    dry = send(site, knowing(truth(N_ITEMS), 0.9), "Own", "steward", query="?dry_run=true").json()
    told = {check["rule"]: check["reason"] for check in dry["checks"]}
    assert "boards list its entrants without a rank" in told["quota"]


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


def test_the_key_is_about_private_labels_alone() -> None:
    """Public labels are everybody's, and those of a submission are its own."""
    document = manifest(part=f"{BINARY}, label_holders: ranked").replace("labels: private", "labels: public")
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(document.encode())

    assert "label_holders is about labels that are a secret" in str(refused.value.problems)


def test_public_labels_make_no_references(site: Site) -> None:
    """Everybody has them, so a steward has nothing that others lack."""
    labels = truth(N_ITEMS)
    begin(site, manifest().replace("labels: private", "labels: public"), words(labels))
    send(site, knowing(labels, 0.8), "A")
    send(site, knowing(labels, 0.99), "Own", "steward")
    site.work()
    rows = board(site)

    assert (rows["Own"]["rank"], rows["Own"]["flags"]) == ("1", "")


def test_who_becomes_a_steward_or_is_one_under_another_name_loses_the_ranks_of_before(site: Site) -> None:
    """Who knows the labels may withdraw all but the best, and with two tokens knows the same with both; the boards are
    published anew without being asked.
    """
    compete(site, who="bob")
    seen = [board(site)["Own"]["rank"]]
    for counted_as in ("steward", "bob"):
        order = {"counted_as": counted_as, "reason": "one person, or two after all"}
        answer = site.http.put(f"/benchmarks/{SLUG}/owners/bob", json=order, headers=site.auth("steward"))
        assert answer.status_code == 200, answer.text
        site.work()
        seen.append(board(site)["Own"]["unranked_because"] or board(site)["Own"]["rank"])
    grant(site, "bob")
    site.work()

    assert [*seen, board(site)["Own"]["unranked_because"]] == ["1", "label holder", "1", "label holder"]


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
