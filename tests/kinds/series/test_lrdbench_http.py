"""Runs of lrdbench over HTTP: every aggregate, interval and rank that they claim comes out of their per-series rows."""

import csv
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import QueuePool

from app.kinds.series.from_lrdbench import HEADER, RAW, manifest_from_lrdbench
from app.store import benchmark_rows, snapshots
from app.store.series import raw_rows
from app.web.exports import blocks_of
from tests.cases.labels import create
from tests.cases.lrdbench_http import (
    DATA,
    RUNS,
    YAML,
    Row,
    make_benchmark,
    member,
    part_of,
    per_series,
    submit,
    table,
)
from tests.fixtures import Site

NAMES = sorted(RUNS)
COUNTS = (
    "n_metric_rows",
    "n_missing_values",
    "n_missing_uncertainty",
    "n_validity_observations",
    "n_invalid_estimates",
)


def publish(site: Site, name: str) -> tuple[str, dict[str, Any]]:
    """Import the run's manifest, submit the run, and return the slug and where the submission ended."""
    manifest = manifest_from_lrdbench((DATA / "manifests" / f"{name}.yaml").read_bytes())
    created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    slug = created.json()["slug"]
    run = RUNS[name].read_bytes()
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions", files=[("files", (f"{name}.zip", run))], headers=site.auth()
    )
    assert answer.status_code == 202, answer.text
    site.work()
    return slug, site.http.get(f"/submissions/{answer.json()['id']}.json").json()


