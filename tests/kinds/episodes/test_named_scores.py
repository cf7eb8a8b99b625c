"""Replicates by name of seeds that were run in several conditions and tasks: what ranks of episodes rest on."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from app.kinds.episodes.measure import DrawnScore, averaged, draw_by_name, left_open
from app.manifest.model import Uncertainty
from app.stats.rank_sets import AllPairs
from app.stats.resample import named_uniforms
from app.stats.spreads import SHARE, Range
from app.values.scores import Coded, ScoreTable

DRAWN = Uncertainty(n_resamples=2_000, rng_seed=1)
OWN = named_uniforms(1, ("A",), 2_000)
CONDITIONS, N_EPISODES = tuple("abcdefg"), 20
RATES = (0.0, 0.0, 1.0, 1.0, 1.0)
"""Of each seed, in whatever it is run: all that varies is the seed."""
BETWEEN_SEEDS = float(np.sqrt(0.6 * 0.4 / 6))
"""The standard deviation of a mean of five such seeds under exponential weights, σ̂² / (n + 1)."""


def scores(task: str, rates: Sequence[float], seeds: Sequence[int], conditions: Sequence[str] = ("a",)) -> ScoreTable:
    """Return episodes of one entrant, each as good as its seed."""
    cells = list(itertools.product(range(len(conditions)), range(len(seeds)), range(N_EPISODES)))
    condition, seed, item = (np.array(each) for each in zip(*cells, strict=True))
    one = np.zeros(len(cells), dtype=np.int64)
    return ScoreTable(
        entrant=Coded(("A",), one),
        task=Coded((task,), one),
        columns=("success",),
        values=np.array(rates)[seed][:, None],
        leaked=np.zeros(len(cells), dtype=np.bool_),
        file=one,
        row=np.arange(len(cells)),
        seed=np.array(seeds)[seed],
        item=Coded(tuple(str(number) for number in range(N_EPISODES)), item),
        condition=Coded(tuple(conditions), condition),
    )


def drawn(table: ScoreTable) -> DrawnScore:
    """Return the replicates of the mean of all rows."""
    result = draw_by_name(table, "success", np.arange(len(table)), DRAWN, statistic="mean")
    assert result is not None
    return result


def over_tasks(*parts: DrawnScore) -> DrawnScore:
    """Return the average of tasks that count alike."""
    result = averaged(parts, np.ones(len(parts)))
    assert result is not None
    return result


def test_a_seed_has_one_weight_in_every_condition() -> None:
    """Seven partners of five seeds are no thirty-five seeds: the spread is that between seeds, not a root of 7 less."""
    assert drawn(scores("lift", RATES, range(5), CONDITIONS)).replicates.std() == pytest.approx(BETWEEN_SEEDS, rel=0.06)


@pytest.mark.parametrize(("first", "spread", "freedom"), [(0, BETWEEN_SEEDS, 4.0), (9, BETWEEN_SEEDS / 2, 16.0)])
def test_tasks_are_drawn_apart_only_where_they_share_no_seed(first: int, spread: float, freedom: float) -> None:
    """Four tasks of the same five seeds tell what five seeds tell; four of five seeds each tell what twenty do."""
    parts = [drawn(scores(f"t{at}", RATES, range(at * first, at * first + 5))) for at in range(4)]
    both = over_tasks(*parts)

    assert both.replicates.std() == pytest.approx(spread, rel=0.06)
    assert both.precision.freedom == pytest.approx(freedom, rel=0.06)
    assert len(both.seeds) == (5 if first == 0 else 20)


def test_one_shared_seed_lends_a_task_no_other_ones() -> None:
    """Five seeds that differ and fifty that do not: sharing one of them is worth no degree of freedom."""
    few, many = drawn(scores("a", RATES, range(5))), drawn(scores("b", [1.0] * 50, range(5, 55)))
    sharing = drawn(scores("b", [1.0] * 50, range(4, 54)))

    assert over_tasks(few, sharing).precision.freedom <= over_tasks(few, many).precision.freedom
    assert over_tasks(few, sharing).precision.inflation >= over_tasks(few, many).precision.inflation


@pytest.mark.heavy
def test_noise_of_seeds_is_seldom_called_a_difference() -> None:
    """Two policies of one rate, five seeds each of its own in four tasks: at most 5 % of 400 pairs are separable."""
    rng = np.random.default_rng(3)
    shares = [
        [
            over_tasks(*(drawn(scores(f"t{task}", one.tolist(), range(first, first + 5))) for task in range(4)))
            for one in np.eye(5)
        ]
        for first in (0, 5)
    ]
    weights = [np.column_stack([each.replicates for each in side]) for side in shares]
    freedom = np.array([side[0].precision.freedom for side in shares])
    inflation = np.array([side[0].precision.inflation for side in shares])
    n_separable = 0
    for _ in range(400):
        rates = np.clip(rng.normal(0.5, 0.15, size=(2, 5)), 0.0, 1.0)
        replicates = np.column_stack([each @ rate for each, rate in zip(weights, rates, strict=True)])
        all_pairs = AllPairs(rates.mean(axis=1), replicates, freedom, inflation)
        n_separable += abs(float(all_pairs.differences()[0, 1])) > all_pairs.margins(np.arange(2), 0.95)[0, 1]

    assert n_separable <= 20


def own(table: ScoreTable, entrant: str = "A") -> DrawnScore:
    """Return the replicates of the mean of all rows, whose seeds are the entrant's own."""
    every = np.arange(len(table))
    result = draw_by_name(table, "success", every, DRAWN, statistic="mean", entrant=entrant, are_shared=False)
    assert result is not None
    return result


