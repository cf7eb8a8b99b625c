"""What hypotheses compare and the benchmark does not know, said before the run."""

from dataclasses import replace

import pytest

from app.admission.claims import unknown_sides
from app.admission.rules import unknown_names
from app.kinds.parse import parse_manifest
from app.kinds.registry import kind_of
from app.prereg.fields import Prereg
from app.prereg.prereg import parse_prereg
from tests.cases.admission import AXIS
from tests.cases.chamber import MANIFEST, manifest

OPEN, NONE = None, ()
CLOSED = ("easy", "hard")
SUBMITTED = ("Seasonal Naive", "base")


def comparing(first: str, second: str, entrants: str = "[mine]") -> Prereg:
    """Return a registration of one hypothesis."""
    contrast = f"{{contrast: [{first}, {second}], metric: success, threshold: 0}}"
    return parse_prereg(
        f"benchmark: arm\nmetrics: [success]\nentrants: {entrants}\nhypotheses: [{contrast}]\n".encode()
    )


def nobody(name: str, too: str = "") -> str:
    """Return the sentence about a name without results."""
    return (
        f"Nobody has submitted {name}, and the registration does not list it{too}: "
        f"a hypothesis about it stays inconclusive until there are results of {name}."
    )


CASES = {
    "its own entrant with a submitted one": (comparing("mine", "base"), CLOSED, []),
    "two conditions": (comparing("easy", "hard"), CLOSED, []),
    "a misspelt entrant": (
        comparing("mine", "Seasonal Naiv"),
        NONE,
        [nobody("Seasonal Naiv") + " Did you mean Seasonal Naive?"],
    ),
    "an entrant that may come": (comparing("mine", "rival"), CLOSED, [nobody("rival")]),
    "a name that may be either": (
        comparing("mine", "warm"),
        OPEN,
        [nobody("warm", " (no condition of this name is declared either)")],
    ),
    "a condition beside a known one": (
        comparing("easy", "warm"),
        CLOSED,
        ["The benchmark has no conditions warm; it has easy, hard."],
    ),
    "an entrant with a condition": (
        comparing("mine", "hard"),
        CLOSED,
        ["A hypothesis compares an entrant with a condition (hard, mine): no rows decide it. Compare two of a kind."],
    ),
    "the pair of an axis": (
        parse_prereg(AXIS),
        ("left", "up"),
        ["The benchmark has no conditions right; it has left, up."],
    ),
    "the pair of an axis where there are no conditions": (
        parse_prereg(AXIS),
        NONE,
        ["The benchmark has no conditions left, right; its evidence has none."],
    ),
    "the pair of an axis where any may come": (parse_prereg(AXIS), OPEN, []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_nothing_is_known_of_is_said_in_a_sentence(case: str) -> None:
    """With what there is instead, and whether it may still come."""
    prereg, conditions, sentences = CASES[case]

    assert unknown_sides(prereg, conditions, SUBMITTED) == sentences


LISTS = {
    "none": ("episodes: {condition: null}", NONE),
    "any": ("", OPEN),
    "those of the manifest": ("episodes: {condition: c, conditions: [easy, hard]}", CLOSED),
    "those of the grid, and a task's own": (
        "grid: {conditions: [easy], tasks: {place: {conditions: [hard]}}}",
        CLOSED,
    ),
    "those that registrations name": ("grid: {registration_may_choose: {conditions: {at_least: 2}}}", OPEN),
}


@pytest.mark.parametrize("case", LISTS)
def test_which_conditions_there_are(case: str) -> None:
    """A closed list comes from either place of the manifest."""
    lines, expected = LISTS[case]
    text = MANIFEST.decode().replace("episodes: {condition: metadata.member}", lines)
    declared = parse_manifest(text.encode())

    known = kind_of(declared).rules.conditions(declared)

    assert (known if known is None else tuple(known)) == expected


def test_an_entrant_that_is_not_enrolled_is_said() -> None:
    """Its rows would be refused."""
    prereg = replace(comparing("mine", "base"), entrants=("GPH", "mine"), form="document")

    assert unknown_names(prereg, manifest(), enrolled=["GPH", "RS"]) == [
        "The benchmark has no entrants mine; it has GPH, RS."
    ]
    assert unknown_names(prereg, manifest()) == []
