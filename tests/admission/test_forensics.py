"""Forensics of rows: copies under another seed, condition or name are found, and honest rows are left in peace."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import comb, log

import numpy as np
import pytest
from scipy.stats import chi2

from app.admission.case import Earlier
from app.admission.forensics import Beginning, began_before, compare, ln_arrangements, look_within
from app.stats.arrays import FloatArray
from app.values.fingerprints import Fingerprint, fingerprints_of, n_other_results
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


FRESH = iter(np.random.default_rng(17).normal(size=10_000).tolist())
"""Measured numbers, each once."""


def fresh(n: int) -> list[float]:
    """Return so many numbers that nothing else has."""
    return [next(FRESH) for _ in range(n)]


def said_of(*values: Sequence[float]) -> list[str]:
    """Return what is said of predictions, those of entrant a, then of b, and so on."""
    blocks = [PredictionBlock(name, "all", np.array(each)[:, None]) for name, each in zip("abc", values, strict=False)]
    return [finding.sentence for finding in look_within(table([]), blocks).findings]


ONE, FIVE, SHARED = fresh(1), fresh(5), fresh(4)
OF_PREDICTIONS: dict[str, tuple[list[list[float]], list[str]]] = {
    "eight equal ones among eight": ([fresh(3) + ONE * 8 + fresh(5)], ["a has 8 in a row"]),
    "seven equal ones": ([fresh(3) + ONE * 7 + fresh(5)], []),
    "seven others": ([fresh(3) + ONE * 8 + fresh(4)], []),
    "others half of which repeat": ([ONE * 8 + FIVE[:4] * 2], []),
    "others of which less than half repeat": ([FIVE + ONE * 8 + FIVE[:3]], ["a has 8 in a row"]),
    "two runs": ([ONE * 8 + fresh(9) + FIVE[:1] * 9], ["a has 9 in a row"]),
    "a run of few digits": ([fresh(8) + [0.5] * 8], []),
    "half a run each": ([fresh(8) + ONE * 4, ONE * 4 + fresh(8)], []),
    "a run of the second": ([fresh(9), fresh(8) + ONE * 8 + fresh(2)], ["b has 8 in a row"]),
    "half of the rows of one, less of the other": (
        [SHARED + fresh(4), fresh(5) + SHARED],
        ["a has 4 of 8 rows in common with another entrant of this submission"]),
    "three of six": (
        [SHARED[:3] + fresh(3), fresh(9), fresh(4) + SHARED[:3]],
        ["a has 3 of 6 rows in common with another entrant of this submission"]),
    "two of four": ([SHARED[:2] + fresh(2), fresh(2) + SHARED[:2]], []),
    "within one": ([SHARED * 2, fresh(8)], []),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_PREDICTIONS)
def test_runs_and_common_rows_are_told_from_where_they_are_remarkable_on(name: str) -> None:
    """At each limit and just below it, of whom they are."""
    values, sentences = OF_PREDICTIONS[name]

    assert said_of(*values) == sentences


@pytest.mark.parametrize(
    ("rows", "values", "sentences"),
    [
        (grid([0, 1], ["left"], 2), [*ONE, *fresh(1)] * 2, ["mover on place, 4 rows of 0, 1"]),
        (grid([0, 1], ["left"], 2), [*ONE, *fresh(1), *ONE, *fresh(1)], []),
        (grid([0, 1, 2], ["left"], 2), [*ONE, *fresh(1), *ONE, *fresh(1), *ONE, *fresh(1)],
         ["mover on place, 3 rows of 0, 1, 2"]),
        (grid([0, 1], ["left"], 8), [*SHARED[:3], *fresh(5), *SHARED[:3], *fresh(5)], []),
        (grid([0], ["left"]) + grid([1], ["left"], task="reach"), SHARED * 2, []),
        (grid([0, 1], ["left"]) + grid([5, 4], ["left"], task="reach"), [*fresh(8), *SHARED * 2],
         ["mover on reach, 8 rows of 4, 5"]),
        (grid([0, 1], ["left"]) + grid([0, 1], ["left"], entrant="other"), [*fresh(8), *SHARED * 2],
         ["other on place, 8 rows of 0, 1"]),
    ],
    ids=["two seeds, all", "two rows", "three rows", "three of eight", "two tasks", "the second task", "the second"],
)  # fmt: skip
def test_seeds_with_common_rows_are_told_by_entrant_and_task(
    rows: list[Row], values: list[float], sentences: list[str]
) -> None:
    """From three rows on that are half of their seeds' rows; the same number on another task is no repeated row."""
    findings = look_within(measured(rows, np.array(values))).findings

    assert [one.sentence for one in findings if one.flag == "repeated_seed"] == sentences


def test_seeds_that_are_alike_are_told_from_chances_of_one_in_a_billion_on() -> None:
    """Three of six right are twenty arrangements: eight seeds are seven hits. Two of four are six, however many."""
    few, fewer = np.repeat([0.0, 1.0], 3), np.repeat([0.0, 1.0], 2)
    told_of = [[one.flag for one in look_within(by_seed(*[of] * n)).findings]
               for of, n in ((few, 8), (few, 7), (fewer, 40))]  # fmt: skip

    assert 20**6 < 1e9 < 20**7
    assert told_of == [["same_seeds"], [], []]


