"""Forensics of rows: copies under another seed, condition or name are found, and honest rows are left in peace."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from app.admission.case import Earlier
from app.admission.forensics import Beginning, began_before, compare, ln_arrangements, look_within
from app.stats.arrays import FloatArray
from app.values.fingerprints import fingerprints_of, n_other_results
from app.values.scores import Coded, PredictionBlock, ScoreTable
from tests.cases.admission import REGISTERED, Row, grid, table

RNG = np.random.default_rng(11)
EASE = RNG.beta(2, 1, size=(7, 1, 50))
"""How easy each item of seven conditions is."""
HALF = np.random.default_rng(5).permutation(np.repeat([0.0, 1.0], 20))


def measured(rows: Sequence[Row], values: FloatArray | None = None) -> ScoreTable:
    """Return rows with one measured number each, drawn where none are given."""
    drawn = np.random.default_rng(1).normal(size=len(rows)) if values is None else values
    return replace(table(rows), values=drawn.reshape(-1, 1))


def drawn(seed: int, *shape: int) -> FloatArray:
    """Return measured numbers: nobody else has the same ones."""
    return np.random.default_rng(seed).normal(size=shape or 40)


def repeated(values: FloatArray, into: slice, of: slice) -> FloatArray:
    """Return the values with some of them said again."""
    values[into] = values[of]
    return values


def by_seed(*right: FloatArray) -> ScoreTable:
    """Return what one entrant answered to the same items under a seed each."""
    return of_seeds(np.stack(right)[None])


def of_seeds(right: FloatArray) -> ScoreTable:
    """Return one entrant's rows from results [n_conditions, n_seeds, n_items], in another order than that."""
    shape, order = right.shape, RNG.permutation(right.size)
    condition, seed, item = (each.reshape(-1)[order] for each in np.indices(shape))
    zeros = np.zeros(right.size, dtype=np.int64)
    words = [tuple(f"{letter}{at:02}" for at in range(n)) for letter, n in (("c", shape[0]), ("q", shape[2]))]
    return ScoreTable(
        Coded(("A",), zeros), Coded(("t",), zeros), ("right",), right.reshape(-1)[order][:, None], zeros.astype(bool),
        zeros, zeros, condition=Coded(words[0], condition), seed=seed, item=Coded(words[1], item),
    )  # fmt: skip


def honest(n_seeds: int = 5, n_conditions: int = 7) -> FloatArray:
    """Return the results of independent seeds, [n_conditions, n_seeds, n_items], on items that are unequally hard."""
    ease = EASE[:n_conditions]
    return (RNG.random((n_conditions, n_seeds, ease.shape[2])) < ease).astype(np.float64)


def turned(one: FloatArray, n_seeds: int = 5) -> FloatArray:
    """Return one seed's results [n_conditions, 1, n_items] under several seeds, each time some items further."""
    return np.concatenate([np.roll(one, 7 * at, axis=2) for at in range(n_seeds)], axis=1)


def nearly_one_another() -> FloatArray:
    """Return one seed's results moved to other items, and two of them turned over for each further seed."""
    rng = np.random.default_rng(5)
    moved = turned(honest(1))
    for seed in range(1, 5):
        at = rng.integers(0, 50, size=(7, 2))
        moved[np.arange(7)[:, None], seed, at] = 1.0 - moved[np.arange(7)[:, None], seed, at]
    return moved


def one_wrong_each(n_conditions: int) -> FloatArray:
    """Return five seeds in each of which one item of fifty is wrong, another one each time."""
    right = np.ones((n_conditions, 5, 50))
    right[:, np.arange(5), np.arange(5)] = 0.0
    return right


