"""The description of the API: every answer of every address, and the real answers are what it says."""

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.config import Settings
from app.web.documents import (
    BenchmarkDocument,
    DryRunDocument,
    HealthDocument,
    ListedBenchmark,
    ReadyDocument,
    RegistrationDocument,
    SnapshotDocument,
    SubmissionDocument,
    TableDocument,
)
from tests.cases.described import Description
from tests.cases.walkthrough import BASE, PREREG, declare, send
from tests.fixtures import Site, open_site

JSON = {
    "/benchmarks.json": list[ListedBenchmark],
    "/benchmarks/tiny.json": BenchmarkDocument,
    "/benchmarks/tiny/snapshots.json": list[SnapshotDocument],
    "/benchmarks/tiny/leaderboards/average.json": TableDocument,
    "/benchmarks/tiny/leaderboards/skill/pairwise.json": TableDocument,
    "/benchmarks/tiny/tasks.json": TableDocument,
    "/benchmarks/tiny/entrants/Base.json": TableDocument,
    "/benchmarks/tiny/registrations.json": TableDocument,
    "/submissions/1.json": SubmissionDocument,
    "/healthz": HealthDocument,
    "/readyz": ReadyDocument,
}


@pytest.fixture(scope="module")
def published(shared_site: Site) -> Site:
    """A server with a published submission, only to be read."""
    declare(shared_site)
    send(shared_site, BASE)
    shared_site.work()
    return shared_site


def test_an_answer_is_what_the_description_says(published: Site) -> None:
    """Every field, and no field more."""
    for path, document in JSON.items():
        answer = published.http.get(path)

        assert answer.status_code == 200, path
        TypeAdapter(document).validate_python(answer.json())


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

    SubmissionDocument.model_validate(submitted)
    DryRunDocument.model_validate(tried)
    RegistrationDocument.model_validate(registered)


def test_every_address_describes_what_it_gives(published: Site) -> None:
    """No answer of status 2xx is left open, but for 204, which has no body."""
    described: dict[str, Any] = published.http.get("/openapi.json").json()
    open_ended = [
        f"{method} {path} {status}"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
        and status != "204"
        and not any(content.get("schema") for content in answer.get("content", {}).values())
    ]

    assert open_ended == []


def operations(site: Site) -> list[tuple[str, dict[str, Any]]]:
    """Return every operation with its name."""
    paths = site.http.get("/openapi.json").json()["paths"]
    return [(f"{method} {path}", o) for path, methods in paths.items() for method, o in methods.items()]


def test_every_error_is_described_as_a_problem_document(published: Site) -> None:
    """Also 422, of which the framework has an idea of its own."""
    odd = [
        f"{name} {status}"
        for name, operation in operations(published)
        for status, answer in operation["responses"].items()
        if int(status) >= 400 and "application/problem+json" not in answer["content"]
    ]

    assert odd == []


# What makes somebody's first token.
ANONYMOUS = {"post /invitations/redeem", "post /benchmarks/{slug}/join"}


def test_every_writing_operation_describes_what_each_may_answer(published: Site) -> None:
    """A token is needed, it may have written too often, the body may be too large, wrong or broken."""
    common = {"401", "422", "429", "500", "503"}
    lacking = {
        name: sorted(needed - operation["responses"].keys())
        for name, operation in operations(published)
        if not name.startswith("get ")
        for needed in [common | ({"400", "413"} if "requestBody" in operation else set())]
        if name not in ANONYMOUS
        and (needed - operation["responses"].keys() or operation.get("security") != [{"token": []}])
    }

    assert lacking == {}


def test_every_post_and_put_says_what_to_send(published: Site) -> None:
    """Manifests and preregistrations as YAML, uploads as forms, orders as JSON; a draft has been sent before."""
    sent = {
        name: list(operation.get("requestBody", {}).get("content", {}))
        for name, operation in operations(published)
        if name.startswith(("post", "put"))
    }

    assert sent["post /benchmarks"] == sent["put /benchmarks/{slug}"] == sent["post /preregs"] == ["application/yaml"]
    assert [name for name, sent_as in sent.items() if not sent_as] == ["post /benchmarks/{slug}/draft/publish"]


