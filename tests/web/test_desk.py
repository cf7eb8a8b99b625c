"""The stewards' desk: what waits for them, withdrawals with reasons, and what another manifest would change."""

import re

from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import Site

DESK = "/desk/tiny"
BAD = b"model,task,MASE\nOops,t1,much\n"


def publish(site: Site) -> None:
    """Publish two entrants, and refuse an upload."""
    declare(site)
    for rows in (BASE, GOOD):
        assert send(site, rows)["http"] == 202
    site.work()
    assert send(site, BAD)["http"] == 422


def test_the_desk_shows_what_was_refused(site: Site) -> None:
    """To its stewards alone, with a link to the problems."""
    publish(site)
    page = site.http.get(DESK, headers=site.auth("steward")).text

    assert "from alice" in page
    assert re.search(r'href="/tries/[\w-]+"', page)
    assert site.http.get(DESK, headers=site.auth()).status_code == 403


def test_a_withdrawal_from_the_desk_has_its_reason_in_public(site: Site) -> None:
    """The submission is off the boards, and its page says why."""
    publish(site)
    answer = site.http.post(f"{DESK}/withdraw", data={"submission": "2", "reason": "the wrong weights"},
                            headers=site.auth("steward"), follow_redirects=False)  # fmt: skip
    site.work()

    assert (answer.status_code, answer.headers["location"]) == (303, "/submissions/2")
    assert site.http.get("/submissions/2.json").json()["reason"] == "the wrong weights"
    assert "the wrong weights" in site.http.get(DESK, headers=site.auth("steward")).text


def test_a_submission_of_another_benchmark_is_not_withdrawn_here(site: Site) -> None:
    """Who is a steward of one is none of the other."""
    publish(site)
    other = MANIFEST.replace("slug: tiny", "slug: other")
    assert site.http.post("/benchmarks", content=other, headers=site.auth("admin")).status_code == 201
    answer = site.http.post("/desk/other/withdraw", data={"submission": "1", "reason": "mine"},
                            headers=site.auth("admin"))  # fmt: skip

    assert answer.status_code == 403


def test_a_preview_says_which_lines_and_ranks_would_change(site: Site) -> None:
    """Nothing is stored until it is put."""
    publish(site)
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
    publish(site)
    changed = MANIFEST.replace("title: Tiny", "title: Tinier")
    answer = site.http.post(f"{DESK}/manifest", data={"manifest": changed, "act": "put"}, headers=site.auth("steward"),
                            follow_redirects=False)  # fmt: skip

    assert answer.status_code == 303
    assert site.http.get("/benchmarks/tiny.json").json()["version"] == 2


def test_a_wrong_manifest_is_refused_with_its_problems(site: Site) -> None:
    """As the API refuses it."""
    publish(site)
    wrong = MANIFEST.replace("method: mean", "method: meen")
    answer = site.http.post(f"{DESK}/manifest", data={"manifest": wrong}, headers=site.auth("steward"))

    assert (answer.status_code, answer.json()["problems"][0]["row"]) == (422, 11)
