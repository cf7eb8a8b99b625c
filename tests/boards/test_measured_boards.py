"""Boards of entrants that were measured one by one: what rows, notes and `meta` say of each, by the cases there are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.boards.calibrated import Precision
from app.boards.coverage import Coverage
from app.boards.example import EPISODES, benchmark
from app.boards.measured import EQUAL_SEEDS, NO_WORST_VALUE, Estimate, EvidenceWords, Measurement
from app.boards.methods.estimate import EstimateBoard, assemble_board, standing_by
from app.boards.standing import power_meta
from app.boards.tables import MAX_COMPARED, BoardTables
from app.stats.calibrated import Calibrated

BOARD = EstimateBoard(name="main", method="estimate", metrics=["success", "error"], smallest_difference=0.05)
SMALL = benchmark(BOARD)
WORDS = EvidenceWords(resampled="seeds", too_few="seeds", failed="Failed episodes", units="seeds", rare="seeds")
OF_SEEDS = replace(EPISODES, words=lambda _manifest, _spec: WORDS)


def of(entrant: str, point: float | None, n_units: float = 12.0, error: float | None = 0.4, **more: Any) -> Measurement:
    """Return an entrant with replicates of its score, and a number of another metric."""
    given: dict[str, Any] = {
        "estimates": {
            "success": Estimate(point, calibrated=Calibrated(0.1, 0.9, "wilson_neff", n_units)),
            "error": Estimate(error),
        },
        "replicates": {"success": np.random.default_rng(1).normal(point or 0.0, 0.05, size=100)},
        "precision": {"success": Precision.of_units(12.0), "error": Precision.of_units(12.0)},
        "coverage": Coverage(10, 10),
    }
    return Measurement(entrant, **(given | more))


def board(*measurements: Measurement) -> BoardTables:
    """Return the board of these entrants."""
    return assemble_board(SMALL, BOARD, measurements, OF_SEEDS)


def lacking(n: int, *, is_withheld: bool = False) -> dict[str, Estimate]:
    """Return estimates of which the metric that does not rank lacks values in some rows."""
    withheld = Estimate(None, reason=NO_WORST_VALUE, n_lacking=n)
    return {"success": Estimate(0.6), "error": withheld if is_withheld else Estimate(0.4, n_lacking=n)}


def equal_seeds(n: int, if_equal: float = 0.5) -> dict[str, Any]:
    """Return the row of one whose seeds are all equal, or only nearly where that would reach further."""
    return {"rows": {EQUAL_SEEDS: ((n, 0.5, if_equal, 0.1),)}}


A, B = of("A", 0.8), of("B", 0.6)
FREE = "The assumption-free interval, in columns of its own, holds there, too."
ITEMS, OTHER = "Of other items than most have: C.", "no two entrants have exactly the same ones."
PART = "Of other items than most have, or of a part of these: C. The benchmark says"
SURE: dict[str, Any] = {"facts": {"assumption_free_low": 0.1}}
NOTED: dict[str, tuple[Sequence[Measurement], str, bool]] = {
    "other items than most": ((of("A", 0.8, items="x"), of("B", 0.6, items="x"), of("C", 0.5, items="y")), ITEMS, True),
    "a part of the items of most": (
        (of("A", 0.8, items="x"), of("B", 0.6, items="x"),
         of("C", 0.5, items="y", coverage=Coverage(10, 8, n_absent=2, is_filled=True))), PART, True),
    "other items each": ((of("A", 0.8, items="x"), of("B", 0.6, items="y")), OTHER, True),
    "the same items": ((of("A", 0.8, items="x"), of("B", 0.6, items="x")), OTHER, False),
    "equal seeds": ((of("A", 0.8, **equal_seeds(40)), B), "A: 40 seeds that are all equal have a score of 0.8.", True),
    "seeds that are equal, how far": (
        (of("A", 0.8, **equal_seeds(40)), B), "off by up to 0.5 to either side (one-sided, ", True),
    "seeds that are nearly equal": (
        (of("A", 0.8, **equal_seeds(40, 0.6)), B),
        "off by up to 0.5 to either side: it would be 0.6 if they were equal, and is by our convention less the "
        "further they are apart, and nothing from 0.1 on.", True),
    "seeds that are not equal": ((A, B), "Others may do otherwise", False),
    "equal seeds of one alone": ((of("A", 0.8, **equal_seeds(5)),), "that are all equal", False),
    "an assumption-free interval of all": ((of("A", 0.8, **SURE), of("B", 0.6, **SURE), of("C", None)), FREE, True),
    "an assumption-free interval of one": ((of("A", 0.8, **SURE), B), FREE, False),
    "nobody with an assumption-free interval": ((of("A", None), of("B", None)), FREE, False),
    "values that are left out": (
        (A, of("B", 0.6, estimates=lacking(1200))), "for want of a value: error of B (1,200).", True),
    "no value that is left out": ((A, B), "for want of a value", False),
    "an average that is withheld": (
        (A, of("B", 0.6, estimates=lacking(2, is_withheld=True))), "has no worst value: error of B (2).", True),
    "an average that is not withheld": ((A, of("B", 0.6, estimates=lacking(2))), "has no worst value", False),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTED)
def test_a_note_is_there_where_it_is_true(name: str) -> None:
    """And only there."""
    measurements, words, is_said = NOTED[name]

    assert any(words in note for note in board(*measurements).leaderboard.notes) is is_said


@pytest.mark.parametrize(
    ("n_units", "few"),
    [((12.0, 2.0), "2 seeds"), ((7.5, 12.0), "seeds worth 7.5 of equal size"), ((7.0, 7.5), "7 seeds"),
     ((8.0, 12.0), None), ((1.0, 12.0), None), ((1.9, 3.0), "3 seeds")],
)  # fmt: skip
def test_the_fewest_units_that_have_an_interval_are_named_where_they_are_few(
    n_units: tuple[float, float], few: str | None
) -> None:
    """Below eight; of one there is no interval to be careful with."""
    first, second = n_units

    assert board(of("A", 0.8, first), of("B", 0.6, second)).leaderboard.meta.get("few_units") == few


def test_ranks_at_worst_and_at_best_are_among_the_others() -> None:
    """Who is ranked with its gaps is not above itself."""
    filled = Coverage(10, 8, n_absent=2, is_filled=True)
    table = board(of("A", 0.8, coverage=filled, bounds=(0.1, 0.9)), B).leaderboard
    first = next(table.records())

    assert [first[name] for name in ("entrant", "rank", "rank_if_worst", "rank_if_best")] == ["A", 1, 2, 1]


@pytest.mark.parametrize(
    ("lacks", "why"),
    [({"is_reference": True}, "label holder"), ({"n_not_asked": 10}, "not asked"), ({"n_absent": 10}, None)],
)
def test_who_has_no_score_may_have_a_reason_for_it(lacks: dict[str, Any], why: str | None) -> None:
    """What is only absent is told with its number."""
    table = board(A, of("B", None, coverage=Coverage(10, 0, **lacks))).leaderboard

    assert [row.get("unranked_because") for row in table.records()] == [None, why]


@pytest.mark.parametrize(("error", "variants"), [(0.3, ["by error"]), (0.4, None), (None, None)])
def test_a_metric_that_the_first_has_no_value_of_is_no_other_board(
    error: float | None, variants: list[str] | None
) -> None:
    """Nobody could say where the first would be; nor is one by which all are equal."""
    meta = board(of("A", 0.8, error=error), B, of("C", 0.5)).leaderboard.meta

    assert meta.get("stability", {}).get("variants") == variants


def test_which_difference_matters_is_said_of_the_metric_that_ranks() -> None:
    """Its unit is none of the others'; a resample in which a score is undefined has the score itself."""
    drawn = np.array([0.7, np.nan, 0.9, 0.8])
    both = [of(name, 0.8, replicates={"success": drawn, "error": drawn}) for name in "AB"]
    ranked, other = (standing_by(SMALL, BOARD, metric, both) for metric in ("success", "error"))

    assert ranked.sets is not None
    assert other.sets is not None
    assert (ranked.sets.within is None, other.sets.within is None) == (False, True)
    assert ranked.all_pairs is not None
    assert ranked.all_pairs.replicates[:, 0].tolist() == [0.7, 0.8, 0.9, 0.8]


