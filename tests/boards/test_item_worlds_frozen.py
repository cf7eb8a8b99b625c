"""Boards of records and of episodes, whole, under every key of a manifest that changes them, and with rows missing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from app.boards.measured import EntrantEvidence
from app.boards.methods.estimate import assemble_board
from app.boards.registry import compute_board
from app.boards.tables import BoardTables
from app.kinds.registry import measured_kind
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable
from tests.cases.boards import declare
from tests.cases.frozen import assert_same, text_of

NAMES, N_ITEMS, N_SEEDS = ("Ann", "Ben", "Cem"), 4, 3
ITEMS = tuple(f"r{at}" for at in range(8))
MISSING: Mapping[str, dict[tuple[int, ...], float]] = {
    "whole": {},
    "null": {(0, 1): np.nan, (0, 2): np.nan, (2, 5): np.nan},
    "equal": {(at, item): 0.5 for at in (0, 1) for item in range(8)},
    "absent": {(0, 1): np.inf, (2, 5): np.inf, (2, 6): np.inf},
    "one without any": {(1, item): np.inf if item else np.nan for item in range(8)},
}


def records(changes: Mapping[tuple[int, ...], float]) -> ScoreTable:
    """Return errors, truths and times of three estimators on eight records of two strata; infinite is no row."""
    rng = np.random.default_rng(2)
    values = rng.uniform(0.1, 1.0, size=(len(NAMES), len(ITEMS)))
    for at, value in changes.items():
        values[at] = value
    entrant, item = np.nonzero(~np.isinf(values))
    mae = values[entrant, item]
    valid = np.where(np.isnan(mae), 0.0, 1.0)
    return table(entrant, Coded(("short", "long"), item % 2), Coded(ITEMS, item), ("mae", "runtime", "validity_rate"),
                 np.column_stack([mae, np.round(2.0 / (1.0 + mae), 1), valid]))  # fmt: skip


def table(
    entrant: np.ndarray, task: Coded, item: Coded, columns: tuple[str, ...], values: FloatArray, **more: object
) -> ScoreTable:
    """Return a table of rows in one file."""
    n_rows = len(values)
    return ScoreTable(
        entrant=Coded(NAMES, entrant),
        task=task,
        columns=columns,
        values=values,
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
        item=item,
        **more,
    )


RANKED = "method: weighted_rank, weights: {mae: 0.6, runtime: 0.3, validity_rate: 0.1}"
SERIES: Mapping[str, tuple[str, str]] = {
    "rule 2": (RANKED, ""),
    "rule 1": (f"{RANKED}, ranking_rule: 1", ""),
    "ties stay": (f"{RANKED}, tie_break: none", ""),
    "ties by runtime": (f"{RANKED}, tie_break: runtime", ""),
    "one metric": ("method: weighted_rank, weights: {mae: 1.0}", ""),
    "a grid": (RANKED, f"grid: {{items: [{', '.join(ITEMS)}]}}"),
    "a smaller grid": (RANKED, f"grid: {{items: [{', '.join(ITEMS[:6])}]}}"),
    "a larger grid": (RANKED, f"grid: {{items: [{', '.join((*ITEMS, 'r8'))}]}}"),
    "who is enrolled": (RANKED, "estimators: [Ann, Ben, Dot]"),
}


def series_boards(option: str) -> Iterator[str]:
    """Yield the board of each set of rows under one option."""
    board, more = SERIES[option]
    manifest = declare("series_metrics", "{catalog: lrdbench, use: [mae, runtime, validity_rate]}", board,
                       f"mode: ground_truth\n{more}")  # fmt: skip
    for name, changes in MISSING.items():
        spec, rows = manifest.leaderboards[0], records(changes)
        yield f"## {name}\n{text_of(lambda s=spec, r=rows: compute_board(manifest, s, r))}"


@pytest.mark.parametrize("option", SERIES)
def test_a_board_of_records_is_as_it_was(option: str) -> None:
    """With equals, with nulls, and with records missing."""
    assert_same(f"records-{option.replace(' ', '-')}", "".join(series_boards(option)))


def episodes(changes: Mapping[tuple[int, ...], float]) -> ScoreTable:
    """Return success and force in two tasks under two conditions; changes are of an entrant's first items."""
    shape = (len(NAMES), 2, 2, N_SEEDS, N_ITEMS)
    success = (np.random.default_rng(3).random(shape) < np.array([0.9, 0.6, 0.3])[:, None, None, None, None]) * 1.0
    for (entrant, item), value in changes.items():
        success.reshape(len(NAMES), -1)[entrant, item] = value
    entrant, task, condition, seed, item = np.nonzero(~np.isinf(success))
    values = success[entrant, task, condition, seed, item]
    force = 1.0 + 0.1 * item + 0.2 * seed + 0.3 * entrant
    return table(entrant, Coded(("lift", "push"), task), Coded(ITEMS, item), ("success", "force"),
                   np.column_stack([values, np.where(item == 3, np.nan, force)]),
                   seed=seed, condition=Coded(("near", "far"), condition))  # fmt: skip


