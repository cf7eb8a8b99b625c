"""Rows that are nearly another entrant's: noise, moved and scaled copies are told, honest neighbours are not."""

import csv
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from app.admission.forensics import FEW, LEAST_SHARE, N_FIRST, Other, near_rows, near_share
from app.stats.arrays import FloatArray
from app.values.fingerprints import Fingerprint, Sampled
from tests.cases.chamber import EXAMPLES

RNG = np.random.default_rng(11)
LEADER = RNG.lognormal(size=40)
HONEST = LEADER * np.exp(0.05 * RNG.normal(size=40))
COPIES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "a millionth lower each": lambda values: values - 1e-6,
    "noise of a hundred thousandth": lambda values: values * (1 + 1e-5 * np.random.default_rng(2).normal(size=40)),
    "a tenth lower each": lambda values: values - 0.1,
    "each by a twentieth": lambda values: values * 0.95,
    "a third of its own": lambda values: np.where(np.arange(40) % 3, values, HONEST),
    "some left out": lambda values: np.where(np.arange(40) % 4, values, np.nan),
}


def sampled(values: FloatArray) -> Sampled:
    """Return a column of values at as many places."""
    return Sampled(np.arange(len(values), dtype=np.uint32), ("error",), values.astype(np.float32).reshape(-1, 1))


def _print_of(entrant: str, values: Sampled) -> Fingerprint:
    return Fingerprint(entrant, len(values.places), "", "", np.empty((2, 0), np.uint64), (), values)


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_is_near(copy: str) -> None:
    """Also where all of it was moved or scaled, and where a third of the rows are honest."""
    assert near_share(sampled(COPIES[copy](LEADER)), sampled(LEADER)) >= LEAST_SHARE


def test_an_entrant_within_a_twentieth_is_not_near() -> None:
    """Models of one family are as close as that."""
    assert near_share(sampled(HONEST), sampled(LEADER)) < 0.2


@pytest.mark.parametrize(
    "values",
    [LEADER[:7], np.repeat([0.0, 1.0], 20), np.full(40, 0.3), np.r_[LEADER[:6], np.zeros(9)]],
    ids=["seven", "yes and no", "a constant", "six and zeros"],
)
def test_few_rows_or_few_values_tell_nothing(values: FloatArray) -> None:
    """Yes and no, constants and zeros are equal by chance, also where the others differ."""
    assert near_share(sampled(values), sampled(values)) == 0.0


def test_eight_rows_and_half_of_them_are_enough() -> None:
    """The least that is compared, and the least that is named."""
    mine, half = LEADER[:8], np.where(np.arange(8) % 2, LEADER[:8], HONEST[:8])
    others = [Other("its model", 7, sampled(LEADER[:8]))]

    assert near_share(sampled(mine), sampled(mine)) == 1.0
    assert near_share(sampled(half), sampled(mine)) == LEAST_SHARE
    assert len(list(near_rows([_print_of("half", sampled(half))], others))) == 1


WIDE, STEEP = 100.0 + np.linspace(0.1, 0.9, 10) ** 2, 3.3 ** np.arange(10)
MIDDLE_HALF = float(np.subtract(*np.quantile(WIDE, [0.75, 0.25])))
SIGNS = np.where(np.arange(10) % 2, 1.0, -1.0)
"""Neither a shift nor a factor undoes these."""


@pytest.mark.parametrize(
    ("mine", "theirs", "share"),
    [
        (WIDE, WIDE + 0.8e-3 * MIDDLE_HALF * SIGNS, 1.0),
        (WIDE, WIDE + 1.2e-3 * MIDDLE_HALF * SIGNS, 0.0),
        (STEEP, STEEP * (1 + 0.8e-3 * SIGNS), 0.8),
        (STEEP, STEEP * (1 + 5e-3 * SIGNS), 0.0),
        (WIDE, np.where(np.arange(10) < 7, WIDE, np.nan), 0.0),
        (WIDE, np.where(np.arange(10) < 8, WIDE, np.nan), 1.0),
        (np.where(np.arange(10) < 8, WIDE, np.nan), WIDE, 1.0),
        (np.repeat(WIDE, 2), np.repeat(WIDE, 2), 1.0),
        (np.append(np.repeat(WIDE, 2), WIDE[0]), np.append(np.repeat(WIDE, 2), WIDE[0]), 0.0),
        (WIDE, 3 * WIDE, 1.0),
        (WIDE, WIDE + 1000.0, 1.0),
        (np.array([-5.0, 4.0, 3.0, 2.0, 1.0, 7.0, 6.0, 9.0]), np.array([-5.0, 4.0, 3.0, 2.0, 1.0, 17.0, 26.0, 39.0]),
         0.625),
    ],
    ids=["within the middle half", "beyond it", "within themselves", "beyond themselves", "seven", "eight",
         "eight of mine", "half distinct", "less than half", "scaled", "shifted", "five of eight"],
)  # fmt: skip
def test_the_share_that_agrees_is_counted_up_to_the_tolerance(
    mine: FloatArray, theirs: FloatArray, share: float
) -> None:
    """A thousandth of a value or of the middle half of all, whichever is less, of the rows that both have."""
    assert near_share(sampled(mine), sampled(theirs)) == pytest.approx(share)