def test_the_numbers_of_own_seeds_change_no_bit() -> None:
    """Which number a seed has, and in which order its rows come, says nothing: every permutation has the same bytes."""
    rates = np.array([0.0, 0.15, 0.5, 0.5, 0.9])
    known = own(scores("lift", rates.tolist(), range(5))).replicates.tobytes()
    for numbers in itertools.permutations((3, 7, 11, 2**40, 0)):
        assert own(scores("lift", rates.tolist(), numbers)).replicates.tobytes() == known


def test_own_seeds_of_two_entrants_have_nothing_in_common() -> None:
    """The same rows under another name are drawn apart; shared seeds of the same number are drawn together."""
    table = scores("lift", RATES, range(5))
    assert abs(np.corrcoef(own(table).replicates, own(table, "B").replicates)[0, 1]) < 0.1
    np.testing.assert_array_equal(drawn(table).replicates, drawn(table).replicates)


def test_episodes_within_a_seed_add_nothing_to_what_seeds_vary() -> None:
    """Five seeds that differ, of 20 episodes or of one value each, have one spread."""
    assert own(scores("lift", RATES, range(5))).replicates.std() == pytest.approx(BETWEEN_SEEDS, rel=0.06)


@pytest.mark.parametrize(
    ("rates", "reach"),
    [
        ([0.0] * 5, 0.4507),
        ([1.0] * 5, 0.4507),
        ([0.75] * 16, 0.1378),
        ([0.95] + [1.0] * 4, 0.2231),
        ([1.0 - 1e-9] + [1.0] * 4, 0.4507),
        ([0.9] + [1.0] * 4, None),
    ],
)
def test_equal_seeds_leave_open_what_so_many_do_not_show(rates: list[float], reach: float | None) -> None:
    """1 − 0.05^(1/n) of the way to the farther end, beside a score that is known exactly; less where they are apart.

    Of sixteen by 1.076 as much, so that it is enough at a hundredth of the error rate, too.
    """
    n = len(rates)
    seen = own(scores("lift", rates, range(n)))
    result = left_open(seen, SHARE, 0.95, OWN)
    point = float(result.replicates.mean())
    both = np.column_stack([result.replicates, np.full(2_000, point)])
    precision = np.array([[result.precision.freedom] * 2, [result.precision.inflation] * 2])
    margins = AllPairs(both.mean(axis=0), both, *precision).margins(np.arange(2), 0.95)

    assert result.reach == (None if reach is None else pytest.approx(reach, abs=5e-5))
    assert reach is None or 0.998 * reach <= margins[0, 1] <= (1.002 if np.ptp(rates) < 1e-8 else 1.02) * reach
    assert point == pytest.approx(seen.replicates.mean())
    assert left_open(seen, Range(), 0.95, OWN) is seen


def test_what_nearly_equal_seeds_leave_open_is_not_shared() -> None:
    """Of two that vary alike by the same seeds, all that is unseen of each stays in their difference."""
    for apart in (0.02, 0.09):
        rates = 0.5 + apart * np.array([-0.5, -0.25, 0.0, 0.25, 0.5])
        seen = drawn(scores("lift", rates.tolist(), range(5)))
        one, other = (left_open(seen, SHARE, 0.95, named_uniforms(1, (name,), 2_000)) for name in "AB")
        both = np.column_stack([one.replicates, other.replicates])
        precision = np.array([[one.precision.freedom] * 2, [one.precision.inflation] * 2])
        margins = AllPairs(both.mean(axis=0), both, *precision).margins(np.arange(2), 0.95)

        assert one.reach is not None
        assert margins[0, 1] == pytest.approx(np.sqrt(2.0) * one.reach, rel=0.05)


def test_one_task_split_into_many_leaves_as_much_open() -> None:
    """Equal seeds are so on all tasks; where they are apart on one, nothing is open on the others."""
    task, other = own(scores("lift", [1.0] * 5, range(5))), own(scores("push", RATES, range(5)))
    thrice, mixed = (left_open(over_tasks(task, task, each), SHARE, 0.95, OWN) for each in (task, other))

    assert thrice.reach == pytest.approx(0.4507, abs=5e-5)
    assert mixed.reach is None
