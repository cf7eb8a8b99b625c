"""Forensics of rows: copies under another seed, condition or name are found, and honest rows are left in peace."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.admission.case import Earlier
from app.admission.forensics import compare, look_within
from app.stats.arrays import FloatArray
from app.values.fingerprints import fingerprints_of, n_other_results
from app.values.scores import PredictionBlock, ScoreTable
from tests.cases.admission import Row, grid, table


def measured(rows: Sequence[Row], values: FloatArray | None = None) -> ScoreTable:
    """Return rows with one measured number each, drawn where none are given."""
    drawn = np.random.default_rng(1).normal(size=len(rows)) if values is None else values
    return replace(table(rows), values=drawn.reshape(-1, 1))


def flags(scores: ScoreTable) -> list[str]:
    """Return what is noticed of rows, by its flag."""
    return [finding.flag for finding in look_within(scores).findings]


def test_measured_rows_raise_no_flag() -> None:
    """Seeds, conditions and entrants that were each measured for themselves."""
    rows = [*grid(), *grid(entrant="other")]

    assert flags(measured(rows)) == []


def test_rounded_scores_raise_no_flag() -> None:
    """Zeros and ones are the same for everybody."""
    assert flags(table(grid())) == []


def test_one_seed_under_five_seeds_is_flagged_by_its_digits() -> None:
    """Seed 0 was run; seeds 1 to 4 are copies of it."""
    one = np.random.default_rng(2).normal(size=8)
    (finding,) = look_within(measured(grid(), np.tile(one, 5))).findings

    assert finding.flag == "repeated_seed"
    assert finding.sentence == "mover on place, 40 rows of 0, 1, 2, 3, 4"


def test_two_seeds_of_which_half_is_the_same_are_flagged() -> None:
    """The others are not named."""
    values = np.random.default_rng(3).normal(size=40)
    values[8:12] = values[0:4]
    (finding,) = look_within(measured(grid(), values)).findings

    assert finding.sentence == "mover on place, 8 rows of 0, 1"


def test_one_equal_number_is_chance() -> None:
    """A single pair of rows proves nothing."""
    values = np.random.default_rng(3).normal(size=40)
    values[8] = values[0]

    assert flags(measured(grid(), values)) == []


def test_rows_of_one_condition_under_another_are_flagged() -> None:
    """The easiest partner's rows stand in for the hardest one's."""
    values = np.random.default_rng(4).normal(size=(5, 2, 4))
    values[:, 1] = values[:, 0]
    (finding,) = look_within(measured(grid(), values.reshape(-1))).findings

    assert (finding.flag, finding.sentence) == ("repeated_condition", "mover on place, 40 rows of left, right")


def test_two_entrants_with_the_same_rows_are_flagged_both() -> None:
    """Nobody knows which of the two was run."""
    rows = [*grid(), *grid(entrant="other")]
    own = np.random.default_rng(5).normal(size=40)
    actual = look_within(measured(rows, np.tile(own, 2))).findings

    assert [(finding.flag, finding.entrant) for finding in actual] == [("same_rows", "mover"), ("same_rows", "other")]


def test_a_run_of_equal_numbers_is_flagged_where_the_others_differ() -> None:
    """Nine rows in a row have the same fourteen digits."""
    values = np.random.default_rng(6).normal(size=40)
    values[10:19] = values[10]
    actual = [each for each in look_within(measured(grid(), values)).findings if each.flag == "equal_run"]

    assert [finding.sentence for finding in actual] == ["mover has 9 in a row"]


def test_a_predictor_of_few_values_has_no_run() -> None:
    """A decision stump says one of two numbers a thousand times."""
    values = np.repeat([[1 / 3], [2 / 3]], 500, axis=0)
    actual = look_within(table([]), [PredictionBlock("stump", "all", values)]).findings

    assert actual == ()


def test_two_entrants_with_the_same_predictions_are_flagged() -> None:
    """Predictions are no rows, and are looked at all the same."""
    values = np.random.default_rng(7).uniform(size=(50, 1))
    blocks = [PredictionBlock(name, "all", values) for name in ("one", "two")]

    assert [each.entrant for each in look_within(table([]), blocks).findings] == ["one", "two"]


def test_the_same_places_with_other_results_are_counted() -> None:
    """A second attempt at the same seeds: one row in forty came out otherwise."""
    values = np.random.default_rng(8).normal(size=40)
    again = values.copy()
    again[7] += 1.0
    (old,), (new,) = fingerprints_of(measured(grid(), values)), fingerprints_of(measured(grid(), again))
    (finding,) = compare([new], [Earlier(3, is_same=True, fingerprint=old)])

    assert n_other_results(new, old) == (1, 40)
    assert (finding.flag, finding.sentence) == (
        "other_results",
        "mover in submission 3, 1 of 40 rows that were compared",
    )


def test_a_row_beyond_the_sample_is_found_by_the_digest() -> None:
    """Of 2,000 rows 256 are compared one by one; that one of the others changed is still known."""
    rows = grid(n=200)
    values = np.random.default_rng(9).normal(size=len(rows))
    (old,) = fingerprints_of(measured(rows, values))
    outcomes = set()
    for at in range(40):
        again = values.copy()
        again[at] += 1.0
        (new,) = fingerprints_of(measured(rows, again))
        findings = compare([new], [Earlier(3, is_same=True, fingerprint=old)])
        outcomes |= {(finding.flag, finding.sentence) for finding in findings}

    assert ("other_results", "mover in submission 3, some rows") in outcomes


def test_other_seeds_are_no_other_results() -> None:
    """Nothing that was there before is there again."""
    (old,), (new,) = (fingerprints_of(measured(grid(seeds))) for seeds in (range(5), range(5, 10)))

    assert list(compare([new], [Earlier(3, is_same=True, fingerprint=old)])) == []


@pytest.mark.parametrize("order", [slice(None, None, -1), slice(None)], ids=["reversed", "as sent"])
def test_a_copy_under_another_name_is_found_in_any_order(order: slice) -> None:
    """The rows of an earlier submission come back under another entrant and other seeds."""
    values = np.random.default_rng(10).normal(size=40)
    (old,) = fingerprints_of(measured(grid(), values))
    (new,) = fingerprints_of(measured(grid(range(5, 10), entrant="copy"), values[order]))
    (finding,) = compare([new], [Earlier(3, is_same=False, fingerprint=old)])

    assert finding.flag == "same_rows"
    assert finding.sentence == "copy has about 100% of its rows in common with mover (submission 3)"


def test_the_order_of_rows_is_no_part_of_a_fingerprint() -> None:
    """The same rows sent in another order are the same evidence."""
    rows = grid()
    values = np.random.default_rng(11).normal(size=40)
    one, other = fingerprints_of(measured(rows, values)), fingerprints_of(measured(rows[::-1], values[::-1]))

    assert [(each.places, each.results, each.contents) for each in one] == [
        (each.places, each.results, each.contents) for each in other
    ]


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
