"""A board that is in no manifest yet: its stewards and reviewers see it, nobody else; one act makes it a board."""

import httpx2
import pytest

from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

DRAFTS = "/benchmarks/tiny/drafts"
QQ = b"name: qqdraft\nmethod: mean\nmetric: MASE\nmissing: drop\ntitle: Qqtitle\n"


def lay_out(site: Site) -> None:
    """Publish a benchmark with two entrants and a reviewer, bob."""
    declare(site)
    given = {"token": "bob", "role": "reviewer"}
    site.http.post("/benchmarks/tiny/roles", json=given, headers=site.auth("steward")).raise_for_status()
    assert [send(site, rows)["http"] for rows in (BASE, GOOD)] == [202, 202]
    site.work()


@pytest.fixture
def tiny(site_after: SiteAfter) -> Site:
    """A site with this benchmark."""
    return site_after(lay_out)


def put(site: Site, content: bytes = QQ, name: str = "qqdraft", who: str = "steward") -> httpx2.Response:
    """Put a draft."""
    answer: httpx2.Response = site.http.put(f"{DRAFTS}/{name}", content=content, headers=site.auth(who) | YAML)
    return answer


def read(site: Site, who: str, path: str = f"{DRAFTS}/qqdraft.json") -> httpx2.Response:
    """Read an address as somebody."""
    answer: httpx2.Response = site.http.get(path, headers={} if who == "nobody" else site.auth(who))
    return answer


def test_stewards_and_reviewers_see_a_draft_and_nobody_else(tiny: Site) -> None:
    """Computed of the published evidence; whether there is one is told to nobody else."""
    before = {who: read(tiny, who).status_code for who in ("nobody", "alice", "bob", "steward", "admin")}
    assert put(tiny).status_code == 200
    after = {who: read(tiny, who).status_code for who in before}
    rows = read(tiny, "bob").json()["rows"]

    assert before == {"nobody": 401, "alice": 403, "bob": 404, "steward": 404, "admin": 404}
    assert after == {"nobody": 401, "alice": 403, "bob": 200, "steward": 200, "admin": 200}
    assert {row["entrant"]: row["rank"] for row in rows} == {"Good": 1, "Base": 2}
    assert read(tiny, "bob", DRAFTS).json()[0]["name"] == "qqdraft"
    assert read(tiny, "bob").headers["cache-control"] == "no-store"


def test_a_draft_is_named_nowhere(tiny: Site) -> None:
    """Not in a manifest, a list, the search, a feed, the sitemap, a page of the benchmark or its downloads."""
    put(tiny)
    tiny.work()
    home = "/benchmarks/tiny"
    paths = ("/", "/benchmarks.json", "/benchmarks.csv", "/search?q=qq", "/feed.atom", "/sitemap.xml", "/metrics", home,
             f"{home}.yaml", f"{home}.json", f"{home}.csv", f"{home}/feed.atom", f"{home}/snapshots.json",
             f"{home}/leaderboards/qqdraft", f"{home}/croissant.json", f"{home}/tasks",
             "/openapi.json")  # fmt: skip
    reported = [
        path
        for path in paths
        if any(word in read(tiny, "alice", path).content.lower() for word in (b"qqdraft", b"qqtitle"))
    ]

    assert reported == [f"{home}/leaderboards/qqdraft"]
    absent = read(tiny, "alice", f"{home}/leaderboards/xxdraft")
    named = read(tiny, "alice", f"{home}/leaderboards/qqdraft")
    assert (named.status_code, named.text.replace("qq", "xx")) == (absent.status_code, absent.text)


def test_one_act_makes_a_draft_a_board(tiny: Site) -> None:
    """The last of a version of the manifest whose other text is what it was; the draft is gone."""
    put(tiny)
    created = tiny.http.post(f"{DRAFTS}/qqdraft/publish", headers=tiny.auth("steward"))
    tiny.work()
    yaml = tiny.http.get("/benchmarks/tiny.yaml").text
    board = tiny.http.get("/benchmarks/tiny/leaderboards/qqdraft.json")

    assert (created.status_code, created.json()["version"], created.json()["board"]) == (200, 2, "qqdraft")
    assert yaml.startswith(MANIFEST.rstrip())
    assert (board.status_code, len(board.json()["rows"])) == (200, 2)
    assert read(tiny, "bob", DRAFTS).json() == []


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"name: other\nmethod: mean\nmetric: MASE\n", "qqdraft"),
        (b"name: qqdraft\nmethod: mean\nmetric: NONE\n", "NONE"),
        (b"name: qqdraft\nmethod: guess\nmetric: MASE\n", "guess"),
        (b"- a\n", "qqdraft"),
        (b"name: [\n", "YAML"),
    ],
    ids=["another name", "no metric", "no method", "no mapping", "no YAML"],
)
def test_a_draft_is_checked_as_the_manifest_with_it_would_be(tiny: Site, content: bytes, named: str) -> None:
    """And refused with what is wrong."""
    answer = put(tiny, content)

    assert (answer.status_code, named in answer.text) == (422, True)


def test_a_draft_of_the_name_of_a_board_is_refused(tiny: Site) -> None:
    """As two boards of a manifest with one name are."""
    assert put(tiny, QQ.replace(b"qqdraft", b"skill"), "skill").status_code == 422


def test_a_reviewer_changes_no_draft(tiny: Site) -> None:
    """They look at it."""
    put(tiny)
    refused = [
        put(tiny, who="bob").status_code,
        tiny.http.delete(f"{DRAFTS}/qqdraft", headers=tiny.auth("bob")).status_code,
        tiny.http.post(f"{DRAFTS}/qqdraft/publish", headers=tiny.auth("bob")).status_code,
    ]

    assert refused == [403, 403, 403]
    assert tiny.http.delete(f"{DRAFTS}/qqdraft", headers=tiny.auth("steward")).status_code == 200


def test_a_draft_benchmark_goes_with_what_it_was_called_and_its_draft_boards(site: Site) -> None:
    """Also after another title."""
    site.http.post("/benchmarks?visibility=draft", content=MANIFEST, headers=site.auth("steward")).raise_for_status()
    site.http.put("/benchmarks/tiny/title", json={"title": "Tinier"}, headers=site.auth("steward")).raise_for_status()
    assert put(site).status_code == 200

    assert site.http.delete("/benchmarks/tiny", headers=site.auth("steward")).status_code == 200
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward")).status_code == 201
