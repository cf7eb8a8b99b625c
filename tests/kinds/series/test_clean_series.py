"""Of which clean series a record was made: the units of a stress suite, which no rival's run may join or split."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from app.boards.example import rows as example_rows
from app.boards.methods.weighted_rank.coverage import declared_failures
from app.boards.methods.weighted_rank.records import CLEAN_SERIES, held_records, unit_names
from app.kinds.series.manifest_part import CATALOG, STRESS_ONLY, SeriesPart
from app.values.scores import Coded, ScoreTable
from tests.cases.lrdbench_http import Row, archive_of, make_benchmark, part_of, per_series, submit, table
from tests.fixtures import Site

STRESS = "public_small_stress_contamination"
BOARD = "leaderboards/stress-robustness.csv"


def of(estimators: Iterable[str]) -> list[Row]:
    """Return the evidence of some estimators of the suite."""
    return [row for row in per_series(STRESS) if row["estimator_name"] in set(estimators)]


def with_clean(rows: Iterable[Row], clean: str | None) -> Iterator[Row]:
    """Yield the rows, each stressed one made of this clean series; None to say nothing of it."""
    for row in rows:
        about = json.loads(row["metadata_json"])
        if about.pop(CLEAN_SERIES, None) is not None and clean is not None:
            about[CLEAN_SERIES] = clean
        yield {**row, "metadata_json": json.dumps(about)}


def own_numbers(site: Site, slug: str, entrants: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return the intervals of the components of some entrants, which rest on nobody else's rows."""
    shown = [row for row in table(site, slug, BOARD) if row["entrant"] in set(entrants)]
    own = [(row["entrant"], name, row[name]) for row in shown for name in row if name.startswith("metric__mae")]
    return sorted(own)


def test_a_run_with_other_clean_series_is_not_admitted(shared_site: Site) -> None:
    """Two estimators say that every record was made of one series: no other's unit, and the reason names the first."""
    slug = make_benchmark(shared_site, STRESS)
    first = submit(shared_site, slug, part_of(STRESS, ["RS"]))
    joined = archive_of(with_clean(of(["DFA", "DMA"]), of(["RS"])[0]["record_id"]))
    second = submit(shared_site, slug, joined, "bob")
    shown = shared_site.http.get(f"/submissions/{second['id']}.json").json()["checks"]
    failed = [check for check in shown if check["outcome"] == "failed"]

    assert (second["status"], [check["rule"] for check in failed]) == ("not_admitted", ["clean_series"])
    assert f"in submission {first['id']}" in failed[0]["reason"]


def test_a_run_that_does_not_say_its_clean_series_changes_no_interval(shared_site: Site) -> None:
    """Two estimators without a word of it beside one that says it: what it is sure of rests on the same units."""
    slug = make_benchmark(shared_site, STRESS, "silent")
    submit(shared_site, slug, archive_of(of(["RS"])))
    shared_site.work()
    before = own_numbers(shared_site, slug, ["RS"])
    silent = submit(shared_site, slug, archive_of(with_clean(of(["DFA", "DMA"]), None)), "bob")
    shared_site.work()

    notes = shared_site.http.get(f"/benchmarks/{slug}/{BOARD.replace('.csv', '.json')}").json()["notes"]
    assert "The 24 records are 4 series, as they are and changed: each series is one unit" in " ".join(notes)
    assert (silent["status"], len(table(shared_site, slug, BOARD))) == ("received", 3)
    assert own_numbers(shared_site, slug, ["RS"]) == before


def run(**clean: str) -> ScoreTable:
    """Return a run on the records a, b and c, which says of some of what they were made."""
    rows = example_rows({"GPH": [0.1, 0.2, 0.3]}, "mae")
    words = tuple(clean.values())
    codes = np.array([list(clean).index(record) if record in clean else -1 for record in "abc"])
    return replace(rows, recorded={CLEAN_SERIES: Coded(words, codes)})


def test_records_are_units_of_their_own_where_nothing_is_stressed() -> None:
    """Whoever states clean series in a benchmark of ground truth joins nobody's records."""
    joined = run(a="c", b="c")

    assert unit_names(joined, are_stressed=False) == ["a", "b", "c"]
    assert unit_names(joined, are_stressed=True) == ["c", "c", "c"]