BOTH = [*grid(), *grid(entrant="other")]
ONE_CONDITION = repeated(drawn(4, 2, 5, 4), slice(1, 2), slice(0, 1)).swapaxes(0, 1)
NUMBERS = drawn(29, 20)
ALL_BUT_ONE = np.where(np.arange(40) == 3, 0.0, 1.0)
WITHIN: dict[str, tuple[ScoreTable, dict[str, str]]] = {
    "measured rows": (measured(BOTH), {}),
    "zeros and ones that are the same for everybody": (table(grid()), {}),
    "one seed under five": (
        measured(grid(), np.tile(drawn(2, 8), 5)), {"repeated_seed": "mover on place, 40 rows of 0, 1, 2, 3, 4"}),
    "two seeds of which half is the same": (
        measured(grid(), repeated(drawn(3), slice(8, 12), slice(4))),
        {"repeated_seed": "mover on place, 8 rows of 0, 1"}),
    "one equal number": (measured(grid(), repeated(drawn(3), slice(8, 9), slice(1))), {}),
    "rows of one condition under another": (
        measured(grid(), ONE_CONDITION.reshape(-1)),
        {"repeated_condition": "mover on place, 40 rows of left, right"}),
    "nine equal numbers in a row": (
        measured(grid(), repeated(drawn(6), slice(10, 19), slice(10, 11))),
        {"repeated_seed": "", "equal_run": "mover has 9 in a row"}),
    "three seeds of the same yes and no, and another one": (
        by_seed(HALF, HALF, HALF, 1 - HALF), {"same_seeds": "A, all 40 rows of seeds 0, 1, 2"}),
    "a dozen numbers under five seeds": (by_seed(*[np.arange(12.0)] * 5), {"same_seeds": "A, all 12 rows"}),
    "a dozen numbers under two seeds, which may be chance": (by_seed(*[np.arange(12.0)] * 2), {}),
    "ten zeros and ones under five seeds": (by_seed(*[np.repeat([0.0, 1.0], 5)] * 5), {"same_seeds": "A, all 10 rows"}),
    "ten zeros and ones under two seeds, which may be chance": (by_seed(*[np.repeat([0.0, 1.0], 5)] * 2), {}),
    "nineteen of twenty under forty seeds": (
        by_seed(*[np.sign(np.arange(20.0))] * 40), {"same_seeds": "A, all 20 rows"}),
    "numbers with a little noise for each seed": (
        by_seed(*(NUMBERS + 1e-5 * drawn(30 + at, 20) for at in range(5))),
        {"near_seeds": "A, right of seeds 0, 1, 2, 3, 4: half of the rows or more to a thousandth"}),
    "numbers of three digits, turned for each seed": (
        by_seed(*(np.roll(NUMBERS.round(3), 3 * at) + 1e-6 * at for at in range(5))), {"near_seeds": ""}),
    "numbers of three digits, turned and nothing else": (
        by_seed(*(np.roll(NUMBERS.round(3), 3 * at) for at in range(2))), {"near_seeds": ""}),
    "numbers that are drawn anew for each seed": (by_seed(*(drawn(40 + at, 20) for at in range(16))), {}),
    "two thousand numbers that are drawn anew for each seed": (
        by_seed(*(drawn(60 + at, 2_000) for at in range(4))), {}),
    "seeds that are nearly all right": (by_seed(ALL_BUT_ONE, ALL_BUT_ONE), {}),
    "one run, its rows moved to other items for each seed": (
        of_seeds(turned(honest(1))),
        {"shuffled_seeds": "A, 350 rows of seeds 0, 1, 2, 3, 4: as many of each in all 7 tasks and conditions, on "
                           "other items"}),
    "the same in one condition, which may be chance": (of_seeds(turned(honest(1, 1), n_seeds=3)), {}),
    "the same in one condition of forty seeds": (of_seeds(turned(honest(1, 1), n_seeds=40)), {"shuffled_seeds": ""}),
    "seeds that are the same item by item": (of_seeds(np.repeat(honest(1), 5, axis=1)), {"same_seeds": ""}),
    "one item wrong for each seed in one condition": (of_seeds(one_wrong_each(1)), {}),
    "one item wrong for every seed in every condition, more even than chance": (
        of_seeds(one_wrong_each(7)), {"steady_seeds": ""}),
    "seeds that are nearly one another": (of_seeds(nearly_one_another()), {"steady_seeds": ""}),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHIN)
