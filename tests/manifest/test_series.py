"""Benchmarks of series: metrics from the catalog, modes, and which name means which level."""

import pytest

from app.boards.methods.weighted_rank.records import identity_of, split_identity
from app.errors import ManifestRejected
from app.kinds.parse import manifest_json_schema, parse_manifest
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


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("[mae, mape]", "mape is not a metric of lrdbench"),
        ("[mae, coverage]", "coverage needs its nominal level, as in coverage@0.95"),
        ("[mae, coverage@1.5]", "coverage@1.5 needs its nominal level, as in coverage@0.95"),
        ("[mae, coverage@0.950]", "coverage@0.950 must be written coverage@0.95"),
        ("[mae, runtime@0.95]", "runtime@0.95 must be written runtime"),
    ],
)
def test_a_metric_that_the_catalog_cannot_read_is_refused(use: str, expected: str) -> None:
    """The message says how it must be written."""
    assert the_complaint(use) == expected


def test_every_unknown_metric_is_named() -> None:
    """All problems at once."""
    assert the_complaint("[one, mae, two]") == "one is not a metric of lrdbench; two is not a metric of lrdbench"


def test_an_unknown_catalog_is_refused() -> None:
    """There is one."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(b"{evidence: series_metrics, metrics: {catalog: other, use: [mae]}, leaderboards: []}")

    assert "metrics.catalog" in [problem.column for problem in refused.value.problems]


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


def test_a_stress_test_needs_operators() -> None:
    """Without contamination there is no stress."""
    expected = "contamination: a stress_test declares the operators that it applies"

    assert the_complaint(mode="stress_test") == expected
    assert the_complaint(mode="stress_test", rest="contamination: []") == expected


def test_operators_belong_to_stress_tests() -> None:
    """Another mode does not contaminate."""
    assert the_complaint(rest=STRESS) == "contamination: only a stress_test applies operators"


def test_operators_keep_their_parameters() -> None:
    """They say how hard the test is."""
    (operator,) = part_of(benchmark(mode="stress_test", rest=STRESS), SeriesPart).contamination or []

    assert (operator.name, operator.params) == ("level_shift", {"shift": [0.75]})


def test_a_benchmark_of_series_declares_its_mode() -> None:
    """What may be claimed depends on it."""
    assert (
        the_complaint(mode="null") == "mode: a benchmark of series declares ground_truth, stress_test or observational"
    )


def test_uncertainty_is_of_declared_metrics() -> None:
    """A name that no metric has is refused."""
    complaint = the_complaint(rest="uncertainty: {metrics: [rmse]}")

    assert complaint == "uncertainty.metrics: rmse is not among the declared metrics"


@pytest.mark.parametrize(
    ("use", "weights", "expected"),
    [
        ("[mae]", "{rmse: 1.0}", "leaderboards.board: rmse is not among the declared metrics"),
        ("[mae]", "{coverage: 1.0}", "leaderboards.board: coverage is not among the declared metrics"),
        (
            "[coverage@0.9]",
            "{coverage@0.9@0.5: 1.0}",
            "leaderboards.board: coverage@0.5 is not among the declared metrics",
        ),
    ],
)
def test_weights_are_of_declared_metrics(use: str, weights: str, expected: str) -> None:
    """Each level of a component must be declared."""
    assert the_complaint(use, weights=weights) == expected


@pytest.mark.parametrize("weights", ["{mae: 0.5}", "{mae: 1.5, validity_rate: -0.5}"])
def test_weights_are_shares(weights: str) -> None:
    """They sum to one, and each is from 0 to 1."""
    with pytest.raises(ManifestRejected) as refused:
        benchmark(weights=weights)

    assert "weights: " in refused.value.problems[0].message


def test_estimators_are_enrolled_once_and_may_be_variants() -> None:
    """A variant is an estimator of its own."""
    assert part_of(benchmark(rest="estimators: [RS, 'DFA::short']"), SeriesPart).estimators == ["RS", "DFA::short"]
    assert the_complaint(rest="estimators: [RS, RS]") == "estimators: RS is there twice"


@pytest.mark.parametrize("name", ["__all_estimators__", "A::b::c", "::b", "A::", "A:b"])
def test_a_made_up_name_is_not_enrolled(name: str) -> None:
    """Names between estimators are nobody's."""
    with pytest.raises(ManifestRejected):
        benchmark(rest=f"estimators: ['{name}']")


@pytest.mark.parametrize(
    "part", ["mode: ground_truth", "estimators: [RS]", "contamination: [{name: x}]", "uncertainty: {}"]
)
def test_parts_of_series_belong_to_series(part: str) -> None:
    """Another kind of evidence has no mode."""
    text = """
schema_version: 1
slug: other
title: Other
evidence: evaluation_summary
metrics: {MASE: {direction: minimize}}
tasks: {open: true}
leaderboards: [{name: mean, method: mean, metric: MASE}]
"""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(f"{text}{part}".encode())

    (problem,) = refused.value.problems
    assert (problem.column, problem.message) == (part.split(":")[0], "belongs to evidence of kind series_metrics")
    assert problem.row == 9


def test_the_schema_knows_both_forms_of_metrics() -> None:
    """Written out, or by name."""
    schema = manifest_json_schema()
    forms = schema["properties"]["metrics"]["anyOf"]

    assert len(forms) == 2
    assert schema["$defs"]["CatalogUse"]["required"] == ["catalog", "use"]


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
