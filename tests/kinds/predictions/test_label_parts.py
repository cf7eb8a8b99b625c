"""Which items are public, how finely numbers are said, and what a ladder shows: the rules of private labels."""

import math
from dataclasses import replace

import numpy as np
import pytest

from app.boards.measured import EntrantEvidence, Estimate, Measurement
from app.kinds.labels import Opening, ShownScore, higher, improves, is_better, numbers_in, parts_key
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.disclosed import (
    Grain,
    RowSteps,
    about_parts,
    coarse,
    coarse_table,
    measure_disclosed,
    part_in_words,
    rounding_note,
    shown_score_of,
    with_shown_digits,
)
from app.kinds.predictions.labels import choose_public, labels_digest, warn_of_parts
from app.kinds.predictions.report import LAYOUTS, in_steps, nice_step
from app.manifest.model import GridFacts, Manifest
from app.stats.calibrated import Calibrated
from app.values.scores import Labels, PredictionBlock
from app.values.table import Cell, Column, Table
from tests.cases.prediction_boards import BINARY, benchmark, empty_scores, spec, two_classes

KEY = parts_key("0" * 64)
NO_SECRET = benchmark(f"{BINARY}, labels: submitted", ["accuracy"])
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


def test_who_is_alone_in_its_class_is_public_by_its_own_place() -> None:
    """With the chance that the share says, of one name after another."""
    rare = [Labels("t", [f"alone {at}", "a", "b"], np.array([1.0, 0.0, 0.0])) for at in range(400)]
    n_public = sum(int(choose_public(each, CLASSES, KEY, 0.25)[0]) for each in rare)

    assert 75 <= n_public <= 125


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


def test_a_group_of_one_item_has_a_digest_as_any() -> None:
    """A group is named by its first item, which may be its only one."""
    truth = labels()
    alone, together = (replace(truth, group=of) for of in (np.arange(200), np.zeros(200, dtype=np.int64)))

    assert len({labels_digest([one], RANKING) for one in (alone, together)}) == 2


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


def test_the_best_of_an_owner_is_kept_board_by_board() -> None:
    """Whichever of both is larger, and what one of them alone has."""
    low, middle, high = (ShownScore(score, 0.1) for score in (0.1, 0.5, 0.9))

    assert higher({"a": low, "b": high}, {"a": middle, "b": middle, "c": low}) == {"a": middle, "b": high, "c": low}
    assert higher({"a": low}, {}) == higher({}, {"a": low}) == {"a": low}


@pytest.mark.parametrize(("gain", "is_shown"), [(0.0, False), (0.25, False), (0.2501, True)])
@pytest.mark.parametrize("errors", [(0.25, 0.125), (0.125, 0.25)])
def test_a_score_is_better_by_more_than_the_larger_error(
    gain: float, is_shown: bool, errors: tuple[float, float]
) -> None:
    """Not where it is better by as much; on one board of several is enough."""
    new, best = ShownScore(0.5 + gain, errors[0]), ShownScore(0.5, errors[1])

    assert is_better(new, best) is is_shown
    assert improves({"a": ShownScore(0.1, 1.0), "b": new}, {"a": ShownScore(0.2, 1.0), "b": best}) is is_shown
    assert improves({"a": new, "new": new}, {"a": ShownScore(0.9, 1.0)})


def test_every_number_of_a_measurement_that_is_published_is_counted() -> None:
    """Points, both intervals with their number of units, and cells; neither words nor flags nor what is not there."""
    ours = Calibrated(0.2, 0.6, "x", 17.0)
    of_each = {"acc": Estimate(0.4, 0.1, 0.7, calibrated=ours), "auc": Estimate(0.5), "none": Estimate(None)}
    rows: dict[str, list[tuple[Cell, ...]]] = {"curves": [("t", 0.5, 3, True), ("t", None, 4, False)], "more": [(1,)]}

    assert numbers_in(Measurement("A", of_each)) == 6 + 1
    assert numbers_in(Measurement("A", of_each, rows=rows)) == 6 + 1 + 3 + 1


