"""A draft of the next version of a manifest: its stewards see it with its boards, nobody else; one act publishes it."""

import httpx2
import pytest

from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

HOME = "/benchmarks/tiny"
DRAFT = f"{HOME}/draft"
QQ = f"{MANIFEST}  - {{name: qqdraft, method: mean, metric: MASE, missing: drop, title: Qqtitle}}\n".encode()


def lay_out(site: Site) -> None:
    """Publish a benchmark with two entrants and a reviewer, bob."""
    declare(site)
    given = {"token": "bob", "role": "reviewer"}
    site.http.post(f"{HOME}/roles", json=given, headers=site.auth("steward")).raise_for_status()
    assert [send(site, rows)["http"] for rows in (BASE, GOOD)] == [202, 202]
    site.work()


@pytest.fixture
def tiny(site_after: SiteAfter) -> Site:
    """A site with this benchmark."""
    return site_after(lay_out)


def put(site: Site, content: bytes = QQ, who: str = "steward") -> httpx2.Response:
    """Put a draft."""
    answer: httpx2.Response = site.http.put(DRAFT, content=content, headers=site.auth(who) | YAML)
    return answer


def read(site: Site, who: str, path: str = f"{DRAFT}.json") -> httpx2.Response:
    """Read an address as somebody."""
    answer: httpx2.Response = site.http.get(path, headers={} if who == "nobody" else site.auth(who))
    return answer


def test_stewards_see_a_draft_and_nobody_else(tiny: Site) -> None:
    """Computed of the published evidence; whether there is one is told to nobody else."""
    paths = (f"{DRAFT}.json", f"{DRAFT}.yaml", f"{DRAFT}/qqdraft.csv", f"{DRAFT}/skill")
    before = {who: read(tiny, who).status_code for who in ("nobody", "alice", "bob", "steward", "admin")}
    put_as = put(tiny)
    after = {who: {read(tiny, who, path).status_code for path in paths} for who in before}
    board = read(tiny, "steward", f"{DRAFT}/qqdraft.json")

    assert (put_as.status_code, put_as.json()["version"]) == (200, 2)
    assert before == {"nobody": 401, "alice": 403, "bob": 403, "steward": 404, "admin": 404}
    assert after == {"nobody": {401}, "alice": {403}, "bob": {403}, "steward": {200}, "admin": {200}}
    assert {row["entrant"]: row["rank"] for row in board.json()["rows"]} == {"Good": 1, "Base": 2}
    assert board.headers["cache-control"] == "no-store"
    assert [row["board"] for row in read(tiny, "steward").json()["rows"]] == ["skill", "average", "qqdraft"]
    assert read(tiny, "steward", f"{DRAFT}.yaml").content == QQ


def test_a_draft_is_named_nowhere(tiny: Site) -> None:
    """Not in a manifest, a list, the search, a feed, the sitemap, a page of the benchmark or its downloads."""
    put(tiny)
    tiny.work()
    paths = ("/", "/benchmarks.json", "/benchmarks.csv", "/search?q=qq", "/feed.atom", "/sitemap.xml", "/metrics", HOME,
             f"{HOME}.yaml", f"{HOME}.json", f"{HOME}.csv", f"{HOME}/feed.atom", f"{HOME}/snapshots.json",
             f"{HOME}/leaderboards/qqdraft", f"{HOME}/croissant.json", f"{HOME}/tasks",
             "/openapi.json")  # fmt: skip
    reported = [
        path
        for path in paths
        if any(word in read(tiny, "alice", path).content.lower() for word in (b"qqdraft", b"qqtitle"))
    ]

    assert reported == [f"{HOME}/leaderboards/qqdraft"]
    absent = read(tiny, "alice", f"{HOME}/leaderboards/xxdraft")
    named = read(tiny, "alice", f"{HOME}/leaderboards/qqdraft")
    assert (named.status_code, named.text.replace("qq", "xx")) == (absent.status_code, absent.text)


def test_one_act_publishes_a_draft(tiny: Site) -> None:
    """As the newest version, of the very bytes; the draft is gone."""
    put(tiny)
    created = tiny.http.post(f"{DRAFT}/publish", headers=tiny.auth("steward"))
    tiny.work()
    board = tiny.http.get(f"{HOME}/leaderboards/qqdraft.json")

    assert (created.status_code, created.json()["version"]) == (200, 2)
    assert tiny.http.get(f"{HOME}.yaml").content == QQ
    assert (board.status_code, len(board.json()["rows"])) == (200, 2)
    assert read(tiny, "steward").status_code == 404


def test_a_draft_is_checked_as_a_version_is(tiny: Site) -> None:
    """And refused with what is wrong: another slug, no such metric, a board twice, the newest version, no YAML."""
    for content, status, named in (
        (QQ.replace(b"slug: tiny", b"slug: other"), 409, "other"),
        (QQ.replace(b"metric: MASE, missing: drop, title", b"metric: NONE, title"), 422, "NONE"),
        (QQ.replace(b"{name: qqdraft", b"{name: skill"), 422, "skill"),
        (MANIFEST.encode(), 409, "nothing to draft"),
        (b"name: [\n", 422, "YAML"),
    ):
        answer = put(tiny, content)
        assert (answer.status_code, named in answer.text) == (status, True), named


def test_a_steward_drops_a_draft(tiny: Site) -> None:
    """And nobody else changes one; another takes the place of the one before."""
    put(tiny)
    replaced = put(tiny, QQ.replace(b"Qqtitle", b"Another"))
    refused = [
        put(tiny, who="bob").status_code,
        tiny.http.delete(DRAFT, headers=tiny.auth("bob")).status_code,
        tiny.http.post(f"{DRAFT}/publish", headers=tiny.auth("bob")).status_code,
    ]
    shown = read(tiny, "steward").json()["rows"]

    assert (replaced.status_code, shown[-1]["title"]) == (200, "Another")
    assert refused == [403, 403, 403]
    assert tiny.http.delete(DRAFT, headers=tiny.auth("steward")).status_code == 200
    assert read(tiny, "steward").status_code == 404
    assert tiny.http.get(f"{HOME}.json").json()["version"] == 1


def test_a_draft_benchmark_goes_with_what_it_was_called_and_its_draft(site: Site) -> None:
    """Also after another title."""
    site.http.post("/benchmarks?visibility=draft", content=MANIFEST, headers=site.auth("steward")).raise_for_status()
    site.http.put(f"{HOME}/title", json={"title": "Tinier"}, headers=site.auth("steward")).raise_for_status()
    assert put(site).status_code == 200

    assert site.http.delete(HOME, headers=site.auth("steward")).status_code == 200
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward")).status_code == 201
