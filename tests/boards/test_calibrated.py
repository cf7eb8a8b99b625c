"""The calibrated intervals that boards draw beside each system's own."""

import re
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from scipy.special import stdtrit

from app.boards.calibrated import (
    RARE,
    few_units_note,
    hidden_pair_note,
    hidden_tasks_note,
    rare_note,
    rare_places_note,
    task_intervals,
)
from app.boards.example import benchmark, rows
from app.boards.measured import EntrantEvidence, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.boards.methods.mean import Mean
from app.boards.registry import compute_board
from app.kinds.episodes.measure import SeedScores, iqm_over_tasks, mean_over_tasks, measure_episodes, plain_mean
from app.kinds.predictions.measure import measure_predictions
from app.kinds.registry import measured_kind
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import ALL_EQUAL
from app.stats.spreads import SHARE, Range
from app.values.scores import Coded, Labels, PredictionBlock, ScoreTable
from tests.cases.boards import CASES, Case, built, declare

EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.direction}")


def predictions_manifest(metrics: str) -> Manifest:
    """Return a board of class predictions."""
    declared = ", ".join(f"{name}: {{direction: {way}}}" for name, way in (m.split(":") for m in metrics.split()))
    names = ", ".join(m.split(":")[0] for m in metrics.split())
    return declare(
        "predictions",
        f"{{{declared}}}",
        f"method: estimate, metrics: [{names}]",
        "predictions: {kind: classification, classes: ['no', 'yes']}",
        "[{id: t}]",
    )


def measured(metrics: str, probability: FloatArray, label: FloatArray, weight: FloatArray | None = None) -> Measurement:
    """Return what the predictions of one entrant come to."""
    manifest = predictions_manifest(metrics)
    nothing = np.zeros(0, dtype=np.int64)
    empty = ScoreTable(
        Coded((), nothing), Coded((), nothing), (), np.zeros((0, 0)), nothing.astype(bool), nothing, nothing
    )
    block = PredictionBlock("A", "t", probability[:, None])
    evidence = EntrantEvidence("A", empty, [block], {"t": Labels("t", (), label, weight=weight)})
    return measure_predictions(manifest, manifest.leaderboards[0], evidence)


def ends(result: Measurement, metric: str) -> tuple[float, float]:
    """Return the calibrated interval of a metric."""
    calibrated = result.estimates[metric].calibrated
    assert calibrated is not None
    assert calibrated.low is not None
    assert calibrated.high is not None
    return calibrated.low, calibrated.high


def episodes(rates: list[float], task: str = "lift", n_episodes: int = 50) -> ScoreTable:
    """Return one entrant's episodes, yes or no, a seed for each rate of success."""
    values = np.concatenate([(np.arange(n_episodes) < rate * n_episodes).astype(np.float64) for rate in rates])
    n = len(values)
    zeros = np.zeros(n, dtype=np.int64)
    return ScoreTable(
        Coded(("A",), zeros), Coded((task,), zeros), ("success",), values[:, None], zeros.astype(bool), zeros,
        np.arange(n), seed=np.repeat(np.arange(len(rates)), n_episodes),
        item=Coded(tuple(f"{at:03}" for at in range(n)), np.arange(n)),
    )  # fmt: skip


def measured_episodes(rates: list[float], statistic: str) -> Measurement:
    """Return what the episodes of one entrant come to."""
    board = f"method: estimate, metrics: [success], statistic: {statistic}"
    manifest = declare("episodes", "{success: {direction: maximize, min: 0, max: 1}}", board)
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    return measure_episodes(manifest, spec, EntrantEvidence("A", episodes(rates)))


def test_twenty_of_twenty_right_is_shown_with_what_it_can_hold() -> None:
    """The percentile interval of the board has no width; the one drawn is Wilson's."""
    label = np.array([0.0, 1.0] * 10)
    actual = measured("accuracy:maximize auc:maximize pr_auc:maximize", 0.1 + 0.8 * label, label)

    assert (actual.estimates["accuracy"].low, actual.estimates["accuracy"].high) == (1.0, 1.0)
    assert ends(actual, "accuracy") == pytest.approx((0.8389, 1.0), abs=1e-4)
    assert ends(actual, "auc") == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert ends(actual, "pr_auc") == pytest.approx((0.7225, 1.0), abs=1e-4)


def test_the_table_of_intervals_has_the_calibrated_one_under_its_tag() -> None:
    """Beside W, which stays as its system has it."""
    label = np.array([0.0, 1.0] * 10)
    rows = measured("accuracy:maximize", 0.1 + 0.8 * label, label).rows["intervals"]

    assert [row[5] for row in rows if row[1] == "accuracy"] == ["B", "C", "W", "acc_ci_ydf"]
    assert rows[1][6] == "calibrated, wilson_neff"


