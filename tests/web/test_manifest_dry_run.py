"""A manifest may be tried over HTTP: every answer of the real request, and nothing is stored."""

from tests.cases.walkthrough import MANIFEST, declare
from tests.fixtures import Site

DRY = {"dry_run": "true"}


def test_a_dry_run_of_a_new_benchmark_makes_none(roomy_site: Site) -> None:
    """It answers with the version that would be made."""
    answer = roomy_site.http.post("/benchmarks", params=DRY, content=MANIFEST, headers=roomy_site.auth("steward"))

    assert (answer.status_code, answer.json()["version"], answer.json()["dry_run"]) == (200, 1, True)
    assert roomy_site.http.get("/benchmarks/tiny.json").status_code == 404


def test_a_dry_run_of_a_version_adds_none(roomy_site: Site) -> None:
    """The benchmark keeps its manifest."""
    declare(roomy_site)
    changed = MANIFEST.replace("title: Tiny", "title: Tinier")
    answer = roomy_site.http.put("/benchmarks/tiny", params=DRY, content=changed, headers=roomy_site.auth("steward"))

    assert (answer.status_code, answer.json()["version"], answer.json()["is_new"]) == (200, 2, True)
    assert roomy_site.http.get("/benchmarks/tiny.json").json()["version"] == 1


def test_a_dry_run_names_problems_with_their_lines(roomy_site: Site) -> None:
    """As the request itself would."""
    wrong = MANIFEST.replace("method: mean", "method: meen")
    answer = roomy_site.http.post("/benchmarks", params=DRY, content=wrong, headers=roomy_site.auth("steward"))

    assert answer.status_code == 422
    assert [(p["row"], p["column"]) for p in answer.json()["problems"]] == [(11, "leaderboards.1.method")]


def test_a_dry_run_of_a_slug_that_is_taken_is_refused(roomy_site: Site) -> None:
    """Better now than at the real request."""
    declare(roomy_site)
    answer = roomy_site.http.post("/benchmarks", params=DRY, content=MANIFEST, headers=roomy_site.auth("steward"))

    assert answer.status_code == 409