def test_a_standing_is_held_within_the_range_and_over_snapshots_where_a_board_asks_for_it() -> None:
    """Two rates are no further apart than one; who may look again and again needs more to tell two apart."""
    wide = np.random.default_rng(2).normal(0.5, 0.9, size=100)
    both = [of("A", 0.9, replicates={"success": wide}), of("B", 0.1, replicates={"success": -wide})]
    once, often = (standing_by(SMALL, BOARD.model_copy(update={"over_snapshots": each}), "success", both)
                   for each in (False, True))  # fmt: skip

    assert once.contrasts([0, 1]).verdict(0, 1).contrast[2] == 1.0
    assert power_meta(often)["power"]["critical"] > power_meta(once)["power"]["critical"]


def test_a_rate_that_ranks_has_the_statistic_that_is_declared() -> None:
    """Beside another metric it is a mean, since a rare event would be trimmed away."""
    names = ["error", "success"], ["success", "error"]
    of_each = [EstimateBoard(name="main", method="estimate", metrics=each, statistic="iqm") for each in names]

    assert [spec.statistic_of("error", SMALL.metrics["error"]) for spec in of_each] == ["iqm", "mean"]


@pytest.mark.parametrize(("n_more", "is_told"), [(0, False), (1, True)])
def test_pairs_of_very_many_are_those_of_the_best(n_more: int, is_told: bool) -> None:
    """All are tested; the table of pairs says so where it lists some."""
    points = np.linspace(0.9, 0.1, MAX_COMPARED + n_more)
    pairs = board(*(of(f"e{at:03}", point) for at, point in enumerate(points.tolist()))).pairwise

    assert pairs is not None
    assert len({row["entrant_a"] for row in pairs.records()}) == MAX_COMPARED
    assert any("contenders; all are tested" in note for note in pairs.notes) is is_told