Run = Callable[[str], tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def run(shared_site: Site) -> Run:
    """What `publish` returns of a run, which is published once for all tests that read it."""
    return cache(partial(publish, shared_site))


def keyed(rows: Iterable[Row], *columns: str) -> dict[tuple[str, ...], Row]:
    """Return rows by what names them; a stratum is compared as the object it is."""
    return {
        tuple(json.dumps(json.loads(row[c]), sort_keys=True) if c == "stratum_json" else row[c] for c in columns): row
        for row in rows
    }


def number(text: str) -> float | None:
    """Return a cell as a number, None when it is empty."""
    return None if text in ("", "nan") else float(text)


def close(ours: str, theirs: str) -> bool:
    """Say whether two cells are both null, or equal to 1e-12."""
    a, b = number(ours), number(theirs)
    return a is b if a is None or b is None else abs(a - b) <= 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_run_comes_out_of_its_rows(shared_site: Site, run: Run, name: str) -> None:
    """Aggregates, intervals and the leaderboard, to 1e-12; and the run's own claims are found to agree."""
    slug, ended = run(name)
    board = shared_site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"][0]["name"]
    where = ("estimator_name", "metric_name", "stratum_json")
    aggregates = table(shared_site, slug, "tables/per_stratum_metrics.csv")
    theirs = member(name, "tables/per_stratum_metrics.csv")
    levels = [json.loads(row["metadata_json"]).get("nominal") for row in theirs]
    ours = {
        (*key, json.loads(row["metadata_json"]).get("nominal")): row for key, row in keyed(aggregates, *where).items()
    }
    wrong = [
        key for (key, row), level in zip(keyed(theirs, *where).items(), levels, strict=True)
        if not close(ours[*key, level]["value"], row["value"])
    ]  # fmt: skip
    leaderboard = table(shared_site, slug, f"leaderboards/{board}.csv")
    contract = table(shared_site, slug, "tables/leaderboard.csv")
    expected = member(name, "tables/leaderboard.csv")

    assert ended["status"] == "published"
    assert {check["rule"]: check["outcome"] for check in ended["checks"]}["claimed_values"] == "passed"
    assert len(aggregates) == len(theirs)
    assert wrong == []
    assert [(row["entrant"], float(row["score"])) for row in leaderboard] == [
        (row["estimator_name"], pytest.approx(float(row["score"]), abs=1e-12)) for row in expected
    ]
    assert [list(row) for row in contract] == [list(row) for row in expected]
    assert all(
        close(a[c], b[c]) for a, b in zip(contract, expected, strict=True) for c in b if c not in ("estimator_name",)
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_interval_of_a_run_comes_out_of_its_rows(shared_site: Site, run: Run, name: str) -> None:
    """Within strata, over strata and paired, from lrdbench's own stream."""
    slug, _ = run(name)
    ours = table(shared_site, slug, "tables/benchmark_uncertainty.csv")
    theirs = member(name, "tables/benchmark_uncertainty.csv")
    if not theirs:
        return
    cells = ("value", "ci_low", "ci_high")
    wrong = [
        (a["estimator_name"], a["metric_name"])
        for a, b in zip(ours, theirs, strict=True)
        if a["estimator_name"] != b["estimator_name"] or not all(close(a[cell], b[cell]) for cell in cells)
    ]

    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_failures_are_counted_as_lrdbench_counts_them(shared_site: Site, run: Run, name: str) -> None:
    """Rows, missing values, missing intervals and invalid estimates of every estimator and stratum."""
    slug, _ = run(name)
    where = ("estimator_name", "stratum_json")
    ours = keyed(table(shared_site, slug, "tables/failures.csv"), *where)
    wrong = {
        key: [(count, ours[key][count], row[count]) for count in COUNTS if not close(ours[key][count], row[count])]
        for key, row in keyed(member(name, "tables/failures.csv"), *where).items()
    }

    assert {key: cells for key, cells in wrong.items() if cells} == {}


@pytest.mark.parametrize("name", ["public_small_stress_contamination", "rich_stress"])
def test_raw_rows_come_back_as_they_were_sent(shared_site: Site, run: Run, name: str) -> None:
    """Every per-series row with its value and its own level; the second run is longer than one part of the file."""
    slug, _ = run(name)
    both = (table(shared_site, slug, "raw/metrics.csv"), member(name, "raw/metrics.csv"))
    ours, theirs = ([row for row in rows if row["scope"] == "per_series"] for rows in both)

    assert [(r["record_id"], r["estimator_name"], r["metric_name"]) for r in ours] == [
        (r["record_id"], r["estimator_name"], r["metric_name"]) for r in theirs
    ]
    assert all(close(a["value"], b["value"]) for a, b in zip(ours, theirs, strict=True))


def test_every_page_of_a_series_benchmark_answers(shared_site: Site, run: Run) -> None:
    """Board, pairs, terms, failures with their picture, strata, intervals, and the zip of all."""
    slug, _ = run("public_small_stress_contamination")
    board = shared_site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"][0]["name"]
    boards = [f"leaderboards/{board}{kind}" for kind in ("", "/pairwise", "/score")]
    tables = [f"tables/{name}" for name in ("failures", "failure_map", "failed_records", "per_stratum_metrics",
                                            "benchmark_uncertainty", "stress_metrics")]  # fmt: skip
    codes = {
        address: shared_site.http.get(f"/benchmarks/{slug}/{address}", headers={"Accept": "text/html"}).status_code
        for address in (*boards, *tables, "tables.zip", "tasks", "entrants/RS", "")
    }

    assert {address: code for address, code in codes.items() if code != 200} == {}


def test_what_is_measured_between_estimators_is_nobodys_entrant(shared_site: Site, run: Run) -> None:
    """`RS__vs__DFA` has aggregates, and neither a rank nor an owner."""
    slug, ended = run("public_small_canonical_ground_truth")
    aggregates = table(shared_site, slug, "tables/per_stratum_metrics.csv")

    assert [entrant["name"] for entrant in ended["entrants"]] == ["DFA", "DMA", "RS"]
    assert "RS__vs__DFA" in {row["estimator_name"] for row in aggregates}


def test_estimators_of_two_people_join_on_one_board(roomy_site: Site) -> None:
    """Records are matched by their id, and the board is the one of the whole run."""
    name = "public_small_canonical_ground_truth"
    slug = make_benchmark(roomy_site, name)
    for who, estimators in (("alice", ["RS"]), ("bob", ["DFA", "DMA"])):
        submit(roomy_site, slug, part_of(name, estimators), who)
    roomy_site.work()
    ours = table(roomy_site, slug, "tables/leaderboard.csv")
    board = roomy_site.http.get(f"/benchmarks/{slug}/leaderboards/canonical-accuracy.json").json()

    assert [(row["estimator_name"], float(row["score"])) for row in ours] == [
        (row["estimator_name"], pytest.approx(float(row["score"]), abs=1e-12))
        for row in member(name, "tables/leaderboard.csv")
    ]
    assert "6 of 6 records are common to all of them" in board["notes"][0]


SECOND_BOARD = b"""
- name: validity-first
  method: weighted_rank
  ranking_rule: 1
  weights: {validity_rate: 0.6, ci_width@0.95: 0.4}
"""


def test_every_board_of_a_manifest_is_in_the_contract_s_leaderboard(roomy_site: Site) -> None:
    """The rows of both, with the components of both, each empty where a board does not have it; in the zip too."""
    name = "public_small_canonical_ground_truth"
    given = manifest_from_lrdbench((DATA / "manifests" / f"{name}.yaml").read_bytes())
    manifest = given.replace(b"\nuncertainty:\n", SECOND_BOARD + b"uncertainty:\n", 1)
    created = roomy_site.http.post("/benchmarks", content=manifest, headers=roomy_site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    slug = created.json()["slug"]
    submit(roomy_site, slug, RUNS[name].read_bytes())
    roomy_site.work()
    rows = table(roomy_site, slug, "tables/leaderboard.csv")
    boards = {
        board: table(roomy_site, slug, f"leaderboards/{board}.csv")
        for board in ("canonical-accuracy", "validity-first")
    }
    with zipfile.ZipFile(io.BytesIO(roomy_site.http.get(f"/benchmarks/{slug}/tables.zip").content)) as archive:
        zipped = list(csv.DictReader(io.StringIO(archive.read("tables/leaderboard.csv").decode())))

    assert list(rows[0]) == [
        "estimator_name", "rank", "score", "metric__mae", "metric__coverage_error", "metric__validity_rate",
        "metric__runtime", "metric__ci_width", "leaderboard_name",
    ]  # fmt: skip
    assert [(row["leaderboard_name"], row["estimator_name"], row["rank"], row["score"]) for row in rows] == [
        (board, row["entrant"], row["rank"], row["score"]) for board, ranked in boards.items() for row in ranked
    ]
    assert [(row["metric__mae"] == "", row["metric__ci_width"] == "") for row in rows] == [(False, True)] * 3 + [
        (True, False)
    ] * 3
    assert zipped == rows


def test_a_cell_of_the_heatmap_leads_to_its_failed_records(roomy_site: Site) -> None:
    """From failures, and from the failure map: the records of one estimator in one stratum, with the reason of each."""
    slug, _ = publish(roomy_site, "rich_stress")
    pages = [
        roomy_site.http.get(f"/benchmarks/{slug}/tables/{name}?snapshot=1", headers={"Accept": "text/html"}).text
        for name in ("failures", "failure_map")
    ]
    links = [re.findall(r'href="(failed_records\?entrant=DMA&amp;task=[^"]+)"', shown) for shown in pages]
    address = html.unescape(links[0][0])
    stem, query = address.split("?")
    rows = table(roomy_site, slug, f"tables/{stem}.csv?{query}")
    counted = [row for row in table(roomy_site, slug, "tables/failures.csv") if row["estimator_name"] == "DMA"]
    as_json = roomy_site.http.get(f"/benchmarks/{slug}/tables/{stem}.json?{query}").json()["rows"]

    assert links[0] == links[1]
    assert len(links[0]) == len(counted)
    assert query.endswith("&snapshot=1")
    assert {row["entrant"] for row in rows} == {"DMA"}
    assert {row["reason"] for row in rows} == {"no interval (missing_ci)"}
    assert sum(len(row["missing"].split()) for row in rows) == int(counted[0]["n_missing_values"])
    assert [row["record_id"] for row in as_json] == [row["record_id"] for row in rows]


def test_failed_records_are_narrowed_in_every_format(shared_site: Site, run: Run) -> None:
    """?entrant= leaves one estimator's rows in the page, in CSV and in JSON."""
    slug, _ = run("rich_stress")
    address = f"/benchmarks/{slug}/tables/failed_records"
    page = shared_site.http.get(f"{address}?entrant=DMA", headers={"Accept": "text/html"}).text
    rows = table(shared_site, slug, "tables/failed_records.csv?entrant=DMA")
    everyone = table(shared_site, slug, "tables/failed_records.csv")

    assert {row["entrant"] for row in rows} == {"DMA"}
    assert len(rows) * 2 == len(everyone)
    assert f'<a href="/benchmarks/{slug}/entrants/DMA">' in page
    assert f'<a href="/benchmarks/{slug}/entrants/Variance">' not in page
    assert "<summary>Estimators</summary>" in page


def test_a_slow_reader_of_the_raw_rows_holds_no_connection(shared_site: Site, run: Run) -> None:
    """Between two parts of the file nothing is open; one who goes away leaves nothing behind."""
    slug, _ = run("rich_stress")
    with shared_site.sessions() as session:
        shown = snapshots.find_snapshot(session, benchmark_rows.find_benchmark(session, slug))
        pool = session.get_bind().engine.pool
    assert shown is not None
    parts = raw_rows(shared_site.sessions, shown.id, RAW["metrics.csv"])
    read = [next(parts), next(parts)]

    assert isinstance(pool, QueuePool)
    assert pool.checkedout() == 0
    assert list(read[0]) == [HEADER]
    assert len(list(parts)) == 3


def test_a_zip_is_deleted_when_its_reader_goes_away(tmp_path: Path) -> None:
    """The temporary file is closed in the middle of the download, and at its end."""
    for n_read in (1, 2):
        with (tmp_path / "packed").open("w+b") as packed:
            packed.write(b"x" * 300_000)
            blocks = blocks_of(packed)
            read = b"".join(next(blocks) for _ in range(n_read))
            blocks.close()

            assert packed.closed
            assert len(read) == (262_144, 300_000)[n_read - 1]


@pytest.mark.parametrize("address", ["tables.zip", "raw/metrics.csv"])
def test_another_kind_of_benchmark_has_no_contract_tables(site: Site, address: str) -> None:
    """It is told so, instead of getting a header without rows."""
    create(site)
    answer = site.http.get(f"/benchmarks/guess/{address}")

    assert answer.status_code == 404
    assert "guess is a benchmark of predictions; only one of series_metrics" in answer.text


def test_the_reading_guide_stands_on_every_page(shared_site: Site, run: Run) -> None:
    """What may be claimed from a ground truth, wherever numbers are shown; a board has it under how it is known."""
    slug, ended = run("public_small_canonical_ground_truth")
    home = f"/benchmarks/{slug}"
    board = f"{home}/leaderboards/canonical-accuracy"
    stratum = shared_site.http.get(f"{home}/tasks.json").json()["rows"][0]["task"]
    pages = [
        home, board, f"{board}/pairwise", f"{board}/score", f"{board}/against", f"{board}/against?a=RS&b=DFA",
        f"{home}/snapshots", f"{home}/tasks", f"{home}/tasks/{quote(stratum)}", f"{home}/entrants/RS", f"{home}/claims",
        f"{home}/registrations", f"{home}/tables/failures", f"{home}/tables/records", f"/submissions/{ended['id']}",
    ]  # fmt: skip
    shown = {address: shared_site.http.get(address, headers={"Accept": "text/html"}).text for address in pages}
    guides = {address: "<dd>" if address == board else '<p class="guide">' for address in pages}
    without = [address for address in pages if f"{guides[address]}Ground truth:" not in shown[address]]

    assert without == []


def test_a_stratum_lists_its_rows_by_record(shared_site: Site, run: Run) -> None:
    """Several rows of an estimator in one stratum are told apart, on the page of the stratum and of the entrant."""
    name = "rich_stress"
    slug, _ = run(name)
    stratum = table(shared_site, slug, "tasks.csv")[0]["task"]
    rows = table(shared_site, slug, f"tasks/{quote(stratum)}.csv")
    mine = table(shared_site, slug, "entrants/RS.csv")
    page = shared_site.http.get(f"/benchmarks/{slug}/tasks/{quote(stratum)}", headers={"Accept": "text/html"}).text

    assert list(rows[0])[:2] == ["entrant", "record_id"]
    assert len({(row["entrant"], row["record_id"]) for row in rows}) == len(rows)
    assert {row["record_id"] for row in mine} == {
        r["record_id"] for r in per_series(name) if r["estimator_name"] == "RS"
    }
    assert rows[0]["record_id"] in page
    _explore_its_strata(shared_site, slug, stratum)


def _explore_its_strata(site: Site, slug: str, stratum: str) -> None:
    """A reader finds the strata in the form, and gets a board over one of them, labelled."""
    board = site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"][0]["name"]
    explore = f"/benchmarks/{slug}/leaderboards/{board}/explore"
    form = site.http.get(explore, headers={"Accept": "text/html"}).text
    n_offered = form.count('name="task"')
    chosen = site.http.get(f"{explore}.json", params={"task": stratum}).json()

    assert f'name="task" value="{html.escape(stratum)}"' in form
    assert 'name="group" value="contamination_operator:' in form
    assert f"1 of {n_offered} tasks" in chosen["notes"][0]
