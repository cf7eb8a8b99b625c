"""Runs of lrdbench as evidence: the given ones as they are, and small ones with one thing wrong in each."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.errors import Problem
from app.kinds.reader import Evidence
from app.kinds.series.rows import stratum_of
from app.names import clip_for_message, is_name
from app.values.facts import RunFacts
from tests.cases.evidence_tables import problems, read
from tests.cases.series_runs import (
    GIVEN,
    LONG,
    SHORT,
    Row,
    aggregate,
    benchmark,
    estimates,
    gzipped,
    member,
    metrics,
    read_given,
    series,
    table,
    uncertain,
    zipped,
)

TWO = (series("a", "RS", "mae", 0.1, SHORT), series("b", "RS", "mae", 0.3, LONG))


def the_problem_of(folder: Path, *rows: Row, mode: str = "ground_truth", use: str = "[mae]", rest: str = "") -> Problem:
    """Return the one thing that is wrong with a raw/metrics.csv."""
    weights = "{runtime: 1.0}" if mode == "observational" else "{mae: 1.0}"
    manifest = benchmark(use, mode, rest, weights)
    (problem,) = problems(folder, {"metrics.csv": metrics(*rows)}, manifest)
    return problem


def test_aggregates_alone_are_no_evidence(tmp_path: Path) -> None:
    """What is not there is named: of metrics of classes alone the estimates would do."""
    problem = the_problem_of(tmp_path, aggregate("RS", "mae", 0.1, SHORT))

    assert (problem.column, problem.message) == ("scope", "raw/metrics.csv contains no per-series rows")


@dataclass(frozen=True)
class TakenRun:
    """A given run, and what was read of it."""

    run: str
    evidence: Evidence


@pytest.fixture(scope="module", params=GIVEN)
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TakenRun:
    """Return each run, read once for all that look at it."""
    return TakenRun(request.param, read_given(request.param, tmp_path_factory.mktemp("given")))


@pytest.mark.heavy
def test_a_given_run_is_read_whole(taken: TakenRun) -> None:
    """Every per-series row is a cell of the table, with its value, its stratum and its metadata."""
    scores = taken.evidence.scores
    given = [row for row in member(taken.run, "raw/metrics.csv") if row["scope"] == "per_series"]
    recorded = {name: column.to_list() for name, column in scores.recorded.items()}
    actual = {}
    for at, (entrant, item) in enumerate(
        zip(scores.entrant.to_list(), (scores.item or scores.task).to_list(), strict=True)
    ):
        metadata = json.loads(recorded["metadata"][at] or "{}")
        for metric in (recorded["metrics"][at] or "").split():
            value = float(scores.value(metric)[at])
            actual[entrant, item, metric] = (
                None if math.isnan(value) else value,
                recorded["stratum_json"][at],
                metadata.get(metric, {}),
            )
    wanted = {}
    for row in given:
        metadata = json.loads(row["metadata_json"])
        level = metadata.pop("nominal", None)
        metadata.pop("stratum_key")
        metric = row["metric_name"] if level is None else f"{row['metric_name']}@{level}"
        number = float(row["value"]) if row["value"] else None
        wanted[row["estimator_name"], row["record_id"], metric] = (number, row["stratum_json"], metadata)

    assert actual == wanted


def test_strata_of_a_given_run_have_names(taken: TakenRun) -> None:
    """A name is safe, and no two strata share one."""
    scores = taken.evidence.scores

    assert all(is_name(name) for name in scores.task.words)
    assert len(scores.task.words) == len(scores.recorded["stratum_json"].words)


def test_a_given_run_keeps_its_estimates(taken: TakenRun) -> None:
    """Validity, points, intervals and warnings come out as they were written."""
    evidence = taken.evidence
    scores = evidence.scores
    names = {"point": "point_estimate", "ci_high": "ci_high", "valid": "valid", "warnings": "warnings"}
    pairs = list(zip((scores.item or scores.task).to_list(), scores.entrant.to_list(), strict=True))
    kept = {theirs: dict(zip(pairs, scores.recorded[ours].to_list(), strict=True)) for theirs, ours in names.items()}
    given = member(taken.run, "raw/estimates.csv")

    assert all(
        (kept[name][row["record_id"], row["estimator_name"]] or "") == row[name] for row in given for name in names
    )
    assert evidence.warnings == ()


def test_a_given_run_describes_its_estimators(taken: TakenRun) -> None:
    """Family, estimand and parameters are kept by estimator, variants included, made-up names left out."""
    described = taken.evidence.facts.described
    given = {row["estimator_name"]: row for row in member(taken.run, "tables/estimator_metadata.csv")}

    assert set(described) == set(given)
    assert all(facts["family"] == given[name]["family"] for name, facts in described.items())
    assert all(facts["parameters"] == json.loads(given[name]["params_json"]) for name, facts in described.items())


def test_a_given_run_claims_each_value_once(taken: TakenRun) -> None:
    """raw/metrics.csv and the tables repeat each other: a claim is kept once."""
    claimed = taken.evidence.facts.claimed
    tables = [claim.table for claim in claimed]
    boards = member(taken.run, "tables/leaderboard.csv")

    assert tables.count("per_stratum_metrics") == len(member(taken.run, "tables/per_stratum_metrics.csv"))
    assert tables.count("benchmark_uncertainty") == len(member(taken.run, "tables/benchmark_uncertainty.csv"))
    assert tables.count("leaderboard") == sum(len(row) - 1 for row in boards)


@pytest.mark.heavy
def test_columns_are_metrics_in_order_of_appearance_and_missing_intervals_are_recorded(tmp_path: Path) -> None:
    """A metric's own level is part of its name; the two errors of a paired ratio stand behind. An estimator without
    intervals has null rows, each of which says that its interval is missing; what is kept of a row is bounded.
    """
    scores = read_given("rich_stress", tmp_path).scores
    variance = scores.entrant.to_list().index("Variance")

    assert scores.columns[:6] == ("mae", "rmse", "validity_rate", "runtime", "coverage@0.95", "estimate_drift")
    assert scores.columns[-2:] == ("stressed_absolute_error", "clean_absolute_error")
    assert math.isnan(scores.value("coverage@0.95")[variance])
    assert scores.recorded["missing_ci"].at(variance) == "coverage@0.95"
    assert max(len(word) for word in scores.recorded["metadata"].words) < 5000


def test_what_is_between_estimators_is_a_diagnostic(tmp_path: Path) -> None:
    """Disagreements and sensitivities stand under made-up names, and are marked so."""
    scores = read_given("public_small_sensitivity_disagreement", tmp_path).scores
    pairs = zip(scores.entrant.to_list(), scores.recorded["role"].to_list(), strict=True)
    estimators = {name for name, role in pairs if role == "estimator"}

    assert len(estimators) == 6
    assert all("::" in (name or "") and "__vs__" not in (name or "") for name in estimators)


def test_a_small_run_is_one_row_for_each_estimator_and_record(tmp_path: Path) -> None:
    """The row says which record it is, where it stood first, and why it failed."""
    rows = (*TWO, series("a", "RS", "validity_rate", 1.0, SHORT), series("b", "RS", "validity_rate", 0.0, LONG))
    files = {
        "metrics.csv": metrics(*rows),
        "estimates.csv": estimates(("a", "RS", "True", "", 0.4), ("b", "RS", "False", "too short", "")),
    }
    scores = read(tmp_path, files, benchmark()).scores

    assert scores.item is not None
    assert (scores.item.to_list(), scores.row.tolist()) == (["a", "b"], [2, 3])
    assert scores.values.tolist() == [[0.1, 1.0], [0.3, 0.0]]
    assert scores.reason is not None
    assert scores.reason.to_list() == [None, "too short"]
    assert scores.recorded["point_estimate"].to_list() == ["0.4", None]


def test_an_invalid_estimate_without_a_reason_says_so(tmp_path: Path) -> None:
    """A failure always has a reason."""
    files = {
        "metrics.csv": metrics(*TWO),
        "estimates.csv": estimates(("a", "RS", "False", "", ""), ("b", "RS", 1, "", 1)),
    }
    reason = read(tmp_path, files, benchmark()).scores.reason

    assert reason is not None
    assert reason.to_list() == ["the estimate is invalid; the run gives no reason", None]


def test_a_run_may_come_as_files_gzipped_or_zipped(tmp_path: Path) -> None:
    """The three ways of sending it are the same evidence."""
    text = metrics(*TWO)
    ways: list[dict[str, bytes | str]] = [
        {"metrics.csv": text},
        {"metrics.csv.gz": gzipped(text)},
        {"run.zip": zipped({"id/raw/metrics.csv": text, "id/html/report.html": "<p>", "id/latex/t.tex": "%"})},
    ]
    read_ways = [read(tmp_path, files, benchmark()).scores.values.tolist() for files in ways]

    assert read_ways[1:] == read_ways[:1] * 2


def test_several_runs_join_by_their_records(tmp_path: Path) -> None:
    """Two folders with two estimators of the same record are two rows of it."""
    other = metrics(series("a", "DFA", "mae", 0.2, SHORT))
    files = {"one.zip": zipped({"raw/metrics.csv": metrics(*TWO)}), "two.zip": zipped({"raw/metrics.csv": other})}
    scores = read(tmp_path, files, benchmark()).scores

    assert scores.item is not None
    assert list(zip(scores.entrant.to_list(), scores.item.to_list(), strict=True)) == [
        ("RS", "a"),
        ("RS", "b"),
        ("DFA", "a"),
    ]


def test_a_stratum_in_another_spelling_is_the_same(tmp_path: Path) -> None:
    """Neither the order of keys nor spaces make a stratum."""
    row = list(series("b", "RS", "mae", 0.3, SHORT))
    row[5] = '{"n":128,"H":0.5}'
    scores = read(tmp_path, {"metrics.csv": metrics(TWO[0], row)}, benchmark()).scores

    assert scores.task.words == (stratum_of(SHORT).name,)


def test_metrics_that_are_not_used_are_ignored_with_one_warning(tmp_path: Path) -> None:
    """The catalog knows them; the benchmark does not use them."""
    rows = (*TWO, series("a", "RS", "bias", 0.1, SHORT), series("a", "RS", "runtime", 0.1, SHORT))
    evidence = read(tmp_path, {"metrics.csv": metrics(*rows)}, benchmark("[mae]"))
    messages = [warning.message for warning in evidence.warnings]

    assert evidence.scores.columns == ("mae",)
    assert messages[0] == "metrics that this benchmark does not use were ignored: bias, runtime"


def test_validity_that_contradicts_itself_is_a_warning(tmp_path: Path) -> None:
    """An estimate is valid in one file and not in the other: the first is shown, with how many there are."""
    rows = (*TWO, series("a", "RS", "validity_rate", 0.0, SHORT), series("b", "RS", "validity_rate", 0.0, LONG))
    files = {
        "metrics.csv": metrics(*rows),
        "estimates.csv": estimates(("a", "RS", "True", "", ""), ("b", "RS", "True", "", "")),
    }
    (warning,) = read(tmp_path, files, benchmark()).warnings
    words = "2 estimates are valid here and not by validity_rate, or the reverse; the rate counts"

    assert warning == Problem(words, "estimates.csv", 2, "valid", "True")


def test_rows_that_are_not_together_are_a_warning_for_the_shared_stream(tmp_path: Path) -> None:
    """lrdbench draws in the order of its rows, which is kept only for rows of a pair that stand together."""
    rows = (*TWO, series("a", "RS", "validity_rate", 1.0, SHORT))
    manifest = benchmark(rest="uncertainty: {stream: lrdbench}")
    (warning, _) = read(tmp_path, {"metrics.csv": metrics(*rows)}, manifest).warnings

    assert warning.message.startswith("rows of one estimator and record are not consecutive")


def test_claims_survive_storage(tmp_path: Path) -> None:
    """What is stored as JSON is what was read."""
    rows = (
        *TWO,
        aggregate("RS", "mae", 0.1, SHORT),
        uncertain(
            "RS", "mae", 0.1, SHORT, nominal=0.9, ci_low=0.0, ci_high=0.2, aggregation="bootstrap_within_stratum"
        ),
    )
    facts = read(tmp_path, {"metrics.csv": metrics(*rows)}, benchmark()).facts
    stored = json.loads(json.dumps(facts.as_dict()))

    assert RunFacts.from_dict(stored) == facts
    assert (facts.claimed[1].low, facts.claimed[1].high, facts.claimed[1].nominal) == (0.0, 0.2, 0.9)


def test_a_claim_in_a_table_counts_by_its_cells(tmp_path: Path) -> None:
    """A bound that was changed in the table is the claim, whatever the metadata beside it say."""
    header = ("estimator_name", "metric_name", "value", "nominal", "ci_low", "ci_high", "stratum_json", "metadata_json")
    cells = ("RS", "mae", 0.1, 0.95, 0.05, 9.0, json.dumps(SHORT), '{"ci_high": 0.2, "nominal": 0.95}')
    files = {"metrics.csv": metrics(*TWO), "benchmark_uncertainty.csv": table(header, [cells])}
    (claim,) = read(tmp_path, files, benchmark()).facts.claimed

    assert (claim.table, claim.low, claim.high) == ("benchmark_uncertainty", 0.05, 9.0)


def test_leaderboards_are_claims_by_board(tmp_path: Path) -> None:
    """An estimator's second row is of the second board of the run's manifest."""
    manifest = "{mode: ground_truth, leaderboards: [{name: first_board}, {name: second}]}"
    boards = table(("estimator_name", "rank", "score"), [("RS", 1, 1.5), ("RS", 2, 2.5)])
    files = {"metrics.csv": metrics(*TWO), "leaderboard.csv": boards, "benchmark_manifest.yaml": manifest}
    claimed = read(tmp_path, files, benchmark()).facts.claimed

    assert [(claim.board, claim.metric, claim.value) for claim in claimed] == [
        ("first-board", "rank", 1.0),
        ("first-board", "score", 1.5),
        ("second", "rank", 2.0),
        ("second", "score", 2.5),
    ]


@pytest.mark.parametrize(
    ("stratum", "expected"),
    [
        ("[1]", "expected a JSON object, as lrdbench writes it"),
        ("{", "not JSON: "),
        ('{"H": NaN}', "NaN is not a number that JSON has"),
        ('{"H": 1e999}', "1e999 is too large for a 64-bit float"),
        ('{"H": 1, "H": 2}', "an object has the key H twice"),
        ('{"H": [1]}', "H: a stratum's values are short text, numbers, true, false or null"),
        ('{"H": ' + "[" * 15_000, "the JSON is nested more than 50 deep"),
        ('{"H": ' + '["]",' * 2000 + "1" + "]" * 2000 + "}", "the JSON is nested more than 50 deep"),
        ('{"H": ' + "9" * 40 + "}", "a whole number has at most 30 digits"),
        ('{"H": "\\u0000"}', "a text in the JSON holds a zero character"),
        ('{"H": "' + "x" * 20_000 + '"}', "the JSON has more than 20,000 characters"),
        ('{"level": "balanced_global"}', "the balanced global level is an aggregate"),
    ],
)
def test_a_stratum_that_is_none_is_refused(stratum: str, expected: str, tmp_path: Path) -> None:
    """The message says what is wrong, with the row and the cell."""
    row = list(TWO[1])
    row[5] = stratum
    problem = the_problem_of(tmp_path, TWO[0], tuple(row))  # type: ignore[arg-type]

    assert problem.message.startswith(expected)
    assert (problem.file, problem.row, problem.column) == ("metrics.csv", 3, "stratum_json")
    assert problem.value is not None
    assert problem.value.startswith(stratum[:20])


COVERED = [series("a", "RS", "coverage", 1.0, SHORT, nominal=level) for level in (0.9, 0.95)]
BOARD_OF_A_STRANGER = table(("estimator_name", "rank", "score"), [("Mine", 1, 1.0)])
TWICE = (("a", "RS", "True", "", 1), ("a", "RS", "False", "", 2))
WRONG: dict[str, tuple[tuple[Row, ...], dict[str, str], tuple[str, int | None, str | None, str | None]]] = {
    "a row again, with both places": (
        (TWO[0], *COVERED, COVERED[0]), {"use": "[mae, coverage@0.9, coverage@0.95]"},
        ("RS has coverage@0.9 on this record already: row 3 of metrics.csv", 5, "record_id", "a")),
    "a record in two strata": (
        (TWO[0], series("a", "DFA", "mae", 0.2, LONG)), {},
        (f"record a is in another stratum already: row 2 of metrics.csv, {stratum_of(SHORT).name}", 3, "stratum_json",
         stratum_of(LONG).name)),
    "an unknown metric, once for all rows": (
        (*TWO, series("a", "RS", "mape", 1, SHORT), series("b", "RS", "mape", 1, LONG)), {},
        ("unknown metric: neither the benchmark nor lrdbench's catalog has it (2 rows)", 4, "metric_name", "mape")),
    "an estimator that is not enrolled": (
        (*TWO, series("a", "Mine", "mae", 1, SHORT)), {"rest": "estimators: [RS, DFA]"},
        ("unknown estimator; the benchmark enrols RS, DFA", 4, "estimator_name", "Mine")),
    "an error of an observed series": (
        (series("a", "RS", "runtime", 1.0, SHORT), TWO[0]), {"mode": "observational", "use": "[runtime]"},
        ("mae needs a known truth, which an observational benchmark does not have", 3, "metric_name", "mae")),
    "a coverage error of one series": (
        (*TWO, series("a", "RS", "coverage_error", 0.05, SHORT, nominal=0.95)), {},
        ("coverage_error is computed from the coverage of a stratum", 4, None, None)),
    "a negative error": (
        (TWO[0], series("b", "RS", "mae", -0.5, LONG)), {}, ("mae lies between 0 and inf", 3, "value", "-0.5")),
    **{f"a value of {value}": ((TWO[0], series("b", "RS", "mae", value, LONG)), {}, ("", 3, "value", value))
       for value in ("nan", "inf", "-inf", "1e999", "x", "0,5")},
    "an aggregate without rows": (
        (*TWO, aggregate("RS", "mae", 0.1, {"H": 0.7, "n": 128})), {},
        ("no per-series row backs this value of RS", 4, "metric_name", "mae")),
    "a paired difference with an estimator that has no rows": (
        (*TWO, uncertain("DFA__minus__RS", "mae", 0.1, SHORT, nominal=0.95, ci_low=0.0, ci_high=0.2)), {},
        ("no per-series row backs this value of DFA__minus__RS", 4, None, None)),
    "aggregates alone": (
        (aggregate("RS", "mae", 0.1, SHORT),), {}, ("raw/metrics.csv contains no per-series rows", None, None, None)),
    "a paired ratio without its errors": (
        (*TWO, series("a", "RS", "paired_mae_ratio", None, SHORT, aggregation_components=True,
                      clean_absolute_error=0.1)),
        {"mode": "stress_test", "use": "[mae, paired_mae_ratio]", "rest": "contamination: [{name: shift}]"},
        ("stressed_absolute_error must be a number that is not negative", 4, "metadata_json", None)),
    **{f"two of what is said of a pair, {key}": (
        (series("a", "RS", "mae", 0.1, SHORT, **{key: "one"}), series("a", "RS", "runtime", 1, SHORT, **{key: "two"})),
        {"mode": "stress_test", "use": "[mae, runtime]", "rest": "contamination: [{name: one}, {name: two}]"},
        (f"{key}: another row of this estimator and record says one", 3, "metadata_json", "two"))
       for key in ("clean_record_id", "contamination_operator")},
    "names that differ in case": (
        (*TWO, series("a", "rs", "mae", 0.1, SHORT)), {},
        ("rs and RS differ only in case or in the form of their letters; write the name one way", None, None, None)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_rows_that_cannot_be_are_refused_where_they_stand(name: str, tmp_path: Path) -> None:
    """With row, column and value, and in words."""
    rows, how, (message, row, column, value) = WRONG[name]
    problem = the_problem_of(tmp_path, *rows, **how)

    assert message in problem.message
    assert (problem.row if row else row, problem.column if column else column) == (row, column)
    assert value is None or problem.value == value


FILES: dict[str, tuple[dict[str, bytes | str], list[tuple[str, int | None, str | None, str]]]] = {
    "a board of a stranger": (
        {"metrics.csv": metrics(*TWO), "leaderboard.csv": BOARD_OF_A_STRANGER},
        [("leaderboard.csv", 2, "estimator_name", "no per-series row is of this estimator")]),
    "no metrics": (
        {"run.zip": zipped({"id/raw/estimates.csv": estimates(("a", "RS", "True", "", ""))})},
        [("run.zip/id", None, "files", "raw/metrics.csv is missing")]),
    "another mode": (
        {"metrics.csv": metrics(*TWO), "benchmark_manifest.yaml": "mode: stress_test"},
        [("benchmark_manifest.yaml", None, "mode",
          "the run was made in another mode; this benchmark's is ground_truth")]),
    "a gzip that is none": ({"metrics.csv.gz": metrics(*TWO)}, [("metrics.csv.gz", None, None, "cannot be unpacked")]),
    "missing columns": (
        {"metrics.csv": table(("scope", "record_id", "estimator_name", "metric_name", "value"), [TWO[0][:5]])},
        [("metrics.csv", None, "stratum_json", ""), ("metrics.csv", None, "metadata_json", "")]),
    "an estimate twice": (
        {"metrics.csv": metrics(*TWO), "estimates.csv": estimates(*TWICE)},
        [("estimates.csv", 3, "record_id", "RS has an estimate of this record already: row 2 of estimates.csv")]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_run_are_refused(name: str, tmp_path: Path) -> None:
    """Each with its file."""
    files, said = FILES[name]
    actual = problems(tmp_path, files, benchmark())

    assert [(p.file, p.column) for p in actual] == [(file, column) for file, _, column, _ in said]
    for problem, (_, row, _, words) in zip(actual, said, strict=True):
        assert row is None or problem.row == row
        assert words in problem.message


@pytest.mark.parametrize(
    ("position", "cell", "column"),
    [
        (0, "series", "scope"),
        (0, "", "scope"),
        (1, "", "record_id"),
        (1, "a\u200b", "record_id"),
        (2, "", "estimator_name"),
        (2, "a\u200bb", "estimator_name"),
        (2, "__all__", "estimator_name"),
        (3, "", "metric_name"),
        (3, "MAE", "metric_name"),
        (6, "[]", "metadata_json"),
        (6, '{"nominal": 2}', "metadata_json"),
        (6, '{"nominal": "0.95"}', "metadata_json"),
    ],
)
def test_a_wrong_cell_is_refused_where_it_stands(position: int, cell: str, column: str, tmp_path: Path) -> None:
    """Names are checked before anything is compared with them."""
    row = list(TWO[1])
    row[position] = cell
    problem = the_problem_of(tmp_path, TWO[0], tuple(row))  # type: ignore[arg-type]

    assert (problem.file, problem.row, problem.column) == ("metrics.csv", 3, column)
    assert problem.value == (clip_for_message(cell) or None)


@pytest.mark.parametrize(
    ("header", "cells", "column"),
    [
        (("record_id", "estimator_name", "valid"), ("a", "RS", "perhaps"), "valid"),
        (("record_id", "estimator_name", "valid", "point"), ("a", "RS", "True", "inf"), "point"),
        (
            ("record_id", "estimator_name", "valid", "bootstrap_cis_json"),
            ("a", "RS", "True", "[NaN]"),
            "bootstrap_cis_json",
        ),
        (("record_id", "estimator_name", "valid", "warnings"), ("a", "RS", "True", "x" * 2001), "warnings"),
        (("record_id", "estimator_name", "valid"), ("", "RS", "True"), "record_id"),
    ],
)
def test_a_wrong_estimate_is_refused(
    header: tuple[str, ...], cells: tuple[str, ...], column: str, tmp_path: Path
) -> None:
    """Estimates are shown and exported, so their cells are checked too."""
    files = {"metrics.csv": metrics(*TWO), "estimates.csv": table(header, [cells])}
    (problem,) = problems(tmp_path, files, benchmark())

    assert (problem.file, problem.row, problem.column) == ("estimates.csv", 2, column)
