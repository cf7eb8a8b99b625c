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


FIRST, SECOND, AGAIN = ("as", AS, ""), ("om", OM, ""), ("as", AS, "again-")
"""An axis with its registration; another file name makes it another submission."""


def begin(site: Site, slug: str, manifest: bytes = MANIFEST) -> str:
    """Make the benchmark under a name of its own, register both axes, and return the name."""
    register(site, manifest.replace(b"slug: hrs", f"slug: {slug}".encode()), AS, OM)
    return slug


def send_axis(site: Site, slug: str, axis: str, prereg: bytes, name: str) -> int:
    """Submit the published spike run of an axis and return the submission's number."""
    content = (DATA / "spikes" / f"spike_{axis}.json.gz").read_bytes()
    ended = send(site, slug, {f"{name}spike_{axis}.json.gz": content}, prereg, "concerto")
    assert ended["admitted"], ended["reason"]
    return int(ended["id"])


def standing_of(site: Site, number: int) -> tuple[str, str, list[str] | None]:
    """Return the status of a submission, and how and for what its entrant stands on it."""
    document = site.http.get(f"/submissions/{number}.json").json()
    (entrant,) = document["entrants"]
    return document["status"], entrant["state"], entrant["tasks"]


def shown(site: Site, slug: str, address: str) -> Any:
    """Return a document of the benchmark."""
    return site.http.get(f"/benchmarks/{slug}/{address}").json()


def components(site: Site, slug: str, query: str = "") -> dict[str, float | None]:
    """Return the component of each axis on the board."""
    rows = shown(site, slug, f"leaderboards/hrs/components.json{query}")["rows"]
    return {row["task"]: row["value"] for row in rows}


def scored(of: dict[str, float | None]) -> set[str]:
    """Return the axes that have a component."""
    return {axis for axis, score in of.items() if score is not None}


def test_axes_stand_beside_each_other_are_superseded_and_withdrawn_apart(shared_site: Site) -> None:
    """Both are current, with their verdicts, and the composite weighs both under its own title. A second run of an axis
    supersedes the first and leaves the other; withdrawn, what it superseded does not come back, and earlier
    snapshots show what they showed.
    """
    slug = begin(shared_site, "hrs")
    first, second = (send_axis(shared_site, slug, *each) for each in (FIRST, SECOND))
    document = shown(shared_site, slug, "leaderboards/hrs.json")
    (row,), parts = document["rows"], components(shared_site, slug)
    claims = shown(shared_site, slug, "claims.json")["rows"]

    assert standing_of(shared_site, first) == ("published", "current", ["AS"])
    assert standing_of(shared_site, second) == ("published", "current", ["OM"])
    assert scored(parts) == {"AS", "OM"}
    assert row["success"] == pytest.approx((0.5 * (parts["AS"] or 0.0) + 0.6 * (parts["OM"] or 0.0)) / 1.1)
    assert (row["n_episodes"], row["n_tasks"]) == (400, 2)
    assert [(claim["submission"], claim["status"]) for claim in claims] == [(first, "current"), (second, "current")]
    assert {column["name"]: column["title"] for column in document["columns"]}["success"] == "HRS, mean"

    third = send_axis(shared_site, slug, *AGAIN)
    snapshots = shown(shared_site, slug, "snapshots.json")
    kinds = [change["kind"] for snapshot in snapshots for change in snapshot["changes"] if change["kind"] != "rank"]

    assert standing_of(shared_site, first) == ("superseded", "superseded", None)
    assert [standing_of(shared_site, each)[2] for each in (second, third)] == [["OM"], ["AS"]]
    assert kinds == ["superseded", "extended", "entered"]

    shared_site.http.post(f"/submissions/{third}/withdraw", json={"reason": "wrong"}, headers=shared_site.auth())
    shared_site.work()

    assert scored(components(shared_site, slug)) == {"OM"}
    assert scored(components(shared_site, slug, "?snapshot=2")) == {"AS", "OM"}


def test_a_composite_counts_the_declared_side_of_an_axis(shared_site: Site) -> None:
    """CHAMBER's HRS takes the heterogeneous side; the breakdown shows both, and the board the mean at first sight."""
    side = parse_prereg(OM).conditions
    assert side is not None
    weights = b"weights: {CM: 1.0, AS: 0.5, OM: 0.6}"
    declared = MANIFEST.replace(weights, weights + f", conditions: {{OM: {side[1]}}}".encode())
    slug = begin(shared_site, "one-side", declared)
    send_axis(shared_site, slug, *SECOND)
    rows = shown(shared_site, slug, "leaderboards/hrs/breakdown.json")["rows"]
    (row,) = shown(shared_site, slug, "leaderboards/hrs.json")["rows"]
    by_side = {row["condition"]: row["value"] for row in rows if row["metric"] == "success"}

    assert set(by_side) == set(side)
    assert components(shared_site, slug)["OM"] == pytest.approx(by_side[side[1]])
    assert row["n_episodes"] == 100


def test_the_order_of_evaluation_decides_nothing(shared_site: Site) -> None:
    """The newest is evaluated first; the later upload of an axis wins all the same."""
    slug = begin(shared_site, "turned")
    numbers = []
    for axis, prereg, name in (FIRST, SECOND, AGAIN):
        content = (DATA / "spikes" / f"spike_{axis}.json.gz").read_bytes()
        sent = shared_site.http.post(
            f"/benchmarks/{slug}/submissions",
            files=[("files", (f"{name}spike_{axis}.json.gz", content))],
            data={"prereg_sha256": sha256_hex(prereg), "entrant": "concerto"},
            headers=shared_site.auth(),
        )
        numbers.append(sent.json()["id"])
    for number in reversed(numbers):
        evaluate(shared_site.sessions, [number])
    shared_site.work()

    assert standing_of(shared_site, numbers[0]) == ("superseded", "superseded", None)
    assert [standing_of(shared_site, each)[1:] for each in numbers[1:]] == [("current", ["OM"]), ("current", ["AS"])]
    assert scored(components(shared_site, slug)) == {"AS", "OM"}