def private(part: str | None = None, *, is_exact: bool = False, scoring: str = "digits: 2") -> Manifest:
    """Return a benchmark with a secret whose private part decides, or not yet."""
    declared = f"{BINARY}, labels: private}}\nscoring: {{{scoring}"
    few = ", uncertainty: {n_resamples: 100}"
    return benchmark(declared, ["accuracy"], more=few).with_grid_facts(GridFacts(part=part, is_exact=is_exact))


def in_parts(public: slice | None) -> tuple[EntrantEvidence, float, float]:
    """Return predictions for labels of which some are public; with the accuracy on these, and on the others."""
    labels, scores = two_classes(400)
    is_public = np.zeros(400, dtype=bool)
    is_public[public or slice(None)] = True
    right = (scores >= 0.5) == (labels.label == 1.0)
    truth = replace(labels, public=None if public is None else is_public)
    evidence = EntrantEvidence("A", empty_scores(), [PredictionBlock("A", "t", scores[:, None])], {"t": truth})
    return evidence, float(right[is_public].mean()), float(right[~is_public].sum()) / max(1, (~is_public).sum())


def points(measurement: Measurement) -> dict[str, float | None]:
    """Return the numbers of the metric by column."""
    return {name: each.point for name, each in measurement.estimates.items() if name != "accuracy:best_threshold"}


def test_before_the_close_the_public_part_is_shown_and_after_it_the_private_one() -> None:
    """Beside it what was shown before, for stewards exactly, and all items for them alone."""
    evidence, public, rest = in_parts(slice(0, 100))
    before, after = (measure_disclosed(each, spec(each), evidence) for each in (private("public"), private("private")))
    exact = [private(part, is_exact=True) for part in ("public", "private")]
    known, all_known = (measure_disclosed(each, spec(each), evidence) for each in exact)

    assert points(known) == {"accuracy": pytest.approx(public)}
    assert points(all_known) == {
        "accuracy": pytest.approx(rest),
        "accuracy:public_part": pytest.approx(public),
        "accuracy:all_items": pytest.approx(0.25 * public + 0.75 * rest),
    }
    assert list(points(before)) == ["accuracy"]
    assert list(points(after)) == ["accuracy", "accuracy:public_part"]
    assert after.estimates["accuracy:public_part"] == before.estimates["accuracy"]
    for shown, number in ((before, public), (after, rest)):
        point = shown.estimates["accuracy"].point
        assert point is not None
        assert abs(point - number) <= 0.025
        assert round(point, 2) == point != number
    moved = before.replicates["accuracy"] - known.replicates["accuracy"]
    assert moved.tolist() == pytest.approx(
        [(before.estimates["accuracy"].point or 0.0) - public] * len(moved), abs=0.025
    )


def test_labels_that_are_whole_have_one_number_after_the_close() -> None:
    """Where all are public, or nothing is divided, there is no part beside it."""
    closed = private("private")

    for public in (None, slice(0, 400)):
        evidence, every, _ = in_parts(public)
        shown = measure_disclosed(closed, spec(closed), evidence)
        assert list(points(shown)) == ["accuracy"]
        assert abs((shown.estimates["accuracy"].point or 0.0) - every) <= 0.025


def test_a_shown_score_has_the_error_of_its_widest_interval() -> None:
    """Larger is better; none where labels are no secret, or without a number."""
    manifest = private()
    of = {"accuracy": Estimate(0.4, 0.3, 0.5, calibrated=Calibrated(0.1, 0.5, "x", 9.0))}
    shown = shown_score_of(manifest, spec(manifest), Measurement("A", of))
    plain = NO_SECRET

    assert shown == ShownScore(0.4, pytest.approx(0.4 / (2 * 1.959964), rel=1e-6))
    assert shown_score_of(manifest, spec(manifest), Measurement("A", {"accuracy": Estimate(0.4)})) == ShownScore(
        0.4, math.inf
    )
    assert shown_score_of(manifest, spec(manifest), Measurement("A", {"accuracy": Estimate(None)})) is None
    assert shown_score_of(plain, spec(plain), Measurement("A", of)) is None