def test_the_column_that_agrees_most_is_the_one_that_counts() -> None:
    """By its name, wherever it stands; a column that the other lacks says nothing."""
    both = np.column_stack([HONEST, LEADER]).astype(np.float32)
    mine = Sampled(np.arange(40, dtype=np.uint32), ("error", "loss"), both)
    theirs = Sampled(mine.places, ("loss", "other"), both[:, ::-1])

    assert near_share(mine, theirs) == 1.0
    assert near_share(mine, Sampled(mine.places, ("error", "other"), both[:, ::-1])) < 0.2


@pytest.mark.parametrize(("n_prints", "is_named"), [(FEW, True), (FEW + 1, False)])
def test_a_moved_copy_is_looked_for_among_few_entrants(n_prints: int, is_named: bool) -> None:
    """Of more only rows that are near as they are."""
    moved = sampled(COPIES["a tenth lower each"](LEADER))
    rest = [_print_of(f"e{at}", sampled(RNG.lognormal(size=40))) for at in range(n_prints - 1)]
    findings = near_rows([_print_of("moved", moved), *rest], [Other("leader", 7, sampled(LEADER))])

    assert [finding.entrant for finding in findings] == ["moved"] * is_named


def test_whoever_lacks_the_first_rows_is_compared_on_the_others() -> None:
    """Of many entrants the first rows decide who is compared at all; where those are absent they rule nobody out."""
    later = np.where(np.arange(40) < N_FIRST, np.nan, LEADER)
    rest = [_print_of(f"e{at}", sampled(RNG.lognormal(size=40))) for at in range(FEW)]
    findings = near_rows([_print_of("copy", sampled(LEADER)), *rest], [Other("leader", 7, sampled(later))])

    assert [finding.entrant for finding in findings] == ["copy"]


def test_the_nearest_one_is_named_with_its_submission() -> None:
    """Once, whoever else is near; rows at other places are compared where both have them."""
    part = Sampled(np.arange(5, 40, dtype=np.uint32), ("error",), sampled(LEADER - 1e-6).values[5:])
    others = [
        Other("half", 1, sampled(np.where(np.arange(40) % 3, LEADER, HONEST))),
        Other("leader", 2, sampled(LEADER)),
    ]
    (actual,) = near_rows([_print_of("copy", part)], others)

    assert actual.sentence == "copy agrees with leader to a thousandth in 100% of the compared rows (submission 2)"


def test_of_many_entrants_each_copy_is_named_with_the_one_it_copies() -> None:
    """As when it came alone: noise, rows left out, places of its own; rows of its own are nobody's."""
    rng = np.random.default_rng(5)
    leaders = rng.lognormal(size=(30, 60))
    others = [Other(f"leader-{at}", at, sampled(values)) for at, values in enumerate(leaders)]
    noisy = leaders * (1 + 1e-5 * rng.normal(size=leaders.shape))
    left_out = np.where(rng.random(leaders.shape) < 0.6, noisy, np.nan)
    later = [Sampled(each.places[20:], each.columns, each.values[20:]) for each in map(sampled, noisy)]
    own = rng.lognormal(size=leaders.shape)
    sent = [*map(sampled, noisy), *map(sampled, left_out), *later, *map(sampled, own)]
    prints = [_print_of(f"mine-{at}", values) for at, values in enumerate(sent)]
    together = list(near_rows(prints, others))
    alone = [each for mine in prints for each in near_rows([mine], others)]

    assert len(prints) > FEW
    assert together == alone
    assert [each.sentence.split()[3] for each in together] == [f"leader-{at % 30}" for at in range(90)]


def test_nobody_is_near_who_has_other_columns_or_no_common_rows() -> None:
    """A metric of another name and rows at other places cannot be compared."""
    mine = sampled(LEADER)
    other_column = Sampled(mine.places, ("accuracy",), mine.values)
    other_places = Sampled(mine.places + 1000, mine.columns, mine.values)

    assert (near_share(mine, other_column), near_share(mine, other_places)) == (0.0, 0.0)


@pytest.mark.heavy
def test_of_the_324_models_of_mteb_only_copies_and_second_names_are_near() -> None:
    """Four pairs of 52,326: two models under two names each, one renamed, one that was run again under another name."""
    models: dict[str, dict[str, float]] = {}
    (path,) = Path(EXAMPLES / "mteb-eng-v2" / "results").glob("*.csv")
    for row in csv.DictReader(path.read_text().splitlines()):
        models.setdefault(row["model"], {})[row["task"]] = float(row["main_score"])
    tasks = sorted({task for scores in models.values() for task in scores})
    of_each = {name: np.array([scores.get(task, np.nan) for task in tasks]) for name, scores in models.items()}
    others = [Other(name, 0, sampled(values)) for name, values in of_each.items()]
    near = set()
    for at, (name, values) in enumerate(itertools.islice(of_each.items(), len(of_each) - 1)):
        near |= {actual.entrant for actual in near_rows([_print_of(name, sampled(values))], others[at + 1 :])}

    assert len(near) == 4
    assert "brahmairesearch/slx-v0.1" in near