@pytest.mark.parametrize("heaviest", [100.0, 1e6])
def test_one_example_with_most_of_the_weight_is_no_interval_without_two_ends(heaviest: float) -> None:
    """A log loss of 0.498 had 0.475 to 0.514 where one of twenty examples weighs a million times as much."""
    rng = np.random.default_rng(2)
    label = (np.arange(20) % 2).astype(np.float64)
    probability = np.clip(0.5 + 0.2 * (label - 0.5) + 0.2 * rng.normal(size=20), 0.02, 0.98)
    weight = np.append(np.full(19, 1.0), heaviest)
    result = measured("accuracy:maximize logloss:minimize", probability, label, weight)
    loss = result.estimates["logloss"].calibrated
    low, high = ends(result, "accuracy")

    assert loss is not None
    assert (loss.low, loss.high, loss.reason) == (None, None, "too_few_units")
    assert high - low > 0.5


@EVERY
def test_a_board_draws_the_calibrated_interval_and_keeps_the_other(case: Case) -> None:
    """Each number's whisker is the calibrated one, but CHAMBER's own of an interquartile mean beside a mean that ranks.

    Columns of the compatible interval are beside it where there is one.
    """
    table = built(case).leaderboard
    drawn = [c for c in table.columns if c.interval is not None and c.name != "rank"]
    names = set(table.column_names())

    for column in drawn:
        is_compatible = column.title.endswith("(compatible interval)")
        ends = ("lower", "upper") if is_compatible else ("calibrated_low", "calibrated_high")
        assert column.interval == tuple(f"{column.name}_{end}" for end in ends)
        assert not is_compatible or (column.name.endswith("_iqm") and not column.detail)
        compatible = set() if column.name.startswith("metric__") else {f"{column.name}_lower", f"{column.name}_upper"}
        assert compatible | {f"{column.name}_calibrated_how"} <= names


def test_an_iqm_of_one_has_a_width_where_its_seeds_differ() -> None:
    """Five seeds of a success rate of .9 on average: all resamples give one, and the truth may be less."""
    actual = measured_episodes([1.0, 1.0, 0.98, 0.94, 0.58], "iqm")
    low, high = ends(actual, "success")

    assert (actual.estimates["success"].low, actual.estimates["success"].high) != (low, high)
    assert low < 0.8
    assert high == 1.0
    assert ends(actual, "success:mean")[0] < 0.75 < ends(actual, "success:mean")[1]


def test_a_seed_that_was_run_on_two_tasks_is_one_unit() -> None:
    """The same five seeds on two tasks say less than ten seeds of which five were run on each."""
    rates = [1.0, 0.8, 0.5, 0.9, 0.3]
    values = np.concatenate([(np.arange(10) < 10 * rate).astype(np.float64) for rate in rates])
    seeds = np.repeat(np.arange(5), 10)
    half = np.full(2, 0.5)
    same = [SeedScores(values, seeds), SeedScores(values, seeds)]
    others = [SeedScores(values, seeds), SeedScores(values, seeds + 5)]
    joint, apart = (mean_over_tasks(tasks, half, plain_mean(SHARE), 0.95) for tasks in (same, others))
    iqms = [iqm_over_tasks(tasks, half, SHARE, 0.95) for tasks in (same, others)]

    assert (joint.n_units, apart.n_units) == (5.0, 10.0)
    for wide, narrow in ((joint, apart), iqms):
        assert wide.low is not None
        assert narrow.low is not None
        assert wide.low < narrow.low


def test_shared_seeds_have_one_degree_of_freedom_less_than_there_are() -> None:
    """Two tasks of the same five symmetric seeds: the widths at two levels are as those of Student's t with four."""
    values = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 10)
    tasks = [SeedScores(values, np.repeat(np.arange(5), 10))] * 2
    half = np.full(2, 0.5)
    wide, narrow = (mean_over_tasks(tasks, half, plain_mean(Range()), level) for level in (0.99, 0.95))

    assert None not in (wide.low, wide.high, narrow.low, narrow.high)
    ratio = (wide.high - wide.low) / (narrow.high - narrow.low)  # type: ignore[operator]
    assert ratio == pytest.approx(stdtrit(4, 0.995) / stdtrit(4, 0.975))


def test_one_shared_seed_lends_no_degrees_to_an_interval() -> None:
    """Five seeds that differ much and fifty that hardly do: the degrees stay near those of the few."""
    few = SeedScores(np.repeat([0.0, 0.2, 0.5, 0.8, 1.0], 10), np.repeat(np.arange(5), 10))
    many = np.tile(np.repeat([0.0, 1.0], [4, 6]), 50)
    apart, sharing = (
        mean_over_tasks(
            [few, SeedScores(many, np.repeat(np.arange(first, first + 50), 10))],
            np.full(2, 0.5),
            plain_mean(Range()),
            0.95,
        )
        for first in (5, 4)
    )

    assert None not in (apart.low, apart.high, sharing.low, sharing.high)
    assert sharing.high - sharing.low > 0.85 * (apart.high - apart.low)  # type: ignore[operator]


