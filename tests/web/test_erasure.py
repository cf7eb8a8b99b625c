"""A name that was erased is in no row of the database, whoever wrote it there."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from app.store.packed_tables import unpack_table
from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare, send
from tests.fixtures import Site, SiteAfter

NAME = "Pat Quizzical"
OWN = b"benchmark: tiny\nmetrics: [MASE]\ntasks: all\nentrants: [Good, Kept]\n"
OTHERS = b"benchmark: tiny\nmetrics: [MASE]\ntasks: all\nentrants: [Kept]\n"


def bring_pat(site: Site) -> None:
    """Have Pat register and submit, beside another."""
    declare(site)
    order = {"name": NAME, "role": "submitter"}
    site.tokens["pat"] = site.http.post("/tokens", json=order, headers=site.auth("admin")).json()["token"]
    site.http.post("/preregs", content=OWN, headers=site.auth("pat") | YAML).raise_for_status()
    assert send(site, BASE)["http"] == 202
    assert send(site, GOOD, "pat", metadata='{"organisation": "Quizzical Ltd"}')["http"] == 202
    site.work()


@pytest.fixture
def pat(site_after: SiteAfter) -> Site:
    """Somebody who registered and submitted."""
    return site_after(bring_pat)


def name_pat(site: Site) -> None:
    """Do what is refused with the name in the answer, or writes it somewhere."""
    kept = b"model,task,MASE\nKept,t1,1.0\n"
    admin, steward, bob = site.auth("admin"), site.auth("steward"), site.auth("bob")
    sends: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/tokens", {"json": {"name": NAME, "role": "submitter"}, "headers": admin}),
        ("POST", "/benchmarks/tiny/roles", {"json": {"token": NAME, "role": "steward"}, "headers": admin}),
        ("POST", "/benchmarks/tiny/roles", {"json": {"token": NAME, "role": "reviewer"}, "headers": steward}),
        ("DELETE", f"/benchmarks/tiny/roles/reviewer/{NAME}", {"headers": steward}),
        ("DELETE", f"/benchmarks/tiny/roles/reviewer/{NAME}", {"headers": steward}),
        ("POST", "/benchmarks/tiny/reservations/Kept/release", {"json": {"reason": "mine"}, "headers": bob}),
        ("POST", "/preregs", {"content": OTHERS, "headers": bob | YAML}),
        ("POST", "/benchmarks/tiny/submissions",
         {"files": [("files", ("r.csv", kept)), ("prereg", ("p.yaml", PREREG))], "headers": bob}),
        ("POST", "/benchmarks/tiny/submissions?dry_run=true",
         {"files": [("files", ("r.csv", kept)), ("prereg", ("p.yaml", PREREG))], "headers": bob}),
        ("PUT", "/benchmarks/tiny/entrants/Base/owner", {"json": {"owner": NAME, "reason": "x"}, "headers": steward}),
        ("PUT", "/benchmarks/tiny", {"content": MANIFEST + "# more\n", "headers": steward | YAML}),
    ]  # fmt: skip
    for method, path, sent in sends:
        assert site.http.request(method, path, **sent).status_code < 500


def rows_with(site: Site, wanted: str) -> Iterator[str]:
    """Yield the table of each row that holds a text."""
    url = make_url(site.sessions.kw["bind"].url).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            query = f'SELECT each::text FROM "{table}" AS each'  # noqa: S608 - names of the catalogue
            yield from (f"{table}: {text[:1500]}" for (text,) in connection.execute(query) if wanted in text)
        packed = connection.execute("SELECT name, content FROM snapshot_table").fetchall()
        yield from (name for name, content in packed if wanted in str(unpack_table(content)))


def test_an_erased_name_is_in_no_row_of_the_database(pat: Site) -> None:
    """Not in the audit of what others were refused, in their tries, on a board, in an old snapshot."""
    name_pat(pat)
    pat.work()
    pat.http.post("/tokens/5/erase", json={"reason": "asked"}, headers=pat.auth("pat")).raise_for_status()
    pat.work()

    assert list(rows_with(pat, "Quizzical")) == []


def test_what_somebody_says_of_themselves_is_erased_where_they_may_read_no_more(pat: Site) -> None:
    """Their role in a private benchmark was revoked; they are still handed what they sent there, and it is emptied."""
    hidden = MANIFEST.replace("slug: tiny", "slug: inner").replace("prereg: required", "prereg: optional")
    inner, steward = "/benchmarks/inner", pat.auth("steward")
    pat.http.post("/benchmarks?visibility=private", content=hidden, headers=steward | YAML).raise_for_status()
    pat.http.post(f"{inner}/roles", json={"token": 5, "role": "submitter"}, headers=steward).raise_for_status()
    reported = {"metadata": '{"notes": "by Quizzical"}'}
    sent = pat.http.post(
        f"{inner}/submissions", files=[("files", ("r.csv", GOOD))], data=reported, headers=pat.auth("pat")
    )
    pat.http.delete(f"{inner}/roles/submitter/5", headers=steward).raise_for_status()
    kept = pat.http.get("/whoami/data", headers=pat.auth("pat")).json()["submissions"]
    pat.http.post("/tokens/5/erase", json={"reason": "asked"}, headers=pat.auth("pat")).raise_for_status()

    assert sent.status_code == 202
    assert [each["id"] for each in kept] == [2, 3]
    assert list(rows_with(pat, "by Quizzical")) == []
