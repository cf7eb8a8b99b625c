"""What others read: data from pages of other sites, ranges of files, the documentation, and the search."""

import httpx2
import pytest

from app.config import Settings
from tests.cases.signing_in import signed
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site, new_database, open_site

BOARD = "/benchmarks/tiny/leaderboards/average"
FIELDS = "entrant_fields: [{name: context_length, type: number, title: Context length}]\n"
ORIGIN = {"Origin": "https://observablehq.com"}
OPEN = "access-control-allow-origin"
OPEN_TASKS = (
    "[{id: solar, where: {domain: energy}}, {id: wind, where: {domain: energy}}, {id: home, where: {domain: homes}}]"
)


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str):  # type: ignore[no-untyped-def]
    """A public benchmark, and a private one that nobody else is to find."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as site:
        declare(site)
        for rows in (BASE, GOOD):
            assert send(site, rows)["http"] == 202
        site.work()
        hidden = (
            "schema_version: 1\nslug: secret\ntitle: Secret forecasts of qwen\nevidence: evaluation_summary\n"
            "metrics: {MASE: {direction: minimize, min: 0}}\ntasks: [{id: zebrafish}]\n"
            "leaderboards: [{name: mean, method: mean, metric: MASE}]\n"
        )
        about = (
            hidden.replace("secret", "open")
            .replace("title: Secret forecasts of qwen", "title: Open\ndescription: Forecasts of energy use")
            .replace(
                "[{id: zebrafish}]",
                OPEN_TASKS,
            )
            .replace("evidence:", f"{FIELDS}evidence:")
        )
        for manifest, visibility in ((hidden, "private"), (about, "public")):
            address = f"/benchmarks?visibility={visibility}"
            site.http.post(address, content=manifest, headers=site.auth("steward")).raise_for_status()
        yield site


def ranged(site: Site, ranges: str, **more: str) -> httpx2.Response:
    """Ask for a range of the board's CSV."""
    answer: httpx2.Response = site.http.get(f"{BOARD}.csv", headers={"Range": ranges, **more})
    return answer


def test_data_are_open_to_pages_of_other_sites_and_pages_and_whoever_is_signed_in_are_not(published: Site) -> None:
    """As JSON, CSV and Parquet, missing ones too; with a token or a session nothing is said."""
    for ending in ("csv", "json", "parquet"):
        assert published.http.get(f"{BOARD}.{ending}", headers=ORIGIN).headers[OPEN] == "*"
    assert published.http.get("/benchmarks/none.json", headers=ORIGIN).headers[OPEN] == "*"
    for headers in (published.auth(), signed(published), {"Accept": "text/html"}):
        address = BOARD if "Accept" in headers else f"{BOARD}.csv"
        assert OPEN not in published.http.get(address, headers={**ORIGIN, **headers}).headers
    assert OPEN not in published.http.get("/benchmarks/secret.json", headers=published.auth("steward")).headers


def test_a_preflight_lets_read_and_not_write(published: Site) -> None:
    """And no header that carries a token."""
    reading = {**ORIGIN, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"}
    read = published.http.options(f"{BOARD}.parquet", headers=reading)
    write = published.http.options("/preregs", headers={**ORIGIN, "Access-Control-Request-Method": "POST"})

    assert (read.status_code, read.headers[OPEN]) == (204, "*")
    assert "range" in read.headers["access-control-allow-headers"].lower()
    assert "authorization" not in read.headers["access-control-allow-headers"].lower()
    assert OPEN not in write.headers


def test_a_range_is_the_bytes_of_the_file_and_only_of_the_file_that_was_begun(published: Site) -> None:
    """First, last and open ends; beyond the end 416; another file than the one of the tag is sent whole."""
    whole = published.http.get(f"{BOARD}.csv", headers={"Accept-Encoding": "identity"})
    size, tag = len(whole.content), whole.headers["etag"]
    for asked, part in (
        ("bytes=0-9", whole.content[:10]), ("bytes=5-", whole.content[5:]), ("bytes=-7", whole.content[-7:]),
        (f"bytes=3-{size * 9}", whole.content[3:]),
    ):  # fmt: skip
        answer = ranged(published, asked)
        assert (answer.status_code, answer.content) == (206, part)
        assert answer.headers["content-range"].endswith(f"/{size}")
        assert int(answer.headers["content-length"]) == len(part)
    beyond = ranged(published, f"bytes={size}-")
    several = ranged(published, "bytes=0-1,4-5")

    assert whole.headers["accept-ranges"] == "bytes"
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    assert several.content == whole.content, "one range at a time; several are all of it"
    assert ranged(published, "bytes=0-1", **{"If-Range": tag}).status_code == 206
    assert ranged(published, "bytes=0-1", **{"If-Range": '"another"'}).status_code == 200
    assert ranged(published, "bytes=0-1", **{"If-None-Match": tag}).status_code == 304
    head = published.http.head(f"{BOARD}.parquet", headers={"Accept-Encoding": "identity"})
    assert head.headers["accept-ranges"] == "bytes"


def test_addresses_for_others_are_whole(published: Site) -> None:
    """In a citation, in metadata for data-set search, and in what is pasted into a terminal."""
    for address in ("/benchmarks/tiny/cite.bib", "/benchmarks/tiny/croissant.json", "/benchmarks/tiny"):
        assert "http://127.0.0.1:8000/benchmarks/tiny" in published.http.get(address).text


def test_the_documentation_is_here_with_links_that_lead_on(published: Site) -> None:
    """Every link of it leads to a page, and its parts are found."""
    index = published.http.get("/help").text
    manifest = published.http.get("/help/manifest")
    found = published.http.get("/search", params={"q": "benjamini preregistration no such words"}).text

    assert 'href="/help/manifest"' in index
    assert manifest.status_code == 200
    assert ".md" not in [each.partition("#")[0] for each in manifest.text.split('href="')[1:]]
    assert published.http.get("/help/../../etc/passwd").status_code == 404
    assert published.http.get("/help/none").status_code == 404
    assert 'href="/help/statistics' in published.http.get("/search", params={"q": "coverage"}).text
    assert "0 found" in found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("forecasting", "/benchmarks/open"),
        ("energy", "/benchmarks/open/leaderboards/mean/explore?group=domain%3Aenergy"),
        ("enrgy", "/benchmarks/open/leaderboards/mean/explore?group=domain%3Aenergy"),
        ("context", "Context length"),
        ("SKILL", "/benchmarks/tiny/leaderboards/skill"),
        ("goof", "/benchmarks/tiny/entrants/Good"),
        ("ba se", "/benchmarks/tiny/entrants/Base"),
        ("%", "0 found"),
        ("<script>alert(1)</script> nowhere", "&lt;script&gt;"),
    ],
)
def test_search_finds_by_words_stems_and_likeness(published: Site, text: str, shown: str) -> None:
    """In names, descriptions, boards, groups and fields; a sign that SQL knows means nothing."""
    assert shown in published.http.get("/search", params={"q": text}).text.replace("&#39;", "'")


def test_what_is_hidden_is_not_found_by_its_name_its_task_or_a_likeness_of_it(published: Site) -> None:
    """Its steward finds it."""
    for text in ("secret", "zebrafish", "zebrafsh", "qwen"):
        found = published.http.get("/search", params={"q": text}).text
        assert "/benchmarks/secret" not in found
    assert "/benchmarks/secret" in published.http.get("/search?q=qwen", headers=published.auth("steward")).text
