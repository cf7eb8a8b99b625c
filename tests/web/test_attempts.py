"""Attempts: the best of several tries is read as what it is, on the submission, on the row and in the CSV."""

from typing import Any

import pytest

from tests.cases.chamber import MANIFEST, PREREG, bundle, episodes, zipped
from tests.cases.chamber_http import register, send
from tests.fixtures import Site


def try_again(site: Site, n_failures: int) -> dict[str, Any]:
    """Submit the same seeds with some episodes turned into failures."""
    records = episodes()
    for record in records[:n_failures]:
        record["success"] = False
    return send(site, "arm", {"run.zip": zipped(bundle(records))}, PREREG)


def check(submission: dict[str, Any], rule: str) -> tuple[str, str]:
    """Return the outcome and the reason of a rule."""
    (result,) = [each for each in submission["checks"] if each["rule"] == rule]
    return result["outcome"], result["reason"]


def test_a_third_attempt_is_counted_and_flagged_on_its_row_too(shared_site: Site) -> None:
    """The same seeds, items and initial states, one registration, three different results.

    The row says it in JSON and CSV, with what the owner tried; a note says so above the table.
    """
    register(shared_site, MANIFEST, PREREG)
    first, _, third = (try_again(shared_site, n) for n in (7, 3, 0))
    board = "/benchmarks/arm/leaderboards/success"
    document = shared_site.http.get(f"{board}.json").json()
    (row,) = document["rows"]
    header, line = shared_site.http.get(f"{board}.csv").text.splitlines()
    reported = dict(zip(header.split(","), line.split(","), strict=True))

    assert check(first, "attempt")[0] == check(first, "forensics")[0] == "passed"
    assert check(third, "attempt") == ("warned", "Submission 3 under this registration; attempt 3 of mover.")
    outcome, reason = check(third, "other_results")
    assert outcome == "warned"
    assert "mover in submission 1, 4 of 40 rows that were compared" in reason
    assert "mover in submission 2, 2 of 40 rows that were compared" in reason
    assert (row["attempt"], row["attempt_of_prereg"], row["owner"]) == (3, 3, "alice")
    assert (row["owner_registrations"], row["owner_entrants"], row["owner_submissions"]) == (1, 1, 3)
    assert row["flags"] == "other_results"
    assert (reported["attempt"], reported["owner_submissions"], reported["flags"]) == ("3", "3", "other_results")
    assert any("alice: 1 registration, 1 entrant, 3 submissions" in note for note in document["notes"])


def test_a_refused_attempt_counts(site: Site) -> None:
    """What was not admitted was tried all the same."""
    register(site, MANIFEST, PREREG)
    send(site, "arm", {"run.zip": zipped(bundle(episodes([0])))}, PREREG)
    second = try_again(site, 0)

    assert check(second, "attempt")[1] == "Submission 2 under this registration; attempt 2 of mover."


@pytest.mark.parametrize("digits", [4, 14], ids=["few digits", "many digits"])
def test_another_entrants_rows_are_flagged_by_their_digits(site: Site, digits: int) -> None:
    """Forces equal to fourteen digits are a copy; four digits may be anybody's."""
    register(site, MANIFEST, PREREG)
    forces = [record | {"force": round((at + 1) / 7, digits)} for at, record in enumerate(episodes())]
    send(site, "arm", {"run.zip": zipped(bundle(forces))}, PREREG, "mover")
    copied = [record | {"constraint_violation_peak": 0.0} for record in forces]
    second = send(site, "arm", {"run.zip": zipped(bundle(copied, repro="again"), "other")}, PREREG, "copy")
    flagged = {each["rule"]: each["reason"] for each in second["checks"] if each["outcome"] == "warned"}

    assert ("same_rows" in flagged) == (digits == 14)
    assert "is a file of mover too (submission 1)" in flagged["same_bytes"]


STATED = {
    "git_sha": "f012ef7641bc132c3de21ccb7a5da974ebc32cfb",
    "partner_set_id": "partners@v1",
    "partner_hashes": {"left": "2551311d47ba8e57"},
    "platform": {"os": "Linux", "device": "an accelerator"},
    "repro_command": "chamber-eval run --seeds 5 <script>",
}


def test_the_page_shows_all_identity_that_a_bundle_states(site: Site) -> None:
    """Commit, partners, platform and command, as text and in the JSON."""
    register(site, MANIFEST, PREREG)
    ended = send(site, "arm", {"run.zip": zipped(bundle(**STATED))}, PREREG)
    page = site.http.get(f"/submissions/{ended['id']}", headers={"Accept": "text/html"}).text
    (identity,) = ended["identity"]

    assert identity["commit"] == STATED["git_sha"]
    assert (identity["partner left"], identity["platform device"]) == ("2551311d47ba8e57", "an accelerator")
    for value in (STATED["git_sha"], "partners@v1", "2551311d47ba8e57", "an accelerator", "&lt;script&gt;"):
        assert value in page
