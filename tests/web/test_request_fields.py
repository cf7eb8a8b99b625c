"""What a request says in JSON: refused by name where it cannot be stored, in a trial as in an upload."""

from typing import Any

import httpx2
import pytest

from tests.cases.stored_rows import stored
from tests.cases.walkthrough import BASE, PREREG, declare, send
from tests.fixtures import Site, SiteAfter

UNFIT = (
    ("claims", '{"Base": {"MASE": NaN}}', "claims.Base.MASE"),
    ("claims", '{"Base": {"MASE": 1e999}}', "claims.Base.MASE"),
    ("claims", '{"Base": {"MASE": true}}', "claims.Base.MASE"),
    ("claims", '{"Base": {"MASE": "1.0"}}', "claims.Base.MASE"),
    ("claims", '{"Ba\\u0000se": {"MASE": 1}}', "claims.Ba\\x00se.[key]"),
    ("claims", '{"Base": {"MA\\u0007SE": 1}}', "claims.Base.MA\\x07SE.[key]"),
    ("metadata", '{"version": "1\\u0000"}', "metadata.version"),
    ("metadata", '{"notes": "a\\u001bb"}', "metadata.notes"),
    ("metadata", '{"organisation": "a\\nb"}', "metadata.organisation"),
    ("metadata", '{"dirty": "yes"}', "metadata.dirty"),
    ("metadata", '{"version": 1}', "metadata.version"),
    ("metadata", '{"colour": "red"}', "metadata.colour"),
    ("metadata", "not JSON", "metadata"),
    ("metadata", '{"url": "javascript:alert(1)"}', "metadata.url"),
    ("metadata", '{"url": "https://user:word@host/x"}', "metadata.url"),
    ("metadata", '{"n_parameters": 7.5}', "metadata.n_parameters"),
    ("metadata", '{"n_parameters": -1}', "metadata.n_parameters"),
    ("metadata", '{"code_commit": "main"}', "metadata.code_commit"),
    ("metadata", '{"version": "1", "version": "2"}', "metadata"),
    ("claims", '{"Base": {"MASE": 1}, "Base": {"MASE": 2}}', "claims"),
    ("metadata", '{"n_parameters": 9007199254740993}', "metadata.n_parameters"),
    ("claims", '{"Base": {"MASE": "low"}}', "claims.Base.MASE"),
)


def columns(answer: httpx2.Response) -> list[str]:
    """Return which fields a problem document names."""
    return [problem["column"] for problem in answer.json()["problems"]]


@pytest.fixture
def site(site_after: SiteAfter) -> Site:
    """The benchmark tiny, declared once for all of these."""
    return site_after(declare)


@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_a_field_that_cannot_be_stored_is_named(site: Site, dry_run: str) -> None:
    """By the trial and by the upload alike: the trial promises nothing that the upload refuses."""
    answers = [
        site.http.post(
            f"/benchmarks/tiny/submissions?dry_run={dry_run}",
            files=[("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))],
            data={field: value},
            headers=site.auth(),
        )
        for field, value, _ in UNFIT
    ]

    assert [(answer.status_code, columns(answer)) for answer in answers] == [(422, [named]) for *_, named in UNFIT]
    assert stored(site) == 0


def test_whole_numbers_and_line_breaks_are_taken(site: Site) -> None:
    """A claim of 1 is one of 1.0, and notes may have paragraphs."""
    fields = {"claims": '{"Base": {"MASE": 1}}', "metadata": '{"notes": "one\\ntwo\\u00a0three", "dirty": false}'}

    assert send(site, BASE, **fields)["http"] == 202


def test_an_order_with_a_control_character_names_its_field(site: Site) -> None:
    """Every text that is kept and shown is held to the same rule."""
    prereg = send(site, BASE)["prereg_sha256"]
    attestation = {"registered_at": "2020-01-01T00:00:00Z", "evidence": "a\x00"}
    orders: list[tuple[str, str, dict[str, Any], str]] = [
        ("POST", "/submissions/1/withdraw", {"reason": "bad\x00rows"}, "reason"),
        ("PUT", "/benchmarks/tiny/entrants/Base/owner", {"token_id": 1, "reason": "a\x1bb"}, "reason"),
        ("POST", f"/preregs/{prereg}/attestations", attestation, "evidence"),
        ("POST", "/tokens", {"name": "a\x00", "role": "steward"}, "name"),
    ]
    answers = [site.http.request(m, path, json=order, headers=site.auth("admin")) for m, path, order, _ in orders]

    assert [answer.status_code for answer in answers] == [422] * len(orders)
    assert [columns(answer) for answer in answers] == [[f"body.{name}"] for *_, name in orders]


def test_the_page_of_an_error_shows_every_problem(site: Site) -> None:
    """What a program reads in the problem document a person reads in the table."""
    page = site.http.get("/benchmarks/tiny/tasks?sort=none", headers={"Accept": "text/html"})

    assert page.status_code == 422
    assert "1 problem<" in page.text
    assert "<code>none</code>" in page.text
