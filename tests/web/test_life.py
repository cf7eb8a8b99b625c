"""A benchmark is retired with a reason, and called otherwise, without another version of its manifest."""

import pytest

from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter


def published(site: Site) -> None:
    """Make the benchmark with one published submission."""
    declare(site)
    send(site, BASE)
    site.work()


def retire(site: Site, who: str = "steward") -> int:
    """Retire it, and return the status of the answer."""
    order = {"reason": "Its tasks are in every training set."}
    return site.http.post("/benchmarks/tiny/retire", json=order, headers=site.auth(who)).status_code


@pytest.fixture
def running(site_after: SiteAfter) -> Site:
    """The benchmark tiny with one submission, published once for all of these."""
    return site_after(published)


def test_a_retired_benchmark_takes_no_submissions_and_says_why(running: Site) -> None:
    """Neither stored nor tried."""
    assert retire(running) == 200
    for fields in ({}, {"dry_run": "true"}):
        answer = running.http.post(
            "/benchmarks/tiny/submissions",
            params=fields,
            files=[("files", ("r.csv", GOOD))],
            headers=running.auth("bob"),
        )
        assert (answer.status_code, "in every training set" in answer.text) == (409, True)


def test_every_page_of_a_retired_benchmark_stays_and_says_so(running: Site) -> None:
    """Its board, its tasks and its own page."""
    retire(running)
    for address in ("", "/leaderboards/average", "/tasks", "/entrants/Base"):
        page = running.http.get(f"/benchmarks/tiny{address}?utm_after=1")
        assert (page.status_code, "Its tasks are in every training set." in page.text) == (200, True), address


def test_a_benchmark_is_retired_once_and_by_its_steward(running: Site) -> None:
    """A second reason would take the place of the first."""
    assert [retire(running, "alice"), retire(running), retire(running)] == [403, 200, 409]


def test_a_title_changes_without_another_version(roomy_site: Site) -> None:
    """The description stays; a later version of the manifest has its own again."""
    declare(roomy_site)
    order = {"title": "Tiny and true"}
    answer = roomy_site.http.put("/benchmarks/tiny/title", json=order, headers=roomy_site.auth("steward")).json()
    document = roomy_site.http.get("/benchmarks/tiny.json?utm_after=1").json()

    assert (answer["title"], answer["retired"]) == ("Tiny and true", None)
    assert (document["version"], document["manifest"]["title"]) == (1, "Tiny and true")
    assert "Tiny and true" in roomy_site.http.get("/?utm_after=1").text


def test_a_change_of_nothing_is_refused(roomy_site: Site) -> None:
    """An empty order is a mistake."""
    declare(roomy_site)

    assert roomy_site.http.put("/benchmarks/tiny/title", json={}, headers=roomy_site.auth("steward")).status_code == 422


def test_the_list_and_the_document_say_that_it_is_retired(running: Site) -> None:
    """Of the others they say nothing."""
    before = [running.http.get("/benchmarks/tiny.json").json(), *running.http.get("/benchmarks.json").json()]
    retire(running)
    after = [running.http.get("/benchmarks/tiny.json").json(), *running.http.get("/benchmarks.json").json()]

    assert ["retired" in each for each in before] == [False, False]
    assert {each["retired"]["reason"] for each in after} == {"Its tasks are in every training set."}
    assert "Its tasks are in every training set." in running.http.get("/", headers={"accept": "text/html"}).text


def test_news_are_on_the_pages_and_no_part_of_a_score(running: Site) -> None:
    """The newest day first, as text; a day that there is not is refused; ranks and scores stay to the bit."""
    before = running.http.get("/benchmarks/tiny/leaderboards/skill.json").json()["rows"]
    news = "news: [{at: 2026-01-02, text: Begun}, {at: 2026-03-02, text: <b>t4</b> comes in May}]\n"
    steward = running.auth("steward")
    put = running.http.put("/benchmarks/tiny", content=MANIFEST + news, headers=steward)
    wrong = running.http.put("/benchmarks/tiny", content=MANIFEST + news.replace("03-02", "02-30"), headers=steward)
    running.work()
    home = running.http.get("/benchmarks/tiny").text
    board = running.http.get("/benchmarks/tiny/leaderboards/skill", headers={"Accept": "text/html"}).text

    assert (put.status_code, wrong.status_code) == (200, 422)
    for page in (home, board):
        assert page.index("&lt;b&gt;t4&lt;/b&gt; comes in May") < page.index("Begun")
    assert running.http.get("/benchmarks/tiny/leaderboards/skill.json").json()["rows"] == before
