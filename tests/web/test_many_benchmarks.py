"""A server with many benchmarks: its front page has some of them, and no list reads a manifest for each."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, event, text

from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site, SiteAfter

N_COPIES = 120
COPY = (
    "INSERT INTO benchmark (slug, created_by) SELECT 'tiny-' || lpad(n::text, 3, '0'), created_by FROM benchmark,"
    " generate_series(1, 120) n",
    "INSERT INTO manifest_version (benchmark_id, version, yaml, sha256, title, evidence, leaderboards, created_by)"
    " SELECT b.id, 1, v.yaml, v.sha256, 'Copy ' || b.slug, v.evidence, v.leaderboards, v.created_by"
    " FROM manifest_version v, benchmark b WHERE b.slug <> 'tiny'",
)


def crowd(site: Site) -> None:
    """Make a published benchmark and copies of it that have no submission."""
    declare(site, "bob")
    send(site, BASE, "bob")
    site.work()
    with site.sessions.begin() as session:
        for statement in COPY:
            session.execute(text(statement))


@pytest.fixture
def crowded(site_after: SiteAfter) -> Site:
    """Return a server with many benchmarks."""
    return site_after(crowd)


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Yield what is sent to the database meanwhile."""
    result: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        result.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield result
    event.remove(Engine, "before_cursor_execute", note)


def test_the_front_page_shows_many_benchmarks_in_parts(crowded: Site) -> None:
    """Each is on one page, each page leads to its neighbours, and one that there is not is refused."""
    pages = [crowded.http.get("/", params={"page": number}).text for number in (1, 2, 3)]
    slugs = [[part.split('"')[0] for part in page.split('<h2><a href="/benchmarks/')[1:]] for page in pages]
    refused = crowded.http.get("/", params={"page": "4"}, headers={"Accept": "application/json"})

    assert [len(part) for part in slugs] == [50, 50, 21]
    assert len({slug for part in slugs for slug in part}) == 1 + N_COPIES
    assert "Benchmarks 51 to 100 of 121" in pages[1]
    assert 'href="?page=1">Previous benchmarks' in pages[1]
    assert 'href="?page=3">Next benchmarks' in pages[1]
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["message"] == "expected 1 to 3"


def test_a_list_takes_as_many_statements_for_many_benchmarks_as_for_one(crowded: Site, statements: list[str]) -> None:
    """Whole lists too; what is counted is right for each."""
    listed = crowded.http.get("/benchmarks.json").json()
    counts = {each["slug"]: (each["title"], each["n_entrants"], each["n_submissions"]) for each in listed}

    assert len(statements) <= 6
    assert len(counts) == 1 + N_COPIES
    assert counts["tiny"] == ("Tiny", 1, 1)
    assert counts["tiny-007"] == ("Copy tiny-007", 0, 0)


def test_a_search_says_that_there_are_more_than_it_lists(crowded: Site) -> None:
    """The first are listed, and one that is asked for more closely is found."""
    many, one = (crowded.http.get("/search", params={"q": q}).text for q in ("TINY", "tiny-119"))

    assert "The first 30 found for" in many
    assert "At most 30 of a kind are listed" in many
    assert many.count("<small>\n            benchmark") == 30
    assert "At most" not in one
    assert 'href="/benchmarks/tiny-119"' in one


def test_the_sitemap_has_every_benchmark(crowded: Site, statements: list[str]) -> None:
    """With its boards, by two statements or fewer."""
    crowded.http.get("/sitemap.xml")

    assert len(statements) <= 3
