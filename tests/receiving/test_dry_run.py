"""A dry run is the upload, rolled back: it says what the upload would, and leaves nothing behind."""

from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, text

from app.db.models import Base
from tests.cases.read import parquet
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare
from tests.fixtures import Site, SiteAfter

COUNTED = {"rate"}
"""What is written of every request, whatever it asks."""


def send(site: Site, rows: bytes, *, dry: bool, who: str = "alice", key: str | None = None) -> httpx.Response:
    """Send rows that cite the registration, in earnest or not."""
    return site.http.post(
        "/benchmarks/tiny/submissions" + ("?dry_run=true" if dry else ""),
        files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth(who) | ({} if key is None else {"Idempotency-Key": key}),
    )


def counts(site: Site) -> dict[str, int]:
    """Return how many rows each table has, and how many jobs there are."""
    with site.sessions() as session:
        tables = {
            name: session.scalars(select(func.count()).select_from(table)).one()
            for name, table in Base.metadata.tables.items()
            if name not in COUNTED
        }
        return {**tables, "jobs": session.scalars(text("SELECT count(*) FROM procrastinate_jobs")).one()}


@pytest.fixture
def site(site_after: SiteAfter) -> Site:
    """The benchmark tiny, declared once for all of these."""
    return site_after(declare)


def test_it_says_what_the_upload_says_and_leaves_no_row(site: Site) -> None:
    """Of a newcomer, with its checks in their order."""
    before = counts(site)
    dry = send(site, GOOD, dry=True)
    after = counts(site)
    stored = send(site, GOOD, dry=False)

    assert (dry.status_code, stored.status_code, after) == (200, 202, before)
    for name in ("admitted", "checks", "n_rows", "warnings"):
        assert dry.json()[name] == stored.json()[name], name
    assert "repeat_of" not in dry.json()


def test_a_repeat_is_told(site: Site) -> None:
    """It would be answered with the earlier submission, whose checks are shown, and change no board."""
    first = send(site, GOOD, dry=False).json()
    dry, again = send(site, GOOD, dry=True).json(), send(site, GOOD, dry=False).json()

    assert (dry["repeat_of"], again["id"]) == (first["id"], first["id"])
    assert dry["checks"] == again["checks"]
    assert dry["impact"] == {"reason": f"It is submission {first['id']} again, so no board would change.", "boards": []}


@pytest.mark.parametrize(
    ("who", "rows", "key"),
    [pytest.param("alice", BASE, "one", id="key-of-other-bytes"), pytest.param("bob", GOOD, None, id="name-taken")],
)
def test_what_would_be_refused_is_refused(site: Site, who: str, rows: bytes, key: str | None) -> None:
    """In the same words."""
    send(site, GOOD, dry=False, key="one")
    answers: list[dict[str, Any]] = [send(site, rows, dry=dry, who=who, key=key).json() for dry in (True, False)]

    assert [answer["status"] for answer in answers] == [409, 409]
    assert answers[0]["detail"] == answers[1]["detail"]


def test_a_text_that_no_database_stores_is_refused_by_the_trial(site: Site) -> None:
    """Parquet holds a zero character in a column that is stored, and nothing is stored in a trial."""
    recorded = MANIFEST.replace("leaked: null", "leaked: null, recorded: [note]").replace("slug: tiny", "slug: noted")
    site.http.post("/benchmarks", content=recorded, headers=site.auth("steward")).raise_for_status()
    rows = parquet({"model": ["New"], "task": ["t1"], "MASE": [1.0], "note": ["a\0b"]})
    dry, sent = (
        site.http.post(
            f"/benchmarks/noted/submissions{query}", files=[("files", ("r.parquet", rows))], headers=site.auth()
        )
        for query in ("?dry_run=true", "")
    )

    assert (dry.status_code, sent.status_code, dry.json()["problems"]) == (422, 422, sent.json()["problems"])
    (problem,) = dry.json()["problems"]
    assert [problem[name] for name in ("file", "row", "column")] == ["r.parquet", 1, "note"]