ESTIMATE = "method: estimate, metrics: [success, force]"
SIDES = "seeds: 3, conditions: [near, far]"
COMPOSITE = "weights: {lift: 1.0, push: 0.5}"
EPISODES: Mapping[str, tuple[str, str]] = {
    "means": (ESTIMATE, ""),
    "iqm": (f"{ESTIMATE}, statistic: iqm", ""),
    "iqm of one": (f"{ESTIMATE}, statistics: {{force: mean}}", ""),
    "by force": (f"{ESTIMATE}, rank_by: force", ""),
    "quantiles": (f"{ESTIMATE}, quantiles: {{force: [0.0, 0.25, 1.0], success: [0.5]}}", ""),
    "a gap": (f"{ESTIMATE}, optimality_gap: {{threshold: 0.9}}", ""),
    "a profile": (f"{ESTIMATE}, profile: {{n_points: 3}}", ""),
    "a profile of force": (f"{ESTIMATE}, profile: {{metric: force, low: 1.0, high: 2.0, n_points: 3}}", ""),
    "a composite": (f"{ESTIMATE}, composite: {{{COMPOSITE}}}", ""),
    "a composite of sides": (f"{ESTIMATE}, composite: {{title: HRS, {COMPOSITE}, conditions: {{lift: near}}, "
                             "against: {lift: far}}", ""),
    "labels": (f"{ESTIMATE}, labels: {{Ann: knows}}", ""),
    "one task": (f"{ESTIMATE}, tasks: [push]", ""),
    "a grid": (ESTIMATE, f"grid: {{{SIDES}, items: 4}}"),
    "a grid where the absent are worst": (ESTIMATE, f"grid: {{{SIDES}, items: 4, absent: worst}}"),
    "a larger grid": (ESTIMATE, f"grid: {{{SIDES}, items: 5, absent: worst}}"),
    "best effort": (ESTIMATE, "admission: {failure_policy: best_effort}"),
}  # fmt: skip


def episode_board(option: str, scores: ScoreTable) -> BoardTables:
    """Return the board of each entrant's episodes under one option."""
    board, more = EPISODES[option]
    metrics = "{success: {direction: maximize, min: 0, max: 1}, force: {direction: minimize}}"
    manifest = declare("episodes", metrics, board, more, "[{id: lift}, {id: push}]")
    spec, kind = manifest.leaderboards[0], measured_kind(manifest)
    of_each = [(name, scores.take(np.flatnonzero(scores.entrant.codes == at))) for at, name in enumerate(NAMES)]
    own = [(name, replace(rows, entrant=Coded((name,), 0 * rows.entrant.codes))) for name, rows in of_each]
    return assemble_board(
        manifest, spec, [kind.measure(manifest, spec, EntrantEvidence(*each)) for each in own if len(each[1])], kind
    )


@pytest.mark.heavy
@pytest.mark.parametrize("option", EPISODES)
def test_a_board_of_episodes_is_as_it_was(option: str) -> None:
    """With nulls, and with episodes missing."""
    boards = (f"## {name}\n{text_of(lambda c=changes: episode_board(option, episodes(c)))}"
              for name, changes in MISSING.items() if name != "equal")  # fmt: skip

    assert_same(f"episodes-{option.replace(' ', '-')}", "".join(boards))
