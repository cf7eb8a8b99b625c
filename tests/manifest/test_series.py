"""Benchmarks of series: metrics from the catalog, modes, and which name means which level."""

import pytest

from app.boards.methods.weighted_rank.records import identity_of, split_identity
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.kinds.series.manifest_part import CATALOG, SeriesPart
from app.manifest.model import part_of
from tests.cases.series_runs import benchmark

STRESS = "contamination: [{name: level_shift, params: {shift: [0.75]}}]"


def the_complaint(use: str = "[mae]", mode: str = "ground_truth", rest: str = "", weights: str = "{mae: 1.0}") -> str:
    """Return what is wrong with a manifest."""
    with pytest.raises(ManifestRejected) as refused:
        benchmark(use, mode, rest, weights)
    (problem,) = refused.value.problems
    is_written_out = problem.column in (None, "metrics", "metrics.use", "metrics.catalog")
    return problem.message if is_written_out else f"{problem.column}: {problem.message}"


def test_metrics_of_the_catalog_are_written_out() -> None:
    """A name is enough: the catalog knows direction, range and unit."""
    metrics = benchmark("[mae, validity_rate, coverage@0.95, bias, runtime]").metrics

    assert list(metrics) == ["mae", "validity_rate", "coverage@0.95", "bias", "runtime"]
    assert (metrics["mae"].direction, metrics["mae"].min, metrics["mae"].max) == ("minimize", 0.0, None)
    assert (metrics["coverage@0.95"].direction, metrics["coverage@0.95"].max) == ("maximize", 1.0)
    assert metrics["coverage@0.95"].title == "Coverage, level 0.95"
    assert (metrics["bias"].min, metrics["runtime"].unit) == (None, "s")


def test_a_coverage_error_brings_its_coverage() -> None:
    """It is computed from it."""
    assert list(benchmark("[mae, coverage_error@0.9]").metrics) == ["mae", "coverage@0.9", "coverage_error@0.9"]


def test_the_example_of_the_documentation_is_taken() -> None:
    """Weights and uncertainty may leave out a level that there is only one of."""
    manifest = benchmark(
        "[mae, rmse, coverage@0.95, coverage_error@0.95, validity_rate, runtime]",
        rest="uncertainty: {n_resamples: 100, levels: [0.95], rng_seed: 7, metrics: [mae, coverage], stream: lrdbench}",
        weights="{mae: 0.45, coverage_error: 0.2, validity_rate: 0.25, runtime: 0.1}",
    )
    (board,) = manifest.leaderboards
    uncertainty = part_of(manifest, SeriesPart).uncertainty

    assert board.metric_names() == ("mae", "coverage_error@0.95", "validity_rate", "runtime")
    assert uncertainty is not None
    assert uncertainty.metrics == ["mae", "coverage@0.95"]


def test_metrics_may_be_declared_without_the_catalog() -> None:
    """A benchmark may measure what lrdbench does not know."""
    manifest = parse_manifest(
        b"""
schema_version: 1
slug: own
title: Own
evidence: series_metrics
mode: observational
metrics: {smoothness: {direction: maximize, min: 0}}
tasks: {open: true}
leaderboards: [{name: board, method: weighted_rank, weights: {smoothness: 1.0}}]
"""
    )

    assert list(manifest.metrics) == ["smoothness"]


UNDECLARED = "is not among the declared metrics"
NO_OPERATORS = "contamination: a stress_test declares the operators that it applies"
COMPLAINTS: dict[str, dict[str, str]] = {
    "mape is not a metric of lrdbench": {"use": "[mae, mape]"},
    "one is not a metric of lrdbench; two is not a metric of lrdbench": {"use": "[one, mae, two]"},
    "coverage needs its nominal level, as in coverage@0.95": {"use": "[mae, coverage]"},
    "coverage@1.5 needs its nominal level, as in coverage@0.95": {"use": "[mae, coverage@1.5]"},
    "coverage@0.950 must be written coverage@0.95": {"use": "[mae, coverage@0.950]"},
    "runtime@0.95 must be written runtime": {"use": "[mae, runtime@0.95]"},
    NO_OPERATORS: {"mode": "stress_test"},
    f"{NO_OPERATORS}.": {"mode": "stress_test", "rest": "contamination: []"},
    "contamination: only a stress_test applies operators": {"rest": STRESS},
    "mode: a benchmark of series declares ground_truth, stress_test or observational": {"mode": "null"},
    f"uncertainty.metrics: rmse {UNDECLARED}": {"rest": "uncertainty: {metrics: [rmse]}"},
    f"leaderboards.board: rmse {UNDECLARED}": {"weights": "{rmse: 1.0}"},
    f"leaderboards.board: coverage {UNDECLARED}": {"weights": "{coverage: 1.0}"},
    f"leaderboards.board: coverage@0.5 {UNDECLARED}": {"use": "[coverage@0.9]", "weights": "{coverage@0.9@0.5: 1.0}"},
    "estimators: RS is there twice": {"rest": "estimators: [RS, RS]"},
}


