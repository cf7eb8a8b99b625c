"""Whose an entrant is, and since when."""

from tests.conftest import Site
from tests.test_walkthrough import BASE, BETTER, GOOD, declare, send

WRONG_CLAIM = '{"Good": {"MASE": 99}}'


def test_a_submission_that_its_evaluation_refuses_takes_no_name(site: Site) -> None:
    """The name is taken while the submission waits, and anybody's again once it is not admitted."""
    declare(site)
    refused = send(site, GOOD, claims=WRONG_CLAIM)["id"]
    assert send(site, GOOD, "bob")["http"] == 409
    site.work()

    assert site.http.get(f"/submissions/{refused}.json").json()["status"] == "not_admitted"
    assert send(site, GOOD, "bob")["http"] == 202


def test_a_refused_submission_loses_no_name_that_another_one_holds(site: Site) -> None:
    """Whoever was admitted before, or waits to be, keeps the name."""
    declare(site)
    send(site, BASE)
    site.work()
    send(site, BASE.replace(b"Base,t1,1.0", b"Base,t1,1.5"), claims='{"Base": {"MASE": 99}}')
    send(site, GOOD, claims=WRONG_CLAIM)
    send(site, BETTER)
    site.work()

    assert send(site, BASE, "bob")["http"] == 409
    assert send(site, GOOD, "bob")["http"] == 409


def test_a_name_that_a_steward_gave_stays(site: Site) -> None:
    """A refused submission of the new owner does not undo the steward's decision."""
    declare(site)
    send(site, GOOD)
    site.work()
    order = {"token_id": 2, "reason": "handed over"}
    site.http.put("/benchmarks/tiny/entrants/Good/owner", json=order, headers=site.auth("steward"))
    send(site, BETTER, "bob", claims=WRONG_CLAIM)
    site.work()

    assert send(site, BETTER)["http"] == 409
    assert send(site, BETTER, "bob")["http"] == 202
