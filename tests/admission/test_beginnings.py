"""When a run began: demanded where the manifest says so, and what was said first is not forgotten."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from app.admission.case import Earlier
from app.admission.forensics import Beginning, began_before
from app.stats.arrays import FloatArray
from app.values.fingerprints import Fingerprint, fingerprints_of
from tests.cases.admission import RECEIVED, REGISTERED, RUN_BEGAN, case, demanding, failed, grid, table

BEFORE, AFTER = REGISTERED - timedelta(days=1), REGISTERED + timedelta(days=1)
DIGITS = np.random.default_rng(3).lognormal(size=(40, 1))


@pytest.mark.parametrize(
    ("message", "broken"),
    [(None, ["started_at"]), (RUN_BEGAN, []), (RECEIVED + timedelta(days=1), ["registered_before_run", "started_at"])],
    ids=["nothing", "a time", "a time after the upload"],
)
def test_a_benchmark_may_demand_the_beginning_of_a_run(message: Any, broken: list[str]) -> None:
    """A run without it, or from the future, is not admitted; one that says it is."""
    submission = case(manifest=demanding(started_at="required"), started_at=message)

    assert list(failed(submission)) == broken


def test_a_run_without_a_registration_says_its_beginning_too() -> None:
    """The key does not ask whether one is cited."""
    manifest = demanding(started_at="required", prereg="optional")

    assert list(failed(case(manifest=manifest, registered=None, started_at=None))) == ["started_at"]


def printed(values: FloatArray) -> Fingerprint:
    """Return the fingerprint of forty episodes of mover."""
    scores = table(grid())
    return fingerprints_of(type(scores)(**{**vars(scores), "values": values}))[0]


OTHER = np.random.default_rng(4).lognormal(size=(40, 1))
SAID = {
    "the same rows, refused": (DIGITS, BEFORE, True, "with the same rows in submission 7"),
    "the same rows with other last digits": (DIGITS * (1 + 1e-9), BEFORE, True, "with the same rows in submission 7"),
    "the same rows, admitted under an older registration": (DIGITS, BEFORE, False, "with the same rows"),
    "other rows, refused": (OTHER, BEFORE, True, "with other rows in submission 7"),
    "other rows, admitted under an older registration": (OTHER, BEFORE, False, ""),
    "the same rows, begun after the registration": (DIGITS, AFTER, False, ""),
    "the same rows, begun in the second of the registration": (DIGITS, REGISTERED, False, ""),
}


@pytest.mark.parametrize("reported", SAID)
def test_what_was_said_first_of_its_beginning_is_told(reported: str) -> None:
    """Of the same rows always; of others only where they were refused for it: a new run may replace an old one."""
    values, began, was_refused, sentence = SAID[reported]
    earlier = [Earlier(7, is_same=True, fingerprint=printed(values))]
    actual = [*began_before([printed(DIGITS)], earlier, {7: Beginning(began, was_refused)}, REGISTERED)]

    assert [(one.flag, sentence in one.sentence) for one in actual] == ([("began_before", True)] if sentence else [])
