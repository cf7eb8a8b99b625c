"""Records matched by their id: who has which, and what a mean over a chosen few comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import WeightedRank, held_records, records_table
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.store.series import others_records
from app.values.scores import Coded, ScoreTable
from tests.cases import grids, publications
from tests.cases.lrdbench_http import archive_of, make_benchmark, part_of, per_series, submit, table
from tests.cases.publications import FEW
from tests.cases.series_runs import COLUMNS
from tests.fixtures import Site

CANONICAL = "public_small_canonical_ground_truth"
BOARD = "leaderboards/canonical-accuracy"
Values = Mapping[str, Mapping[str, float | None]]


def manifest(
    more: str = "", estimators: str = "", grid: str = "", weights: str = "{mae: 0.5, runtime: 0.5}"
) -> Manifest:
    """Return a benchmark of errors and run times; `grid` is that of its records, if it declares one."""
    return parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: series_metrics
mode: ground_truth
{estimators}
metrics: {{catalog: lrdbench, use: [mae, runtime, coverage@0.95, coverage_error@0.95, ci_width@0.95]}}
tasks: {{open: true}}
{grid}
leaderboards:
  - {{name: main, method: weighted_rank, weights: {weights}, uncertainty: {{n_resamples: 200}}{more}}}
""".encode()
    )


def rows(errors: Values, runtimes: Values | None = None) -> ScoreTable:
    """Return rows of one stratum from errors by estimator and record; None is a null. A run time is one second."""
    cells = [(name, record, error) for name, by_record in errors.items() for record, error in by_record.items()]
    records = list(dict.fromkeys(record for _, record, _ in cells))
    names = list(errors)
    times = [(runtimes or {}).get(name, {}).get(record, 1.0) for name, record, _ in cells]
    metrics = [0 if time is not None else 1 for time in times]
    n_rows = len(cells)
    numbers = [
        [np.nan if value is None else value for value in pair]
        for pair in zip((c[2] for c in cells), times, strict=True)
    ]
    return ScoreTable(
        entrant=Coded(tuple(names), np.array([names.index(name) for name, _, _ in cells])),
        task=Coded(("s",), np.zeros(n_rows, dtype=np.int64)),
        columns=("mae", "runtime"),
        values=np.array(numbers),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
        item=Coded(tuple(records), np.array([records.index(record) for _, record, _ in cells])),
        recorded={
            "metrics": Coded(("mae runtime", "mae"), np.array(metrics)),
            "stratum_json": Coded(('{"n": 1}',), np.zeros(n_rows, dtype=np.int64)),
        },
    )


def board(scores: ScoreTable, declared: Manifest) -> tuple[list[dict[str, object]], Sequence[str]]:
    """Return the board's rows and its notes."""
    spec = declared.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    created = compute(declared, spec, scores).leaderboard
    return [dict(row) for row in created.records()], created.notes


ALL = {"r1": 0.3, "r2": 0.4, "r3": 0.5}
THREE = "grid: {items: [r1, r2, r3]}"


def test_a_single_good_record_wins_nothing() -> None:
    """C has one of three records: no rank, and a note that says how many it lacks."""
    actual, notes = board(rows({"A": ALL, "B": ALL, "C": {"r1": 0.0}}), manifest(grid=THREE))

    assert [(row["entrant"], row["rank"], row["n_attempted"], row["n_absent"]) for row in actual] == [
        ("A", 1, 6, 0), ("B", 1, 6, 0), ("C", None, 6, 4),
    ]  # fmt: skip
    assert "Partial, so listed separately, without a rank: C (2 of 6 included)." in notes
    assert (actual[-1]["rank_if_worst"], actual[-1]["rank_if_best"]) == (3, 1)


def test_records_that_nobody_else_has_count_for_nothing() -> None:
    """C adds a record of its own on which it is perfect: its mean stays that of the three, and the note names it."""
    mine = {record: value + 0.1 for record, value in ALL.items()}
    actual, notes = board(rows({"A": ALL, "B": ALL, "C": {**mine, "easy": 0.0}}), manifest(grid=THREE))
    last = actual[-1]

    assert (last["entrant"], last["rank"], last["metric__mae"]) == ("C", 3, pytest.approx(0.5))
    assert any("rows on 1 other record are left out: C." in note for note in notes)


def test_to_fail_a_whole_stratum_is_no_better_than_to_fail_a_part_of_it() -> None:
    """B covers nothing of the second stratum: its coverage is that of the first one and of none, not of the first."""
    covered = {"A": [1.0, 1.0, 1.0, 0.0], "B": [1.0, 1.0, np.nan, np.nan]}
    records = ("r1", "r2", "r3", "r4")
    scores = ScoreTable(
        entrant=Coded(("A", "B"), np.repeat([0, 1], 4)),
        task=Coded(("easy", "hard"), np.tile([0, 0, 1, 1], 2)),
        columns=("coverage@0.95",),
        values=np.array([value for of in covered.values() for value in of])[:, None],
        leaked=np.zeros(8, dtype=np.bool_),
        file=np.zeros(8, dtype=np.int64),
        row=np.arange(8),
        item=Coded(records, np.tile(np.arange(4), 2)),
    )
    actual, _ = board(
        scores, manifest(weights="{coverage@0.95: 1.0}", grid="grid: {absent: worst, items: [r1, r2, r3, r4]}")
    )

    assert [(row["entrant"], row["metric__coverage@0.95"]) for row in actual] == [("A", 0.75), ("B", 0.5)]