@pytest.mark.parametrize(
    ("scoring", "part", "words"),
    [
        ("public_share: 0.125", None, ["public part, 12.5 % of the items", "when this closes."]),
        ("closes_at: '2030-06-30T12:00:00Z'", None, ["50 %", "when this closes on 2030-06-30 12:00 UTC."]),
        ("public_share: 0.3", "private", ["Closed: the private part decides.", "public part, 30 % of the items"]),
        ("public_share: 1.0", None, []),
    ],
)
def test_a_board_says_which_part_it_is_of(scoring: str, part: str | None, words: list[str]) -> None:
    """And when that changes; nothing where all is public."""
    notes = about_parts(private(part, scoring=scoring))

    assert len(notes) == bool(words)
    assert [word in note for note in notes for word in words] == [True] * len(words)
    assert about_parts(NO_SECRET) == ()


def test_the_first_sentence_names_the_part_while_another_decides() -> None:
    """Neither after the close, when the private part has decided, nor where all is public."""
    shown = [part_in_words(private(part, scoring=scoring)) for scoring, part in (
        ("public_share: 0.125", None), ("public_share: 0.3", "private"), ("public_share: 1.0", None))]  # fmt: skip

    assert shown == ["the public part (12.5 % of the items)", "", ""]
    assert part_in_words(NO_SECRET) == ""


