"""Runs of lrdbench over HTTP: every aggregate, interval and rank that they claim comes out of their per-series rows."""

import csv
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import QueuePool

from app.cli.__main__ import run as run_command
from app.kinds.series.from_lrdbench import RAW, manifest_from_lrdbench
from app.kinds.series.rows import COLUMNS
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

CANONICAL, STRESS, RICH = "public_small_canonical_ground_truth", "public_small_stress_contamination", "rich_stress"
BOARDS = {RICH: "stress-robustness", CANONICAL: "canonical-accuracy", STRESS: "stress-robustness"}
"""The runs that go through the door here; the tables of every given run are compared in test_contract.py."""

CONTRACT = json.loads((DATA / "public_output_contract.json").read_text())
OF_A_RUN = {"html/report.html", "manifest/environment.json", "artefacts/artefact_index.csv", "raw/records.csv",
            "raw/artefacts.csv"}  # fmt: skip
"""What only a run has: its report, its machine, its files and its series."""
COUNTS = (
    "n_metric_rows",
    "n_missing_values",
    "n_missing_uncertainty",
    "n_validity_observations",
    "n_invalid_estimates",
)


def publish(site: Site, name: str) -> tuple[str, dict[str, Any]]:
    """Import the run's manifest, submit the run, and return the slug and where the submission ended."""
    slug = make_benchmark(site, name)
    sent = submit(site, slug, RUNS[name].read_bytes())
    site.work()
    return slug, site.http.get(f"/submissions/{sent['id']}.json").json()


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


@pytest.mark.parametrize("name", BOARDS)
def test_every_number_of_a_run_comes_out_of_its_rows(shared_site: Site, run: Run, name: str) -> None:
    """Aggregates, intervals from lrdbench's stream, failures and the leaderboard, to 1e-12; and its claims agree."""
    slug, ended = run(name)
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
    leaderboard = table(shared_site, slug, f"leaderboards/{BOARDS[name]}.csv")
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

    drawn = (
        table(shared_site, slug, "tables/benchmark_uncertainty.csv"),
        member(name, "tables/benchmark_uncertainty.csv"),
    )
    for ours, theirs in zip(*drawn, strict=True) if drawn[1] else ():
        assert ours["estimator_name"] == theirs["estimator_name"]
        assert all(close(ours[cell], theirs[cell]) for cell in ("value", "ci_low", "ci_high"))
    of_stratum = ("estimator_name", "stratum_json")
    counted = keyed(table(shared_site, slug, "tables/failures.csv"), *of_stratum)
    for key, row in keyed(member(name, "tables/failures.csv"), *of_stratum).items():
        assert [count for count in COUNTS if not close(counted[key][count], row[count])] == []


@pytest.mark.parametrize("name", [STRESS, RICH])
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
    slug, _ = run(STRESS)
    boards = [f"leaderboards/{BOARDS[STRESS]}{kind}" for kind in ("", "/pairwise", "/score")]
    tables = [f"tables/{name}" for name in ("failures", "failure_map", "failed_records", "per_stratum_metrics",
                                            "benchmark_uncertainty", "stress_metrics")]  # fmt: skip
    codes = {
        address: shared_site.http.get(f"/benchmarks/{slug}/{address}", headers={"Accept": "text/html"}).status_code
        for address in (*boards, *tables, "tables.zip", "tasks", "entrants/RS", "")
    }

    assert {address: code for address, code in codes.items() if code != 200} == {}


def test_what_is_measured_between_estimators_is_nobodys_entrant(shared_site: Site, run: Run) -> None:
    """`RS__vs__DFA` has aggregates, and neither a rank nor an owner."""
    slug, ended = run(CANONICAL)
    aggregates = table(shared_site, slug, "tables/per_stratum_metrics.csv")

    assert [entrant["name"] for entrant in ended["entrants"]] == ["DFA", "DMA", "RS"]
    assert "RS__vs__DFA" in {row["estimator_name"] for row in aggregates}


