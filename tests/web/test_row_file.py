"""/benchmarks/{slug}/rows.csv: every row that a snapshot counts, for who computes with them."""

import csv
import io

import pytest

from app.render.csv_and_json import scores_to_csv
from app.store import benchmarks, snapshots
from app.store.row_exports import find_counted, read_counted
from tests.cases import grids, lrdbench_http, publications
from tests.cases.walkthrough import declare
from tests.fixtures import Site

CANONICAL = "public_small_canonical_ground_truth"


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def episodes(site: Site) -> str:
    """Publish two entrants with items and seeds, and return the benchmark's name."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", grids.GRID))
    grids.honest(site, slug)
    site.work()
    return slug


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_every_row_that_was_sent_comes_back(site: Site) -> None:
    """With entrant, task, seed and item, and the score to the digit."""
    slug = episodes(site)
    answer = site.http.get(f"/benchmarks/{slug}/rows.csv")
    sent = sorted(tuple(map(str, row)) for name in ("good", "fair") for row in grids.rows(name, name))
    actual = sorted(
        (row["entrant"], row["task"], row["seed"], row["item"], row["score"]) for row in rows_of(answer.text)
    )

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert actual == sent


def test_parts_are_the_whole(site: Site) -> None:
    """However few rows a part has: an entrant is never torn apart, and the bytes are the same."""
    slug = episodes(site)
    whole = site.http.get(f"/benchmarks/{slug}/rows.csv").content
    with site.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        shown = snapshots.find_snapshot(session, declared.benchmark)
        assert shown is not None
        counted = find_counted(session, declared, shown.id, part_rows=1)

    assert len(counted.parts) == 2
    assert b"".join(scores_to_csv(counted.columns, read_counted(site.sessions, counted))) == whole


def test_measured_quantities_and_flags_are_beside_the_metrics(site: Site) -> None:
    """A name that a spreadsheet would run carries the mark, as in every CSV; what nobody sent has no column."""
    slug = publications.begin(site, publications.SUMMARY.replace("TASKS", publications.OPEN))
    for entrant in ("=A", "Base"):
        assert publications.send(site, slug, "a.csv", publications.good_summary(entrant)).status_code == 202
    site.work()
    actual = rows_of(site.http.get(f"/benchmarks/{slug}/rows.csv").text)

    assert {row["entrant"] for row in actual} == {"'=A", "Base"}
    assert {(row["E"], row["training_time_s"], row["leaked"]) for row in actual if row["task"] == "t1"} == {
        ("1", "10", "False")
    }


def test_a_snapshot_keeps_its_rows(site: Site) -> None:
    """Of an old snapshot they are what counted then."""
    slug = publications.begin(site, publications.SUMMARY.replace("TASKS", publications.OPEN))
    for entrant in ("A", "Base"):
        publications.send(site, slug, "a.csv", publications.good_summary(entrant))
        site.work()
    address = f"/benchmarks/{slug}/rows.csv"

    assert {row["entrant"] for row in rows_of(site.http.get(address).text)} == {"A", "Base"}
    assert {row["entrant"] for row in rows_of(site.http.get(f"{address}?snapshot=1").text)} == {"A"}


def test_what_has_another_file_says_where(site: Site) -> None:
    """A series benchmark has lrdbench's; one without a publication has nothing."""
    slug = lrdbench_http.make_benchmark(site, CANONICAL)
    before = site.http.get(f"/benchmarks/{slug}/rows.csv")
    lrdbench_http.submit(site, slug, lrdbench_http.RUNS[CANONICAL].read_bytes())
    site.work()
    after = site.http.get(f"/benchmarks/{slug}/rows.csv")

    assert (before.status_code, after.status_code) == (404, 404)
    assert f"/benchmarks/{slug}/raw/metrics.csv" in after.json()["detail"]


def test_an_entrant_that_is_not_there_is_asked_for_once(site: Site) -> None:
    """One sentence, before anything is published and afterwards."""
    declare(site)
    before = site.http.get("/benchmarks/tiny/entrants/Nobody.json")
    site.work()
    after = site.http.get("/benchmarks/tiny/entrants/Nobody.json")

    assert (before.status_code, after.status_code) == (404, 404)
    assert before.json()["detail"] == after.json()["detail"] == "There is no entrant Nobody in this benchmark."
