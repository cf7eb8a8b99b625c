"""Quantiles of a peak force, from the published bundles as they are."""

from typing import Any

import numpy as np
import pytest

from app.boards.measured import EntrantEvidence
from app.boards.methods.estimate import EstimateBoard
from app.errors import ManifestRejected
from app.kinds.episodes.measure import measure_episodes
from app.kinds.episodes.tables import QUANTILES
from app.kinds.parse import parse_manifest
from app.stats.arrays import FloatArray
from tests.cases.chamber import EXAMPLES
from tests.cases.evidence_tables import read

COCARRY = EXAMPLES / "chamber-cocarry"
MANIFEST = (COCARRY / "manifest.yaml").read_bytes()


@pytest.fixture(scope="module")
def forces_and_rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[FloatArray, dict[str, dict[str, Any]]]:
    """Return the forces of the published B-STAT bundle, and its quantiles."""
    declared = parse_manifest(MANIFEST)
    files = {"B-STAT.zip": (COCARRY / "results" / "B-STAT.zip").read_bytes()}
    scores = read(tmp_path_factory.mktemp("run"), files, declared, "B-STAT").scores
    spec = declared.leaderboard("success")
    assert isinstance(spec, EstimateBoard)
    rows = measure_episodes(declared, spec, EntrantEvidence("B-STAT", scores)).rows["quantiles"]
    names = [column.name for column in QUANTILES[1:]]
    by_quantile: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    return scores.value("force_peak"), {row["quantile"]: row for row in by_quantile}


@pytest.mark.heavy
def test_quantiles_are_those_of_the_episodes(forces_and_rows: tuple[FloatArray, dict[str, dict[str, Any]]]) -> None:
    """p50, p90, p99 and the maximum of 1,750 forces."""
    forces, rows = forces_and_rows

    assert {name: row["value"] for name, row in rows.items()} == {
        "p50": float(np.quantile(forces, 0.5)),
        "p90": float(np.quantile(forces, 0.9)),
        "p99": float(np.quantile(forces, 0.99)),
        "max": float(forces.max()),
    }
    assert {(row["task"], row["metric"], row["n_seeds"], row["n_episodes"]) for row in rows.values()} == {
        ("cocarry", "force_peak", 5, 1750)
    }


@pytest.mark.heavy
def test_a_median_of_five_seeds_has_an_interval(forces_and_rows: tuple[FloatArray, dict[str, dict[str, Any]]]) -> None:
    """Its ends are forces that occurred."""
    forces, rows = forces_and_rows
    low, high = rows["p50"]["value_calibrated_low"], rows["p50"]["value_calibrated_high"]

    assert low < rows["p50"]["value"] < high
    assert {low, high} <= set(forces.tolist())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("p90", "too few seeds to bound it on both sides"),
        ("p99", "too few seeds to bound it on both sides"),
        ("max", "what was seen does not bound an extreme"),
    ],
)
def test_a_quantile_without_two_sides_has_none_and_says_why(
    forces_and_rows: tuple[FloatArray, dict[str, dict[str, Any]]], name: str, why: str
) -> None:
    """Five seeds do not bound a ninth decile from above; nothing bounds a maximum."""
    row = forces_and_rows[1][name]

    assert (row["value_calibrated_low"], row["value_calibrated_high"]) == (None, None)
    assert row["note"] == why


def test_a_quantile_of_an_unknown_metric_is_refused() -> None:
    """With its place."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(MANIFEST.replace(b"quantiles: {force_peak:", b"quantiles: {force_peek:"))

    assert "force_peek" in str([problem.message for problem in refused.value.problems])
