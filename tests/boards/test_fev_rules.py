"""Boards of evaluation summaries under fev's rules: leaked leakage models, smaller boards, boards without intervals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.boards.cells import fev_order
from app.boards.registry import compute_board
from app.errors import BoardUnavailable, ManifestRejected, Unavailable
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.scores import ScoreTable
from app.values.table import Table
from tests.cases.boards import declare
from tests.cases.fev_rows import FEV, fev_scores

EXAMPLE = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"


def manifest(**changes: str) -> Manifest:
    """Return the example's manifest with some of its text changed."""
    text = EXAMPLE.read_text()
    for old, new in changes.items():
        text = text.replace(f"{old}: 1000", f"{old}: {new}")
    return parse_manifest(text.encode())


def without(scores: ScoreTable, entrant: str, tasks: list[str]) -> ScoreTable:
    """Return the rows without those of one entrant on some tasks."""
    gone = np.isin(scores.task.codes, [scores.task.words.index(task) for task in tasks])
    kept = np.flatnonzero(~(gone & (scores.entrant.codes == scores.entrant.words.index(entrant))))
    return replace(
        scores,
        entrant=replace(scores.entrant, codes=scores.entrant.codes[kept]),
        task=replace(scores.task, codes=scores.task.codes[kept]),
        values=scores.values[kept],
        leaked=scores.leaked[kept],
        file=scores.file[kept],
        row=scores.row[kept],
    )


def row_of(table: Table, entrant: str) -> dict[str, object] | None:
    """Return the row of an entrant, None where it has none."""
    return next((row for row in table.records() if row["entrant"] == entrant), None)


def test_tasks_are_in_the_order_of_fevs_pivot_table() -> None:
    """Missing first, numbers as numbers, lists and flags as the text that fev keeps of them, then by name."""
    wheres = {
        "text": "{target: y}",
        "list": "{target: [b, c]}",
        "flag": "{target: true}",
        "none": "{target: null}",
        "long": "{horizon: 24}",
        "short": "{horizon: 8, target: x}",
        "also none": "{}",
    }
    listed = ", ".join(f"{{id: {name}, where: {where}}}" for name, where in wheres.items())
    declared = declare("evaluation_summary", "{x: {direction: minimize}}", "metric: x, method: mean", "", f"[{listed}]")

    assert fev_order(declared, list(wheres)) == ("also none", "none", "list", "flag", "text", "short", "long")


@pytest.mark.heavy
def test_a_leakage_model_that_has_seen_data_makes_no_board() -> None:
    """fev raises; here the board says so and names the task."""
    scores = fev_scores()
    leaked = scores.leaked.copy()
    leaked[np.flatnonzero(scores.entrant.codes == scores.entrant.words.index("Chronos-Bolt"))[0]] = True

    with pytest.raises(BoardUnavailable, match="Chronos-Bolt, whose errors replace") as refused:
        compute_board(manifest(), manifest().leaderboard("sql"), replace(scores, leaked=leaked))
    assert refused.value.reason is Unavailable.LEAKAGE_MODEL_LEAKED


@pytest.mark.heavy
def test_who_has_no_row_on_a_smaller_board_is_not_its_failure() -> None:
    """Drift ran the other eighty tasks: it is not on the small board, and nobody's numbers there change."""
    mini = manifest().leaderboard("sql-mini")
    scores = without(fev_scores(), "Drift", list(mini.tasks or ()))
    shown = compute_board(manifest(), mini, scores).leaderboard
    everybody = compute_board(manifest(), mini, fev_scores()).leaderboard

    assert row_of(shown, "Drift") is None
    assert "Not on this board, without a row on the tasks that it counts: Drift." in shown.notes
    assert sum(row["num_failures"] for row in shown.records()) == sum(r["num_failures"] for r in everybody.records())
    skill = {r["entrant"]: r["skill_score"] for r in everybody.records() if r["entrant"] != "Drift"}
    assert {r["entrant"]: r["skill_score"] for r in shown.records()} == skill


@pytest.mark.heavy
def test_who_has_one_row_on_a_smaller_board_failed_on_the_rest() -> None:
    """Leaving out all but one task never pays."""
    mini = manifest().leaderboard("sql-mini")
    scores = without(fev_scores(), "Drift", list(mini.tasks or ())[1:])
    row = row_of(compute_board(manifest(), mini, scores).leaderboard, "Drift")

    assert row is not None
    assert row["num_failures"] == 19


@pytest.mark.heavy
def test_a_board_without_intervals_has_fevs_points_and_no_interval() -> None:
    """`n_resamples: 0` is fev's None: its points, in its order, and nothing that needs resamples."""
    plain = manifest(n_resamples="0")
    tables = compute_board(plain, plain.leaderboard("sql"), fev_scores())
    ours = pd.DataFrame(list(tables.leaderboard.records())).set_index("entrant")
    expected = pd.read_csv(FEV / "expected" / "leaderboard_SQL_impute_leak_n1000.csv", index_col="model_name")

    for effect in ("skill_score", "win_rate"):
        assert np.abs(ours.loc[expected.index, effect].astype(float) - expected[effect]).max() < 1e-12
        assert ours[[f"{effect}_lower", f"{effect}_upper", "first_resamples_share", "rank_low"]].isna().all(axis=None)
    assert tables.leaderboard.meta["interval_reason"] == "not_asked_for"
    assert tables.pairwise is not None
    assert {row["separable"] for row in tables.pairwise.records()} == {None}


@pytest.mark.parametrize("n", ["1", "99"])
def test_too_few_resamples_are_refused(n: str) -> None:
    """Between none and a hundred there is no interval worth its name."""
    with pytest.raises(ManifestRejected) as refused:
        manifest(n_resamples=n)

    assert "or 0 for no intervals" in refused.value.problems[0].message


def test_a_method_that_ranks_by_resamples_cannot_do_without() -> None:
    """A board of weighted ranks says what is wrong with n_resamples: 0."""
    text = (
        "schema_version: 1\nslug: s\ntitle: s\nevidence: series_metrics\nmode: ground_truth\n"
        "metrics: {catalog: lrdbench, use: [mae]}\ntasks: {open: true}\n"
        "leaderboards: [{name: b, method: weighted_rank, weights: {mae: 1.0}, uncertainty: {n_resamples: 0}}]\n"
    )
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(text.encode())

    assert "no board without them" in refused.value.problems[0].message


@pytest.mark.heavy
def test_whom_it_serves_to_have_seen_data_is_named() -> None:
    """Who says so of every task has the errors of Chronos-Bolt, fev's rule; the board says where its own are larger."""
    scores = fev_scores()
    naive = scores.entrant.codes == scores.entrant.words.index("Naive")
    board = manifest(n_resamples="100").leaderboard("sql-mini")
    shown = compute_board(manifest(), board, replace(scores, leaked=scores.leaked | naive)).leaderboard
    row = row_of(shown, "Naive")
    (note,) = [note for note in shown.notes if "declared as leaked" in note]

    assert row is not None
    assert "Naive (on 19 of 20 tasks)" in note
    assert not any("Naive (" in note for note in compute_board(manifest(), board, scores).leaderboard.notes)
