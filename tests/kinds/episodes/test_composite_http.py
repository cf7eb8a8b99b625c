"""A composite over axes, over HTTP: each axis is a run, and a registration, of its own."""

from pathlib import Path
from typing import Any

import pytest

from app.jobs.evaluate import evaluate
from app.prereg.prereg import parse_prereg, sha256_hex
from tests.cases.chamber_http import register, send
from tests.fixtures import Site

DATA = Path(__file__).parents[2] / "data" / "chamber_prereg"
MANIFEST = b"""
schema_version: 1
slug: hrs
title: HRS
evidence: episodes
episodes: {condition: metadata.condition}
tasks: [{id: AS}, {id: OM}, {id: CM}]
metrics:
  success: {direction: maximize, min: 0, max: 1, title: Success}
  violation: {direction: minimize, from: constraint_violation_peak, above: 0}
admission: {prereg: required, prereg_forms: [axis], min_seeds: 5}
claims:
  gap: {contrast: [homogeneous, heterogeneous], metric: success, threshold: 0.20}
leaderboards:
  - name: hrs
    method: estimate
    metrics: [success, violation]
    statistic: mean
    composite: {title: HRS, weights: {CM: 1.0, AS: 0.5, OM: 0.6}}
    uncertainty: {n_resamples: 400, rng_seed: 0}
"""
AS, OM = ((DATA / "prereg" / f"{axis}.yaml").read_bytes() for axis in ("AS", "OM"))


def send_axis(site: Site, axis: str, prereg: bytes, name: str = "") -> dict[str, Any]:
    """Submit the published spike run of an axis; another file name makes it another submission."""
    content = (DATA / "spikes" / f"spike_{axis}.json.gz").read_bytes()
    ended = send(site, "hrs", {f"{name}spike_{axis}.json.gz": content}, prereg, "concerto")
    assert ended["admitted"], ended["reason"]
    return ended


def standing_of(site: Site, number: int) -> tuple[str, str, list[str] | None]:
    """Return the status of a submission, and how and for what its entrant stands on it."""
    document = site.http.get(f"/submissions/{number}.json").json()
    (entrant,) = document["entrants"]
    return document["status"], entrant["state"], entrant["tasks"]


def components(site: Site) -> dict[str, float | None]:
    """Return the component of each axis on the board."""
    rows = site.http.get("/benchmarks/hrs/leaderboards/hrs/components.json").json()["rows"]
    return {row["task"]: row["value"] for row in rows}


def test_a_run_of_one_axis_stands_beside_that_of_another(roomy_site: Site) -> None:
    """Both are current, the composite weighs both, and both verdicts are listed as current."""
    register(roomy_site, MANIFEST, AS, OM)
    first, second = send_axis(roomy_site, "as", AS), send_axis(roomy_site, "om", OM)
    (row,) = roomy_site.http.get("/benchmarks/hrs/leaderboards/hrs.json").json()["rows"]
    parts = components(roomy_site)
    claims = roomy_site.http.get("/benchmarks/hrs/claims.json").json()["rows"]

    assert standing_of(roomy_site, first["id"]) == ("published", "current", ["AS"])
    assert standing_of(roomy_site, second["id"]) == ("published", "current", ["OM"])
    assert parts["CM"] is None
    assert row["success"] == pytest.approx((0.5 * (parts["AS"] or 0.0) + 0.6 * (parts["OM"] or 0.0)) / 1.1)
    assert (row["n_episodes"], row["n_tasks"]) == (400, 2)
    assert [(claim["submission"], claim["status"]) for claim in claims] == [
        (first["id"], "current"), (second["id"], "current")
    ]  # fmt: skip