def test_what_chance_cannot_explain_within_a_submission_is_flagged(name: str) -> None:
    """And nothing else is; the sentence says of which rows."""
    scores, flagged = WITHIN[name]
    actual = {finding.flag: finding.sentence for finding in look_within(scores).findings}

    assert list(actual) == list(flagged)
    assert [flag for flag, words in flagged.items() if words not in actual[flag]] == []


@pytest.mark.heavy
@pytest.mark.parametrize("n_seeds", [2, 5, 16])
def test_honest_seeds_are_not_flagged(n_seeds: int) -> None:
    """Two hundred honest runs, of unequally hard items."""
    assert [look_within(of_seeds(honest(n_seeds))).findings for _ in range(200)] == [()] * 200


def test_two_entrants_with_the_same_rows_or_predictions_are_flagged_both() -> None:
    """Nobody knows which of the two was run; of yes and no the second one by name has the results of the first."""
    same = look_within(measured(BOTH, np.tile(drawn(5), 2))).findings
    (answers,) = look_within(measured(BOTH, np.tile(HALF, 2))).findings
    blocks = [PredictionBlock(name, "all", drawn(7, 50, 1)) for name in ("one", "two")]

    assert [(each.flag, each.entrant) for each in same] == [("same_rows", "mover"), ("same_rows", "other")]
    assert (answers.flag, answers.entrant) == ("same_results", "other")
    assert [each.entrant for each in look_within(table([]), blocks).findings] == ["one", "two"]


def test_a_predictor_of_few_values_has_no_run() -> None:
    """A decision stump says one of two numbers a thousand times."""
    values = np.repeat([[1 / 3], [2 / 3]], 500, axis=0)

    assert look_within(table([]), [PredictionBlock("stump", "all", values)]).findings == ()


def told(new: ScoreTable, old: ScoreTable, *, is_same: bool) -> list[tuple[str, str]]:
    """Return what is said of rows after others of the same entrant, or of another one, were admitted."""
    (before,), (after,) = fingerprints_of(old), fingerprints_of(new)
    findings = compare([after], [Earlier(3, is_same=is_same, fingerprint=before)])
    return [(finding.flag, finding.sentence) for finding in findings]


def changed(values: FloatArray, *at: int) -> FloatArray:
    """Return values of which some came out otherwise."""
    again = values.copy()
    again[list(at)] = 1.0 - again[list(at)]
    return again


def test_the_same_places_with_other_results_are_counted() -> None:
    """A second attempt at the same seeds: one row in forty came out otherwise; other seeds are no other results."""
    old, new = measured(grid(), drawn(8)), measured(grid(), changed(drawn(8), 7))

    assert n_other_results(fingerprints_of(new)[0], fingerprints_of(old)[0]) == (1, 40)
    assert told(new, old, is_same=True) == [
        ("other_results", "mover in submission 3, 1 of 40 rows that were compared")
    ]  # fmt: skip
    assert told(measured(grid(range(5, 10))), measured(grid()), is_same=True) == []


def test_a_row_beyond_the_sample_is_found_by_the_digest() -> None:
    """Of 2,000 rows 256 are compared one by one; that one of the others changed is still known."""
    rows = grid(n=200)
    values = drawn(9, len(rows))
    outcomes = [told(measured(rows, changed(values, at)), measured(rows, values), is_same=True) for at in range(40)]

    assert [("other_results", "mover in submission 3, some rows")] in outcomes


@pytest.mark.parametrize("order", [slice(None, None, -1), slice(None)], ids=["reversed", "as sent"])
def test_a_copy_under_another_name_is_found_in_any_order(order: slice) -> None:
    """The rows of an earlier submission come back under another entrant and other seeds."""
    copy = measured(grid(range(5, 10), entrant="copy"), drawn(10)[order])

    assert told(copy, measured(grid(), drawn(10)), is_same=False) == [
        ("same_rows", "copy has about 100% of its rows in common with mover (submission 3)")
    ]  # fmt: skip


