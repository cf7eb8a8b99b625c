"""Fields of entrants that a manifest declares, as submissions state them: checked, shown, asked for, filtered by."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.config import Settings
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, give, send
from tests.fixtures import Site, new_database, open_site

DECLARED = """
entrant_fields:
  - {name: architecture, type: text, values: [decoder, encoder], required: true}
  - {name: context, type: number, unit: tokens, title: Context length}
  - {name: distilled, type: flag}
  - {name: trained_until, type: date}
  - {name: licence, type: text, values: [MIT, Apache-2.0]}
"""
STATED = {
    "architecture": "decoder",
    "context": 8192,
    "distilled": True,
    "trained_until": "2026-01-31",
    "licence": "MIT",
}
EXPLORE = "/benchmarks/tiny/leaderboards/average/explore"


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """Two entrants of a benchmark that declares five fields: one says all of them, the other what it must."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as site:
        content = MANIFEST + DECLARED
        assert site.http.post("/benchmarks", content=content, headers=site.auth("steward")).status_code == 201
        give(site, "tiny", "Base")
        assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
        send(site, BASE, metadata=json.dumps(STATED))
        send(site, GOOD, metadata='{"architecture": "encoder"}')
        site.work()
        yield site


@pytest.mark.parametrize(
    ("stated", "columns"),
    [
        ({}, ["metadata.architecture"]),
        ({"architecture": "other"}, ["metadata.architecture"]),
        ({**STATED, "context": "much", "distilled": "perhaps"}, ["metadata.context", "metadata.distilled"]),
        ({**STATED, "trained_until": "soon", "licence": "own"}, ["metadata.trained_until", "metadata.licence"]),
        ({**STATED, "contxt": 1}, ["metadata.contxt"]),
        ({"architecture": " ", "dirty": "yes"}, ["metadata.architecture", "metadata.dirty"]),
    ],
    ids=["missing", "value", "types", "known", "unknown", "empty"],
)
def test_what_is_not_as_declared_is_refused(published: Site, stated: dict[str, Any], columns: list[str]) -> None:
    """All problems at once, each with its field."""
    answer = send(published, BASE, metadata=json.dumps(stated))

    assert answer["http"] == 422
    assert sorted(each["column"] for each in answer["problems"]) == sorted(columns)


def test_what_is_declared_is_shown_with_its_unit(published: Site) -> None:
    """On the submission, and as a rule of the benchmark; the form of a browser has a field for each."""
    stated = published.http.get("/submissions/1.json").json()["metadata"]
    page = published.http.get("/submissions/1", headers={"accept": "text/html"}).text
    rules = published.http.get("/benchmarks/tiny", headers={"accept": "text/html"}).text

    assert stated == STATED
    assert "8192 tokens" in page
    assert "A submission must state <code>architecture</code>" in rules


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("field=architecture=encoder", {"Good"}),
        ("field=architecture=encoder&field=architecture=DECODER", {"Good", "Base"}),
        ("field=context%3E=8192", {"Base"}),
        ("field=context%3E=8193", set()),
        ("field=distilled=yes&field=trained_until%3C=2026-02-01", {"Base"}),
        ("field=distilled=no", set()),
    ],
)
def test_boards_are_filtered_by_declared_fields(published: Site, asked: str, names: set[str]) -> None:
    """By values, bounds and days; what nobody says matches nothing."""
    rows = published.http.get(f"{EXPLORE}.json?{asked}").json()["rows"]

    assert {row["entrant"] for row in rows} == names


def test_the_form_of_an_explored_board_offers_declared_fields(published: Site) -> None:
    """Values to tick, ticked as asked, and a bound that is asked for; what is no condition is refused."""
    asked = "field=architecture=encoder&field=context%3E=100"
    page = published.http.get(f"{EXPLORE}?{asked}", headers={"accept": "text/html"}).text

    assert 'name="field" value="architecture=encoder" checked' in " ".join(page.split())
    assert "Context length, tokens" in page
    assert '<option value="context&gt;=100" selected>' in page
    assert published.http.get(f"{EXPLORE}?field=architecture").status_code == 422


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("[{name: a, type: text}, {name: a, type: flag}]", "declared twice"),
        ("[{name: licence, type: number}]", "is of type text in every benchmark"),
        ("[{name: dirty, type: flag}]", "describes a run"),
        ("[{name: a, type: number, values: [x]}]", "values are listed for text alone"),
        ("[{name: A b, type: text}]", "entrant_fields.0.name"),
    ],
    ids=["twice", "known", "reserved", "values", "name"],
)
def test_a_manifest_says_what_is_wrong_with_its_fields(fields: str, reason: str) -> None:
    """Before anything is made of it."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(f"{MANIFEST}\nentrant_fields: {fields}\n".encode())

    assert any(reason in f"{each.column} {each.message}" for each in refused.value.problems)