@pytest.mark.parametrize(
    ("first", "second", "chance"),
    [([1, 0], [0, 1], 1 / 2), ([1, 1, 0, 0, 1], [0, 0, 1, 1, 1], comb(4, 2) / 2**4),
     ([1, 1, 2, 3], [2, 3, 1, 1], comb(4, 2) / 2**4)],
    ids=["two items", "four that differ", "the result that differs most"],
)  # fmt: skip
def test_moved_rows_are_told_from_as_many_conditions_on_as_chance_allows(
    first: list[float], second: list[float], chance: float
) -> None:
    """In each condition as many heads as tails, of the items on which the two differ: one in a billion altogether."""
    least = int(np.ceil(log(1e-9) / log(chance)))
    of = [look_within(of_seeds(np.array([[first, second]] * n, dtype=float))).findings for n in (least - 1, least)]

    assert [[one.flag for one in each] for each in of] == [[], ["shuffled_seeds"]]


@pytest.mark.parametrize("n_seeds", [3, 5])
@pytest.mark.parametrize("n_wrong", [1, 3])
def test_steady_seeds_are_as_likely_as_cochrans_q_says(n_seeds: int, n_wrong: int) -> None:
    """By its definition, with Sheppard's correction; an item that one seed lacks says nothing, nor does another's."""
    right = np.ones((12, n_seeds, 20))
    for at in range(n_seeds):
        right[:, at, n_wrong * at : n_wrong * (at + 1)] = 0.0
        right[0, at, 15 : 15 + at] = 0.0
    right[:2, 1, 19] = 0.0
    scores, by_seeds = of_seeds(right), f"A, right of seeds {', '.join(map(str, range(n_seeds)))}: "
    assert scores.item
    lacking = scores.take(np.flatnonzero((np.array(scores.item.to_list()) != "q19") | (scores.seed != 0)))

    for each, items in ((scores, right), (lacking, right[:, :, :19])):
        squares = items.sum(axis=2).var(axis=1, ddof=1) + 1 / 12
        freedom = 12 * (n_seeds - 1)
        expected = chi2.cdf((n_seeds - 1) * (squares / items.var(axis=1, ddof=1).sum(axis=1)).sum(), freedom)
        (found,) = look_within(each).findings
        told_as = re.fullmatch(rf"{by_seeds}as alike by chance once in ([\d,]+)", found.sentence)
        assert told_as, found.sentence
        assert float(told_as.group(1).replace(",", "")) == pytest.approx(1 / expected, rel=1e-3)


