"""Thresholds of documents as hypotheses; on CHAMBER's own registrations."""

from pathlib import Path

import pytest

from app.prereg.prereg import parse_prereg

GIVEN = Path(__file__).parents[1] / "data" / "chamber_prereg"
Claim = tuple[str | None, tuple[str, ...], float, str]


def claims(name: str) -> list[Claim]:
    """Return what a registered file claims."""
    hypotheses = parse_prereg((GIVEN / f"{name}.yaml").read_bytes()).hypotheses
    return [(each.name, each.contrast, each.threshold, each.direction) for each in hypotheses]


def test_the_admission_protocol_has_its_three_claims() -> None:
    """A1 and A2 are arms, A3 is a contrast; the cells have names of their own."""
    assert claims("prereg_doc/cocarry_admission") == [
        ("A1 tau_solv", ("a1_reference",), 0.95, "greater"),
        ("A2 tau_infeasible", ("a2_single_arm",), 0.05, "less"),
        ("A3 delta_min", ("a1_reference", "a3_blind"), 0.20, "greater"),
    ]


def test_wrapped_cells_have_the_names_of_their_archives() -> None:
    """A4 holds every member to its own floor."""
    actual = claims("prereg_doc/cocarry_admission_a4_rev2")

    assert [contrast for _, contrast, _, _ in actual[:3]] == [
        ("a1_reference",), ("a2_single_arm",), ("a1_reference", "a3_blind")
    ]  # fmt: skip
    assert actual[3] == ("A4 c_min_ego, imp_stiff_low", ("imp_stiff_low",), 0.75, "greater")
    assert len(actual) == 10


def test_a_document_that_describes_itself_has_its_thresholds() -> None:
    """Percentage points are shares here."""
    matched, mismatch = "handover_matched_reference", "handover_presentation_mismatch"

    assert claims("prereg_doc/gate0") == [
        ("solvability_threshold_tau_solv", (matched,), 0.90, "greater"),
        ("coupling_delta_min_pp", (matched, mismatch), 0.20, "greater"),
    ]


def test_a_side_that_is_not_named_is_said_to_be_unnamed() -> None:
    """The threshold stands in the list, and nothing can decide it."""
    assert claims("prereg_doc/coinsert_s0") == [
        ("delta_min", ("coinsert_matched_reference", "unnamed-arm"), 0.20, "greater")
    ]


@pytest.mark.parametrize("name", ["cocarry_baselines_v1", "handover_baselines_v1"])
def test_a_campaign_of_baselines_claims_nothing(name: str) -> None:
    """It has rules of conduct and no threshold."""
    assert claims(f"prereg_doc/{name}") == []
