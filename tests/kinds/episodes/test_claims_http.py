"""Claims of CHAMBER's registrations over HTTP: arms, thresholds of documents, axes, and claims that came later."""

from typing import Any

from tests.cases.chamber import EXAMPLES, MANIFEST, bundle, episode, zipped
from tests.cases.chamber_http import YAML, register, send
from tests.fixtures import Site

AS = (EXAMPLES / "chamber-as" / "prereg.yaml").read_bytes()
SPIKE = EXAMPLES / "chamber-as" / "results" / "concerto-stage1b.json.gz"
AXIS_MANIFEST = (EXAMPLES / "chamber-as" / "manifest.yaml").read_bytes()
CLAIMS = b"claims:\n  gap: {contrast: [homogeneous, heterogeneous], metric: success, threshold: 0.20}\n"
SEEDS = list(range(40))
"""So many that a share of zero is below 20 % and one of one above 80 %, at the levels of three claims together."""

FOUR = {"root_seed": 0, "seeds": SEEDS, "episodes_per_seed": 4}
THRESHOLDS = b"""schema_version: 1
task_id: place
git_tag: prereg-1
seeds: SEEDS
parameters:
  admission:
    tau_solv: 0.8
    tau_infeasible: 0.2
    delta_min: 0.2
    episodes_per_seed: 4
    a1: {cell_id: reference}
    a2: {cell_id: single}
    a3: {cell_id: blind}
decision_rules: A1 PASS iff CI-lower >= tau_solv
""".replace(b"SEEDS", str(SEEDS).encode())


def claims(site: Site, slug: str) -> list[dict[str, Any]]:
    """Return the claims of a benchmark."""
    rows: list[dict[str, Any]] = site.http.get(f"/benchmarks/{slug}/claims.json").json()["rows"]
    return rows


def send_spike(site: Site) -> dict[str, Any]:
    """Submit the published spike of the action space."""
    return send(site, "chamber-as", {SPIKE.name: SPIKE.read_bytes()}, AS, "concerto")


def test_the_thresholds_of_a_document_are_decided(site: Site) -> None:
    """Each cell is an entrant; nobody's manifest repeats what was registered."""
    register(site, MANIFEST, THRESHOLDS)
    for name, succeeds in (("reference", True), ("single", False), ("blind", False)):
        rows = [episode(seed, at, "left", success=succeeds) for seed in SEEDS for at in range(4)]
        ended = send(
            site,
            "arm",
            {f"{name}.zip": zipped(bundle(rows, THRESHOLDS, seed_schedule=FOUR), name)},
            THRESHOLDS,
            name,
        )
        assert ended["status"] == "published", ended["reason"]
    actual = {row["claim"]: (row["entrant"], row["verdict"], row["difference"]) for row in claims(site, "arm")}

    assert actual == {
        "A1 tau_solv": ("reference", "supported", 1.0),
        "A2 tau_infeasible": ("single", "supported", 0.0),
        "A3 delta_min": ("reference, blind", "supported", 1.0),
    }


def test_an_arm_of_the_manifest_is_a_condition_of_each_entrant(roomy_site: Site) -> None:
    """One name in the contrast: its own mean against the threshold."""
    declared = MANIFEST.replace(
        b"leaderboards:",
        b"claims:\n  easy: {contrast: [left], metric: success, threshold: 0.9}\nleaderboards:",
    )
    prereg = THRESHOLDS.replace(b"tau_", b"old_").replace(b"delta_", b"old_")
    register(roomy_site, declared, prereg)
    places = [(seed, number, side) for seed in SEEDS for side in ("left", "right") for number in range(4)]
    rows = [episode(*place, success=place[2] == "left") for place in places]
    send(roomy_site, "arm", {"run.zip": zipped(bundle(rows, prereg))}, prereg)
    (claim,) = claims(roomy_site, "arm")

    assert (claim["entrant"], claim["first"], claim["second"]) == ("mover", "left", None)
    assert (claim["verdict"], claim["difference"], claim["n_pairs"]) == ("supported", 1.0, 4 * len(SEEDS))


def test_a_claim_that_came_later_is_decided_from_what_stands(roomy_site: Site) -> None:
    """An axis has a verdict without a claim of the manifest, beside which CHAMBER's gap rule stands. Both sides were
    delivered long before anybody asked; nobody is said to have left them out.
    """
    register(roomy_site, AXIS_MANIFEST.replace(CLAIMS, b""), AS)
    sent = send(roomy_site, "chamber-as", {SPIKE.name: SPIKE.read_bytes()}, AS, "concerto")
    (own,) = claims(roomy_site, "chamber-as")
    assert (own["claim"], own["gap_rule"], own["n_pairs"]) == ("axis gap", "not supported", 100)
    assert own["verdict"] == "inconclusive"
    answer = roomy_site.http.put(
        "/benchmarks/chamber-as", content=AXIS_MANIFEST, headers=roomy_site.auth("steward") | YAML
    )
    assert answer.status_code in (200, 201), answer.text
    roomy_site.work()
    (claim,) = [row for row in claims(roomy_site, "chamber-as") if row["source"] == "manifest"]

    assert (claim["submission"], claim["entrant"], claim["status"]) == (sent["id"], "concerto", "current")
    assert (claim["gap_rule"], claim["verdict"]) == ("not supported", "inconclusive")
    assert claim["note"].startswith("too few seeds (5 of 35) to be decided by these alone: one that fails altogether")


def test_a_bundle_of_another_commit_than_the_submission_says_is_flagged(site: Site) -> None:
    """What the submission is described by is held against what the bundle itself says."""
    register(site, MANIFEST, THRESHOLDS)
    rows = [episode(seed, at, "left", success=True) for seed in SEEDS for at in range(4)]
    content = zipped(bundle(rows, THRESHOLDS, seed_schedule=FOUR), "reference")
    said = [
        site.http.post(
            "/benchmarks/arm/submissions?dry_run=true",
            files=[("files", ("reference.zip", content)), ("prereg", ("p.yaml", THRESHOLDS))],
            data={"entrant": "reference"} | stated,
            headers=site.auth(),
        ).text
        for stated in ({}, {"metadata": f'{{"code_commit": "{"1" * 40}"}}'})
    ]

    assert [f"the submission's code_commit is {'1' * 40}" in each for each in said] == [False, True]
