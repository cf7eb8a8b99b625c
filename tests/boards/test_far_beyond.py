"""Whose values are far beyond those of all other owners: small ones, none above zero, few tasks, decoys, few others."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.boards.example import benchmark
from app.boards.far_beyond import far_beyond, with_far_beyond
from app.boards.methods.weighted_rank.records import WeightedRank
from app.boards.relatives import ByUnit
from app.manifest.model import Metric
from app.stats.arrays import FloatArray
from app.values.table import Column, Table

N_TASKS = 20
ERROR = Metric(direction="minimize")
RNG = np.random.default_rng(11)
HONEST = RNG.lognormal(size=(N_TASKS, 1)) * np.exp(0.3 * RNG.normal(size=(N_TASKS, 3)))
"""Errors of three owners, [n_tasks, 3]."""


def named(values: Sequence[FloatArray], owners: str, metric: Metric = ERROR, *, of_ratios: bool = True) -> list[int]:
    """Return the positions of who is far beyond, each owner being a letter."""
    square = np.stack(values, axis=1)
    found = far_beyond(square, list(owners), metric, of_ratios=of_ratios).is_so()
    shuffled = np.random.default_rng(3).permutation(len(owners))
    again = far_beyond(square[:, shuffled], [owners[at] for at in shuffled], metric, of_ratios=of_ratios).is_so()
    assert found[shuffled].tolist() == again.tolist()
    return [int(at) for at in np.flatnonzero(found)]


def test_in_a_declared_range_values_below_zero_are_compared_too() -> None:
    """All honest correlations are below zero, and one is near 1: no factor, but a hundred times nearer to the end."""
    honest = -0.01 - 0.29 * HONEST / HONEST.max()

    assert named([np.full(N_TASKS, 0.995), *honest.T], "dabc", Metric(direction="maximize", min=-1.0, max=1.0)) == [0]
    assert named([np.full(N_TASKS, 0.995), *honest.T], "dabc", Metric(direction="maximize")) == []


@pytest.mark.parametrize("value", [1e-6, 1e-46, 5e-324, 0.0, -0.0, -0.1])
def test_errors_of_next_to_nothing_or_less_are_far_beyond(value: float) -> None:
    """However small, and where no range says that none is below zero."""
    assert named([np.full(N_TASKS, value), *HONEST.T], "dabc") == [0]


@pytest.mark.parametrize(("n_far", "is_named"), [(20, True), (10, True), (5, True), (4, False)])
def test_a_quarter_of_the_tasks_is_enough(n_far: int, is_named: bool) -> None:
    """Ten of twenty decide a geometric mean."""
    tiny = np.where(np.arange(N_TASKS) < n_far, 1e-6, HONEST[:, 0])

    assert named([tiny, *HONEST.T], "dabc") == [0] * is_named


@pytest.mark.parametrize(
    ("n_tasks", "n_far", "is_named"), [(4, 4, False), (5, 2, False), (5, 3, True), (8, 3, True), (12, 2, False)]
)
def test_few_tasks_say_nothing(n_tasks: int, n_far: int, is_named: bool) -> None:
    """Of five three are needed."""
    tiny = np.where(np.arange(n_tasks) < n_far, 1e-6, HONEST[:n_tasks, 0])

    assert named([tiny, *HONEST[:n_tasks].T], "dabc") == [0] * is_named


@pytest.mark.parametrize(("times", "is_named"), [(10.0, True), (9.99, False)])
def test_ten_times_is_far(times: float, is_named: bool) -> None:
    """Better by that very factor, of errors and of scores; of a share so much nearer to its end."""
    others = [np.full(N_TASKS, 2.0**-at) for at in range(2)]
    share = Metric(direction="maximize", min=0.0, max=1.0)

    assert named([others[0] / times, others[0], *others[:1]], "dab") == [0] * is_named
    assert named([others[0] * times, others[0], *others[:1]], "dab", Metric(direction="maximize")) == [0] * is_named
    near, far = np.full(N_TASKS, 1.0 - 1.0 / 16), np.full(N_TASKS, 1.0 - times / 16)
    assert named([near, far, far], "dab", share) == [0] * is_named


def test_a_board_names_who_is_on_it_by_name_with_the_first_metric_and_its_title() -> None:
    """Two metrics rank: whoever is far beyond in both is named with the first; who is not on the board is not named."""
    spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 0.5, "error": 0.5})
    manifest = benchmark(spec)
    metrics = {**manifest.metrics, "mae": Metric(direction="minimize", min=0.0, title="Mean error")}
    manifest = manifest.model_copy(update={"metrics": metrics})
    tiny = np.full(N_TASKS, 1e-9)
    square = np.stack([tiny, tiny, *HONEST.T], axis=1)
    by_unit = ByUnit(["Q", "P", "a", "b", "c"], {"error": square, "mae": square})

    def told(names: str) -> Table:
        columns = (Column("entrant", "Entrant", "text"),)
        shown = Table("leaderboard/main", "Main", columns, tuple((name,) for name in names))
        return with_far_beyond(shown, manifest, spec, by_unit)

    assert told("QPa").meta["far_beyond"] == [
        {"entrant": name, "metric": "mae", "n_far": N_TASKS, "n_compared": N_TASKS} for name in "PQ"
    ]
    assert told("QPa").notes[0].endswith("Mean error of P in 20 of 20, Mean error of Q in 20 of 20.")
    assert [one["entrant"] for one in told("Qa").meta["far_beyond"]] == ["Q"]


@pytest.mark.parametrize("decoy", [1e-6, 1e-9, -0.1])
def test_a_decoy_of_another_token_hides_nobody_however_many_entrants_it_has(decoy: float) -> None:
    """Both are far beyond the rest; so are the decoy's further entrants."""
    tiny, same = np.full(N_TASKS, 1e-6), np.full(N_TASKS, decoy)

    assert named([tiny, same, *HONEST.T], "deabc") == [0, 1]
    assert named([tiny, same, same * 2.0, same * 3.0, *HONEST.T], "deeeabc") == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("owners", "is_named"), [("dabc", True), ("dab", True), ("daa", True), ("dda", True), ("da", False), ("ddd", False)]
)
def test_two_others_are_enough_of_whom_one_is_another_owner_s(owners: str, is_named: bool) -> None:
    """Of one other it may be that it is bad; one's own entrants are nobody to be compared with."""
    tiny, rest = np.full(N_TASKS, 1e-6), list(HONEST.T[: len(owners) - 1])

    assert (0 in named([tiny, *rest], owners)) == is_named


