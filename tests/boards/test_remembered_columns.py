"""Boards of which a process knows most columns: to the last bit those of a process that knows nothing."""

from collections.abc import Iterator

import numpy as np
import pytest

from app.boards import remembered
from app.boards.methods.mean import METHOD as MEAN
from app.boards.methods.skill_score import METHOD as SKILL
from app.boards.remembered import ValueColumns
from app.cache import Cache
from app.kinds.parse import parse_manifest
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable

pytestmark = pytest.mark.heavy

N_TASKS, N_ENTRANTS, FEWEST_CELLS = 120, 60, 6_000
MANIFEST = parse_manifest(b"""\
schema_version: 1
slug: rows
title: Rows
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
admission: {prereg: optional}
leaderboards:
  - {name: skill, method: skill_score, metric: MASE, baseline: m000, uncertainty: {n_resamples: 1000}}
  - {name: mean, method: mean, metric: MASE, uncertainty: {n_resamples: 1000}}
""")
METHODS = {"skill_score": SKILL, "mean": MEAN}


def rows(values: FloatArray) -> ScoreTable:
    """Return a score table of values [n_entrants, n_tasks]."""
    n_entrants, n_tasks = values.shape
    return ScoreTable(
        entrant=Coded(tuple(f"m{at:03}" for at in range(n_entrants)), np.repeat(np.arange(n_entrants), n_tasks)),
        task=Coded(tuple(f"t{at:04}" for at in range(n_tasks)), np.tile(np.arange(n_tasks), n_entrants)),
        columns=("MASE",),
        values=values.reshape(-1, 1),
        leaked=np.zeros(values.size, dtype=np.bool_),
        file=np.zeros(values.size, dtype=np.int64),
        row=np.arange(values.size),
    )


def histories() -> Iterator[FloatArray]:
    """Yield the values of a board on which somebody comes, goes, and sends another number of one task."""
    values = np.exp(np.random.default_rng(1).normal(size=(N_ENTRANTS, N_TASKS)))
    yield values[:-2]
    yield values[:-1]
    yield np.delete(values, 7, axis=0)
    changed = values.copy()
    changed[3, 5] *= 2.0
    yield changed


def test_one_more_entrant_changes_no_digit_of_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over such a history both boards are, to the last bit, those of a process that has forgotten everything."""
    monkeypatch.setattr(remembered, "FEWEST_CELLS", FEWEST_CELLS)
    known = Cache[object](1 << 24)
    for values in histories():
        actual = []
        for each in (known, Cache[object](0)):
            monkeypatch.setattr(remembered, "COMPUTED", each)
            boards = [METHODS[s.method].compute(MANIFEST, s, rows(values)) for s in MANIFEST.leaderboards]
            actual.append([board.leaderboard for board in boards])
        assert actual[0] == actual[1]


def test_only_new_columns_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values with one column more that one is asked for, with as few others as its sums need; of few values all."""
    monkeypatch.setattr(remembered, "FEWEST_CELLS", FEWEST_CELLS)
    monkeypatch.setattr(remembered, "COMPUTED", Cache[object](1 << 24))
    values = np.random.default_rng(1).normal(size=(N_TASKS, N_ENTRANTS))
    asked: list[int] = []

    def mean(some: FloatArray) -> FloatArray:
        asked.append(some.shape[1])
        return np.asarray(some.mean(axis=0)[None, :])

    before = ValueColumns(values[:, :-1]).numbers(("mean",), mean)
    after = ValueColumns(values).numbers(("mean",), mean)
    few = values[: FEWEST_CELLS // N_ENTRANTS - 1]
    ValueColumns(few).numbers(("mean",), mean)
    ValueColumns(few).numbers(("mean",), mean)

    assert asked == [N_ENTRANTS - 1, 1, N_ENTRANTS, N_ENTRANTS]
    assert (after[:, :-1] == before).all()


def test_what_is_recalled_lies_in_memory_as_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum over the rows of another layout adds them up in another order, and has other last bits."""
    monkeypatch.setattr(remembered, "COMPUTED", Cache[object](1 << 24))
    values = np.random.default_rng(3).normal(size=(4_000, 60))
    for n_columns in (50, 60):
        numbers = ValueColumns(values[:, :n_columns]).numbers(("all",), np.exp)
    assert (numbers.mean(axis=0) == np.exp(values).mean(axis=0)).all()
