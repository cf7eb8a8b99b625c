"""Golden numbers of the default stream: whoever changes a hash, a seed or an order of draws moves published intervals.

They are what the code drew when its first intervals were published. A new number here is a decision, and a line in the
changelog; a newer numpy that draws otherwise is one too.
"""

import hashlib

import numpy as np
import pytest

from app.stats.cluster import chamber_generator, draw_chamber, draw_clusters, draw_iid, group_sample
from app.stats.curve_bands import map_resamples
from app.stats.resample import board_generator, draw_counts

BINARY = group_sample(np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0]), np.array([3, 3, 3, 1, 1, 2, 2]))
CONTINUOUS = group_sample(np.arange(10.0), np.repeat([1, 2, 3], [3, 3, 4]))


@pytest.mark.parametrize(
    ("rng_seed", "names", "drawn"),
    [
        (123, ("board", "tasks"), [131, 803, 354, 845, 410, 866, 728, 948]),
        (-1, ("Größe",), [332, 791, 744, 478]),
        (0, (), [648, 464, 306, 250]),
    ],
)
def test_a_boards_generator_is_seeded_by_its_hash(rng_seed: int, names: tuple[str, ...], drawn: list[int]) -> None:
    """BLAKE2b of seed and names into a SeedSequence, the seed alone and letters beyond ASCII too."""
    assert board_generator(rng_seed, *names).integers(0, 1000, size=len(drawn)).tolist() == drawn


def test_tasks_are_drawn_as_they_always_were() -> None:
    """Five tasks, three resamples."""
    counts = draw_counts(5, 3, board_generator(7, "b", "tasks"))

    assert counts.tolist() == [[0, 2, 1, 1, 1], [2, 0, 2, 1, 0], [2, 1, 1, 0, 1]]


def test_yes_or_no_episodes_are_drawn_as_they_always_were() -> None:
    """Few distinct values: from multinomial distributions, seed by seed."""
    (counts,) = draw_clusters(BINARY, 4, board_generator(7, "A", "t", "", "success"))

    assert counts.tolist() == [[4, 2], [3, 5], [7, 1], [1, 8]]


def test_episodes_of_many_values_are_drawn_as_they_always_were() -> None:
    """More than eight distinct values: item by item."""
    (counts,) = draw_clusters(CONTINUOUS, 3, board_generator(7, "A", "t", "", "force"))

    assert counts.tolist() == [
        [1, 2, 0, 0, 0, 0, 2, 4, 2, 0],
        [1, 3, 2, 1, 0, 2, 0, 0, 0, 0],
        [2, 0, 1, 0, 0, 0, 1, 1, 3, 3],
    ]


def test_pooled_episodes_are_drawn_as_they_always_were() -> None:
    """One multinomial draw for each resample."""
    (counts,) = draw_iid(CONTINUOUS, 2, board_generator(7, "A"))

    assert counts.tolist() == [[0, 1, 2, 2, 0, 3, 0, 1, 1, 0], [1, 1, 0, 0, 0, 4, 0, 1, 1, 2]]


def test_chambers_episodes_are_drawn_as_they_always_were() -> None:
    """Its own stream, with seeds of different sizes."""
    counts = np.concatenate(list(draw_chamber(CONTINUOUS, 2, chamber_generator(7, "evaluation.leaderboard_bootstrap"))))

    assert counts.tolist() == [[0, 0, 0, 2, 3, 1, 0, 0, 2, 2], [0, 1, 2, 0, 0, 0, 0, 2, 4, 2]]


def test_few_examples_are_drawn_as_they_always_were() -> None:
    """One by one."""
    counts = np.concatenate(list(map_resamples(np.copy, 6, 3, board_generator(7, "b", "examples", "t"))))

    assert counts.tolist() == [[3, 2, 0, 0, 1, 0], [2, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 5]]


def test_many_examples_are_drawn_as_they_always_were() -> None:
    """From Poisson counts, topped up: the ends of the table, and the digest of all sixty thousand counts."""
    counts = np.concatenate(list(map_resamples(np.copy, 1500, 40, board_generator(7, "b", "examples", "t"))))

    assert counts[0, :12].tolist() == [0, 2, 2, 1, 2, 0, 0, 2, 0, 1, 2, 2]
    assert counts[39, -12:].tolist() == [2, 2, 0, 0, 0, 2, 0, 2, 0, 2, 1, 1]
    assert hashlib.sha256(counts.tobytes()).hexdigest().startswith("a7eaa786c0652085")