def test_a_declared_range_that_does_not_hold_is_no_end() -> None:
    """A score of 1.5 under a maximum of 1: the interval goes by the scores."""
    actual = task_intervals(np.array([[0.5], [1.5], [0.7]]), SHARE, 0.95)(0)

    assert isinstance(actual.high, float)
    assert actual.high > 1.0


def test_few_units_are_named_with_what_they_can_hold() -> None:
    """Five seeds that all succeed: the rate may be 0.48."""
    (note,) = few_units_note([("A", 5.0), ("B", 16.0)], "seeds", 0.95, is_rate=True)
    (of_no_rate,) = few_units_note([("A", 5.0), ("B", 16.0)], "seeds", 0.95)

    assert note.startswith("The results of A are worth fewer than eight independent seeds:")
    assert "reaches down to 0.48 where 5 seeds all succeed, and up to 0.52" in note
    assert "rate" not in of_no_rate
    assert list(few_units_note([("B", 16.0)], "seeds", 0.95)) == []


@pytest.mark.parametrize(("n_tasks", "is_said"), [(2.0, True), (5.0, False), (7.0, False)])
def test_a_figure_from_more_tasks_than_there_are_says_so(n_tasks: float, is_said: bool) -> None:
    """A board of 2 tasks quoted what was simulated of 5 as if it were its own."""
    (note,) = rare_note("tasks", n_tasks)

    assert "from 5 tasks" in note
    assert ("the fewest that were simulated" in note) is is_said


def test_two_equal_tasks_are_enough_and_say_nothing_of_how_tasks_vary() -> None:
    """Without a range their mean has no interval because they are equal, not because they are few."""
    at = task_intervals(np.array([[0.5, 0.4], [0.5, 0.6]]), Range(), 0.95)

    assert (at(0).low, at(0).high, at(0).how) == (None, None, ALL_EQUAL)
    assert at(1).low is not None


def at_the_turn(rng: np.random.Generator) -> float:
    """Return the upper end for an average of 30 tasks of yes and no whose interquartile means are in truth all one."""
    seeds, tasks = np.repeat(np.arange(5), 20), []
    for task in range(30):
        rates = rng.beta(0.8 * 9, 0.2 * 9, size=5).repeat(20)
        tasks.append(SeedScores((rng.random(100) < rates).astype(np.float64), seeds + 5 * task))
    high = iqm_over_tasks(tasks, np.full(30, 1 / 30), SHARE, 0.95).high
    assert high is not None
    return high


@pytest.mark.heavy
def test_what_interquartile_means_of_tasks_all_miss_by_is_in_their_average() -> None:
    """A rate of 0.8 in each: estimates below three quarters lower the average, and those above raise nothing."""
    rng = np.random.default_rng(31)

    assert [at_the_turn(rng) for _ in range(4)] == [1.0] * 4


@pytest.mark.parametrize("are_shared", [False, True])
def test_an_average_of_skewed_interquartile_means_is_believed_to_be_too_high(are_shared: bool) -> None:
    """Smooth scores of seeds of their own: narrower than ends added up, and inside the range."""
    rng, seeds = np.random.default_rng(32), np.repeat(np.arange(5), 20)
    tasks = [SeedScores(rng.exponential(size=100), seeds + (0 if are_shared else 5 * at)) for at in range(20)]
    average = iqm_over_tasks(tasks, np.full(20, 1 / 20), Range(low=0.0), 0.95)
    assert average.low is not None
    assert average.high is not None

    assert 0 < average.low < 0.7384 < average.high
    assert (average.high - average.low < 0.25) is not are_shared


def test_what_has_a_range_and_few_units_has_an_interval_that_assumes_nothing() -> None:
    """Of three tasks, and of five seeds of one task; the note beside says where the others fail and these hold."""
    board = Mean(name="main", method="mean", metric="error")
    table = compute_board(benchmark(board), board, rows()).leaderboard
    low, high = (table.index(f"mean_error_assumption_free_{end}") for end in ("low", "high"))
    declared = declare(
        "episodes", "{x: {direction: maximize, min: 0, max: 1}}", "method: estimate, metrics: [x]", "", "[{id: a}]"
    )
    n = 20
    scores = ScoreTable(
        entrant=Coded(("A",), np.zeros(n, dtype=np.int64)), task=Coded(("a",), np.zeros(n, dtype=np.int64)),
        columns=("x",), values=np.ones((n, 1)), leaked=np.zeros(n, dtype=np.bool_), file=np.zeros(n, dtype=np.int64),
        row=np.arange(n), seed=np.arange(n) // 4, item=Coded(tuple("0123"), np.arange(n) % 4),
    )  # fmt: skip
    facts = measured_kind(declared).measure(declared, declared.leaderboards[0], EntrantEvidence("A", scores)).facts

    assert all(0.0 < row[low] < row[table.index("mean_error")] < row[high] < 1.0 for row in table.rows)
    assert any("assumption-free interval" in note for note in table.notes)
    assert (round(float(str(facts["assumption_free_low"])), 2), facts["assumption_free_high"]) == (0.38, 1.0)


