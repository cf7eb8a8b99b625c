"""Claims of a submission about itself, compared with its rows."""

from app.admission.claims import check_claims


def test_claims_that_differ_are_counted_beyond_those_that_are_named() -> None:
    """Ten are listed; that there are more is said, so that the list does not look complete."""
    claimed = {f"E{at:02}": {"error": 1.0} for at in range(12)}
    (check,) = check_claims(claimed, {(name, "error"): 2.0 for name in claimed})

    assert check.outcome == "failed"
    assert check.reason.startswith("Claimed means differ from the rows: E00 error: 1.0 claimed, 2.0 computed; E01")
    assert check.reason.endswith("E09 error: 1.0 claimed, 2.0 computed; and 2 more.")