@pytest.mark.parametrize("expected", COMPLAINTS)
def test_what_cannot_be_is_refused_in_its_words(expected: str) -> None:
    """Metrics that the catalog cannot read, with how they are written; modes, operators, weights and estimators."""
    assert the_complaint(**COMPLAINTS[expected]) == expected.removesuffix(".")


@pytest.mark.parametrize(
    ("mode", "metric"),
    [(mode, name) for name, known in CATALOG.items() for mode in ("ground_truth", "stress_test", "observational")
     if mode not in known.modes and not known.has_level],
)  # fmt: skip
def test_a_metric_of_another_mode_is_refused(mode: str, metric: str) -> None:
    """An observed series has no truth, and only a stress test has a clean and a contaminated record."""
    rest = STRESS if mode == "stress_test" else ""
    complaint = the_complaint(f"[runtime, {metric}]", mode, rest, "{runtime: 1.0}")

    assert complaint.startswith(f"metrics.{metric}: ")
    assert f"mode {mode} does not have" in complaint


def test_operators_keep_their_parameters() -> None:
    """They say how hard the test is."""
    (operator,) = part_of(benchmark(mode="stress_test", rest=STRESS), SeriesPart).contamination or []

    assert (operator.name, operator.params) == ("level_shift", {"shift": [0.75]})


@pytest.mark.parametrize("weights", ["{mae: 0.5}", "{mae: 1.5, validity_rate: -0.5}"])
def test_weights_are_shares(weights: str) -> None:
    """They sum to one, and each is from 0 to 1."""
    with pytest.raises(ManifestRejected) as refused:
        benchmark(weights=weights)

    assert "weights: " in refused.value.problems[0].message


def test_estimators_are_enrolled_once_and_may_be_variants() -> None:
    """A variant is an estimator of its own."""
    assert part_of(benchmark(rest="estimators: [RS, 'DFA::short']"), SeriesPart).estimators == ["RS", "DFA::short"]


@pytest.mark.parametrize("name", ["__all_estimators__", "A::b::c", "::b", "A::", "A:b"])
def test_a_made_up_name_is_not_enrolled(name: str) -> None:
    """Names between estimators are nobody's."""
    with pytest.raises(ManifestRejected):
        benchmark(rest=f"estimators: ['{name}']")


@pytest.mark.parametrize("identity", ["mae", "coverage@0.95", "coverage@1e-05", "precision@recall=0.8"])
def test_a_level_is_part_of_the_name(identity: str) -> None:
    """Splitting and joining gives the same."""
    assert identity_of(*split_identity(identity)) == identity


def test_other_kinds_keep_their_metrics() -> None:
    """A mapping whose metrics are called catalog and use is not the short form."""
    actual = parse_manifest(
        b"""
schema_version: 1
slug: other
title: Other
evidence: evaluation_summary
metrics: {catalog: {direction: minimize}, use: {direction: maximize}}
tasks: {open: true}
leaderboards: [{name: mean, method: mean, metric: use}]
"""
    )

    assert list(actual.metrics) == ["catalog", "use"]


@pytest.mark.parametrize("level", ["0", "1", "95"])
def test_a_level_is_inside_zero_and_one(level: str) -> None:
    """A level of 95 is refused by the manifest, before any interval is drawn at it."""
    with pytest.raises(ManifestRejected) as refused:
        benchmark(rest=f"uncertainty: {{levels: [{level}]}}")

    assert any("levels" in (problem.column or "") for problem in refused.value.problems)
