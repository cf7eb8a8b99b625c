"""Withdrawing a submission: what it leaves behind, and what may come after it."""

from typing import Any

import pytest

from app.store import benchmark_rows, current, submissions
from tests.cases.walkthrough import BASE, BETTER, GOOD, PREREG, board, declare, send
from tests.fixtures import Site, SiteAfter

REFUSED = {"metadata": '{"dirty": true}'}


def withdraw(site: Site, number: int, reason: str = "wrong data", who: str = "alice") -> Any:
    """Withdraw a submission."""
    return site.http.post(f"/submissions/{number}/withdraw", json={"reason": reason}, headers=site.auth(who))


def snapshots(site: Site) -> list[dict[str, Any]]:
    """Return the history of the benchmark, the newest first."""
    listed: list[dict[str, Any]] = site.http.get("/benchmarks/tiny/snapshots.json").json()
    return listed


@pytest.fixture
def site(site_after: SiteAfter) -> Site:
    """The benchmark tiny, declared once for all of these."""
    return site_after(declare)


def test_a_withdrawal_needs_a_reason_that_can_be_read(site: Site) -> None:
    """It is shown for ever, so it is neither blank nor misleading; it is kept without the blanks around it."""
    number = send(site, BASE)["id"]
    for reason in ("", "   ", "\n\t", "a\u0000b", "a\u202eb", "two\nlines", "x" * 2001):
        answer = withdraw(site, number, reason)
        assert (answer.status_code, answer.json()["problems"][0]["column"]) == (422, "body.reason"), repr(reason)
    assert site.http.get(f"/submissions/{number}.json").json()["status"] == "received"

    assert withdraw(site, number, "  wrong data \n").json()["reason"] == "wrong data"


def test_what_was_not_admitted_is_withdrawn_without_a_trace_on_the_boards(site: Site) -> None:
    """It stays not admitted, has no tombstone there, and nothing is published anew."""
    send(site, BASE)
    refused = send(site, GOOD, **REFUSED)["id"]
    site.work()
    answer = withdraw(site, refused).json()
    site.work()

    assert (answer["status"], answer["admitted"]) == ("withdrawn", False)
    assert [entry["state"] for entry in answer["entrants"]] == ["not_admitted"]
    assert [(s["number"], s["withdrawals"]) for s in snapshots(site)] == [(1, [])]
    assert site.http.get("/benchmarks/tiny.json").json()["stale"] is False


def test_a_later_submission_that_never_stood_supersedes_nothing(site: Site) -> None:
    """One that waits is evaluated and stands, although a later one was refused or withdrawn meanwhile."""
    send(site, BASE)
    waiting = send(site, GOOD)["id"]
    withdraw(site, send(site, BETTER)["id"])
    withdraw(site, send(site, BETTER, **REFUSED)["id"])
    site.work()

    assert site.http.get(f"/submissions/{waiting}.json").json()["status"] == "published"
    assert set(board(site)["by"]) == {"Base", "Good"}
    assert snapshots(site)[0]["withdrawals"] == []


def test_a_later_submission_that_stood_and_was_withdrawn_still_supersedes(site: Site) -> None:
    """What it had superseded does not come back: otherwise one could submit often and keep the best."""
    send(site, BASE)
    send(site, GOOD)
    later = send(site, BETTER)["id"]
    site.work()
    withdraw(site, later)
    site.work()

    assert set(board(site)["by"]) == {"Base"}
    assert [w["submission"] for w in snapshots(site)[0]["withdrawals"]] == [later]


def test_a_submission_that_is_withdrawn_before_its_evaluation_gives_its_names_back(site: Site) -> None:
    """It never stood, so it took nothing."""
    withdraw(site, send(site, GOOD)["id"])

    assert send(site, GOOD, "bob")["http"] == 202


def test_a_published_submission_that_is_withdrawn_keeps_its_names(site: Site) -> None:
    """Its rows stay public under them, so nobody else continues them."""
    send(site, BASE)
    number = send(site, GOOD)["id"]
    site.work()
    assert withdraw(site, number).status_code == 200

    assert send(site, GOOD, "bob")["http"] == 409
    assert send(site, BETTER)["http"] == 202


def test_what_is_set_aside_brings_back_only_evidence_of_the_entrants_that_it_stood_for(site: Site) -> None:
    """Of two entrants one has newer evidence since: that stays, and what came before it does not return beside it."""
    send(site, BASE)
    first, other = send(site, GOOD)["id"], send(site, GOOD.replace(b"Good", b"Other"))["id"]
    both = GOOD + GOOD.replace(b"Good", b"Other").split(b"\n", 1)[1]
    broken = send(site, both.replace(b"0.5", b"0.75"))["id"]
    newest = send(site, GOOD.replace(b"Good", b"Other").replace(b"0.5", b"0.25"))["id"]
    site.work()
    with site.sessions.begin() as session:
        current.set_aside(session, submissions.lock_submission(session, broken), "the boards fail with it")
        benchmark_rows.mark_data_changed(session, submissions.lock_submission(session, broken).benchmark_id)
    site.work()
    status = {number: site.http.get(f"/submissions/{number}.json").json()["status"] for number in
              (first, other, broken, newest)}  # fmt: skip
    states = {number: site.http.get(f"/submissions/{number}.json").json()["entrants"] for number in (other, newest)}

    assert status == {first: "published", other: "superseded", broken: "set_aside", newest: "published"}
    assert {number: [each["state"] for each in entrants] for number, entrants in states.items()} == {
        other: ["superseded"],
        newest: ["current"],
    }


def test_withdrawn_bytes_may_come_again_as_a_new_submission(site: Site) -> None:
    """A mistaken withdrawal can be undone; both submissions and the reason stay to be seen."""
    send(site, BASE)
    first = send(site, GOOD)["id"]
    site.work()
    withdraw(site, first, "by mistake")
    again = send(site, GOOD)
    site.work()

    assert (again["http"], again["id"] > first) == (202, True)
    assert send(site, GOOD)["id"] == again["id"]
    assert set(board(site)["by"]) == {"Base", "Good"}
    assert site.http.get(f"/submissions/{first}.json").json()["reason"] == "by mistake"
    assert [w["submission"] for w in snapshots(site)[0]["withdrawals"]] == [first]


def test_an_empty_key_is_no_key(site: Site) -> None:
    """Two uploads that say nothing have nothing in common."""
    first = _keyed(site, "", BASE)

    assert _keyed(site, "", GOOD)["id"] != first["id"]


def test_a_repeated_request_does_not_undo_a_withdrawal(site: Site) -> None:
    """An Idempotency-Key stays with the submission that it made; another key makes a new one."""
    first = _keyed(site, "once")
    withdraw(site, first["id"])

    assert (_keyed(site, "once")["id"], _keyed(site, "once")["status"]) == (first["id"], "withdrawn")
    assert _keyed(site, "twice")["id"] != first["id"]
    assert _keyed(site, "once")["id"] == first["id"]


def _keyed(site: Site, key: str, rows: bytes = GOOD) -> dict[str, Any]:
    answer: dict[str, Any] = site.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth() | {"Idempotency-Key": key},
    ).json()
    return answer
