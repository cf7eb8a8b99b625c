"""Declared against delivered: what the page of a registration shows beside its outcome."""

import pytest

from app.admission.claims import deviations_table
from app.prereg.prereg import git_blob_sha1
from app.values.facts import BundleFacts
from tests.cases.admission import facts, grid, registered, table
from tests.cases.chamber import PREREG

BLOB = git_blob_sha1(PREREG)


def deviations(*bundles: BundleFacts, **declared: object) -> dict[str, tuple[object, ...]]:
    """Return declared, delivered and whether they agree, by what."""
    result = deviations_table(registered(**declared), table(grid()), bundles)
    return {str(row[0]): row[1:] for row in result.rows}


def test_an_honest_bundle_agrees_in_what_it_says_of_itself() -> None:
    """Its tag and both of its git blobs; it is silent about purpose and method, so nothing is said of these."""
    actual = deviations(facts())

    assert actual["git tag"] == ("prereg-1", "prereg-1", True)
    assert actual["git blob that is cited"] == actual["git blob of the prereg sent"] == (BLOB, BLOB, True)
    assert actual["run purpose"] == ("leaderboard", None, None)
    assert actual["bootstrap method"] == ("cluster", None, None)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("run purpose", {"run_purpose": "debug"}),
        ("bootstrap method", {"bootstrap_method": "iid"}),
        ("git tag", {"git_tag": "prereg-2"}),
        ("git blob that is cited", {"cited_blob_sha1": "1" * 40}),
        ("git blob of the prereg sent", {"prereg_blob_sha1": "1" * 40}),
    ],
)
def test_a_bundle_that_says_otherwise_does_not_agree(what: str, message: dict[str, str]) -> None:
    """One of two bundles is enough; both values are shown."""
    declared, delivered, agrees = deviations(facts(), facts(**message))[what]

    assert agrees is False
    assert next(iter(message.values())) in str(delivered)
    assert declared != delivered


@pytest.mark.parametrize(
    ("what", "declared", "agrees"),
    [
        ("metrics", {"metrics": ("success",)}, True),
        ("metrics", {"metrics": ("success", "speed")}, False),
        ("metrics", {"metrics": ()}, None),
        ("entrants", {"entrants": ()}, False),
        *(("episodes per seed and condition", {"episodes_per_seed": n}, n == 4) for n in (3, 4, 5)),
    ],
)
def test_what_was_declared_agrees_where_it_was_delivered(
    what: str, declared: dict[str, object], agrees: bool | None
) -> None:
    """What a run measures beside them breaks no promise; a registered one that is missing does."""
    rows = deviations_table(registered(**declared), table(grid(), ("success", "violation")), ()).rows

    assert {str(row[0]): row[3] for row in rows}[what] is agrees


def test_a_part_of_the_registered_entrants_agrees_and_another_one_does_not() -> None:
    """One of several submissions may deliver a part, as the rule of admission says; a note counts the others."""
    assert deviations(entrants=("mover", "ghost"))["entrants"] == ("ghost, mover", "mover", True)
    assert deviations(entrants=("ghost",))["entrants"] == ("ghost", "mover", False)


@pytest.mark.parametrize(("condition", "agrees"), [("own", True), ("left", False)])
def test_an_entrant_with_its_own_partner_has_a_row_of_its_own(condition: str, agrees: bool) -> None:
    """Its partner is none of the registered conditions, which the other entrants have."""
    rows = table([*grid(conditions=(condition,)), *grid(entrant="other")])
    actual = {str(row[0]): row[1:] for row in deviations_table(registered(own_partner=("mover",)), rows, ()).rows}

    assert actual["partner of mover"] == ("its own only", condition, agrees)
    assert actual["conditions"] == ("left, right", "left, right", True)
