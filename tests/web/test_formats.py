"""Every page of the site as HTML, CSV and JSON, and nothing else at its address."""

import csv
import gzip
import io
import re

import pytest

from tests.cases.walkthrough import BASE, GOOD, PREREG, declare, send
from tests.fixtures import Site

TINY = "/benchmarks/tiny"
PAGES = (
    TINY,
    f"{TINY}/leaderboards/skill",
    f"{TINY}/leaderboards/skill/pairwise",
    f"{TINY}/leaderboards/average",
    f"{TINY}/tasks",
    f"{TINY}/tasks/t1",
    f"{TINY}/entrants/Base",
    f"{TINY}/snapshots",
    f"{TINY}/claims",
    f"{TINY}/registrations",
    f"{TINY}/submitters",
    "/submissions/1",
    "/glossary",
)
MEDIA_TYPES = {"": "text/html", ".csv": "text/csv", ".json": "application/json"}


@pytest.fixture(scope="module")
def published(shared_site: Site) -> Site:
    """A site with two snapshots: one submission, and another that takes its rank."""
    declare(shared_site)
    for rows in (BASE, GOOD):
        send(shared_site, rows)
        shared_site.work()
    return shared_site


def media_type(site: Site, address: str) -> str:
    """Return what an address gives, or its status where it gives nothing."""
    answer = site.http.get(address)
    return answer.headers["content-type"].partition(";")[0] if answer.status_code == 200 else str(answer.status_code)


def rows(site: Site, address: str) -> list[dict[str, str]]:
    """Return the records of a CSV."""
    return list(csv.DictReader(io.StringIO(site.http.get(address).text)))


def prereg_address(site: Site) -> str:
    """Return where the preregistration of the submission stands."""
    return f"/preregs/{site.http.get('/submissions/1.json').json()['prereg_sha256']}"


def test_every_page_has_all_three_formats(published: Site) -> None:
    """The ending alone says which format it is."""
    pages = (*PAGES, prereg_address(published))
    expected = {page + ending: kind for page in pages for ending, kind in MEDIA_TYPES.items()}

    assert {address: media_type(published, address) for address in expected} == expected


def test_every_page_is_light(published: Site) -> None:
    """Less than 60 kB compressed, its stylesheet and its scripts included; nothing comes from another host."""
    looks = ("skill/matrix", "skill/letters", "skill/history", "average/explore?task=t1", "skill/against?a=Base&b=Good")
    boards = [f"{TINY}/leaderboards/{each}" for each in looks]
    pages = {each: published.http.get(each).text for each in (*PAGES, *boards, prereg_address(published), "/", "/docs",
                                                              "/login", "/search?q=g", "/nowhere")}  # fmt: skip
    loaded = {each: re.findall(r'<(?:link rel="stylesheet"|script)[^>]*?(?:href|src)="([^"]+)"', page)
              for each, page in pages.items()}  # fmt: skip
    files = {at: packed(published.http.get(at).content) for each in loaded.values() for at in each}
    weights = {each: len(packed(page.encode())) + sum(len(files[at]) for at in loaded[each])
               for each, page in pages.items()}  # fmt: skip

    assert {at for each in loaded.values() for at in each if not at.startswith("/static/")} == set()
    assert {each: weight for each, weight in weights.items() if weight >= 60_000} == {}


def packed(content: bytes) -> bytes:
    """Return bytes as they are sent."""
    return gzip.compress(content, 6, mtime=0)


def test_the_list_of_benchmarks_has_all_three_formats(published: Site) -> None:
    """Its page is the front page; /benchmarks leads there."""
    expected = {"/": "text/html", "/benchmarks.csv": "text/csv", "/benchmarks.json": "application/json"}

    assert {address: media_type(published, address) for address in expected} == expected
    assert published.http.get("/benchmarks", follow_redirects=False).headers["location"] == "/"


def test_another_ending_is_not_found(published: Site) -> None:
    """A page is never given under the name of a format that it is not."""
    endings = (".xml", ".yaml", ".CSV", ".csv.json")
    addresses = {page + ending for page in PAGES for ending in endings} - {f"{TINY}.yaml"}

    assert {address: media_type(published, address) for address in addresses} == dict.fromkeys(addresses, "404")


def test_what_is_yaml_is_given_as_yaml(published: Site) -> None:
    """Manifest and preregistration keep their bytes."""
    assert media_type(published, f"{TINY}.yaml") == "application/yaml"
    assert published.http.get(prereg_address(published) + ".yaml").content == PREREG


def test_the_tables_of_the_other_pages(published: Site) -> None:
    """The benchmarks, a benchmark's boards, a submission's checks, what cites a registration, the terms."""
    submitted = published.http.get("/submissions/1.json").json()
    checks = [{k: c[k] for k in ("rule", "outcome", "reason")} for c in submitted["checks"]]

    assert rows(published, "/benchmarks.csv")[0]["leaderboards"] == "skill average"
    assert [row["leaderboard"] for row in rows(published, f"{TINY}.csv")] == ["skill", "average"]
    assert rows(published, "/submissions/1.csv") == checks
    assert {row["submission"] for row in rows(published, prereg_address(published) + ".csv")} == {"1", "2"}
    assert rows(published, "/glossary.csv") == [
        {name: text or "" for name, text in row.items()} for row in published.http.get("/glossary.json").json()["rows"]
    ]


def test_the_history_is_a_row_a_change(published: Site) -> None:
    """Who entered, and whose rank moved, in which snapshot; between neighbours they are what the later one lists."""
    history = rows(published, f"{TINY}/snapshots.csv")
    changes = {(row["snapshot"], row["kind"], row["entrant"]) for row in history}
    of_second = [row for row in history if row["snapshot"] == "2"]
    between = rows(published, f"{TINY}/snapshots.csv?from=1&to=2")

    assert {("2", "entered", "Good"), ("1", "entered", "Base"), ("2", "rank", "Base")} <= changes
    assert sorted(map(str, between)) == sorted(map(str, of_second))


def test_an_empty_board_has_the_header_that_every_board_begins_with(site: Site) -> None:
    """A program that reads it finds the columns of who stands where, and no rows."""
    declare(site)
    before = site.http.get(f"{TINY}/leaderboards/skill.csv").text
    send(site, GOOD)
    site.work()

    assert before == site.http.get(f"{TINY}/leaderboards/skill.csv").text == "rank,entrant\n"
    assert site.http.get(f"{TINY}/leaderboards/skill/pairwise.csv").text == "entrant_a,entrant_b\n"


def test_an_unknown_order_is_refused_like_an_unknown_column(published: Site) -> None:
    """What is not understood is not silently something else."""
    for order, status in (("asc", 200), ("desc", 200), ("", 200), ("down", 422)):
        assert published.http.get(f"{TINY}/tasks?sort=task&order={order}").status_code == status, order