def test_a_composite_counts_the_declared_side_of_an_axis(roomy_site: Site) -> None:
    """CHAMBER's HRS takes the heterogeneous side; the breakdown shows both, and the board the mean at first sight."""
    side = parse_prereg(OM).conditions
    assert side is not None
    weights = b"weights: {CM: 1.0, AS: 0.5, OM: 0.6}"
    declared = MANIFEST.replace(weights, weights + f", conditions: {{OM: {side[1]}}}".encode())
    register(roomy_site, declared, OM)
    send_axis(roomy_site, "om", OM)
    rows = roomy_site.http.get("/benchmarks/hrs/leaderboards/hrs/breakdown.json").json()["rows"]
    (row,) = roomy_site.http.get("/benchmarks/hrs/leaderboards/hrs.json").json()["rows"]
    by_side = {row["condition"]: row["value"] for row in rows if row["metric"] == "success"}

    assert set(by_side) == set(side)
    assert components(roomy_site)["OM"] == pytest.approx(by_side[side[1]])
    assert row["n_episodes"] == 100


def test_a_second_run_of_an_axis_supersedes_the_first(roomy_site: Site) -> None:
    """And leaves the other axis alone; the snapshots say which was which."""
    register(roomy_site, MANIFEST, AS, OM)
    numbers = [send_axis(roomy_site, *sent)["id"] for sent in (("as", AS), ("om", OM), ("as", AS, "again-"))]
    snapshots = roomy_site.http.get("/benchmarks/hrs/snapshots.json").json()
    kinds = [change["kind"] for snapshot in snapshots for change in snapshot["changes"] if change["kind"] != "rank"]

    assert standing_of(roomy_site, numbers[0]) == ("superseded", "superseded", None)
    assert standing_of(roomy_site, numbers[1]) == ("published", "current", ["OM"])
    assert standing_of(roomy_site, numbers[2]) == ("published", "current", ["AS"])
    assert kinds == ["superseded", "extended", "entered"]


def test_the_order_of_evaluation_decides_nothing(roomy_site: Site) -> None:
    """The newest is evaluated first; the later upload of an axis wins all the same."""
    register(roomy_site, MANIFEST, AS, OM)
    for axis, prereg, name in (("as", AS, ""), ("om", OM, ""), ("as", AS, "again-")):
        content = (DATA / "spikes" / f"spike_{axis}.json.gz").read_bytes()
        roomy_site.http.post(
            "/benchmarks/hrs/submissions",
            files=[("files", (f"{name}spike_{axis}.json.gz", content))],
            data={"prereg_sha256": sha256_hex(prereg), "entrant": "concerto"},
            headers=roomy_site.auth(),
        )
    for number in (3, 2, 1):
        evaluate(roomy_site.sessions, [number])
    roomy_site.work()

    assert standing_of(roomy_site, 1) == ("superseded", "superseded", None)
    assert [standing_of(roomy_site, number)[1:] for number in (2, 3)] == [("current", ["OM"]), ("current", ["AS"])]
    assert {axis for axis, score in components(roomy_site).items() if score is not None} == {"AS", "OM"}


def test_withdrawing_one_axis_leaves_the_other(roomy_site: Site) -> None:
    """What it had superseded does not come back; earlier snapshots show what they showed."""
    register(roomy_site, MANIFEST, AS, OM)
    for sent in (("as", AS), ("om", OM)):
        send_axis(roomy_site, *sent)
    again = send_axis(roomy_site, "as", AS, "again-")
    roomy_site.http.post(f"/submissions/{again['id']}/withdraw", json={"reason": "wrong"}, headers=roomy_site.auth())
    roomy_site.work()
    board = "/benchmarks/hrs/leaderboards/hrs/components.json"
    before = roomy_site.http.get(f"{board}?snapshot=2").json()["rows"]

    assert {axis for axis, score in components(roomy_site).items() if score is not None} == {"OM"}
    assert {row["task"] for row in before if row["value"] is not None} == {"AS", "OM"}


def test_the_board_names_its_composite(roomy_site: Site) -> None:
    """The column that ranks has the title that the manifest gives."""
    register(roomy_site, MANIFEST, AS)
    send_axis(roomy_site, "as", AS)
    columns = roomy_site.http.get("/benchmarks/hrs/leaderboards/hrs.json").json()["columns"]

    assert {c["name"]: c["title"] for c in columns}["success"] == "HRS, mean"