@pytest.mark.parametrize(
    ("table", "column", "cell", "shown"),
    [
        ("curves", "recall", 0.437, 0.45),
        ("curves", "auc_lower", 0.437, 0.4),
        ("curves", "auc_upper", 0.437, 0.45),
        ("curves", "weight", 100, 100),
        ("curves", "weight", 104, 105),
        ("reliability", "observed", 0.437, 0.45),
        ("conditional", "observed", 0.437, 0.4),
        ("residuals", "centre", 0.437, 0.44),
        ("curves", "threshold", 0.437, 0.437),
        ("curves", "recall", None, None),
        ("curves", "recall", "many", "many"),
        ("curves", "recall", True, True),
    ],
)
def test_a_cell_of_a_report_is_in_the_steps_of_what_it_is(table: str, column: str, cell: Cell, shown: Cell) -> None:
    """Of a hundred units shares are in twentieths, counts in fives, values in half of a standard error."""
    truth = Labels("t", (), np.repeat([0.0, 0.4], 50), group=np.arange(100))
    actual = RowSteps(RowSteps.of(truth).share, 5.0, RowSteps.of(truth).value).cell(table, column, cell)

    assert RowSteps.of(truth) == RowSteps(0.05, nice_step(10 / 4), nice_step(0.2 / 2 / 10))
    assert RowSteps.of(replace(truth, group=np.arange(100) // 25)) == RowSteps(0.2, 5.0, 0.05)
    assert (type(actual), actual) == (type(shown), shown)


COARSE: list[tuple[str, Cell, Cell]] = [
    ("n_a_only", 7, None),
    ("examples_needed", 1234, 2000),
    ("examples_needed", 2000, 2000),
    ("examples_needed", 7, 7),
    ("difference_lower", 0.0582, 0.058),
    ("difference_lower", -0.1612, -0.17),
    ("difference_lower", -0.17, -0.17),
    ("difference_upper", 0.1612, 0.17),
    ("difference_upper", 0.07 + 0.1, 0.17),
    ("difference_upper", -0.0582, -0.058),
    ("difference_upper", 0.0, 0.0),
    ("first_resamples_share", 0.12345, 0.12),
    ("p_a_beats_b", 0.98765, 0.99),
    ("first_p", 0.0432, 0.044),
    ("first_p", 0.044, 0.044),
    ("first_p", 0.999, 1.0),
    ("first_p", 0.00001234, 0.00002),
    ("p_holm", 0.04321, 0.044),
    ("p_value", 0.000151, 0.00016),
    ("p_value", 0.00016, 0.00016),
    ("p_value", 0.9951, 1.0),
    ("p_holm", 0.00001, 1e-4),
    ("p_holm", 0.0, 1e-4),
    ("difference", 0.123456, 0.123),
    ("a", 0.98765, 0.988),
    ("width", 0.123456, 0.12),
    ("note", "so", "so"),
    ("n", 1234, 1234),
]


@pytest.mark.parametrize(("column", "cell", "shown"), COARSE)
def test_what_is_computed_between_entrants_is_as_coarse(column: str, cell: Cell, shown: Cell) -> None:
    """On tables of pairs each column; on a board the chances of being first alone, and on other tables nothing."""
    power = {"power": 0.8, "detectable": 0.12345, "n": 3}
    pairs = Table("pairwise/auc", "Pairs", (Column(column, column),), ((cell,),), meta={"power": power})
    on_board = shown if column in ("first_p", "first_resamples_share") else cell

    assert coarse_table(pairs, 3).rows == coarse(private(scoring="digits: 3"), [], pairs).rows == ((shown,),)
    assert coarse_table(pairs, 3).meta["power"] == {"power": 0.8, "detectable": 0.12, "n": 3}
    assert coarse_table(replace(pairs, name="leaderboard/main"), 3).rows == ((on_board,),)
    assert coarse_table(replace(pairs, name="curves"), 3) == replace(pairs, name="curves")
    assert coarse(private(is_exact=True), [], pairs) == coarse(NO_SECRET, [], pairs) == pairs


@pytest.mark.parametrize(
    ("name", "columns", "sizes", "how"),
    [
        ("qq", ["theoretical", "observed"], {100}, "standardised residuals to steps of 0.1"),
        ("conditional/b", ["mean", "n_examples", "same_bin"], {100, 10_000},
         "shares to steps of 0.005 to 0.05, by task, counts to steps of 5 to 50, by task, "
         "values to steps of at least half a standard error"),
        ("truncation/b", ["truncation", "ndcg", "ndcg_lower"], {100},
         "shares to steps of 0.05, ends of intervals outwards"),
        ("tests/b", ["p_value"], {100},
         "mean differences, which are of scores that are not rounded, to steps of at least half a standard error, "
         "p-values up, to 2 digits and at least to 0.0001, examples needed up, to 1 digit"),
    ],
)  # fmt: skip
def test_a_table_says_the_steps_that_hold_there(name: str, columns: list[str], sizes: set[int], how: str) -> None:
    """Those of reports follow from how many units a task has."""
    table = Table(name, "T", tuple(Column(each, each) for each in columns), ())

    assert rounding_note(table, 3, sizes).startswith(f"Numbers about private labels are rounded: {how}. A sum")


def test_pairs_carry_the_note_on_rounding_to_wherever_two_are_compared() -> None:
    """Among their caveats, which the page of two entrants shows."""
    shown = coarse(private(), [], Table("pairwise/b", "Pairs", (), (), meta={"caveats": ["first"]}))

    assert shown.meta["caveats"] == ["first", *shown.notes]


def test_the_number_of_all_units_is_no_secret() -> None:
    """228 items were said to be 230; of fewer, such as positives, two digits are told, and never more than all."""
    units = {"all": 228.0, "nearly": 227.4, "positives": 84.6, "fewer": 123.4}
    of_each = {name: Estimate(0.5, 0.4, 0.6, calibrated=Calibrated(0.4, 0.6, "x", n)) for name, n in units.items()}
    shown = Grain(3, 0.95).measurement(Measurement("A", of_each, facts={"n_items": 228}), {})
    told = [each.calibrated.n_units for each in shown.estimates.values() if each.calibrated is not None]

    assert told == [228.0, 228.0, 85.0, 120.0]


def test_two_near_copies_are_not_told_apart_by_how_they_are_rounded() -> None:
    """0.449 and 0.451 are shown as 0.4 and 0.5: what they vary by together cancels, and not what each is rounded by."""
    drawn = np.random.default_rng(1).normal(0.0, 0.1, size=4_000)
    shown = [
        Grain(1, 0.95).measurement(
            Measurement(name, {"auc": Estimate(point, point - 0.2, point + 0.2)}, replicates={"auc": point + drawn}), {}
        )
        for name, point in (("A", 0.449), ("B", 0.451))
    ]
    apart = shown[1].replicates["auc"] - shown[0].replicates["auc"]

    assert [each.estimates["auc"].point for each in shown] == [0.4, 0.5]
    assert (apart.mean(), apart.std()) == pytest.approx((0.1, 0.1 * np.sqrt(2.0 / 12.0)), rel=0.05)


def test_a_column_has_the_digits_of_its_numbers_and_of_their_intervals() -> None:
    """Those of p-values say how small one is shown, and those of whole numbers are none."""
    columns = (Column("auc", "AUC", interval=("low", "high"), digits=4), Column("low", "Low", digits=4),
               Column("high", "High", digits=4), Column("p_value", "p", digits=4), Column("n", "N", "integer"),
               Column("none", "None", digits=4), Column("fine", "Fine", digits=2))  # fmt: skip
    rows = ((0.9, 0.86, 1.0, 0.5, 7, None, 0.123), (0.8, 0.7, None, 1.0, 8, None, 0.5))
    shown = with_shown_digits(Table("t", "T", columns, rows))

    assert [column.digits for column in shown.columns] == [2, 2, 0, 4, None, 4, 2]
    assert with_shown_digits(replace(shown, rows=())).columns == shown.columns


def test_every_interval_of_a_metric_is_in_the_step_of_its_widest_one() -> None:
    """Metric by metric and task by task; its ends are never drawn in, and what is no number stays as it is."""

    def row(task: str, metric: str, point: float | None, low: float | None, high: float | None, tag: str) -> list[Cell]:
        return [task, metric, point, low, high, tag, "how", 0.95, None if point is None else 0.44, 7, "note"]

    rows = [row("t", "auc", 0.537, 0.41, 0.59, "B"), row("t", "auc", 0.537, 0.11, 0.89, "C"),
            row("t", "auc", 0.537, None, 0.99, "D"), row("t", "f1", 0.537, 0.41, 0.59, "B"),
            row("u", "auc", 0.537, 0.51, 0.56, "C"), row("u", "f1", 0.537, 0.41, 0.59, "A"),
            row("v", "auc", 0.537, 0.11, 0.89, "B"), row("v", "auc", 0.537, 0.41, 0.59, "C"),
            row("u", "mcc", None, None, None, "B"), row("u", "zero", 0.0, None, None, "B")]  # fmt: skip
    shown = Grain(3, 0.95).measurement(Measurement("A", {}, rows={"intervals": [tuple(each) for each in rows]}), {})
    told = [[*row[2:5], row[8]] for row in shown.rows["intervals"]]

    assert told == [
        [0.5, 0.4, 0.6, 0.4], [0.5, 0.1, 0.9, 0.4], [0.5, None, 1.0, 0.4],
        [0.55, 0.4, 0.6, 0.45], [0.54, 0.51, 0.56, 0.44], [0.5, 0.4, 0.6, 0.4],
        [0.5, 0.1, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4], [None, None, None, None], [0.0, None, None, 0.44],
    ]  # fmt: skip
    assert [[*row[:2], *row[5:8], *row[9:]] for row in shown.rows["intervals"]] == [
        [*row[:2], *row[5:8], *row[9:]] for row in rows
    ]


def test_a_measurement_is_shown_in_steps_from_its_points_to_its_tables() -> None:
    """Replicates move with their number, limits and reports are rounded, each task of a report by its own size."""
    point = Estimate(0.537, 0.41, 0.59, calibrated=Calibrated(0.11, 0.89, "x", 17.3))
    names = [column.name for column in LAYOUTS["reliability"].columns]
    reports = [(task, *[0.437] * len(names)) for task in ("few", "many")]
    exact = Measurement("A", {"auc": point, "none": Estimate(None, 0.1, 0.2)}, rows={"reliability": reports},
                        replicates={"auc": np.array([0.5, 0.6]), "none": np.array([1.0])}, bounds=(0.1234, None),
                        elsewhere={"without t": 1.0})  # type: ignore[arg-type, dict-item]  # fmt: skip
    truth = {"few": labels(100), "many": labels(10_000)}
    shown = Grain(3, 0.95).measurement(exact, truth)

    assert shown.estimates == {
        "auc": Estimate(0.5, 0.4, 0.6, calibrated=Calibrated(0.1, 0.9, "x", 17.0)), "none": Estimate(None)
    }  # fmt: skip
    assert shown.replicates["auc"].tolist() == pytest.approx([0.463, 0.563], abs=0.05)
    assert shown.replicates["none"].tolist() == [1.0]
    assert (shown.bounds, shown.elsewhere) == ((0.12, None), {})
    assert [list(row) for row in shown.rows["reliability"]] == [
        [task, *(RowSteps.of(truth[task]).cell("reliability", name, 0.437) for name in names)]
        for task in ("few", "many")
    ]
    assert shown.rows["reliability"][0][1:] != shown.rows["reliability"][1][1:]
