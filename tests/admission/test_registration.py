"""What a registration asks for and a benchmark cannot give, said before the run."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.admission.rules import shortfalls, unknown_names
from app.manifest.model import AtLeast, Grid
from app.prereg.fields import Prereg
from app.prereg.prereg import parse_prereg
from tests.cases.admission import AXIS
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
        ["The benchmark has no metrics success@0.9; it has computed, success, violation. Did you mean success?"],
    ),
    "a metric that the server computes": (replace(DOCUMENT, metrics=("computed",)), []),
    "two tasks": (
        replace(DOCUMENT, tasks=("place", "sort", "lift")),
        ["The benchmark has no tasks lift, sort; it has place."],
    ),
    "a misspelt task": (
        replace(DOCUMENT, tasks=("palce",)),
        ["The benchmark has no tasks palce; it has place. Did you mean place?"],
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
