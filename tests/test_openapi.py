"""The description of the API: every answer of every address, and the real answers are what it says."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from app.web import documents
from tests.conftest import Site
from tests.test_walkthrough import BASE, PREREG, declare, send

JSON = {
    "/benchmarks.json": list[documents.ListedBenchmark],
    "/benchmarks/tiny.json": documents.BenchmarkDocument,
    "/benchmarks/tiny/snapshots.json": list[documents.SnapshotDocument],
    "/benchmarks/tiny/leaderboards/average.json": documents.TableDocument,
    "/benchmarks/tiny/leaderboards/skill/pairwise.json": documents.TableDocument,
    "/benchmarks/tiny/tasks.json": documents.TableDocument,
    "/benchmarks/tiny/entrants/Base.json": documents.TableDocument,
    "/benchmarks/tiny/registrations.json": documents.TableDocument,
    "/submissions/1.json": documents.SubmissionDocument,
    "/healthz": documents.HealthDocument,
    "/readyz": documents.ReadyDocument,
}


@pytest.mark.parametrize("path", JSON)
def test_an_answer_is_what_the_description_says(site: Site, path: str) -> None:
    """Every field, and no field more."""
    declare(site)
    send(site, BASE)
    site.work()
    answer = site.http.get(path)

    assert answer.status_code == 200
    TypeAdapter(JSON[path]).validate_python(answer.json())


def test_writing_answers_are_what_the_description_says(site: Site) -> None:
    """A benchmark, a registration, a submission, a dry run."""
    declare(site)
    submitted = send(site, BASE)
    submitted.pop("http")
    tried = site.http.post(
        "/benchmarks/tiny/submissions?dry_run=true",
        files=[("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth(),
    ).json()
    registered = site.http.post(
        "/preregs", content=PREREG, headers=site.auth() | {"Content-Type": "application/yaml"}
    ).json()

    documents.SubmissionDocument.model_validate(submitted)
    documents.DryRunDocument.model_validate(tried)
    documents.RegistrationDocument.model_validate(registered)


def test_every_address_describes_what_it_gives(site: Site) -> None:
    """No answer of status 2xx is left open."""
    described: dict[str, Any] = site.http.get("/openapi.json").json()
    open_ended = [
        f"{method} {path} {status}"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and not any(content.get("schema") for content in answer.get("content", {}).values())
    ]

    assert open_ended == []