def test_without_a_grid_who_lacks_records_ranks_behind() -> None:
    """The board is provisional and says so; one stranger with one record changes neither rank nor interval."""
    honest = {"A": ALL, "B": {record: value + 0.1 for record, value in ALL.items()}}
    before, _ = board(rows(honest), manifest())
    after, notes = board(rows({**honest, "C": {"r1": 0.0}}), manifest())
    shown = ("entrant", "rank", "rank_low", "rank_high", "first_resamples_share", "score")

    assert [[row[name] for name in shown] for row in after[:2]] == [[row[name] for name in shown] for row in before]
    assert (after[2]["entrant"], after[2]["rank"], after[2]["rank_low"]) == ("C", 3, None)
    assert any(note.startswith("Provisional: nobody has declared which records there are") for note in notes)


def test_without_a_grid_the_first_of_two_says_what_counts() -> None:
    """Who comes later with another record lacks the first one's, and the board says that it is provisional."""
    actual, notes = board(rows({"A": {"r1": 0.1}, "B": {"r2": 0.2}}), manifest())

    assert [(row["entrant"], row["n_absent"], row["metric__mae"]) for row in actual] == [("A", 0, 0.1), ("B", 2, None)]
    assert len([note for note in notes if note.startswith("Provisional")]) == 1


def test_a_missing_value_comes_after_all_who_are_enrolled() -> None:
    """Three are enrolled and two have reported: the rank of a missing run time is four, and the third is named."""
    declared = manifest(estimators="estimators: [A, B, C]", grid=THREE)
    table = rows({"A": ALL, "B": ALL}, {"B": dict.fromkeys(ALL)})
    invalid = np.where(table.entrant.codes == 1, 0, -1)
    actual, notes = board(replace(table, recorded={**table.recorded, "valid": Coded(("False",), invalid)}), declared)
    without = next(row for row in actual if row["entrant"] == "B")

    assert (without["rank__runtime"], without["score"]) == (4.0, 2.75)
    assert (without["rank"], without["n_attempted"], without["n_included"], without["n_failed"]) == (2, 6, 3, 3)
    assert "Enrolled, and without any row yet: C." in notes


def test_rule_1_has_no_interval_of_the_score() -> None:
    """Its points break ties by name and resamples do not, so the score could lie outside; rank intervals are there."""
    actual, notes = board(rows({"A": ALL, "B": ALL}), manifest(", ranking_rule: 1", grid=THREE))

    assert [(row["score_lower"], row["score_upper"], row["rank_low"]) for row in actual] == [(None, None, 1)] * 2
    assert any("no interval of the score" in note for note in notes)


def test_the_table_of_records_says_who_lacks_which() -> None:
    """Each record with its stratum, how many have it, whether all do, whether it counts, and who lacks it."""
    scores = rows({"A": ALL, "B": ALL, "C": {"r1": 0.0, "easy": 0.0}})
    shown = records_table(held_records(scores, ["A", "B", "C"], frozenset({"r1", "r2", "r3"})))

    assert shown.rows == (
        ("r1", "s", 3, True, True, None),
        ("r2", "s", 2, False, True, "C"),
        ("r3", "s", 2, False, True, "C"),
        ("easy", "s", 1, False, False, "A, B"),
    )


def test_the_board_and_the_table_of_records_tell_of_a_cherry_picker(shared_site: Site) -> None:
    """RS and DFA on six records, DMA on its best one: a warning says at submission what it lacks, it ranks behind them,
    and the table names what it lacks; the first submission has nobody to be compared with.
    """
    slug = make_benchmark(shared_site, CANONICAL)
    first = submit(shared_site, slug, part_of(CANONICAL, ["RS", "DFA"]))
    shared_site.work()
    mine = [row for row in per_series(CANONICAL) if row["estimator_name"] == "DMA"]
    best = min((float(row["value"]), row["record_id"]) for row in mine if row["metric_name"] == "mae")[1]
    second = submit(shared_site, slug, archive_of(row for row in mine if row["record_id"] == best), "bob")
    shared_site.work()
    outcome, reason = checks_of(shared_site, second["id"])["records"]
    ranks = {
        row["entrant"]: (row["rank"], row["n_attempted"], row["n_absent"])
        for row in table(shared_site, slug, f"{BOARD}.csv")
    }
    records = table(shared_site, slug, "tables/records.csv")
    page = shared_site.http.get(f"/benchmarks/{slug}/{BOARD}", headers={"Accept": "text/html"}).text

    assert checks_of(shared_site, first["id"])["records"][0] == "passed"
    assert (outcome, reason.startswith("DMA lacks 5 of 6 records that others have (")) == ("warned", True)
    assert " and 2 more)" in reason
    assert ranks["DMA"] == ("3", "24", "20")
    assert sorted(rank for rank, _, _ in ranks.values()) == ["1", "2", "3"]
    assert [row["lacking"] for row in records].count("DMA") == 5
    assert len(shared_site.http.get(f"/benchmarks/{slug}/tables/records.json").json()["rows"]) == 6
    assert f'href="/benchmarks/{slug}/tables/records"' in page
    assert "Ranked behind the others, because something is absent: DMA (4 of 24 included)" in page
    assert ">20 missing</a>" in page


