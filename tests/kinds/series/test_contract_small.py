"""The contract's tables of a few rows that no given run has: a missing interval, a silent estimator, no stratum."""

from dataclasses import replace
from typing import Any

import numpy as np

from app.kinds.series.contract import Series, failed_records, failure_modes, metadata_table
from app.values.scores import NONE, Coded, ScoreTable

COVERAGE = "coverage@0.95"


def three_rows(**recorded: Coded) -> ScoreTable:
    """Return three records of RS: the second without a coverage, the third without anything."""
    at = np.arange(3)
    return ScoreTable(
        entrant=Coded(("RS",), np.zeros(3, dtype=np.int64)),
        task=Coded(("a",), np.zeros(3, dtype=np.int64)),
        columns=("mae", COVERAGE),
        values=np.array([[0.1, 1.0], [0.2, np.nan], [np.nan, np.nan]]),
        leaked=np.zeros(3, dtype=np.bool_),
        file=np.zeros(3, dtype=np.int64),
        row=at,
        item=Coded(("r0", "r1", "r2"), at),
        reason=Coded(("exception:ValueError",), np.array([NONE, NONE, 0])),
        recorded={"metrics": Coded((f"mae {COVERAGE}",), np.zeros(3, dtype=np.int64)), **recorded},
    )


def test_a_record_without_an_interval_is_in_lrdbenchs_mode_of_it() -> None:
    """It has an estimate, so it is no invalid fit; the modes are spelled as lrdbench spells them."""
    lacking = Coded((COVERAGE,), np.array([NONE, 0, NONE]))
    series = Series.of(three_rows(missing_ci=lacking), ["mae", COVERAGE])

    assert [(row["record_id"], row["missing"], row["reason"]) for row in failed_records(series).records()] == [
        ("r1", COVERAGE, "no interval (missing_ci)"),
        ("r2", f"mae {COVERAGE}", "exception:ValueError"),
    ]
    assert [row["failure_mode"] for row in failure_modes(series).records()] == [
        "estimator_exception",
        "missing_uncertainty",
    ]


def test_rows_without_a_stratum_are_of_one_without_a_name() -> None:
    """Their values are listed as any others, and their JSON says that there is no name."""
    nowhere = replace(three_rows(), task=Coded((), np.full(3, NONE)))
    series = Series(nowhere, [], [], {"": '{"stratum": ""}'}, [])
    rows = list(series.series_rows(["mae"]))

    assert [(row.record, row.value, row.stratum) for row in rows] == [
        ("r0", 0.1, '{"stratum": ""}'),
        ("r1", 0.2, '{"stratum": ""}'),
        ("r2", None, '{"stratum": ""}'),
    ]
    assert [row.metadata["stratum_key"] for row in rows] == [[["stratum", ""]]] * 3


def test_an_estimator_that_states_nothing_has_empty_lists() -> None:
    """Beside one that states its assumptions and parameters, whose keys are in order; both cells are JSON."""
    about: dict[str, Any] = {"assumptions": ["gaussian"], "parameters": {"q": 2, "a": 1}}
    table = metadata_table({"RS": {}, "DFA": about})
    rows = list(table.records())

    assert (table.name, table.title) == ("tables/estimator_metadata", "Estimators")
    assert [(row["estimator_name"], row["assumptions_json"], row["params_json"]) for row in rows] == [
        ("DFA", '["gaussian"]', '{"a": 1, "q": 2}'),
        ("RS", "[]", "{}"),
    ]
