"""The stewards' desk: what waits for them, withdrawals with reasons, and what another manifest would change."""

import re
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from sqlalchemy import update

from app.db.models import BrowserSession
from tests.cases.signing_in import form_key, send_form, signed
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

DESK = "/desk/tiny"
BAD = b"model,task,MASE\nOops,t1,much\n"


def publish(site: Site) -> None:
    """Publish two entrants, and refuse an upload."""
    declare(site)
    for rows in (BASE, GOOD):
        assert send(site, rows)["http"] == 202
    site.work()
    assert send(site, BAD)["http"] == 422


@pytest.fixture
def site(site_after: SiteAfter) -> Site:
    """Two entrants and a refused upload, published once for all of these."""
    return site_after(publish)


def test_the_desk_shows_what_was_refused(site: Site) -> None:
    """To its stewards alone, with a link to the problems."""
    page = site.http.get(DESK, headers=site.auth("steward")).text

    assert "from alice" in page
    assert re.search(r'href="/tries/[\w-]+"', page)
    assert site.http.get(DESK, headers=site.auth()).status_code == 403


def test_a_withdrawal_from_the_desk_has_its_reason_in_public(site: Site) -> None:
    """The submission is off the boards, and its page says why."""
    answer = site.http.post(f"{DESK}/withdraw", data={"submission": "2", "reason": "the wrong weights"},
                            headers=site.auth("steward"), follow_redirects=False)  # fmt: skip
    site.work()

    assert (answer.status_code, answer.headers["location"]) == (303, "/submissions/2")
    assert site.http.get("/submissions/2.json").json()["reason"] == "the wrong weights"
    assert "the wrong weights" in site.http.get(DESK, headers=site.auth("steward")).text


def test_a_benchmark_says_how_many_submissions_are_in_each_state(site: Site) -> None:
    """Also that nobody withdrew any; those of a state are listed with the reason, and the search leads there."""
    before = site.http.get("/benchmarks/tiny").text
    site.http.post(f"{DESK}/withdraw", data={"submission": "2", "reason": "the wrong weights"},
                   headers=site.auth("steward"), follow_redirects=False)  # fmt: skip
    site.work()
    after = site.http.get("/benchmarks/tiny?status=withdrawn").text
    found = site.http.get("/search", params={"q": "withdrew"}).text

    assert '<a href="?status=withdrawn#submissions">0 withdrawn</a>' in before
    assert 'aria-current="true">1 withdrawn</a>' in after
    assert "the wrong weights" in after
    assert 'href="/submissions/1"' not in after
    assert '<a href="/benchmarks/tiny?status=withdrawn#submissions">1 withdrawn</a>' in found
    assert site.http.get("/benchmarks/tiny?status=lost").status_code == 422


def test_a_submission_of_another_benchmark_is_not_withdrawn_here(site: Site) -> None:
    """Who is a steward of one is none of the other."""
    other = MANIFEST.replace("slug: tiny", "slug: other")
    assert site.http.post("/benchmarks", content=other, headers=site.auth("admin")).status_code == 201
    answer = site.http.post("/desk/other/withdraw", data={"submission": "1", "reason": "mine"},
                            headers=site.auth("admin"))  # fmt: skip

    assert answer.status_code == 403


def test_a_preview_says_which_lines_and_ranks_would_change(site: Site) -> None:
    """Nothing is stored until it is put."""
    turned = MANIFEST.replace(
        "MASE: {direction: minimize, min: 0}", "MASE: {direction: minimize, min: 0, title: Error}"
    )
    turned = turned.replace("name: average, method: mean, metric: MASE, missing: drop",
                            "name: average, method: mean, metric: MASE, missing: drop, tasks: [t1]")  # fmt: skip
    page = site.http.post(f"{DESK}/manifest", data={"manifest": turned}, headers=site.auth("steward")).text

    assert '<span class="added">+' in page
    assert "No rank would change." in page
    assert site.http.get("/benchmarks/tiny.json").json()["version"] == 1


def test_a_manifest_is_put_from_the_desk(site: Site) -> None:
    """As a new version, audited like any."""
    changed = MANIFEST.replace("title: Tiny", "title: Tinier")
    answer = site.http.post(f"{DESK}/manifest", data={"manifest": changed, "act": "put"}, headers=site.auth("steward"),
                            follow_redirects=False)  # fmt: skip

    assert answer.status_code == 303
    assert site.http.get("/benchmarks/tiny.json").json()["version"] == 2