def checks_of(site: Site, submission: int) -> dict[str, tuple[str, str]]:
    """Return the outcome and the reason of each rule."""
    shown = site.http.get(f"/submissions/{submission}.json").json()
    return {check["rule"]: (check["outcome"], check["reason"]) for check in shown["checks"]}


def test_a_record_in_two_strata_is_not_admitted_but_of_who_corrects_its_own(shared_site: Site) -> None:
    """The second submission moves a record: it stays off the boards, and its check names the first one. What a
    submission supersedes does not hold it to its old strata.
    """
    slug = make_benchmark(shared_site, CANONICAL, "moved")
    first = submit(shared_site, slug, part_of(CANONICAL, ["RS"]))
    mine = [row for row in per_series(CANONICAL) if row["estimator_name"] == "DFA"]
    other, record = mine[-1]["stratum_json"], mine[0]["record_id"]
    moved = archive_of({**row, "stratum_json": other} if row["record_id"] == record else row for row in mine)
    second = submit(shared_site, slug, moved, "bob")
    outcome, reason = checks_of(shared_site, second["id"])["strata"]
    shared_site.work()

    assert (second["status"], outcome) == ("not_admitted", "failed")
    assert f"in submission {first['id']}" in reason
    assert record in reason
    assert [row["entrant"] for row in table(shared_site, slug, f"{BOARD}.csv")] == ["RS"]
    alone = make_benchmark(shared_site, CANONICAL, "corrected")
    submit(shared_site, alone, moved)
    assert submit(shared_site, alone, part_of(CANONICAL, ["DFA"]))["status"] == "received"


def test_submissions_to_one_benchmark_take_turns(shared_site: Site) -> None:
    """While one transaction looks at the standing records, the next one waits: it must see what the first stores."""
    with shared_site.sessions.begin() as first, shared_site.sessions() as second:
        others_records(first, 1, ["A"])
        second.execute(text("SET LOCAL lock_timeout = '100ms'"))

        with pytest.raises(OperationalError, match="lock timeout"):
            others_records(second, 1, ["B"])


# Records left out to come nearer to a nominal coverage, where what is absent counts as the worst.

RECORDS = tuple(f"r{at}" for at in range(1, 21))
OF_COVERAGE = f"""
schema_version: 1
slug: SLUG
title: Coverage
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [coverage@0.95, coverage_error@0.95]}}
tasks: {{open: true}}
grid: {{items: [{", ".join(RECORDS)}], absent: worst}}
leaderboards:
  - {{name: board, method: weighted_rank, weights: {{coverage_error@0.95: 1.0}}, uncertainty: {FEW}}}
  - {{name: covered, method: weighted_rank, weights: {{coverage@0.95: 1.0}}, uncertainty: {FEW}}}
"""


def send(site: Site, slug: str, name: str, covered: dict[str, int], who: str) -> None:
    """Send which records an estimator's interval covers."""
    values = {(record, "coverage@0.95"): str(value) for record, value in covered.items()}
    answer = publications.send(
        site, slug, "metrics.csv", publications.table(COLUMNS, publications.run_rows(name, values)), who
    )
    assert answer.status_code == 202, answer.text


def test_who_covers_too_much_comes_no_nearer_to_its_level_by_leaving_out(shared_site: Site) -> None:
    """An absent record would count as not covered: 19 of 20 is 95 % to the digit, an error of 0 and the first rank."""
    slug = grids.declare(shared_site, OF_COVERAGE)
    send(shared_site, slug, "most", {record: int(record != "r1") for record in RECORDS} | {"r2": 0}, "alice")
    send(shared_site, slug, "sly", dict.fromkeys(RECORDS, 1), "bob")
    honest = grids.by_entrant(grids.board(shared_site, slug))
    send(shared_site, slug, "sly", dict.fromkeys(RECORDS[1:], 1), "bob")
    shown = grids.by_entrant(grids.board(shared_site, slug))
    covered = grids.by_entrant(grids.board(shared_site, slug, "covered"))

    assert honest["sly"]["metric__coverage_error@0.95"] > 0.04
    assert (shown["sly"]["rank"], shown["sly"]["unranked_because"]) == (None, "partial")
    assert (shown["sly"]["rank_if_worst"], shown["most"]["rank"]) == (2, 1)
    assert (covered["sly"]["rank"], covered["sly"]["metric__coverage@0.95"]) == (1, 0.95)