def test_two_good_ones_beside_a_bad_one_are_not_far_beyond() -> None:
    """Of two other owners the better one is compared: a saturated rate flagged both good ones."""
    good = HONEST.T[:2]

    assert named([*good, 100.0 * HONEST[:, 2]], "abc") == []


def test_who_is_the_best_of_honest_ones_is_not_far_beyond() -> None:
    """Nor beside one that is bad, where others are as good."""
    assert named([*HONEST.T, 100.0 * HONEST[:, 0]], "abcd") == []


@pytest.mark.parametrize(
    "metric", [ERROR, Metric(direction="minimize", min=-1.0)], ids=["others are below zero", "so is the range"]
)
def test_where_values_below_zero_mean_something_they_are_not_beyond(metric: Metric) -> None:
    """Such as a logarithm of a loss: zero is no end of it, and no ratio is a measure of it."""
    others = HONEST.copy()
    if metric.min is None:
        others[0] = -0.2

    assert named([np.full(N_TASKS, -0.1), *others.T], "dabc", metric) == []


@pytest.mark.parametrize(("times", "is_named"), [(0.5, False), (20.0, True)])
def test_a_loss_below_zero_is_beyond_only_where_ratios_decide_or_it_is_as_far_below(
    times: float, is_named: bool
) -> None:
    """The mean log loss of a good density is negative, and others' may be above zero everywhere."""
    losses = [-times * HONEST.max(axis=1), *HONEST.T]

    assert (named(losses, "dabc", of_ratios=False) == [0]) is is_named
    assert named(losses, "dabc") == [0]


def test_an_error_of_zero_on_a_task_that_is_easy_to_others_too_is_not_beyond() -> None:
    """Nothing is a multiple of zero."""
    values = np.where(np.arange(N_TASKS)[:, None] < 8, 0.0, HONEST)

    assert named(list(values.T), "abc") == []


@pytest.mark.parametrize(
    ("own", "rival", "is_named"), [(0.995, 0.6, True), (1.0, 0.89, True), (0.9, 0.6, False), (1.0, 0.95, False)]
)
def test_of_a_share_that_is_maximized_so_much_nearer_to_one_is_far(own: float, rival: float, is_named: bool) -> None:
    """Ten times better than 0.6 there is none; ten times fewer errors there are, down to a hundredth of the range."""
    at = np.arange(N_TASKS)
    others = [rival - 0.001 * at - 0.01 * which for which in range(3)]
    share = Metric(direction="maximize", min=0.0, max=1.0)

    percents = [100.0 + 100.0 * each for each in (own - 0.0001 * at, *others)]

    assert named([own - 0.0001 * at, *others], "dabc", share) == [0] * is_named
    # A range of the same width that does not begin at zero.
    assert named(percents, "dabc", Metric(direction="maximize", min=100.0, max=200.0)) == [0] * is_named
    assert named([10.5 * HONEST.max(axis=1), *HONEST.T], "dabc", Metric(direction="maximize")) == [0]


def test_gaps_are_compared_with_nobody() -> None:
    """Neither one's own nor those of the only others."""
    gaps = np.where(np.arange(N_TASKS) < 16, np.nan, 1e-6)
    missing = np.where(np.arange(N_TASKS)[:, None] < 16, np.nan, HONEST)

    assert named([gaps, *HONEST.T], "dabc") == []
    assert named([np.full(N_TASKS, 1e-6), *missing.T], "dabc") == []
