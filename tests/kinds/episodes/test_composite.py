"""HRS and its axes from CHAMBER's own SpikeRuns: the score of the heterogeneous side, and the gap to the other."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.boards.measured import EntrantEvidence, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.errors import ManifestRejected
from app.kinds.episodes.measure import measure_episodes
from app.kinds.episodes.tables import COMPONENTS
from app.kinds.parse import parse_manifest
from tests.cases.chamber import EXAMPLES
from tests.cases.evidence_tables import read

SPIKES = Path(__file__).parents[2] / "data" / "chamber_prereg" / "spikes"
SIDES = {
    "AS": (
        "stage1_pickplace_panda_only_mappo_shared_param",
        "stage1_pickplace_panda_plus_fetch_ego_aht_happo_per_agent",
    ),
    "OM": ("stage1_pickplace_vision_only", "stage1_pickplace_vision_plus_force_torque_plus_proprio"),
}
MANIFEST = f"""
schema_version: 1
slug: hrs
title: HRS
evidence: episodes
episodes: {{condition: metadata.condition, boolean: [success]}}
tasks: [{{id: CM}}, {{id: PF}}, {{id: CR}}, {{id: SA}}, {{id: OM}}, {{id: AS}}]
metrics: {{success: {{direction: maximize, min: 0, max: 1}}}}
leaderboards:
  - name: hrs
    method: estimate
    metrics: [success]
    composite:
      title: HRS
      weights: {{CM: 1.0, PF: 0.9, CR: 0.8, SA: 0.7, OM: 0.6, AS: 0.5}}
      conditions: {{AS: {SIDES["AS"][1]}, OM: {SIDES["OM"][1]}}}
      against: {{AS: {SIDES["AS"][0]}, OM: {SIDES["OM"][0]}}}
    uncertainty: {{n_resamples: 100, rng_seed: 0}}
"""


def spike(axis: str) -> dict[str, Any]:
    """Return the published run of an axis."""
    document: dict[str, Any] = json.loads(gzip.decompress((SPIKES / f"spike_{axis.lower()}.json.gz").read_bytes()))
    return document


def succeeding(document: dict[str, Any], n_successes: tuple[int, int]) -> dict[str, Any]:
    """Return a run in which so many episodes of the homogeneous and of the heterogeneous side succeed."""
    wanted = dict(zip(document["condition_pair"].values(), n_successes, strict=True))
    seen: Counter[str] = Counter()
    for episode in document["episode_results"]:
        side = episode["metadata"]["condition"]
        episode["success"] = seen[side] < wanted[side]
        seen[side] += 1
    return document


def measured(folder: Path, runs: list[dict[str, Any]], manifest: str = MANIFEST) -> Measurement:
    """Return what an entrant's runs come to under the composite."""
    declared = parse_manifest(manifest.encode())
    files = {f"{run['axis']}.json": json.dumps(run).encode() for run in runs}
    spec = declared.leaderboard("hrs")
    assert isinstance(spec, EstimateBoard)
    return measure_episodes(
        declared, spec, EntrantEvidence("concerto", read(folder, files, declared, "concerto").scores)
    )


def components(result: Measurement) -> dict[str, dict[str, Any]]:
    """Return the row of each axis by its name."""
    names = [column.name for column in COMPONENTS[1:]]
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in result.rows["components"]]
    return {row["task"]: row for row in rows}


def test_hrs_takes_the_heterogeneous_side_and_each_axis_has_its_gap(tmp_path: Path) -> None:
    """AS 0.64 and OM 0.32 make 0.465 whatever the homogeneous sides are; both sides together would make 0.668. The gap
    is the homogeneous side minus the heterogeneous one, over pairs, with an interval.
    """
    result = measured(tmp_path, [succeeding(spike("AS"), (93, 64)), succeeding(spike("OM"), (82, 32))])
    actual = components(result)

    assert result.estimates["success"].point == pytest.approx((0.5 * 0.64 + 0.6 * 0.32) / 1.1)
    assert {axis: (row["value"], row["gap"]) for axis, row in actual.items() if not row["is_missing"]} == {
        "AS": (pytest.approx(0.64), pytest.approx(0.29)),
        "OM": (pytest.approx(0.32), pytest.approx(0.50)),
    }
    assert all(actual[axis]["gap_calibrated_low"] < actual[axis]["gap"] < actual[axis]["gap_calibrated_high"]
               for axis in ("AS", "OM"))  # fmt: skip
    assert (actual["AS"]["n_pairs"], actual["CM"]["gap"], actual["CM"]["n_pairs"]) == (100, None, 0)


@pytest.mark.parametrize("axis", ["AS", "OM"])
def test_the_published_entries_come_out_of_the_published_runs(tmp_path: Path, axis: str) -> None:
    """CHAMBER's own leaderboard entry of each run: score, gap in percentage points and weight of its axis."""
    entry = json.loads((SPIKES / f"leaderboard_{axis.lower()}_20260517.json").read_text())
    actual = measured(tmp_path, [spike(axis)])
    row = components(actual)[axis]

    assert [{"axis": axis, "score": row["value"], "gap_pp": 100 * row["gap"], "weight": row["weight"]}] == entry[
        "hrs_vector"
    ]["entries"]
    assert actual.estimates["success"].point == entry["hrs_scalar"]


def test_the_shipped_composite_counts_the_heterogeneous_side(tmp_path: Path) -> None:
    """Of the shipped run of the action space: 12 of 100 succeed there, 1 of 100 on the homogeneous side."""
    given = json.loads(gzip.decompress((EXAMPLES / "chamber-as/results/concerto-stage1b.json.gz").read_bytes()))
    actual = measured(tmp_path, [given], (EXAMPLES / "chamber-as" / "manifest.yaml").read_text())
    row = components(actual)["AS"]

    assert actual.estimates["success"].point == pytest.approx(0.12)
    assert (row["value"], row["gap"], row["n_pairs"]) == (pytest.approx(0.12), pytest.approx(-0.11), 100)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("against: {AS: ", "against: {CM: x, AS: ", "against: not among conditions: CM"),
        (f"against: {{AS: {SIDES['AS'][0]}", f"against: {{AS: {SIDES['AS'][1]}", "the counted condition itself: AS"),
    ],
)
def test_a_gap_needs_two_sides(old: str, new: str, message: str) -> None:
    """The condition that counts, and another one."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(MANIFEST.replace(old, new).encode())

    assert message in str([problem.message for problem in refused.value.problems])
