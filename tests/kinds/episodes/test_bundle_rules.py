"""What bundles say of themselves: their registration, method, schedule and claims, and the forgeries of these."""

import pytest

from app.manifest.model import LeastSeeds, Task
from app.prereg.fields import IID_REFUSED
from app.prereg.prereg import git_blob_sha1, sha256_hex
from tests.cases.admission import AXIS, case, check, demanding, facts, failed, grid, registered, rules
from tests.cases.chamber import PREREG

POLICIES = pytest.mark.parametrize(("policy", "outcome"), [("strict", "failed"), ("best_effort", "warned")])


def test_an_edited_prereg_is_refused() -> None:
    """The bundle holds other bytes than were registered; both addresses are told."""
    edited = PREREG.replace(b"report success", b"report what looks best")
    forged = facts(prereg_sha256=sha256_hex(edited), cited_blob_sha1=git_blob_sha1(edited))
    reason = failed(case(forged))["prereg_unchanged"]

    assert f"the prereg.yaml in run has SHA-256 {sha256_hex(edited)}" in reason
    assert f"run cites git blob {git_blob_sha1(edited)}" in reason
    assert sha256_hex(PREREG) in reason
    assert git_blob_sha1(PREREG) in reason


def test_an_edited_prereg_is_refused_when_the_bundle_still_cites_the_registered_one() -> None:
    """What is inside counts, not only what is said."""
    assert "prereg_unchanged" in failed(case(facts(prereg_sha256="0" * 64)))


def test_a_blob_inside_that_is_another_is_refused() -> None:
    """Where only git's address of the bytes inside is known."""
    forged = facts(prereg_sha256=None, prereg_blob_sha1="1" * 40)

    assert f"the prereg.yaml in run is git blob {'1' * 40}" in failed(case(forged))["prereg_unchanged"]


def test_one_bootstrap_resample_is_refused() -> None:
    """Its interval is a point by construction."""
    forged = facts(summary={"success_ci_low": 0.4, "success_ci_high": 0.4, "n_resamples": 1})

    assert failed(case(forged)) == {
        "resamples": "An interval from fewer than 1000 resamples is not one: run: 1.",
    }


def test_a_bundle_that_cites_nothing_is_told() -> None:
    """Nobody can say which registration it ran."""
    silent = facts(prereg_sha256=None, prereg_blob_sha1=None, cited_blob_sha1=None)

    assert check(case(silent), "prereg_unchanged").outcome == "warned"


def test_every_bundle_is_held_against_the_registration() -> None:
    """One forged among five."""
    bundles = [facts() for _ in range(4)]

    assert "prereg_unchanged" in failed(case(*bundles, facts(cited_blob_sha1="2" * 40)))


def test_another_git_tag_is_a_warning() -> None:
    """A tag can be moved; the bytes decide, and they are equal."""
    actual = check(case(facts(git_tag="prereg-1-rev2")), "git_tag")

    assert actual.outcome == "warned"
    assert "prereg-1-rev2" in actual.reason


@pytest.mark.parametrize(("message", "outcome"), [("cluster", "passed"), ("hierarchical", "passed"), ("iid", "failed")])
def test_the_method_of_a_bundle_is_the_registered_one(message: str, outcome: str) -> None:
    """Hierarchical is another name for cluster."""
    assert check(case(facts(bootstrap_method=message)), "bundle_bootstrap_method").outcome == outcome


def test_a_bundle_with_a_pooled_bootstrap_is_refused_in_the_known_words() -> None:
    """Its run purpose is judged all the same."""
    actual = failed(case(facts(bootstrap_method="iid", run_purpose="debug")))

    assert actual == {
        "bundle_bootstrap_method": IID_REFUSED,
        "bundle_run_purpose": "The registered run purpose is leaderboard, the files say debug.",
    }


def test_a_power_run_that_pools_without_having_registered_it_is_told() -> None:
    """It may pool, but then it says so beforehand."""
    actual = failed(case(facts(bootstrap_method="iid"), registered=registered(PREREG, run_purpose="power")))

    assert actual["bundle_bootstrap_method"] == "The registered bootstrap method is cluster, the files say iid."


@POLICIES
def test_a_bundle_that_is_not_as_it_lists_itself_is_judged_by_the_policy(policy: str, outcome: str) -> None:
    """It lists eight episodes a seed and has seven in one."""
    declared = registered(PREREG, failure_policy=policy)
    actual = check(case(facts(), rows=grid()[1:], registered=declared), "schedule")

    assert actual.outcome == outcome
    assert "run lists 8 episodes in each seed and has 7" in actual.reason


def test_a_schedule_names_seeds_on_both_sides() -> None:
    """Listed without episodes, and there without being listed."""
    reason = failed(case(facts(seeds=(0, 1, 2, 3, 9))))["schedule"]

    assert "run lists seeds without episodes (9)" in reason
    assert "run has episodes of seeds that it does not list (4)" in reason


