"""The rules of episodes and bundles: seeds, cells, conditions, pairs, scores, schedules, claims; and forgeries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from app.admission.case import Case
from app.admission.rules import count_runs
from app.boards.coverage import with_worst
from app.kinds.episodes.summary import MAX_CLAIMED_RESAMPLES
from app.kinds.parse import parse_manifest
from app.manifest.model import LeastSeeds, Metric, Task
from app.prereg.fields import IID_REFUSED
from app.prereg.prereg import git_blob_sha1, sha256_hex
from app.values.scores import ScoreTable
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
from tests.cases.chamber import MANIFEST, PREREG, manifest

ONE_SEED = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0]")
SIX_SEEDS = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0, 1, 2, 3, 4, 5]")
OPEN = PREREG.replace(b"  evaluation: {episodes_per_seed: 4}\n", b"").replace(b"seeds: [0, 1, 2, 3, 4]\n", b"")
EDITED = PREREG.replace(b"report success", b"report what looks best")
CLAIM = {"success_ci_low": 0.2, "success_ci_high": 0.4, "n_resamples": 2000, "bootstrap_root_seed": 0}
CLAIMED = demanding(claims="required")
WITH_OWN = registered(PREREG, own_partner=("joint",))


def of(*rows: Row, prereg: bytes = PREREG, **changed: Any) -> Case:
    """Return a submission of these episodes under a registration of these bytes."""
    return case(rows=rows, registered=registered(prereg), **changed)


def paired(*rows: Row, more: bytes = b"") -> Case:
    """Return a submission against a registration of the axis form."""
    return of(*rows, prereg=AXIS + more, manifest=demanding(prereg_forms=["axis"]))


def claiming(**summary: Any) -> Case:
    """Return a bundle whose summary claims this."""
    return case(facts(summary=summary))


def emptied(*at: int, metric: str = "success", rows: Sequence[Row] | None = None) -> ScoreTable:
    """Return episodes with some scores left empty."""
    scores = table(grid() if rows is None else rows, ("success", "violation"))
    scores.values[list(at), scores.columns.index(metric)] = np.nan
    return scores


MORE = [*grid(), ("mover", "place", "left", 2, "more")]
NO_PARTNER = [*grid()[1:], ("mover", "place", "left", 0, "other")]
NAIVE_LACKS = [*grid(), *grid(range(3), entrant="naive")]
AXES = demanding(prereg_forms=["axis"]).model_copy(update={"tasks": [Task(id="AS")]})
REFUSED: dict[str, tuple[Case, dict[str, str]]] = {
    "one seed, as registered": (
        of(*grid([0]), prereg=ONE_SEED), {"min_seeds": "mover has 1 seed on place; the benchmark requires 5."}),
    "a seed listed sixteen times": (
        of(*grid([0]), prereg=ONE_SEED, facts=case(facts(seeds=(0,) * 16)).facts, manifest=demanding(min_seeds=16)),
        {"seeds": "A seed counts once however often it is listed: seed 0 is listed 16 times.",
         "min_seeds": "mover has 1 seed on place; the benchmark requires 16.", "prereg_unchanged": ""}),
    "a seed listed twice": (
        case(facts(seeds=(0, 1, 2, 3, 4, 4))),
        {"seeds": "A seed counts once however often it is listed: seed 4 is listed 2 times."}),
    "one seed swapped for another": (
        of(*grid([0, 1, 2, 3, 7])), {"seeds": "mover on place has seeds that were not registered: 7."}),
    "seeds that a bundle only lists": (
        case(facts(seeds=tuple(range(16)))),
        {"seeds": "run lists seeds that were not registered: 5, 6, 7,", "schedule": "lists seeds without episodes"}),
    "seeds of one that the other lacks": (
        of(*NAIVE_LACKS),
        {"seeds": "Registered seeds are missing: naive on place lacks 3, 4.",
         "min_seeds": "naive has 3 seeds on place; the benchmark requires 5."}),
    "two with too few seeds": (
        of(*grid(range(2)), *grid(range(3), entrant="naive")),
        {"seeds": "",
         "min_seeds": "mover has 2 seeds on place; naive has 3 seeds on place; the benchmark requires 5."}),
    "rows without seeds": (
        case(scores=replace(table(grid(), ["success"]), seed=None)),
        {"episodes_per_seed": "There are no episodes.",
         "min_seeds": "The rows carry no seeds; the benchmark requires 5."}),
    "a condition that one of two lacks": (
        of(*grid(), *grid(conditions=("left",), entrant="naive")),
        {"conditions": "naive lacks registered conditions: right."}),
    "a pair that was trained together with a partner of the others": (
        case(rows=grid(conditions=["left"], entrant="joint"), registered=WITH_OWN),
        {"conditions": "has partners of the others: left."}),
    "such a pair with two partners": (
        case(rows=grid(conditions=["own", "new"], entrant="joint"), registered=WITH_OWN),
        {"conditions": "has more than one partner in seeds 0, 1, 2, 3, 4."}),
    "the partner of such a pair with another": (
        case(rows=grid(conditions=["own"]), registered=WITH_OWN), {"conditions": ""}),
    "an episode of one as the partner of another's": (
        paired(*grid(conditions=("left",)), *grid(conditions=("right",), entrant="naive")),
        {"conditions": "",
         "pairs": "Episodes without a partner (same seed and item) in the other condition: "
                  "mover: 20 in left, 0 in right; naive: 0 in left, 20 in right."}),
    "best effort that the manifest does not permit": (
        replace(of(*grid(range(4)), prereg=PREREG + b"failure_policy: best_effort\n"),
                manifest=permitting(manifest(), "strict")), {"seeds": "", "min_seeds": ""}),
    "an edited registration": (
        case(facts(prereg_sha256=sha256_hex(EDITED), cited_blob_sha1=git_blob_sha1(EDITED))),
        {"prereg_unchanged": f"the prereg.yaml in run has SHA-256 {sha256_hex(EDITED)}"}),
    "an edited registration that still cites the registered one": (
        case(facts(prereg_sha256="0" * 64)), {"prereg_unchanged": ""}),
    "another git blob inside": (
        case(facts(prereg_sha256=None, prereg_blob_sha1="1" * 40)),
        {"prereg_unchanged": f"the prereg.yaml in run is git blob {'1' * 40}"}),
    "one forged of five": (
        case(*[facts()] * 4, facts(cited_blob_sha1="2" * 40)),
        {"prereg_unchanged": f"run cites git blob {'2' * 40}"}),
    "a bundle that pools, for another purpose than was registered": (
        case(facts(bootstrap_method="iid", run_purpose="debug")),
        {"bundle_bootstrap_method": IID_REFUSED,
         "bundle_run_purpose": "The registered run purpose is leaderboard, the files say debug."}),
    "a power run that pools without having registered it": (
        case(facts(bootstrap_method="iid"), registered=registered(PREREG, run_purpose="power")),
        {"bundle_bootstrap_method": "The registered bootstrap method is cluster, the files say iid.",
         "run_purpose": ""}),
    "a power run that did not pool as registered": (
        case(facts(bootstrap_method="cluster"),
             registered=registered(PREREG, bootstrap_method="iid", run_purpose="power")),
        {"bundle_bootstrap_method": "The registered bootstrap method is iid, the files say cluster.",
         "run_purpose": ""}),
    "seeds that are listed and not there, and the other way round": (
        case(facts(seeds=(0, 1, 2, 3, 9))),
        {"seeds": "", "schedule": "run lists seeds without episodes (9)"}),
    **{f"schema version {version}": (
        case(facts(schema_version=version)),
        {"schema_version": f"Unknown schema version (run: {version}); known are 2, 3."}) for version in (None, 1, 4)},
    "an interval that cannot be drawn again": (
        claiming(success_ci_low=0.1, success_ci_high=0.2, n_resamples=None), {"resamples": "cannot be drawn again"}),
    "an interval the wrong way round": (
        claiming(success_ci_low=0.2, success_ci_high=0.1, n_resamples=2000), {"resamples": "run: 0.2 to 0.1"}),
    **{f"{n} resamples": (
        claiming(n_resamples=n),
        {"resamples": f"An interval from fewer than 1000 resamples is not one: run: {n}." if n in (1, 999) else str(n)})
       for n in (1, 999, 1500.5, True, float("inf"))},
    "no interval where one is demanded, whatever averages are claimed": (
        case(facts(summary={"success_mean": 0.5}), claims={"mover": {"success": 0.5}}, manifest=CLAIMED),
        {"claims": "The benchmark requires a claimed interval (success_ci_low, success_ci_high); it is missing in"}),
    **{f"a demanded interval, drawn from {root}": (
        case(facts(summary=CLAIM | {"bootstrap_root_seed": root}), manifest=CLAIMED),
        {"claims": "A claimed interval is compared by drawing it again, with n_resamples and"}) for root in (-1, None)},
    "too few seeds for a spike": (
        case(facts(), registered=registered(AXIS),
             manifest=demanding(min_seeds=LeastSeeds(spike=6, entry=16), prereg_forms=["axis", "document"])),
        {"prereg_unchanged": "", "min_seeds": "mover has 5 seeds on place; the benchmark requires 6."}),
    "too few seeds for an entry": (
        case(facts(), manifest=demanding(min_seeds=LeastSeeds(spike=6, entry=16))),
        {"min_seeds": "mover has 5 seeds on place; the benchmark requires 16."}),
    "an axis that the benchmark has not": (
        of(*grid(task="AS"), prereg=AXIS.replace(b"axis: AS", b"axis: OM"), manifest=AXES), {"axis": ""}),
    "an empty score": (
        case(scores=emptied(0, 1)),
        {"scores_present": "Episodes without a score that ranks: success of mover in 2 of 40. The registered failure "
                           "policy is strict.",
         "episodes_per_seed": "mover, place, left, seed 0 has 4, 2 with scores"}),
    "an empty score without a worst value, under any policy": (
        case(scores=emptied(0), registered=registered(failure_policy="best_effort"),
             manifest=parse_manifest(MANIFEST.replace(b"direction: maximize, min: 0, max: 1", b"direction: maximize"))),
        {"scores_present": "declares no worst value that they could count as: success."}),
    "an empty score without a registration": (
        case(scores=emptied(0), registered=None), {"prereg": "", "scores_present": "failure policy is strict"}),
    "a seed of which nothing was scored": (
        case(scores=emptied(*range(8)), registered=registered(failure_policy="best_effort")),
        {"min_seeds": "mover has 4 seeds with scores on place; the benchmark requires 5."}),
    "more rows than registered, however few are scored": (
        case(scores=emptied(40, rows=MORE), registered=registered(failure_policy="best_effort")),
        {"episodes_per_seed": "not admitted under any policy"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_forgery_is_refused_by_the_rules_that_find_it_and_by_no_other(name: str) -> None:
    """In words that name what is wrong."""
    submission, said = REFUSED[name]
    actual = failed(submission)

    assert actual.keys() == said.keys()
    assert [(rule, actual[rule]) for rule, words in said.items() if words not in actual[rule]] == []


def under(policy: bytes, *rows: Row, prereg: bytes = PREREG) -> Case:
    """Return a submission of these episodes whose registration has this failure policy."""
    return of(*rows, prereg=prereg + b"failure_policy: " + policy + b"\n")


BAD_CELL = [row for row in grid() if (row[2], row[3]) != ("right", 3)]
GAPS: dict[str, tuple[list[Row], bytes, str, str]] = {
    "a missing seed": (grid(range(4)), PREREG, "seeds", "Registered seeds are missing: mover on place lacks 4."),
    "a missing episode": (grid()[1:], PREREG, "episodes_per_seed", "mover, place, left, seed 0 has 3"),
    "a condition that one seed lacks": (BAD_CELL, PREREG, "episodes_per_seed", "mover, place, right, seed 3 has 0"),
    "unequal seeds where no number was registered": (
        grid()[1:], OPEN, "episodes_per_seed",
        "Seeds have from 3 (mover, place, left, seed 0) to 4 episodes in one condition."),
    "unequal seeds of one task of two": (
        [*grid(), *grid(n=3, task="sort")][:-1], OPEN, "episodes_per_seed",
        "Seeds have from 2 (mover, sort, right, seed 4) to 3 episodes in one condition."),
    "an episode without a partner": (NO_PARTNER, AXIS, "pairs", "mover: 1 in left, 1 in right"),
}  # fmt: skip


@pytest.mark.parametrize("name", GAPS)
@pytest.mark.parametrize(("policy", "outcome"), [(b"strict", "failed"), (b"best_effort", "warned")])
def test_a_gap_is_judged_by_the_registered_policy(name: str, policy: bytes, outcome: str) -> None:
    """Refused, or left out and reported; the cell that lacks something is named, and the policy has its own check."""
    rows, prereg, rule, words = GAPS[name]
    submission = under(policy, *rows, prereg=prereg)
    actual = check(submission, rule)

    assert (actual.outcome, words in actual.reason) == (outcome, True)
    assert policy.decode() in check(submission, "failure_policy").reason


CHOSEN = {
    "an extra seed": (grid(range(6)), "seeds", "mover on place has seeds that were not registered: 5."),
    "more episodes than registered": (MORE, "episodes_per_seed", "mover, place, left, seed 2 has 5."),
    "a third partner": (
        grid(conditions=("left", "right", "up")), "conditions", "mover has conditions that were not registered: up."),
    "the hardest partner left out": (
        grid(conditions=("left",)), "conditions", "mover lacks registered conditions: right."),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("policy", [b"strict", b"best_effort"])
def test_what_may_have_been_chosen_for_its_result_is_refused_under_any_policy(name: str, policy: bytes) -> None:
    """A run that goes on until it looks well has chosen it."""
    rows, rule, words = CHOSEN[name]

    assert words in failed(under(policy, *rows))[rule]


TOLD: dict[str, tuple[Case, str, str, str]] = {
    "a registration without seeds": (of(*grid(), prereg=OPEN), "seeds", "warned", ""),
    "equal seeds without a registered number": (of(*grid(), prereg=OPEN), "episodes_per_seed", "warned", ""),
    "a task of more episodes than another": (
        of(*grid(), *grid(n=3, task="sort"), prereg=OPEN), "episodes_per_seed", "warned",
        "every seed of a task has as many: place 4, sort 3."),
    **{f"a {purpose} run of one seed": (
        of(*grid([0]), prereg=ONE_SEED + f"run_purpose: {purpose}\n".encode()), "min_seeds", "warned",
        f"A {purpose} run may have fewer: it is never ranked.") for purpose in ("power", "debug")},
    "a pair that was trained together": (
        case(rows=[*grid(), *grid(conditions=["own"], entrant="joint")], registered=WITH_OWN), "conditions", "passed",
        "Exactly the 2 registered conditions were delivered. joint has its own trained partner only, as registered."),
    "matched pairs in any order": (paired(*grid()[::-1]), "pairs", "passed", ""),
    "best effort that the manifest does not permit": (
        REFUSED["best effort that the manifest does not permit"][0], "failure_policy_permitted", "warned", ""),
    "a bundle that cites nothing": (
        case(facts(prereg_sha256=None, prereg_blob_sha1=None, cited_blob_sha1=None)), "prereg_unchanged", "warned", ""),
    "another tag, which can be moved": (
        case(facts(git_tag="prereg-1-rev2")), "git_tag", "warned", "prereg-1-rev2"),
    "the registered bootstrap": (
        case(facts(bootstrap_method="cluster")), "bundle_bootstrap_method", "passed", ""),
    "the registered bootstrap by another name": (
        case(facts(bootstrap_method="hierarchical")), "bundle_bootstrap_method", "passed", ""),
    "a bundle that is not as it lists itself, under best effort": (
        case(facts(), rows=grid()[1:], registered=registered(failure_policy="best_effort")), "schedule", "warned",
        "run lists 8 episodes in each seed and has 7"),
    **{f"an interval of {outcome} resamples": (claiming(n_resamples=n), "resamples", outcome, "")
       for n, outcome in ((1000, "passed"), (MAX_CLAIMED_RESAMPLES, "passed"), (10**400, "warned"))},
    "an interval without width": (
        claiming(success_ci_low=0.4, success_ci_high=0.4, n_resamples=2000), "resamples", "passed", ""),
    "averages alone of a run whose layout has no place for an interval": (
        case(facts(schema_version=2, summary={}), claims={"mover": {"success": 0.5}}, manifest=CLAIMED),
        "claims", "warned", "The claims hold averages and no interval"),
    "a bundle that cites the registered blob and has no copy of it": (
        case(facts(prereg_sha256=None, prereg_blob_sha1=None)), "prereg_unchanged", "passed", ""),
    "two bundles, each with its own seeds": (
        case(facts(seeds=(0, 1)), facts("other", seeds=(2, 3, 4), files=(1,)),
             scores=replace(emptied(), file=np.repeat([0, 1], [16, 24]))), "schedule", "passed", ""),
    "a demanded interval": (case(facts(), manifest=CLAIMED), "claims", "passed", ""),
    "an axis of the benchmark": (of(*grid(task="AS"), prereg=AXIS, manifest=AXES), "axis", "passed", ""),
    "every score": (case(), "scores_present", "passed", ""),
    "an empty score under best effort": (
        case(scores=emptied(0), registered=registered(failure_policy="best_effort")), "scores_present", "warned",
        "each counts as the worst there is (success 0)."),
    "an empty score without a registration where gaps are permitted": (
        case(scores=emptied(0), registered=None, manifest=demanding(failure_policy="best_effort")),
        "scores_present", "warned", "The benchmark's failure policy is best_effort"),
    "an empty score of a metric that does not rank": (
        case(scores=emptied(0, metric="violation")), "scores_present", "warned", "violation of mover in 1 of 40"),
    "an empty score of a metric that one of two has nowhere": (
        case(scores=emptied(0, *range(40, 80), metric="violation", rows=[*grid(), *grid(entrant="naive")])),
        "scores_present", "warned", "violation of mover in 1 of 40."),
    "an empty score of a task that no board ranks": (
        case(scores=emptied(0), manifest=parse_manifest(
            MANIFEST.replace(b"[{id: place}]", b"[{id: place}, {id: lift}]")
            .replace(b"{name: success,", b"{name: success, tasks: [lift],"))), "scores_present", "passed", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_what_keeps_nobody_out_is_told(name: str) -> None:
    """As passed, or as a warning."""
    submission, rule, outcome, words = TOLD[name]
    actual = check(submission, rule)

    assert (actual.outcome, words in actual.reason) == (outcome, True), actual.reason


def test_what_no_rule_can_see_passes() -> None:
    """Flipped successes: that is what self-reported means. A gap under best effort leaves the other rules as they are,
    pairs are not asked of the document form, nor resamples of a bundle that claims none.
    """
    assert failed(case(scores=table(grid(), ["success"], value=0.0))) == {}
    assert failed(of(*grid(), prereg=SIX_SEEDS + b"failure_policy: best_effort\n")) == {}
    assert "pairs" not in rules(case())
    assert "git_tag" not in rules(case(facts(), registered=registered(git_tag=None)))
    own = check(case(rows=grid(conditions=["own"], entrant="joint"), registered=WITH_OWN), "conditions")
    assert own.reason == "joint has its own trained partner only, as registered."
    assert "resamples" not in rules(claiming(success_mean=0.5))


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


@pytest.mark.parametrize(
    ("declared", "worst"),
    [
        ({"direction": "maximize", "min": 0, "max": 1}, 0.0),
        ({"direction": "minimize", "min": 0, "max": 5}, 5.0),
        ({"direction": "minimize"}, None),
        ({"direction": "minimize", "above": 130}, 1.0),
        ({"direction": "maximize", "above": 130, "min": -7}, 0.0),
    ],
)
def test_the_worst_value_follows_from_direction_and_range(declared: dict[str, Any], worst: float | None) -> None:
    """A metric above a limit is yes or no."""
    assert Metric.model_validate(declared).worst == worst


def test_only_what_ranks_is_filled_with_the_worst() -> None:
    """Another metric stays unknown."""
    scores = emptied(0)
    scores.values[1, 1] = np.nan
    filled = with_worst(manifest(), scores)

    assert filled.value("success")[:2].tolist() == [0.0, 1.0]
    assert np.isnan(filled.value("violation")[1])
    assert np.isnan(scores.value("success")[0])