def test_copied_zeros_and_ones_are_flagged_where_chance_cannot_explain_them() -> None:
    """Twenty of forty right, the very same ones: one of 1.4e11 arrangements. A copy with a changed row is not told
    from an honest one that comes close, and four of forty wrong can be arranged in 91,390 ways, which is no proof.
    """

    def seen(second: FloatArray, first: FloatArray) -> list[tuple[str, str]]:
        return told(measured(grid(entrant="new"), second), measured(grid(entrant="old"), first), is_same=False)

    assert [sentence for _, sentence in seen(HALF, HALF)] == [
        "new has on all of 40 compared rows the results of old (submission 3)"
    ]  # fmt: skip
    assert seen(changed(HALF, 0, 1), HALF) == []
    for n_wrong in (0, 1, 4):
        right = np.where(np.arange(40) < n_wrong, 0.0, 1.0)
        assert seen(right, right) == []


def test_arrangements_are_counted_as_a_multinomial() -> None:
    """Six rows of three results, two of each: 90."""
    assert np.exp(ln_arrangements(np.array([1, 1, 2, 2, 3, 3], dtype=np.uint64))) == pytest.approx(90)


def test_the_order_of_rows_is_no_part_of_a_fingerprint() -> None:
    """The same rows sent in another order are the same evidence."""
    (one,), (other,) = (fingerprints_of(measured(grid()[::by], drawn(11)[::by])) for by in (1, -1))

    assert (one.places, one.results, one.contents) == (other.places, other.results, other.contents)


class Counted(str):
    """A name that counts how often names are compared in lower case."""

    n_times = 0

    def lower(self) -> str:
        """Count, and return the name in lower case."""
        Counted.n_times += 1
        return super().lower()


def test_many_entrants_are_looked_up_and_not_compared_with_each_other() -> None:
    """A submission of 50,000 rows of as many entrants kept the web process busy for minutes."""
    n_entrants = 200
    rows = [row for at in range(n_entrants) for row in grid(entrant=f"e{at}")]
    old = fingerprints_of(measured(rows))
    new = [
        replace(one, entrant=Counted(one.entrant)) for one in fingerprints_of(measured(rows, np.arange(len(rows)) / 7))
    ]
    Counted.n_times = 0
    earlier = [Earlier(3, is_same=True, fingerprint=one) for one in old]
    actual = list(compare(new, [*earlier, *(Earlier(4, is_same=False, fingerprint=one) for one in new)]))

    assert [finding.entrant for finding in actual if finding.flag == "other_results"] == [one.entrant for one in new]
    assert [finding.entrant for finding in actual if finding.flag == "same_rows"] == [one.entrant for one in new]
    assert Counted.n_times == n_entrants


DIGITS, OTHER = (np.random.default_rng(seed).lognormal(size=40) for seed in (3, 4))
BEFORE, AFTER = REGISTERED - timedelta(days=1), REGISTERED + timedelta(days=1)
BEGUN = {
    "the same rows, refused": (DIGITS, BEFORE, True, "with the same rows in submission 7"),
    "the same rows with other last digits": (DIGITS * (1 + 1e-9), BEFORE, True, "with the same rows in submission 7"),
    "the same rows, admitted under an older registration": (DIGITS, BEFORE, False, "with the same rows"),
    "other rows, refused": (OTHER, BEFORE, True, "with other rows in submission 7"),
    "other rows, admitted under an older registration": (OTHER, BEFORE, False, ""),
    "the same rows, begun after the registration": (DIGITS, AFTER, False, ""),
    "the same rows, begun in the second of the registration": (DIGITS, REGISTERED, False, ""),
}


@pytest.mark.parametrize("name", BEGUN)
def test_what_was_said_first_of_its_beginning_is_told(name: str) -> None:
    """Of the same rows always; of others only where they were refused for it: a new run may replace an old one."""
    values, began, was_refused, sentence = BEGUN[name]
    (old,), (new,) = (fingerprints_of(measured(grid(), each)) for each in (values, DIGITS))
    earlier = [Earlier(7, is_same=True, fingerprint=old)]
    actual = [*began_before([new], earlier, {7: Beginning(began, was_refused)}, REGISTERED)]

    assert [(one.flag, sentence in one.sentence) for one in actual] == ([("began_before", True)] if sentence else [])