@pytest.mark.parametrize("version", [None, 1, 4])
def test_an_unknown_schema_version_is_refused(version: int | None) -> None:
    """With those that are known."""
    reason = failed(case(facts(schema_version=version)))["schema_version"]

    assert reason == f"Unknown schema version (run: {version}); known are 2, 3."


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ({"success_ci_low": 0.1, "success_ci_high": 0.2}, "cannot be drawn again"),
        ({"success_ci_low": 0.1, "success_ci_high": 0.2, "n_resamples": None}, "cannot be drawn again"),
        ({"n_resamples": 999}, "run: 999"),
        ({"n_resamples": 1500.5}, "run: 1500.5"),
        ({"n_resamples": True}, "run: True"),
        ({"n_resamples": float("inf")}, "run: inf"),
        ({"success_ci_low": 0.2, "success_ci_high": 0.1, "n_resamples": 2000}, "run: 0.2 to 0.1"),
    ],
)
def test_an_interval_that_cannot_be_one_is_refused(summary: dict[str, float | int | None], message: str) -> None:
    """Too few resamples, no number of them, or the wrong way round."""
    assert message in failed(case(facts(summary=summary)))["resamples"]


@pytest.mark.parametrize(("n_resamples", "outcome"), [(1000, "passed"), (20_000, "passed"), (10**400, "warned")])
def test_more_resamples_than_are_drawn_again_are_told(n_resamples: int, outcome: str) -> None:
    """However many digits the number has."""
    assert check(case(facts(summary={"n_resamples": n_resamples})), "resamples").outcome == outcome


def test_a_bundle_without_a_claim_has_no_check_of_it() -> None:
    """Nothing was said about resamples."""
    assert "resamples" not in rules(case(facts(summary={"success_mean": 0.5})))


def test_a_bundle_without_its_interval_is_refused_where_one_is_demanded() -> None:
    """Also when averages are claimed beside it."""
    submission = case(
        facts(summary={"success_mean": 0.5}),
        claims={"mover": {"success": 0.5}},
        manifest=demanding(claims="required"),
    )

    assert failed(submission) == {
        "claims": "The benchmark requires a claimed interval (success_ci_low, success_ci_high); it is missing in run."
    }


def test_a_bundle_with_its_interval_meets_the_demand() -> None:
    """Without any claim in the form."""
    assert check(case(facts(), manifest=demanding(claims="required")), "claims").outcome == "passed"


@pytest.mark.parametrize("changed", [{"bootstrap_root_seed": -1}, {"bootstrap_root_seed": None}], ids=["minus", "null"])
def test_a_required_claim_says_how_it_is_drawn_again(changed: dict[str, int | None]) -> None:
    """Else any interval could be claimed and none be compared."""
    summary = {"success_ci_low": 0.2, "success_ci_high": 0.4, "n_resamples": 2000, "bootstrap_root_seed": 0} | changed
    actual = failed(case(facts(summary=summary), manifest=demanding(claims="required")))

    assert actual["claims"].startswith("A claimed interval is compared by drawing it again, with n_resamples and")


@pytest.mark.parametrize(("prereg", "wanted"), [(AXIS, 6), (PREREG, 16)], ids=["spike", "entry"])
def test_the_class_of_a_run_decides_how_many_seeds_it_needs(prereg: bytes, wanted: int) -> None:
    """A spike is registered in the axis form; a leaderboard entry is any other."""
    declared = demanding(min_seeds=LeastSeeds(spike=6, entry=16), prereg_forms=["axis", "document"])
    actual = failed(case(facts(), registered=registered(prereg), manifest=declared))

    assert actual["min_seeds"] == f"mover has 5 seeds on place; the benchmark requires {wanted}."


@pytest.mark.parametrize(("axis", "outcome"), [(b"OM", "failed"), (b"AS", "passed")])
def test_an_axis_that_the_benchmark_has_not_is_refused(axis: bytes, outcome: str) -> None:
    """A registration of another axis is no evidence for this one."""
    declared = demanding(prereg_forms=["axis"]).model_copy(update={"tasks": [Task(id="AS")]})
    rows = grid(task="AS")
    given = case(rows=rows, registered=registered(AXIS.replace(b"axis: AS", b"axis: " + axis)), manifest=declared)

    assert check(given, "axis").outcome == outcome


def test_a_claimed_average_without_a_bundle_is_told_that_it_has_no_interval() -> None:
    """Rows of a table have no summary that could hold one, so the submitter reads a warning and no refusal."""
    given = case(claims={"mover": {"success": 0.5}}, manifest=demanding(claims="required"))
    actual = check(given, "claims")

    assert actual.outcome == "warned"
    assert actual.reason == "The claims hold averages and no interval: only a bundle's summary can claim one."
