"""The same zeros and ones under two entrants are told where chance cannot explain them, and left in peace elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from app.admission.case import Earlier
from app.admission.forensics import compare, ln_arrangements, look_within
from app.stats.arrays import FloatArray
from app.values.fingerprints import fingerprints_of
from app.values.scores import Coded, ScoreTable
from tests.cases.admission import grid, table


def answered(entrant: str, right: FloatArray) -> ScoreTable:
    """Return forty episodes of an entrant with these successes."""
    return replace(table(grid(entrant=entrant)), values=right.reshape(-1, 1))


def seen(first: FloatArray, second: FloatArray) -> list[str]:
    """Return what is said of a second entrant after a first one was admitted."""
    (old,), (new,) = (fingerprints_of(answered(name, right)) for name, right in (("old", first), ("new", second)))
    return [finding.sentence for finding in compare([new], [Earlier(7, is_same=False, fingerprint=old)])]


HALF = np.random.default_rng(5).permutation(np.repeat([0.0, 1.0], 20))


def test_copied_zeros_and_ones_are_flagged() -> None:
    """Twenty of forty right, the very same ones: one of 1.4e11 arrangements."""
    assert seen(HALF, HALF) == ["new has on all of 40 compared rows the results of old (submission 7)"]


def test_one_other_answer_is_another_run() -> None:
    """A copy with a changed row is not told from an honest one that comes close."""
    other = HALF.copy()
    other[[0, 1]] = 1.0 - other[[0, 1]]

    assert seen(HALF, other) == []


@pytest.mark.parametrize("n_wrong", [0, 1, 4])
def test_nearly_all_right_may_be_anybodys(n_wrong: int) -> None:
    """Four of forty wrong can be arranged in 91,390 ways, which is no proof."""
    right = np.ones(40)
    right[:n_wrong] = 0.0

    assert seen(right, right) == []


def test_a_copy_within_one_submission_is_flagged_once() -> None:
    """The second of two by name is said to have the results of the first."""
    both = [*grid(entrant="a"), *grid(entrant="b")]
    scores = replace(table(both), values=np.tile(HALF, 2).reshape(-1, 1))
    (finding,) = look_within(scores).findings

    assert (finding.flag, finding.entrant) == ("same_results", "b")


def by_seed(*right: FloatArray) -> ScoreTable:
    """Return what one entrant answered to the same items under a seed each."""
    n_items = len(right[0])
    zeros = np.zeros(n_items * len(right), dtype=np.int64)
    items = Coded(tuple(f"q{at:02}" for at in range(n_items)), np.tile(np.arange(n_items), len(right)))
    return ScoreTable(
        Coded(("A",), zeros), Coded(("t",), zeros), ("correct",), np.concatenate(right)[:, None],
        zeros.astype(bool), zeros, zeros, seed=np.repeat(np.arange(len(right)), n_items), item=items,
    )  # fmt: skip


def test_one_seed_under_several_names_is_flagged_also_where_rows_say_yes_and_no() -> None:
    """Three seeds of the same answers are one run; the fourth is another one."""
    (finding,) = look_within(by_seed(HALF, HALF, HALF, 1 - HALF)).findings

    assert (finding.flag, finding.sentence) == ("same_seeds", "A, all 40 rows of seeds 0, 1, 2")


def test_a_dozen_rows_under_five_seeds_are_flagged_and_under_two_may_be_chance() -> None:
    """Half a billion orders of twelve results: two equal ones may be met, five may not; ten zeros and ones always."""
    rows, few = np.arange(12.0), np.repeat([0.0, 1.0], 5)

    assert [finding.flag for finding in look_within(by_seed(*[rows] * 5)).findings] == ["same_seeds"]
    assert look_within(by_seed(rows, rows)).findings == ()
    assert look_within(by_seed(*[few] * 5)).findings == ()


def test_seeds_that_are_nearly_all_right_may_be_alike() -> None:
    """Thirty-nine of forty right can be arranged in forty ways."""
    right = np.ones(40)
    right[3] = 0.0

    assert look_within(by_seed(right, right)).findings == ()


def test_arrangements_are_counted_as_a_multinomial() -> None:
    """Six rows of three results, two of each: 90."""
    assert np.exp(ln_arrangements(np.array([1, 1, 2, 2, 3, 3], dtype=np.uint64))) == pytest.approx(90)
