"""The rules of episodes: seeds, episodes in each seed, conditions and pairs, and the forgeries of these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from app.admission.case import Case
from app.admission.rules import count_runs
from tests.cases.admission import (
    AXIS,
    Row,
    case,
    check,
    demanding,
    facts,
    failed,
    grid,
    permitting,
    registered,
    rules,
    table,
)
from tests.cases.chamber import PREREG

BEST_EFFORT = PREREG + b"failure_policy: best_effort\n"
OPEN = PREREG.replace(b"  evaluation: {episodes_per_seed: 4}\n", b"").replace(b"seeds: [0, 1, 2, 3, 4]\n", b"")
ANY_POLICY = pytest.mark.parametrize("policy", [b"strict", b"best_effort"])
POLICIES = pytest.mark.parametrize(("policy", "outcome"), [(b"strict", "failed"), (b"best_effort", "warned")])


def under(policy: bytes, rows: Sequence[Row], prereg: bytes = PREREG, **changed: Any) -> Case:
    """Return a submission of these episodes whose registration has this failure policy."""
    return case(rows=rows, registered=registered(prereg + b"failure_policy: " + policy + b"\n"), **changed)


def paired(rows: Sequence[Row], policy: bytes = b"strict") -> Case:
    """Return a submission against a registration of the axis form."""
    return under(policy, rows, AXIS, manifest=demanding(prereg_forms=["axis"]))


# Forgeries.


def test_one_seed_is_refused() -> None:
    """Even when one seed was registered."""
    prereg = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0]")
    actual = failed(case(rows=grid([0]), registered=registered(prereg)))

    assert actual == {"min_seeds": "mover has 1 seed on place; the benchmark requires 5."}


def test_a_seed_listed_sixteen_times_is_refused() -> None:
    """It is one seed: listed often, delivered once."""
    prereg = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0]")
    forged = facts(seeds=(0,) * 16)
    actual = failed(case(forged, rows=grid([0]), registered=registered(prereg), manifest=demanding(min_seeds=16)))

    assert actual["seeds"] == "A seed counts once however often it is listed: seed 0 is listed 16 times."
    assert actual["min_seeds"] == "mover has 1 seed on place; the benchmark requires 16."


def test_flipped_successes_pass() -> None:
    """No rule can see it: that is what self-reported means."""
    assert failed(case(scores=table(grid(), ["success"], value=0.0))) == {}


# Seeds.


@POLICIES
def test_a_missing_seed_is_judged_by_the_registered_policy(policy: bytes, outcome: str) -> None:
    """Refused, or left out and reported."""
    actual = check(under(policy, grid(range(4))), "seeds")

    assert actual.outcome == outcome
    assert actual.reason.startswith("Registered seeds are missing: mover on place lacks 4.")


@ANY_POLICY
def test_an_extra_seed_is_refused_under_any_policy(policy: bytes) -> None:
    """It may have been chosen for its result."""
    assert failed(under(policy, grid(range(6))))["seeds"] == "mover on place has seeds that were not registered: 5."


def test_extra_and_missing_seeds_are_told_together() -> None:
    """One seed was swapped for another."""
    reason = failed(case(rows=grid([0, 1, 2, 3, 7])))["seeds"]

    assert "has seeds that were not registered: 7." in reason
    assert "lacks 4." in reason


def test_seeds_that_a_bundle_only_lists_are_refused() -> None:
    """Five were run, sixteen are listed."""
    reason = failed(case(facts(seeds=tuple(range(16)))))["seeds"]

    assert reason.startswith("run lists seeds that were not registered: 5, 6, 7,")


def test_seeds_are_counted_for_each_entrant() -> None:
    """The seeds of one do not make up for those that the other lacks."""
    rows = [*grid(), *grid(range(3), entrant="naive")]
    actual = failed(case(rows=rows))

    assert actual["seeds"].startswith("Registered seeds are missing: naive on place lacks 3, 4.")
    assert actual["min_seeds"] == "naive has 3 seeds on place; the benchmark requires 5."


def test_every_entrant_with_too_few_seeds_is_named() -> None:
    """All at once."""
    rows = [*grid(range(2)), *grid(range(3), entrant="naive")]

    assert failed(case(rows=rows))["min_seeds"] == (
        "mover has 2 seeds on place; naive has 3 seeds on place; the benchmark requires 5."
    )


def test_a_prereg_without_seeds_is_told() -> None:
    """Then there is nothing to compare with."""
    assert check(case(registered=registered(OPEN)), "seeds").outcome == "warned"


@pytest.mark.parametrize("purpose", ["power", "debug"])
def test_a_run_that_is_never_ranked_may_have_fewer_seeds(purpose: str) -> None:
    """The check says so."""
    prereg = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0]") + b"run_purpose: " + purpose.encode() + b"\n"
    actual = check(case(rows=grid([0]), registered=registered(prereg)), "min_seeds")

    assert actual.outcome == "warned"
    assert f"A {purpose} run may have fewer: it is never ranked." in actual.reason


def test_rows_without_seeds_cannot_meet_a_minimum() -> None:
    """The reason says that they carry none."""
    scores = replace(table(grid(), ["success"]), seed=None)

    assert failed(case(scores=scores))["min_seeds"] == "The rows carry no seeds; the benchmark requires 5."


# Episodes in each seed.


@POLICIES
def test_a_missing_episode_is_judged_by_the_registered_policy(policy: bytes, outcome: str) -> None:
    """The cell that lacks it is named."""
    actual = check(under(policy, grid()[1:]), "episodes_per_seed")

    assert actual.outcome == outcome
    assert "mover, place, left, seed 0 has 3" in actual.reason


@POLICIES
def test_a_condition_that_one_seed_lacks_is_found(policy: bytes, outcome: str) -> None:
    """Both the seed and the condition are there, but not together: the bad cell was left out whole."""
    rows = [row for row in grid() if (row[2], row[3]) != ("right", 3)]
    actual = check(under(policy, rows), "episodes_per_seed")

    assert actual.outcome == outcome
    assert "mover, place, right, seed 3 has 0" in actual.reason


@ANY_POLICY
def test_more_episodes_than_registered_are_refused_under_any_policy(policy: bytes) -> None:
    """A run that goes on until it looks well has chosen its result."""
    rows = [*grid(), ("mover", "place", "left", 2, "more")]
    reason = failed(under(policy, rows))["episodes_per_seed"]

    assert "mover, place, left, seed 2 has 5." in reason
    assert "not admitted under any policy" in reason


@POLICIES
def test_unequal_seeds_are_judged_where_no_number_was_registered(policy: bytes, outcome: str) -> None:
    """The fewest are named."""
    actual = check(under(policy, grid()[1:], OPEN), "episodes_per_seed")

    assert actual.outcome == outcome
    assert actual.reason.startswith("Seeds have from 3 (mover, place, left, seed 0) to 4 episodes in one condition.")


@POLICIES
def test_a_task_may_have_more_episodes_than_another(policy: bytes, outcome: str) -> None:
    """Seeds are compared within a task: benchmarks have tasks of different size, by their grid or by nature."""
    rows = [*grid(), *grid(n=3, task="sort")]
    whole, cut = (check(under(policy, some, OPEN), "episodes_per_seed") for some in (rows, rows[:-1]))

    assert (whole.outcome, cut.outcome) == ("warned", outcome)
    assert whole.reason.endswith("every seed of a task has as many: place 4, sort 3.")
    assert cut.reason.startswith("Seeds have from 2 (mover, sort, right, seed 4) to 3 episodes in one condition.")


def test_equal_seeds_without_a_registered_number_are_told() -> None:
    """The number was free to choose."""
    assert check(case(registered=registered(OPEN)), "episodes_per_seed").outcome == "warned"


# Conditions and pairs.


@ANY_POLICY
def test_an_unregistered_condition_is_refused_under_any_policy(policy: bytes) -> None:
    """A third partner that was not in the plan."""
    actual = failed(under(policy, grid(conditions=("left", "right", "up"))))

    assert actual["conditions"] == "mover has conditions that were not registered: up."


@ANY_POLICY
def test_a_missing_condition_is_refused_under_any_policy(policy: bytes) -> None:
    """The hardest partner was left out."""
    assert failed(under(policy, grid(conditions=("left",)))) == {
        "conditions": "mover lacks registered conditions: right."
    }


def test_a_pair_that_was_trained_together_has_its_own_partner_only() -> None:
    """It is excused from the partners of the others, who are not excused."""
    plan = registered(PREREG, own_partner=("joint",))
    pair = grid(conditions=["own"], entrant="joint")
    both = check(case(rows=[*grid(), *pair], registered=plan), "conditions")
    other = check(case(rows=grid(conditions=["own"]), registered=plan), "conditions")

    assert check(case(rows=pair, registered=plan), "conditions").outcome == "passed"
    assert both.reason == (
        "Exactly the 2 registered conditions were delivered. joint has its own trained partner only, as registered."
    )
    assert other.outcome == "failed"


def test_a_pair_that_was_trained_together_has_no_partner_of_the_others() -> None:
    """Neither in place of its own nor beside it."""
    plan = registered(PREREG, own_partner=("joint",))
    replaced = failed(case(rows=grid(conditions=["left"], entrant="joint"), registered=plan))
    beside = failed(case(rows=grid(conditions=["own", "new"], entrant="joint"), registered=plan))

    assert replaced["conditions"].endswith("has partners of the others: left.")
    assert beside["conditions"].endswith("has more than one partner in seeds 0, 1, 2, 3, 4.")


def test_conditions_are_held_against_each_entrant() -> None:
    """What one has, the other may lack."""
    rows = [*grid(), *grid(conditions=("left",), entrant="naive")]

    assert failed(case(rows=rows))["conditions"] == "naive lacks registered conditions: right."


@POLICIES
def test_an_episode_without_a_partner_is_judged_by_the_registered_policy(policy: bytes, outcome: str) -> None:
    """The same number of episodes, but another initial state."""
    rows = [*grid()[1:], ("mover", "place", "left", 0, "other")]
    actual = check(paired(rows, policy), "pairs")

    assert actual.outcome == outcome
    assert "mover: 1 in left, 1 in right" in actual.reason


def test_matched_pairs_pass() -> None:
    """Whatever the order of the rows."""
    assert check(paired(grid()[::-1]), "pairs").outcome == "passed"


def test_pairs_are_counted_within_each_entrant() -> None:
    """An episode of one is no partner for that of another."""
    left = grid(conditions=("left",))
    right = grid(conditions=("right",), entrant="naive")

    assert failed(paired([*left, *right]))["pairs"].startswith(
        "Episodes without a partner (same seed and item) in the other condition: "
        "mover: 20 in left, 0 in right; naive: 0 in left, 20 in right."
    )


def test_pairs_are_not_asked_of_the_document_form() -> None:
    """Its partners are not two sides of one contrast."""
    assert "pairs" not in rules(case())


def test_counting_agrees_with_counting_one_by_one() -> None:
    """Cells against a plain dictionary, on rows in any order."""
    rng = np.random.default_rng(7)
    whole = [row for e, t in product("ab", "xy") for row in grid([3, -1, 2**40], ("l", "r"), 5, e, t)]
    rows = [whole[at] for at in rng.permutation(len(whole))[:80]]
    counted = {
        (cell.entrant, cell.task, cell.condition, cell.seed): cell.n_episodes
        for cells in count_runs(table(rows), np.ones(len(rows), dtype=np.bool_)).values()
        for cell in cells
    }

    assert counted == dict(Counter(row[:4] for row in rows))


def test_a_gap_under_best_effort_is_told_and_admitted() -> None:
    """A missing seed leaves the other rules as they are."""
    six = BEST_EFFORT.replace(b"[0, 1, 2, 3, 4]", b"[0, 1, 2, 3, 4, 5]")

    assert failed(case(registered=registered(six))) == {}


@ANY_POLICY
def test_the_registered_failure_policy_is_told(policy: bytes) -> None:
    """It has a check of its own, and the gaps are judged by it."""
    assert policy.decode() in check(under(policy, grid()), "failure_policy").reason


def test_best_effort_that_the_manifest_does_not_permit_is_strict() -> None:
    """A registration alone excuses no missing seed, and a check says so."""
    submission = under(b"best_effort", [row for row in grid() if row[3] != 4])
    unpermitted = replace(submission, manifest=permitting(submission.manifest, "strict"))

    assert [check(each, "seeds").outcome for each in (submission, unpermitted)] == ["warned", "failed"]
    assert check(unpermitted, "failure_policy_permitted").outcome == "warned"
