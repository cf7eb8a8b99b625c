"""A benchmark is retired with a reason, and called otherwise, without another version of its manifest."""

import httpx2
import pytest

from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, PREREG, declare, send
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


def test_a_retired_benchmark_takes_no_submissions_and_every_page_says_why(running: Site) -> None:
    """Neither stored nor tried; it is retired once and by its steward, and its pages and documents stay."""
    reason = "Its tasks are in every training set."
    before = [running.http.get("/benchmarks/tiny.json").json(), *running.http.get("/benchmarks.json").json()]
    assert [retire(running, "alice"), retire(running), retire(running)] == [403, 200, 409]
    for fields in ({}, {"dry_run": "true"}):
        answer = running.http.post(
            "/benchmarks/tiny/submissions",
            params=fields,
            files=[("files", ("r.csv", GOOD))],
            headers=running.auth("bob"),
        )
        assert (answer.status_code, "in every training set" in answer.text) == (409, True)
    as_steward = running.auth("steward") | {"Content-Type": "application/yaml"}
    for dry_run in ("true", "false"):
        newer = running.http.put(f"/benchmarks/tiny?dry_run={dry_run}", content=MANIFEST + "# \n", headers=as_steward)
        assert (newer.status_code, "no new manifest" in newer.text) == (409, True)
    after = [running.http.get("/benchmarks/tiny.json").json(), *running.http.get("/benchmarks.json").json()]

    home = running.http.get("/benchmarks/tiny?utm_after=2", headers={"accept": "text/html"}).text
    assert (home.count(reason), "#submit" in home, "Submit in the browser" in home) == (1, False, False)
    assert ["retired" in each for each in before] == [False, False]
    assert {each["retired"]["reason"] for each in after} == {reason}
    assert reason in running.http.get("/", headers={"accept": "text/html"}).text
    for address in ("", "/leaderboards/average", "/tasks", "/entrants/Base"):
        page = running.http.get(f"/benchmarks/tiny{address}?utm_after=1")
        assert (page.status_code, reason in page.text) == (200, True), address


def test_a_repeat_is_answered_with_its_submission_where_the_benchmark_was_retired_since(running: Site) -> None:
    """Whoever lost the answer asks again, with an Idempotency-Key or without; other bytes are refused."""
    asked = running.auth() | {"Idempotency-Key": "run-1"}

    def again(rows: bytes, headers: dict[str, str]) -> httpx2.Response:
        files = [("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))]
        return running.http.post("/benchmarks/tiny/submissions", files=files, headers=headers)

    keyed = again(GOOD, asked)
    retire(running)
    answers = [again(GOOD, asked), again(GOOD, running.auth()), again(BASE, running.auth()), again(BETTER, asked)]

    assert [answer.status_code for answer in answers] == [202, 202, 202, 409]
    assert [answer.json()["id"] for answer in answers[:3]] == [keyed.json()["id"], keyed.json()["id"], 1]


def test_a_title_changes_without_another_version(running: Site) -> None:
    """The description stays; a later version of the manifest has its own again. A change of nothing is a mistake."""
    answers = [
        running.http.put("/benchmarks/tiny/title", json=order, headers=running.auth("steward"))
        for order in ({"title": "Tiny and true"}, {}, *({"description": f"a{hidden}b"} for hidden in "\0\u202e"))
    ]
    document = running.http.get("/benchmarks/tiny.json?utm_after=1").json()

    assert [answer.status_code for answer in answers] == [200, 422, 422, 422]
    assert [answer.json()["problems"][0]["column"] for answer in answers[2:]] == ["body.description"] * 2
    assert (answers[0].json()["title"], answers[0].json()["retired"]) == ("Tiny and true", None)
    assert (document["version"], document["manifest"]["title"]) == (1, "Tiny and true")
    assert "Tiny and true" in running.http.get("/?utm_after=1").text


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