def test_estimators_of_two_people_join_on_one_board(shared_site: Site) -> None:
    """Records are matched by their id, and the board is the one of the whole run."""
    slug = make_benchmark(shared_site, CANONICAL, "two-people")
    for who, estimators in (("alice", ["RS"]), ("bob", ["DFA", "DMA"])):
        submit(shared_site, slug, part_of(CANONICAL, estimators), who)
    shared_site.work()
    ours = table(shared_site, slug, "tables/leaderboard.csv")
    board = shared_site.http.get(f"/benchmarks/{slug}/leaderboards/canonical-accuracy.json").json()

    assert [(row["estimator_name"], float(row["score"])) for row in ours] == [
        (row["estimator_name"], pytest.approx(float(row["score"]), abs=1e-12))
        for row in member(CANONICAL, "tables/leaderboard.csv")
    ]
    assert "6 of 6 records are common to all of them" in board["notes"][0]


SECOND_BOARD = b"""
  - name: validity-first
    method: weighted_rank
    ranking_rule: 1
    weights: {validity_rate: 0.6, ci_width@0.95: 0.4}
"""


def test_every_board_of_a_manifest_is_in_the_contract_s_leaderboard(shared_site: Site) -> None:
    """The rows of both, with the components of both, each empty where a board does not have it; in the zip too."""
    given = manifest_from_lrdbench((DATA / "manifests" / f"{CANONICAL}.yaml").read_bytes(), "two-boards")
    manifest = given.replace(b"\nuncertainty:\n", SECOND_BOARD + b"uncertainty:\n", 1)
    created = shared_site.http.post("/benchmarks", content=manifest, headers=shared_site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    slug = "two-boards"
    submit(shared_site, slug, RUNS[CANONICAL].read_bytes())
    shared_site.work()
    rows = table(shared_site, slug, "tables/leaderboard.csv")
    boards = {
        board: table(shared_site, slug, f"leaderboards/{board}.csv")
        for board in ("canonical-accuracy", "validity-first")
    }
    with zipfile.ZipFile(io.BytesIO(shared_site.http.get(f"/benchmarks/{slug}/tables.zip").content)) as archive:
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


def test_a_cell_of_the_heatmap_leads_to_its_failed_records(shared_site: Site, run: Run) -> None:
    """From failures, and from the failure map: the records of one estimator in one stratum, with the reason of each."""
    slug, _ = run(RICH)
    pages = [
        shared_site.http.get(f"/benchmarks/{slug}/tables/{name}?snapshot=1", headers={"Accept": "text/html"}).text
        for name in ("failures", "failure_map")
    ]
    links = [re.findall(r'href="(failed_records\?entrant=DMA&amp;task=[^"]+)"', shown) for shown in pages]
    address = html.unescape(links[0][0])
    stem, query = address.split("?")
    rows = table(shared_site, slug, f"tables/{stem}.csv?{query}")
    counted = [row for row in table(shared_site, slug, "tables/failures.csv") if row["estimator_name"] == "DMA"]
    as_json = shared_site.http.get(f"/benchmarks/{slug}/tables/{stem}.json?{query}").json()["rows"]

    assert links[0] == links[1]
    assert len(links[0]) == len(counted)
    assert query.endswith("&snapshot=1")
    assert {row["entrant"] for row in rows} == {"DMA"}
    assert {row["reason"] for row in rows} == {"no interval (missing_ci)"}
    assert sum(len(row["missing"].split()) for row in rows) == int(counted[0]["n_missing_values"])
    assert [row["record_id"] for row in as_json] == [row["record_id"] for row in rows]


def test_a_slow_reader_of_the_raw_rows_holds_no_connection(shared_site: Site, run: Run) -> None:
    """Between two parts of the file nothing is open; one who goes away leaves nothing behind."""
    slug, _ = run(RICH)
    with shared_site.sessions() as session:
        shown = snapshots.find_snapshot(session, benchmark_rows.find_benchmark(session, slug))
        pool = session.get_bind().engine.pool
    assert shown is not None
    parts = raw_rows(shared_site.sessions, shown.id, RAW["metrics.csv"])
    read = [next(parts), next(parts)]

    assert isinstance(pool, QueuePool)
    assert pool.checkedout() == 0
    assert list(read[0]) == [COLUMNS]
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


def test_another_kind_of_benchmark_has_no_contract_tables(shared_site: Site) -> None:
    """It is told so, instead of getting a header without rows."""
    create(shared_site)
    said = {
        "tables.zip": "guess is a benchmark of predictions; only one of series_metrics",
        "raw/metrics.csv": "guess is a benchmark of predictions; it has nothing below raw/, not raw/metrics.csv.",
    }
    for address, reason in said.items():
        answer = shared_site.http.get(f"/benchmarks/guess/{address}")

        assert answer.status_code == 404
        assert reason in answer.text


def test_pages_of_tables_lead_to_every_raw_file(shared_site: Site, run: Run) -> None:
    """Those that the kind declares, by their titles; the addresses answer."""
    slug, _ = run(STRESS)
    page = shared_site.http.get(f"/benchmarks/{slug}/tables/failures", headers={"Accept": "text/html"}).text

    for name, file in RAW.items():
        assert f'<a href="/benchmarks/{slug}/raw/{name}">{file.title}</a>' in page
        assert table(shared_site, slug, f"raw/{name}")


def test_the_reading_guide_stands_on_every_page(shared_site: Site, run: Run) -> None:
    """What may be claimed from a ground truth, wherever numbers are shown; a board has it under how it is known."""
    slug, ended = run(CANONICAL)
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
    slug, _ = run(RICH)
    stratum = table(shared_site, slug, "tasks.csv")[0]["task"]
    rows = table(shared_site, slug, f"tasks/{quote(stratum)}.csv")
    mine = table(shared_site, slug, "entrants/RS.csv")
    page = shared_site.http.get(f"/benchmarks/{slug}/tasks/{quote(stratum)}", headers={"Accept": "text/html"}).text

    assert list(rows[0])[:2] == ["entrant", "record_id"]
    assert len({(row["entrant"], row["record_id"]) for row in rows}) == len(rows)
    assert {row["record_id"] for row in mine} == {
        r["record_id"] for r in per_series(RICH) if r["estimator_name"] == "RS"
    }
    assert rows[0]["record_id"] in page
    _explore_its_strata(shared_site, slug, stratum)


def _explore_its_strata(site: Site, slug: str, stratum: str) -> None:
    """A reader finds the strata in the form, and gets a board over one of them, labelled."""
    explore = f"/benchmarks/{slug}/leaderboards/{BOARDS[RICH]}/explore"
    form = site.http.get(explore, headers={"Accept": "text/html"}).text
    n_offered = form.count('name="task"')
    chosen = site.http.get(f"{explore}.json", params={"task": stratum}).json()

    assert f'name="task" value="{html.escape(stratum)}"' in form
    assert 'name="group" value="contamination_operator:' in form
    assert f"1 of {n_offered} tasks" in chosen["notes"][0]


@pytest.mark.parametrize("name", BOARDS)
def test_who_is_separable_has_an_interval_without_zero(shared_site: Site, run: Run, name: str) -> None:
    """In the table of pairs; a p-value below 0.05 as the interval says. Without a grid no rank has an interval."""
    slug, _ = run(name)
    board = f"leaderboards/{BOARDS[name]}"
    pairs = {(row["entrant_a"], row["entrant_b"]): row for row in table(shared_site, slug, f"{board}/pairwise.csv")}
    sets = {row["entrant"]: (row["rank_low"], row["rank_high"]) for row in table(shared_site, slug, f"{board}.csv")}
    known = {pair: row for pair, row in pairs.items() if row["p_value"] and row["difference_lower"]}
    away = {(a, b): float(row["difference_lower"]) > 0.0 or float(row["difference_upper"]) < 0.0
            for (a, b), row in known.items()}  # fmt: skip

    assert {pair for pair, row in known.items() if row["separable"] == "True" and not away[pair]} == set()
    assert {pair: float(row["p_value"]) < 0.05 for pair, row in known.items()} == away
    assert set(sets.values()) == {("", "")}


def test_the_page_of_two_and_a_table_in_lrdbenchs_stream_say_what_they_rest_on(shared_site: Site, run: Run) -> None:
    """The page of which level its interval is; the table, whose bounds are lrdbench's to the digit, what moves them."""
    home = f"/benchmarks/{run(RICH)[0]}"
    pair = shared_site.http.get(f"{home}/leaderboards/stress-robustness/against.json?a=RS&b=DMA").json()
    shown = shared_site.http.get(f"{home}/tables/benchmark_uncertainty.json").json()

    assert re.search(r"\(95 % interval ", pair["notes"][0])
    assert [note[:62] for note in shown["notes"]] == ["Drawn as lrdbench draws them, from one generator in the order "]


def complaints(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield what `lrdbench validate-output` says of an unpacked archive, by its contract."""
    names = set(archive.namelist())
    required = [name for files in CONTRACT["required_files"].values() for name in files]
    yield from (name for name in required if name not in names)
    for name, columns in CONTRACT["required_columns"].items():
        if name in names:
            header = next(csv.reader(io.StringIO(archive.read(name).decode())), [])
            yield from (f"{name}: {column}" for column in columns if column not in header)


@pytest.mark.parametrize("name", [STRESS, "small_lrd_model_selection"])
def test_nothing_is_missing_but_what_only_a_run_has(shared_site: Site, run: Run, name: str) -> None:
    """Every required file with every required column; and the estimates with their own intervals, as they were sent."""
    slug, _ = run(name)
    packed = io.BytesIO(shared_site.http.get(f"/benchmarks/{slug}/tables.zip").content)
    with zipfile.ZipFile(packed) as archive:
        actual, estimates = set(complaints(archive)), archive.read("raw/estimates.csv").decode()

    assert actual == OF_A_RUN
    assert list(csv.DictReader(io.StringIO(estimates))) == member(name, "raw/estimates.csv")
    assert table(shared_site, slug, "raw/estimates.csv") == member(name, "raw/estimates.csv")


def test_the_leaderboard_of_an_imported_run_is_lrdbenchs_over_http(shared_site: Site, tmp_path: Path) -> None:
    """Made with `import-lrdbench --run`: tables.zip has rank and score wherever lrdbench has, and the claims agree."""
    path = DATA / "ranked" / "small_null_rates.zip"
    with zipfile.ZipFile(path) as archive:
        theirs = archive.read("small_null_rates/tables/leaderboard.csv").decode()
        (tmp_path / "theirs.yaml").write_bytes(archive.read("small_null_rates/manifest/benchmark_manifest.yaml"))
    made = str(tmp_path / "made.yaml")
    assert run_command(
        ["benchmark", "import-lrdbench", str(tmp_path / "theirs.yaml"), "--run", str(path), "-o", made]
    ) == 0  # fmt: skip
    content = Path(made).read_bytes()
    created = shared_site.http.post("/benchmarks", content=content, headers=shared_site.auth("steward") | YAML)
    sent = submit(shared_site, created.json()["slug"], path.read_bytes())
    shared_site.work()
    packed = io.BytesIO(shared_site.http.get(f"/benchmarks/{created.json()['slug']}/tables.zip").content)
    with zipfile.ZipFile(packed) as archive:
        ours = list(csv.DictReader(io.StringIO(archive.read("tables/leaderboard.csv").decode())))
    checks = shared_site.http.get(f"/submissions/{sent['id']}.json").json()["checks"]

    assert [(row["estimator_name"], row["rank"], float(row["score"])) for row in ours] == [
        (row["estimator_name"], row["rank"], float(row["score"])) for row in csv.DictReader(io.StringIO(theirs))
    ]
    assert {check["rule"]: check["outcome"] for check in checks}["claimed_values"] == "passed"
