"""What a registration asks for and a benchmark cannot give, said before the run."""

from dataclasses import replace

import pytest

from app.admission.registration import unknown_names
from app.prereg.prereg import Prereg, parse_prereg
from tests.cases.admission import AXIS
from tests.cases.chamber import PREREG, manifest

DOCUMENT = parse_prereg(PREREG)
ASKED = {
    "nothing beyond it": (DOCUMENT, []),
    "a metric": (
        replace(DOCUMENT, metrics=("success", "speed")),
        ["The benchmark has no metrics speed; it has computed, success, violation."],
    ),
    "a level of a metric": (replace(DOCUMENT, metrics=("success@0.9",)), []),
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


@pytest.mark.parametrize("case", ASKED)
def test_what_the_benchmark_lacks_is_said_in_a_sentence(case: str) -> None:
    """With what there is instead."""
    prereg: Prereg = ASKED[case][0]

    assert unknown_names(prereg, manifest(), ["computed"]) == ASKED[case][1]
