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


def test_a_registered_entrant_that_is_missing_does_not_agree() -> None:
    """Nor does one more than was registered."""
    fewer = deviations(entrants=("mover", "ghost"))["entrants"]
    more = deviations(entrants=())["entrants"]

    assert fewer == ("ghost, mover", "mover", False)
    assert more[2] is False


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


@pytest.mark.parametrize(("metrics", "agrees"), [(("success",), True), (("success", "speed"), False), ((), None)])
def test_metrics_beyond_the_registered_ones_still_agree(metrics: tuple[str, ...], agrees: bool | None) -> None:
    """What a run measures beside them breaks no promise; a registered one that is missing does."""
    scores = table(grid(), ("success", "violation"), 0.0)
    rows = {str(row[0]): row[1:] for row in deviations_table(registered(metrics=metrics), scores, ()).rows}

    assert rows["metrics"] == (", ".join(sorted(metrics)) or None, "success, violation", agrees)


@pytest.mark.parametrize(("declared", "agrees"), [(4, True), (3, False), (5, False)])
def test_episodes_of_each_cell_agree_with_the_number_that_was_declared(*, declared: int, agrees: bool) -> None:
    """Every seed and condition has four."""
    assert deviations(episodes_per_seed=declared)["episodes per seed and condition"] == (str(declared), "4", agrees)
