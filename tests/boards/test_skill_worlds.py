"""Boards of skill scores over small random worlds: what is said of gaps and leaks is what the board without them gives.

Errors are quarters, so there are ties; of two and three entrants a rank hangs on nearly every one of them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from tests.cases.boards import declare

NAMES, TASKS = ("Base", "Model", "Ann", "Ben"), ("a", "b", "c", "d", "e")
WORST, BEST = 4.0, 0.25
RANK_BY = pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
NO_LEAKS = np.zeros((len(NAMES), len(TASKS)), dtype=np.bool_)


def worlds(n_worlds: int) -> Iterator[tuple[np.random.Generator, FloatArray]]:
    """Yield errors of two to four entrants, [n_entrants, n_tasks], the baseline's being one."""
    rng = np.random.default_rng(4)
    for at in range(n_worlds):
        errors = rng.integers(1, 9, size=(2 + at % 3, len(TASKS))) / 4.0
        errors[0] = 1.0
        yield rng, errors


def board(errors: FloatArray, more: str, leaked: BoolArray = NO_LEAKS, grid: str = "") -> Table:
    """Return the board of those errors that are there."""
    at = np.nonzero(~np.isnan(errors))
    nothing = np.zeros(len(at[0]), dtype=np.int64)
    rows = ScoreTable(Coded(NAMES[: len(errors)], at[0]), Coded(TASKS, at[1]), ("x",), errors[at][:, None],
                      leaked[at], nothing, nothing)  # fmt: skip
    listed = f"[{', '.join(f'{{id: {task}}}' for task in TASKS)}]"
    method = f"metric: x, method: skill_score, baseline: Base, clip: [{BEST}, {WORST}], {more}"
    manifest = declare("evaluation_summary", "{x: {direction: minimize}}", method, grid, listed)
    return compute_board(manifest, manifest.leaderboards[0], rows).leaderboard


def records(table: Table) -> dict[str, dict[str, Any]]:
    """Return the rows by entrant."""
    return {str(row["entrant"]): dict(row) for row in table.records()}


def with_gaps(rng: np.random.Generator, errors: FloatArray) -> FloatArray:
    """Return errors without some that are not the baseline's."""
    gaps = rng.random(errors.shape) < 0.3
    gaps[0] = False
    return np.where(gaps, np.nan, errors)


def filled(errors: FloatArray, entrant: int, value: float) -> FloatArray:
    """Return errors with a value in each gap of one entrant."""
    changed = errors.copy()
    changed[entrant, np.isnan(errors[entrant])] = value
    return changed


@RANK_BY
@pytest.mark.parametrize("missing", ["error", "impute"])
def test_ranks_at_worst_and_at_best_are_those_of_the_board_with_these_errors(missing: str, rank_by: str) -> None:
    """Also of who is ranked with its gaps, of two alone, and where several have some."""
    more, n_compared = f"missing: {missing}, rank_by: {rank_by}", 0
    for rng, whole in worlds(18):
        errors = with_gaps(rng, whole)
        rows = records(board(errors, more))
        for at in np.flatnonzero(np.isnan(errors).any(axis=1)).tolist():
            name, said = NAMES[at], rows[NAMES[at]]
            ends = [records(board(filled(errors, at, end), more))[name]["rank"] for end in (WORST, BEST)]
            n_compared += ends[0] != ends[1]

            assert [said["rank_if_worst"], said["rank_if_best"]] == ends
    assert n_compared > 5


@RANK_BY
def test_what_is_absent_counts_as_the_worst_in_every_score(rank_by: str) -> None:
    """The board is that of the same entrants with the worst in their gaps, as the benchmark says that they count."""
    more, columns = f"rank_by: {rank_by}", ("rank", "win_rate", "skill_score")
    for rng, whole in worlds(9):
        errors = with_gaps(rng, whole)
        absent = records(board(errors, more, grid="grid: {absent: worst}"))
        worst = records(board(np.where(np.isnan(errors), WORST, errors), more))

        assert {name: [absent[name][each] for each in columns] for name in absent} == {
            name: pytest.approx([worst[name][each] for each in columns]) for name in worst
        }


@RANK_BY
def test_who_is_behind_for_its_gaps_is_who_would_be_with_the_worst_in_them(rank_by: str) -> None:
    """Below the best of those who delivered more, whose scores are the board's own; it has no p-value of its own."""
    more, found = f"missing: impute, rank_by: {rank_by}", []
    for rng, whole in worlds(12):
        errors = with_gaps(rng, whole)
        rows = records(board(errors, more))
        for at in np.flatnonzero(np.isnan(errors).any(axis=1)).tolist():
            own = rows[NAMES[at]]
            fuller = [row[rank_by] for row in rows.values() if row["n_included"] > own["n_included"]]
            at_worst = records(board(filled(errors, at, WORST), more))[NAMES[at]][rank_by]
            found.append(max(fuller) - at_worst > 1e-9)

            assert (own["first_p"] is None) == found[-1]
    assert {*found} == {True, False}


@RANK_BY
def test_whom_leaks_serve_is_who_would_rank_lower_with_its_own_errors(rank_by: str) -> None:
    """In place of the model's; who gains nothing by them, and who keeps its rank, is not named."""
    more, n_served = f"leakage_model: Model, rank_by: {rank_by}", 0
    for rng, errors in worlds(60):
        leaked = rng.random(errors.shape) < 0.4
        leaked[:2] = False
        table = board(errors, more, leaked)
        ranks = {name: row["rank"] for name, row in records(table).items()}
        served = []
        for at in range(2, len(errors)):
            own = leaked.copy()
            own[at] = False
            if records(board(errors, more, own))[NAMES[at]]["rank"] > ranks[NAMES[at]]:
                served.append(NAMES[at])
        n_served += len(served)

        assert sorted(table.meta.get("served_by_leaks", [])) == served
    assert n_served > 3