@pytest.mark.parametrize("world", RARE)
def test_a_note_on_what_is_rare_names_no_score(world: str) -> None:
    """Of success rates 0.9 is good, of error rates bad, and both have the note."""
    (note,) = rare_note(world, RARE[world][2] - 1)

    assert not re.search(r"\d\.\d", note)


NOTES: dict[str, tuple[Callable[[], Iterable[str]], str | None]] = {
    "few units": (lambda: few_units_note([("A", 7.9)], "seeds", 0.95), "The results of A"),
    "eight units are not few": (lambda: few_units_note([("A", 8.0)], "seeds", 0.95), None),
    "two units are few": (lambda: few_units_note([("A", 2.0)], "seeds", 0.95), "The results of A"),
    "of less than two there is no interval": (lambda: few_units_note([("A", 1.9)], "seeds", 0.95), None),
    "39 tasks without a range": (lambda: hidden_tasks_note(39, Range()), "Scores have no declared range, and 39 tasks"),
    "40 tasks without a range": (lambda: hidden_tasks_note(40, Range()), None),
    "two tasks without a range": (lambda: hidden_tasks_note(2, Range()), "2 tasks"),
    "one task without a range": (lambda: hidden_tasks_note(1, Range()), None),
    "compared tasks": (lambda: hidden_tasks_note(10, Range(), n_compared=2), "Comparisons are not widened: two equals"),
    "one alone is compared with nobody": (lambda: hidden_tasks_note(10, Range(), n_compared=1), "85 of 100 cases."),
    "100 tasks with one end": (lambda: hidden_tasks_note(100, Range(0.0)), "may not show a long tail"),
    "100 tasks with the other end": (lambda: hidden_tasks_note(100, Range(high=1.0)), "may not show a long tail"),
    "101 tasks with one end": (lambda: hidden_tasks_note(101, Range(0.0)), None),
    "one task with one end": (lambda: hidden_tasks_note(1, Range(0.0)), None),
    "tasks in a range, compared": (
        lambda: hidden_tasks_note(99, SHARE, n_compared=2), "comparisons less often than they say."),
    "tasks in a range, alone": (lambda: hidden_tasks_note(99, SHARE), "in only 86 of 100 cases."),
    "100 tasks in a range": (lambda: hidden_tasks_note(100, SHARE), None),
    "pairs of 39 tasks": (
        lambda: hidden_pair_note(39, Range(), 5), "from 20 holds in 91 of 100 cases; of 5 equals"),
    "pairs of 40 tasks": (
        lambda: hidden_pair_note(40, Range(), 5), "Where it is so by six standard deviations of the others,"),
    "pairs of four": (lambda: hidden_pair_note(39, Range(), 4), "two equals, of which one is off"),
    "29 seeds": (lambda: rare_note("seeds", 29), "from 16 seeds would hold in only 81 of 100 cases"),
    "44 seeds": (lambda: rare_note("seeds", 44), "from 30 seeds would hold in only 94 of 100 cases, and two equals"),
    "45 seeds": (lambda: rare_note("seeds", 45), None),
    "five seeds": (lambda: rare_note("seeds", 5.0), "from 5 seeds would"),
    "fewer than five seeds": (lambda: rare_note("seeds", 4.9), "from 3 seeds would"),
    "fewer than simulated": (lambda: rare_note("seeds", 2.9), "from 3 seeds, the fewest that were simulated, would"),
    "one seed": (lambda: rare_note("seeds", 1.9), None),
    "seeds beside steady ones": (lambda: rare_note("seeds", 5.0), "with steady seeds, would be told apart in 9."),
    "seeds of one alone": (lambda: rare_note("seeds", 5.0, is_compared=False), "in only 52 of 100 cases."),
    "places among five": (lambda: rare_places_note(5, 41), "worst of a hundred"),
    "places among four": (lambda: rare_places_note(4, 41), None),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTES)
def test_notes_on_few_units_begin_and_end_where_simulations_say(name: str) -> None:
    """With the figures of the largest number that was simulated and is not above theirs."""
    notes, said = NOTES[name]
    found = list(notes())

    if said is None:
        assert found == []
        return
    (note,) = found
    assert note.endswith(said) if said.endswith(".") else said in note
