"""Boards of small worlds in which something is amiss, whole: who lacks, leaked, failed or timed what, and what is said.

Each world is a board of one method; where there can be no board, its reason is the text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from app.boards.calibrated import Precision
from app.boards.coverage import Coverage
from app.boards.example import EPISODES
from app.boards.measured import NO_WORST_VALUE, Estimate, Measurement, held_back
from app.boards.methods.estimate import assemble_board
from app.boards.registry import compute_board
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import ALL_EQUAL, Calibrated
from app.values.scores import Coded, ScoreTable
from tests.cases.boards import declare
from tests.cases.frozen import assert_same, text_of

NAMES = ("Ann", "Ben", "Cem", "Dot")
TASKS = ("a", "b", "c", "d", "e")
COUNTED = "[{id: a, n_forecasts: 200}, {id: b}, {id: c}, {id: d}, {id: e}]"
LISTED = "[{id: a}, {id: b}, {id: c}, {id: d}, {id: e}]"
TIMES = ("training_time_s", "inference_time_s", "n_forecasts")


@dataclass(frozen=True)
class World:
    """Errors of four entrants on five tasks, with what is changed in them by (entrant, task); NaN is no value."""

    board: str
    errors: Mapping[tuple[int, int], float] = field(default_factory=dict)
    leaked: tuple[tuple[int, int], ...] = ()
    without: tuple[tuple[int, int], ...] = ()
    times: Mapping[tuple[int, int], float] | None = None
    tasks: str = LISTED
    metric: str = "{direction: minimize}"
    more: str = ""
    names: tuple[str, ...] = NAMES

    def scores(self) -> ScoreTable:
        """Return a row for each entrant and task, but for those it is without."""
        values = np.random.default_rng(6).uniform(0.5, 2.0, size=(len(self.names), len(TASKS)))
        for at, value in self.errors.items():
            values[at] = value
        cells = [at for at in np.ndindex(values.shape) if at not in self.without]
        entrant, task = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        errors = values[entrant, task]
        columns = [errors] if self.times is None else [errors, 10.0 * errors, 2.0 * errors, self._counts(cells)]
        return ScoreTable(
            entrant=Coded(self.names, entrant),
            task=Coded(TASKS, task),
            columns=("x", *TIMES)[: len(columns)],
            values=np.stack(columns, axis=1),
            leaked=np.array([at in self.leaked for at in cells], dtype=np.bool_),
            file=np.zeros(len(cells), dtype=np.int64),
            row=np.arange(len(cells)),
        )

    def _counts(self, cells: list[tuple[int, ...]]) -> FloatArray:
        return np.array([(self.times or {}).get((at[0], at[1]), 50.0) for at in cells])

    def manifest(self) -> Manifest:
        """Return the benchmark with its one board."""
        return declare("evaluation_summary", f"{{x: {self.metric}}}", f"metric: x, {self.board}", self.more, self.tasks)

    def text(self) -> str:
        """Return its board, or why there is none."""
        manifest = self.manifest()
        return text_of(lambda: compute_board(manifest, manifest.leaderboards[0], self.scores()))


NAN = float("nan")
SKILL = "method: skill_score, baseline: Ben"
GAPS = {(0, 1): NAN, (0, 2): NAN, (3, 4): NAN}
LEAKS = ((0, 0), (0, 3), (3, 2))
WORSE = {(0, 0): 9.0, (3, 2): 9.0}
TIMED = f"{SKILL}, normalize_time_per_n_forecasts: 100"
SENT = "columns: {n_forecasts: n}"
DISPUTED = {(0, 1): 60.0, (1, 2): 70.0, (2, 3): 80.0, (3, 3): 80.0, (3, 4): 1.5e16}
WORLDS: Mapping[str, World] = {
    "skill, failures are errors": World(SKILL, GAPS),
    "skill, failures are imputed": World(f"{SKILL}, missing: impute", GAPS),
    "skill, tasks with failures are dropped": World(f"{SKILL}, missing: drop", GAPS),
    "skill, one failure": World(f"{SKILL}, missing: impute", {(0, 1): NAN}),
    "skill, every task has a failure": World(f"{SKILL}, missing: drop", {(0, at): NAN for at in range(5)}),
    "skill, leaks": World(SKILL, WORSE, LEAKS),
    "skill, a leak": World(SKILL, WORSE, LEAKS[:1]),
    "skill, leaks with a model for them": World(f"{SKILL}, leakage_model: Cem", WORSE, LEAKS),
    "skill, a leak with a model for it": World(f"{SKILL}, leakage_model: Cem", WORSE, LEAKS[:1]),
    "skill, leaks of the better, with a model for them": World(f"{SKILL}, leakage_model: Cem", {(0, 0): 0.1}, LEAKS),
    "skill, the model for leaks has leaked": World(f"{SKILL}, leakage_model: Cem", {}, (*LEAKS, (2, 1), (2, 4))),
    "skill, no model for leaks": World(f"{SKILL}, leakage_model: Eve", {}, LEAKS),
    "skill, no model and no leaks": World(f"{SKILL}, leakage_model: Eve"),
    "skill, no baseline": World("method: skill_score, baseline: Eve"),
    "skill, a baseline with gaps": World(SKILL, {(1, 0): NAN, (1, 3): NAN}),
    "skill, a baseline without rows": World(SKILL, without=((1, 0), (1, 3), (2, 3))),
    "skill, a baseline without an error": World(SKILL, {(1, 1): 0.0, (1, 2): 0.0}),
    "skill, errors beyond the clip": World(f"{SKILL}, clip: [0.5, 2.0]", {(0, 0): 99.0, (2, 1): 0.001}),
    "skill, by wins": World(f"{SKILL}, rank_by: win_rate", {(0, 0): 99.0}),
    "skill, open tasks": World(SKILL, without=((1, 0), (2, 0), (3, 0), (0, 4)), tasks="{open: true}"),
    "skill, times": World(SKILL, times={}),
    "skill, times by forecasts": World(TIMED, times={}, tasks=COUNTED, more=SENT),
    "skill, times by disputed forecasts": World(TIMED, times=DISPUTED),
    "skill, times by a disputed forecast": World(TIMED, times={(0, 1): 60.0}),
    "skill, times by no forecast": World(TIMED, times={(at, 1): 0.5 for at in range(4)}, tasks=COUNTED, more=SENT),
    "skill, two entrants": World(SKILL, names=NAMES[:2]),
    "mean, gaps": World("method: mean", GAPS),
    "mean, gaps count as the worst": World(
        "method: mean", GAPS, metric="{direction: minimize, min: 0, max: 3}", more="grid: {absent: worst}"
    ),
    "mean, no task of all": World(
        "method: mean", {(at, at): NAN for at in range(4)}, without=tuple((1, at) for at in range(5))
    ),
    "mean, no value": World("method: mean", {(at, task): NAN for at in range(4) for task in range(5)}),
    "mean, no rows": World("method: mean", without=tuple((at, task) for at in range(4) for task in range(5))),
    "mean, none of the board's tasks": World("method: mean, tasks: [e]", without=tuple((at, 4) for at in range(4))),
    "mean, open tasks of a few": World("method: mean", without=((1, 0), (2, 0), (3, 0), (0, 4)), tasks="{open: true}"),
    "mean, open tasks that few lack": World("method: mean", {(2, 2): NAN}, without=((1, 0),), tasks="{open: true}"),
    "mean, leaks": World("method: mean", {}, LEAKS),
    "mean, one entrant": World("method: mean", names=NAMES[:1]),
    "mean, two entrants": World("method: mean", names=NAMES[:2]),
    "mean, one task": World("method: mean, tasks: [b]"),
    "groups": World("method: group_mean, groups: {first: [a, b], last: [c, d, e]}", GAPS),
    "groups, one of one task": World("method: group_mean, groups: {first: [a], last: [c, d, e]}"),
    "borda, gaps": World("method: borda, tasks: [a, b, c]", GAPS),
    "mean rank, gaps": World("method: mean_rank, tasks: [a, b, c]", GAPS),
    "win rate, gaps": World("method: mean_win_rate, tasks: [a, b, c]", GAPS),
    "win rate, equals": World("method: mean_win_rate", {(at, task): 1.0 for at in (0, 1) for task in range(5)}),
}


@pytest.mark.parametrize("method", sorted({name.partition(",")[0] for name in WORLDS}))
def test_a_small_world_is_as_it_was(method: str) -> None:
    """The whole board of each, or why there is none."""
    worlds = [f"## {name}\n{world.text()}" for name, world in WORLDS.items() if name.partition(",")[0] == method]

    assert_same(f"worlds-{method.replace(' ', '-')}", "".join(worlds))


def of(entrant: str, point: float | None, **changes: Any) -> Measurement:
    """Return an entrant measured on ten episodes, drawn a hundred times, with a number of another metric."""
    drawn = np.random.default_rng(len(entrant)).normal(point or 0.0, 0.05, size=100)
    given: dict[str, Any] = {
        "estimates": {
            "success": Estimate(point, None, None, None, Calibrated(0.1, 0.9, "wilson_neff", 12.0)),
            "error": Estimate(0.4, 0.3, 0.5),
        },
        "replicates": {"success": drawn},
        "precision": {"success": Precision.of_units(12.0)},
        "coverage": Coverage(10, 10),
        "facts": {"n_seeds": 5},
    }
    return Measurement(entrant, **(given | changes))


def error_of(**changes: Any) -> dict[str, Estimate]:
    """Return both estimates, that of the metric which does not rank with changes."""
    return {**of("A", 0.6).estimates, "error": Estimate(**({"point": 0.4} | changes))}


UNDEFINED = {"success": Estimate(0.4, reason="undefined_in_resamples")}
FLAT = {"success": Estimate(1.0, 1.0, 1.0, ALL_EQUAL, Calibrated(0.7, 1.0, "wilson_neff", 3.0))}
NOT_DRAWN: dict[str, Any] = {"replicates": {}, "precision": {}}
FIRST, SECOND = of("Anna", 0.8), of("Bo", 0.6)
OPEN: dict[str, Any] = {"held": [("a", "near", 5), ("b", "near", 5)]}
MEASURED: Mapping[str, tuple[Measurement, ...]] = {
    "two": (FIRST, SECOND),
    "one": (FIRST,),
    "nobody": (),
    "failed cells": (of("Anna", 0.8, coverage=Coverage(10, 9, n_failed=1, is_filled=True)), SECOND),
    "absent cells": (of("Anna", 0.8, coverage=Coverage(10, 8, n_absent=2), bounds=(0.1, 0.9)), SECOND, of("Cee", 0.7)),
    "absent cells without an end": (of("Anna", 0.8, coverage=Coverage(10, 8, n_absent=2), bounds=(None, None)), SECOND),
    "cells that were not asked": (of("Anna", 0.8, coverage=Coverage(10, 8, n_not_asked=2)), SECOND),
    "a labelled one": (FIRST, SECOND, of("Random", 0.9), of("Oracle", 0.1)),
    "a labelled one alone": (of("Random", 0.9),),
    "held back": (FIRST, SECOND, held_back("Cee", ["success", "error"]), held_back("Dee", ["success"])),
    "without a value": (FIRST, of("Cee", None), Measurement("Dee", {})),
    "nobody with a value": (of("Cee", None), Measurement("Dee", {})),
    "other items than most": (*(replace(m, items="x") for m in (FIRST, SECOND)), of("Cee", 0.7, items="y")),
    "other items each": (replace(FIRST, items="x"), replace(SECOND, items="y"), of("Cee", 0.7)),
    "an open grid": (of("Anna", 0.8, **OPEN), of("Bo", 0.6, **OPEN), of("Cee", 0.7, held=[("a", "near", 5)])),
    "an open grid with more": (of("Anna", 0.8, **OPEN), of("Bo", 0.6, **OPEN), of("Cee", 0.7, held=[("a", "near", 9)])),
    "an open grid of other items": tuple(of(name, 0.5, items=name, **OPEN) for name in ("Anna", "Bo", "Cee")),
    "one of them not drawn": (FIRST, SECOND, of("Cee", 0.7, **NOT_DRAWN)),
    "none of them drawn": (of("Anna", 0.8, **NOT_DRAWN), of("Bo", 0.6, **NOT_DRAWN)),
    "undefined when drawn": (FIRST, of("Cee", 0.4, estimates=UNDEFINED, **NOT_DRAWN)),
    "no width": (FIRST, of("Cee", 1.0, estimates=FLAT), of("Random", 1.0, estimates=FLAT)),
    "few units": (FIRST, of("Cee", 1.0, estimates=FLAT)),
    "values left out": (
        FIRST,
        of("Cee", 0.7, estimates=error_of(n_lacking=1200)),
        of("Dee", 0.5, estimates=error_of(n_lacking=1)),
    ),
    "values without a worst": (
        FIRST,
        of("Cee", 0.7, estimates=error_of(point=None, n_lacking=2, reason=NO_WORST_VALUE)),
    ),
    "a tie": (FIRST, of("Adam", 0.8), of("Cee", 0.1)),
}


def measured_boards(rank_by: str) -> Iterator[str]:
    """Yield each board of measured entrants, ranked by a metric."""
    labels = "labels: {Random: picks at random, Oracle: knows}"
    manifest = declare("episodes", "{success: {direction: maximize, min: 0, max: 1}, error: {direction: minimize}}",
                       f"method: estimate, metrics: [success, error], rank_by: {rank_by}, {labels}")  # fmt: skip
    spec = manifest.leaderboards[0]
    for name, measurements in MEASURED.items():
        yield f"## {name}\n{text_of(lambda ms=measurements: assemble_board(manifest, spec, ms, EPISODES))}"


@pytest.mark.parametrize("rank_by", ["success", "error"])
def test_a_board_of_measured_entrants_is_as_it_was(rank_by: str) -> None:
    """Ranked by a metric with replicates and a range, and by one without either."""
    assert_same(f"measured-{rank_by}", "".join(measured_boards(rank_by)))
