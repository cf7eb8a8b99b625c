"""The forensic part of a submission's page: its flags and everything that its bundles state of what was run."""

import json

from tests.cases.chamber import MANIFEST, PREREG, bundle, episodes, with_sums, zipped
from tests.cases.chamber_http import register, send
from tests.fixtures import Site

STATED = {
    "git_sha": "f012ef7641bc132c3de21ccb7a5da974ebc32cfb",
    "policy_id": "static",
    "task_version": 1,
    "partner_set_id": "partners@v1",
    "partner_hashes": {"left": "2551311d47ba8e57"},
    "package_version": "0.7.0",
    "platform": {"os": "Linux", "device": "an accelerator"},
    "repro_command": "chamber-eval run --seeds 5 <script>",
}


def test_the_page_shows_all_identity_that_a_bundle_states(site: Site) -> None:
    """Commit, policy, partners, package, platform and command, as text and in the JSON."""
    register(site, MANIFEST, PREREG)
    ended = send(site, "arm", {"run.zip": zipped(bundle(**STATED))}, PREREG)
    page = site.http.get(f"/submissions/{ended['id']}", headers={"Accept": "text/html"}).text
    (identity,) = ended["identity"]

    assert identity["commit"] == STATED["git_sha"]
    assert (identity["partner left"], identity["platform device"]) == ("2551311d47ba8e57", "an accelerator")
    for value in (STATED["git_sha"], "partners@v1", "2551311d47ba8e57", "an accelerator", "&lt;script&gt;"):
        assert value in page


def test_a_seed_that_was_copied_is_flagged_on_the_page_and_on_the_row(site: Site) -> None:
    """Five seeds with the forces of one; hashes and schedule agree, and the run is admitted."""
    register(site, MANIFEST, PREREG)
    copied = [record | {"force_peak": (record["episode_idx"] + 1) / 11} for record in episodes()]
    ended = send(site, "arm", {"run.zip": zipped(bundle(copied))}, PREREG)
    page = site.http.get(f"/submissions/{ended['id']}", headers={"Accept": "text/html"}).text
    (row,) = site.http.get("/benchmarks/arm/leaderboards/success.json").json()["rows"]
    reasons = {check["rule"]: check["reason"] for check in ended["checks"] if check["outcome"] == "warned"}

    assert ended["flags"] == {"mover": ["repeated_seed"]}
    assert row["flags"] == "repeated_seed"
    assert reasons["repeated_seed"].endswith("mover on place, 40 rows of 0, 1, 2, 3, 4.")
    assert "<code>repeated_seed</code>" in page


def test_a_bundle_without_its_prereg_is_flagged(site: Site) -> None:
    """Everything else agrees."""
    register(site, MANIFEST, PREREG)
    files = bundle()
    del files["prereg.yaml"]
    described = json.loads(files["bundle.json"])
    del described["manifest"]["prereg.yaml"], described["prereg_blob_sha"]
    ended = send(
        site, "arm", {"run.zip": zipped(with_sums(files | {"bundle.json": json.dumps(described).encode()}))}, PREREG
    )

    assert ended["flags"] == {"mover": ["no_prereg_in_bundle"]}