REASON = "the wrong weights, \u201cas trained\u201d <b>"
SHOWN = "the wrong weights, \u201cas trained\u201d &lt;b&gt;</textarea>"


def age(site: Site) -> None:
    """Let every session have begun eleven minutes ago."""
    with site.sessions.begin() as session:
        session.execute(update(BrowserSession).values(proved_at=datetime.now(UTC) - timedelta(minutes=11)))


def withdraw(site: Site, headers: dict[str, str], number: str = "2") -> httpx2.Response:
    """Send the desk's form with a reason."""
    return send_form(site, f"{DESK}/withdraw", headers, DESK, submission=number, reason=REASON)


def is_kept(answer: httpx2.Response, number: str = "2") -> bool:
    """Say whether an answer is the desk, with an alert and what was written in its form."""
    is_desk = "<h1>Desk of Tiny</h1>" in answer.text and 'role="alert"' in answer.text
    return is_desk and f'value="{number}"' in answer.text and SHOWN in answer.text


def test_a_withdrawal_in_an_old_session_keeps_what_was_written(site: Site) -> None:
    """The desk leads to the login beside it; the form that stood there is then kept once more, with the new key."""
    before = signed(site)
    age(site)
    refused = withdraw(site, before)
    again = signed(site)
    fields = {"submission": "2", "reason": REASON}
    address = f"{DESK}/withdraw?then={DESK}&csrf={form_key(site, before)}"
    browser = again | {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
    stale = site.http.post(address, data=fields, headers=browser, follow_redirects=False)
    done = withdraw(site, again)

    assert (refused.status_code, is_kept(refused), refused.headers["cache-control"]) == (403, True, "no-store")
    assert 'href="/login?next=%2Fdesk%2Ftiny&amp;again=1" target="_blank"' in " ".join(refused.text.split())
    assert (stale.status_code, is_kept(stale), form_key(site, again) in stale.text) == (403, True, True)
    assert (done.status_code, done.headers["location"]) == (303, "/submissions/2")
    assert site.http.get("/submissions/2.json").json()["reason"] == REASON


def test_whose_a_submission_is_withdraws_it_in_an_old_session(site: Site) -> None:
    """A steward who withdraws somebody else's signs in again, at the desk and at the submission's own address."""
    address, steward, alice = "/submissions/2/withdraw", signed(site), signed(site, "alice")
    age(site)
    refused = send_form(site, address, steward, "/submissions/2", reason=REASON)
    done = send_form(site, address, alice, "/submissions/2", reason=REASON)

    assert (refused.status_code, "/login?" in refused.text, done.status_code) == (403, True, 303)


def test_a_withdrawal_that_cannot_be_keeps_what_was_written(site: Site) -> None:
    """Of what is withdrawn already, was never sent, or is no number; the desk says which."""
    headers = signed(site)

    assert withdraw(site, headers).status_code == 303
    for number, status in (("2", 409), ("99", 404), ("two", 422)):
        refused = withdraw(site, headers, number)
        assert (refused.status_code, is_kept(refused, number)) == (status, True), number


def test_a_refused_manifest_stays_in_its_form(site: Site) -> None:
    """In an old session, and where it is wrong: with its problems."""
    headers = signed(site)
    wrong = MANIFEST.replace("method: mean", "method: meen")
    rejected = send_form(site, f"{DESK}/manifest", headers, DESK, manifest=wrong)
    age(site)
    refused = send_form(site, f"{DESK}/manifest", headers, DESK, manifest=wrong, act="put")

    assert (rejected.status_code, refused.status_code) == (422, 403)
    assert all("method: meen" in answer.text and 'role="alert"' in answer.text for answer in (rejected, refused))
    assert 'aria-label="Problems"' in rejected.text


def test_the_desk_is_shown_to_no_stranger_by_a_refusal(site: Site) -> None:
    """Neither to another's session nor to a form of another site."""
    stranger = withdraw(site, signed(site, "bob"))
    headers = signed(site) | {"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}
    elsewhere = site.http.post(f"{DESK}/withdraw?then={DESK}", data={"submission": "2", "reason": "x"}, headers=headers)

    assert (stranger.status_code, elsewhere.status_code) == (403, 403)
    assert "Desk of Tiny" not in stranger.text + elsewhere.text