SPACED, GROWING = 100.0 + np.linspace(0.1, 0.9, 8) ** 2, 3.3 ** np.arange(8)
MANY = 100.0 + np.linspace(0.1, 0.9, 200) ** 2
IQR = float(np.subtract(*np.quantile(SPACED, [0.75, 0.25])))
IQR_OF_MANY = float(np.subtract(*np.quantile(MANY, [0.75, 0.25])))
NEAR: dict[str, tuple[Sequence[FloatArray], str | None]] = {
    "within a thousandth of the middle half": ([SPACED, SPACED + 0.9e-3 * IQR], "0, 1"),
    "further apart": ([SPACED, SPACED + 1.1e-3 * IQR], None),
    "within a tenth of a step of many": ([MANY, MANY + 0.45e-3 * IQR_OF_MANY], "0, 1"),
    "many that are further apart": ([MANY, MANY + 0.55e-3 * IQR_OF_MANY], None),
    "within a thousandth of themselves": ([GROWING, GROWING * (1 - 0.9e-3)], "0, 1"),
    "further from themselves": ([GROWING, GROWING * (1 - 1.1e-3)], None),
    "half of them": ([SPACED, SPACED + np.where(np.arange(8) < 4, 1e-6, 0.01)], "0, 1"),
    "less than half": ([SPACED, SPACED + np.where(np.arange(8) < 3, 1e-6, 0.01)], None),
    "seven rows": ([SPACED[:7], SPACED[:7] + 1e-6], None),
    "whole numbers": ([np.arange(8.0), np.arange(8.0) + 1e-9 * (np.arange(8) < 4)], None),
    "other numbers of rows": ([SPACED, np.append(SPACED + 1e-6, 200.5)], None),
    "the last two": ([SPACED * 1.5, SPACED, SPACED + 1e-6], "1, 2"),
    "the first and the last": ([SPACED, SPACED * 1.5, SPACED + 1e-6], "0, 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_seeds_are_near_up_to_the_tolerance(name: str) -> None:
    """The smaller of both, on half of the rows; those that are near are named and no others."""
    of_each, seeds = NEAR[name]
    rows = [("A", "place", None, seed, str(at)) for seed, each in enumerate(of_each) for at in range(len(each))]
    findings = look_within(measured(rows, np.concatenate(of_each))).findings
    sentence = f"A, success of seeds {seeds}: half of the rows or more to a thousandth, in the order of their values"

    assert [one.sentence for one in findings if one.flag == "near_seeds"] == [sentence] * bool(seeds)


@pytest.mark.parametrize(
    ("n_new", "n_old", "share"), [(6, 20, "30%"), (5, 16, "31%"), (5, 17, None), (5, 5, "100%"), (4, 4, None)]
)
def test_another_s_rows_are_told_from_three_tenths_of_five_or_more_on(
    n_new: int, n_old: int, share: str | None
) -> None:
    """As a share of all rows that either has."""
    old = fresh(n_old)
    new = measured(grid([7], ["left"], n_new, "new"), np.array(old[:n_new]))
    sentence = f"new has about {share} of its rows in common with mover (submission 3)"

    assert told(new, measured(grid([0], ["left"], n_old), np.array(old)), is_same=False) == (
        [("same_rows", sentence)] if share else []
    )


@pytest.mark.parametrize(("n", "is_told"), [(32, False), (34, True)])
def test_equal_zeros_and_ones_are_told_from_one_in_a_billion_on(n: int, is_told: bool) -> None:
    """Of an earlier submission, and of each further entrant within one, which has the results of the one before."""
    half = np.repeat([0.0, 1.0], n // 2)
    one, *_ = of = [measured(grid([0], ["left"], n, name), half) for name in ("mover", "new", "other")]
    names = [row for name in ("mover", "new", "other") for row in grid([0], ["left"], n, name)]
    within = look_within(measured(names, np.tile(half, 3))).findings
    words = f"has on all of {n} compared rows the results of"

    assert (comb(n, n // 2) >= 1e9) == is_told
    assert told(of[1], one, is_same=False) == [("same_results", f"new {words} mover (submission 3)")] * is_told
    assert [one.sentence for one in within] == [
        f"new {words} mover (in this submission)", f"other {words} new (in this submission)"
    ] * is_told  # fmt: skip


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


@pytest.mark.parametrize(("number", "flags"), [(2, ["other_results"]), (4, ["other_results", "same_rows"])])
def test_who_had_rows_before_another_sent_them_repeats_nobody(number: int, flags: list[str]) -> None:
    """Mover corrects one of its rows after a thief sent them under its name: mover's first were here before (3)."""
    (first,) = fingerprints_of(measured(grid(), DIGITS[: len(grid())]))
    corrected = DIGITS[: len(grid())].copy()
    corrected[0] += 1.0
    (again,) = fingerprints_of(measured(grid(), corrected))
    thief = replace(first, entrant="thief")
    findings = list(compare([again], [Earlier(number, is_same=True, fingerprint=first), Earlier(3, False, thief)]))

    assert [finding.flag for finding in findings] == flags
    assert next(iter(compare([thief], [Earlier(2, False, first)]))).flag == "same_rows"


def rows_of(entrant: str, values: FloatArray) -> Fingerprint:
    """Return the fingerprint of an entrant with these values, in places of their own."""
    return fingerprints_of(measured(grid([0], ["left"], len(values), entrant), values))[0]


def flags_of(new: Fingerprint, *earlier: Earlier) -> list[str]:
    """Return what an entrant's rows are told against earlier submissions of others."""
    return [finding.flag for finding in compare([new], earlier) if finding.flag != "other_results"]


@pytest.mark.parametrize(("flags", "found"), [(("same_rows",), ["same_rows"]), (("near_rows",), []), ((), [])])
def test_what_was_a_copy_itself_excuses_no_copy(flags: Sequence[str], found: list[str]) -> None:
    """The other sends its rows once more after they were copied. Who is near a third has still its own digits."""
    values = drawn(20, 30)
    first = Earlier(1, True, rows_of("thief", values), flags)

    assert flags_of(rows_of("thief", values), first, Earlier(2, False, rows_of("mover", values))) == found


def test_a_few_own_rows_excuse_no_copy_of_all() -> None:
    """Eleven of thirty were here before the other sent all; those that are the other's are more than a flag takes."""
    values = drawn(21, 30)
    first, other = Earlier(1, True, rows_of("thief", values[:11])), Earlier(2, False, rows_of("mover", values))

    assert flags_of(rows_of("thief", values), first, other) == ["same_rows"]


@pytest.mark.parametrize("n", [30, 60, 100, 1000])
def test_who_was_copied_repeats_nobody_with_all_parts_or_fewer_rows(n: int) -> None:
    """Of whatever was here before, though a submission keeps but some hashes of its rows."""
    values = drawn(22, n)
    thief = Earlier(3, False, rows_of("thief", values))
    halves = [Earlier(at, True, rows_of("mover", half)) for at, half in enumerate(np.split(values, 2))]
    fewer = values[: n * 4 // 5]

    assert flags_of(rows_of("mover", values), *halves, thief) == []
    assert flags_of(rows_of("mover", fewer), Earlier(1, True, rows_of("mover", values)), thief) == []
    assert flags_of(rows_of("mover", fewer), *halves, Earlier(3, False, rows_of("thief", fewer))) == []


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
