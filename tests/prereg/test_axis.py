"""The axis form: CHAMBER's six preregistrations, and what is refused in it."""

from pathlib import Path

import pytest

from app.prereg.prereg import parse_prereg
from tests.cases.preregs import AXIS, problems_of, with_key

CHAMBER = Path(__file__).parents[1] / "data" / "chamber_prereg"


@pytest.mark.parametrize("axis", ["AS", "CM", "CR", "OM", "PF", "SA"])
def test_the_given_files_are_read(axis: str) -> None:
    """Each of the six registered axes declares five seeds of twenty episodes in two conditions, and claims its gap:
    homogeneous minus heterogeneous, at least 20 percentage points.
    """
    prereg = parse_prereg((CHAMBER / "prereg" / f"{axis}.yaml").read_bytes())
    (claim,) = prereg.hypotheses

    assert (prereg.form, prereg.axis, prereg.estimator) == ("axis", axis, "iqm_success_rate")
    assert (prereg.seeds, prereg.episodes_per_seed) == ((0, 1, 2, 3, 4), 20)
    assert len(prereg.conditions or ()) == 2
    assert (prereg.git_tag or "").startswith("prereg-stage")
    assert (claim.name, len(claim.contrast), claim.threshold, claim.direction) == ("axis gap", 2, 0.20, "greater")


def test_the_pair_keeps_its_order_and_what_the_form_does_not_have_stays_open() -> None:
    """An axis names neither benchmark nor entrants, tasks or metrics; the parsed text keeps its keys in their order."""
    prereg = parse_prereg(AXIS.encode())

    assert prereg.conditions == ("one_arm", "two_arms")
    assert (prereg.benchmark, prereg.entrants, prereg.tasks, prereg.metrics) == (None, None, None, ())
    assert list(prereg.document) == ["axis", "condition_pair", "seeds", "episodes_per_seed", "estimator", "git_tag"]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (
            "axis: as",
            "axis",
            "unknown axis; known are AS (action space), OM (observation modality), CR (control rate), "
            "CM (communication), PF (partner familiarity), SA (safety)",
        ),
        ("axis: 7", "axis", "axis must be text"),
        ("estimator: ''", "estimator", "estimator must not be empty"),
        ("episodes_per_seed: 0", "episodes_per_seed", "episodes_per_seed must be a whole number of at least 1"),
        ("episodes_per_seed: true", "episodes_per_seed", "episodes_per_seed must be a whole number of at least 1"),
        (
            "condition_pair: [a, b]",
            "condition_pair",
            "condition_pair must be a mapping of homogeneous_id and heterogeneous_id",
        ),
        (
            "condition_pair: {homogeneous_id: a, heterogeneous_id: a}",
            "condition_pair.heterogeneous_id",
            "the two conditions must differ",
        ),
        (
            "condition_pair: {homogeneous_id: a}",
            "condition_pair.heterogeneous_id",
            "the key heterogeneous_id is required",
        ),
        ("benchmrk: x", "benchmrk", None),
        (
            'condition_pair: {homogeneous_id: "A\\u200b1", heterogeneous_id: b}',
            "condition_pair.homogeneous_id",
            None,
        ),
    ],
)
def test_each_refusal_has_its_own_message(line: str, column: str, message: str | None) -> None:
    """What is wrong is said at the key that is wrong."""
    (problem,) = problems_of(with_key("axis", line))

    assert problem.column == column
    assert message is None or problem.message == message
