"""A manifest may be tried over HTTP: every answer of the real request, and nothing is stored."""

from tests.cases.walkthrough import MANIFEST, declare
from tests.fixtures import Site

DRY = {"dry_run": "true"}


def test_a_dry_run_of_a_manifest_stores_nothing(site: Site) -> None:
    """Of a new benchmark and of a version of one it answers with what would be made, or as the request would refuse."""
    steward = site.auth("steward")
    created = site.http.post("/benchmarks", params=DRY, content=MANIFEST, headers=steward)
    assert site.http.get("/benchmarks/tiny.json").status_code == 404
    declare(site)
    changed = MANIFEST.replace("title: Tiny", "title: Tinier")
    added = site.http.put("/benchmarks/tiny", params=DRY, content=changed, headers=steward)
    wrong = MANIFEST.replace("method: mean", "method: meen")
    refused = site.http.post("/benchmarks", params=DRY, content=wrong, headers=steward)
    taken = site.http.post("/benchmarks", params=DRY, content=MANIFEST, headers=steward)

    assert (created.status_code, created.json()["version"], created.json()["dry_run"]) == (200, 1, True)
    assert (added.status_code, added.json()["version"], added.json()["is_new"]) == (200, 2, True)
    assert site.http.get("/benchmarks/tiny.json").json()["version"] == 1
    assert (refused.status_code, taken.status_code) == (422, 409)
    assert [(p["row"], p["column"]) for p in refused.json()["problems"]] == [(11, "leaderboards.1.method")]
