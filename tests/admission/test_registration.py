"""What a registration asks for and a benchmark cannot give, said before the run."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from app.admission.case import History, check_attempts
from app.admission.rules import check_benchmark, shortfalls, unknown_names
from app.manifest.model import AtLeast, Grid
from app.prereg.fields import Prereg
from app.prereg.prereg import parse_prereg
from tests.cases.admission import AXIS, REGISTERED, registered
from tests.cases.chamber import PREREG, manifest

DOCUMENT = parse_prereg(PREREG)
ASKED = {
    "nothing beyond it": (DOCUMENT, []),
    "a metric": (
        replace(DOCUMENT, metrics=("success", "speed")),
        ["The benchmark has no metrics speed; it has computed, success, violation."],
    ),
    "a level of a metric that has none": (
        replace(DOCUMENT, metrics=("success@0.9",)),
        ["The benchmark has no metrics success@0.9; it has computed, success, violation."],
    ),
    "a metric that the server computes": (replace(DOCUMENT, metrics=("computed",)), []),
    "two tasks": (
        replace(DOCUMENT, tasks=("place", "sort", "lift")),
        ["The benchmark has no tasks lift, sort; it has place."],
    ),
    "another form": (
        parse_prereg(AXIS),
        ["The benchmark takes preregistrations of the document form; this one has the axis form."],
    ),
}


SHORT: Mapping[str, tuple[Grid, Prereg, list[str]]] = {
    "no seeds asked, none named": (Grid(), replace(DOCUMENT, seeds=None), []),
    "no seeds asked, some named": (Grid(), DOCUMENT, []),
    "seeds asked, none named": (Grid(seeds=[7]), replace(DOCUMENT, seeds=None), []),
    "as many": (Grid(seeds=5), DOCUMENT, []),
    "another number": (
        Grid(seeds=6),
        DOCUMENT,
        ["The benchmark asks for 6 seeds, and the registration names 5."],
    ),
    "the same": (Grid(seeds=[4, 3, 2, 1, 0]), DOCUMENT, []),
    "others": (
        Grid(seeds=[0, 1, 2, 7, 8]),
        DOCUMENT,
        [
            "The benchmark asks for seeds 7, 8 too: a run without them is partial.",
            "The benchmark does not ask for seeds 3, 4: a run with them is not admitted.",
        ],
    ),
    "fewer than one must choose": (
        Grid(registration_may_choose={"seeds": AtLeast(at_least=6), "conditions": AtLeast(at_least=2)}),
        DOCUMENT,
        ["The benchmark asks for 6 seeds or more, and the registration names 5: a run of it would not be admitted."],
    ),
    "conditions that are not named": (
        Grid(conditions=["homogeneous", "night", "rain"]),
        replace(DOCUMENT, conditions=("homogeneous",)),
        ["The benchmark asks for conditions night, rain too: a run without them is partial."],
    ),
    "no task of the benchmark": (
        Grid(),
        replace(DOCUMENT, tasks=("lift",)),
        ["The benchmark asks for place too: a run without them is partial."],
    ),
}


@pytest.mark.parametrize("case", SHORT)
def test_what_a_registration_leaves_out_is_said_in_a_sentence(case: str) -> None:
    """A run that follows it would be partial, or not be admitted."""
    asked, prereg, sentences = SHORT[case]

    assert shortfalls(prereg, manifest().model_copy(update={"grid": asked})) == sentences


@pytest.mark.parametrize("case", ASKED)
def test_what_the_benchmark_lacks_is_said_in_a_sentence(case: str) -> None:
    """With what there is instead."""
    prereg: Prereg = ASKED[case][0]

    assert unknown_names(prereg, manifest(), ["computed"]) == ASKED[case][1]


def test_a_run_that_began_before_its_registration_for_the_benchmark_is_refused_with_both_times() -> None:
    """A form that names no benchmark is registered for one by an address, and only what comes after counts."""
    began = REGISTERED - timedelta(hours=1, seconds=30)
    unbound = registered(benchmark=None)
    bound = replace(unbound, bound_at={"bench": REGISTERED}, benchmarks=("bench",))
    before, after = check_benchmark(bound, "bench", began), check_benchmark(bound, "bench", REGISTERED)

    assert (before.outcome, after.outcome) == ("failed", "passed")
    assert before.reason == (
        f"Registered for bench {REGISTERED:%Y-%m-%d %H:%M:%S} UTC, after the run began ({began:%Y-%m-%d %H:%M:%S} UTC)."
    )


def test_what_a_steward_attested_counts_from_its_attested_time_in_the_benchmark_too() -> None:
    """It existed before the run, though it was bound to the benchmark after it: the steward's word is about both."""
    began = REGISTERED - timedelta(hours=1)
    bound = replace(registered(benchmark=None), bound_at={"bench": REGISTERED}, benchmarks=("bench",))

    assert check_benchmark(bound, "bench", began).outcome == "failed"
    assert check_benchmark(replace(bound, attested=True), "bench", began).outcome == "passed"


def test_which_attempt_it_is_is_one_sentence() -> None:
    """Of its registration first, then of each entrant; the first of all is not worth a warning."""
    (again,) = check_attempts(History(n_of_prereg=2, n_of_entrant={"b": 3, "a": 1}))
    (first,) = check_attempts(History(n_of_prereg=1, n_of_entrant={"a": 1}))

    assert (again.outcome, again.reason) == ("warned", "Submission 2 under this registration; attempt 3 of b.")
    assert (first.outcome, first.reason) == (
        "passed",
        "Submission 1 under this registration; the first of each of its entrants.",
    )