FORM = {"Content-Type": "multipart/form-data"}
YAML = {"Content-Type": "application/yaml"}
REFUSED = [
    ("POST", "/benchmarks/tiny/submissions", FORM, b"--x\r\nbroken", 400),
    ("POST", "/benchmarks/none/submissions", FORM, b"--x\r\nbroken", 404),
    ("POST", "/benchmarks/tiny/submissions", {}, b"", 422),
    ("POST", "/benchmarks", {"Content-Type": "text/html"}, b"<p>", 415),
    ("PUT", "/benchmarks/tiny", {"Content-Type": "text/html"}, b"<p>", 415),
    ("PUT", "/benchmarks/none", YAML, b"slug: none", 404),
    ("POST", "/benchmarks", YAML, b"x" * (1024 * 1024 + 1), 413),
    ("PUT", "/benchmarks/tiny", YAML, b"x" * (1024 * 1024 + 1), 413),
    ("POST", "/preregs", YAML, b"x" * (64 * 1024 + 1), 413),
    ("POST", "/tokens", {"Content-Type": "application/json"}, b"x" * (1024 * 1024 + 1), 413),
    ("POST", "/tokens", {"Content-Type": "application/json"}, b"{", 422),
    ("DELETE", "/tokens/none", {}, b"", 422),
    ("DELETE", "/tokens/999", {}, b"", 404),
    ("PUT", "/benchmarks/tiny/entrants/none/owner", {}, b"{}", 422),
    ("POST", "/preregs/none/attestations", {}, b"{}", 422),
    ("POST", "/submissions/1/withdraw", {}, b"{", 422),
    ("PUT", "/benchmarks/tiny/labels", {}, b"", 422),
    ("GET", "/benchmarks/tiny/tasks?sort=none", {}, b"", 422),
    ("GET", "/benchmarks/tiny/claims?snapshot=none", {}, b"", 422),
    ("GET", "/benchmarks/tiny/registrations?sort=none", {}, b"", 422),
]


def test_what_is_refused_is_described(site: Site) -> None:
    """The tests' client compares every answer with the description; here it meets the rare ones."""
    declare(site)
    met = [
        site.http.request(method, path, content=body, headers=site.auth("admin") | headers).status_code
        for method, path, headers, body, _ in REFUSED
    ]

    assert met == [status for *_, status in REFUSED]


def test_a_token_that_writes_too_often_is_told_so_everywhere(database_url: str) -> None:
    """429 is among the answers of every operation that takes a token."""
    with open_site(database_url, Settings(max_requests_per_minute=1)) as site:
        site.http.post("/preregs", headers=site.auth("admin"))
        writing = [name.split() for name, operation in operations(site) if "security" in operation]
        met = {
            f"{method} {path}": site.http.request(
                method, path.replace("{", "").replace("}", ""), headers=site.auth("admin") | {"Accept": "text/html"}
            ).status_code
            for method, path in writing
        }

    assert set(met.values()) <= {422, 429}
    assert met["post /preregs"] == 429


def test_an_answer_that_is_not_described_is_found() -> None:
    """The check of the tests' client can fail: another status, another media type, another address."""
    answers = {"200": {"content": {"text/csv": {}}}}
    known = Description({"paths": {"/benchmarks/{slug}/tasks/{task}": {"get": {"responses": answers}}}})

    assert known.complaint("GET", "/benchmarks/a/tasks/b/c", 200, "text/csv") is None
    assert known.complaint("HEAD", "/benchmarks/a/tasks/b", 200, "text/csv") is None
    assert known.complaint("GET", "/benchmarks/a/tasks/b", 404, "text/csv")
    assert known.complaint("GET", "/benchmarks/a/tasks/b", 200, "text/html")
    assert known.complaint("GET", "/benchmarks/a/else", 200, "text/csv")


def test_the_page_of_the_api_lists_every_operation_and_loads_nothing_from_elsewhere(published: Site) -> None:
    """It is there in a closed network too, under the same policy and with the same scripts as every other page."""
    answer = published.http.get("/docs")

    assert all(f'id="{operation["operationId"]}"' in answer.text for _, operation in operations(published))
    assert answer.text.count("<script") == answer.text.count('<script src="/static/') > 0
    assert [each for each in re.findall(r' (?:src|href)="([^"]*)"', answer.text) if each[:1] not in "/#"] == []
    assert "http" not in answer.text.replace("http://testserver", "").replace("(RFC", "")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