def test_what_compares_with_a_clean_series_fails_with_it() -> None:
    """Whoever fails on the clean series says why each of its comparisons under stress is empty, and nothing else."""
    values = np.array([[1.0], [1.0], [0.0]])
    stressed = replace(run(a="c"), columns=("validity_rate",), values=values)
    part = SeriesPart(mode="stress_test")
    failures = declared_failures(stressed, held_records(stressed, ["GPH"]), part, list(CATALOG))
    failed = {metric: "".join(np.array(list("abc"))[of[0]]) for metric, of in failures.by_metric.items()}

    assert failed == {metric: "ac" if known.modes == STRESS_ONLY else "c" for metric, known in CATALOG.items()}


def test_a_failure_on_no_record_is_nobodys() -> None:
    """An estimate that is invalid and names no record says nothing of another record, or of another estimator."""
    rows = example_rows({"GPH": [1.0, 0.0, 0.0], "RS": [1.0, 1.0, 1.0]}, "validity_rate")
    assert rows.item is not None
    nameless = replace(rows, item=Coded(("a", "b"), np.where(rows.item.codes == 2, -1, rows.item.codes)))
    failures = declared_failures(nameless, held_records(nameless, ["GPH", "RS"]), SeriesPart(), ["mae"])

    assert failures.by_metric["mae"].tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("word", ["False", "false", "FALSE", "0", "0.0"])
def test_who_says_nothing_of_validity_has_not_failed(word: str) -> None:
    """Of three records one is flagged as invalid, one as valid, and of the last nothing is said."""
    rows = replace(run(), recorded={"valid": Coded((word, "true"), np.array([0, 1, -1]))})
    failures = declared_failures(rows, held_records(rows, ["GPH"]), SeriesPart(), ["mae"])

    assert failures.by_metric["mae"].tolist() == [[True, False, False]]


def test_a_validity_says_more_than_a_flag() -> None:
    """The flag counts where there is none."""
    valid = example_rows({"GPH": [1.0, 0.0, np.nan]}, "validity_rate")
    rows = replace(valid, recorded={"valid": Coded(("false", "true"), np.array([0, 1, 0]))})
    failures = declared_failures(rows, held_records(rows, ["GPH"]), SeriesPart(), ["mae"])

    assert failures.by_metric["mae"].tolist() == [[False, True, True]]


def test_reasons_are_those_of_the_metric_and_of_who_contends() -> None:
    """In either way of writing them; what is no reason of the metric, or says that it does not hold, is none."""
    metric, of_pairs = "preprocessing_sensitivity", "relative_degradation_ratio"
    said = [
        {metric: {"missing_alt": True}},
        {metric: {"missing_alt": False, "missing_reason": "near_zero_clean_error"}, of_pairs: "missing_"},
        {of_pairs: {"missing_reason": "near_zero_clean_error"}, metric: "missing_alt"},
    ]
    both = example_rows({"GPH": [1.0] * 3, "RS": [1.0] * 3}, "mae")
    about = {"metadata": Coded(tuple(map(json.dumps, said)), np.array([0, 0, 0, 0, 1, 2]))}
    listed = {"missing_ci": Coded((f"coverage {metric}", metric), np.array([0, 0, 0, -1, 1, 0]))}
    rows = replace(both, recorded={**about, **listed})
    failures = declared_failures(rows, held_records(rows, ["RS"]), SeriesPart(), [metric, of_pairs, "coverage"])

    assert {name: of.tolist() for name, of in failures.by_metric.items()} == {
        metric: [[True, False, False]],
        of_pairs: [[False, False, True]],
        "coverage": [[False, False, True]],
    }


def test_metadata_declare_the_failures_of_comparisons_and_no_missing_interval() -> None:
    """Which intervals are missing is recomputed from the estimates: what a run writes of them counts for nothing."""
    said = {
        "coverage@0.95": {"missing_reason": "missing_ci"},
        "preprocessing_sensitivity": {"missing_reason": "missing_alt"},
    }
    about = {"metadata": Coded((json.dumps(said),), np.array([0, -1, -1]))}
    listed = {"missing_ci": Coded(("coverage@0.95",), np.array([-1, 0, -1]))}
    rows = replace(run(), recorded={**about, **listed})
    failures = declared_failures(rows, held_records(rows, ["GPH"]), SeriesPart(), list(said))

    assert {metric: of[0].tolist() for metric, of in failures.by_metric.items()} == {
        "coverage@0.95": [False, True, False],
        "preprocessing_sensitivity": [True, False, False],
    }
