"""Which items are public, how finely numbers are said, and what a ladder shows: the rules of private labels."""

import math
from dataclasses import replace

import numpy as np
import pytest

from app.boards.measured import Estimate
from app.kinds.labels import Opening, ShownScore, improves, parts_key
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.disclosed import Grain, coarse_table
from app.kinds.predictions.labels import choose_public, labels_digest, warn_of_parts
from app.kinds.predictions.report import in_steps, nice_step
from app.stats.calibrated import Calibrated
from app.values.scores import Labels
from app.values.table import Column, Table

KEY = parts_key("0" * 64)
CLASSES = Predictions(kind="classification", classes=["no", "yes"])
VALUES, RANKING = Predictions(kind="regression"), Predictions(kind="ranking")


def labels(n_items: int = 200, seed: int = 2) -> Labels:
    """Return labels of which one in ten is positive."""
    rng = np.random.default_rng(seed)
    return Labels("t", [f"i{at}" for at in range(n_items)], rng.permutation((np.arange(n_items) % 10 == 0) * 1.0))


def test_each_class_is_public_by_the_same_share() -> None:
    """Also the rare one, to the item."""
    truth = labels()
    public = choose_public(truth, CLASSES, KEY, 0.3)

    assert [int(public[truth.label == of].sum()) for of in (0.0, 1.0)] == [54, 6]


def test_the_part_follows_from_the_name_and_not_from_the_position() -> None:
    """Another order of the file is the same division; another key is another one."""
    truth = labels()
    order = np.random.default_rng(4).permutation(len(truth))
    moved = Labels("t", [truth.items[at] for at in order], truth.label[order])
    public = choose_public(truth, CLASSES, KEY, 0.5)

    assert np.array_equal(choose_public(moved, CLASSES, KEY, 0.5), public[order])
    assert not np.array_equal(choose_public(truth, CLASSES, parts_key("1" * 64), 0.5), public)


def test_a_group_of_a_ranking_is_whole_in_a_part() -> None:
    """Half a group has another ideal order."""
    truth = replace(labels(), group=np.arange(200) // 5)
    public = choose_public(truth, RANKING, KEY, 0.5).reshape(40, 5)

    assert (public.all(axis=1) | ~public.any(axis=1)).all()
    assert int(public[:, 0].sum()) == 20


def test_values_are_divided_within_tenths() -> None:
    """Both parts have the large and the small ones, also where many are equal."""
    truth = Labels("t", [f"i{at}" for at in range(200)], np.repeat(np.arange(10.0), 20))
    public = choose_public(truth, VALUES, KEY, 0.25)

    assert np.bincount(truth.label.astype(int), public).tolist() == [5.0] * 10


def test_a_part_with_few_items_is_warned_of() -> None:
    """Its steward reads it with the answer to the labels."""
    truth = labels(12)
    divided = replace(truth, public=choose_public(truth, CLASSES, KEY, 0.5))

    assert [text for text in warn_of_parts(divided, CLASSES) if "has only" in text] == [
        f"the {part} part of task {truth.task} has only 6 examples" for part in ("public", "private")
    ]


def test_a_class_of_a_single_item_is_missing_from_one_part() -> None:
    """Whatever needs every class is undefined there: with as many as are missing."""
    truth = replace(labels(200), label=np.array([1.0, *np.zeros(199)]))
    divided = replace(truth, public=np.arange(200) >= 100)
    whole = replace(truth, public=np.ones(200, dtype=np.bool_))

    assert list(warn_of_parts(divided, CLASSES)) == [
        f"the public part of task {truth.task} lacks 1 of the classes, each of a single item"
    ]
    assert list(warn_of_parts(whole, CLASSES)) == list(warn_of_parts(truth, CLASSES)) == []


def test_the_digest_of_labels_does_not_depend_on_their_order() -> None:
    """Nor on how groups are numbered; another label or weight is another digest."""
    truth = replace(labels(), group=np.arange(200) // 5, weight=np.ones(200))
    order = np.random.default_rng(4).permutation(200)
    moved = Labels("t", [truth.items[at] for at in order], truth.label[order], np.ones(200), 70 - order // 5)
    other = replace(truth, weight=np.r_[2.0, np.ones(199)])
    digest = labels_digest([truth], RANKING)

    assert labels_digest([moved], RANKING) == digest != labels_digest([other], RANKING)


def test_a_commitment_hides_by_its_salt() -> None:
    """The same labels with another salt have another commitment, so that nobody can try labels out."""
    one, other = (Opening(bytes([at]) * 32, 0.5, "0" * 64).commitment() for at in (1, 2))

    assert one != other


@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_a_number_is_no_finer_than_half_its_error_and_its_digits(digits: int) -> None:
    """Over points, errors and digits: the step, the number, and ends that are never drawn in."""
    rng = np.random.default_rng(digits)
    for _ in range(300):
        point, error = float(rng.uniform(0.01, 9)), float(10 ** rng.uniform(-5, 0))
        actual = Estimate(point, point - 2 * error, point + 2 * error,
                         calibrated=Calibrated(point - 3 * error, point + 3 * error, "x", 17.3))  # fmt: skip
        grain = Grain(digits, 0.95)
        step, message = grain.step_of(actual), grain.estimate(actual)
        assert message.point is not None
        assert message.low is not None
        assert message.low <= point - 2 * error + 1e-12
        assert step >= error / 2
        assert abs(message.point / step - round(message.point / step)) < 1e-6
        assert abs(message.point - point) <= step / 2 + 1e-9
        assert step >= 10.0 ** (math.floor(math.log10(point)) - digits + 1) * (1 - 1e-9)


def test_steps_divide_one() -> None:
    """So that a share of one is a multiple of every step."""
    for least in np.geomspace(1e-6, 0.9, 200).tolist():
        step = nice_step(least)
        assert step >= least * (1 - 1e-9)
        assert in_steps(1.0, step, -1) == in_steps(1.0, step, 1) == 1.0


def test_an_owner_cannot_make_the_step_of_the_ladder_small() -> None:
    """The larger of both errors is asked for, on a board where something was shown before."""
    best = {"board": ShownScore(0.80, 0.03)}

    assert not improves({"board": ShownScore(0.82, 1e-6)}, best)
    assert improves({"board": ShownScore(0.84, 1e-6)}, best)
    assert improves({"board": ShownScore(0.10, 0.05)}, {})
    assert not improves({"board": ShownScore(0.99, math.inf)}, best)


def test_the_difference_of_a_test_is_in_steps_of_half_of_its_error() -> None:
    """0.0877 with p = 0.00016 is 25 against 5 examples of 228 and nothing else; 0.08 is many of them."""
    columns = tuple(Column(name, name) for name in ("entrant_a", "mean_difference", "p_value"))
    rows = (("A", 0.0877, 0.00016), ("B", -0.0877, 0.99984), ("A", 0.281, 1e-12), ("A", 0.0, 0.5))

    assert [row[1] for row in coarse_table(Table("tests/auc", "Tests", columns, rows), 3).rows] == [
        0.08,
        -0.08,
        0.28,
        0.0,
    ]
